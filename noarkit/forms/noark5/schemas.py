"""Our own schemas of a Noark 5 extract, made from the tables: they judge every document as the official ones do.

`schemas(version)` gives the files of a delivery, `vsm_schema` the schema of business-specific metadata. The same tables
give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from xml.sax.saxutils import escape, quoteattr

from noarkit.forms.noark5.addml import AddmlElement, Part, addml
from noarkit.forms.noark5.spec import ADDML, ADDML_NAMESPACE, CATALOGUE, CATALOGUE_NAMESPACE, addml_version
from noarkit.model.xml_model import Document, Element, Group, Value, Version, XmlModel, xml_model

_XS = "http://www.w3.org/2001/XMLSchema"
_UUID = "[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
_BASES: Mapping[str, str] = {
    "date": "xs:date",
    "dateTime": "xs:dateTime",
    "integer": "xs:integer",
    "string": "xs:string",
}
_BUSINESS_KINDS: Mapping[str, str] = {
    "long": "xs:long",
    "double": "xs:double",
    "timestamp": "xs:dateTime",
    "boolean": "xs:boolean",
    "uri": "xs:anyURI",
}


@dataclass(frozen=True, slots=True)
class VsmField:
    """A field of business-specific metadata. Kinds that XML has no word for are text.

    A fixed set of values is not declared: a value that was saved before the set became fixed is still the record's.
    """

    id: str
    name: str
    kind: str = "string"


@dataclass(frozen=True, slots=True)
class VsmGroup:
    """A group of business-specific metadata: one element, which holds its fields."""

    id: str
    name: str
    fields: tuple[VsmField, ...]


def schemas(version: Version) -> Mapping[str, bytes]:
    """All schema files of one version, by file name."""
    model = xml_model(version)
    schema_by_name = {
        f"{document.name}.xsd": _file(_document(document, version)) for document in model.documents.values()
    }
    schema_by_name[f"{CATALOGUE}.xsd"] = _file(_catalogue(model))
    schema_by_name[f"{ADDML}.xsd"] = _file(_addml(version))
    return dict(sorted(schema_by_name.items()))


def vsm_schema(namespace: str, groups: Iterable[VsmGroup]) -> bytes:
    """The schema of a delivery's business-specific metadata: every group an element, each field any number of times."""
    return _file(_vsm(namespace, groups))


def _file(lines: Iterable[str]) -> bytes:
    return ('<?xml version="1.0" encoding="UTF-8"?>\n' + "\n".join(lines) + "\n").encode("utf-8")


def _schema(namespace: str, version: str, *, catalogue: bool = False) -> Iterator[str]:
    yield f'<xs:schema xmlns:xs="{_XS}" xmlns={quoteattr(namespace)}'
    if catalogue:
        yield f'           xmlns:n5mdk="{CATALOGUE_NAMESPACE}"'
    yield f"           targetNamespace={quoteattr(namespace)}"
    yield f'           elementFormDefault="qualified" attributeFormDefault="unqualified" version="{version}">'
    yield "  <!-- Made by noarkit from its own tables: equivalent to the official schema, yet not the official one. -->"


def _document(document: Document, version: Version) -> Iterator[str]:
    yield from _schema(document.namespace, version, catalogue=True)
    yield f'  <xs:import namespace="{CATALOGUE_NAMESPACE}" schemaLocation="{CATALOGUE}.xsd"/>'
    yield f'  <xs:element name="{document.root}" type="{document.root}"/>'
    for group in document.groups.values():
        yield from _group(group)
    yield "</xs:schema>"


def _group(group: Group) -> Iterator[str]:
    yield f'  <xs:complexType name="{group.name}">'
    if group.extends:
        yield f'    <xs:complexContent><xs:extension base="{group.extends}">'
    yield "    <xs:sequence>"
    for choice, elements in groupby(group.own, key=lambda element: element.choice):
        if choice is None:
            yield from (_element(element) for element in elements)
        else:
            yield "      <xs:choice>"
            yield from ("  " + _element(element) for element in elements)
            yield "      </xs:choice>"
    yield "    </xs:sequence>"
    if group.extends:
        yield "    </xs:extension></xs:complexContent>"
    yield "  </xs:complexType>"


def _element(element: Element) -> str:
    kind = element.group or ("xs:anyType" if element.kind == "any" else f"n5mdk:{element.name}")
    return f'      <xs:element name="{element.name}" type="{kind}"{_occurs(element.least, element.most)}/>'


def _occurs(least: int, most: int | None) -> str:
    return (' minOccurs="0"' if least == 0 else "") + (' maxOccurs="unbounded"' if most is None else "")


