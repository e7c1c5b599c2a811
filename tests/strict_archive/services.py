"""The calls beside transactions, queries and files: code lists, logs, bulk calls, rights of one's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from tests.strict_archive.changes import answer_changes, note_changes
from tests.strict_archive.finality import finalise, reopen
from tests.strict_archive.store import Draft, Object
from tests.strict_archive.tables import CodeList
from tests.strict_archive.values import RefusedRequest, bad

if TYPE_CHECKING:
    from tests.strict_archive.archive import Archive, Request

_BULK = {
    "close": (
        *("Arkiv", "Arkivdel", "AbstraktMappe", "AbstraktRegistrering"),
        *("DokumentBeskrivelse", "Klassifikasjonssystem", "Klasse"),
    ),
    "delete": (
        *("Arkiv", "Arkivdel", "AbstraktMappe", "Mappe", "Saksmappe", "Moetemappe"),
        *("AbstraktRegistrering", "Journalpost", "Basisregistrering", "Arkivnotat", "Moeteregistrering"),
    ),
}
_BULK["open"] = _BULK["close"]
_OPEN_TO_THE_PUBLIC = {"offentligTittel"}

Answer = tuple[int, object]


def code_lists(archive: Archive, request: Request) -> Answer:
    """Every list, or those of a type, of a field; a list without codes is told too."""
    if set(request.query) - {"type", "field"}:
        raise bad("Code lists are asked for by type and field.")
    wanted = (request.query.get("type"), request.query.get("field"))
    results = [
        {"type": type_name, "field": field, **_default(each), "values": list(each.values.values())}
        for each in archive.codes.values()
        for type_name, field in each.places
        if wanted[0] in (None, type_name) and wanted[1] in (None, field)
    ]
    return 200, {"results": results}


def put_code(archive: Archive, request: Request) -> Answer:
    """Creates a code or replaces it."""
    _need(request, "Edit list values")
    name, code = request.parts[1:]
    listed = archive.codes.get(name)
    if listed is None:
        raise RefusedRequest(404, f"There is no code list {name}.")
    body = _members(request, {"name"}, {"description"} | ({"authority"} if name == "skjerming" else set()))
    if any(value["name"] == body["name"] for other, value in listed.values.items() if other != code):
        raise bad(f"The name {body['name']} is in use in the list {name}.")
    listed.values[code] = {"code": code, **{key: str(value) for key, value in body.items() if value is not None}}
    return 200, listed.values[code]


def delete_code(archive: Archive, request: Request) -> Answer:
    """Removes a code that is not in use."""
    _need(request, "Edit list values")
    name, code = request.parts[1:]
    listed = archive.codes.get(name)
    if listed is None or code not in listed.values:
        raise RefusedRequest(404, f"There is no code {code} in a list {name}.")
    if any(seen.fields.get(field) == code for seen in archive.store.objects.values() for _, field in listed.places):
        raise RefusedRequest(409, f"The code {code} is in use.")
    del listed.values[code]
    return 204, None


def business_groups(archive: Archive, request: Request) -> Answer:
    """The registry of business-specific metadata: all of it, a group, or a field."""
    if set(request.query) - {"groupId", "fieldId"}:
        raise bad("The registry is asked for by groupId and fieldId.")
    group_id, field_id = request.query.get("groupId"), request.query.get("fieldId")
    groups = [group.as_answer() for id, group in archive.store.registry.groups.items() if group_id in (None, id)]
    for group in groups:
        fields = group["fields"]
        assert isinstance(fields, list)
        group["fields"] = [field for field in fields if field_id in (None, field["fieldId"])]
    return 200, {"results": [group for group in groups if group["fields"] or field_id is None]}


def put_business_group(archive: Archive, request: Request) -> Answer:
    """Registers a group."""
    _need(request, "Edit list values")
    body = _members(request, {"groupName"}, {"groupDescription"})
    return 200, archive.store.registry.put_group(request.parts[2], body).as_answer()


def put_business_field(archive: Archive, request: Request) -> Answer:
    """Registers a field of a group."""
    _need(request, "Edit list values")
    body = _members(request, {"fieldName", "fieldType"}, {"fieldDescription", "fieldValues"})
    return 200, archive.store.registry.put_field(request.parts[2], request.parts[4], body).as_answer()


def change_log(archive: Archive, request: Request) -> Answer:
    """The changes of an object."""
    _need(request, "View changelog")
    return 200, answer_changes(archive.store, request.body)


def empty_log(archive: Archive, request: Request) -> Answer:
    """The log of accesses or downloads, which nobody may read here but with the right to."""
    _need(request, "View changelog")
    return 200, {"results": [], "hasMore": False}


def own_rights(archive: Archive, request: Request) -> Answer:
    """The permissions of the account that asks."""
    account = request.account
    return 200, {"servicePermissions": sorted(account.service), "explicitPermissions": sorted(account.explicit)}


def no_groups(archive: Archive, request: Request) -> Answer:
    """Access groups, of which this account sees none."""
    _need(request, "Security administrator")
    return 200, {"groups": [], "hasMore": False}


def bulk(archive: Archive, request: Request) -> Answer:
    """Finalises, opens or deletes an object and all below it, later."""
    verb = request.parts[1]
    optional = {"version", "deleteObjectsLinkedToPrecedents"} if verb == "delete" else set()
    body = _members(request, {"type", "id"}, optional)
    if body["type"] not in _BULK[verb]:
        raise bad(f"The type {body['type']} is none of those of this call.")
    name = "Dokument" if body["type"] == "DokumentBeskrivelse" else str(body["type"])
    found = archive.store.objects.get(int(str(body["id"]))) if str(body["id"]).isdigit() else None
    if found is None or found.type not in archive.store.tables.concrete(name):
        raise RefusedRequest(404, f"There is no {name} with the id {body['id']}.")
    _need(request, "Delete" if verb == "delete" else "Update")
    archive.later(lambda now: _bulk_work(archive, request, found, verb, now))
    return 202, None


def _bulk_work(archive: Archive, request: Request, found: Object, verb: str, now: datetime) -> None:
    draft = Draft(archive.store)
    if verb == "close":
        finalise(draft, draft.look(found.id), request.account, now)
    elif verb == "open":
        reopen(draft, draft.look(found.id))
    else:
        draft.remove(draft.look(found.id))
    note_changes(draft, request.account, now)
    archive.store.commit(draft)


def withheld(archive: Archive, seen: Object) -> frozenset[str]:
    """The fields that the public is not shown: all free text of what is screened, itself or by what it lies in."""
    draft = Draft(archive.store)
    pending, is_screened = [seen], False
    while pending and not is_screened:
        each = pending.pop()
        is_screened = bool(each.fields.get("skjerming"))
        pending += draft.parents(each)
    if not is_screened:
        return frozenset()
    fields = archive.store.tables.types[seen.type].fields.values()
    free = {field.name for field in fields if field.kind == "string" and field.save == "x" and not field.code_list}
    return frozenset(free - _OPEN_TO_THE_PUBLIC | {"virksomhetsspesifikkeMetadata"})


def _need(request: Request, permission: str) -> None:
    if not request.account.can(permission):
        raise RefusedRequest(403, f"The permission {permission} is missing.")


def _members(request: Request, needed: set[str], optional: set[str]) -> Mapping[str, object]:
    body = request.body
    if not isinstance(body, dict) or needed - set(body) or set(body) - needed - optional:
        raise bad(f"The body has the members {', '.join(sorted(needed))}, and no unknown one.")
    return body


def _default(listed: CodeList) -> Mapping[str, object]:
    return {} if listed.default is None else {"defaultValue": listed.default}


Handler = Callable[["Archive", "Request"], Answer]
CALLS: Mapping[tuple[str, str], Handler] = {
    ("GET", "code-lists"): code_lists,
    ("PUT", "code-lists/*/*"): put_code,
    ("DELETE", "code-lists/*/*"): delete_code,
    ("GET", "bsm-registry"): business_groups,
    ("PUT", "bsm-registry/group/*"): put_business_group,
    ("PUT", "bsm-registry/group/*/field/*"): put_business_field,
    ("POST", "logs/change-log"): change_log,
    ("POST", "logs/access-log"): empty_log,
    ("POST", "logs/download-log"): empty_log,
    ("GET", "access-group/info"): own_rights,
    ("GET", "access-group"): no_groups,
    ("POST", "bulk/close"): bulk,
    ("POST", "bulk/open"): bulk,
    ("POST", "bulk/delete"): bulk,
}
