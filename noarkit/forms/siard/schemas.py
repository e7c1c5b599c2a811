"""The XML schemas that stand in an archive: `metadata.xsd` from the tables of `spec`, and one for each table.

They are written in our own words from the specification's tables, and hold a document to the same as the official ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from noarkit.forms.siard import model
from noarkit.forms.siard.cells import Cell, cells_of
from noarkit.forms.siard.spec import CODES, DIGEST_TYPES, ITEMS, NAMESPACE, WRITTEN, Item, table_namespace
from noarkit.forms.siard.types import NEEDS_LENGTH, PATTERNS, XSD_TYPES

_XS = "http://www.w3.org/2001/XMLSchema"
_HEAD = '<?xml version="1.0" encoding="utf-8"?>'
_SIMPLE = {
    "text": "xs:string",
    "mandatory": "mandatoryString",
    "uri": "xs:anyURI",
    "date": "xs:date",
    "boolean": "xs:boolean",
    "integer": "xs:integer",
    "folder": "fsName",
    "type": "predefinedTypeType",
}
_LARGE_ATTRIBUTES = (
    ("file", "xs:anyURI"),
    ("length", "xs:integer"),
    ("digestType", "digestTypeType"),
    ("digest", "xs:string"),
)
_MOMENTS = (
    ("dateType", "xs:date", ("0001-01-01Z", "10000-01-01Z"), r"\d{4}-\d{2}-\d{2}Z?"),
    ("timeType", "xs:time", None, r"\d{2}:\d{2}:\d{2}(\.\d+)?Z?"),
    (
        "dateTimeType",
        "xs:dateTime",
        ("0001-01-01T00:00:00.000000000Z", "10000-01-01T00:00:00.000000000Z"),
        r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z?",
    ),
)


def schemas() -> dict[str, bytes]:
    """Every schema by its name: of the metadata by version, and of a table that has one column of each kind."""
    kinds = ("INTEGER", "DECIMAL(9,2)", "REAL", "DOUBLE PRECISION", "BOOLEAN", "CHARACTER VARYING(9)", "CLOB", "XML")
    more = ("BINARY VARYING(9)", "BLOB", "DATE", "TIME", "TIMESTAMP", "INTERVAL DAY TO SECOND")
    columns = tuple(model.Column(name, type=name) for name in (*kinds, *more))
    cells = cells_of(model.Table("kinds", columns=columns), "", {})
    schema_by_name = {f"{version}/metadata.xsd": metadata_schema(version) for version in WRITTEN}
    return {**schema_by_name, "table0.xsd": table_schema(("schema0", "table0"), cells)}


@cache
def metadata_schema(version: str) -> bytes:
    """The schema that `metadata.xml` of a version is held to."""
    lines = [
        _HEAD,
        f'<xs:schema xmlns:xs="{_XS}" xmlns="{NAMESPACE}" targetNamespace="{NAMESPACE}"'
        f' elementFormDefault="qualified" attributeFormDefault="unqualified" version="{version}">',
        ' <xs:element name="siardArchive">',
        "  <xs:complexType>",
        *_sequence(ITEMS[model.Archive], 3),
        '   <xs:attribute name="version" type="versionType" use="required"/>',
        "  </xs:complexType>",
        " </xs:element>",
    ]
    for kind, items in ITEMS.items():
        if kind is not model.Archive:
            lines += [f' <xs:complexType name="{kind.__name__}">', *_sequence(items, 2), " </xs:complexType>"]
    lines += _predefined(version)
    for name, codes in CODES.items():
        lines += _codes(name, codes)
    lines += _codes("versionType", (version,))
    lines += _restricted("mandatoryString", ['<xs:minLength value="1"/>'])
    lines += _restricted("fsName", ['<xs:minLength value="1"/>', '<xs:pattern value="[a-zA-Z][a-zA-Z0-9].*"/>'])
    return "\n".join([*lines, "</xs:schema>", ""]).encode()


def table_schema(folders: tuple[str, str], cells: Sequence[Cell]) -> bytes:
    """The schema of one table's XML."""
    namespace = table_namespace(*folders)
    lines = [
        _HEAD,
        f'<xs:schema xmlns:xs="{_XS}" xmlns="{namespace}" targetNamespace="{namespace}"'
        ' elementFormDefault="qualified" attributeFormDefault="unqualified">',
        ' <xs:element name="table">',
        "  <xs:complexType>",
        "   <xs:sequence>",
        '    <xs:element name="row" type="recordType" minOccurs="0" maxOccurs="unbounded"/>',
        "   </xs:sequence>",
        "  </xs:complexType>",
        " </xs:element>",
        ' <xs:complexType name="recordType">',
        "  <xs:sequence>",
        *(line for cell in cells for line in _cell(cell, 3)),
        "  </xs:sequence>",
        " </xs:complexType>",
        *_large("clobType", "xs:string"),
        *_large("blobType", "xs:hexBinary"),
    ]
    for name, base, bounds, pattern in _MOMENTS:
        facets = [f'<xs:pattern value="{pattern}"/>']
        if bounds is not None:
            facets = [f'<xs:minInclusive value="{bounds[0]}"/>', f'<xs:maxExclusive value="{bounds[1]}"/>', *facets]
        lines += _restricted(name, facets, base)
    lines += _codes("digestTypeType", DIGEST_TYPES)
    return "\n".join([*lines, "</xs:schema>", ""]).encode()


