"""The change log: what a transaction changed, told as published."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from tests.strict_archive.account import Account
from tests.strict_archive.store import Draft, Object, Store, children
from tests.strict_archive.values import bad, shown

LOGGED = (
    *("Arkiv", "Arkivskaper", "Arkivdel", "Klassifikasjonssystem", "Klasse", "Saksmappe", "Mappe", "Moetemappe"),
    *("Moetedeltaker", "AbstraktMappe", "Journalpost", "Basisregistrering", "Moeteregistrering", "Arkivnotat"),
    *("AbstraktRegistrering", "Dokument", "Presedens", "Korrespondansepart", "Sakspart"),
)


def note_changes(draft: Draft, account: Account, now: datetime) -> None:
    """Adds what a draft changes to its log."""
    number = len(draft.store.changes)
    for seen, entry in _entries(draft):
        number += 1
        draft.log.append(
            {
                "id": str(seen.id),
                "systemId": str(seen.fields.get("uuid")),
                "type": seen.type,
                "revisionId": number,
                "modifiedDate": shown(now),
                "modifiedBy": account.name,
                "modifiedByUserId": account.id,
                **entry,
            }
        )


def answer_changes(store: Store, body: object) -> dict[str, object]:
    """Answers the call for the changes of an object."""
    members = {"type", "id", "includeChildChanges", "nestChildChanges", "offset", "limit"}
    if not isinstance(body, dict) or set(body) - members or not body.get("id"):
        raise bad("The call names an object by its id or uuid, and has no unknown member.")
    if body.get("type") is not None and body["type"] not in LOGGED:
        raise bad(f"There is no change log of the type {body['type']}.")
    offset, limit = body.get("offset", 0), body.get("limit", 10)
    if not isinstance(offset, int) or not isinstance(limit, int) or offset < 0 or not 1 <= limit <= 100:
        raise bad("The limit is between 1 and 100, and the offset is not negative.")
    wanted = str(body["id"])
    ids = {str(seen.id) for seen in store.objects.values() if wanted in (str(seen.id), seen.fields.get("uuid"))}
    ids |= {wanted}
    if body.get("includeChildChanges", True):
        ids |= {str(id) for each in list(ids) if each.isdigit() for id in _below(store, int(each))}
    entries = [entry for entry in store.changes if entry["id"] in ids or entry["systemId"] == wanted]
    return {"results": entries[offset : offset + limit], "total": len(entries)}


def _below(store: Store, id: int) -> Iterator[int]:
    seen = store.objects.get(id)
    for child in children(store.objects.__getitem__, seen) if seen is not None else ():
        yield child.id
        yield from _below(store, child.id)


def _entries(draft: Draft) -> Iterator[tuple[Object, Mapping[str, object]]]:
    for id in draft.deleted:
        gone = draft.store.objects.get(id)
        if gone is not None and gone.type in LOGGED:
            yield gone, {"revisionType": "DELETE", "oldValue": {}}
    for id, changed in draft.changed.items():
        if id in draft.deleted or changed.type not in LOGGED:
            continue
        before = draft.store.objects.get(id)
        if before is None:
            yield changed, {"revisionType": "CREATE", "newValue": {}}
            continue
        for name in {*before.fields, *changed.fields}:
            old, new = before.fields.get(name), changed.fields.get(name)
            if old != new:
                kind = draft.store.tables.types[changed.type].fields[name].kind
                values = {"oldValue": {name: shown(old)}, "newValue": {name: shown(new)}}
                yield changed, {"revisionType": "UPDATE", "modifiedField": name, "modifiedFieldType": kind, **values}
