"""Values of the administrative calls ↔ JSON of the wire. What comes in is checked just as far as we rely on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

import orjson

from noarkit.archive import wire
from noarkit.archive.answers import CallContext, require_object, strange_answer
from noarkit.archive.registers import (
    AccessGroup,
    BusinessField,
    BusinessGroup,
    BusinessKind,
    ChangesOf,
    FullTextQuery,
    Hit,
    Hits,
    ListedCode,
    ListedCodes,
    LogEntries,
    OnCodeList,
    OnObject,
    Permission,
    Place,
)
from noarkit.archive.values import Json

Members = Mapping[str, Json]


def without_unset(**members: str | None) -> dict[str, str]:
    """The members that have a value."""
    return {name: value for name, value in members.items() if value is not None}


def rehearsed_answer(body: Mapping[str, object]) -> dict[str, Json]:
    """A body as a dry run would have it answered."""
    value = wire.as_json(_json_copy(body), CallContext("rehearsed"))
    return value if isinstance(value, dict) else {}


def members(answer: object, call: str) -> dict[str, Json]:
    """The members of an answer that must be a JSON object. Raises `ArchiveStrange`."""
    answer_object = require_object(answer, CallContext(call))
    return {name: wire.as_json(value, CallContext(call)) for name, value in answer_object.items()}


def results(answer: object, call: str, member: str = "results") -> list[dict[str, Json]]:
    """The list of objects in an answer. Raises `ArchiveStrange`."""
    value = members(answer, call).get(member)
    if not isinstance(value, list):
        raise strange_answer(CallContext(call), f"no-{member}")
    return [members(entry, call) for entry in value]


def text(answer: Members, name: str, call: str) -> str:
    """A member that must be there as text; a number becomes one. Raises `ArchiveStrange`."""
    value = _optional(answer, name)
    if value is None:
        raise strange_answer(CallContext(call), f"no-{name}")
    return value


def number(answer: Members, name: str, call: str) -> int:
    """A member that must be there as a whole number. Raises `ArchiveStrange`."""
    value = text(answer, name, call)
    if not value.isdigit():
        raise strange_answer(CallContext(call), f"no-{name}")
    return int(value)


def texts(answer: Members, name: str) -> tuple[str, ...]:
    """A member that lists texts, empty if it is not there."""
    value = answer.get(name)
    return tuple(str(entry) for entry in value) if isinstance(value, list) else ()


def code_list(answer: Members) -> ListedCodes:
    """One code list of one field."""
    call = "code_lists"
    values = tuple(code(entry, call) for entry in results(answer, call, "values"))
    return ListedCodes(
        text(answer, "type", call), text(answer, "field", call), _optional(answer, "defaultValue"), values
    )


def code(answer: object, call: str) -> ListedCode:
    """One value of a code list."""
    value = members(answer, call)
    return ListedCode(
        text(value, "code", call),
        _optional(value, "name") or "",
        _optional(value, "description"),
        _optional(value, "authority"),
    )


def code_body(value: ListedCode) -> dict[str, object]:
    """The body that sets a value."""
    return {"name": value.name, **without_unset(description=value.description, authority=value.authority)}


def business_group(answer: Members) -> BusinessGroup:
    """One group of the registry."""
    call = "business_groups"
    fields = answer.get("fields")
    return BusinessGroup(
        text(answer, "groupId", call),
        _optional(answer, "groupName") or "",
        _optional(answer, "groupDescription"),
        tuple(_business_field(members(entry, call)) for entry in fields) if isinstance(fields, list) else (),
    )


def business_field_body(field: BusinessField) -> dict[str, object]:
    """The body that sets a field."""
    body: dict[str, object] = {"fieldName": field.name, "fieldType": field.kind}
    if field.values is not None:
        body["fieldValues"] = list(field.values)
    return body | without_unset(fieldDescription=field.description)


def full_text_body(query: FullTextQuery) -> dict[str, object]:
    """The body of a full-text search; `publicUse` is always said."""
    return {
        "doctype": query.doctype,
        "query": query.text,
        "filters": {name: list(values) for name, values in query.filters.items()},
        "expand": list(query.expand),
        "offset": query.offset,
        "limit": query.limit,
        "publicUse": query.public_use,
    }


def hits(answer: Json) -> Hits:
    """The answer to a full-text search."""
    answer_members = members(answer, "search")
    total = answer_members.get("total")
    facets = answer_members.get("facets")
    return Hits(
        total if isinstance(total, int) else 0,
        tuple(_hit(facet) for facet in results(answer, "search")),
        {
            text(facet, "field", "search"): {value: int(str(count)) for value, count in _map(facet, "values").items()}
            for facet in (results(answer, "search", "facets") if isinstance(facets, list) else [])
        },
    )


def changes_body(request: ChangesOf) -> dict[str, object]:
    """The body that asks for changes."""
    body: dict[str, object] = {
        "id": request.id,
        "includeChildChanges": request.include_children,
        "nestChildChanges": request.nest_children,
        "offset": request.offset,
        "limit": request.limit,
    }
    return body | without_unset(type=request.type)


def log_entries(answer: Json, call: str, offset: int) -> LogEntries:
    """Some entries of a log, which either counts them all or says whether more follow."""
    entries = tuple(results(answer, call))
    total = members(answer, call).get("total")
    if isinstance(total, int) and not isinstance(total, bool):
        return LogEntries(entries, offset + len(entries) < total, total)
    return LogEntries(entries, members(answer, call).get("hasMore") is True)


def access_group(answer: object, call: str) -> AccessGroup:
    """One access group."""
    value = members(answer, call)
    return AccessGroup(
        name=text(value, "name", call),
        claims=texts(value, "claims"),
        description=_optional(value, "description"),
        global_permissions=texts(value, "globalPermissions"),
        service_permissions=texts(value, "servicePermissions"),
        id=number(value, "id", call),
    )


def access_group_body(group: AccessGroup) -> dict[str, object]:
    """The body that makes or sets a group."""
    body: dict[str, object] = {
        "name": group.name,
        "claims": list(group.claims),
        "globalPermissions": list(group.global_permissions),
        "servicePermissions": list(group.service_permissions),
    }
    return body | without_unset(description=group.description)


def place_kind(place: Place) -> str:
    """The part of the path that a place belongs to."""
    if isinstance(place, OnObject):
        return "entity"
    return "code-list" if isinstance(place, OnCodeList) else place.registry


def place_query(place: Place) -> dict[str, str]:
    """A place as members of a query or a body."""
    if isinstance(place, OnObject):
        return {"objectType": place.type, "objectId": place.id}
    return without_unset(listType=place.list_type, code=place.code) if isinstance(place, OnCodeList) else {}


def permission_body(permission: Permission) -> dict[str, object]:
    """The body that grants a permission."""
    explicit = list(permission.explicit)
    return {"accessGroupId": permission.group_id, **place_query(permission.place), "explicitPermissions": explicit}


def permission(answer: object, place: Place) -> Permission:
    """One permission at a place that was asked for."""
    value = members(answer, "permission")
    if isinstance(place, OnCodeList):
        place = OnCodeList(_optional(value, "listType") or place.list_type, _optional(value, "code"))
    return Permission(number(value, "accessGroupId", "permission"), place, texts(value, "explicitPermissions"))


def _hit(answer: Members) -> Hit:
    return Hit(
        {name: _as_texts(values) for name, values in _map(answer, "ids").items()},
        {name: _as_texts(values) for name, values in _map(answer, "highlights").items()},
        {
            name: tuple(wire.object_of(entry, CallContext("search")) for entry in expanded)
            if isinstance(expanded, list)
            else ()
            for name, expanded in _map(answer, "expand").items()
        },
    )


def _business_field(answer: Members) -> BusinessField:
    kind = text(answer, "fieldType", "business_groups")
    kinds: tuple[BusinessKind, ...] = get_args(BusinessKind)
    if kind not in kinds:
        raise strange_answer(CallContext("business_groups"), "fieldType")
    return BusinessField(
        text(answer, "fieldId", "business_groups"),
        _optional(answer, "fieldName") or "",
        kinds[kinds.index(kind)],
        _optional(answer, "fieldDescription"),
        texts(answer, "fieldValues") if "fieldValues" in answer else None,
    )


def _map(answer: Members, name: str) -> Mapping[str, Json]:
    value = answer.get(name)
    return value if isinstance(value, dict) else {}


def _as_texts(values: Json) -> tuple[str, ...]:
    return tuple(str(value) for value in values) if isinstance(values, list) else ()


def _optional(answer: Members, name: str) -> str | None:
    value = answer.get(name)
    return None if value is None or isinstance(value, dict | list) else str(value)


def _json_copy(body: Mapping[str, object]) -> object:
    value: object = orjson.loads(wire.json_body(body))
    return value