def _cell(cell: Cell, depth: int) -> Iterator[str]:
    margin = " " * depth
    least = ' minOccurs="0"' if cell.nullable else ""
    if cell.shape == "value":
        kind = cell.type.kind if cell.type is not None else "text"
        yield f'{margin}<xs:element name="{cell.tag}" type="{XSD_TYPES[kind]}"{least}/>'
        return
    yield f'{margin}<xs:element name="{cell.tag}"{least}>'
    yield f"{margin} <xs:complexType>"
    yield f"{margin}  <xs:sequence>"
    for part in cell.elements() if cell.shape == "array" else cell.parts:
        yield from _cell(part, depth + 3)
    yield f"{margin}  </xs:sequence>"
    yield f"{margin} </xs:complexType>"
    yield f"{margin}</xs:element>"


def _large(name: str, base: str) -> list[str]:
    return [
        f' <xs:complexType name="{name}">',
        "  <xs:simpleContent>",
        f'   <xs:extension base="{base}">',
        *(f'    <xs:attribute name="{attribute}" type="{kind}"/>' for attribute, kind in _LARGE_ATTRIBUTES),
        "   </xs:extension>",
        "  </xs:simpleContent>",
        " </xs:complexType>",
    ]


def _sequence(items: Sequence[Item], depth: int) -> Iterator[str]:
    margin = " " * depth
    yield f"{margin}<xs:sequence>"
    branches = [item for item in items if item.branch]
    for item in items:
        if not item.branch:
            yield from _element(item, depth + 1)
        elif item is branches[0]:
            yield f"{margin} <xs:choice>"
            for branch in (1, 2):
                yield f"{margin}  <xs:sequence>"
                for branch_item in branches:
                    if branch_item.branch == branch:
                        yield from _element(branch_item, depth + 3)
                yield f"{margin}  </xs:sequence>"
            yield f"{margin} </xs:choice>"
    yield f"{margin}</xs:sequence>"


def _element(item: Item, depth: int) -> Iterator[str]:
    margin = " " * depth
    least = "" if item.least else ' minOccurs="0"'
    if item.kind == "list":
        # an archive may have nobody who used it, and a schema nothing; what stands in any other list stands there
        min_occurs = ' minOccurs="0"' if item.tag == "users" else ""
        yield f'{margin}<xs:element name="{item.tag}"{least}>'
        yield f"{margin} <xs:complexType>"
        yield f"{margin}  <xs:sequence>"
        yield f'{margin}   <xs:element name="{item.entry_tag}" type="{item.of}"{min_occurs} maxOccurs="unbounded"/>'
        yield f"{margin}  </xs:sequence>"
        yield f"{margin} </xs:complexType>"
        yield f"{margin}</xs:element>"
        return
    kind = item.of or _SIMPLE.get(item.kind, "xs:string")
    most = ' maxOccurs="unbounded"' if item.kind == "many" else ""
    yield f'{margin}<xs:element name="{item.tag}" type="{kind}"{least}{most}/>'


def _predefined(version: str) -> list[str]:
    facets = []
    for pattern, _ in PATTERNS:
        if version == "2.1" and pattern.startswith("DATALINK"):
            continue
        must = version == "2.1" and any(name in pattern for name in NEEDS_LENGTH)
        pattern_text = pattern.removesuffix("?") if must else pattern
        facets.append(f'<xs:pattern value="{pattern_text}"/>')
    return _restricted("predefinedTypeType", facets)


def _codes(name: str, codes: Sequence[str]) -> list[str]:
    # a code that is padded means the same, except where the specification has not said so
    collapse = ['<xs:whiteSpace value="collapse"/>'] if name not in _AS_IT_STANDS else []
    return _restricted(name, [*collapse, *(f'<xs:enumeration value="{code}"/>' for code in codes)])


_AS_IT_STANDS = frozenset({"actionTimeType", "matchTypeType", "referentialActionType"})


def _restricted(name: str, facets: Sequence[str], base: str = "xs:string") -> list[str]:
    return [
        f' <xs:simpleType name="{name}">',
        f'  <xs:restriction base="{base}">',
        *(f"   {facet}" for facet in facets),
        "  </xs:restriction>",
        " </xs:simpleType>",
    ]
