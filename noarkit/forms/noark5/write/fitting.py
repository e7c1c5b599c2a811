"""What of an original has a place in the form that is written: the right element, and a value that it may hold."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime

from noarkit.forms.noark5.read.original import Original
from noarkit.forms.noark5.read.structure import UUID
from noarkit.forms.noark5.spec import WRITTEN_VERSION
from noarkit.model.mapping import mapping
from noarkit.model.xml_model import Element, xml_model

_DATE = re.compile(r"-?\d{4,}-\d\d-\d\d(?:Z|[+-]\d\d:\d\d)?")
_MOMENT = re.compile(r"-?\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?")
_INTEGER = re.compile(r"[+-]?\d+")


def fits(type_name: str, original: Original) -> bool:
    """True if the group of a type can hold an element; of a group that the type fills itself, what is told here."""
    groups, type_map = xml_model(WRITTEN_VERSION).structure.groups, mapping().types[type_name]
    group = groups.get(type_map.group or "")
    element = None if group is None else group.element(original.name)
    if element is None:
        return False
    inner = groups.get(element.group or "")
    of_ours = {field.path.split("/")[0] for field in type_map.fields.values() if field.path and "/" in field.path}
    if inner is None or original.name not in of_ours:
        return is_valid(original, element)
    pairs = ((child, inner.element(child.name)) for child in original.within)
    return all(place is not None and is_valid(child, place) for child, place in pairs)


def is_valid(original: Original, element: Element) -> bool:
    """True if an element holds what the form lets it hold."""
    if element.kind == "any":
        return True
    group = xml_model(WRITTEN_VERSION).structure.groups.get(element.group or "")
    if group is None:
        return not original.within and _is_value(original.text, element)
    by_name: dict[str, int] = {}
    for inner in original.within:
        child = group.element(inner.name)
        if child is None or not is_valid(inner, child):
            return False
        by_name[inner.name] = by_name.get(inner.name, 0) + 1
    places = [[child.name for child in group.elements].index(inner.name) for inner in original.within]
    original.within = [
        inner for _, inner in sorted(zip(places, original.within, strict=True), key=lambda pair: pair[0])
    ]
    return all(
        child.least <= by_name.get(child.name, 0) and (child.most is None or by_name.get(child.name, 0) <= child.most)
        for child in group.elements
    )


def _is_value(text: str, element: Element) -> bool:
    value = text.strip()
    match element.kind:
        case "string":
            return True
        case "text":
            return bool(text)
        case "code":
            return text in element.codes
        case "uuid" | "labelled-uuid":
            return UUID.fullmatch(value) is not None
        case "date":
            return _is_date(value)
        case "dateTime":
            return _is_moment(value)
        case "moment":
            return _is_date(value) or _is_moment(value)
        case "integer":
            return _INTEGER.fullmatch(value) is not None
        case "size":
            return _INTEGER.fullmatch(value) is not None and not value.startswith("-")
        case _:
            return False


def _is_date(value: str) -> bool:
    return _DATE.fullmatch(value) is not None and _exists(value[:10], date.fromisoformat)


def _is_moment(value: str) -> bool:
    return _MOMENT.fullmatch(value) is not None and _exists(value[:19], datetime.fromisoformat)


def _exists(value: str, read: Callable[[str], object]) -> bool:
    try:
        read(value)
    except ValueError:
        return False
    return True
