"""The plan with the journal beside it, as everything that looks at a run reads them: whether the run has begun or not,
in whatever folder it lies."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from noarkit.errors import JournalFault
from noarkit.graph.store import GraphStore
from noarkit.loading.attached import attach_run, open_plan_and_journal, read_only_address
from noarkit.loading.folder import RunFolder
from noarkit.loading.journal import Journal
from tests.rights import held_to_file_rights


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """A run that has a plan and has not begun."""
    place = tmp_path / "run"
    place.mkdir()
    GraphStore.create(place / "graph.db").close()
    return RunFolder(place)


def tables_of(db: sqlite3.Connection, schema: str) -> dict[str, list[tuple[object, ...]]]:
    """The columns of each table."""
    names = db.execute(f"SELECT name FROM {schema}.sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
    return {name: db.execute(f"PRAGMA {schema}.table_info({name})").fetchall() for (name,) in names}


@pytest.mark.parametrize("was_stopped", [False, True])
def test_a_run_that_has_not_begun_has_every_table_of_a_journal(folder: RunFolder, *, was_stopped: bool) -> None:
    if was_stopped:
        folder.journal.touch()
    with open_plan_and_journal(folder) as db:
        tables = tables_of(db, "run")
        assert db.execute("SELECT count(*) FROM run.entity").fetchone() == (0,)
    with closing(folder.open_journal()), closing(sqlite3.connect(folder.journal)) as db:
        assert tables == tables_of(db, "main")


def test_what_is_attached_is_only_read(folder: RunFolder) -> None:
    with closing(folder.open_journal()) as journal:
        journal.remember(told="yes")
    with pytest.raises(JournalFault), open_plan_and_journal(folder) as db:
        assert db.execute("SELECT value FROM run.meta WHERE name = 'told'").fetchone() == ("yes",)
        db.execute("DELETE FROM run.meta")


@pytest.fixture
def closed_folder(folder: RunFolder) -> Iterator[RunFolder]:
    """A run on a medium that nobody may write to."""
    with closing(folder.open_journal()) as journal:
        journal.remember(told="yes")
    folder.path.chmod(0o500)
    yield folder
    folder.path.chmod(0o700)


def test_a_run_that_nobody_may_write_to_can_be_read(closed_folder: RunFolder) -> None:
    with held_to_file_rights(), closing(sqlite3.connect("", uri=True)) as db:
        assert attach_run(db, closed_folder)
        assert db.execute("SELECT value FROM run.meta WHERE name = 'told'").fetchone() == ("yes",)


def test_what_a_crash_left_beside_a_journal_is_never_passed_by(closed_folder: RunFolder) -> None:
    journal: Path = closed_folder.journal
    journal.with_name(f"{journal.name}-wal").touch()
    with held_to_file_rights():
        assert read_only_address(journal).endswith("?mode=ro")


def test_the_journal_of_a_run_that_stands_open_elsewhere_shows_what_was_written(folder: RunFolder) -> None:
    with closing(Journal(folder.journal)) as journal:
        journal.remember(told="yes")
        with open_plan_and_journal(folder) as db:
            assert db.execute("SELECT value FROM run.meta WHERE name = 'told'").fetchone() == ("yes",)
