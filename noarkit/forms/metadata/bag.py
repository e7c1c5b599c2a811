"""What bag-info.txt says of a bag and its content, as metadata for all forms, and back.

The labels that BagIt reserves say what they mean for any reader; those of ours name each element. Of a party the label
of its name comes first, and what follows belongs to it until the next name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from noarkit.forms.metadata.eark import parties_of
from noarkit.forms.metadata.model import Agent, PackageMetadata, Party, Person, System

IDENTIFIER = "External-Identifier"
OWN_LABELS = frozenset(
    {"payload-oxum", "bagging-date", "bag-software-agent", "bag-size", "bag-count", "bag-group-identifier"}
)
"""What a bag says of itself as a bag; a bag that is made from it says it anew."""
_SINGLE: Mapping[str, str] = MappingProxyType(
    {
        "Package-Type": "package_type",
        "Title": "label",
        "External-Description": "description",
        "Content-Category": "category",
        "Other-Content-Category": "other_category",
        "Content-Information-Type": "content_type",
        "Other-Content-Information-Type": "other_content_type",
        "Record-Status": "record_status",
        "Submission-Agreement": "agreement",
        "Reference-Code": "reference_code",
        "Delivery-Type": "delivery_type",
        "Project-Name": "project",
        "Package-Number": "package_number",
        "Start-Date": "start",
        "End-Date": "end",
    }
)
_MANY: Mapping[str, str] = MappingProxyType(
    {
        "Derived-From": "derived_from",
        "Previous-Submission-Agreement": "previous_agreements",
        "Previous-Reference-Code": "previous_reference_codes",
    }
)
_PARTIES: Mapping[str, str] = MappingProxyType(
    {
        "Archivist": "creator",
        "Submitter": "submitter",
        "Producer": "producer",
        "Owner": "owner",
        "Packer": "packer",
        "Recipient": "recipient",
    }
)
_OF_ROLE = MappingProxyType({role: word for word, role in _PARTIES.items()})
_SYSTEMS: Mapping[str, str] = MappingProxyType({"Source-System": "system", "Archive-System": "archive_system"})
_RECORD, _AGENT, _NOTE = "Alternative-Identifier", "Other-Agent", "Other-Agent-Note"
_RESERVED = frozenset({"Source-Organization", "Contact-Name", "Contact-Phone", "Contact-Email"})
_KNOWN = _RESERVED | _SINGLE.keys() | _MANY.keys() | {IDENTIFIER, _RECORD, _AGENT, _NOTE}
_GROUPS = tuple(f"{word}-" for word in (*_PARTIES, *_SYSTEMS))
_STROKE = " | "


def metadata_of_bag(info: Iterable[tuple[str, str]]) -> PackageMetadata:
    """What the entries of bag-info.txt say; a label that nobody knows is a record identifier of that type."""
    reader = _BagInfoReader()
    for label, value in info:
        if value and label.casefold() not in OWN_LABELS:
            reader.take(label, value)
    return reader.metadata()


class _BagInfoReader:
    """Entries that are read one after the other."""

    def __init__(self) -> None:
        self._fields: dict[str, str] = {}
        self._many: dict[str, tuple[str, ...]] = {}
        self._parties: dict[str, list[Party]] = {}
        self._systems: dict[str, System] = {}
        self._agents: list[Agent] = []
        self._more: list[tuple[str, str]] = []
        self._reserved: dict[str, str] = {}

    def take(self, label: str, value: str) -> None:
        """One entry; labels mean the same in capitals and small letters."""
        spelt = "-".join(word.capitalize() for word in label.split("-"))
        label = spelt if spelt in _KNOWN or spelt.startswith(_GROUPS) else label
        word, _, last = label.partition("-")
        system = next((name for name in _SYSTEMS if label.startswith(f"{name}-")), "")
        if label == IDENTIFIER and "identifier" not in self._fields:
            self._fields["identifier"] = value
        elif label in _SINGLE and _SINGLE[label] not in self._fields:
            self._fields[_SINGLE[label]] = value
        elif label in _MANY:
            self._many[_MANY[label]] = (*self._many.get(_MANY[label], ()), value)
        elif word in _PARTIES and self._take_party(_PARTIES[word], last, value):
            return
        elif system:
            self._take_system(_SYSTEMS[system], label.removeprefix(f"{system}-"), value)
        elif label in _RESERVED and label not in self._reserved:
            self._reserved[label] = value
        else:
            self._take_other(label, value)

    def _take_party(self, role: str, what: str, value: str) -> bool:
        bodies = self._parties.setdefault(role, [])
        if what == "Name" or not bodies:
            bodies.append(Party(value if what == "Name" and value != "-" else ""))
            if what == "Name":
                return True
        body = bodies[-1]
        if what == "Identification":
            body = replace(body, identification=value)
        elif what == "Note":
            body = replace(body, notes=(*body.notes, value))
        elif what == "Type":
            body = replace(body, individual=value == "INDIVIDUAL")
        elif what == "Contact-Name":
            body = replace(body, people=(*body.people, Person(value)))
        elif what.startswith("Contact-") and body.people:
            field = what.removeprefix("Contact-").lower()
            if field not in ("address", "phone", "email"):
                return False
            body = replace(body, people=(*body.people[:-1], replace(body.people[-1], **{field: value})))
        else:
            return False
        bodies[-1] = body
        return True

    def _take_system(self, field: str, what: str, value: str) -> None:
        fields = {"Name": "name", "Version": "version", "Type": "type", "Type-Version": "type_version"}
        if what in fields:
            self._systems[field] = replace(self._systems.get(field, System("", "", "")), **{fields[what]: value})

    def _take_other(self, label: str, value: str) -> None:
        if label == _AGENT:
            role, other_role, kind, other_kind, name = (*value.split(_STROKE, 4), "", "", "", "")[:5]
            role, kind, name, other_role, other_kind = (
                "" if part == "-" else part for part in (role, kind, name, other_role, other_kind)
            )
            self._agents.append(Agent(role, kind, name, other_role, other_kind))
        elif label == _NOTE and self._agents:
            kind, _, text = value.partition(_STROKE)
            notes = (*self._agents[-1].notes, (text, kind.strip("-")))
            self._agents[-1] = replace(self._agents[-1], notes=notes)
        elif label == _RECORD:
            kind, _, text = value.partition(" ")
            self._more.append((kind, text))
        else:
            self._more.append((label, value))

    def metadata(self) -> PackageMetadata:
        """All of it. What the reserved labels say counts where none of ours says it."""
        parties = self._parties
        source = self._reserved.get("Source-Organization", "")
        if source and not parties.get("submitter") and not parties.get("creator"):
            parties["submitter"] = [Party(source, people=self._contact())]
        result = PackageMetadata(
            creators=tuple(parties.get("creator", ())),
            submitter=next(iter(parties.get("submitter", ())), None),
            producer=next(iter(parties.get("producer", ())), None),
            owners=tuple(parties.get("owner", ())),
            packer=next(iter(parties.get("packer", ())), None),
            recipient=next(iter(parties.get("recipient", ())), None),
            system=self._systems.get("system"),
            archive_system=self._systems.get("archive_system"),
            other_agents=tuple(self._agents),
            more=tuple(self._more),
        )
        return replace(result, **self._fields, **self._many)  # type: ignore[arg-type]  # fields by name

    def _contact(self) -> tuple[Person, ...]:
        name = self._reserved.get("Contact-Name", "")
        phone, email = self._reserved.get("Contact-Phone", ""), self._reserved.get("Contact-Email", "")
        return (Person(name, "", phone, email),) if name else ()


def bag_info(metadata: PackageMetadata) -> tuple[tuple[str, str], ...]:
    """The entries of bag-info.txt, but those that a bag says of itself."""
    return tuple((label, value) for label, value in _entries(metadata) if value.strip())


def _entries(metadata: PackageMetadata) -> Iterator[tuple[str, str]]:
    yield from _reserved(metadata)
    yield from ((label, str(getattr(metadata, field))) for label, field in _SINGLE.items())
    for label, field in _MANY.items():
        yield from ((label, value) for value in getattr(metadata, field))
    for role, party in parties_of(metadata):
        yield from _party(_OF_ROLE[role], party)
    for word, system in (("Source-System", metadata.system), ("Archive-System", metadata.archive_system)):
        if system is not None:
            yield f"{word}-Name", system.name
            yield f"{word}-Version", system.version
            yield f"{word}-Type", system.type
            yield f"{word}-Type-Version", system.type_version
    for agent in metadata.other_agents:
        parts = (agent.role, agent.other_role, agent.type, agent.other_type, agent.name)
        yield _AGENT, _STROKE.join(part or "-" for part in parts)
        yield from ((_NOTE, f"{kind or '-'}{_STROKE}{text}") for text, kind in agent.notes)
    yield from map(_record, metadata.more)


def _record(record: tuple[str, str]) -> tuple[str, str]:
    """A record identifier; one that came from a bag's own label gets it back."""
    kind, value = record
    plain = kind != kind.upper() and ":" not in kind and kind == "-".join(kind.split())
    return (kind, value) if plain else (_RECORD, f"{'-'.join(kind.split()) or '-'} {value}")


def _reserved(metadata: PackageMetadata) -> Iterator[tuple[str, str]]:
    """What any reader of bags knows: who sends it, and whom to ask."""
    sender = metadata.submitter or next(iter(metadata.creators), None)
    if sender is not None:
        yield "Source-Organization", sender.name
        for person in sender.people[:1]:
            yield from (("Contact-Name", person.name), ("Contact-Phone", person.phone), ("Contact-Email", person.email))


def _party(word: str, party: Party) -> Iterator[tuple[str, str]]:
    yield f"{word}-Name", party.name or "-"
    yield f"{word}-Identification", party.identification
    yield f"{word}-Type", "INDIVIDUAL" if party.individual else ""
    yield from ((f"{word}-Note", note) for note in party.notes)
    for person in party.people:
        yield f"{word}-Contact-Name", person.name or "-"
        yield f"{word}-Contact-Address", person.address
        yield f"{word}-Contact-Phone", person.phone
        yield f"{word}-Contact-Email", person.email
