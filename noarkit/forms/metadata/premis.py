"""Reads the events and agents of PREMIS, whatever its version: 3, 2, and the one of DIAS. Objects are left to others.

What is only known within its own document (identifiers of the type `local`) is named after that document, so that it
stays itself in another package.
"""

from __future__ import annotations

import re

from noarkit.forms.metadata.model import MOST_EVENTS, Event, EventAgent, History, Identifier
from noarkit.forms.metadata.premis_entities import EVERY_NAMESPACE, PremisEntity, read_entities
from noarkit.safe.digest import Readable

LOCAL = frozenset({"local", "no/ra", ""})
QUALIFIED = "within package"
BRACKETED = re.compile(r"\[([^\]]+)\] ?(.*)", re.DOTALL)
"""How DIAS-PREMIS tells an event of a type that is none of its six: the type in brackets, then the detail."""

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def read_history(source: Readable, where: str, package: str) -> History:
    """The events and agents of a PREMIS document of the package (or part of one) that `package` names.

    Raises `PackageFault` for what is no PREMIS, and `UnsafeXml`.
    """
    history = _HistoryReader(package)
    events: list[Event] = []
    agents: list[EventAgent] = []
    untold = 0
    for entity in read_entities(source, where, EVERY_NAMESPACE):
        if entity.kind == "agent" and not untold:
            agents.append(history.agent(entity))
        elif entity.kind == "event" and len(events) < MOST_EVENTS:
            events.append(history.event(entity))
        elif entity.kind == "event":
            untold += 1
    return History(tuple(events), tuple(agents[:MOST_EVENTS]), untold)


class _HistoryReader:
    """Makes events and agents of the entities of one package."""

    def __init__(self, package: str) -> None:
        self._package = package
        self._own = (_UUID.search(package.lower()) or [package.lower()])[0]

    def event(self, item: PremisEntity) -> Event:
        """An event, with its outcomes and what it names."""
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

    def agent(self, item: PremisEntity) -> EventAgent:
        """An agent."""
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


def _outcomes(item: PremisEntity) -> tuple[tuple[str, str], ...]:
    """Each outcome with its note; a note may stand without an outcome."""
    outcomes: list[tuple[str, str]] = []
    for name, text in item.ordered:
        if name == "eventOutcome":
            outcomes.append((text, ""))
        elif name == "eventOutcomeDetailNote":
            if outcomes and not outcomes[-1][1]:
                outcomes[-1] = (outcomes[-1][0], text)
            else:
                outcomes.append(("", text))
    return tuple(outcomes)
