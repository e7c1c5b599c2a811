"""When an object is finalised, and what the archive then fills in."""

from __future__ import annotations

from datetime import datetime

from tests.strict_archive.account import Account
from tests.strict_archive.store import Draft, Object

FINAL = {
    "Arkiv": ("arkivstatus", "A"),
    "Arkivdel": ("arkivdelstatus", "P"),
    "Saksmappe": ("saksstatus", "A"),
    "Journalpost": ("journalstatus", "A"),
    "Dokument": ("dokumentstatus", "F"),
}

_OPEN = {"Arkiv": "O", "Arkivdel": "A", "Saksmappe": "B", "Journalpost": "J", "Dokument": "B"}


def is_final(seen: Object) -> bool:
    """Whether an object is finalised."""
    if seen.type in FINAL:
        name, code = FINAL[seen.type]
        return seen.fields.get(name) == code
    return seen.fields.get("avsluttetDato") is not None


def fill_end(draft: Draft, changed: Object, account: Account, now: datetime) -> None:
    """Who finalised it, and when; a series has no such fields."""
    fields = draft.store.tables.types[changed.type].fields
    for name, value in (
        ("avsluttetDato", now),
        ("avsluttetAv", account.name),
        ("avsluttetAvBrukerIdent", account.id),
    ):
        if name in fields and changed.fields.get(name) is None:
            changed.fields[name] = value


def finalise(draft: Draft, seen: Object, account: Account, now: datetime) -> None:
    """Finalises an object and all below it, as the bulk call does."""
    for child in list(draft.children(seen)):
        finalise(draft, child, account, now)
    if seen.type in FINAL or "avsluttetDato" in draft.store.tables.types[seen.type].fields:
        changed = draft.change(seen.id)
        if seen.type in FINAL:
            name, code = FINAL[seen.type]
            changed.fields[name] = code
        fill_end(draft, changed, account, now)


def reopen(draft: Draft, seen: Object) -> None:
    """Takes the end from an object and from all below it."""
    for child in list(draft.children(seen)):
        reopen(draft, child)
    if is_final(seen):
        changed = draft.change(seen.id)
        if seen.type in FINAL:
            name, _ = FINAL[seen.type]
            changed.fields[name] = _OPEN[seen.type]
        for name in ("avsluttetDato", "avsluttetAv", "avsluttetAvBrukerIdent"):
            changed.fields.pop(name, None)
