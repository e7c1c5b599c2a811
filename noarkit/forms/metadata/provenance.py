"""What a new package tells of its making: from which packages, in what step, and whether the source was checked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import NAMESPACE_URL, UUID, uuid5

from noarkit.forms.metadata.model import Event, EventAgent, History, Identifier

SOFTWARE = "noarkit"
MIGRATION, FIXITY = "migration", "fixity check"
UUID_TYPE, OBJECT_TYPE = "UUID", "package"
UNKNOWN_TIME = "UNKNOWN/UNKNOWN"
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?)?")
# forms of dates that every version of PREMIS takes besides
_SHORT_TIME = re.compile(r"\d{4}(?:-\d\d)?|\d{8}T\d{6}")


@dataclass(frozen=True, slots=True)
class Conversion:
    """How a package came from another: the form of the source, and what was found when it was checked before.

    `checked` is empty if nobody checked it, else a text with the outcome as its first word.
    """

    source_form: str
    target_form: str
    checked: str = ""


def software_agent(version: str) -> EventAgent:
    """The program that made the package."""
    return EventAgent((SOFTWARE, f"{SOFTWARE} {version}"), SOFTWARE, "software", version)


def event_identifier(package: str, name: str) -> Identifier:
    """What names an event of a package everywhere; the same each time it is asked for."""
    match = _UUID.search(package)
    space = UUID(match.group()) if match else uuid5(NAMESPACE_URL, package)
    return UUID_TYPE, str(uuid5(space, name))


def conversion_events(
    conversion: Conversion | None, package: str, when: str, sources: tuple[str, ...], agent: EventAgent
) -> Iterator[Event]:
    """The fixity check of the source and the migration, as events of the new package."""
    if conversion is None:
        return
    objects = tuple((OBJECT_TYPE, source) for source in sources)
    if conversion.checked:
        outcome, _, note = conversion.checked.partition(" ")
        detail = "checksums of the source package were compared with its files"
        identifier = event_identifier(package, FIXITY)
        yield Event(identifier, FIXITY, when, detail, ((outcome, note),), (agent.identifier,), objects)
    detail = f"{conversion.source_form} to {conversion.target_form}"
    if sources:
        detail += f", from {', '.join(sources)}"
    yield Event(
        event_identifier(package, MIGRATION),
        MIGRATION,
        when,
        f"{detail}, by {SOFTWARE} {agent.version}",
        (("success", ""),),
        (agent.identifier,),
        (*objects, (OBJECT_TYPE, package)),
    )


def agents_of(history: History, *own: EventAgent) -> tuple[EventAgent, ...]:
    """Everybody that an event names; who is named alone gets an entry, too."""
    agent_by_id = {agent.identifier: agent for agent in (*history.agents, *own)}
    for event in history.events:
        for identifier in event.agents:
            agent_by_id.setdefault(identifier, EventAgent(identifier, identifier[1]))
    return tuple(agent_by_id.values())


def with_valid_time(event: Event) -> Event:
    """The event with a time that every PREMIS takes; one that is none goes into its detail."""
    if (_TIME.fullmatch(event.when) and _is_time(event.when)) or _SHORT_TIME.fullmatch(event.when):
        return event
    detail = f"{event.detail} (time as told: {event.when})".strip() if event.when else event.detail
    return replace(event, when=UNKNOWN_TIME, detail=detail)


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
