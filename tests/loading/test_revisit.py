"""A second run over what an earlier one put there: only what is new is made, however the plan is cut."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from noarkit.graph.cut import Limits
from noarkit.graph.entity import Content, Entity, MappedRecord
from noarkit.graph.store import GraphStore
from noarkit.loading.numbers import Numbers, archive_ids, outcomes
from noarkit.server.service import Service
from tests.loading.conftest import Opened
from tests.loading.journey import Journey, record
from tests.loading.trouble import Schedule

BOTH_ACCOUNTS = pytest.mark.parametrize("account", ["admin", "plain"])
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


def papers(key: str, *names: str, numbered: bool = False) -> MappedRecord:
    """A record with a document for each name, which is its title and its file's name too. Its keys hold the names, or
    numbers as those of older plans."""
    folder, whole = record(key, "f").entities[:2]
    entities = [folder, whole]
    for place, name in enumerate(names, 1):
        document = f"{key}#d{place}" if numbered else f"{key}#d={name}"
        fields = {"tittel": name, "tilknyttetRegistreringSom": "H" if place == 1 else "V"}
        version = {"variantformat": "P", "format": "txt"}
        content = Content(name, f"{name}.txt")
        entities += [
            Entity(document, "Dokument", fields, key, "refRegistrering", recipe_line=13),
            Entity(f"{document}v1", "Dokumentversjon", version, document, "refDokument", content=content),
        ]
    return MappedRecord(key, tuple(entities))


def shelf(journey: Journey, service: Service) -> dict[str, list[str]]:
    """The names of the files of each document, by its title; a title that comes twice has a mark."""
    titles: dict[str, str] = {}
    for document in journey.all(service, "Dokument"):
        title = str(document.fields["tittel"])
        titles[document.id] = title if title not in titles.values() else f"{title} again"
    files: dict[str, list[str]] = {title: [] for title in titles.values()}
    for version in journey.all(service, "Dokumentversjon"):
        files[titles[version.links["refDokument"]]].append(str(version.fields["filnavn"]))
    return files


LATE = {"first": b"1", "late": b"2", "page": b"3", "data": b"4"}


@BOTH_ACCOUNTS
@pytest.mark.parametrize("was_numbered", [True, False], ids=["numbered before", "named before"])
@pytest.mark.parametrize("is_numbered", [True, False], ids=["numbered", "named"])
@pytest.mark.parametrize("limits", [Limits(), Limits(chunk_actions=8)], ids=["whole", "cut in records"])
def test_a_document_that_comes_between_others_is_one_of_its_own(
    account: str, was_numbered: bool, is_numbered: bool, limits: Limits, root: Path, opened: Opened
) -> None:
    journey = Journey(root, dict(LATE), account=account, limits=limits)
    service = opened(journey)
    loaded_once(journey, service, [papers("a", "first", "page", "data", numbered=was_numbered)])
    second = journey.another("second")
    second.contents = {**LATE, "page": b"the page names both"}
    second.plan([papers("a", "first", "late", "page", "data", numbered=is_numbered)])
    loaded = second.once(service)
    assert loaded.exit_code == 0
    assert shelf(journey, service) == {
        "first": ["first.txt"], "page": ["page.txt", "page.txt"], "data": ["data.txt"], "late": ["late.txt"]
    }  # fmt: skip
    third = journey.another("third")
    third.contents = dict(second.contents)
    third.plan([papers("a", "first", "late", "page", "data")])
    third.once(service)
    assert journey.count(service, "Dokumentversjon") == 5, "nothing is made once more"


@BOTH_ACCOUNTS
@pytest.mark.parametrize("is_numbered", [True, False], ids=["numbered", "named"])
@pytest.mark.parametrize("trouble", ["transaction:kill:after", "transaction:lost:after"])
@pytest.mark.parametrize(
    ("step", "limits"), [*((step, CUTS[2]) for step in range(4, 7)), *((step, CUTS[0]) for step in range(4, 7))]
)
def test_a_load_over_numbered_documents_that_breaks_anywhere_makes_the_late_one_once(
    step: int, limits: Limits, trouble: str, is_numbered: bool, account: str, root: Path, opened: Opened
) -> None:
    journey = Journey(root, dict(LATE), account=account, limits=limits)
    service = opened(journey)
    loaded_once(journey, service, [papers("a", "first", "page", "data", numbered=True)])
    second = journey.another("second")
    second.contents = {**LATE, "page": b"the page names both"}
    second.plan([papers("a", "first", "late", "page", "data", numbered=is_numbered)])
    loaded = second.until_done(service, Schedule(trouble, step))
    assert loaded.numbers.add_up
    titles = {document.id: document.fields["tittel"] for document in journey.all(service, "Dokument")}
    with closing(GraphStore.open(second.folder.graph)) as graph:
        planned = {row.key: row.fields["tittel"] for row in graph.all_entities() if row.type == "Dokument"}
    known = {key: titles[one] for key, one in archive_ids(second.folder, "Dokument")}
    assert known == {key: planned[key] for key in known}, "each as itself"
    assert "late" in known.values()
    assert shelf(journey, service) == {
        "first": ["first.txt"], "page": ["page.txt", "page.txt"], "data": ["data.txt"], "late": ["late.txt"]
    }  # fmt: skip


def test_what_an_older_load_put_at_the_wrong_place_gets_a_document_of_its_own(root: Path, opened: Opened) -> None:
    journey = Journey(root, {"first": b"1", "late": b"2", "page": b"3"})
    service = opened(journey)
    loaded_once(journey, service, [papers("a", "first", "page", numbered=True)])
    wrong = journey.another("wrong")  # the late one under the key of the page, as it was once
    first, page = papers("a", "first", "page", numbered=True).entities[2:4], Content("late", "page.txt")
    moved = papers("a", "first", "page", numbered=True).entities
    version = moved[5]
    late = Entity(version.key, version.type, version.fields, version.parent, version.parent_link, content=page)
    wrong.plan([MappedRecord("a", (*moved[:5], late))])
    wrong.once(service)
    assert (len(first), journey.count(service, "Dokumentversjon")) == (2, 3)
    mended = journey.another("mended")
    mended.plan([papers("a", "first", "late", "page")])
    mended.once(service)
    assert set(shelf(journey, service)) == {"first", "page", "late"}
