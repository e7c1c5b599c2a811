"""An object of the archive as a row of the store: what it is, where it belongs, what it is sorted by.

Sorting goes by number or name and then by uuid, never by the archive's own id: another archive that holds the same
gives the same order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

import orjson

from noarkit.archive.values import SavedObject
from noarkit.extraction.store import Key, Row, key_of
from noarkit.forms.noark5.paths import document_path
from noarkit.forms.noark5.read.carried_values import restore_own
from noarkit.model.mapping import BUSINESS_METADATA, mapping

FONDS, SERIES, SYSTEM, CLASS, FOLDER, RECORD, DOCUMENT, VERSION = "F", "S", "C", "K", "M", "R", "D", "V"

_OWNERS: tuple[tuple[str, str], ...] = (
    ("refRegistrering", RECORD),
    ("refMappe", FOLDER),
    ("refJournalpost", RECORD),
    ("refArkivnotat", RECORD),
    ("refDokument", DOCUMENT),
    ("refDokumentversjon", VERSION),
    ("refArkiv", FONDS),
)
_KEEPS_LINKS = frozenset({"Arkiv", "Arkivdel", "Klassifikasjonssystem", "Klasse", "Mappe", "Saksmappe", "Moetemappe"})
LEFT_OUT = frozenset(
    field.name
    for one in mapping().types.values()
    for field in one.fields.values()
    if field.reason in ("archive", "account")
)
"""Fields that are not even fetched into the store: ids, versions and account names, which every object has."""

_DIGITS = re.compile(r"\d+")
_CLOSED_SERIES = ("P", "U")
_CLOSED_CASES = ("A", "U")


def table_of(type_name: str) -> str:
    """The table that objects of a type or abstract type are stored in."""
    if type_name in ("Dokument", "Dokumentversjon"):
        return {"Dokument": "document", "Dokumentversjon": "version"}[type_name]
    return "unit" if type_name in _UNITS or type_name in ("AbstraktMappe", "AbstraktRegistrering") else "part"


def row_of(entity: SavedObject) -> Row:
    """The row of an object, for the table of its type; with the dates, years and numbers of its source, where it keeps
    them because the account that loaded it could not set them."""
    if BUSINESS_METADATA in entity.fields:
        entity = replace(entity, fields=restore_own(entity.type, entity.fields))
    if entity.type == "Dokument":
        return _document(entity)
    if entity.type == "Dokumentversjon":
        return _version(entity)
    make = _UNITS.get(entity.type)
    return _part(entity) if make is None else make(entity)


def data_of(entity: SavedObject) -> str:
    """What is kept of an object, as JSON; its links where units are found by them."""
    return _data(entity.type, entity.fields, entity.links if entity.type in _KEEPS_LINKS else None)


def _data(type_name: str, fields: Mapping[str, object], links: Mapping[str, str] | None = None) -> str:
    kept_fields = dict(fields)
    for name in LEFT_OUT:
        kept_fields.pop(name, None)
    data = {"t": type_name, "f": kept_fields} if links is None else {"t": type_name, "f": kept_fields, "l": links}
    return orjson.dumps(data).decode()


def _unit(kind: str, entity: SavedObject, parent: Key, sort: str, klasse: Key | None, *, is_open: bool) -> Row:
    uuid = str(entity.fields.get("uuid", ""))
    return (kind, parent, sort, key_of(entity.id), uuid, entity.type, int(is_open), klasse, data_of(entity))


def _fonds(entity: SavedObject) -> Row:
    return _unit(FONDS, entity, "", "", None, is_open=_not_finalised(entity) or entity.fields.get("arkivstatus") != "A")


def _series(entity: SavedObject) -> Row:
    is_open = entity.fields.get("arkivdelstatus") not in _CLOSED_SERIES
    return _unit(SERIES, entity, _target(entity, "refArkiv") or "", "", None, is_open=is_open)


def _system(entity: SavedObject) -> Row:
    return _unit(SYSTEM, entity, "", "", None, is_open=False)


def _class(entity: SavedObject) -> Row:
    system = _target(entity, "refKlassifikasjonssystem")
    above = _target(entity, "refForelderKlasse")
    parent = f"c{system}" if above is None else above
    return _unit(CLASS, entity, parent, natural(str(entity.fields.get("klasseIdent", ""))), system, is_open=False)


def _folder(entity: SavedObject) -> Row:
    status = entity.fields.get("saksstatus", "A")
    is_open = _not_finalised(entity) or status not in _CLOSED_CASES
    year, number = entity.fields.get("saksaar"), entity.fields.get("sakssekvensnummer")
    if isinstance(year, int) and isinstance(number, int):
        sort = f"{year:04d}/{number:010d}"
    else:
        sort = natural(str(entity.fields.get("mappeIdent", "")))
    return _unit(FOLDER, entity, *_place(entity, "refForelderMappe", sort), is_open=is_open)


def _record(entity: SavedObject) -> Row:
    status = entity.fields.get("journalstatus", "A")
    is_open = _not_finalised(entity) or status not in _CLOSED_CASES
    year, number = entity.fields.get("journalaar"), entity.fields.get("journalsekvensnummer")
    if isinstance(year, int) and isinstance(number, int):
        sort = f"{year:04d}/{number:010d}"
    else:
        sort = natural(str(entity.fields.get("registreringsIdent", "")))
    return _unit(RECORD, entity, *_place(entity, "refMappe", sort), is_open=is_open)


def _place(entity: SavedObject, above: str, sort: str) -> tuple[Key, str, Key | None]:
    """The parent of a folder or record: another folder, or a series and the class in it."""
    klasse = _target(entity, "refPrimaerKlasse")
    folder = _target(entity, above)
    if folder is not None:
        return folder, sort, klasse
    return place_in_series(_target(entity, "refArkivdel"), klasse), sort, klasse


def place_in_series(series: Key | None, klasse: Key | None) -> str:
    """The parent of what lies directly in a series, under a class or under none."""
    return f"{'' if series is None else series}/{'' if klasse is None else klasse}"


def _document(entity: SavedObject) -> Row:
    number = entity.fields.get("dokumentnummer")
    is_open = entity.fields.get("dokumentstatus") != "F"
    uuid = str(entity.fields.get("uuid", ""))
    sort = number if isinstance(number, int) else 0
    return (_target(entity, "refRegistrering"), sort, key_of(entity.id), uuid, int(is_open), data_of(entity))


def _version(entity: SavedObject) -> Row:
    fields = entity.fields
    number = fields.get("versjonsnummer")
    uuid = str(fields.get("uuid", ""))
    path = document_path(uuid, str(fields.get("format", "")), str(fields.get("filnavn", "")))
    algorithm = str(fields.get("sjekksumAlgoritme", "")).upper().replace("-", "")
    sha256 = str(fields["sjekksum"]).lower() if algorithm == "SHA256" and "sjekksum" in fields else None
    sort = number if isinstance(number, int) else 0
    file = str(fields.get("referanseDokumentfil", ""))
    size = fields.get("filstoerrelse")
    facts = (path, file, sha256, size if isinstance(size, int) else -1, 0)
    facts_with_path = {**fields, "referanseDokumentfil": path}
    return (
        _target(entity, "refDokument"),
        sort,
        key_of(entity.id),
        uuid,
        *facts,
        _data("Dokumentversjon", facts_with_path),
    )


def _part(entity: SavedObject) -> Row:
    links = entity.links
    for name, family in _OWNERS:
        if name in links:
            uuid = str(entity.fields.get("uuid", ""))
            return (family, key_of(links[name]), entity.type, key_of(entity.id), uuid, data_of(entity))
    return ("", "", entity.type, key_of(entity.id), str(entity.fields.get("uuid", "")), data_of(entity))


def natural(text: str) -> str:
    """A text that sorts as people count: 2024/9 before 2024/10."""
    return _DIGITS.sub(lambda digits: digits.group().zfill(12), text)


def _not_finalised(entity: SavedObject) -> bool:
    return "avsluttetDato" not in entity.fields


def _target(entity: SavedObject, name: str) -> Key | None:
    target = entity.links.get(name)
    return None if target is None else key_of(target)


_UNITS: Mapping[str, Callable[[SavedObject], Row]] = {
    "Arkiv": _fonds,
    "Arkivdel": _series,
    "Klassifikasjonssystem": _system,
    "Klasse": _class,
    "Mappe": _folder,
    "Saksmappe": _folder,
    "Moetemappe": _folder,
    "Basisregistrering": _record,
    "Moeteregistrering": _record,
    "Journalpost": _record,
    "Arkivnotat": _record,
}
LOADED_TYPES = frozenset(name for name, make in _UNITS.items() if make in (_folder, _record)) | {
    "Dokument",
    "Dokumentversjon",
}
"""Types of folders, records, documents and versions."""
