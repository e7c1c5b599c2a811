"""Reads the events and agents of PREMIS, whatever its version: 3, 2, and the one of DIAS. Objects are left to others.

What is only known within its own document (identifiers of the type `local`) is named after that document, so that it
stays itself in another package.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from xml.parsers.expat import XMLParserType

from noarkit.errors import PackageFault
from noarkit.forms.eark.read.xml_reader import XmlReader, read_items
from noarkit.forms.metadata.model import MOST_EVENTS, Event, EventAgent, History, Identifier
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
_ITEM_NAMES = ("event", "agent")
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
    items = read_items(source, where, lambda parser: _HistoryReader(parser, where, package))
    for item in items:
        if isinstance(item, EventAgent):
            agents.append(item)
        elif len(events) < MOST_EVENTS:
            events.append(item)
        else:
            return History(tuple(events), tuple(agents), 1 + sum(isinstance(later, Event) for later in items))
    return History(tuple(events), tuple(agents[:MOST_EVENTS]))


@dataclass(slots=True)
class _PremisItem:
    """An event or agent that is being read: its texts by the names of their elements, in order."""

    kind: str
    texts: list[tuple[str, str]] = field(default_factory=list)

    def first(self, name: str) -> str:
        return next((text for key, text in self.texts if key == name), "")

    def all(self, name: str) -> list[str]:
        return [text for key, text in self.texts if key == name]

    def pairs(self, first: str, second: str) -> list[tuple[str, str]]:
        """Texts of the second name with the text of the first that stands before each."""
        pairs, first_text = [], ""
        for name, text in self.texts:
            if name == first:
                first_text = text
            elif name == second:
                pairs.append((first_text, text))
                first_text = ""
        return pairs


class _HistoryReader(XmlReader[Event | EventAgent]):
    """The state between two elements."""

    def __init__(self, parser: XMLParserType, where: str, package: str) -> None:
        super().__init__(parser, where, _MAX_DEPTH)
        self._package = package
        self._own = (_UUID.search(package.lower()) or [package.lower()])[0]
        self._depth = 0
        self._item: _PremisItem | None = None

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        self._depth += 1
        self._check_depth(self._depth)
        space, _, local = name.rpartition(" ")
        if self._depth == 1 and (local != "premis" or space not in NAMESPACES):
            raise PackageFault(where=self._where, why="eark-not-premis")
        if self._depth == 2 and local in _ITEM_NAMES:
            self._item = _PremisItem(local)
        elif self._item is not None and local in _TEXTS:
            self._text = []

    def end(self, name: str) -> None:
        """It ends."""
        self._depth -= 1
        local = name.rpartition(" ")[2]
        if self._item is None:
            return
        if self._text is not None and local in _TEXTS:
            self._item.texts.append((local, "".join(self._text).strip()))
            self._text = None
        elif self._depth == 1:
            self._items.append(self._event(self._item) if self._item.kind == "event" else self._agent(self._item))
            self._item = None

    def _event(self, item: _PremisItem) -> Event:
        kind, detail = item.first("eventType"), "\n".join(item.all("eventDetail"))
        bracketed = BRACKETED.fullmatch(detail)
        if bracketed is not None and kind == "Adjustment":
            kind, detail = bracketed[1], bracketed[2]
        return Event(
            self._qualified(next(iter(item.pairs("eventIdentifierType", "eventIdentifierValue")), ("", ""))),
            kind,
            item.first("eventDateTime"),
            detail,
            _outcomes(item),
            tuple(map(self._qualified, item.pairs("linkingAgentIdentifierType", "linkingAgentIdentifierValue"))),
            tuple(map(self._qualified, item.pairs("linkingObjectIdentifierType", "linkingObjectIdentifierValue"))),
        )

    def _agent(self, item: _PremisItem) -> EventAgent:
        return EventAgent(
            self._qualified(next(iter(item.pairs("agentIdentifierType", "agentIdentifierValue")), ("", ""))),
            item.first("agentName"),
            item.first("agentType"),
            item.first("agentVersion"),
        )

    def _qualified(self, identifier: Identifier) -> Identifier:
        """What names the same thing outside of its package, too."""
        kind, value = identifier
        if kind.casefold() not in LOCAL or (self._own and self._own in value.lower()):
            return identifier
        return (QUALIFIED, f"{self._package}/{value}")


def _outcomes(item: _PremisItem) -> tuple[tuple[str, str], ...]:
    """Each outcome with its note; a note may stand without an outcome."""
    outcomes: list[tuple[str, str]] = []
    for name, text in item.texts:
        if name == "eventOutcome":
            outcomes.append((text, ""))
        elif name == "eventOutcomeDetailNote":
            if outcomes and not outcomes[-1][1]:
                outcomes[-1] = (outcomes[-1][0], text)
            else:
                outcomes.append(("", text))
    return tuple(outcomes)
