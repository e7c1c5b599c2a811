"""Reads an extract and an archive as rows of the archive's fields, limited to those that both can have."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from noarkit.archive.administration import Administration
from noarkit.archive.paging import objects
from noarkit.archive.port import Archive
from noarkit.archive.values import Query, SavedObject
from noarkit.errors import PackageFault
from noarkit.events import ignore_event
from noarkit.forms.comparison.elements import sha256_of
from noarkit.forms.comparison.ledger import Row
from noarkit.forms.noark5.read import original
from noarkit.forms.noark5.read.values import Codes
from noarkit.forms.noark5.source import ExtractSource
from noarkit.graph.entity import Entity, SetAside
from noarkit.model import metamodel
from noarkit.model.disclosure import Disclosure, of_fields, of_whole
from noarkit.model.mapping import mapping
from noarkit.model.own_marks import MARKER_TITLE
from noarkit.records import Groundwork, SourceRecord

_PARENTS: Mapping[str, tuple[str, ...]] = {
    "Arkivdel": ("refArkiv",),
    "Klasse": ("refForelderKlasse", "refKlassifikasjonssystem"),
    "AbstraktMappe": ("refForelderMappe", "refArkivdel"),
    "AbstraktRegistrering": ("refMappe", "refArkivdel"),
    "Dokument": ("refRegistrering",),
    "Dokumentversjon": ("refDokument",),
}
_CLASS = "refPrimaerKlasse"
_OF_PARTS = ("refMappe", "refRegistrering", "refDokument", "refJournalpost", "refArkivnotat", "refArkiv")
_IDENTS = ("mappeIdent", "registreringsIdent", "klasseIdent", "dokumentnummer", "versjonsnummer")
_NOT_COMPARED = frozenset({"uuid", "referanseDokumentfil", "sjekksum", "sjekksumAlgoritme", "filstoerrelse"})
# a precedent belongs to several records, so that neither side has a parent for it
_TYPES = tuple(name for name in mapping().types if mapping().types[name].group and name != "Presedens")


class _Texts(Codes):
    """Codes as the texts that stand in the XML."""

    def code(self, list_name: str, text: str, authority: str | None = None) -> str:
        return text


def extract_rows(source: ExtractSource, zone: ZoneInfo) -> Iterator[Row]:
    """Every entity of an extract. What cannot be taken is told by its record alone."""
    source.codes = _Texts()
    for item in source.records(ignore_event):
        if isinstance(item, SetAside):
            yield Row(item.record_key, "set-aside", "", "", item.record_key, {"code": item.code})
            continue
        entities = item.entities if isinstance(item, Groundwork) else _entities(item)
        for entity in entities:
            if entity.type in _TYPES:
                yield _entity_row(source, entity, zone)


def _entities(item: object) -> tuple[Entity, ...]:
    entities = item.fields["entities"] if isinstance(item, SourceRecord) else ()
    return entities if isinstance(entities, tuple) else ()


def _entity_row(source: ExtractSource, entity: Entity, zone: ZoneInfo) -> Row:
    fields = _comparable_fields(entity.type, entity.fields, zone, lambda name, code: code)
    if entity.content is not None:
        fields["sha256"] = sha256_of(source, entity.content)
    uuid = str(entity.fields.get("uuid") or "")
    above = next((key for name, key in entity.links if name == "refForelderKlasse"), entity.parent or "")
    klass = next((key for name, key in entity.links if name == _CLASS), "")
    ident = _ident(entity.type, fields)
    return Row(entity.key, entity.type, above, uuid, ident, fields, klass, _disclosure_of(entity.fields))


def _disclosure_of(fields: Mapping[str, object]) -> Disclosure:
    """What may be shown of an object by itself; its parts are rows of their own."""
    return of_whole(of_fields(fields), [fields])


def archive_rows(archive: Archive, fonds: str, zone: ZoneInfo) -> Iterator[Row]:
    """Every object of one fonds of an archive, and of all its classification systems. Raises archive faults."""
    fonds_found = archive.query(Query("Arkiv", "uuid = @u", {"@u": fonds}, limit=1)).objects
    if not fonds_found:
        raise PackageFault(where=fonds, why="fonds-not-in-archive")
    names = _names(archive)
    systems: set[str] = set()
    for kind in _TYPES:
        for item in objects(archive, Query(kind, order=(("id", "asc"),))):
            if kind == "Klassifikasjonssystem" and item.fields.get("tittel") == MARKER_TITLE:
                systems.add(item.id)
            elif item.links.get("refKlassifikasjonssystem") not in systems or kind != "Klasse":
                yield _object_row(item, names, zone)


def _object_row(saved_object: SavedObject, names: Mapping[tuple[str, str], Mapping[str, str]], zone: ZoneInfo) -> Row:
    fields = _comparable_fields(
        saved_object.type,
        saved_object.fields,
        zone,
        lambda name, code: names.get((saved_object.type, name), {}).get(code, code),
    )
    if saved_object.type == "Dokumentversjon":
        fields["sha256"] = str(saved_object.fields.get("sjekksum") or "").lower()
    parents = _PARENTS.get(metamodel().types[saved_object.type].family, _OF_PARTS)
    above = next((saved_object.links[name] for name in parents if name in saved_object.links), "")
    keeps_uuid = mapping().types[saved_object.type].fields["uuid"].path is not None
    uuid = str(saved_object.fields.get("uuid") or "") if keeps_uuid else ""
    place = (saved_object.id, saved_object.type, above, uuid, _ident(saved_object.type, fields))
    return Row(*place, fields, saved_object.links.get(_CLASS, ""), _disclosure_of(saved_object.fields))


def _comparable_fields(
    kind: str, fields: Mapping[str, object], zone: ZoneInfo, name_of: Callable[[str, str], str]
) -> dict[str, object]:
    comparable: dict[str, object] = {}
    field_maps, model_fields = mapping().types[kind].fields, metamodel().types[kind].fields
    for name, value in fields.items():
        mapped_field = field_maps.get(name)
        if (
            value is None
            or mapped_field is None
            or mapped_field.path is None
            or name in _NOT_COMPARED
            or model_fields[name].save == "sm"
        ):
            continue
        if mapped_field.rule == "day":
            comparable[name] = (
                datetime.fromisoformat(str(value)).replace(tzinfo=UTC).astimezone(zone).date().isoformat()
            )
        elif model_fields[name].code_list:
            comparable[name] = name_of(name, str(value))
        else:
            comparable[name] = _metadata_texts(value) if model_fields[name].kind == "object" else value
    return {name: value for name, value in comparable.items() if value is not None}


def _metadata_texts(value: object) -> object:
    """Groups of fields as texts: what the XML can tell of them. Elements of an original that the archive carries are
    no group there, but stand where the original had them."""
    if not isinstance(value, dict):
        return value
    groups = {
        group: {
            name: [str(item).lower() if isinstance(item, bool) else str(item) for item in entry.get("values", ())]
            for name, entry in fields.items()
        }
        for group, fields in value.items()
        if group != original.GROUP
    }
    return groups or None


def _ident(kind: str, fields: Mapping[str, object]) -> str:
    idents = (str(fields[name]) for name in _IDENTS if name in fields)
    spine = str(fields.get("tittel", "")) if kind in ("Arkivdel", "Klassifikasjonssystem") else ""
    return next(idents, spine)


def _names(archive: Archive) -> dict[tuple[str, str], dict[str, str]]:
    """What the XML calls each code, by type and field."""
    names_by_field: dict[tuple[str, str], dict[str, str]] = {}
    synonyms = {(entry.code_list, entry.code, entry.name): entry.text for entry in mapping().words.synonyms}
    for entry in Administration(archive).code_lists():
        list_name = metamodel().types[entry.type].fields[entry.field].code_list or ""
        names_by_field[entry.type, entry.field] = {
            value.code: synonyms.get((list_name, value.code, value.name), value.name) for value in entry.values
        }
    return names_by_field
