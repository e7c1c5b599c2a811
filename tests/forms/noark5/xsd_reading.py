"""Schemas as plain values, whoever wrote them: groups with their elements in order, simple kinds by what they allow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

XS = "{http://www.w3.org/2001/XMLSchema}"
UUIDS = ("01234567-89ab-cdef-ABCD-EF0123456789",)
NOT_UUIDS = (
    "01234567-89ab-cdef-ABCD-EF012345678",
    "01234567-89ab-cdef-ABCD-EF01234567890",
    "0123456789abcdefABCDEF0123456789",
    "g1234567-89ab-cdef-ABCD-EF0123456789",
    "{01234567-89ab-cdef-ABCD-EF0123456789}",
    "",
)

Row = tuple[str, str, str, object, bool]


@dataclass(frozen=True, slots=True)
class Read:
    """A schema: version and namespace, its roots, its groups (base, rows) and its simple kinds."""

    version: str | None
    namespace: str | None
    roots: dict[str, str | None]
    groups: dict[str, tuple[str | None, tuple[Row, ...]]]


def catalogue(path: Path) -> dict[str, object]:
    """Every simple kind of a catalogue: the base, what it allows, and an attribute where it has one."""
    root = etree.parse(str(path)).getroot()
    named = {one.get("name"): one for one in root if one.tag in (XS + "simpleType", XS + "complexType")}
    return {str(name): _kind(one, named) for name, one in named.items()}


def document(path: Path, kinds: dict[str, object]) -> Read:
    """A document's schema, its leaves told by what the catalogue says of them."""
    root = etree.parse(str(path)).getroot()
    roots = {str(one.get("name")): one.get("type") for one in root.findall(XS + "element")}
    groups: dict[str, tuple[str | None, tuple[Row, ...]]] = {}
    for one in root.findall(XS + "complexType"):
        extension = one.find(f".//{XS}extension")
        held = (one if extension is None else extension).find(XS + "sequence")
        assert held is not None
        base = None if extension is None else extension.get("base")
        groups[str(one.get("name"))] = (base, tuple(_rows(held, kinds)))
    return Read(root.get("version"), root.get("targetNamespace"), roots, groups)


def addml(path: Path) -> dict[str, object]:
    """Every element of ADDML: its kind of text, its parts, its attributes and what must be unique in it."""
    found: dict[str, object] = {}
    for one in etree.parse(str(path)).getroot().findall(XS + "element"):
        held = one.find(f"{XS}complexType/{XS}sequence")
        attributes = sorted((a.get("name"), a.get("type"), a.get("use")) for a in one.iter(XS + "attribute"))
        unique = sorted(
            (_plain(u.find(XS + "selector")), _plain(u.find(XS + "field"))) for u in one.findall(XS + "unique")
        )
        parts = [] if held is None else list(_parts(held, None))
        found[str(one.get("name"))] = (one.get("type"), parts, attributes, unique)
    return found


def _plain(one: etree._Element | None) -> str:
    assert one is not None
    return re.sub(r"\w+:", "", str(one.get("xpath")))


def _parts(held: etree._Element, choice: bool | None) -> Iterator[tuple[str, str, str, bool]]:
    for one in held:
        if one.tag == XS + "element":
            least = "0" if choice else one.get("minOccurs", "1")
            yield str(one.get("ref")).split(":")[-1], least, one.get("maxOccurs", "1"), choice is not None
        elif one.tag == XS + "choice":
            may = one.get("minOccurs") == "0" or all(child.get("minOccurs") == "0" for child in one)
            yield from _parts(one, may)
        elif one.tag == XS + "sequence":
            yield from _parts(one, choice)


def _rows(held: etree._Element, kinds: dict[str, object]) -> Iterator[Row]:
    for one in held:
        if one.tag == XS + "choice":
            yield from ((*row[:4], len(one) > 1) for row in _rows(one, kinds))
        elif one.tag == XS + "element":
            kind = str(one.get("type"))
            leaf = kinds[kind.split(":")[1]] if kind.startswith("n5mdk:") else kind
            yield str(one.get("name")), one.get("minOccurs", "1"), one.get("maxOccurs", "1"), leaf, False


def _kind(one: etree._Element, named: dict[str | None, etree._Element]) -> object:
    extension = one.find(f".//{XS}extension")
    if extension is not None:
        attributes = tuple((a.get("name"), a.get("type"), a.get("use")) for a in extension.iter(XS + "attribute"))
        return (_base(str(extension.get("base")), named), attributes)
    union = one.find(XS + "union")
    if union is not None:
        members = str(union.get("memberTypes") or "").split()
        return ("union", sorted(members or [str(r.get("base")) for r in union.iter(XS + "restriction")]))
    restriction = one.find(XS + "restriction")
    assert restriction is not None
    base = _base(str(restriction.get("base")), named)
    facets = sorted((str(f.tag).removeprefix(XS), str(f.get("value"))) for f in restriction)
    patterns = [value for name, value in facets if name == "pattern"]
    if patterns or base == "uuid":
        assert all(_is_uuid(pattern) for pattern in patterns)
        return "uuid"
    return (base, facets)


def _base(name: str, named: dict[str | None, etree._Element]) -> object:
    return name if name.startswith("xs:") else _kind(named[name], named)


def _is_uuid(pattern: str) -> bool:
    whole = re.compile(pattern)
    return all(whole.fullmatch(text) for text in UUIDS) and not any(whole.fullmatch(text) for text in NOT_UUIDS)
