"""A plain look at the files of a library, with nothing of ours between: rows by table, bytes by name."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from stat import S_ISDIR, S_ISLNK

from tests.loading.damage.library import Library

Snapshot = Mapping[str, Mapping[str, object]]
# counts how often a row was saved, and what a look-up table says of texts: nothing of the record itself
_PASSED_OVER = {"version"}


def snapshot(library: Library) -> Snapshot:
    """All that stands in the archive's object tables and store, in the run's files and in the source."""
    found: dict[str, Mapping[str, object]] = {}
    with closing(sqlite3.connect(library.archive_folder / "archive.db")) as db:
        for name in _tables(db, "o_*"):
            found[name.removeprefix("o_")] = _objects(db, name)
        for name in _tables(db, "p_*"):
            found[name] = {str(row): row for row in db.execute(f"SELECT a, b FROM {name}")}
        for name in ("stored_file", "code_value"):
            found[name] = {str(row[:2]): row for row in db.execute(f"SELECT * FROM {name}")}
    store = library.archive_folder / "files"
    found["files"] = {path.name: _content(path) for path in store.glob("??/*")}
    found["run.db"] = _database(library.folder.journal)
    found["graph.db"] = _database(library.folder.graph)
    found["plan.json"] = {"": (library.folder.path / "plan.json").read_text("utf-8")}
    found["source"] = {**library.source.contents, **{f"record {key}": key for key in library.source.keys}}
    return found


def difference(before: Snapshot, after: Snapshot) -> dict[str, int]:
    """How many things of each place came, went or changed."""
    told = {
        place: sum(
            before.get(place, {}).get(name) != after.get(place, {}).get(name)
            for name in {*before.get(place, {}), *after.get(place, {})}
        )
        for place in {*before, *after}
    }
    return {place: count for place, count in told.items() if count}


def _tables(db: sqlite3.Connection, pattern: str) -> list[str]:
    return [
        row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB ?", (pattern,))
    ]


def _objects(db: sqlite3.Connection, table: str) -> dict[str, object]:
    cursor = db.execute(f"SELECT * FROM {table}")
    names = [column[0] for column in cursor.description]
    kept = [place for place, name in enumerate(names) if name not in _PASSED_OVER]
    return {str(row[0]): tuple(row[place] for place in kept) for row in cursor}


def _database(path: Path) -> dict[str, object]:
    """The rows of a file of the run, by table and primary key."""
    if not path.exists():
        return {}
    found: dict[str, object] = {}
    with closing(sqlite3.connect(path)) as db:
        for table in _tables(db, "*"):
            keys = [row[0] for row in db.execute(f"PRAGMA table_info({table})") if row[5]]
            for place, row in enumerate(db.execute(f"SELECT * FROM {table}")):
                found[f"{table} {[row[key] for key in keys] or place}"] = row
    return found


def _content(path: Path) -> object:
    mode = path.lstat().st_mode
    if S_ISLNK(mode):
        return f"link to {path.readlink()}"
    return "folder" if S_ISDIR(mode) else path.read_bytes()
