"""What the form has no element for, as elements of a schema of ours within business-specific metadata.

`ikkeIFormen` holds an element for each object, by its type, and in it an element for each field. What a document, a
version or a party tells stands with its record and says whom it concerns (`gjelder`): they have no such metadata in
the form themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache

from noarkit.forms.noark5.read.original import GROUP
from noarkit.model import metamodel
from noarkit.model.mapping import BUSINESS_METADATA, mapping

NAMESPACE = "urn:noarkit:ikkeIFormen"
SCHEMA_FILE = "ikkeIFormen.xsd"
ROOT = "ikkeIFormen"
MARK = f"noarkit:{ROOT}"
"""What the element is called in a node, where no element of others can be."""

CONCERNS = "gjelder"
ROLE = "rolle"
EXTERNAL_ID = "EksternId"
OWN_SYSTEM = "noark5"
"""The system that keys of an extract are known by: such a key is the systemID once more."""

BOOKKEEPING = frozenset({"archive", "account", "identity", "history", "counted", "publishing"})
"""Reasons of fields that tell nothing of the record itself; they are counted, but not listed one by one."""

NAMED: Mapping[str, tuple[str, str]] = {"Korrespondansepart": ("korrespondansepartNavn", "korrespondanseparttype")}
"""Types that have no systemID in the form: the fields that say which one is meant, its name and its role."""

IDENTIFIED = ("Dokument", "Dokumentversjon")
"""Types that are meant by their systemID."""

_KINDS: Mapping[str, str] = {"timestamp": "xs:dateTime", "date": "xs:date", "boolean": "xs:boolean"}


@lru_cache(maxsize=10_000)
def lost_names(type_name: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Which of these fields tell of the record and have no element."""
    field_maps = mapping().types[type_name].fields
    unmapped = [field_maps[name] for name in sorted(names) if name in field_maps and field_maps[name].path is None]
    return tuple(field.name for field in unmapped if field.reason not in BOOKKEEPING)


def lost_fields(type_name: str, fields: Mapping[str, object]) -> list[tuple[str, str]]:
    """The plain fields of an object that tell of the record and have no element; texts as they are."""
    values: list[tuple[str, str]] = []
    for name in lost_names(type_name, tuple(fields)):
        value = fields[name]
        if isinstance(value, str):
            if value:
                values.append((name, value))
        elif value is not None and value is not False and not isinstance(value, dict):
            values.append((name, str(value).lower() if isinstance(value, bool) else str(value)))
    return values


def lost_metadata(type_name: str, fields: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """The values of business-specific metadata where the form has no place for them, each by group and field; but not
    what is kept there for the elements of an original."""
    if BUSINESS_METADATA not in fields or BUSINESS_METADATA not in lost_names(type_name, (BUSINESS_METADATA,)):
        return
    groups = fields[BUSINESS_METADATA]
    for group_id, group in sorted(groups.items()) if isinstance(groups, dict) else ():
        if group_id == GROUP or not isinstance(group, dict):
            continue
        for field_id, field_value in sorted(group.items()):
            values = field_value.get("values") if isinstance(field_value, dict) else field_value
            for value in values if isinstance(values, list) else ():
                if value not in (None, ""):
                    name = f"{BUSINESS_METADATA}/{group_id}/{field_id}"
                    yield name, str(value).lower() if isinstance(value, bool) else str(value)


def repeats_system_id(type_name: str, fields: Mapping[str, object], owner: object) -> bool:
    """True for the key of an object that says no more than its own systemID."""
    if type_name != EXTERNAL_ID or fields.get("eksterntSystem") != OWN_SYSTEM:
        return False
    return str(fields.get("eksternID", "")).lower() == str(owner).lower()


def object_xml(type_name: str, fields: Iterable[tuple[str, str]]) -> str:
    """One object as its element; names with their values, which are ready for XML."""
    content = "".join([f"<n:{name}>{value}</n:{name}>\n" for name, value in fields])
    return f"<n:{type_name}>\n{content}</n:{type_name}>\n"


def root_xml(objects: Iterable[str]) -> str:
    """All of them; nothing where there are none."""
    content = "".join(objects)
    return f'<n:{ROOT} xmlns:n="{NAMESPACE}">\n{content}</n:{ROOT}>\n' if content else ""


@cache
def exported_types() -> Mapping[str, tuple[str, ...]]:
    """The types whose objects are told here, each with the fields that may be."""
    names_by_type: dict[str, tuple[str, ...]] = {}
    for name, kind in mapping().types.items():
        names = lost_names(name, tuple(sorted(kind.fields)))
        hangs = kind.group is None or name in NAMED or name in IDENTIFIED
        if names and (hangs or mapping().may_carry(name)):
            names_by_type[name] = names
    return names_by_type


def schema() -> str:
    """The XSD of it, made of the same table."""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="{NAMESPACE}"'
        f' xmlns="{NAMESPACE}" elementFormDefault="qualified">',
        f'  <xs:element name="{ROOT}">{_documentation("Det arkivet vet, og som formen ikke har noe element for")}',
        '    <xs:complexType><xs:choice minOccurs="0" maxOccurs="unbounded">',
        *(line for name, fields in exported_types().items() for line in _type(name, fields)),
        "    </xs:choice></xs:complexType>",
        "  </xs:element>",
        "</xs:schema>",
    ]
    return "\n".join(lines) + "\n"


def _type(type_name: str, names: tuple[str, ...]) -> Iterator[str]:
    yield f'      <xs:element name="{type_name}">{_documentation(f"Et objekt av typen {type_name} i arkivet")}'
    yield "      <xs:complexType><xs:sequence>"
    if type_name in NAMED or type_name in IDENTIFIED or type_name == EXTERNAL_ID:
        yield _plain(CONCERNS, "xs:string", "systemID til det objektet gjelder")
        if type_name in NAMED:
            yield _plain(ROLE, "xs:string", "Rollen til den det gjelder")
    fields = metamodel().types[type_name].fields
    for name in names:
        about = f"Feltet {name} av {type_name} i arkivet"
        if name == BUSINESS_METADATA:
            yield f'        <xs:element name="{name}" minOccurs="0">{_documentation(about)}'
            yield "        <xs:complexType><xs:sequence>"
            yield '          <xs:any minOccurs="0" maxOccurs="unbounded" processContents="lax"/>'
            yield "        </xs:sequence></xs:complexType></xs:element>"
        else:
            yield _plain(name, _KINDS.get(fields[name].kind, "xs:string"), about)
    yield "      </xs:sequence></xs:complexType></xs:element>"


def _plain(name: str, kind: str, about: str) -> str:
    return f'        <xs:element name="{name}" type="{kind}" minOccurs="0">{_documentation(about)}</xs:element>'


def _documentation(about: str) -> str:
    return f"<xs:annotation><xs:documentation>{about}</xs:documentation></xs:annotation>"
