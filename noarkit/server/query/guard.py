"""What a call may see and how long it may look: both watched from inside SQLite, while a statement runs."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from noarkit.server.query.paths import MAY_READ
from noarkit.server.wire import Caller, Refusal

_STEPS_BETWEEN_LOOKS = 200_000


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


@contextmanager
def deadline(db: sqlite3.Connection, limit_s: float, now_s: Callable[[], float] = time.monotonic) -> Iterator[None]:
    """Ends statements that run past the limit; the call is then refused, and the archive stays free for others."""
    end = now_s() + limit_s
    stopped = False

    def look() -> int:
        nonlocal stopped
        stopped = now_s() > end
        return int(stopped)

    db.set_progress_handler(look, _STEPS_BETWEEN_LOOKS)
    try:
        yield
    except sqlite3.OperationalError:
        if stopped:
            raise Refusal(400, f"The query takes longer than {limit_s:g} s; ask for less at once.") from None
        raise
    finally:
        db.set_progress_handler(None, 0)
