"""Imports change-log entries from another archive for objects that this archive holds.

A call of our own, as the wire format has none: `POST logs/change-log/import` with `{"entries": [entry, ...]}`, at most
1,000 at a time, answers `{"imported": n}`. An entry has the members that the change log gives out: `id` or `systemId`
of the object, `revisionType` (CREATE, UPDATE, LINK, UNLINK or MOVE), `modifiedDate`, `modifiedBy`, and where they apply
`modifiedByUserId`, `modifiedField` (with UPDATE, LINK and UNLINK), `modifiedFieldType`, `newValue`, `oldValue`,
`removedValue`, `previousParent`, `currentParent` (objects). It asks for the service permission "Write changelog"; all
entries are imported, or none. An entry that is already in the log is skipped, so that the same call may be sent again.
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
_FIND_SAME = (
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
    with call.service.db.transaction() as db:
        for index, entry in enumerate(entries):
            try:
                row = _row(call, db, object_member(entry, "the entry"))
            except Refusal as refusal:
                raise Refusal(refusal.status, f"entries[{index}]: {refusal.description}") from None
            if row is not None:
                rows.append(row)
        log.write_entries(db, rows)
    return Answer(body={"imported": len(rows)})


def _row(call: Call, db: sqlite3.Connection, entry: Mapping[str, object]) -> log.Entry | None:
    object_key = text_member(entry, "id" if entry.get("id") is not None else "systemId", None)
    subject = logs.find_existing(db, call.caller.rights, object_key)
    kind = text_member(entry, "revisionType", None)
    if kind not in _KINDS:
        raise Refusal(400, f"revisionType must be one of {', '.join(_KINDS)}.")
    field = text_member(entry, "modifiedField", None if kind in _WITH_FIELD else "") or None
    try:
        modified_ms = timestamp(entry.get("modifiedDate"))
    except BadValue as fault:
        raise Refusal(400, f"modifiedDate {fault}.") from None
    change = log.Change(
        kind,
        field=field,
        field_type=text_member(entry, "modifiedFieldType", "") or None,
        new=_value(entry, "newValue"),
        old=_value(entry, "oldValue"),
        removed_json=_value(entry, "removedValue"),
        previous_parent=_value(entry, "previousParent"),
        current_parent=_value(entry, "currentParent"),
    )
    name = text_member(entry, "modifiedBy", None)
    actor = log.Actor(name, text_member(entry, "modifiedByUserId", name), modified_ms)
    same_values = (subject.object_id, kind, modified_ms, name, field, change.new, change.old, change.removed_json)
    return None if db.execute(_FIND_SAME, same_values).fetchone() else log.entry(actor, subject, change)


def _value(entry: Mapping[str, object], name: str) -> str | None:
    if entry.get(name) is None:
        return None
    return orjson.dumps(object_member(entry[name], name)).decode()
