"""What a call may see, watched from inside SQLite while a statement runs."""

from __future__ import annotations

import sqlite3

from noarkit.server.query.paths import MAY_READ
from noarkit.server.wire import Caller


def watch_rights(db: sqlite3.Connection, caller: Caller) -> bool:
    """Makes SQL ask the caller's rights by `MAY_READ(family, id)`; False where there is nothing to ask.

    Each object is asked for once in a call.
    """
    if caller.rights.reads_everything:
        return False
    known: dict[tuple[str, int], bool] = {}

    def may_read(family: str, object_id: int | None) -> bool:
        if object_id is None:
            return False
        key = (family, object_id)
        if key not in known:
            known[key] = caller.rights.may_read(db, family, object_id)
        return known[key]

    db.create_function(MAY_READ, 2, may_read)
    return True
