"""The metadata of a package in one shape for all forms: who, what, under which agreement, and what was done to it.

Everything is optional; an empty value was not stated. Values are kept as they were written.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

MOST_EVENTS = 10_000
"""So many events of a source are written into a new package's own metadata; its documents go along whole anyway."""
NOT_STATED = frozenset({"", "not stated", "ikke oppgitt"})
"""What stands where a form asks for a name that nobody knows."""


@dataclass(frozen=True, slots=True)
class Person:
    """Someone to ask."""

    name: str
    address: str = ""
    phone: str = ""
    email: str = ""


@dataclass(frozen=True, slots=True)
class Party:
    """A body that has a part in the delivery, and its people. `notes` are what else was said of it."""

    name: str
    identification: str = ""
    people: tuple[Person, ...] = ()
    notes: tuple[str, ...] = ()
    individual: bool = False


@dataclass(frozen=True, slots=True)
class System:
    """A system that the records come from."""

    name: str = "Noark 5"
    version: str = ""
    type: str = "Noark 5"
    type_version: str = ""


@dataclass(frozen=True, slots=True)
class Agent:
    """Someone, or something, that a package names. `notes` are texts with their note type, which may be empty."""

    role: str
    type: str
    name: str
    other_role: str = ""
    other_type: str = ""
    notes: tuple[tuple[str, str], ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of its notes."""
        return tuple(text for text, _ in self.notes)


Identifier = tuple[str, str]
"""The type of an identifier, and its value."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that was done: a PREMIS event. `when` is text as it was written, `outcomes` are results with notes.

    `roles` say in order what part each of the `objects` had in it, where that is told."""

    identifier: Identifier
    type: str
    when: str
    detail: str = ""
    outcomes: tuple[tuple[str, str], ...] = ()
    agents: tuple[Identifier, ...] = ()
    objects: tuple[Identifier, ...] = ()
    roles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EventAgent:
    """Who or what did it: a PREMIS agent."""

    identifier: Identifier
    name: str = ""
    type: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class History:
    """What was done to the records: events, and those who did it. `omitted` counts those that were too many to be
    listed here."""

    events: tuple[Event, ...] = ()
    agents: tuple[EventAgent, ...] = ()
    omitted: int = 0

    def merge(self, later: History) -> History:
        """Both, in order; what stands in both is taken once, and more than `MOST_EVENTS` are counted."""
        events = tuple({event.identifier: event for event in (*self.events, *later.events)}.values())
        agents = tuple({agent.identifier: agent for agent in (*self.agents, *later.agents)}.values())
        omitted = self.omitted + later.omitted + max(0, len(events) - MOST_EVENTS)
        return History(events[:MOST_EVENTS], agents, omitted)


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What a package says of one file beside its checksum. `created` is a moment as it was written."""

    created: str = ""
    media_type: str = ""
    puid: str = ""
    format_name: str = ""
    format_version: str = ""
    original_name: str = ""


@dataclass(frozen=True, slots=True)
class PartFacts:
    """What a package says of one of its representations; `kind` is ORIGINAL, ACCESS …"""

    name: str
    label: str = ""
    category: str = ""
    content_type: str = ""
    other_content_type: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class PackageMetadata:
    """What a package says of itself.

    `identifier` is its own, `derived_from` those of the packages it was made from. `more` are record
    identifiers of types that have no field here; `other_agents` those in other roles.
    """

    identifier: str = ""
    derived_from: tuple[str, ...] = ()
    package_type: str = ""
    label: str = ""
    description: str = ""
    category: str = ""
    other_category: str = ""
    content_type: str = ""
    other_content_type: str = ""
    parts: tuple[PartFacts, ...] = ()
    record_status: str = ""
    created: str = ""
    agreement: str = ""
    previous_agreements: tuple[str, ...] = ()
    reference_code: str = ""
    previous_reference_codes: tuple[str, ...] = ()
    delivery_type: str = ""
    project: str = ""
    package_number: str = ""
    start: str = ""
    end: str = ""
    creators: tuple[Party, ...] = ()
    submitter: Party | None = None
    producer: Party | None = None
    owners: tuple[Party, ...] = ()
    packer: Party | None = None
    recipient: Party | None = None
    system: System | None = None
    archive_system: System | None = None
    other_agents: tuple[Agent, ...] = ()
    more: tuple[tuple[str, str], ...] = ()
    history: History = History()

    @property
    def names_parties(self) -> bool:
        """True if it says who made the records, or who submits them."""
        return bool(self.creators or self.submitter)

    def fill_from(self, fallback: PackageMetadata) -> PackageMetadata:
        """The same, with what is empty here taken from `fallback`."""
        empty = {field.name: getattr(fallback, field.name) for field in fields(self) if not getattr(self, field.name)}
        history = self.history.merge(fallback.history)
        return replace(self, **{**empty, "history": history})


def stated_name(name: str) -> str:
    """A name; empty if it only says that none was stated.

    >>> stated_name("Ikke oppgitt"), stated_name("Vik kommune")
    ('', 'Vik kommune')
    """
    return "" if name.strip().casefold() in NOT_STATED else name.strip()


def detail_kind(text: str) -> str:
    """Whether a loose note on a person is an `email`, a `phone` or an `address`.

    >>> detail_kind("a@vik.no"), detail_kind("+47 57 69 50 00"), detail_kind("Box 1, 6891 Vik")
    ('email', 'phone', 'address')
    """
    if "@" in text and " " not in text:
        return "email"
    return "phone" if text.strip("+").replace(" ", "").replace("-", "").isdecimal() else "address"


def person_of(name: str, details: tuple[str, ...]) -> Person:
    """Someone to ask, from loose notes."""
    kinds: dict[str, str] = {}
    for text in details:
        kind = detail_kind(text)
        kinds[kind] = f"{kinds[kind]}, {text}" if kind in kinds else text
    return Person(name, kinds.get("address", ""), kinds.get("phone", ""), kinds.get("email", ""))
