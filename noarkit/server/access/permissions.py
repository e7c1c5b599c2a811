"""The calls for permissions on single nodes: objects, code lists and their values, and the two registers.

There are four calls for each of the four kinds; the kinds differ only in how a request names the node.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from noarkit.model import metamodel
from noarkit.server.access.members import (
    has_more_rows,
    is_security_administrator,
    parse_id,
    read_body,
    read_id,
    read_page,
    read_words,
    require_group,
)
from noarkit.server.calling import Call, Route
from noarkit.server.rights import (
    CONTROLLING_LISTS,
    EXPLICIT_PERMISSIONS,
    LIST_REGISTER,
    METADATA_REGISTER,
    PRECEDENT_REGISTER,
    value_node,
)
from noarkit.server.schema import table_name
from noarkit.server.wire import Answer, Refusal

_LARGEST_PAGE = 200
_WITHOUT_RELATED = tuple(word for word in EXPLICIT_PERMISSIONS if word != "ReadRelated")
_RELATED = ("ReadRelated",)
_GRANTABLE_TYPES: Mapping[str, tuple[str, ...]] = {
    "Arkiv": _WITHOUT_RELATED,
    "Arkivdel": _WITHOUT_RELATED,
    "AbstraktMappe": _WITHOUT_RELATED,
    "AbstraktRegistrering": _WITHOUT_RELATED,
    "Klassifikasjonssystem": EXPLICIT_PERMISSIONS,
    "Klasse": EXPLICIT_PERMISSIONS,
}

NodeRequest = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class _Node:
    """A node that permissions are granted on: its key in the database, its members in requests, what may be granted."""

    kind: str
    name: str
    grantable: tuple[str, ...]
    request_members: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Family:
    """One of the four kinds of nodes: its address, the members that name a node, how to read and how to check it."""

    address: str
    members: tuple[str, ...]
    read: Callable[[NodeRequest], _Node]
    check: Callable[[Call, sqlite3.Connection, _Node], None]


def routes() -> list[Route]:
    """The sixteen calls for permissions."""
    calls: list[Route] = []
    for family in _families():
        path = f"permission/{family.address}"
        calls += [
            Route("GET", path, partial(_list, family)),
            Route("POST", path, partial(_create, family), has_body=True),
            Route("PUT", path, partial(_update, family), has_body=True),
            Route("DELETE", path, partial(_delete, family)),
        ]
    return calls


def _families() -> tuple[_Family, ...]:
    return (
        _Family("entity", ("objectType", "objectId"), _read_entity, _check_entity),
        _Family("code-list", ("listType", "code"), _read_list, _check_list),
        _Family("bsm-registry", (), partial(_read_register, METADATA_REGISTER), _check_register),
        _Family("precedent-registry", (), partial(_read_register, PRECEDENT_REGISTER), _check_register),
    )


def _list(family: _Family, call: Call) -> Answer:
    node = family.read(call.query)
    group = _read_group_id(call)
    offset, limit = read_page(call, _LARGEST_PAGE)
    condition, values = _node_condition(node, group)
    sql = f"SELECT access_group, permissions FROM permission WHERE {condition} ORDER BY access_group LIMIT ? OFFSET ?"  # noqa: S608  # our own words
    with call.service.db.snapshot() as db:
        family.check(call, db, node)
        rows = db.execute(sql, [*values, limit + 1, offset]).fetchall()
    permissions = [
        _permission_payload(node, number, json.loads(permissions_json)) for number, permissions_json in rows[:limit]
    ]
    return Answer(body={"permissions": permissions, "hasMore": has_more_rows(rows, limit)})


def _create(family: _Family, call: Call) -> Answer:
    return _grant(family, call, exists=False)


def _update(family: _Family, call: Call) -> Answer:
    return _grant(family, call, exists=True)


def _grant(family: _Family, call: Call, *, exists: bool) -> Answer:
    body = read_body(call, ("accessGroupId", *family.members, "explicitPermissions"))
    group = read_id(body, "accessGroupId")
    node = family.read(body)
    permissions = read_words(body, "explicitPermissions", node.grantable)
    if not permissions:
        raise Refusal(400, "explicitPermissions must name at least one permission")
    with call.service.db.transaction() as db:
        family.check(call, db, node)
        require_group(db, group)
        if _has(db, node, group) != exists:
            raise (
                _no_permissions(group) if exists else Refusal(409, f"access group {group} already has permissions here")
            )
        db.execute(
            "INSERT OR REPLACE INTO permission (kind, object, access_group, permissions) VALUES (?, ?, ?, ?)",
            (node.kind, node.name, group, json.dumps(permissions)),
        )
    return Answer(200 if exists else 201, _permission_payload(node, group, permissions))


def _delete(family: _Family, call: Call) -> Answer:
    node = family.read(call.query)
    group = _read_group_id(call)
    condition, values = _node_condition(node, group)
    with call.service.db.transaction() as db:
        family.check(call, db, node)
        if group is not None and not _has(db, node, group):
            raise _no_permissions(group)
        db.execute(f"DELETE FROM permission WHERE {condition}", values)  # noqa: S608  # our own words
    return Answer(204)


def _read_entity(request: NodeRequest) -> _Node:
    type_name = request.get("objectType")
    model = metamodel()
    if (
        not isinstance(type_name, str)
        or not model.concrete(type_name)
        or model.family(type_name) not in _GRANTABLE_TYPES
    ):
        raise Refusal(400, f"objectType must be one of {', '.join(_GRANTABLE_TYPES)}, or one of their kinds")
    family = model.family(type_name)
    object_id = str(read_id(request, "objectId"))
    return _Node(family, object_id, _GRANTABLE_TYPES[family], {"objectType": type_name, "objectId": int(object_id)})


def _check_entity(call: Call, db: sqlite3.Connection, node: _Node) -> None:
    rights, object_id, type_name = call.caller.rights, int(node.name), str(node.request_members["objectType"])
    if not rights.may_read(db, node.kind, object_id) or not _is_a(db, node.kind, object_id, type_name):
        raise Refusal(404, f"there is no {type_name} {object_id}")
    _require_grant(call, rights.may_change(db, "Grant", node.kind, object_id), f"{type_name} {object_id}")


def _is_a(db: sqlite3.Connection, family: str, object_id: int, type_name: str) -> bool:
    sql = f"SELECT type FROM {table_name(family)} WHERE id = ?"  # noqa: S608  # names of the metamodel
    row = db.execute(sql, (object_id,)).fetchone()
    return row is not None and metamodel().is_a(row[0], type_name)


def _read_list(request: NodeRequest) -> _Node:
    name, code = request.get("listType"), request.get("code")
    if code is not None and (not isinstance(code, str) or not code):
        raise Refusal(400, "code must be a text that is not empty")
    if name == "all":
        if code is not None:
            raise Refusal(400, "code cannot be given with listType all")
        return _Node(LIST_REGISTER, "", EXPLICIT_PERMISSIONS, {"listType": "all"})
    if not isinstance(name, str) or name not in CONTROLLING_LISTS:
        raise Refusal(400, f"listType must be one of all, {', '.join(CONTROLLING_LISTS)}")
    if code is None:
        return _Node(name, "", _RELATED, {"listType": name})
    return _Node(value_node(name), code, _RELATED, {"listType": name, "code": code})


def _check_list(call: Call, db: sqlite3.Connection, node: _Node) -> None:
    rights = call.caller.rights
    may_grant = (rights.may_change if node.kind == LIST_REGISTER else rights.may_below)(db, "Grant", LIST_REGISTER, 0)
    _require_grant(call, may_grant, "the code lists")
    if node.name:
        row = db.execute(
            "SELECT 1 FROM code_value WHERE list = ? AND code = ?", (node.request_members["listType"], node.name)
        ).fetchone()
        if row is None:
            raise Refusal(404, f"{node.request_members['listType']} has no value {node.name}")


def _read_register(register: str, request: NodeRequest) -> _Node:
    return _Node(register, "", _WITHOUT_RELATED)


def _check_register(call: Call, db: sqlite3.Connection, node: _Node) -> None:
    _require_grant(call, call.caller.rights.may_change(db, "Grant", node.kind, 0), "the registry")


def _require_grant(call: Call, may_grant: bool, place: str) -> None:
    if not may_grant and not is_security_administrator(call):
        raise Refusal(403, f"this needs Security administrator, or Grant for {place}")


def _read_group_id(call: Call) -> int | None:
    digits = call.query.get("accessGroupId")
    return None if digits is None else parse_id(digits, "accessGroupId")


def _node_condition(node: _Node, group: int | None) -> tuple[str, list[object]]:
    if group is None:
        return "kind = ? AND object = ?", [node.kind, node.name]
    return "kind = ? AND object = ? AND access_group = ?", [node.kind, node.name, group]


def _has(db: sqlite3.Connection, node: _Node, group: int) -> bool:
    condition, values = _node_condition(node, group)
    return db.execute(f"SELECT 1 FROM permission WHERE {condition}", values).fetchone() is not None  # noqa: S608  # our own words


def _no_permissions(group: int) -> Refusal:
    return Refusal(404, f"access group {group} has no permissions here")


def _permission_payload(node: _Node, group: int, permissions: list[str]) -> dict[str, object]:
    return {"accessGroupId": group, **node.request_members, "explicitPermissions": permissions}
