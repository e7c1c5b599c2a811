"""What the METS of a DIAS package says of the package, as metadata for all forms, and as an order for a new one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

from noarkit.forms.dias.spec import RECORD_STATUSES, RecordStatus
from noarkit.forms.dias.write.order import DEFAULT_SYSTEM, NOT_STATED, DiasOrder
from noarkit.forms.metadata.facts import read_facts
from noarkit.forms.metadata.mets_facts import MetsHeader
from noarkit.forms.metadata.model import (
    Agent,
    PackageMetadata,
    Party,
    Person,
    System,
    detail_kind,
    person_of,
    stated_name,
)
from noarkit.forms.metadata.records import CONTENT, STATUS, with_records

_KEYS = "notescontent:"
_ROLES = {
    ("ARCHIVIST", ""): "creator",
    ("OTHER", "SUBMITTER"): "submitter",
    ("OTHER", "PRODUCER"): "producer",
    ("IPOWNER", ""): "owner",
    ("CREATOR", ""): "packer",
    ("PRESERVATION", ""): "recipient",
}
_MANY = ("creator", "owner")


def metadata_of_dias(header: MetsHeader) -> PackageMetadata:
    """What the METS of a package says of it."""
    parties: dict[str, list[Party]] = {}
    systems: dict[str, System] = {}
    other_agents: list[Agent] = []
    for agent in header.agents:
        role = _ROLES.get((agent.role, agent.other_role), "")
        if agent.other_type == "SOFTWARE" and role in ("creator", "producer"):
            systems.setdefault(role, _system(agent))
        elif agent.other_type == "SOFTWARE" and role:
            continue  # which packed it, and did not pack the new one
        elif not role or not _add_party(parties.setdefault(role, []), role, agent):
            notes = tuple(note for note in agent.notes if not note[0].startswith(_KEYS))
            other_agents.append(replace(agent, notes=notes))
    metadata = PackageMetadata(
        identifier=header.object_id,
        package_type=header.type,
        label=header.label,
        record_status=header.record_status,
        created=header.created,
        creators=tuple(parties.get("creator", ())),
        submitter=next(iter(parties.get("submitter", ())), None),
        producer=next(iter(parties.get("producer", ())), None),
        owners=tuple(parties.get("owner", ())),
        packer=next(iter(parties.get("packer", ())), None),
        recipient=next(iter(parties.get("recipient", ())), None),
        system=_named_system(systems.get("creator")),
        archive_system=_named_system(systems.get("producer")),
        other_agents=tuple(other_agents),
    )
    metadata = with_records(metadata, header.records)
    return replace(metadata, description="") if metadata.description == metadata.label else metadata


def _add_party(bodies: list[Party], role: str, agent: Agent) -> bool:
    """True if an agent is a party, or one of its people, or names nobody."""
    if agent.type == "INDIVIDUAL" and bodies:
        bodies[-1] = replace(bodies[-1], people=(*bodies[-1].people, _person(agent)))
        return True
    if bodies and role not in _MANY:
        return False
    if stated_name(agent.name):
        bodies.append(_party(agent))
    return True


def _notes(agent: Agent) -> tuple[dict[str, str], list[str]]:
    """Notes by what a last one says they are, and those it says nothing of."""
    notes = [note for note in agent.texts if not note.startswith(_KEYS)]
    keys = next((note for note in agent.texts if note.startswith(_KEYS)), _KEYS).removeprefix(_KEYS).split(",")
    note_by_key = {key.strip(): note for key, note in zip(keys, notes, strict=False) if key.strip()}
    return note_by_key, notes[len(note_by_key) :]


def _party(agent: Agent) -> Party:
    note_by_key, loose = _notes(agent)
    code = note_by_key.pop("Identification", "")
    if not code and not note_by_key and loose and _is_code(loose[0]):
        code = loose.pop(0)
    individual = agent.type == "INDIVIDUAL"
    return Party(agent.name, code, notes=(*note_by_key.values(), *loose), individual=individual)


def _is_code(text: str) -> bool:
    """True for a note that is an organisation's number."""
    bare = text.replace(" ", "")
    return bare.isdecimal() and len(bare) == 9


