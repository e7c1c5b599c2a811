"""The change log, the access log and the download log, for those with the service permission "View changelog".

Entries of objects that the caller may not read are left out; those of a deleted object are shown to a caller who may
read its nearest existing ancestor. Entries come oldest first, so that pages stay the same while entries are added.

The change log of an object holds its own changes; with `includeChildChanges` those of its children too, and with
`nestChildChanges` as well those of all below them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import TypeVar

import orjson

from noarkit.model import metamodel
from noarkit.server.access_notes import ACCESS_LOG_TYPES
from noarkit.server.calling import Call, Route
from noarkit.server.query.request import boolean_member, number_member, object_member, text_member
from noarkit.server.read_log import Access, Condition, Download
from noarkit.server.schema import schema, table_name
from noarkit.server.transaction.log import Subject
from noarkit.server.values import BadValue, format_timestamp, timestamp
from noarkit.server.wire import Answer, Refusal, Rights

PERMISSION = "View changelog"
CHANGE_LOG_TYPES = (
    "Arkiv",
    "Arkivskaper",
    "Arkivdel",
    "Klassifikasjonssystem",
    "Klasse",
    "Saksmappe",
    "Mappe",
    "Moetemappe",
    "Moetedeltaker",
    "AbstraktMappe",
    "Journalpost",
    "Basisregistrering",
    "Moeteregistrering",
    "Arkivnotat",
    "AbstraktRegistrering",
    "Dokument",
    "Presedens",
    "Korrespondansepart",
    "Sakspart",
)
_MAX_LIMIT = 100
_DAY_MS = 24 * 3600 * 1000
_MAX_UUIDS = 1000

Entry = TypeVar("Entry", Access, Download)


def statements() -> Iterator[str]:
    """None: the change log is written by transactions, the others lie beside the archive."""
    return iter(())


def routes() -> list[Route]:
    """The calls of this area."""
    return [
        Route("POST", "logs/change-log", change_log, has_body=True),
        Route("POST", "logs/access-log", access_log, has_body=True),
        Route("POST", "logs/download-log", download_log, has_body=True),
    ]


def change_log(call: Call) -> Answer:
    """`{"results", "total"}`: what happened to an object, and below it."""
    check_permission(call)
    members = object_member(call.body, "the body")
    offset, limit = _page(members)
    object_key = text_member(members, "id", None)
    type_name = text_member(members, "type", "")
    if type_name and type_name not in CHANGE_LOG_TYPES:
        raise Refusal(400, f"type must be one of {', '.join(CHANGE_LOG_TYPES)}.")
    children = boolean_member(members, "includeChildChanges", True)
    nested = boolean_member(members, "nestChildChanges", True)
    rights = call.caller.rights
    with call.service.db.snapshot() as db:
        object_id = _find_object_id(db, rights, object_key, type_name)
        tree = list(_tree(db, object_id, children, nested))
        if not rights.reads_everything:
            tree = [node_id for node_id in tree if _may_read(db, rights, node_id)]
        tree_json = orjson.dumps(tree).decode()
        total = db.execute(f"SELECT count(*) {_OF_TREE}", (tree_json,)).fetchone()[0]  # our own words
        rows = db.execute(
            f"SELECT * {_OF_TREE} ORDER BY modified_ms, revision_id LIMIT ? OFFSET ?",  # our own words
            (tree_json, limit, offset),
        )
        names = [column[0] for column in rows.description]
        results = [change_payload(dict(zip(names, row, strict=True))) for row in rows.fetchall()]
    return Answer(body={"results": results, "total": total})


def access_log(call: Call) -> Answer:
    """`{"results", "hasMore"}`: who read what."""
    check_permission(call)
    members = object_member(call.body, "the body")
    offset, limit = _page(members)
    conditions = [*_time_and_user(members), *_uuids(members, "objectUUIDs")]
    type_name = text_member(members, "objectType", "")
    if type_name:
        if type_name not in ACCESS_LOG_TYPES:
            raise Refusal(400, f"objectType must be one of {', '.join(ACCESS_LOG_TYPES)}.")
        conditions.append(Condition("type = ?", (type_name,)))
    entries = _readable(call, call.service.read_log.accesses(conditions), lambda entry: entry.type)
    page = list(islice(entries, offset, offset + limit + 1))
    results = [
        {
            "createdDate": format_timestamp(entry.created_ms),
            "userName": entry.user_name,
            "userId": entry.user_id,
            "objectType": entry.type,
            "objectUUID": entry.uuid,
            "version": entry.version,
        }
        for entry in page[:limit]
    ]
    return Answer(body={"results": results, "hasMore": len(page) > limit})


def download_log(call: Call) -> Answer:
    """`{"results", "hasMore"}`: who downloaded what."""
    check_permission(call)
    members = object_member(call.body, "the body")
    offset, limit = _page(members)
    conditions = [*_time_and_user(members), *_uuids(members, "dokumentversjonUUIDs")]
    entries = _readable(call, call.service.read_log.downloads(conditions), lambda _: "Dokumentversjon")
    page = list(islice(entries, offset, offset + limit + 1))
    results = [
        {
            "createdDate": format_timestamp(entry.created_ms),
            "userName": entry.user_name,
            "userId": entry.user_id,
            "dokumentversjonUUID": entry.uuid,
        }
        for entry in page[:limit]
    ]
    return Answer(body={"results": results, "hasMore": len(page) > limit})


def find_existing(db: sqlite3.Connection, rights: Rights, object_key: str) -> Subject:
    """The object with that id or uuid that is there and may be read. Refuses with 404 what is not."""
    object_id = _find_object_id(db, rights, object_key, "")
    table = table_name(metamodel().family(_type_of(db, object_id) or ""))
    row = db.execute(f"SELECT uuid, type FROM {table} WHERE id = ?", (object_id,)).fetchone()  # noqa: S608  # a name of the model
    if row is None:
        raise Refusal(404, f"there is no object {object_key[:80]}.")
    return Subject(object_id, row[0], row[1])


_OF_TREE = "FROM change_log WHERE object_id IN (SELECT value FROM json_each(?))"
_DIRECTLY_BELOW = "SELECT DISTINCT object_id FROM change_log WHERE parent_id = ?"
_ALL_BELOW = (
    "WITH RECURSIVE below (id) AS (VALUES (?) UNION"
    " SELECT object_id FROM change_log JOIN below ON parent_id = below.id) SELECT id FROM below"
)


def _tree(db: sqlite3.Connection, object_id: int, children: bool, nested: bool) -> Iterable[int]:
    if not children:
        return [object_id]
    rows = db.execute(_ALL_BELOW if nested else _DIRECTLY_BELOW, (object_id,)).fetchall()
    return dict.fromkeys([object_id, *(row[0] for row in rows)])


def _find_object_id(db: sqlite3.Connection, rights: Rights, object_key: str, type_name: str) -> int:
    """The object with that id or uuid, there or gone. Refuses with 404 what is not, or may not be read."""
    if object_key.isascii() and object_key.isdigit() and len(object_key) < 19:
        object_id: int | None = int(object_key)
    else:
        object_id = _by_uuid(db, object_key)
    actual_type = None if object_id is None else _type_of(db, object_id)
    fits = actual_type is not None and (not type_name or metamodel().is_a(actual_type, type_name))
    if object_id is None or not fits or not (rights.reads_everything or _may_read(db, rights, object_id)):
        raise Refusal(404, f"there is no {type_name or 'object'} {object_key[:80]}.")
    return object_id


def _type_of(db: sqlite3.Connection, object_id: int) -> str | None:
    """The type of an object, there or gone; a folder or record that was expanded counts as what it is now."""
    row = db.execute("SELECT type FROM change_log WHERE object_id = ? LIMIT 1", (object_id,)).fetchone()
    if row is None:
        return None
    table = table_name(metamodel().family(row[0]))
    current_row = db.execute(f"SELECT type FROM {table} WHERE id = ?", (object_id,)).fetchone()  # noqa: S608  # a name of the model
    return str((current_row or row)[0])


def _by_uuid(db: sqlite3.Connection, uuid: str) -> int | None:
    for table in schema().tables.values():
        row = db.execute(f"SELECT id FROM {table.name} WHERE uuid = ?", (uuid,)).fetchone()  # noqa: S608  # a name of the model
        if row is not None:
            return int(row[0])
    deleted_sql = "SELECT object_id FROM change_log WHERE system_id = ? AND revision_type = 'DELETE'"
    row = db.execute(deleted_sql, (uuid,)).fetchone()
    return None if row is None else int(row[0])


def _may_read(db: sqlite3.Connection, rights: Rights, object_id: int) -> bool:
    """True if the object, or the nearest above it that is still there, may be read."""
    above: int | None = object_id
    while above is not None:
        row = db.execute(
            "SELECT type, revision_type, parent_id FROM change_log WHERE object_id = ?"
            " ORDER BY revision_type = 'DELETE' DESC, revision_id DESC LIMIT 1",
            (above,),
        ).fetchone()
        if row is None:
            return False
        if row[1] != "DELETE":
            return rights.may_read(db, metamodel().family(row[0]), above)
        above = row[2]
    return rights.reads_everything


def change_payload(row: Mapping[str, str | int | None]) -> dict[str, object]:
    """A row of the change log as the wire tells it."""
    payload: dict[str, object] = {
        "id": str(row["object_id"]),
        "systemId": row["system_id"],
        "type": row["type"],
        "revisionId": str(row["revision_id"]),
        "revisionType": row["revision_type"],
        "modifiedDate": format_timestamp(int(row["modified_ms"] or 0)),
        "modifiedBy": row["modified_by"],
        "modifiedByUserId": row["modified_by_user_id"],
    }
    for member, column in (("modifiedField", "modified_field"), ("modifiedFieldType", "modified_field_type")):
        if row[column] is not None:
            payload[member] = row[column]
    for member, column in _VALUES.items():
        if row[column] is not None:
            payload[member] = orjson.Fragment(str(row[column]))
    return payload


_VALUES = {
    "newValue": "new_value",
    "oldValue": "old_value",
    "removedValue": "removed_value",
    "previousParent": "previous_parent",
    "currentParent": "current_parent",
}


def _readable(call: Call, entries: Iterable[Entry], type_of: Callable[[Entry], str]) -> Iterator[Entry]:
    rights = call.caller.rights
    if rights.reads_everything:
        yield from entries
        return
    readable_by_uuid: dict[str, bool] = {}
    for entry in entries:
        if entry.uuid not in readable_by_uuid:
            readable_by_uuid[entry.uuid] = _may_read_uuid(call, type_of(entry), entry.uuid)
        if readable_by_uuid[entry.uuid]:
            yield entry


def _may_read_uuid(call: Call, type_name: str, uuid: str) -> bool:
    family = metamodel().family(type_name)
    with call.service.db.snapshot() as db:
        row = db.execute(f"SELECT id FROM {table_name(family)} WHERE uuid = ?", (uuid,)).fetchone()  # noqa: S608  # a name of the model
        if row is not None:
            return call.caller.rights.may_read(db, family, row[0])
        deleted_id = _by_uuid(db, uuid)
        return deleted_id is not None and _may_read(db, call.caller.rights, deleted_id)


def check_permission(call: Call) -> None:
    """Refuses with 403 who may not look into the logs."""
    if PERMISSION not in call.caller.rights.service:
        raise Refusal(403, f'the service permission "{PERMISSION}" is missing.')


def _page(members: Mapping[str, object]) -> tuple[int, int]:
    offset, limit = number_member(members, "offset", 0), number_member(members, "limit", 10)
    if offset < 0:
        raise Refusal(400, "offset must not be negative.")
    if not 1 <= limit <= _MAX_LIMIT:
        raise Refusal(400, f"limit must be between 1 and {_MAX_LIMIT}.")
    return offset, limit


def _time_and_user(members: Mapping[str, object]) -> Iterator[Condition]:
    """Conditions on time span and user; both ends are included, and an end without a time includes the whole day."""
    earliest, latest = members.get("createdDateFrom"), members.get("createdDateTo")
    try:
        if earliest is not None:
            yield Condition("created_ms >= ?", (timestamp(earliest),))
        if latest is not None:
            whole_day = _DAY_MS - 1 if len(str(latest)) == len("YYYY-MM-DD") else 0
            yield Condition("created_ms <= ?", (timestamp(latest) + whole_day,))
    except BadValue as fault:
        raise Refusal(400, f"createdDateFrom or createdDateTo {fault}.") from None
    user_name = text_member(members, "userName", "")
    if user_name:
        yield Condition("user_name = ?", (user_name,))


def _uuids(members: Mapping[str, object], name: str) -> Iterator[Condition]:
    uuids = members.get(name)
    if uuids is None:
        return
    if not isinstance(uuids, list) or not all(isinstance(uuid, str) for uuid in uuids) or len(uuids) > _MAX_UUIDS:
        raise Refusal(400, f"{name} must be a list of at most {_MAX_UUIDS} strings.")
    if uuids:
        yield Condition("uuid IN (SELECT value FROM json_each(?))", (orjson.dumps(uuids).decode(),))