def _catalogue(model: XmlModel) -> Iterator[str]:
    yield from _schema(CATALOGUE_NAMESPACE, model.version)
    if any("uuid" in value.kind for value in model.values.values()):
        yield from _simple("ID", "M016", [f'<xs:pattern value="{_UUID}"/>'], "xs:string")
    for value in model.values.values():
        if value.kind == "labelled-uuid":
            yield from _labelled(value)
        elif value.kind == "moment":
            yield f'  <xs:simpleType name="{value.name}">'
            yield f"    <xs:annotation><xs:documentation>{value.number}</xs:documentation></xs:annotation>"
            yield '    <xs:union memberTypes="xs:date xs:dateTime"/>'
            yield "  </xs:simpleType>"
        elif value.kind != "any":
            yield from _simple(value.name, value.number, *_restriction(value))
    yield "</xs:schema>"


def _restriction(value: Value) -> tuple[list[str], str]:
    match value.kind:
        case "text":
            return ['<xs:minLength value="1"/>'], "xs:string"
        case "code":
            return _enumeration(value.codes), "xs:string"
        case "size":
            return ['<xs:minInclusive value="0"/>'], "xs:integer"
        case "uuid":
            return [], "ID"
        case _:
            return [], _BASES[value.kind]


def _enumeration(values: Sequence[str]) -> list[str]:
    return [f"<xs:enumeration value={quoteattr(value)}/>" for value in values]


def _simple(name: str, number: str, facets: list[str], base: str) -> Iterator[str]:
    yield f'  <xs:simpleType name="{name}">'
    yield f"    <xs:annotation><xs:documentation>{number}</xs:documentation></xs:annotation>"
    if facets:
        yield f'    <xs:restriction base="{base}">'
        yield from (f"      {facet}" for facet in facets)
        yield "    </xs:restriction>"
    else:
        yield f'    <xs:restriction base="{base}"/>'
    yield "  </xs:simpleType>"


def _labelled(value: Value) -> Iterator[str]:
    yield f'  <xs:complexType name="{value.name}">'
    yield f"    <xs:annotation><xs:documentation>{value.number}</xs:documentation></xs:annotation>"
    yield '    <xs:simpleContent><xs:extension base="ID">'
    yield '      <xs:attribute name="label" type="xs:string"/>'
    yield "    </xs:extension></xs:simpleContent>"
    yield "  </xs:complexType>"


def _addml(version: Version) -> Iterator[str]:
    number = addml_version(version)
    yield from _schema(ADDML_NAMESPACE, number)
    for element in addml(number).values():
        if element.kind:
            yield f'  <xs:element name="{element.name}" type="xs:{element.kind}"/>'
        else:
            yield from _addml_element(element)
    yield "</xs:schema>"


def _addml_element(element: AddmlElement) -> Iterator[str]:
    yield f'  <xs:element name="{element.name}">'
    yield "    <xs:complexType>"
    if element.parts:
        yield "      <xs:sequence>"
        for either, parts in groupby(element.parts, key=lambda part: part.either):
            yield from ("        <xs:choice>",) if either else ()
            yield from (_reference(part) for part in parts)
            yield from ("        </xs:choice>",) if either else ()
        yield "      </xs:sequence>"
    for name, must in element.attributes.items():
        yield f'      <xs:attribute name="{name}" type="xs:string"{" use=" + quoteattr("required") if must else ""}/>'
    yield "    </xs:complexType>"
    for unique in element.unique:
        selector = "/".join(f"a:{step}" for step in unique.selector.split("/"))
        yield f'    <xs:unique name="{unique.name}" xmlns:a="{ADDML_NAMESPACE}">'
        yield f'      <xs:selector xpath="{selector}"/>'
        yield f'      <xs:field xpath="{unique.field}"/>'
        yield "    </xs:unique>"
    yield "  </xs:element>"


def _reference(part: Part) -> str:
    return f'        <xs:element ref="{part.name}"{_occurs(part.least, part.most)}/>'


def _vsm(namespace: str, groups: Iterable[VsmGroup]) -> Iterator[str]:
    yield from _schema(namespace, "1.0")
    for group in groups:
        yield f'  <xs:element name="{group.id}">'
        yield f"    <xs:annotation><xs:documentation>{escape(group.name)}</xs:documentation></xs:annotation>"
        yield "    <xs:complexType><xs:sequence>"
        for field in group.fields:
            yield from _vsm_field(field)
        yield "    </xs:sequence></xs:complexType>"
        yield "  </xs:element>"
    yield "</xs:schema>"


def _vsm_field(field: VsmField) -> Iterator[str]:
    base = _BUSINESS_KINDS.get(field.kind, "xs:string")
    yield f'      <xs:element name="{field.id}" minOccurs="0" maxOccurs="unbounded">'
    yield f"        <xs:annotation><xs:documentation>{escape(field.name)}</xs:documentation></xs:annotation>"
    yield f'        <xs:simpleType><xs:restriction base="{base}"/></xs:simpleType>'
    yield "      </xs:element>"