def _person(agent: Agent) -> Person:
    note_by_key, loose = _notes(agent)
    person = Person(
        agent.name, note_by_key.get("Address", ""), note_by_key.get("Telephone", ""), note_by_key.get("Email", "")
    )
    more = person_of(agent.name, tuple(loose))
    return Person(person.name, person.address or more.address, person.phone or more.phone, person.email or more.email)


def _system(agent: Agent) -> System:
    note_by_key, loose = _notes(agent)
    version = note_by_key.get("Version", "") or next((note for note in loose if detail_kind(note) != "email"), "")
    return System(agent.name, version, note_by_key.get("Type", ""), note_by_key.get("TypeVersion", ""))


def _named_system(system: System | None) -> System | None:
    return system if system is not None and stated_name(system.name) else None


def read_order(path: Path | None, **overrides: object) -> DiasOrder:
    """The order that a `package.toml` asks for, with a default for what it does not say, and fields that it cannot say.

    Raises `ConfigFault` with the line of what cannot be used.
    """
    facts = read_facts(path).metadata
    system = facts.system
    if system is not None:
        system = replace(system, name=system.name or DEFAULT_SYSTEM.name, type=system.type or DEFAULT_SYSTEM.type)
    order = dias_order(replace(facts, system=system), DiasOrder())
    return replace(order, **overrides)  # type: ignore[arg-type]  # fields by name, as replace takes them


def dias_order(metadata: PackageMetadata, order: DiasOrder) -> DiasOrder:
    """The order with what the metadata says; what it does not say stays as it is there."""
    start, start_text = _day(metadata.start)
    end, end_text = _day(metadata.end)
    content = [(kind, str(getattr(metadata, field))) for kind, field in CONTENT.items()]
    odd = [("STARTDATE", start_text), ("ENDDATE", end_text), *_odd_status(metadata.record_status)]
    return replace(
        order,
        label=metadata.label or order.label,
        description=metadata.description or order.description,
        record_status=_status(metadata.record_status) or order.record_status,
        agreement=metadata.agreement or order.agreement,
        previous_agreements=metadata.previous_agreements,
        delivery_type=metadata.delivery_type or order.delivery_type,
        project=metadata.project or order.project,
        package_number=metadata.package_number or order.package_number,
        reference_code=metadata.reference_code or order.reference_code,
        previous_reference_codes=metadata.previous_reference_codes,
        creators=metadata.creators or order.creators,
        submitter=_named_party(metadata.submitter) or order.submitter,
        producer=_named_party(metadata.producer) or order.producer,
        owners=metadata.owners or order.owners,
        packer=_named_party(metadata.packer) or order.packer,
        recipient=_named_party(metadata.recipient) or order.recipient,
        system=_with_system_name(metadata.system) or order.system,
        archive_system=_with_system_name(metadata.archive_system) or order.archive_system,
        start=start or order.start,
        end=end or order.end,
        derived_from=metadata.derived_from,
        records=tuple(pair for pair in (*content, *odd, *metadata.more) if pair[1]),
        agents=metadata.other_agents,
        history=metadata.history,
    )


def _named_party(party: Party | None) -> Party | None:
    """A party whose name is known, or its people are."""
    return party if party is not None and (party.name or party.people) else None


def _with_system_name(system: System | None) -> System | None:
    return replace(system, name=system.name or NOT_STATED) if system is not None else None


def _status(text: str) -> RecordStatus | None:
    """What a package may say of its status; a DELETE of E-ARK is another one here."""
    return next((status for status in RECORD_STATUSES if status == text), "OTHER" if text else None)


def _odd_status(status: str) -> Iterator[tuple[str, str]]:
    if status and status not in RECORD_STATUSES:
        yield STATUS, status


def _day(text: str) -> tuple[date | None, str]:
    """A day; a text that is none is handed back."""
    try:
        return (date.fromisoformat(text[:10]), "") if text else (None, "")
    except ValueError:
        return None, text
