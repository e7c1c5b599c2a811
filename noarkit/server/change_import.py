"""History that came from elsewhere: change-log entries of objects that the archive holds.

A call of our own, as the wire format has none: `POST logs/change-log/import` with `{"entries": [entry, ...]}`, at most
1,000 at a time, answers `{"imported": n}`. An entry has the members that the change log gives out: `id` or `systemId`
of the object, `revisionType` (CREATE, UPDATE, LINK, UNLINK or MOVE), `modifiedDate`, `modifiedBy`, and where they apply
`modifiedByUserId`, `modifiedField` (with UPDATE, LINK and UNLINK), `modifiedFieldType`, `newValue`, `oldValue`,
`removedValue`, `previousParent`, `currentParent` (objects). It asks for the service permission "Write changelog"; all
entries are taken, or none. One that stands in the log already is passed over, so that the same call may be sent again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

import orjson

from noarkit.server import logs
from noarkit.server.calling import Call, Route
from noarkit.server.query.request import object_member, text_member
from noarkit.server.transaction import log
from noarkit.server.values import BadValue, timestamp
from noarkit.server.wire import Answer, Refusal

PERMISSION = "Write changelog"
MAX_ENTRIES = 1000

_KINDS = ("CREATE", "UPDATE", "LINK", "UNLINK", "MOVE")
_WITH_FIELD = ("UPDATE", "LINK", "UNLINK")
_SAME = (
    "SELECT 1 FROM change_log WHERE object_id = ? AND revision_type = ? AND modified_ms = ? AND modified_by = ?"
    " AND modified_field IS ? AND new_value IS ? AND old_value IS ? AND removed_value IS ? LIMIT 1"
)


def statements() -> Sequence[str]:
    """None: the table is the change log's."""
    return ()


def routes() -> list[Route]:
    """The call of this area."""
    return [Route("POST", "logs/change-log/import", import_entries, has_body=True)]


def import_entries(call: Call) -> Answer:
    """Adds entries to the change log."""
    if PERMISSION not in call.caller.rights.service:
        raise Refusal(403, f'the service permission "{PERMISSION}" is missing.')
    entries = object_member(call.body, "the body").get("entries")
    if not isinstance(entries, list) or len(entries) > MAX_ENTRIES:
        raise Refusal(400, f"entries must be a list of at most {MAX_ENTRIES} objects.")
    rows: list[log.Entry] = []
    with call.service.db.writing() as db:
        for at, given in enumerate(entries):
            try:
                row = _row(call, db, object_member(given, "the entry"))
            except Refusal as refusal:
                raise Refusal(refusal.status, f"entries[{at}]: {refusal.description}") from None
            if row is not None:
                rows.append(row)
        log.write_entries(db, rows)
    return Answer(body={"imported": len(rows)})


def _row(call: Call, db: sqlite3.Connection, given: Mapping[str, object]) -> log.Entry | None:
    named = text_member(given, "id" if given.get("id") is not None else "systemId", None)
    found = logs.find_present(db, call.caller.rights, named)
    kind = text_member(given, "revisionType", None)
    if kind not in _KINDS:
        raise Refusal(400, f"revisionType must be one of {', '.join(_KINDS)}.")
    field = text_member(given, "modifiedField", None if kind in _WITH_FIELD else "") or None
    try:
        moment = timestamp(given.get("modifiedDate"))
    except BadValue as fault:
        raise Refusal(400, f"modifiedDate {fault}.") from None
    change = log.Change(
        kind,
        field=field,
        field_type=text_member(given, "modifiedFieldType", "") or None,
        new=_value(given, "newValue"),
        old=_value(given, "oldValue"),
        removed=_value(given, "removedValue"),
        previous_parent=_value(given, "previousParent"),
        current_parent=_value(given, "currentParent"),
    )
    name = text_member(given, "modifiedBy", None)
    actor = log.Actor(name, text_member(given, "modifiedByUserId", name), moment)
    told = (found.object_id, kind, moment, name, field, change.new, change.old, change.removed)
    return None if db.execute(_SAME, told).fetchone() else log.entry(actor, found, change)


def _value(given: Mapping[str, object], name: str) -> str | None:
    if given.get(name) is None:
        return None
    return orjson.dumps(object_member(given[name], name)).decode()
