"""A plan with its journal beside it, both for reading alone. Tables of the journal are called
"run.entity" and so on, those of the plan by their names.

A run that has not begun has an empty journal, and so has one that was stopped before its tables were made.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from noarkit.loading.folder import RunFolder
from noarkit.loading.journal_tables import TABLES
from noarkit.safe.disk import may_write_in, translate_sqlite_errors

_CREATE = "CREATE TABLE "


@contextmanager
def open_plan_and_journal(folder: RunFolder) -> Iterator[sqlite3.Connection]:
    """The plan of a run, with its journal attached as "run"."""
    with translate_sqlite_errors(folder.journal):
        db = folder.kept_reader()
        if db is not None:
            yield db
            return
        opened = sqlite3.connect(read_only_address(folder.graph), uri=True)
        try:
            has_begun = attach_run(opened, folder)
        except BaseException:
            opened.close()
            raise
        # what has not begun gets a journal soon, which would not be seen
        if has_begun and folder.keep_reader(opened):
            yield opened
            return
        with closing(opened) as db:
            yield db


def attach_plan(db: sqlite3.Connection, folder: RunFolder, name: str = "graph") -> None:
    """Attaches the plan of a run to a connection that takes addresses."""
    db.execute(f"ATTACH ? AS {name}", (read_only_address(folder.graph),))


def attach_run(db: sqlite3.Connection, folder: RunFolder) -> bool:
    """Attaches the journal of a run as "run" to a connection that takes addresses. Returns whether the run has begun;
    the journal is empty where it has not."""
    if folder.journal.exists():
        db.execute("ATTACH ? AS run", (read_only_address(folder.journal),))
        if db.execute("SELECT count(*) FROM run.sqlite_master").fetchone()[0]:
            return True
        db.execute("DETACH run")
    db.execute("ATTACH ':memory:' AS run")
    for statement in TABLES:
        if statement.startswith(_CREATE):
            db.execute(f"{_CREATE}run.{statement.removeprefix(_CREATE)}")
    return False


def read_only_address(path: Path) -> str:
    """The address of a database of ours that is only read."""
    # SQLite makes a file beside a journal to read it; where it may not, nobody can write the journal either
    is_fixed = not may_write_in(path.parent) and not path.with_name(f"{path.name}-wal").exists()
    return f"{path.resolve().as_uri()}?{'immutable=1' if is_fixed else 'mode=ro'}"
