"""The whole change log at once, for extracts: page by page along it, instead of tree by tree.

A call of our own, as the wire format has none: `POST logs/change-log/export` with `{"after", "limit", "revisionTypes",
"notByUserIds"}`, each optional, answers `{"results": [entry, ...], "hasMore"}` with the entries that the change log
gives out whose `revisionId` is above `after`, oldest number first, at most 5,000 at a time. It is for accounts that
read everything and have the service permission "View changelog".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import orjson

from noarkit.server import logs
from noarkit.server.calling import Call, Route
from noarkit.server.query.request import number_member, object_member
from noarkit.server.wire import Answer, Refusal

MAX_LIMIT = 5000


def statements() -> Sequence[str]:
    """None: the table is the change log's."""
    return ()


def routes() -> list[Route]:
    """The call of this area."""
    return [Route("POST", "logs/change-log/export", export_entries, has_body=True)]


def export_entries(call: Call) -> Answer:
    """`{"results", "hasMore"}`: a stretch of the log."""
    logs.check_permission(call)
    if not call.caller.rights.reads_everything:
        raise Refusal(403, "the whole change log is for those who may read everything.")
    members = object_member(call.body, "the body")
    after, limit = number_member(members, "after", 0), number_member(members, "limit", MAX_LIMIT)
    if not 1 <= limit <= MAX_LIMIT:
        raise Refusal(400, f"limit must be between 1 and {MAX_LIMIT}.")
    where, values = ["revision_id > ?"], [after]
    kinds, others = _texts(members, "revisionTypes"), _texts(members, "notByUserIds")
    listed = [orjson.dumps(kinds).decode(), orjson.dumps(others).decode()]
    if kinds:
        where.append("revision_type IN (SELECT value FROM json_each(?))")
    if others:
        where.append("modified_by_user_id NOT IN (SELECT value FROM json_each(?))")
    told = [text for text, given in zip(listed, (kinds, others), strict=True) if given]
    with call.service.db.reading() as db:
        rows = db.execute(
            f"SELECT * FROM change_log WHERE {' AND '.join(where)} ORDER BY revision_id LIMIT ?",  # noqa: S608  # our own words
            (*values, *told, limit + 1),
        )
        names = [column[0] for column in rows.description]
        found = [logs.told_change(dict(zip(names, row, strict=True))) for row in rows.fetchall()]
    return Answer(body={"results": found[:limit], "hasMore": len(found) > limit})


def _texts(members: Mapping[str, object], name: str) -> list[str]:
    held = members.get(name)
    if held is None:
        return []
    if not isinstance(held, list) or not all(isinstance(one, str) for one in held):
        raise Refusal(400, f"{name} must be a list of strings.")
    return held
