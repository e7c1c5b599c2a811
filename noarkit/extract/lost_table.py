"""Every find of what the form cannot say, one a line: a table beside the package."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import orjson

from noarkit.extract.carried import lost_fields
from noarkit.packages.noark5.content import Thing
from noarkit.safe.csv_files import write_csv


def write_table(db: sqlite3.Connection, path: Path) -> dict[str, int]:
    """Every field of every object that has one and that the form cannot tell; counts by type and field."""
    counts: Counter[str] = Counter()

    def rows() -> Iterator[tuple[str, str, str, str]]:
        for thing, uuid in _things(db):
            for name, value in lost_fields(thing):
                counts[f"{thing['t']}.{name}"] += 1
                yield thing["t"], uuid, name, value

    write_csv(path, ("type", "uuid", "field", "value"), rows(), mode=0o644, sync=False)
    return dict(counts)


def _things(db: sqlite3.Connection) -> Iterator[tuple[Thing, str]]:
    for table in ("unit", "document", "version", "part"):
        order = "uuid" if table in ("document", "version") else "type, uuid"
        # sorted by row number alone: the sorter would carry all data along
        sql = (
            f"SELECT t.data, t.uuid FROM (SELECT rowid r FROM {table} ORDER BY {order}) s JOIN {table} t ON t.rowid = r"  # noqa: S608  # our own names
        )
        for data, uuid in db.execute(sql):
            yield orjson.loads(data), uuid
