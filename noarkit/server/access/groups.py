"""The calls for access groups: their claims, which decide who is a member, and their global permissions."""

from __future__ import annotations

import json
import sqlite3

from noarkit.server.access.members import (
    Body,
    has_more_rows,
    parse_id,
    read_body,
    read_page,
    read_text,
    read_texts,
    read_words,
    require_group,
    require_security_administrator,
)
from noarkit.server.calling import Call, Route
from noarkit.server.rights import (
    CONTROLLING_LISTS,
    EXPLICIT_PERMISSIONS,
    LIST_REGISTER,
    REGISTERS,
    ROOT,
    SERVICE_PERMISSIONS,
    value_node,
)
from noarkit.server.schema import schema, table_name
from noarkit.server.wire import Answer, Refusal

_MEMBERS = ("name", "description", "claims", "globalPermissions", "servicePermissions")
_SELECT = "SELECT id, name, description, claims, global_permissions, service_permissions FROM access_group"
_LARGEST_PAGE = 100


def routes() -> list[Route]:
    """The seven calls for access groups."""
    return [
        Route("GET", "access-group/info", _info),
        Route("GET", "access-group", _list),
        Route("POST", "access-group", _create, has_body=True),
        Route("GET", "access-group/{id}", _get),
        Route("PUT", "access-group/{id}", _update, has_body=True),
        Route("DELETE", "access-group/{id}", _delete),
        Route("GET", "access-group/{id}/permissions", _permissions),
    ]


def _info(call: Call) -> Answer:
    return Answer(
        body={"servicePermissions": list(SERVICE_PERMISSIONS), "explicitPermissions": list(EXPLICIT_PERMISSIONS)}
    )


def _list(call: Call) -> Answer:
    require_security_administrator(call)
    offset, limit = read_page(call, _LARGEST_PAGE)
    with call.service.db.snapshot() as db:
        rows = db.execute(f"{_SELECT} ORDER BY id LIMIT ? OFFSET ?", (limit + 1, offset)).fetchall()
    return Answer(body={"groups": [_group_payload(row) for row in rows[:limit]], "hasMore": has_more_rows(rows, limit)})


def _get(call: Call) -> Answer:
    require_security_administrator(call)
    group = parse_id(call.path["id"], "access group")
    with call.service.db.snapshot() as db:
        return Answer(body=_fetch(db, group))


def _create(call: Call) -> Answer:
    require_security_administrator(call)
    body = read_body(call, _MEMBERS)
    read_text(body, "name")
    if not read_texts(body, "claims"):
        raise Refusal(400, "claims must name at least one claim")
    values = {"global_permissions": "[]", "service_permissions": "[]", **_read_columns(body)}
    columns = ", ".join(values)
    placeholders = ", ".join("?" for _ in values)
    sql = f"INSERT INTO access_group ({columns}) VALUES ({placeholders}) RETURNING id"  # noqa: S608  # our own column names
    with call.service.db.transaction() as db:
        _require_free_name(db, str(values["name"]), except_id=0)
        group = int(db.execute(sql, list(values.values())).fetchone()[0])
        payload = _fetch(db, group)
    call.service.identity.rights_changed()
    return Answer(201, payload)


def _update(call: Call) -> Answer:
    require_security_administrator(call)
    group = parse_id(call.path["id"], "access group")
    body = read_body(call, (*_MEMBERS, "id"))
    if "id" in body and str(body["id"]) != str(group):
        raise Refusal(400, "id must be that of the address")
    values = _read_columns(body)
    if not values:
        raise Refusal(400, f"at least one of {', '.join(_MEMBERS)} must be given")
    changes = ", ".join(f"{column} = ?" for column in values)
    with call.service.db.transaction() as db:
        require_group(db, group)
        if "name" in values:
            _require_free_name(db, str(values["name"]), except_id=group)
        db.execute(f"UPDATE access_group SET {changes} WHERE id = ?", [*values.values(), group])  # noqa: S608  # our own column names
        _require_administrator_group(db)
        payload = _fetch(db, group)
    call.service.identity.rights_changed()
    return Answer(body=payload)


def _delete(call: Call) -> Answer:
    require_security_administrator(call)
    group = parse_id(call.path["id"], "access group")
    with call.service.db.transaction() as db:
        require_group(db, group)
        db.execute("DELETE FROM permission WHERE access_group = ?", (group,))
        db.execute("DELETE FROM access_group WHERE id = ?", (group,))
        _require_administrator_group(db)
    call.service.identity.rights_changed()
    return Answer(202)


