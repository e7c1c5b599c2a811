"""Our own schemas of the metadata of a DIAS package, made from the tables beside this: they judge as the official ones.

A line of a table is one thing, and what is set in below it is its content:

    type NAME [abstract] [extends ~BASE]     simple NAME     group NAME (of attributes)     elements TYPE : a b c
    name* : TYPE     an element, with ? * + or {least,most}; `^name` is one that stands at the top
    @NAME! : TYPE    an attribute that must be there; `= A | B` names its values, `~X` fixes it; &GROUP takes a group
    %choice  %seq  %all  %any  %text TYPE  %one A | B  %union A B  %list TYPE  %pattern P

`~` marks a type of the table's own; the same tables give the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from xml.sax.saxutils import quoteattr

METS_SCHEMA = "dias-mets.xsd"
PREMIS_SCHEMA = "dias-premis.xsd"
SUBMISSION_SCHEMA = "submission-description.xsd"
XLINK_SCHEMA = "xlink.xsd"
EAD_SCHEMA = "ead.xsd"
EAC_SCHEMA = "eac-cpf.xsd"

_XS = "http://www.w3.org/2001/XMLSchema"
_XLINK = "http://www.w3.org/1999/xlink"
_TABLES = (METS_SCHEMA, PREMIS_SCHEMA, SUBMISSION_SCHEMA, XLINK_SCHEMA, EAD_SCHEMA, EAC_SCHEMA)
_ELEMENT = re.compile(r"(\^?)([\w-]+)([?*+]|\{(\d+),(\d+|\*)\})?(?: : (\S+))?")
_ATTRIBUTE = re.compile(r"@(?:(\w+):)?(\w+)(!?)(?:~(\w+)| : (\S+)| = (.+))?")
_CARDS: Mapping[str, tuple[str, str]] = {"": ("1", "1"), "?": ("0", "1"), "*": ("0", "*"), "+": ("1", "*")}
_PARTICLES = ("%choice", "%seq", "%all", "%any")


@dataclass(slots=True)
class _Line:
    """A line of a table and what is set in below it."""

    text: str
    below: list[_Line] = field(default_factory=list)


@cache
def schemas() -> Mapping[str, bytes]:
    """Every schema by its file name."""
    schema_by_name = {}
    for name in _TABLES:
        table = files("noarkit.forms.dias").joinpath("tables", name.replace(".xsd", ".txt")).read_text("utf-8")
        schema_by_name[name] = (
            '<?xml version="1.0" encoding="UTF-8"?>\n' + "\n".join(_schema(_parse_table(table))) + "\n"
        ).encode()
    return MappingProxyType(schema_by_name)


def _parse_table(table: str) -> list[_Line]:
    top: list[_Line] = []
    open_lines: list[list[_Line]] = [top]
    for line in table.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        depth = (len(line) - len(line.lstrip(" "))) // 2
        entry = _Line(line.strip())
        del open_lines[depth + 1 :]
        open_lines[depth].append(entry)
        open_lines.append(entry.below)
    return top


def _schema(lines: list[_Line]) -> Iterator[str]:
    namespace = lines[0].text.split()[1]
    yield f'<xs:schema xmlns:xs="{_XS}" xmlns:own={quoteattr(namespace)} xmlns:xlink="{_XLINK}"'
    yield f'           targetNamespace={quoteattr(namespace)} elementFormDefault="qualified"'
    yield '           attributeFormDefault="unqualified">'
    yield "  <!-- Made by noarkit from its own tables: equivalent to the official schema, yet not the official one. -->"
    for line in lines[1:]:
        for xml_line in _top_level(line):
            yield f"  {xml_line}"
    yield "</xs:schema>"


def _top_level(line: _Line) -> Iterator[str]:
    word, _, tail = line.text.partition(" ")
    if word == "import":
        yield f'<xs:import namespace="{_XLINK}" schemaLocation="{XLINK_SCHEMA}"/>'
    elif word == "elements":
        kind, _, names = tail.partition(" : ")
        yield from (f'<xs:element name="{name}" type="{_kind(kind)}"/>' for name in names.split())
    elif word == "element":
        yield from _element(_Line(tail, line.below))
    elif word == "type":
        yield from _type(tail, line.below)
    elif word == "simple":
        yield from _simple(tail, line.below)
    elif word == "group":
        yield f'<xs:attributeGroup name="{tail}">'
        yield from _type_content(line.below)
        yield "</xs:attributeGroup>"
    else:
        yield from _attribute(line.text)


def _type(declaration: str, below: list[_Line]) -> Iterator[str]:
    name, *words = declaration.split()
    if any(line.text.startswith("%one") for line in below):
        yield from _simple(name, below)
        return
    yield f'<xs:complexType name="{name}"{_ABSTRACT if "abstract" in words else ""}>'
    if "extends" in words:
        yield f'  <xs:complexContent><xs:extension base="{_kind(words[-1])}">'
        yield from _type_content(below)
        yield "  </xs:extension></xs:complexContent>"
    else:
        yield from _type_content(below)
    yield "</xs:complexType>"


_ABSTRACT = ' abstract="true"'


def _simple(name: str, below: list[_Line]) -> Iterator[str]:
    yield f'<xs:simpleType name="{name}">'
    word, _, tail = below[0].text.partition(" ")
    if word == "%union":
        yield f'  <xs:union memberTypes="{" ".join(map(_kind, tail.split()))}"/>'
    elif word == "%list":
        yield f'  <xs:list itemType="{_kind(tail)}"/>'
    elif word == "%one":
        yield from _restriction("xs:token", tail)
    else:
        yield '  <xs:restriction base="xs:string">'
        yield from (f"    <xs:pattern value={quoteattr(line.text.split(' ', 1)[1])}/>" for line in below)
        yield "  </xs:restriction>"
    yield "</xs:simpleType>"


def _restriction(base: str, values: str) -> Iterator[str]:
    yield f'  <xs:restriction base="{base}">'
    yield from (f"    <xs:enumeration value={quoteattr(value)}/>" for value in values.split(" | "))
    yield "  </xs:restriction>"


def _type_content(below: list[_Line]) -> Iterator[str]:
    """The content of a type: particles first, attributes after them."""
    particles = [line for line in below if not line.text.startswith(("@", "&", "%text"))]
    attributes = [line for line in below if line.text.startswith(("@", "&"))]
    text = next((line.text.split()[1] for line in below if line.text.startswith("%text")), None)
    if text is not None:
        yield f'  <xs:simpleContent><xs:extension base="{_kind(text)}">'
    elif len(particles) == 1 and particles[0].text.startswith(("%choice", "%seq", "%all")):
        yield from (f"  {xml_line}" for xml_line in _particle(particles[0]))
    elif particles:
        yield "  <xs:sequence>"
        yield from (f"    {xml_line}" for line in particles for xml_line in _particle(line))
        yield "  </xs:sequence>"
    for line in attributes:
        yield from (f"  {xml_line}" for xml_line in _attribute(line.text))
    if text is not None:
        yield "  </xs:extension></xs:simpleContent>"


def _particle(line: _Line) -> Iterator[str]:
    if not line.text.startswith(_PARTICLES):
        yield from _element(line)
        return
    word, _, process = line.text.partition(" ")
    name = word[1:].rstrip("?*+")
    occurs = _occurs(*_CARDS[word[len(name) + 1 :]])
    if name == "any":
        yield f'<xs:any namespace="##any" processContents="{process}"{occurs}/>'
        return
    tag = {"seq": "sequence"}.get(name, name)
    yield f"<xs:{tag}{occurs}>"
    yield from (f"  {xml_line}" for inner in line.below for xml_line in _particle(inner))
    yield f"</xs:{tag}>"


def _element(line: _Line) -> Iterator[str]:
    match = _ELEMENT.fullmatch(line.text)
    assert match is not None, line.text  # noqa: S101  # a table of ours
    reference, name, card, least, most, kind = match.groups()
    occurs = _occurs(least, most) if least else _occurs(*_CARDS[card or ""])
    if reference:
        yield f'<xs:element ref="own:{name}"{occurs}/>'
    elif kind:
        yield f'<xs:element name="{name}" type="{_kind(kind)}"{occurs}/>'
    elif line.below and line.below[0].text.startswith("%one"):
        yield f'<xs:element name="{name}"{occurs}>'
        yield "  <xs:simpleType>"
        yield from (f"  {xml_line}" for xml_line in _restriction("xs:token", line.below[0].text.partition(" ")[2]))
        yield "  </xs:simpleType>"
        yield "</xs:element>"
    else:
        yield f'<xs:element name="{name}"{occurs}>'
        yield "  <xs:complexType>"
        yield from (f"  {xml_line}" for xml_line in _type_content(line.below))
        yield "  </xs:complexType>"
        yield "</xs:element>"


def _attribute(text: str) -> Iterator[str]:
    if text.startswith("&"):
        name = text[1:]
        yield f'<xs:attributeGroup ref="{name if ":" in name else "own:" + name}"/>'
        return
    match = _ATTRIBUTE.fullmatch(text)
    assert match is not None, text  # noqa: S101  # a table of ours
    prefix, name, must, fixed_value, kind, values = match.groups()
    use = ' use="required"' if must else ""
    if prefix:
        yield f'<xs:attribute ref="{prefix}:{name}"{use}/>'
    elif fixed_value:
        yield f'<xs:attribute name="{name}" type="xs:string" fixed="{fixed_value}" form="qualified"{use}/>'
    elif kind:
        yield f'<xs:attribute name="{name}" type="{_kind(kind)}"{use}/>'
    else:
        yield f'<xs:attribute name="{name}"{use}>'
        yield "  <xs:simpleType>"
        yield from (f"  {xml_line}" for xml_line in _restriction("xs:string", values))
        yield "  </xs:simpleType>"
        yield "</xs:attribute>"


def _occurs(least: str, most: str) -> str:
    low = "" if least == "1" else f' minOccurs="{least}"'
    high = "" if most == "1" else f' maxOccurs="{"unbounded" if most == "*" else most}"'
    return low + high


def _kind(name: str) -> str:
    """A type of the table's own, or one that XML schemas bring."""
    return f"own:{name[1:]}" if name.startswith("~") else f"xs:{name}"
