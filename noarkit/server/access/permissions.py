"""Permissions on single nodes: objects, code lists and their values, and the two registers. Four calls for each.

The four kinds differ only in how a request names the node; everything else is the same sixteen times.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from noarkit.model import metamodel
from noarkit.server.access.members import (
    body_of,
    cut,
    identity,
    is_security_administrator,
    needs_group,
    number_of,
    page,
    words,
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
_BEARERS: Mapping[str, tuple[str, ...]] = {
    "Arkiv": _WITHOUT_RELATED,
    "Arkivdel": _WITHOUT_RELATED,
    "AbstraktMappe": _WITHOUT_RELATED,
    "AbstraktRegistrering": _WITHOUT_RELATED,
    "Klassifikasjonssystem": EXPLICIT_PERMISSIONS,
    "Klasse": EXPLICIT_PERMISSIONS,
}

Asked = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class _Node:
    """What permissions are granted on: as it is kept, as it is told, and what may be granted there."""

    kind: str
    name: str
    grantable: tuple[str, ...]
    told: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Family:
    """One of the four sets of calls: its address, the members that name its node, and how they are read."""

    address: str
    members: tuple[str, ...]
    read: Callable[[Asked], _Node]
    check: Callable[[Call, sqlite3.Connection, _Node], None]


def routes() -> list[Route]:
    """The sixteen calls for permissions."""
    found: list[Route] = []
    for family in _families():
        path = f"permission/{family.address}"
        found += [
            Route("GET", path, partial(_list, family)),
            Route("POST", path, partial(_create, family), has_body=True),
            Route("PUT", path, partial(_update, family), has_body=True),
            Route("DELETE", path, partial(_delete, family)),
        ]
    return found


def _families() -> tuple[_Family, ...]:
    return (
        _Family("entity", ("objectType", "objectId"), _read_entity, _check_entity),
        _Family("code-list", ("listType", "code"), _read_list, _check_list),
        _Family("bsm-registry", (), partial(_read_register, METADATA_REGISTER), _check_register),
        _Family("precedent-registry", (), partial(_read_register, PRECEDENT_REGISTER), _check_register),
    )


def _list(family: _Family, call: Call) -> Answer:
    node = family.read(call.query)
    group = _asked_group(call)
    offset, limit = page(call, _LARGEST_PAGE)
    where, given = _where(node, group)
    sql = f"SELECT access_group, permissions FROM permission WHERE {where} ORDER BY access_group LIMIT ? OFFSET ?"  # noqa: S608  # our own words
    with call.service.db.reading() as db:
        family.check(call, db, node)
        rows = db.execute(sql, [*given, limit + 1, offset]).fetchall()
    told = [_told(node, number, json.loads(words_of)) for number, words_of in rows[:limit]]
    return Answer(body={"permissions": told, "hasMore": cut(rows, limit)})


def _create(family: _Family, call: Call) -> Answer:
    return _grant(family, call, exists=False)


def _update(family: _Family, call: Call) -> Answer:
    return _grant(family, call, exists=True)


def _grant(family: _Family, call: Call, *, exists: bool) -> Answer:
    body = body_of(call, ("accessGroupId", *family.members, "explicitPermissions"))
    group = identity(body, "accessGroupId")
    node = family.read(body)
    given = words(body, "explicitPermissions", node.grantable)
    if not given:
        raise Refusal(400, "explicitPermissions must name at least one permission")
    with call.service.db.writing() as db:
        family.check(call, db, node)
        needs_group(db, group)
        if _has(db, node, group) != exists:
            raise _not_there(group) if exists else Refusal(409, f"access group {group} already has permissions here")
        db.execute(
            "INSERT OR REPLACE INTO permission (kind, object, access_group, permissions) VALUES (?, ?, ?, ?)",
            (node.kind, node.name, group, json.dumps(given)),
        )
    return Answer(200 if exists else 201, _told(node, group, given))


def _delete(family: _Family, call: Call) -> Answer:
    node = family.read(call.query)
    group = _asked_group(call)
    where, given = _where(node, group)
    with call.service.db.writing() as db:
        family.check(call, db, node)
        if group is not None and not _has(db, node, group):
            raise _not_there(group)
        db.execute(f"DELETE FROM permission WHERE {where}", given)  # noqa: S608  # our own words
    return Answer(204)


def _read_entity(asked: Asked) -> _Node:
    named = asked.get("objectType")
    model = metamodel()
    if not isinstance(named, str) or not model.concrete(named) or model.family(named) not in _BEARERS:
        raise Refusal(400, f"objectType must be one of {', '.join(_BEARERS)}, or one of their kinds")
    family = model.family(named)
    object_id = str(identity(asked, "objectId"))
    return _Node(family, object_id, _BEARERS[family], {"objectType": named, "objectId": int(object_id)})


def _check_entity(call: Call, db: sqlite3.Connection, node: _Node) -> None:
    rights, object_id, named = call.caller.rights, int(node.name), str(node.told["objectType"])
    if not rights.may_read(db, node.kind, object_id) or not _is_a(db, node.kind, object_id, named):
        raise Refusal(404, f"there is no {named} {object_id}")
    _needs_grant(call, rights.may_change(db, "Grant", node.kind, object_id), f"{named} {object_id}")


def _is_a(db: sqlite3.Connection, family: str, object_id: int, named: str) -> bool:
    sql = f"SELECT type FROM {table_name(family)} WHERE id = ?"  # noqa: S608  # names of the metamodel
    row = db.execute(sql, (object_id,)).fetchone()
    return row is not None and metamodel().is_a(row[0], named)


def _read_list(asked: Asked) -> _Node:
    name, code = asked.get("listType"), asked.get("code")
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
    held = (rights.may_change if node.kind == LIST_REGISTER else rights.may_below)(db, "Grant", LIST_REGISTER, 0)
    _needs_grant(call, held, "the code lists")
    if node.name:
        found = db.execute(
            "SELECT 1 FROM code_value WHERE list = ? AND code = ?", (node.told["listType"], node.name)
        ).fetchone()
        if found is None:
            raise Refusal(404, f"{node.told['listType']} has no value {node.name}")


def _read_register(register: str, asked: Asked) -> _Node:
    return _Node(register, "", _WITHOUT_RELATED)


def _check_register(call: Call, db: sqlite3.Connection, node: _Node) -> None:
    _needs_grant(call, call.caller.rights.may_change(db, "Grant", node.kind, 0), "the registry")


def _needs_grant(call: Call, held: bool, where: str) -> None:
    if not held and not is_security_administrator(call):
        raise Refusal(403, f"this needs Security administrator, or Grant for {where}")


def _asked_group(call: Call) -> int | None:
    given = call.query.get("accessGroupId")
    return None if given is None else number_of(given, "accessGroupId")


def _where(node: _Node, group: int | None) -> tuple[str, list[object]]:
    if group is None:
        return "kind = ? AND object = ?", [node.kind, node.name]
    return "kind = ? AND object = ? AND access_group = ?", [node.kind, node.name, group]


def _has(db: sqlite3.Connection, node: _Node, group: int) -> bool:
    where, given = _where(node, group)
    return db.execute(f"SELECT 1 FROM permission WHERE {where}", given).fetchone() is not None  # noqa: S608  # our own words


def _not_there(group: int) -> Refusal:
    return Refusal(404, f"access group {group} has no permissions here")


def _told(node: _Node, group: int, given: list[str]) -> dict[str, object]:
    return {"accessGroupId": group, **node.told, "explicitPermissions": given}
