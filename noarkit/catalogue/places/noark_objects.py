"""What an object of Noark 5 says of itself to people: its title, number, day and status, and how its parts nest.

For places that know objects by the names of the archive service: runs and archives. What is no item of its own
(parties, notes, keywords, foreign ids) is nested in the fields of what it belongs to, so that nothing is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from noarkit.catalogue.port import Document, Json
from noarkit.model import metamodel
from noarkit.model.disclosure import of_fields
from noarkit.model.headings import DAY_FIELDS

FOLDERS, RECORDS = "AbstraktMappe", "AbstraktRegistrering"
DOCUMENT, VERSION = "Dokument", "Dokumentversjon"
_DESCRIPTION, _OBJECT = "dokumentbeskrivelse", "dokumentobjekt"
SPINE = ("Arkiv", "Arkivdel", "Klassifikasjonssystem", "Klasse")
_FAMILIES = frozenset({*SPINE, FOLDERS, RECORDS})
_TITLES = ("tittel", "title", "arkivskaperNavn", "klasseIdent")
_IDENTS = ("mappeIdent", "registreringsIdent", "klasseIdent")
_STATUSES = (
    *("saksstatus", "journalstatus", "mappestatus", "moeteregistreringsstatus", "arkivstatus", "arkivdelstatus"),
    "dokumentstatus",
)

CodeNames = Mapping[tuple[str, str], Mapping[str, str]]
"""The names of codes, by type and field."""


@dataclass(slots=True)
class Part:
    """An object with what belongs to it, on its way into an item."""

    ref: str
    type: str
    fields: dict[str, object]
    parts: list[Part] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Heading:
    """What a line about an object shows."""

    title: str
    ident: str
    day: str
    status: str
    is_screened: bool


@cache
def is_item_type(kind: str) -> bool:
    """True for objects that are items of their own, false for what belongs to one."""
    object_type = metamodel().types.get(kind)
    return object_type is not None and object_type.family in _FAMILIES


@cache
def family_of(kind: str) -> str:
    """The family of a type; a type that the model does not know is its own."""
    object_type = metamodel().types.get(kind)
    return kind if object_type is None else object_type.family


def heading(fields: Mapping[str, object], case_ident: str = "") -> Heading:
    """What a line about an object shows. A journal entry has the number of its case file, `case_ident`, and its own in
    that: 2011/1042-3."""
    number = fields.get("journalpostnummer")
    ident = f"{case_ident}-{number}" if case_ident and number is not None else _first(fields, _IDENTS)
    if not ident and fields.get("saksaar") is not None and fields.get("sakssekvensnummer") is not None:
        ident = f"{fields['saksaar']}/{fields['sakssekvensnummer']}"
    return Heading(
        _first(fields, _TITLES),
        ident,
        _first(fields, DAY_FIELDS)[:10],
        _first(fields, _STATUSES),
        of_fields(fields).is_screened,
    )


def standard_code_names() -> CodeNames:
    """The names of the codes that every archive comes with."""
    names: dict[tuple[str, str], Mapping[str, str]] = {}
    for code_list in metamodel().code_lists.values():
        by_code = {code.code: code.name for code in code_list.codes}
        names.update(dict.fromkeys(code_list.used_by, by_code))
    return names


def with_names(kind: str, fields: Mapping[str, object], names: CodeNames) -> dict[str, object]:
    """The fields of an object, its codes told by name."""
    return {
        name: names.get((kind, name), {}).get(value, value) if isinstance(value, str) else value
        for name, value in fields.items()
    }


def nested_fields(part: Part) -> dict[str, Json]:
    """The fields of an object and, as lists under the names of their types, those of what belongs to it."""
    fields = json_fields(part.fields)
    for child in part.parts:
        if child.type == DOCUMENT:
            continue
        group = fields.setdefault(child.type[0].lower() + child.type[1:], [])
        if isinstance(group, list):
            group.append(nested_fields(child))
    return fields


def documents_of(part: Part, files: Mapping[str, Document]) -> tuple[Document, ...]:
    """The documents of a record: one for each version of each document, one without a file for a document that has no
    version. `files` has what is known of the file of a version, by its ref."""
    documents = [part] if part.type == DOCUMENT else [child for child in part.parts if child.type == DOCUMENT]
    return tuple(document for child in documents for document in _versions_of(child, files))


def _versions_of(part: Part, files: Mapping[str, Document]) -> Iterable[Document]:
    versions = [child for child in part.parts if child.type == VERSION]
    own = nested_fields(Part(part.ref, part.type, part.fields, [p for p in part.parts if p.type != VERSION]))
    title = str(part.fields.get("tittel") or "")
    if not versions:
        yield Document(part.ref, title, fields={_DESCRIPTION: own})
    for at, version in enumerate(versions, 1):
        file = files.get(version.ref) or Document(version.ref)
        number = version.fields.get("versjonsnummer")
        yield Document(
            ref=version.ref,
            title=title,
            name=file.name,
            variant=str(version.fields.get("variantformat") or ""),
            version=number if isinstance(number, int) else at,
            media_type=file.media_type,
            puid=file.puid,
            size_bytes=file.size_bytes,
            sha256=file.sha256,
            locator=file.locator,
            fields={_DESCRIPTION: own, _OBJECT: nested_fields(version) | dict(file.fields)},
            custody=file.custody,
        )


def _first(fields: Mapping[str, object], names: Sequence[str]) -> str:
    return next((str(value) for name in names if (value := fields.get(name)) not in (None, "")), "")


def _json(value: object) -> Json:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(name): _json(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_json(inner) for inner in value]
    return str(value)


def json_fields(values: Mapping[str, object]) -> dict[str, Json]:
    """Values as fields."""
    return {name: _json(value) for name, value in values.items()}


def plain_fields(facts: Mapping[str, object]) -> dict[str, Json]:
    """Facts that are no fields of Noark, as fields; empty ones are left out."""
    return {name: _json(value) for name, value in facts.items() if value not in (None, "", [], {})}
