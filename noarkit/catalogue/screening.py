"""What says in the fields of something that it is screened: a part of it, or all.

Everybody who shows something asks here, so that a page, a table and a report mask the same.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from noarkit.catalogue.port import Fields


def are_fields_screened(fields: Fields) -> bool:
    """True if the fields of a document, or a part of them, say that it is screened or graded."""
    return any(isinstance(part, Mapping) and is_part_screened(part) for part in (fields, *fields.values()))


def is_part_screened(fields: Fields) -> bool:
    """True if a group of fields says so of itself."""
    return bool(fields.get("skjerming") or fields.get("gradering")) or fields.get("skjermEInnsyn") in (True, "true")


def screens(alias: str) -> str:
    """The same as an expression of SQL over the fields of an entity of a plan."""
    graded = (f"coalesce(json_extract({alias}.fields, '$.{name}'), '') != ''" for name in ("skjerming", "gradering"))
    return f"({' OR '.join(graded)} OR coalesce(json_extract({alias}.fields, '$.skjermEInnsyn'), 0) IN (1, 'true'))"


def is_record_screened(db: sqlite3.Connection, record: int) -> bool:
    """True if anything that a source record becomes in a plan is screened, or something above it."""
    return bool(db.execute(_IS_RECORD_SCREENED, (record,)).fetchone()[0])


def is_unit_screened(db: sqlite3.Connection, entity: int) -> bool:
    """True if an entity of a plan is screened itself, or something above it; what lies in it is not asked."""
    return bool(db.execute(_IS_UNIT_SCREENED, (entity,)).fetchone()[0])


_ABOVE = (
    "WITH RECURSIVE above(parent, fields) AS (SELECT e.parent, e.fields FROM {start}"  # noqa: S608  # our own words
    " UNION ALL SELECT p.parent, p.fields FROM above a JOIN entity p ON p.n = a.parent)"
    f" SELECT EXISTS (SELECT 1 FROM above WHERE {screens('above')})"
)
_IS_UNIT_SCREENED = _ABOVE.format(start="entity e WHERE e.n = ?1")
_IS_RECORD_SCREENED = (
    _ABOVE.format(start="record r JOIN entity e ON e.n = r.root WHERE r.n = ?1")  # noqa: S608  # our own words
    + " OR EXISTS (SELECT 1 FROM record r JOIN entity e ON e.n = r.root JOIN entity x ON x.bundle"  # noqa: S608  # ours
    " = e.bundle"
    f" WHERE r.n = ?1 AND {screens('x')})"
)
