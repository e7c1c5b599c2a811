"""Exports the whole change log page by page, for extracts; the ordinary call gives it object by object.

A call of our own, as the wire format has none: `POST logs/change-log/export` with `{"after", "limit", "revisionTypes",
"notByUserIds", "exceptFields"}`, each optional, answers `{"results": [entry, ...], "hasMore"}` with the entries that
the change log gives out whose `revisionId` is above `after`, oldest number first, at most 5,000 at a time. Of the users
who are left out come the changes of `exceptFields` all the same. It is for accounts that read everything and have the
service permission "View changelog".
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import orjson

from noarkit.server import DATABASE_FILE, logs
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


def newest_change(data_dir: Path) -> int:
    """The number of the newest entry of the change log of an archive in a folder; 0 where there is none."""
    path = (data_dir / DATABASE_FILE).resolve()
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as db:
        return int(db.execute("SELECT coalesce(max(revision_id), 0) FROM change_log").fetchone()[0])


def export_entries(call: Call) -> Answer:
    """Answers one page of the change log as `{"results", "hasMore"}`."""
    logs.check_permission(call)
    if not call.caller.rights.reads_everything:
        raise Refusal(403, "the whole change log is for those who may read everything.")
    members = object_member(call.body, "the body")
    after, limit = number_member(members, "after", 0), number_member(members, "limit", MAX_LIMIT)
    if not 1 <= limit <= MAX_LIMIT:
        raise Refusal(400, f"limit must be between 1 and {MAX_LIMIT}.")
    conditions, values = ["revision_id > ?"], [after]
    kinds, excluded_users = _texts(members, "revisionTypes"), _texts(members, "notByUserIds")
    list_values = []
    if kinds:
        conditions.append("revision_type IN (SELECT value FROM json_each(?))")
        list_values.append(orjson.dumps(kinds).decode())
    if excluded_users:
        conditions.append(
            "(modified_by_user_id NOT IN (SELECT value FROM json_each(?))"
            " OR modified_field IN (SELECT value FROM json_each(?)))"
        )
        fields = _texts(members, "exceptFields")
        list_values += [orjson.dumps(excluded_users).decode(), orjson.dumps(fields).decode()]
    with call.service.db.snapshot() as db:
        rows = db.execute(
            f"SELECT * FROM change_log WHERE {' AND '.join(conditions)} ORDER BY revision_id LIMIT ?",  # noqa: S608  # our own words
            (*values, *list_values, limit + 1),
        )
        names = [column[0] for column in rows.description]
        entries = [logs.change_payload(dict(zip(names, row, strict=True))) for row in rows.fetchall()]
    return Answer(body={"results": entries[:limit], "hasMore": len(entries) > limit})


def _texts(members: Mapping[str, object], name: str) -> list[str]:
    value = members.get(name)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise Refusal(400, f"{name} must be a list of strings.")
    return value
