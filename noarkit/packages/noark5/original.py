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
from noarkit.model import metamodel
from noarkit.model.mapping import BUSINESS_METADATA, mapping
from noarkit.packages.noark5.nodes import Node, Value
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
_OF_ITS_OWN = ("uuid", "opprettet", "avsluttet", "arkivert")
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
        return sum(one.leaves() for one in self.within) if self.within else int(bool(self.text))


def of_value(name: str, value: Value) -> Original | None:
    """A value of a node as an element; None where it says nothing."""
    if isinstance(value, dict):
        within = [one for inner, held in value.items() for one in _of_values(inner, held)]
        return Original(name, within=within) if within else None
    return Original(name, value) if value is not None and value.strip() else None


def _of_values(name: str, held: Iterable[Value]) -> Iterator[Original]:
    for value in held:
        one = of_value(name, value)
        if one is not None:
            yield one


def node_of(original: Original) -> Node:
    """What stands within an element, as a node."""
    node: Node = {}
    for one in original.within:
        node.setdefault(one.name, []).append(node_of(one) if one.within else one.text)
    return node


def to_text(originals: Iterable[Original]) -> str:
    """Elements as the text that is kept."""
    return f"<o>{''.join(_text(one) for one in originals)}</o>"


def _text(one: Original) -> str:
    told = {
        "fields": " ".join(one.fields),
        "state": one.state,
        "place": str(one.place) if one.place else "",
        "systemID": one.system_id,
    }
    attributes = "".join(f" {name}={quoteattr(value)}" for name, value in told.items() if value)
    held = "".join(_text(inner) for inner in one.within) if one.within else escape(one.text, {"\r": "&#13;"})
    return f"<{one.name}{attributes}>{held}</{one.name}>"


def from_text(text: str) -> tuple[Original, ...] | None:
    """The elements of a text that was kept; None for a text that is none of ours."""
    raw = text.encode("utf-8", "replace")
    if len(raw) > _MOST_BYTES:
        return None
    try:
        root = xml.parse(BytesIO(raw))
    except (PackageFault, UnsafeXml):
        return None
    return tuple(_original(one) for one in root.iterchildren("*")) if root.tag == "o" else None


def _original(element: etree._Element) -> Original:
    within = [_original(one) for one in element.iterchildren("*")]
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


def kept(fields: Mapping[str, object], name: str) -> list[str]:
    """The texts that an object's business-specific metadata keep in a field of ours."""
    groups = fields.get(BUSINESS_METADATA)
    group = groups.get(GROUP) if isinstance(groups, dict) else None
    held = group.get(name) if isinstance(group, dict) else None
    values = held.get("values") if isinstance(held, dict) else held
    return [unescape(one) for one in values if isinstance(one, str)] if isinstance(values, list) else []


def feeding(type_name: str, element: str) -> tuple[str, ...]:
    """The fields of a type that are told within an element, but those that the archive alone sets."""
    known, fields = mapping().types[type_name].fields.values(), metamodel().types[type_name].fields
    told = (one.name for one in known if (one.path or "").split("/")[0] == element)
    return tuple(sorted(name for name in told if fields[name].save != "sm"))


def describing(fields: Mapping[str, object]) -> tuple[str, ...]:
    """The fields by which a thing is known again among others of its kind: not who made it, and when."""
    return tuple(sorted(name for name in fields if not name.startswith(_OF_ITS_OWN) and name != BUSINESS_METADATA))


def state_of(names: Iterable[str], fields: Mapping[str, object], *, escaped: bool = False) -> str:
    """What fields say, as a short digest; texts that are ready for XML are read back first."""
    told = []
    for name in names:
        value = fields.get(name)
        if value not in (None, ""):
            told.append((name, unescape(str(value)) if escaped else str(value)))
    return hashlib.sha256(orjson.dumps(told)).hexdigest()[:12]
