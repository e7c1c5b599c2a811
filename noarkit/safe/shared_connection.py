"""A connection to a database that several threads ask at once, each by statements of its own.

Python keeps statements by their text, to run them again. From Python 3.12 on one that a thread is about to run may be
handed to another thread with the same text, and rows of the other question with it. Here no two threads have the same.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from threading import get_ident

KEPT = 1_024
"""How many statements are kept: some hundred for each of several threads."""
Values = Sequence[object] | Mapping[str, object]


class SharedConnection(sqlite3.Connection):
    """A connection to read from. Cursors of one's own are not for it: it tells its statements apart in `execute`."""

    def execute(self, sql: str, parameters: Values = (), /) -> sqlite3.Cursor:  # type: ignore[override]  # theirs are private
        """Runs a statement of this thread's."""
        return super().execute(f"{sql}\n--{get_ident()}", parameters)

    def cursor(self, *arguments: object, **named: object) -> sqlite3.Cursor:  # type: ignore[override]  # it lends none
        """Refused: its statements would be shared."""
        raise sqlite3.ProgrammingError("a shared connection lends no cursors; ask it by execute()")


def open_shared(where: str, factory: type[SharedConnection] = SharedConnection) -> SharedConnection:
    """Opens the database at a URI, for any thread."""
    return sqlite3.connect(where, uri=True, check_same_thread=False, factory=factory, cached_statements=KEPT)
