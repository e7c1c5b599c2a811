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
    made = {}
    for name in _TABLES:
        table = files("noarkit.packages.dias").joinpath("tables", name.replace(".xsd", ".txt")).read_text("utf-8")
        made[name] = ('<?xml version="1.0" encoding="UTF-8"?>\n' + "\n".join(_schema(_read(table))) + "\n").encode()
    return MappingProxyType(made)


def _read(table: str) -> list[_Line]:
    top: list[_Line] = []
    open_lines: list[list[_Line]] = [top]
    for line in table.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        depth = (len(line) - len(line.lstrip(" "))) // 2
        one = _Line(line.strip())
        del open_lines[depth + 1 :]
        open_lines[depth].append(one)
        open_lines.append(one.below)
    return top


def _schema(lines: list[_Line]) -> Iterator[str]:
    namespace = lines[0].text.split()[1]
    yield f'<xs:schema xmlns:xs="{_XS}" xmlns:own={quoteattr(namespace)} xmlns:xlink="{_XLINK}"'
    yield f'           targetNamespace={quoteattr(namespace)} elementFormDefault="qualified"'
    yield '           attributeFormDefault="unqualified">'
    yield "  <!-- Made by noarkit from its own tables: equivalent to the official schema, yet not the official one. -->"
    for line in lines[1:]:
        for made in _top(line):
            yield f"  {made}"
    yield "</xs:schema>"


def _top(line: _Line) -> Iterator[str]:
    word, _, rest = line.text.partition(" ")
    if word == "import":
        yield f'<xs:import namespace="{_XLINK}" schemaLocation="{XLINK_SCHEMA}"/>'
    elif word == "elements":
        kind, _, names = rest.partition(" : ")
        yield from (f'<xs:element name="{name}" type="{_kind(kind)}"/>' for name in names.split())
    elif word == "element":
        yield from _element(_Line(rest, line.below))
    elif word == "type":
        yield from _type(rest, line.below)
    elif word == "simple":
        yield from _simple(rest, line.below)
    elif word == "group":
        yield f'<xs:attributeGroup name="{rest}">'
        yield from _inner(line.below)
        yield "</xs:attributeGroup>"
    else:
        yield from _attribute(line.text)


def _type(said: str, below: list[_Line]) -> Iterator[str]:
    name, *words = said.split()
    if any(line.text.startswith("%one") for line in below):
        yield from _simple(name, below)
        return
    yield f'<xs:complexType name="{name}"{_ABSTRACT if "abstract" in words else ""}>'
    if "extends" in words:
        yield f'  <xs:complexContent><xs:extension base="{_kind(words[-1])}">'
        yield from _inner(below)
        yield "  </xs:extension></xs:complexContent>"
    else:
        yield from _inner(below)
    yield "</xs:complexType>"


_ABSTRACT = ' abstract="true"'


def _simple(name: str, below: list[_Line]) -> Iterator[str]:
    yield f'<xs:simpleType name="{name}">'
    word, _, rest = below[0].text.partition(" ")
    if word == "%union":
        yield f'  <xs:union memberTypes="{" ".join(map(_kind, rest.split()))}"/>'
    elif word == "%list":
        yield f'  <xs:list itemType="{_kind(rest)}"/>'
    elif word == "%one":
        yield from _restriction("xs:token", rest)
    else:
        yield '  <xs:restriction base="xs:string">'
        yield from (f"    <xs:pattern value={quoteattr(line.text.split(' ', 1)[1])}/>" for line in below)
        yield "  </xs:restriction>"
    yield "</xs:simpleType>"


def _restriction(base: str, values: str) -> Iterator[str]:
    yield f'  <xs:restriction base="{base}">'
    yield from (f"    <xs:enumeration value={quoteattr(value)}/>" for value in values.split(" | "))
    yield "  </xs:restriction>"


def _inner(below: list[_Line]) -> Iterator[str]:
    """The content of a type: particles first, attributes after them."""
    particles = [line for line in below if not line.text.startswith(("@", "&", "%text"))]
    attributes = [line for line in below if line.text.startswith(("@", "&"))]
    text = next((line.text.split()[1] for line in below if line.text.startswith("%text")), None)
    if text is not None:
        yield f'  <xs:simpleContent><xs:extension base="{_kind(text)}">'
    elif len(particles) == 1 and particles[0].text.startswith(("%choice", "%seq", "%all")):
        yield from (f"  {made}" for made in _particle(particles[0]))
    elif particles:
        yield "  <xs:sequence>"
        yield from (f"    {made}" for line in particles for made in _particle(line))
        yield "  </xs:sequence>"
    for line in attributes:
        yield from (f"  {made}" for made in _attribute(line.text))
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
    yield from (f"  {made}" for inner in line.below for made in _particle(inner))
    yield f"</xs:{tag}>"


def _element(line: _Line) -> Iterator[str]:
    found = _ELEMENT.fullmatch(line.text)
    assert found is not None, line.text  # noqa: S101  # a table of ours
    reference, name, card, least, most, kind = found.groups()
    occurs = _occurs(least, most) if least else _occurs(*_CARDS[card or ""])
    if reference:
        yield f'<xs:element ref="own:{name}"{occurs}/>'
    elif kind:
        yield f'<xs:element name="{name}" type="{_kind(kind)}"{occurs}/>'
    elif line.below and line.below[0].text.startswith("%one"):
        yield f'<xs:element name="{name}"{occurs}>'
        yield "  <xs:simpleType>"
        yield from (f"  {made}" for made in _restriction("xs:token", line.below[0].text.partition(" ")[2]))
        yield "  </xs:simpleType>"
        yield "</xs:element>"
    else:
        yield f'<xs:element name="{name}"{occurs}>'
        yield "  <xs:complexType>"
        yield from (f"  {made}" for made in _inner(line.below))
        yield "  </xs:complexType>"
        yield "</xs:element>"


def _attribute(text: str) -> Iterator[str]:
    if text.startswith("&"):
        name = text[1:]
        yield f'<xs:attributeGroup ref="{name if ":" in name else "own:" + name}"/>'
        return
    found = _ATTRIBUTE.fullmatch(text)
    assert found is not None, text  # noqa: S101  # a table of ours
    prefix, name, must, fixed, kind, values = found.groups()
    use = ' use="required"' if must else ""
    if prefix:
        yield f'<xs:attribute ref="{prefix}:{name}"{use}/>'
    elif fixed:
        yield f'<xs:attribute name="{name}" type="xs:string" fixed="{fixed}" form="qualified"{use}/>'
    elif kind:
        yield f'<xs:attribute name="{name}" type="{_kind(kind)}"{use}/>'
    else:
        yield f'<xs:attribute name="{name}"{use}>'
        yield "  <xs:simpleType>"
        yield from (f"  {made}" for made in _restriction("xs:string", values))
        yield "  </xs:simpleType>"
        yield "</xs:attribute>"


def _occurs(least: str, most: str) -> str:
    low = "" if least == "1" else f' minOccurs="{least}"'
    high = "" if most == "1" else f' maxOccurs="{"unbounded" if most == "*" else most}"'
    return low + high


def _kind(name: str) -> str:
    """A type of the table's own, or one that XML schemas bring."""
    return f"own:{name[1:]}" if name.startswith("~") else f"xs:{name}"
