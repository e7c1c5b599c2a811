"""Access groups: who belongs to them by claims, and what they may everywhere."""

from __future__ import annotations

import json
import sqlite3

from noarkit.server.access.members import (
    Body,
    body_of,
    cut,
    needs_group,
    needs_security_administrator,
    number_of,
    page,
    text,
    texts,
    words,
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
    needs_security_administrator(call)
    offset, limit = page(call, _LARGEST_PAGE)
    with call.service.db.reading() as db:
        rows = db.execute(f"{_SELECT} ORDER BY id LIMIT ? OFFSET ?", (limit + 1, offset)).fetchall()
    return Answer(body={"groups": [_told(row) for row in rows[:limit]], "hasMore": cut(rows, limit)})


def _get(call: Call) -> Answer:
    needs_security_administrator(call)
    group = number_of(call.path["id"], "access group")
    with call.service.db.reading() as db:
        return Answer(body=_fetch(db, group))


def _create(call: Call) -> Answer:
    needs_security_administrator(call)
    body = body_of(call, _MEMBERS)
    text(body, "name")
    if not texts(body, "claims"):
        raise Refusal(400, "claims must name at least one claim")
    values = {"global_permissions": "[]", "service_permissions": "[]", **_read(body)}
    columns = ", ".join(values)
    marks = ", ".join("?" for _ in values)
    sql = f"INSERT INTO access_group ({columns}) VALUES ({marks}) RETURNING id"  # noqa: S608  # our own column names
    with call.service.db.writing() as db:
        _needs_free_name(db, str(values["name"]), but=0)
        group = int(db.execute(sql, list(values.values())).fetchone()[0])
        told = _fetch(db, group)
    call.service.identity.rights_changed()
    return Answer(201, told)


def _update(call: Call) -> Answer:
    needs_security_administrator(call)
    group = number_of(call.path["id"], "access group")
    body = body_of(call, (*_MEMBERS, "id"))
    if "id" in body and str(body["id"]) != str(group):
        raise Refusal(400, "id must be that of the address")
    values = _read(body)
    if not values:
        raise Refusal(400, f"at least one of {', '.join(_MEMBERS)} must be given")
    changes = ", ".join(f"{column} = ?" for column in values)
    with call.service.db.writing() as db:
        needs_group(db, group)
        if "name" in values:
            _needs_free_name(db, str(values["name"]), but=group)
        db.execute(f"UPDATE access_group SET {changes} WHERE id = ?", [*values.values(), group])  # noqa: S608  # our own column names
        _needs_somebody_in_charge(db)
        told = _fetch(db, group)
    call.service.identity.rights_changed()
    return Answer(body=told)


def _delete(call: Call) -> Answer:
    needs_security_administrator(call)
    group = number_of(call.path["id"], "access group")
    with call.service.db.writing() as db:
        needs_group(db, group)
        db.execute("DELETE FROM permission WHERE access_group = ?", (group,))
        db.execute("DELETE FROM access_group WHERE id = ?", (group,))
        _needs_somebody_in_charge(db)
    call.service.identity.rights_changed()
    return Answer(202)


def _permissions(call: Call) -> Answer:
    needs_security_administrator(call)
    group = number_of(call.path["id"], "access group")
    offset, limit = page(call, _LARGEST_PAGE)
    with call.service.db.reading() as db:
        needs_group(db, group)
        rows = db.execute(_everything_granted(), {"group": group, "limit": limit + 1, "offset": offset}).fetchall()
    told = [_told_permission(group, kind, name, given) for kind, name, given in rows[:limit]]
    return Answer(body={"results": told, "hasMore": cut(rows, limit)})


def _everything_granted() -> str:
    """What is granted to one group: globally first, then on single nodes; not on objects that are gone."""
    here = " OR ".join(
        f"(kind = '{kind}' AND EXISTS (SELECT 1 FROM {table_name(kind)} WHERE id = CAST(object AS INTEGER)))"  # noqa: S608  # names of the metamodel
        for kind in schema().tables
    )
    nodes = ", ".join(f"'{kind}'" for kind in (*REGISTERS, *CONTROLLING_LISTS, *map(value_node, CONTROLLING_LISTS)))
    return (
        "SELECT kind, object, permissions FROM ("  # noqa: S608  # names of the metamodel
        f"SELECT '{ROOT}' AS kind, '' AS object, global_permissions AS permissions, 0 AS place FROM access_group"
        " WHERE id = :group AND global_permissions <> '[]'"
        " UNION ALL SELECT kind, object, permissions, 1 FROM permission"
        f" WHERE access_group = :group AND (kind IN ({nodes}) OR {here})"
        ") ORDER BY place, kind, length(object), object LIMIT :limit OFFSET :offset"
    )


def _told_permission(group: int, kind: str, name: str, given: str) -> dict[str, object]:
    told: dict[str, object] = {
        "accessGroupId": group,
        "explicitPermissions": json.loads(given),
        "discriminator": kind,
    }
    if kind in schema().tables:
        told["objectId"] = int(name)
    elif kind == LIST_REGISTER:
        told["listType"] = "all"
    elif kind in CONTROLLING_LISTS:
        told["listType"] = kind
    elif kind not in (ROOT, *REGISTERS):
        told |= {"listType": next(each for each in CONTROLLING_LISTS if value_node(each) == kind), "code": name}
    return told


def _read(body: Body) -> dict[str, object]:
    """The columns that the members given say."""
    values: dict[str, object] = {}
    for name in ("name", "description"):
        if body.get(name) is not None:
            values[name] = text(body, name)
    if body.get("claims") is not None:
        claims = texts(body, "claims")
        if not claims:
            raise Refusal(400, "claims must name at least one claim")
        values["claims"] = json.dumps(claims)
    if body.get("globalPermissions") is not None:
        values["global_permissions"] = json.dumps(words(body, "globalPermissions", EXPLICIT_PERMISSIONS))
    if body.get("servicePermissions") is not None:
        values["service_permissions"] = json.dumps(words(body, "servicePermissions", SERVICE_PERMISSIONS))
    return values


def _told(row: tuple[int, str, str | None, str, str, str]) -> dict[str, object]:
    group, name, description, claims, everywhere, service = row
    told: dict[str, object] = {"id": group, "name": name}
    if description is not None:
        told["description"] = description
    return told | {
        "claims": json.loads(claims),
        "globalPermissions": json.loads(everywhere),
        "servicePermissions": json.loads(service),
    }


def _fetch(db: sqlite3.Connection, group: int) -> dict[str, object]:
    needs_group(db, group)
    return _told(db.execute(f"{_SELECT} WHERE id = ?", (group,)).fetchone())


def _needs_free_name(db: sqlite3.Connection, name: str, *, but: int) -> None:
    if db.execute("SELECT 1 FROM access_group WHERE name = ? AND id <> ?", (name, but)).fetchone():
        raise Refusal(409, f"there is already an access group with the name {name}")


def _needs_somebody_in_charge(db: sqlite3.Connection) -> None:
    """An archive whose last group of security administrators is gone could never be opened again."""
    held = db.execute(
        "SELECT 1 FROM access_group WHERE service_permissions LIKE '%\"Security administrator\"%' LIMIT 1"
    )
    if held.fetchone() is None:
        raise Refusal(409, "the last access group with Security administrator cannot be taken away")
