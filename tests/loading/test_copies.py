"""Archival copies in a load: each lands once beside its document, whatever happens and however the plan is cut."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from noarkit.copies.planning import MapperWithCopies, PlannedCopy
from noarkit.graph.cut import Limits
from noarkit.graph.entity import Content, Entity, MappedRecord
from noarkit.records import SourceRecord
from noarkit.safe.digest import Readable
from noarkit.server.service import Service
from tests.loading.conftest import Opened
from tests.loading.journey import Journey, record
from tests.loading.trouble import Schedule

CUTS = [Limits(), Limits(chunk_actions=8), Limits(chunk_upload_bytes=1)]
ACCOUNTS = ["admin", "plain"]
DOCUMENTS = {"a": b"one", "a+2": b"two", "b": b"three"}
ORIGIN = "noarkit:derived-from"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def copy_of(content: bytes) -> bytes:
    return b"%PDF copy of " + content


class _Made:
    """A copy of every document."""

    def copies_of(self, content: Content) -> Iterable[PlannedCopy]:
        made = copy_of(next(one for one in (*DOCUMENTS.values(), b"other") if sha256(one) == content.sha256))
        return [
            PlannedCopy(
                "made", content.sha256 or "", "fmt/40", sha256(made), len(made), "fmt/477", suffix="pdf",
                made_at="2026-01-22T09:12:03Z", made_by="noarkit", tool="Tool 1", rule="text",
            )
        ]  # fmt: skip

    def open(self, sha256: str) -> AbstractContextManager[Readable]:
        raise FileNotFoundError(sha256)


class _Fixed:
    """A mapper of one record."""

    def __init__(self, mapped: MappedRecord, contents: dict[str, bytes]) -> None:
        self._mapped = mapped
        self._contents = contents

    def targets(self) -> tuple[Entity, ...]:
        return ()

    def map(self, record: SourceRecord) -> MappedRecord:
        def hashed(entity: Entity) -> Entity:
            content = entity.content
            if content is None:
                return entity
            told = Content(
                content.locator, content.name, content.size_bytes, None, sha256(self._contents[content.locator])
            )
            return Entity(entity.key, entity.type, entity.fields, entity.parent, entity.parent_link, content=told)

        return MappedRecord(self._mapped.record_key, tuple(hashed(one) for one in self._mapped.entities))


def with_copies(mapped: MappedRecord, contents: dict[str, bytes]) -> MappedRecord:
    planned = MapperWithCopies(_Fixed(mapped, contents), _Made()).map(SourceRecord("file", mapped.record_key, {}))
    assert isinstance(planned, MappedRecord)
    return planned


def records(contents: dict[str, bytes], *, copies: bool = True) -> list[MappedRecord]:
    plain = [record("a", "f", contents["a"], contents["a+2"]), record("b", "f", contents["b"])]
    return [with_copies(one, contents) for one in plain] if copies else plain


def everything(contents: dict[str, bytes]) -> dict[str, bytes]:
    """What the source opens, by locator."""
    copies = {f"copies:{sha256(copy_of(one))}": copy_of(one) for one in contents.values()}
    return {**contents, **copies}


def journey_in(root: Path, limits: Limits, account: str) -> Journey:
    return Journey(root, everything(DOCUMENTS), account=account, limits=limits)


def numbers(journey: Journey, service: Service) -> list[list[int]]:
    """The numbers of the versions of each document, in the order they were made."""
    found: dict[str, list[int]] = {}
    for one in journey.all(service, "Dokumentversjon"):
        found.setdefault(one.links["refDokument"], []).append(int(str(one.fields["versjonsnummer"])))
    return sorted(found.values())


def check_whole(journey: Journey, service: Service, account: str) -> None:
    """Each document with its copy, once, each copy with its label, once."""
    versions = journey.all(service, "Dokumentversjon")
    sums = sorted(str(one.fields["sjekksum"]) for one in versions)
    assert sums == sorted(sha256(one) for one in everything(DOCUMENTS).values())
    assert numbers(journey, service) == [[1, 1] if account == "admin" else [1, 2]] * 3
    labels = {
        one.links["refDokumentversjon"]: str(one.fields["eksternID"])
        for one in journey.all(service, "EksternId")
        if one.fields["eksterntSystem"] == ORIGIN
    }
    by_sum = {str(one.fields["sjekksum"]): one for one in versions}
    assert labels == {by_sum[sha256(copy_of(one))].id: f"sha256:{sha256(one)}" for one in DOCUMENTS.values()}
    for one in DOCUMENTS.values():
        assert by_sum[sha256(copy_of(one))].links["refDokument"] == by_sum[sha256(one)].links["refDokument"]


@pytest.mark.parametrize("account", ACCOUNTS)
@pytest.mark.parametrize("limits", CUTS, ids=["whole", "cut in records", "a version a chunk"])
def test_each_copy_lands_beside_its_document(limits: Limits, account: str, root: Path, opened: Opened) -> None:
    journey = journey_in(root, limits, account)
    service = opened(journey)
    journey.plan(records(DOCUMENTS))
    assert journey.once(service).exit_code == 0
    check_whole(journey, service, account)


@pytest.mark.parametrize("account", ACCOUNTS)
@pytest.mark.parametrize("limits", CUTS, ids=["whole", "cut in records", "a version a chunk"])
def test_copies_join_documents_that_an_earlier_run_loaded(
    limits: Limits, account: str, root: Path, opened: Opened
) -> None:
    journey = journey_in(root, limits, account)
    service = opened(journey)
    journey.plan(records(DOCUMENTS, copies=False))
    journey.once(service)
    second = journey.another("second")
    second.plan(records(DOCUMENTS))
    loaded = second.once(service)
    assert loaded.numbers.new_versions == 2  # records
    check_whole(journey, service, account)
    third = journey.another("third")
    third.plan(records(DOCUMENTS))
    assert third.once(service).numbers.new_versions == 0
    check_whole(journey, service, account)


@pytest.mark.parametrize("point", ["transaction:kill:after", "transaction:kill:before"])
@pytest.mark.parametrize("step", range(1, 8))
def test_a_load_that_is_killed_makes_no_copy_twice(point: str, step: int, root: Path, opened: Opened) -> None:
    journey = journey_in(root, Limits(chunk_upload_bytes=1), "admin")
    service = opened(journey)
    journey.plan(records(DOCUMENTS))
    journey.until_done(service, Schedule(point, step))
    check_whole(journey, service, "admin")


def test_a_changed_document_and_its_copy_share_the_next_number(root: Path, opened: Opened) -> None:
    journey = journey_in(root, Limits(), "admin")
    service = opened(journey)
    journey.plan(records(DOCUMENTS))
    journey.once(service)
    changed = {**DOCUMENTS, "b": b"other"}
    second = journey.another("second")
    second.contents = everything(changed)
    second.plan(records(changed))
    assert second.once(service).numbers.new_versions == 1
    assert numbers(journey, service) == [[1, 1], [1, 1], [1, 1, 2, 2]]
