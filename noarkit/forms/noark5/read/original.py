"""What an extract tells and the archive has no place for, as text that the archive's business-specific metadata keeps.

Such a text is an element `o` that holds the elements of the original as they stood, in the names of the version that is
written. `fields` and `state` on one of them name the archive's own fields that it belongs to, and what they were: where
they say something else by now, the original is no longer true. `place` and `systemID` say which of several things that
hang on an object it belongs to.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape
from io import BytesIO
from xml.sax.saxutils import escape, quoteattr

import orjson
from lxml import etree

from noarkit.errors import PackageFault, UnsafeXml
from noarkit.forms.noark5.nodes import Node, Value
from noarkit.model import metamodel
from noarkit.model.mapping import BUSINESS_METADATA, mapping
from noarkit.safe import xml

GROUP = "noarkit-original"
OWN = "noarkit-elements"
ABOVE = "noarkit-above"
NAMES: Mapping[str, str] = {
    GROUP: "Noark 5-elementer uten plass i arkivet (noarkit)",
    OWN: "Elementer i enheten selv",
    ABOVE: "Elementer i arkiv, arkivdel og klassifikasjonssystem over enheten",
}
NAMESPACE = "urn:noarkit:opprinnelig"
_OWN_PREFIXES = ("uuid", "opprettet", "avsluttet", "arkivert")
_MOST_BYTES = 16 * 1024 * 1024
_LONGEST_PLACE = 9


@dataclass(slots=True)
class Original:
    """One element as it stood: its text, or what stands within it."""

    name: str
    text: str = ""
    within: list[Original] = field(default_factory=list)
    fields: tuple[str, ...] = ()
    state: str = ""
    place: int = 0
    system_id: str = ""

    def leaves(self) -> int:
        """How many values it holds."""
        return sum(child.leaves() for child in self.within) if self.within else int(bool(self.text))


def original_from(name: str, value: Value) -> Original | None:
    """A value of a node as an element; None if it says nothing."""
    if isinstance(value, dict):
        within = [child for inner, values in value.items() for child in _originals_from(inner, values)]
        return Original(name, within=within) if within else None
    return Original(name, value) if value is not None and value.strip() else None


def _originals_from(name: str, values: Iterable[Value]) -> Iterator[Original]:
    for value in values:
        original = original_from(name, value)
        if original is not None:
            yield original


def node_of(original: Original) -> Node:
    """What stands within an element, as a node."""
    node: Node = {}
    for child in original.within:
        node.setdefault(child.name, []).append(node_of(child) if child.within else child.text)
    return node


def to_text(originals: Iterable[Original]) -> str:
    """Elements as the text that is kept."""
    return f"<o>{''.join(_text(original) for original in originals)}</o>"


def _text(original: Original) -> str:
    values = {
        "fields": " ".join(original.fields),
        "state": original.state,
        "place": str(original.place) if original.place else "",
        "systemID": original.system_id,
    }
    attributes = "".join(f" {name}={quoteattr(value)}" for name, value in values.items() if value)
    content = (
        "".join(_text(inner) for inner in original.within)
        if original.within
        else escape(original.text, {"\r": "&#13;"})
    )
    return f"<{original.name}{attributes}>{content}</{original.name}>"


def from_text(text: str) -> tuple[Original, ...] | None:
    """The elements of a text that was kept; None for a text that is none of ours."""
    raw = text.encode("utf-8", "replace")
    if len(raw) > _MOST_BYTES:
        return None
    try:
        root = xml.parse(BytesIO(raw))
    except (PackageFault, UnsafeXml):
        return None
    return tuple(_original(element) for element in root.iterchildren("*")) if root.tag == "o" else None


def _original(element: etree._Element) -> Original:
    within = [_original(child) for child in element.iterchildren("*")]
    place = element.get("place", "")
    return Original(
        etree.QName(element).localname,
        "" if within else element.text or "",
        within,
        tuple(element.get("fields", "").split()),
        element.get("state", ""),
        int(place) if place.isascii() and place.isdigit() and len(place) < _LONGEST_PLACE else 0,
        element.get("systemID", ""),
    )


def kept_texts(fields: Mapping[str, object], name: str) -> list[str]:
    """The texts that an object's business-specific metadata keep in a field of ours."""
    groups = fields.get(BUSINESS_METADATA)
    group = groups.get(GROUP) if isinstance(groups, dict) else None
    entry = group.get(name) if isinstance(group, dict) else None
    values = entry.get("values") if isinstance(entry, dict) else entry
    return [unescape(text) for text in values if isinstance(text, str)] if isinstance(values, list) else []


def fields_of_element(type_name: str, element: str) -> tuple[str, ...]:
    """The fields of a type that are told within an element, but those that the archive alone sets."""
    field_maps, fields = mapping().types[type_name].fields.values(), metamodel().types[type_name].fields
    names = (field_map.name for field_map in field_maps if (field_map.path or "").split("/")[0] == element)
    return tuple(sorted(name for name in names if fields[name].save != "sm"))


def describing_fields(fields: Mapping[str, object]) -> tuple[str, ...]:
    """The fields by which a thing is known again among others of its kind: not who made it, and when."""
    return tuple(sorted(name for name in fields if not name.startswith(_OWN_PREFIXES) and name != BUSINESS_METADATA))


def state_of(names: Iterable[str], fields: Mapping[str, object], *, escaped: bool = False) -> str:
    """What fields say, as a short digest; texts that are ready for XML are read back first."""
    pairs = []
    for name in names:
        value = fields.get(name)
        if value not in (None, ""):
            pairs.append((name, unescape(str(value)) if escaped else str(value)))
    return hashlib.sha256(orjson.dumps(pairs)).hexdigest()[:12]
