"""Every find of what the form cannot say, one a line: a table beside the package."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import orjson

from noarkit.extraction.carried_fields import lost_fields
from noarkit.forms.noark5.write.content import EntityData
from noarkit.forms.noark5.write.unmapped import repeats_system_id
from noarkit.safe.csv_files import write_csv

_OWNER = """CASE WHEN t.type <> 'EksternId' THEN ''
  WHEN t.family = 'D' THEN (SELECT uuid FROM document WHERE id = t.parent)
  WHEN t.family = 'V' THEN (SELECT uuid FROM version WHERE id = t.parent)
  ELSE (SELECT uuid FROM unit WHERE id = t.parent) END"""


def write_table(db: sqlite3.Connection, path: Path) -> dict[str, int]:
    """Every field of every object that has one and that the form cannot tell; counts by type and field."""
    counts: Counter[str] = Counter()

    def rows() -> Iterator[tuple[str, str, str, str]]:
        for entity, uuid, owner in _entities(db):
            if repeats_system_id(entity["t"], entity["f"], owner):
                continue
            for name, value in lost_fields(entity):
                counts[f"{entity['t']}.{name.partition('/')[0]}"] += 1
                yield entity["t"], uuid, name, value

    write_csv(path, ("type", "uuid", "field", "value"), rows(), mode=0o644, sync=False)
    return dict(counts)


def _entities(db: sqlite3.Connection) -> Iterator[tuple[EntityData, str, str]]:
    """Every thing with its uuid; of a key also the uuid of what it is the key of."""
    for table in ("unit", "document", "version", "part"):
        order = "uuid" if table in ("document", "version") else "type, uuid"
        owner = _OWNER if table == "part" else "''"
        # sorted by row number alone: the sorter would carry all data along
        sql = (
            f"SELECT t.data, t.uuid, {owner} FROM (SELECT rowid r FROM {table} ORDER BY {order}) s"  # noqa: S608  # our own names
            f" JOIN {table} t ON t.rowid = r"
        )
        for data, uuid, above in db.execute(sql):
            yield orjson.loads(data), uuid, above or ""