def _permissions(call: Call) -> Answer:
    require_security_administrator(call)
    group = parse_id(call.path["id"], "access group")
    offset, limit = read_page(call, _LARGEST_PAGE)
    with call.service.db.snapshot() as db:
        require_group(db, group)
        rows = db.execute(_grants_sql(), {"group": group, "limit": limit + 1, "offset": offset}).fetchall()
    results = [
        _permission_payload(group, kind, name, permissions_json) for kind, name, permissions_json in rows[:limit]
    ]
    return Answer(body={"results": results, "hasMore": has_more_rows(rows, limit)})


def _grants_sql() -> str:
    """SQL for all permissions of one group: global ones first, then those on single nodes that still exist."""
    on_existing_objects = " OR ".join(
        f"(kind = '{kind}' AND EXISTS (SELECT 1 FROM {table_name(kind)} WHERE id = CAST(object AS INTEGER)))"  # noqa: S608  # names of the metamodel
        for kind in schema().tables
    )
    nodes = ", ".join(f"'{kind}'" for kind in (*REGISTERS, *CONTROLLING_LISTS, *map(value_node, CONTROLLING_LISTS)))
    return (
        "SELECT kind, object, permissions FROM ("  # noqa: S608  # names of the metamodel
        f"SELECT '{ROOT}' AS kind, '' AS object, global_permissions AS permissions, 0 AS place FROM access_group"
        " WHERE id = :group AND global_permissions <> '[]'"
        " UNION ALL SELECT kind, object, permissions, 1 FROM permission"
        f" WHERE access_group = :group AND (kind IN ({nodes}) OR {on_existing_objects})"
        ") ORDER BY place, kind, length(object), object LIMIT :limit OFFSET :offset"
    )


def _permission_payload(group: int, kind: str, name: str, permissions_json: str) -> dict[str, object]:
    payload: dict[str, object] = {
        "accessGroupId": group,
        "explicitPermissions": json.loads(permissions_json),
        "discriminator": kind,
    }
    if kind in schema().tables:
        payload["objectId"] = int(name)
    elif kind == LIST_REGISTER:
        payload["listType"] = "all"
    elif kind in CONTROLLING_LISTS:
        payload["listType"] = kind
    elif kind not in (ROOT, *REGISTERS):
        payload |= {
            "listType": next(list_name for list_name in CONTROLLING_LISTS if value_node(list_name) == kind),
            "code": name,
        }
    return payload


def _read_columns(body: Body) -> dict[str, object]:
    """The columns and values of the members that are present in a request body."""
    values: dict[str, object] = {}
    for name in ("name", "description"):
        if body.get(name) is not None:
            values[name] = read_text(body, name)
    if body.get("claims") is not None:
        claims = read_texts(body, "claims")
        if not claims:
            raise Refusal(400, "claims must name at least one claim")
        values["claims"] = json.dumps(claims)
    if body.get("globalPermissions") is not None:
        values["global_permissions"] = json.dumps(read_words(body, "globalPermissions", EXPLICIT_PERMISSIONS))
    if body.get("servicePermissions") is not None:
        values["service_permissions"] = json.dumps(read_words(body, "servicePermissions", SERVICE_PERMISSIONS))
    return values


def _group_payload(row: tuple[int, str, str | None, str, str, str]) -> dict[str, object]:
    group, name, description, claims, everywhere, service = row
    payload: dict[str, object] = {"id": group, "name": name}
    if description is not None:
        payload["description"] = description
    return payload | {
        "claims": json.loads(claims),
        "globalPermissions": json.loads(everywhere),
        "servicePermissions": json.loads(service),
    }


def _fetch(db: sqlite3.Connection, group: int) -> dict[str, object]:
    require_group(db, group)
    return _group_payload(db.execute(f"{_SELECT} WHERE id = ?", (group,)).fetchone())


def _require_free_name(db: sqlite3.Connection, name: str, *, except_id: int) -> None:
    if db.execute("SELECT 1 FROM access_group WHERE name = ? AND id <> ?", (name, except_id)).fetchone():
        raise Refusal(409, f"there is already an access group with the name {name}")


def _require_administrator_group(db: sqlite3.Connection) -> None:
    """Refuses a change that leaves no group with Security administrator: nobody could undo it afterwards."""
    rows = db.execute(
        "SELECT 1 FROM access_group WHERE service_permissions LIKE '%\"Security administrator\"%' LIMIT 1"
    )
    if rows.fetchone() is None:
        raise Refusal(409, "the last access group with Security administrator cannot be taken away")
