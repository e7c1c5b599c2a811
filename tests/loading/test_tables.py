"""The SQLite files of a run change all at once or not at all."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from noarkit.errors import JournalFault
from noarkit.loading.tables import change_tables, make_tables

TABLES = ("CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT)", "CREATE TABLE thing (n INTEGER PRIMARY KEY)")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the file is."""
    return tmp_path / "of-a-run.db"


@pytest.fixture
def db(path: Path) -> Iterator[sqlite3.Connection]:
    """A file with its tables."""
    with closing(sqlite3.connect(path, isolation_level=None)) as made:
        make_tables(made, TABLES, 4)
        yield made


def things(path: Path) -> list[int]:
    """What another connection sees."""
    with closing(sqlite3.connect(path)) as other:
        return [int(n) for (n,) in other.execute("SELECT n FROM thing ORDER BY n")]


def test_a_new_file_knows_its_version(db: sqlite3.Connection) -> None:
    assert db.execute("SELECT * FROM meta").fetchall() == [("version", "4")]


def test_what_is_changed_stands_when_the_block_has_ended(db: sqlite3.Connection, path: Path) -> None:
    with change_tables(db, path) as inside:
        inside.execute("INSERT INTO thing VALUES (1)")
        assert things(path) == []
    assert things(path) == [1]


def test_a_block_that_fails_leaves_no_trace_and_the_next_goes_on(db: sqlite3.Connection, path: Path) -> None:
    with pytest.raises(ZeroDivisionError), change_tables(db, path) as inside:
        inside.execute("INSERT INTO thing VALUES (1)")
        raise ZeroDivisionError
    with change_tables(db, path) as inside:
        inside.execute("INSERT INTO thing VALUES (2)")
    assert things(path) == [2]


def test_what_sqlite_refuses_is_a_fault_of_the_journal(db: sqlite3.Connection, path: Path) -> None:
    with pytest.raises(JournalFault), change_tables(db, path) as inside:
        inside.execute("INSERT INTO thing VALUES (1)")
        inside.execute("INSERT INTO thing VALUES (1)")
    assert things(path) == []


def test_tables_are_made_all_or_none(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as half, pytest.raises(sqlite3.Error):
        make_tables(half, (*TABLES, "CREATE TABLE thing (n)"), 4)
    with closing(sqlite3.connect(path)) as other:
        assert other.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
