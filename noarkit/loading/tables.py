"""The SQLite files of a run: opened or made whole, upgraded to this version, changed in transactions."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from noarkit.errors import JournalFault
from noarkit.safe.disk import translate_sqlite_errors


def open_tables(
    path: Path,
    tables: Sequence[str],
    version: int,
    *,
    pragmas: Sequence[str],
    upgrades: Mapping[int, Sequence[str]] | None = None,
    threads: bool = False,
) -> sqlite3.Connection:
    """Opens the SQLite file at `path`, readable by its owner alone: makes its tables if it is new, upgrades one of an
    older version. `upgrades` are the statements that make a file of each version one of the next; with `threads` any
    thread may use the connection. Raises `JournalFault` for a file of a later version, `DiskFull`, `UsageFault`.
    """
    with translate_sqlite_errors(path):
        if not path.exists():
            path.touch(mode=0o600)
        # isolation_level=None: transactions are ours to begin and end (`change_tables`); Python's own would begin late.
        db = sqlite3.connect(path, isolation_level=None, check_same_thread=not threads, timeout=30)
        try:
            for pragma in pragmas:
                db.execute(f"PRAGMA {pragma}")
            if db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
                # All tables in one transaction: a crash in between leaves an empty file, which the next start fills.
                make_tables(db, tables, version)
            row = db.execute("SELECT value FROM meta WHERE name = 'version'").fetchone()
            if row is None or int(row[0]) > version:
                raise JournalFault(where=str(path), why="unknown-version")
            for older in range(int(row[0]), version):
                _upgrade(db, older, (upgrades or {})[older])
        except BaseException:
            db.close()
            raise
    return db


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
    with translate_sqlite_errors(path), _transaction(db):
        yield db


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _upgrade(db: sqlite3.Connection, version: int, statements: Sequence[str]) -> None:
    """Makes a file of an older version one of the next, or leaves it as it is."""
    with _transaction(db):
        # Asked again inside the transaction: another process may have changed the tables since the version was read.
        if db.execute("SELECT value FROM meta WHERE name = 'version'").fetchone()[0] == str(version):
            for statement in statements:
                db.execute(statement)
            db.execute("UPDATE meta SET value = ? WHERE name = 'version'", (str(version + 1),))
