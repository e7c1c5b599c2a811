"""What another run put into the archive is known by its journal, where nothing else proves it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

import noarkit
from noarkit.archive.values import SavedObject
from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import archive_ids
from noarkit.loading.verification.changes import ChangeLog
from noarkit.loading.verification.markers import Markers
from noarkit.loading.verification.other_runs import OtherRuns

TYPE = "Dokument"


@dataclass(frozen=True)
class _Unasked:
    """An archive that must not be asked: it would be a second witness."""


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two runs that loaded into one archive, and one that loaded into another."""
    monkeypatch.chdir(tmp_path)
    for name, archive in (("first", "one"), ("second", "one"), ("apart", "two")):
        Path(f"files-{name}").mkdir()
        Path(f"files-{name}/letter.txt").write_text(name)
        noarkit.plan(f"files-{name}", name, archive=f"embedded:{archive}")
        noarkit.ingest(name)


def made_by(run: str) -> tuple[str, str]:
    """The type and id of the document that a run made."""
    ((_, object_id),) = archive_ids(RunFolder(Path(run)), TYPE)
    return TYPE, object_id


def test_a_run_beside_it_made_what_its_journal_says() -> None:
    others = OtherRuns(RunFolder(Path("first")))
    sought = [made_by("first"), made_by("second"), ("Mappe", made_by("second")[1])]
    assert others.find_made(sought) == {made_by("second")}, "the run itself is no other, and an id alone is no object"


def test_a_run_of_another_archive_proves_nothing_of_this_one() -> None:
    assert OtherRuns(RunFolder(Path("first"))).find_made([made_by("apart")]) == frozenset()


def test_a_run_that_cannot_be_read_or_was_taken_back_proves_nothing() -> None:
    sought = [made_by("second")]
    noarkit.retract("second", delete=True, closed=True)
    assert OtherRuns(RunFolder(Path("first"))).find_made(sought) == frozenset()
    Path("second/run.db").write_bytes(b"no database")
    assert OtherRuns(RunFolder(Path("first"))).find_made(sought) == frozenset()


def test_the_journal_of_another_run_proves_an_object_that_bears_no_mark() -> None:
    archive = _Unasked()
    log = ChangeLog(archive, readable=False)  # type: ignore[arg-type]  # is not asked
    others = OtherRuns(RunFolder(Path("first")))
    markers = Markers(archive, log, others, writes_uuids=False)  # type: ignore[arg-type]  # is not asked
    kind, object_id = made_by("second")
    bare = [SavedObject(kind, object_id, "1", {}, {}), SavedObject(kind, "999999", "1", {}, {})]
    markers.read("Korrespondansepart", bare)  # of a family whose external ids nobody asks for
    assert [markers.marker(each, "1") for each in bare] == ["run", ""]
