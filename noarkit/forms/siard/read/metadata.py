"""Reads `header/metadata.xml` of any version into what `model` knows; what it does not know is left to the validator.

Namespaces and prefixes do not matter, only the names; an element that is missing leaves its field as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, BinaryIO

from lxml import etree

from noarkit.errors import PackageFault
from noarkit.forms.siard.escapes import text_of
from noarkit.forms.siard.model import Archive, MessageDigest
from noarkit.forms.siard.spec import CLASSES, FROM_10, ITEMS, READ, Item
from noarkit.safe import xml

_LIMITS = xml.XmlLimits(max_bytes=512 * 1024 * 1024, max_depth=60)
_OLD_DIGEST = re.compile(r"(MD5|SHA-?1|SHA-?256)?[\s:]*([0-9A-Fa-f]{32,64})")
_TRUE = ("true", "1")


def read_metadata(source: BinaryIO) -> tuple[Archive, etree._Element]:
    """What the document says, and the document. Raises `PackageFault` where it is no SIARD metadata that we know."""
    root = xml.parse(source, limits=_LIMITS)
    where = str(getattr(source, "name", "metadata.xml"))
    if _local(root) != "siardArchive":
        raise PackageFault(where=where, why="no-siard-metadata", detail=_local(root))
    version = (root.get("version") or "").strip()
    if version not in READ:
        raise PackageFault(where=where, why="siard-version", detail=version)
    fields = _fields(root, Archive)
    if version == "1.0":
        fields["digests"] = _old_digest(root)
    return Archive(**{**fields, "version": version}), root


def _fields(element: etree._Element, kind: type) -> dict[str, Any]:  # values of any field of the model
    item_by_tag = _items_by_tag(kind)
    values: dict[str, Any] = {}  # the same
    for child in element:
        if not isinstance(child.tag, str):
            continue
        tag = _local(child)
        item = item_by_tag.get(tag)
        if item is None:
            old = FROM_10.get((kind.__name__, tag))
            if old is not None:
                values[old] = text_of(child.text or "")
        elif item.kind == "many":
            values[item.field] = (*values.get(item.field, ()), _value(child, item))
        else:
            values[item.field] = _value(child, item)
    for item in ITEMS[kind]:  # what has no default must at least be empty
        if item.least and item.field not in values and item.kind not in ("list", "many", "integer", "boolean"):
            values[item.field] = ""
    return values


def _value(element: etree._Element, item: Item) -> object:
    if item.kind == "list":
        kind = CLASSES[item.of]
        return tuple(kind(**_fields(child, kind)) for child in element if isinstance(child.tag, str))
    if item.kind in ("one", "many") and item.of:
        kind = CLASSES[item.of]
        return kind(**_fields(element, kind))
    text = text_of(element.text or "")
    if item.kind == "boolean":
        return text.strip() in _TRUE
    if item.kind == "integer":
        return _number(text)
    return text.strip() if item.kind in ("type", "choice", "folder", "uri", "date") else text


def _number(text: str) -> int | None:
    spelt = text.strip()
    return int(spelt) if spelt.removeprefix("-").isdecimal() and len(spelt) < 20 else None


@cache
def _items_by_tag(kind: type) -> Mapping[str, Item]:
    return {item.tag: item for item in ITEMS[kind]}


def _old_digest(root: etree._Element) -> tuple[MessageDigest, ...]:
    """1.0 has one text, whose first letters may tell the algorithm."""
    for child in root:
        if isinstance(child.tag, str) and _local(child) == "messageDigest":
            match = _OLD_DIGEST.fullmatch((child.text or "").strip())
            if match is not None:
                by_length = {32: "MD5", 40: "SHA-1", 64: "SHA-256"}
                return (MessageDigest(by_length.get(len(match[2]), "MD5"), match[2]),)
    return ()


def _local(element: etree._Element) -> str:
    return etree.QName(element).localname
