"""The registry of business-specific metadata: groups of fields that an archive adds to those of Noark.

The ids of groups and fields are lower-case letters, digits and dashes; a field id is unique in the whole archive.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import cache

from noarkit.model import metamodel
from noarkit.server.calling import Call, Route
from noarkit.server.rights import METADATA_REGISTER
from noarkit.server.schema import table_name
from noarkit.server.wire import Answer, Refusal

METADATA = "virksomhetsspesifikkeMetadata"
KINDS = ("string", "long", "double", "timestamp", "encrypted", "uri", "boolean")

_ID = re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?")
_LARGEST_LONG = 2**63

JsonObject = dict[str, object]


def statements() -> Iterator[str]:
    """The tables of the registry; `fixed_values` is a JSON array, or NULL where any value of the kind will do."""
    yield "CREATE TABLE bsm_group (group_id TEXT PRIMARY KEY, name TEXT NOT NULL, description TEXT)"
    yield (
        "CREATE TABLE bsm_field (group_id TEXT NOT NULL REFERENCES bsm_group, field_id TEXT NOT NULL,"
        " name TEXT NOT NULL, description TEXT, kind TEXT NOT NULL, fixed_values TEXT,"
        " PRIMARY KEY (group_id, field_id))"
    )


def routes() -> list[Route]:
    """The five calls for the registry."""
    return [
        Route("GET", "bsm-registry", _read),
        Route("PUT", "bsm-registry/group/{group}", _put_group, has_body=True),
        Route("DELETE", "bsm-registry/group/{group}", _delete_group),
        Route("PUT", "bsm-registry/group/{group}/field/{field}", _put_field, has_body=True),
        Route("DELETE", "bsm-registry/group/{group}/field/{field}", _delete_field),
    ]


def _read(call: Call) -> Answer:
    group, field = call.query.get("groupId"), call.query.get("fieldId")
    for name, value in (("groupId", group), ("fieldId", field)):
        if value is not None:
            _check_id(name, value)
    with call.service.db.snapshot() as db:
        readable = call.caller.rights.may_below(db, "Read", METADATA_REGISTER, 0)
        groups = list(_groups(db, group, field)) if readable else []
    return Answer(body={"results": groups})


def _groups(db: sqlite3.Connection, group: str | None, field: str | None) -> Iterator[JsonObject]:
    """The groups, each with its fields; with `field`, only the group that has it, with that field alone."""
    rows = db.execute(
        "SELECT group_id, name, description FROM bsm_group WHERE ?1 IS NULL OR group_id = ?1 ORDER BY rowid", (group,)
    ).fetchall()
    for group_id, name, description in rows:
        fields = db.execute(
            "SELECT field_id, name, description, kind, fixed_values FROM bsm_field"
            " WHERE group_id = ?1 AND (?2 IS NULL OR field_id = ?2) ORDER BY rowid",
            (group_id, field),
        ).fetchall()
        if fields or field is None:
            yield {**_group_payload(group_id, name, description), "fields": [_field_payload(*row) for row in fields]}


def _put_group(call: Call) -> Answer:
    group = _check_id("groupId", call.path["group"])
    body = call.body if isinstance(call.body, dict) else {}
    name, description = _name(body, "groupName"), _description(body, "groupDescription")
    with call.service.db.transaction() as db:
        _require_permission(call, db, "Update" if _has_group(db, group) else "Create")
        db.execute(
            "INSERT INTO bsm_group (group_id, name, description) VALUES (?, ?, ?)"
            " ON CONFLICT (group_id) DO UPDATE SET name = excluded.name, description = excluded.description",
            (group, name, description),
        )
    return Answer(body=_group_payload(group, name, description))


def _delete_group(call: Call) -> Answer:
    group = _check_id("groupId", call.path["group"])
    with call.service.db.transaction() as db:
        _require_permission(call, db, "Delete")
        if not _has_group(db, group):
            raise _no_group(group)
        _require_unused(db, f'$."{group}"', f"group {group}")
        db.execute("DELETE FROM bsm_field WHERE group_id = ?", (group,))
        db.execute("DELETE FROM bsm_group WHERE group_id = ?", (group,))
    return Answer(204)


def _put_field(call: Call) -> Answer:
    group, field = _check_id("groupId", call.path["group"]), _check_id("fieldId", call.path["field"])
    body = call.body if isinstance(call.body, dict) else {}
    name, description = _name(body, "fieldName"), _description(body, "fieldDescription")
    kind = body.get("fieldType")
    if not isinstance(kind, str) or kind not in KINDS:
        raise Refusal(400, f"fieldType must be one of {', '.join(KINDS)}")
    values = _fixed_values(body, kind)
    with call.service.db.transaction() as db:
        if not _has_group(db, group):
            _require_permission(call, db, "Create")
            raise _no_group(group)
        _require_permission(call, db, "Update" if _has_field(db, group, field, kind) else "Create")
        db.execute(
            "INSERT INTO bsm_field (group_id, field_id, name, description, kind, fixed_values)"
            " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (group_id, field_id) DO UPDATE SET name = excluded.name,"
            " description = excluded.description, fixed_values = excluded.fixed_values",
            (group, field, name, description, kind, values),
        )
    return Answer(body=_field_payload(field, name, description, kind, values))


def _delete_field(call: Call) -> Answer:
    group, field = _check_id("groupId", call.path["group"]), _check_id("fieldId", call.path["field"])
    with call.service.db.transaction() as db:
        _require_permission(call, db, "Delete")
        sql = "SELECT 1 FROM bsm_field WHERE group_id = ? AND field_id = ?"
        if db.execute(sql, (group, field)).fetchone() is None:
            raise Refusal(404, f"there is no field {field} in group {group}")
        _require_unused(db, f'$."{group}"."{field}"', f"field {field} of group {group}")
        db.execute("DELETE FROM bsm_field WHERE group_id = ? AND field_id = ?", (group, field))
    return Answer(204)


def _check_id(name: str, value: str) -> str:
    if not _ID.fullmatch(value):
        raise Refusal(
            400, f"{name} must be lower-case letters, digits and dashes, from a letter to a letter or a digit"
        )
    return value


def _require_permission(call: Call, db: sqlite3.Connection, permission: str) -> None:
    if not call.caller.rights.may_below(db, permission, METADATA_REGISTER, 0):
        raise Refusal(403, f"this needs {permission} on the registry of business-specific metadata")


def _has_group(db: sqlite3.Connection, group: str) -> bool:
    return db.execute("SELECT 1 FROM bsm_group WHERE group_id = ?", (group,)).fetchone() is not None


def _no_group(group: str) -> Refusal:
    return Refusal(404, f"there is no group {group}")


def _has_field(db: sqlite3.Connection, group: str, field: str, kind: str) -> bool:
    """True if the group has the field already; refuses a change of its group or its type."""
    row = db.execute("SELECT group_id, kind FROM bsm_field WHERE field_id = ?", (field,)).fetchone()
    if row is None:
        return False
    if row[0] != group:
        raise Refusal(400, f"fieldId {field} is already that of a field in group {row[0]}")
    if row[1] != kind:
        raise Refusal(400, f"fieldType of {field} is {row[1]} and cannot be changed")
    return True


def _require_unused(db: sqlite3.Connection, path: str, label: str) -> None:
    for table in _tables_with_metadata():
        sql = (
            f'SELECT 1 FROM {table} WHERE "{METADATA}" IS NOT NULL'  # noqa: S608  # names of the metamodel
            f' AND json_extract("{METADATA}", ?) IS NOT NULL LIMIT 1'
        )
        if db.execute(sql, (path,)).fetchone():
            raise Refusal(409, f"{label} is in use")


@cache
def _tables_with_metadata() -> tuple[str, ...]:
    types = metamodel().types.values()
    return tuple(
        dict.fromkeys(table_name(object_type.family) for object_type in types if METADATA in object_type.fields)
    )


def _name(body: Mapping[str, object], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not value.strip():
        raise Refusal(400, f"{name} must be a text that is not empty")
    return value


def _description(body: Mapping[str, object], name: str) -> str | None:
    value = body.get(name)
    if value is not None and not isinstance(value, str):
        raise Refusal(400, f"{name} must be a text")
    return value


def _fixed_values(body: Mapping[str, object], kind: str) -> str | None:
    """The values that are allowed, as JSON; None if the field is open."""
    values = body.get("fieldValues")
    if values is None:
        return None
    if kind == "encrypted":
        raise Refusal(400, "fieldValues cannot be given for a field of type encrypted")
    if not isinstance(values, list) or not all(_IS_VALUE[kind](value) for value in values):
        raise Refusal(400, f"fieldValues must be a list of values of type {kind}")
    return json.dumps(list(dict.fromkeys(values)), ensure_ascii=False)


def _is_long(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -_LARGEST_LONG <= value < _LARGEST_LONG


def _is_double(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_timestamp(value: object) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value) is not None
    except ValueError:
        return False


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


_IS_VALUE: Mapping[str, Callable[[object], bool]] = {
    "string": _is_text,
    "uri": _is_text,
    "long": _is_long,
    "double": _is_double,
    "timestamp": _is_timestamp,
    "boolean": lambda value: isinstance(value, bool),
}


def _group_payload(group: str, name: str, description: str | None) -> JsonObject:
    payload: JsonObject = {"groupId": group, "groupName": name}
    return payload if description is None else {**payload, "groupDescription": description}


def _field_payload(field: str, name: str, description: str | None, kind: str, values: str | None) -> JsonObject:
    payload: JsonObject = {"fieldId": field, "fieldName": name, "fieldType": kind}
    if description is not None:
        payload["fieldDescription"] = description
    if values is not None:
        payload["fieldValues"] = json.loads(values)
    return payload
