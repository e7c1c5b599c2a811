"""POST /query: one page of objects."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from noarkit.server.access_notes import note_reads
from noarkit.server.calling import Call
from noarkit.server.query.compile import compile_query
from noarkit.server.query.patterns import watch_patterns
from noarkit.server.query.reading_rights import watch_rights
from noarkit.server.query.request import QueryRequest, read_request
from noarkit.server.rendering import fetch, render_all
from noarkit.server.settings import Settings
from noarkit.server.wire import Answer, Caller


def query(call: Call) -> Answer:
    """Answers `{"hasMore", "results"}`; the page and its rows come from one snapshot of the archive."""
    settings = call.service.settings
    request = read_request(call.body, settings)
    with call.service.db.snapshot() as db:
        result_page = page(db, request, settings, call.caller, call.service.db.clock.check)
    note_reads(call.service, call.caller, result_page)
    return Answer(body=result_page)


def page(
    db: sqlite3.Connection,
    request: QueryRequest,
    settings: Settings,
    caller: Caller,
    check_time: Callable[[], None] = lambda: None,
) -> dict[str, object]:
    """The page that a request asks for, of what the caller may read; `check_time` refuses when it takes too long."""
    checks_rights = watch_rights(db, caller)
    watch_patterns(db, check_time)
    statement = compile_query(request, settings, checks_rights=checks_rights)
    ids = [int(row[0]) for row in db.execute(statement.sql, statement.operands).fetchall()]
    rows = fetch(db, statement.family, ids[: request.limit])
    results = render_all(db, statement.family, rows, public_use=request.public_use, newer=settings.show_newer)
    return {"hasMore": len(ids) > request.limit, "results": results}
