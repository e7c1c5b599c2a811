"""Applies the caller's read rights inside SQL statements, by a function that SQLite calls for each row."""

from __future__ import annotations

import sqlite3

from noarkit.server.query.paths import MAY_READ
from noarkit.server.wire import Caller


def watch_rights(db: sqlite3.Connection, caller: Caller) -> bool:
    """Registers `MAY_READ(family, id)` for the caller; False if the caller may read everything.

    Each object is decided once per call and then remembered.
    """
    if caller.rights.reads_everything:
        return False
    decisions: dict[tuple[str, int], bool] = {}

    def may_read(family: str, object_id: int | None) -> bool:
        if object_id is None:
            return False
        key = (family, object_id)
        if key not in decisions:
            decisions[key] = caller.rights.may_read(db, family, object_id)
        return decisions[key]

    db.create_function(MAY_READ, 2, may_read)
    return True
