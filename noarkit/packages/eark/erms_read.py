"""Reads an ERMS document (CITS ERMS 2.1, 3.0) by events: its aggregations and records one by one, parents first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Literal, cast
from xml.parsers.expat import XMLParserType

from noarkit.errors import PackageFault
from noarkit.packages.eark import spec
from noarkit.packages.eark.reading import Reading, found_in
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

    `ids` are further identifiers by their kind, `rest` is everything that is told in no other field: path and value.
    """

    kind: Literal["aggregation", "record"]
    place: tuple[int, ...]
    id: str
    type: str
    parent: Unit | None
    told: dict[str, str] = field(default_factory=dict)
    dates: dict[str, str] = field(default_factory=dict)
    keywords: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    agents: list[dict[str, str]] = field(default_factory=list)
    appendices: list[tuple[str, str]] = field(default_factory=list)
    restrictions: list[dict[str, str]] = field(default_factory=list)
    ids: list[tuple[str, str]] = field(default_factory=list)
    rest: list[tuple[str, str]] = field(default_factory=list)
    children: int = 0
    given: bool = False


def is_erms(source: Readable, where: str) -> bool:
    """Whether a file is an ERMS document; its first element says so. Raises `PackageFault`, `UnsafeXml` before that."""
    parser = event_parser(where)
    first: list[str] = []

    def begun(name: str, told: dict[str, str]) -> None:
        if not first:
            first.append(name)

    parser.StartElementHandler = begun
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
    return found_in(source, where, lambda parser: _Reading(parser, where))


def _is_root(name: str) -> bool:
    space, _, local = name.rpartition(" ")
    return local == "erms" and space.lower() == spec.ERMS.lower()


class _Reading(Reading[Unit]):
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

    def start(self, name: str, told: dict[str, str]) -> None:
        """An element begins."""
        self._judge(len(self._path) + 1)
        local = name.rpartition(" ")[2]
        self._path.append(local)
        self._attributes.append(told)
        self._texts.clear()
        if local in _UNITS and self._within_units():
            self._begin(local, told)
        elif self._open:
            self._inside(local, told)

    def _within_units(self) -> bool:
        above = self._path[-2] if len(self._path) > 1 else ""
        return above in ("aggregations", "records", "aggregation", "erms")

    def _begin(self, local: str, told: dict[str, str]) -> None:
        parent = self._open[-1] if self._open else None
        if parent is None:
            self._top += 1
            place: tuple[int, ...] = (self._top,)
        else:
            parent.children += 1
            place = (*parent.place, parent.children)
            self._give(parent)
        kind: Literal["aggregation", "record"] = "record" if local == "record" else "aggregation"
        type_ = told.get("aggregationType") or told.get("recordType", "")
        self._open.append(Unit(kind, place, told.get("systemIdentifier", ""), type_, parent))
        self._tops.append(len(self._path))
        self._keep_attributes(local, told)

    def _inside(self, local: str, told: dict[str, str]) -> None:
        unit = self._open[-1]
        if local == "appendix" and told.get("path"):
            unit.appendices.append((told["path"], told.get("name", "")))
        elif local == "status" and self._path[-2] in _UNITS:
            unit.told["status"] = told.get("value", "")
        elif local == "direction" and self._path[-2] in _UNITS:
            unit.told["direction"] = told.get("directionDefinition", "")
        elif local == "agent":
            unit.agents.append({"type": told.get("otherAgentType") or told.get("agentType", "")})
            if self._below()[:-1] != ("agents",):
                unit.agents[-1]["of"] = "/".join(self._below()[:-1])
        elif local == "restriction" and self._path[-2] in _UNITS:
            unit.restrictions.append({"type": told.get("otherRestrictionType") or told.get("restrictionType", "")})
        self._keep_attributes(local, told)

    def _below(self) -> tuple[str, ...]:
        """The open elements below the unit."""
        return tuple(self._path[self._tops[-1] :])

    def _keep_attributes(self, local: str, told: dict[str, str]) -> None:
        taken = _TAKEN.get(local, frozenset())
        if local == "classification" and "fullyQualifiedClassificationCode" in told:
            taken -= {"classificationCode"}
        for name, value in told.items():
            if value.strip() and name not in taken and not name.startswith(_XSI):
                self._open[-1].rest.append(("/".join((*self._below(), f"@{name}")), value.strip()))

    def end(self, name: str) -> None:
        """It ends."""
        local = self._path.pop()
        told = self._attributes.pop()
        if not self._open:
            return
        above = self._path[-1] if self._path else ""
        if local in _UNITS and above in ("aggregations", "records", "aggregation", "erms"):
            self._tops.pop()
            self._give(self._open.pop())
            return
        text = " ".join("".join(self._texts).split())
        if text and not self._keep(self._open[-1], (above, local), told, text):
            self._open[-1].rest.append(("/".join((*self._below(), local)), text))
        self._texts.clear()

    def data(self, text: str) -> None:
        """Some of its text."""
        if self._open:
            self._texts.append(text)

    def _keep(self, unit: Unit, where: tuple[str, str], told: dict[str, str], text: str) -> bool:
        """Takes a text where it has a field of its own; False where it has none, or has it already."""
        above, local = where
        below = self._below()
        if unit.restrictions and below[:1] == ("restriction",):
            kind = told.get("otherDateType") or told.get("dateType") or local
            return _set(unit.restrictions[-1], kind, text)
        if unit.agents and "agent" in below:
            return local in _AGENT_TEXTS and _set(unit.agents[-1], local, text)
        if where == ("keywords", "keyword"):
            unit.keywords.append(text)
        elif where == ("dates", "date") and below == ("dates",):
            kind = told.get("otherDateType") or told.get("dateType", "date")
            unit.dates.setdefault(told.get("dateType", "date"), text)
            return unit.dates.setdefault(kind, text) == text
        elif where == ("notes", "note"):
            unit.notes.append(text)
        elif above in _UNITS and local in ("extraId", "identification"):
            unit.ids.append((told.get("extraIdType") or told.get("identificationType") or local, text))
        elif above in _UNITS and local == "classification":
            code = told.get("fullyQualifiedClassificationCode") or told.get("classificationCode", "")
            return _set(unit.told, "class_title", text) and (not code or _set(unit.told, "class_code", code))
        else:
            return above in _UNITS and local in _PLAIN and _set(unit.told, local, text)
        return True

    def _give(self, unit: Unit) -> None:
        if not unit.given:
            unit.given = True
            self._found.append(unit)


def _set(fields: dict[str, str], name: str, text: str) -> bool:
    """Sets a field that is not set yet; False where it is, to something else."""
    return fields.setdefault(name, text) == text
