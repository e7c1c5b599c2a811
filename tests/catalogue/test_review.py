"""What a plan will do is shown record by record before anybody approves it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import noarkit
from noarkit.catalogue.review import PlanReview
from noarkit.errors import JournalFault
from noarkit.loading.folder import RunFolder
from noarkit.model.disclosure import MASK
from noarkit.reading_room.plan_section import mask_record
from noarkit.reports.plan_page import Context, plan_facts
from tests.rights import held_to_file_rights


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plan of five files: two of the same bytes, one with an identity number in its name, one unreadable."""
    folder = tmp_path_factory.mktemp("review")
    files = folder / "files" / "2011"
    files.mkdir(parents=True)
    for name, text in (("a.txt", "same"), ("b.txt", "same"), ("c.txt", "other"), ("about 01010150074.txt", "x")):
        (files / name).write_text(text)
    (files / "locked.txt").write_text("secret")
    (files / "locked.txt").chmod(0)
    with held_to_file_rights():
        noarkit.plan(folder / "files", folder / "run", hash_contents=True)
    return folder / "run"


@pytest.fixture
def review(run: Path) -> Iterator[PlanReview]:
    """That plan, opened."""
    with PlanReview(RunFolder(run)) as plan:
        yield plan


def test_every_record_of_the_source_is_shown_once(review: PlanReview, run: Path) -> None:
    with closing(sqlite3.connect(run / "graph.db")) as db:
        keys = [row[0] for row in db.execute("SELECT key FROM record ORDER BY n")]
    shown: list[str] = []
    after = 0
    while page := list(review.records(after, 2)):
        shown += [record.key for record in page]
        after = page[-1].n
    assert len(keys) == 5 and shown == keys
    assert sum(review.counts().values()) == 5


def test_a_record_is_shown_with_what_it_becomes_and_where_that_lies(review: PlanReview) -> None:
    record = next(record for record in review.records() if record.key.endswith("c.txt"))
    assert [(entity.type, entity.depth) for entity in record.entities][-2:] == [("Dokument", 1), ("Dokumentversjon", 2)]
    assert record.entities[-1].file is not None and record.entities[-1].file.size_bytes == 5
    assert record.above[0][0] == "Arkiv" and ("Mappe", "2011") in record.above
    assert all(value is not None for value in record.entities[0].fields.values())


def test_faults_and_warnings_are_grouped_and_lead_to_their_records(review: PlanReview) -> None:
    groups = {(group.kind, group.code): group.count for group in review.groups()}
    assert groups["set_aside", "F201"] == 1
    assert groups["warning", "W223"] == 1
    assert next(record.key for record in review.records(code="F201")).endswith("locked.txt")
    assert next(record.key for record in review.records(code="W223")).endswith("01010150074.txt")
    assert [record.state for record in review.records(state="set_aside")] == ["set_aside"]


def test_files_with_the_same_bytes_are_shown_together(review: PlanReview) -> None:
    (same,) = review.duplicates()
    assert (same.count, same.size_bytes) == (2, 4)
    assert [key.rpartition("/")[2] for key in same.keys] == ["a.txt", "b.txt"]


def test_what_lies_in_a_screened_folder_is_masked_on_the_page_and_among_duplicates(tmp_path: Path) -> None:
    for folder in ("Barnevern/Ola Nordmann", "Vei/Kommunen"):
        (tmp_path / "files" / folder).mkdir(parents=True)
        (tmp_path / "files" / folder / "brev.txt").write_text("same")
    noarkit.plan(tmp_path / "files", tmp_path / "run", hash_contents=True)
    graph = tmp_path / "run" / "graph.db"
    graph.chmod(0o600)
    with closing(sqlite3.connect(graph)) as db, db:
        db.execute(
            "UPDATE entity SET fields = json_set(fields, '$.skjerming', 'UO')"
            " WHERE json_extract(fields, '$.tittel') = 'Barnevern'"
        )
    with PlanReview(RunFolder(tmp_path / "run")) as review:
        records = [mask_record(record) for record in review.records()]
        (same,) = review.duplicates()
    assert [record.disclosure.because for record in records] == ["above", ""]
    # an entity keeps its key, and its file the ref, by which they are opened behind a veil
    shown = [(record.key, record.above, [entity.fields for entity in record.entities]) for record in records]
    assert "Ola" not in str(shown) and "Barnevern" not in str(shown)
    assert records[0].entities[-1].file is not None and records[0].entities[-1].file.name == MASK
    assert ("Mappe", "Vei") in records[1].above
    assert same.keys == (MASK, "Vei/Kommunen/brev.txt")


def test_a_folder_without_a_plan_has_nothing_to_review(tmp_path: Path) -> None:
    with pytest.raises(JournalFault):
        PlanReview(RunFolder(tmp_path))


def test_what_an_earlier_run_loaded_is_counted_as_the_plan_page_counts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("files").mkdir()
    Path("files/a.txt").write_text("a")
    noarkit.plan("files", "first")
    noarkit.ingest("first")
    Path("files/a.txt").write_text("a, written anew")
    Path("files/b.txt").write_text("b")
    noarkit.plan("files", "second", since="first")
    with PlanReview(RunFolder(Path("second"))) as review:
        assert {name: count for name, count in review.counts().items() if count} == {"already_there": 1, "mapped": 1}
        assert plan_facts(RunFolder(Path("second")), Context())["records"] == {
            "mapped": 1,
            "already_there": 1,
            "set_aside": 0,
            "skipped": 0,
        }
        (there,) = review.records(state="already_there")
        assert (there.key, there.state) == ("a.txt", "already_there")
        assert [record.key for record in review.records(state="mapped")] == ["b.txt"]
