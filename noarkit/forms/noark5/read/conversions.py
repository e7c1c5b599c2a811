"""Reads back the conversions that noarkit wrote: what `formatDetaljer` carries is not told a second time."""

from __future__ import annotations

from collections.abc import Iterator
from zoneinfo import ZoneInfo

from noarkit.forms.noark5.conversions import ELEMENT, conversion_elements
from noarkit.forms.noark5.moments import Moments
from noarkit.forms.noark5.nodes import Node, text
from noarkit.graph.entity import Entity
from noarkit.model.conversions import Conversion, derived_from, parse_details
from noarkit.model.own_marks import ORIGIN_MARKS


def split_conversion(node: Node, zone: ZoneInfo) -> tuple[Node, Conversion | None]:
    """A version without the element that says what its text carries already, and the conversion that this is. Any
    other conversion stays in the version."""
    conversion = parse_details(text(node, "formatDetaljer") or "") if "formatDetaljer" in node else None
    elements = conversion_elements(conversion, Moments(zone.key)) if conversion is not None else None
    if conversion is None or elements is None:
        return node, None
    carried = {name: value.strip() for name, value in elements.items() if value.strip()}
    others = list(node.get(ELEMENT, []))
    for value in others:
        if isinstance(value, dict) and {name: text(value, name) for name in value if text(value, name)} == carried:
            others.remove(value)
            break
    rest = {name: values for name, values in node.items() if name != ELEMENT}
    return ({**rest, ELEMENT: others} if others else rest), conversion


def with_origin(version: Entity, conversion: Conversion | None) -> Iterator[Entity]:
    """A version, and where it is a copy the external id by which it names its source."""
    yield version
    if conversion is not None:
        origin = {
            "eksterntSystem": ORIGIN_MARKS[conversion.purpose],
            "eksternID": derived_from(conversion.source_sha256),
        }
        line = version.recipe_line
        yield Entity(f"{version.key}#x", "EksternId", origin, version.key, "refDokumentversjon", recipe_line=line)
