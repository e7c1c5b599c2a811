"""What the METS of an E-ARK package says of the package, as metadata for all forms, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from noarkit.forms.eark import spec
from noarkit.forms.metadata.mets_facts import MetsHeader
from noarkit.forms.metadata.model import (
    Agent,
    PackageMetadata,
    PartFacts,
    Party,
    Person,
    System,
    person_of,
    stated_name,
)
from noarkit.forms.metadata.records import system_records, with_records

IDENTIFICATION = "IDENTIFICATIONCODE"
VERSION = "SOFTWARE VERSION"
SOURCE_SYSTEM, ARCHIVE_SYSTEM = "SOURCESYSTEM", "ARCHIVESYSTEM"
_PERSON_OF = {"ARCHIVIST-CONTACT": "creator", "PRODUCER-CONTACT": "producer", "IPOWNER-CONTACT": "owner"} | {
    "PACKER-CONTACT": "packer",
    "PRESERVATION-CONTACT": "recipient",
}
_CONTACT = {role: other for other, role in _PERSON_OF.items()} | {"submitter": "SUBMITTER"}
_ROLES = {
    "creator": ("ARCHIVIST", ""),
    "submitter": ("CREATOR", ""),
    "producer": ("OTHER", "PRODUCER"),
    "owner": ("IPOWNER", ""),
    "packer": ("OTHER", "PACKER"),
    "recipient": ("PRESERVATION", ""),
}
_CONTENT_TYPE_ALIASES = {"CITS_SIARD": "citssiard_v1_0"}


def metadata_of_eark(root: MetsHeader, parts: Iterable[PartFacts] = ()) -> PackageMetadata:
    """What the METS of a package says of it."""
    sorted_agents = _Agents()
    for agent in root.agents:
        sorted_agents.take(agent)
    metadata = PackageMetadata(
        identifier=root.object_id,
        package_type=root.package_type,
        label=root.label,
        category=root.type,
        other_category=root.other_type,
        content_type=root.content_type,
        other_content_type=root.other_content_type,
        parts=tuple(parts),
        record_status=root.record_status,
        created=root.created,
        creators=tuple(sorted_agents.parties("creator")),
        submitter=next(sorted_agents.parties("submitter"), None),
        producer=next(sorted_agents.parties("producer"), None),
        owners=tuple(sorted_agents.parties("owner")),
        packer=next(sorted_agents.parties("packer"), None),
        recipient=next(sorted_agents.parties("recipient"), None),
        system=sorted_agents.systems.get(SOURCE_SYSTEM),
        archive_system=sorted_agents.systems.get(ARCHIVE_SYSTEM),
        other_agents=tuple(sorted_agents.others),
    )
    return with_records(metadata, root.records)


class _Agents:
    """The agents of a METS, sorted into parties, systems and others. Of a role that one alone has, the first counts."""

    def __init__(self) -> None:
        self._bodies: dict[str, list[Party]] = {}
        self._people: dict[str, list[Person]] = {}
        self.systems: dict[str, System] = {}
        self.others: list[Agent] = []

    def take(self, agent: Agent) -> None:
        role = _role_of(agent)
        if agent.other_type.upper() == "SOFTWARE":
            self._take_software(agent)
        elif agent.type == "INDIVIDUAL" and role in _CONTACT and role != "creator":
            self._people.setdefault(role, []).append(person_of(agent.name, agent.texts))
        elif agent.other_role.upper() in _PERSON_OF:
            self._people.setdefault(_PERSON_OF[agent.other_role.upper()], []).append(person_of(agent.name, agent.texts))
        elif role and (role in ("creator", "owner") or role not in self._bodies):
            if stated_name(agent.name):
                self._bodies.setdefault(role, []).append(_party(agent))
        else:
            self.others.append(agent)

    def _take_software(self, agent: Agent) -> None:
        if agent.other_role.upper() in (SOURCE_SYSTEM, ARCHIVE_SYSTEM):
            version = next(iter(agent.texts), "")
            self.systems[agent.other_role.upper()] = System(agent.name, version, "")
        elif agent.role != "CREATOR":  # which packed it, and did not pack the new one
            self.others.append(agent)

    def parties(self, role: str) -> Iterator[Party]:
        """Those of a role; its people belong to the first."""
        people = tuple(self._people.get(role, ()))
        bodies = self._bodies.get(role) or ([Party("")] if people else [])
        for number, body in enumerate(bodies):
            yield replace(body, people=people) if number == 0 else body


def _role_of(agent: Agent) -> str:
    """The role of a party; empty for any other agent."""
    other_role = agent.other_role.upper()
    if agent.role == "CREATOR" or other_role.startswith(("SUBMIT", "CONTACT")):
        return "submitter"
    return next((role for role, mets_role in _ROLES.items() if mets_role == (agent.role, other_role)), "")


def _party(agent: Agent) -> Party:
    notes = list(agent.notes)
    # the only note of a body is its code, whether it says so or not
    coded = next((note for note in notes if note[1] == IDENTIFICATION), notes[0] if len(notes) == 1 else None)
    code = coded[0] if coded is not None else ""
    if coded is not None:
        notes.remove(coded)
    return Party(
        agent.name, code, notes=tuple(text for text, _ in notes if text), individual=agent.type == "INDIVIDUAL"
    )


def eark_agents(metadata: PackageMetadata) -> Iterator[Agent]:
    """The agents of a package, beside the software that makes it."""
    for role, party in parties_of(metadata):
        yield from _party_agents(role, party)
    for kind, system in ((SOURCE_SYSTEM, metadata.system), (ARCHIVE_SYSTEM, metadata.archive_system)):
        if system is not None and system.name:
            notes = ((system.version, VERSION),) if system.version else ()
            yield Agent("OTHER", "OTHER", system.name, kind, "SOFTWARE", notes)
    for agent in metadata.other_agents:
        if agent.role in spec.AGENT_ROLES:
            kind = agent.type if agent.type in spec.AGENT_TYPES else "OTHER"
            yield replace(agent, type=kind)


def parties_of(metadata: PackageMetadata) -> Iterator[tuple[str, Party]]:
    """Every party with its role."""
    yield from (("creator", party) for party in metadata.creators)
    for role in ("submitter", "producer"):
        party = metadata.submitter if role == "submitter" else metadata.producer
        if party is not None:
            yield role, party
    yield from (("owner", party) for party in metadata.owners)
    if metadata.packer is not None:
        yield "packer", metadata.packer
    if metadata.recipient is not None:
        yield "recipient", metadata.recipient


def _party_agents(role: str, party: Party) -> Iterator[Agent]:
    main, other_role = _ROLES[role]
    notes = ((party.identification, IDENTIFICATION),) if party.identification else ()
    if party.name:
        kind = "INDIVIDUAL" if party.individual and role == "creator" else "ORGANIZATION"
        yield Agent(main, kind, party.name, other_role, notes=(*notes, *((note, "") for note in party.notes)))
    for person in party.people:
        details = tuple((text, IDENTIFICATION) for text in (person.address, person.phone, person.email) if text)
        # no second CREATOR: the reference validator takes only one beside the software
        yield Agent("OTHER", "INDIVIDUAL", person.name, _CONTACT[role], notes=details)


def eark_records(metadata: PackageMetadata) -> Iterator[tuple[str, str]]:
    """Record identifiers beside agreements and reference codes, which an order has fields for."""
    records = (
        ("DELIVERYSPECIFICATION", metadata.description),
        ("DELIVERYTYPE", metadata.delivery_type),
        ("PROJECTNAME", metadata.project),
        ("PACKAGENUMBER", metadata.package_number),
        ("STARTDATE", metadata.start),
        ("ENDDATE", metadata.end),
        *system_records(metadata.system),
        *metadata.more,
    )
    return ((kind, value) for kind, value in records if value)


def content_type_of(content_type: str, other_type: str) -> tuple[str, str]:
    """A content information type that a package may name, with the other one: what no vocabulary has is OTHER."""
    known_type = _CONTENT_TYPE_ALIASES.get(content_type, content_type)
    if known_type not in spec.CONTENT_TYPES:
        return ("OTHER", other_type or known_type) if known_type else ("", "")
    return known_type, other_type if known_type == "OTHER" or known_type in spec.SIARD_TYPES else ""
