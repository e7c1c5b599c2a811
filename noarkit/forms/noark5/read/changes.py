"""Reads endringslogg.xml as a stream of changes, in constant memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lxml import etree

from noarkit.forms.noark5.nodes import LocalNames, exact_texts, text, to_node
from noarkit.forms.noark5.write.placeholders import NO_CHANGES
from noarkit.safe import xml


class ReadChange(NamedTuple):
    """One change as the log tells it: of which unit and element, when, by whom, from what to what."""

    unit: str
    element: str
    at: str
    actor: str
    old: str
    new: str


def read_changes(path: Path) -> Iterator[ReadChange]:
    """The changes that name a unit, an element and a time, in the order of the file. Raises PackageFault, UnsafeXml."""
    names = LocalNames()
    namespace = _namespace(path)
    tag = f"{{{namespace}}}endring" if namespace else "endring"
    for event, element in xml.stream(path, tags=(tag,)):
        if event == "end":
            node = to_node(element, names)
            xml.free_element(element)
            unit, field_name, at = (
                text(node, name) for name in ("referanseArkivenhet", "referanseMetadata", "endretDato")
            )
            if unit and field_name and at:
                details = ((exact_texts(node, name) or [""])[0] for name in ("endretAv", "tidligereVerdi", "nyVerdi"))
                change = ReadChange(unit, field_name, at, *details)
                if change.actor != NO_CHANGES:  # it says that there is none
                    yield change


def _namespace(path: Path) -> str:
    for _, root in xml.stream(path, ("start",)):
        return etree.QName(root).namespace or ""
    return ""
