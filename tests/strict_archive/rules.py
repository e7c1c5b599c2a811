"""What holds at the end of a transaction: defaults, inheritance of screening, what must be there and what must not."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime

from tests.strict_archive.account import Account
from tests.strict_archive.finality import FINAL, fill_end, is_final
from tests.strict_archive.store import PARENTS, Draft, Object
from tests.strict_archive.tables import CodeList, Field
from tests.strict_archive.values import Value, bad

_FOLDERS = ("Mappe", "Saksmappe", "Moetemappe")
_RECORDS = ("Basisregistrering", "Moeteregistrering", "Journalpost", "Arkivnotat")


def complete(draft: Draft, account: Account, now: datetime, codes: Mapping[str, CodeList]) -> dict[int, set[str]]:
    """Fills in what the archive sets itself and checks all that changed. Says which dates it set, by object."""
    dates: dict[int, set[str]] = defaultdict(set)
    for id in draft.created:
        if id not in draft.deleted:
            _inherit(draft, draft.changed[id])
            dates[id] = _fill_defaults(draft, draft.changed[id], account, now)
    for id, changed in list(draft.changed.items()):
        if id in draft.deleted:
            continue
        if changed.type in FINAL and is_final(changed):
            fill_end(draft, changed, account, now)
        _check_fields(draft, changed, codes)
        _check_links(draft, changed)
        _check_classes(draft, changed)
    return dates


def _inherit(draft: Draft, made: Object) -> None:
    """A screening that was not said is the parent's, or that of a class; «none» was said by a null."""
    if made.type not in (*_FOLDERS, *_RECORDS, "Dokument") or "skjerming" in made.fields:
        return
    sources = [parent.fields.get("skjerming") for parent in draft.parents(made)]
    sources += [seen.fields.get("skjerming") for seen in draft.linked(made, "refPrimaerKlasse")]
    secondary = [seen.fields.get("skjerming") for seen in draft.linked(made, "refSekundaerKlasse")]
    screened = [code for code in secondary if code]
    sources += screened if len(screened) == 1 else []
    code = next((code for code in sources if code), None)
    if code is not None:
        made.fields["skjerming"] = code


def _fill_defaults(draft: Draft, made: Object, account: Account, now: datetime) -> set[str]:
    dates = set()
    for field in draft.store.tables.types[made.type].fields.values():
        if field.name in ("id", "version") or field.name in made.fields:
            continue
        value = _default(draft, made, field, account, now)
        if value is not None:
            made.fields[field.name] = value
            if field.kind == "date":
                dates.add(field.name)
    _number(draft, made, now)
    return dates


def _default(draft: Draft, made: Object, field: Field, account: Account, now: datetime) -> Value:
    match field.default:
        case "<uuid4>":
            return str(uuid.uuid4())
        case "<now>":
            return now
        case "<today>":
            return now.date()
        case "<user name>":
            return account.name
        case "<user id>":
            return account.id
        case "<current year>":
            return now.year
        case str() as text if text.startswith("<"):
            return None  # numbers, which depend on each other
        case str() | bool() | int() as value:
            return value
    if made.type != "Presedens":
        return None
    defaults: dict[str, Value] = {
        "title": "Presedens",
        "presedensDato": now.date(),
        "presedensStatus": "G",
        "presedensGodkjentDato": now,
        "presedensGodkjentAv": account.name,
        "presedensGodkjentAvBrukerIdent": account.id,
    }
    return defaults.get(field.name)


def _number(draft: Draft, made: Object, now: datetime) -> None:
    """Numbers and idents, each counted where it belongs."""
    fields = made.fields
    if made.type == "Saksmappe":
        _count(draft, fields, "sakssekvensnummer", ("case", fields["saksaar"]))
        fields.setdefault("mappeIdent", f"{fields['saksaar']}/{fields['sakssekvensnummer']}")
    elif made.type in _FOLDERS and "mappeIdent" not in fields:
        fields["mappeIdent"] = f"{now.year}/{_next(draft, ('folder', now.year))}"
    elif made.type == "Journalpost":
        _count(draft, fields, "journalsekvensnummer", ("entry", fields["journalaar"]))
        _count(draft, fields, "journalpostnummer", ("entry of", *made.links.get("refMappe", ())))
        fields.setdefault("registreringsIdent", f"{fields['journalaar']}/{fields['journalsekvensnummer']}")
    elif made.type in _RECORDS and "registreringsIdent" not in fields:
        fields["registreringsIdent"] = f"{now.year}/{_next(draft, ('entry', now.year))}"
    elif made.type == "Dokument":
        _count(draft, fields, "dokumentnummer", ("document of", *made.links.get("refRegistrering", ())))
    elif made.type == "Dokumentversjon":
        _count(draft, fields, "versjonsnummer", ("version of", *made.links.get("refDokument", ())))


