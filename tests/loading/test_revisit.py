"""A second run over what an earlier one put there: only what is new is made, however the plan is cut."""

from __future__ import annotations

from pathlib import Path

import pytest

from noarkit.graph.cut import Limits
from noarkit.graph.entity import MappedRecord
from noarkit.loading.numbers import Numbers, outcomes
from noarkit.server.service import Service
from tests.loading.conftest import Opened
from tests.loading.journey import Journey, record
from tests.loading.trouble import Schedule

KINDS = ("Mappe", "Basisregistrering", "Dokument", "Dokumentversjon", "EksternId", "Arkivdel")


def counts(journey: Journey, service: Service) -> dict[str, int]:
    counted = {kind: journey.count(service, kind) for kind in KINDS}
    # anchors name chunks, not what was loaded
    counted["EksternId"] = sum(journey.keys(service).values())
    return counted


def loaded_once(journey: Journey, service: Service, records: list[MappedRecord]) -> dict[str, int]:
    journey.plan(records)
    assert journey.once(service).numbers.archived == len(records)
    return counts(journey, service)


CUTS = [Limits(), Limits(chunk_actions=30, shard_entities=20), Limits(chunk_actions=8), Limits(chunk_upload_bytes=1)]


@pytest.mark.parametrize("account", ["admin", "plain"])
@pytest.mark.parametrize("limits", CUTS, ids=["whole", "small", "cut in records", "a version a chunk"])
def test_the_same_source_planned_again_makes_nothing(limits: Limits, account: str, root: Path, opened: Opened) -> None:
    journey = Journey(root, {"a": b"1", "a+2": b"22", "b": b"333"}, account=account, limits=limits)
    records = [record("a", "f", b"1", b"22"), record("b", "f", b"333")]
    service = opened(journey)
    before = loaded_once(journey, service, records)
    second = journey.another("second")
    second.plan(records)
    loaded = second.once(service)
    assert counts(journey, service) == before
    assert (loaded.exit_code, loaded.state) == (0, "done")
    assert (loaded.numbers.already_there, loaded.numbers.archived) == (2, 0)


def test_what_grew_is_loaded_and_the_rest_left_even_when_the_first_run_is_gone(root: Path, opened: Opened) -> None:
    contents = {f"{n}": f"content {n}".encode() for n in range(8)}
    records = [record(key, f"f{int(key) // 4}", content) for key, content in contents.items()]
    journey = Journey(root, contents)
    service = opened(journey)
    loaded_once(journey, service, records[:5])
    second = journey.another("second")
    second.plan(records)
    loaded = second.once(service)
    assert loaded.numbers == Numbers(read=8, archived=3, already_there=5, bytes=27)
    assert set(journey.keys(service).values()) == {1}
    assert journey.count(service, "Dokumentversjon") == 8


def test_other_bytes_become_a_new_version_of_the_same_document(root: Path, opened: Opened) -> None:
    journey = Journey(root, {"a": b"old", "b": b"same"})
    service = opened(journey)
    before = loaded_once(journey, service, [record("a", "f", b"old"), record("b", "f", b"same")])
    second = journey.another("second")
    second.contents = {"a": b"new!", "b": b"same"}
    second.plan([record("a", "f", b"new!"), record("b", "f", b"same")])
    loaded = second.once(service)
    assert counts(journey, service) == {**before, "Dokumentversjon": 3}
    versions = journey.all(service, "Dokumentversjon")
    assert versions[2].links["refDokument"] == versions[0].links["refDokument"]
    assert loaded.numbers.read == loaded.numbers.already_there + loaded.numbers.archived
    assert (loaded.numbers.already_there, loaded.numbers.new_versions) == (2, 1)


@pytest.mark.parametrize("limits", CUTS, ids=["whole", "small", "cut in records", "a version a chunk"])
def test_a_further_attachment_becomes_a_further_document(limits: Limits, root: Path, opened: Opened) -> None:
    journey = Journey(root, {"a": b"1", "a+2": b"22"}, limits=limits)
    service = opened(journey)
    before = loaded_once(journey, service, [record("a", "f", b"1")])
    second = journey.another("second")
    second.plan([record("a", "f", b"1", b"22")])
    assert second.once(service).exit_code == 0
    assert counts(journey, service) == {**before, "Dokument": 2, "Dokumentversjon": 2}
    documents = journey.all(service, "Dokument")
    assert {version.links["refDokument"] for version in journey.all(service, "Dokumentversjon")} == {
        one.id for one in documents
    }


def test_an_item_that_cannot_be_read_for_comparing_is_set_aside(root: Path, opened: Opened) -> None:
    journey = Journey(root, {"a": b"1", "b": b"2"})
    service = opened(journey)
    records = [record("a", "f", b"1"), record("b", "f", b"2")]
    before = loaded_once(journey, service, records)
    second = journey.another("second")
    second.plan(records)
    loaded = second.once(service, Schedule("source:vanished:before", 1))
    assert (loaded.numbers.set_aside, loaded.numbers.already_there) == (1, 1)
    assert counts(journey, service) == before
    (aside,) = outcomes(second.folder, "set_aside")
    assert (aside.key, aside.code, aside.data["type"], aside.data["line"]) == ("a", "F202", "Dokumentversjon", 14)


@pytest.mark.parametrize("step", range(1, 12))
def test_a_second_run_that_is_killed_anywhere_still_makes_only_what_is_new(
    step: int, root: Path, opened: Opened
) -> None:
    contents = {"a": b"1", "a+2": b"22", "b": b"3", "c": b"4"}
    journey = Journey(root, contents, account="plain", limits=Limits(chunk_actions=8))
    service = opened(journey)
    loaded_once(journey, service, [record("a", "f", b"1", b"22"), record("b", "f", b"3")])
    second = journey.another("second")
    second.contents = {**contents, "b": b"new"}
    second.plan([record("a", "f", b"1", b"22"), record("b", "f", b"new"), record("c", "f", b"4")])
    loaded = second.until_done(service, Schedule("transaction:kill:after", step))
    assert loaded.numbers.add_up
    assert set(journey.keys(service).values()) == {1}
    assert (journey.count(service, "Dokument"), journey.count(service, "Dokumentversjon")) == (4, 5)
