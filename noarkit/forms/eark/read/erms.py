"""Reads an ERMS document (CITS ERMS 2.1, 3.0) by events: its aggregations and records one by one, parents first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Literal, cast
from xml.parsers.expat import XMLParserType

from noarkit.errors import PackageFault
from noarkit.forms.eark import spec
from noarkit.forms.eark.read.xml_reader import XmlReader, read_items
from noarkit.safe.digest import Readable
from noarkit.safe.sax import event_parser, feed

_MAX_DEPTH = 200
_PLAIN = frozenset({"objectId", "title", "description", "runningNumber", "subject", "levelName"})
_UNITS = ("aggregation", "record")
_AGENT_TEXTS = frozenset({"name", "role", "organisation", "unitName", "idNumber", "addressLine", "contactLine"})
# attributes that are taken where their elements begin
_TAKEN = {
    "aggregation": frozenset({"systemIdentifier", "aggregationType"}),
    "record": frozenset({"systemIdentifier", "recordType"}),
    "status": frozenset({"value"}),
    "direction": frozenset({"directionDefinition"}),
    "appendix": frozenset({"path", "name"}),
    "restriction": frozenset({"restrictionType", "otherRestrictionType"}),
    "agent": frozenset({"agentType", "otherAgentType"}),
    "classification": frozenset({"fullyQualifiedClassificationCode", "classificationCode"}),
    "date": frozenset({"dateType", "otherDateType"}),
    "extraId": frozenset({"extraIdType"}),
    "identification": frozenset({"identificationType"}),
}
_XSI = "http://www.w3.org/2001/XMLSchema-instance "


@dataclass(slots=True)
class Unit:
    """An aggregation or record. `place` numbers it from the top; `appendices` are paths with names.

    `ids` are further identifiers by their kind, `extras` are all that is in no other field: path and value.
    """

    kind: Literal["aggregation", "record"]
    place: tuple[int, ...]
    id: str
    type: str
    parent: Unit | None
    texts: dict[str, str] = field(default_factory=dict)
    dates: dict[str, str] = field(default_factory=dict)
    keywords: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    agents: list[dict[str, str]] = field(default_factory=list)
    appendices: list[tuple[str, str]] = field(default_factory=list)
    restrictions: list[dict[str, str]] = field(default_factory=list)
    ids: list[tuple[str, str]] = field(default_factory=list)
    extras: list[tuple[str, str]] = field(default_factory=list)
    children: int = 0
    emitted: bool = False


def is_erms(source: Readable, where: str) -> bool:
    """Whether a file is an ERMS document; its first element says so. Raises `PackageFault`, `UnsafeXml` before that."""
    parser = event_parser(where)
    first: list[str] = []

    def on_start(name: str, attributes: dict[str, str]) -> None:
        if not first:
            first.append(name)

    parser.StartElementHandler = on_start
    try:
        for _ in feed(parser, cast(BinaryIO, source), where):  # only read() is asked
            if first:
                break
    except PackageFault:
        if not first:
            raise
    return bool(first) and _is_root(first[0])


def read_erms(source: Readable, where: str) -> Iterator[Unit]:
    """Every unit once, with all that is told of it before its children. Raises `PackageFault`, `UnsafeXml`."""
    return read_items(source, where, lambda parser: _ErmsReader(parser, where))


def _is_root(name: str) -> bool:
    space, _, local = name.rpartition(" ")
    return local == "erms" and space.lower() == spec.ERMS.lower()


class _ErmsReader(XmlReader[Unit]):
    """The state between two events."""

    def __init__(self, parser: XMLParserType, where: str) -> None:
        super().__init__(parser, where, _MAX_DEPTH)
        self._path: list[str] = []
        self._open: list[Unit] = []
        self._tops: list[int] = []
        self._top = 0
        self._texts: list[str] = []
        self._text = self._texts
        self._attributes: list[dict[str, str]] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        self._check_depth(len(self._path) + 1)
        local = name.rpartition(" ")[2]
        self._path.append(local)
        self._attributes.append(attributes)
        self._texts.clear()
        if local in _UNITS and self._within_units():
            self._begin(local, attributes)
        elif self._open:
            self._read_inside(local, attributes)

    def _within_units(self) -> bool:
        above = self._path[-2] if len(self._path) > 1 else ""
        return above in ("aggregations", "records", "aggregation", "erms")

    def _begin(self, local: str, attributes: dict[str, str]) -> None:
        parent = self._open[-1] if self._open else None
        if parent is None:
            self._top += 1
            place: tuple[int, ...] = (self._top,)
        else:
            parent.children += 1
            place = (*parent.place, parent.children)
            self._emit(parent)
        kind: Literal["aggregation", "record"] = "record" if local == "record" else "aggregation"
        type_ = attributes.get("aggregationType") or attributes.get("recordType", "")
        self._open.append(Unit(kind, place, attributes.get("systemIdentifier", ""), type_, parent))
        self._tops.append(len(self._path))
        self._keep_attributes(local, attributes)

    def _read_inside(self, local: str, attributes: dict[str, str]) -> None:
        unit = self._open[-1]
        if local == "appendix" and attributes.get("path"):
            unit.appendices.append((attributes["path"], attributes.get("name", "")))
        elif local == "status" and self._path[-2] in _UNITS:
            unit.texts["status"] = attributes.get("value", "")
        elif local == "direction" and self._path[-2] in _UNITS:
            unit.texts["direction"] = attributes.get("directionDefinition", "")
        elif local == "agent":
            unit.agents.append({"type": attributes.get("otherAgentType") or attributes.get("agentType", "")})
            if self._below()[:-1] != ("agents",):
                unit.agents[-1]["of"] = "/".join(self._below()[:-1])
        elif local == "restriction" and self._path[-2] in _UNITS:
            unit.restrictions.append(
                {"type": attributes.get("otherRestrictionType") or attributes.get("restrictionType", "")}
            )
        self._keep_attributes(local, attributes)

    def _below(self) -> tuple[str, ...]:
        """The open elements below the unit."""
        return tuple(self._path[self._tops[-1] :])

    def _keep_attributes(self, local: str, attributes: dict[str, str]) -> None:
        known_attributes = _TAKEN.get(local, frozenset())
        if local == "classification" and "fullyQualifiedClassificationCode" in attributes:
            known_attributes -= {"classificationCode"}
        for name, value in attributes.items():
            if value.strip() and name not in known_attributes and not name.startswith(_XSI):
                self._open[-1].extras.append(("/".join((*self._below(), f"@{name}")), value.strip()))

    def end(self, name: str) -> None:
        """It ends."""
        local = self._path.pop()
        attributes = self._attributes.pop()
        if not self._open:
            return
        above = self._path[-1] if self._path else ""
        if local in _UNITS and above in ("aggregations", "records", "aggregation", "erms"):
            self._tops.pop()
            self._emit(self._open.pop())
            return
        text = " ".join("".join(self._texts).split())
        if text and not self._keep(self._open[-1], (above, local), attributes, text):
            self._open[-1].extras.append(("/".join((*self._below(), local)), text))
        self._texts.clear()

    def data(self, text: str) -> None:
        """Some of its text."""
        if self._open:
            self._texts.append(text)

    def _keep(self, unit: Unit, where: tuple[str, str], attributes: dict[str, str], text: str) -> bool:
        """Takes a text where it has a field of its own; False if it has none, or has it already."""
        above, local = where
        below = self._below()
        if unit.restrictions and below[:1] == ("restriction",):
            kind = attributes.get("otherDateType") or attributes.get("dateType") or local
            return _set(unit.restrictions[-1], kind, text)
        if unit.agents and "agent" in below:
            return local in _AGENT_TEXTS and _set(unit.agents[-1], local, text)
        if where == ("keywords", "keyword"):
            unit.keywords.append(text)
        elif where == ("dates", "date") and below == ("dates",):
            kind = attributes.get("otherDateType") or attributes.get("dateType", "date")
            unit.dates.setdefault(attributes.get("dateType", "date"), text)
            return unit.dates.setdefault(kind, text) == text
        elif where == ("notes", "note"):
            unit.notes.append(text)
        elif above in _UNITS and local in ("extraId", "identification"):
            unit.ids.append((attributes.get("extraIdType") or attributes.get("identificationType") or local, text))
        elif above in _UNITS and local == "classification":
            code = attributes.get("fullyQualifiedClassificationCode") or attributes.get("classificationCode", "")
            return _set(unit.texts, "class_title", text) and (not code or _set(unit.texts, "class_code", code))
        else:
            return above in _UNITS and local in _PLAIN and _set(unit.texts, local, text)
        return True

    def _emit(self, unit: Unit) -> None:
        if not unit.emitted:
            unit.emitted = True
            self._items.append(unit)


def _set(fields: dict[str, str], name: str, text: str) -> bool:
    """Sets a field that is not set yet; False if it is, to something else."""
    return fields.setdefault(name, text) == text