def _count(draft: Draft, fields: dict[str, Value], name: str, place: tuple[object, ...]) -> None:
    if fields.get(name) is None:
        fields[name] = _next(draft, place)
    else:
        number = fields[name]
        assert isinstance(number, int)
        draft.store.counters[place] = max(draft.store.counters[place], number)


def _next(draft: Draft, place: tuple[object, ...]) -> int:
    draft.store.counters[place] += 1  # a number of what was not carried out stays unused, as sequences do
    return draft.store.counters[place]


def _check_fields(draft: Draft, seen: Object, codes: Mapping[str, CodeList]) -> None:
    described = draft.store.tables.types[seen.type]
    for field in described.fields.values():
        value = seen.fields.get(field.name)
        if field.name in ("id", "version"):
            continue
        if field.is_required and (value is None or value == ""):
            raise bad(f"The field {field.name} of {seen.type} must have a value.")
        if value is not None and field.code_list and str(value) not in codes[field.code_list].values:
            raise bad(f"The field {field.name} of {seen.type} has the unknown code {value}.")
    before = draft.store.objects.get(seen.id)
    is_ended = before is None or before.fields.get("avsluttetDato") != seen.fields.get("avsluttetDato")
    if seen.type == "Saksmappe" and is_ended and seen.fields.get("avsluttetDato") and not is_final(seen):
        raise bad("The field avsluttetDato of Saksmappe can only be set when saksstatus is A.")


def _check_links(draft: Draft, seen: Object) -> None:
    described = draft.store.tables.types[seen.type]

    def is_set(name: str) -> bool:
        return bool(seen.links.get(name)) or seen.fields.get(name) not in (None, "")

    for reference in described.references.values():
        if reference.is_required and not is_set(reference.name):
            raise bad(f"The reference {reference.name} of {seen.type} must be linked.")
    for constraint in described.constraints:
        names = constraint["fields"]
        count = sum(map(is_set, names))
        if constraint["rule"] == "exactly_one_of" and count != 1:
            raise bad(f"Exactly one of {', '.join(names)} of {seen.type} must be set.")
        if constraint["rule"] != "exactly_one_of" and count > 1:
            raise bad(f"At most one of {', '.join(names)} of {seen.type} can be set.")
    if seen.type == "Moeteregistrering" and seen.links.get("refArkivdel"):
        raise bad("A Moeteregistrering lies in a Moetemappe.")


def _check_classes(draft: Draft, seen: Object) -> None:
    """A class is of the primary system of the series; its ident is the only one of its system."""
    if seen.type in (*_FOLDERS, *_RECORDS):
        for used in draft.linked(seen, "refPrimaerKlasse"):
            series = _series(draft, seen)
            if series is None or series.links.get("refPrimaerKlassifikasjonssystem") != used.links.get(
                "refKlassifikasjonssystem"
            ):
                raise bad("The reference refPrimaerKlasse leads to a class of another classification system.")
    if seen.type == "Klasse":
        for system in draft.linked(seen, "refKlassifikasjonssystem"):
            for other in draft.linked(system, "refKlasse"):
                if other.id != seen.id and other.fields.get("klasseIdent") == seen.fields.get("klasseIdent"):
                    raise bad("The field klasseIdent of Klasse is in use in its classification system.")


def _series(draft: Draft, seen: Object) -> Object | None:
    while seen.type != "Arkivdel":
        above = next((parent for name in PARENTS[seen.type] for parent in draft.linked(seen, name)), None)
        if above is None:
            return None
        seen = above
    return seen
