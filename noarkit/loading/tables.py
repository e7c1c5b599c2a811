"""The SQLite files of a run: made whole with a version, and changed in transactions that hold or leave no trace."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from noarkit.graph.store import translated


def make_tables(db: sqlite3.Connection, tables: Iterable[str], version: int) -> None:
    """Makes the tables of a new file, all or none; `meta` among them is told the version."""
    db.execute("BEGIN")
    for table in tables:
        db.execute(table)
    db.execute("INSERT INTO meta VALUES ('version', ?)", (str(version),))
    db.execute("COMMIT")


@contextmanager
def change_tables(db: sqlite3.Connection, path: Path) -> Iterator[sqlite3.Connection]:
    """Runs the block in one SQLite transaction. Raises `DiskFull`, `JournalFault`."""
    with translated(path):
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")
