"""Reads the events and agents of PREMIS, whatever its version: 3, 2, and the one of DIAS. Objects are left to others.

What is only known within its own document (identifiers of the type `local`) is named after that document, so that it
stays itself in another package.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from xml.parsers.expat import XMLParserType

from noarkit.errors import PackageFault
from noarkit.packages.eark.reading import Reading, found_in
from noarkit.packages.metadata.model import MOST_EVENTS, Event, EventAgent, History, Identifier
from noarkit.safe.digest import Readable

NAMESPACES = (
    "http://www.loc.gov/premis/v3",
    "info:lc/xmlns/premis-v2",
    "http://arkivverket.no/standarder/PREMIS",
)
LOCAL = frozenset({"local", "no/ra", ""})
QUALIFIED = "within package"
BRACKETED = re.compile(r"\[([^\]]+)\] ?(.*)", re.DOTALL)
"""How DIAS-PREMIS tells an event of a type that is none of its six: the type in brackets, then the detail."""

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_MAX_DEPTH = 100
_THINGS = ("event", "agent")
_TEXTS = frozenset(
    {
        *("eventIdentifierType", "eventIdentifierValue", "eventType", "eventDateTime", "eventDetail"),
        *("eventOutcome", "eventOutcomeDetailNote"),
        *("linkingAgentIdentifierType", "linkingAgentIdentifierValue"),
        *("linkingObjectIdentifierType", "linkingObjectIdentifierValue"),
        *("agentIdentifierType", "agentIdentifierValue", "agentName", "agentType", "agentVersion"),
    }
)


def read_history(source: Readable, where: str, package: str) -> History:
    """The events and agents of a PREMIS document of the package (or part of one) that `package` names.

    Raises `PackageFault` for what is no PREMIS, and `UnsafeXml`.
    """
    events: list[Event] = []
    agents: list[EventAgent] = []
    found = found_in(source, where, lambda parser: _Reading(parser, where, package))
    for one in found:
        if isinstance(one, EventAgent):
            agents.append(one)
        elif len(events) < MOST_EVENTS:
            events.append(one)
        else:
            return History(tuple(events), tuple(agents), 1 + sum(isinstance(later, Event) for later in found))
    return History(tuple(events), tuple(agents[:MOST_EVENTS]))


@dataclass(slots=True)
class _Thing:
    """An event or agent that is being read: its texts by the names of their elements, in order."""

    kind: str
    texts: list[tuple[str, str]] = field(default_factory=list)

    def first(self, name: str) -> str:
        return next((text for key, text in self.texts if key == name), "")

    def all(self, name: str) -> list[str]:
        return [text for key, text in self.texts if key == name]

    def pairs(self, first: str, second: str) -> list[tuple[str, str]]:
        """Texts of the second name with the text of the first that stands before each."""
        pairs, held = [], ""
        for name, text in self.texts:
            if name == first:
                held = text
            elif name == second:
                pairs.append((held, text))
                held = ""
        return pairs


class _Reading(Reading[Event | EventAgent]):
    """The state between two elements."""

    def __init__(self, parser: XMLParserType, where: str, package: str) -> None:
        super().__init__(parser, where, _MAX_DEPTH)
        self._package = package
        self._own = (_UUID.search(package.lower()) or [package.lower()])[0]
        self._depth = 0
        self._thing: _Thing | None = None

    def start(self, name: str, told: dict[str, str]) -> None:
        """An element begins."""
        self._depth += 1
        self._judge(self._depth)
        space, _, local = name.rpartition(" ")
        if self._depth == 1 and (local != "premis" or space not in NAMESPACES):
            raise PackageFault(where=self._where, why="eark-not-premis")
        if self._depth == 2 and local in _THINGS:
            self._thing = _Thing(local)
        elif self._thing is not None and local in _TEXTS:
            self._text = []

    def end(self, name: str) -> None:
        """It ends."""
        self._depth -= 1
        local = name.rpartition(" ")[2]
        if self._thing is None:
            return
        if self._text is not None and local in _TEXTS:
            self._thing.texts.append((local, "".join(self._text).strip()))
            self._text = None
        elif self._depth == 1:
            self._found.append(self._event(self._thing) if self._thing.kind == "event" else self._agent(self._thing))
            self._thing = None

    def _event(self, thing: _Thing) -> Event:
        kind, detail = thing.first("eventType"), "\n".join(thing.all("eventDetail"))
        bracketed = BRACKETED.fullmatch(detail)
        if bracketed is not None and kind == "Adjustment":
            kind, detail = bracketed[1], bracketed[2]
        return Event(
            self._named(next(iter(thing.pairs("eventIdentifierType", "eventIdentifierValue")), ("", ""))),
            kind,
            thing.first("eventDateTime"),
            detail,
            _outcomes(thing),
            tuple(map(self._named, thing.pairs("linkingAgentIdentifierType", "linkingAgentIdentifierValue"))),
            tuple(map(self._named, thing.pairs("linkingObjectIdentifierType", "linkingObjectIdentifierValue"))),
        )

    def _agent(self, thing: _Thing) -> EventAgent:
        return EventAgent(
            self._named(next(iter(thing.pairs("agentIdentifierType", "agentIdentifierValue")), ("", ""))),
            thing.first("agentName"),
            thing.first("agentType"),
            thing.first("agentVersion"),
        )

    def _named(self, identifier: Identifier) -> Identifier:
        """What names the same thing outside of its package, too."""
        kind, value = identifier
        if kind.casefold() not in LOCAL or (self._own and self._own in value.lower()):
            return identifier
        return (QUALIFIED, f"{self._package}/{value}")


def _outcomes(thing: _Thing) -> tuple[tuple[str, str], ...]:
    """Each outcome with its note; a note may stand without an outcome."""
    outcomes: list[tuple[str, str]] = []
    for name, text in thing.texts:
        if name == "eventOutcome":
            outcomes.append((text, ""))
        elif name == "eventOutcomeDetailNote":
            if outcomes and not outcomes[-1][1]:
                outcomes[-1] = (outcomes[-1][0], text)
            else:
                outcomes.append(("", text))
    return tuple(outcomes)
