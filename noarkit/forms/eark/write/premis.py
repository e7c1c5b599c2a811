"""PREMIS 3 of a package and of its representations, written row by row: what was packed, by what, and what was done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from noarkit.forms.eark import spec
from noarkit.forms.eark.schemas import PREMIS_XSD
from noarkit.forms.eark.write.listing import PackageFile
from noarkit.forms.eark.write.markup import href
from noarkit.forms.eark.write.order import NO_HISTORY, SOFTWARE
from noarkit.forms.metadata.derivations import (
    DERIVATION,
    HAS_SOURCE,
    IS_SOURCE_OF,
    Derivations,
    Relation,
    derivation_agents,
    derivation_events,
)
from noarkit.forms.metadata.file_facts import PRONOM
from noarkit.forms.metadata.model import Event, EventAgent, History, Identifier
from noarkit.forms.metadata.provenance import (
    MIGRATION,
    OBJECT_TYPE,
    Conversion,
    agents_of,
    conversion_events,
    event_identifier,
    software_agent,
    with_valid_time,
)
from noarkit.safe.xml_text import escape_attribute

_BATCH = 250
_ID_TYPE = "local"


@dataclass(frozen=True, slots=True)
class PremisHeading:
    """Of what a PREMIS document tells: its subject by id and kind, its `parts`, and what it is itself `part_of`.

    `history` is what was done before, and by whom; `sources` are the packages that the subject was made from.
    `derivations` tell of files below the path `base` in the package that are copies of others; `made_of` and
    `made_into` are what the subject as a whole has copies of, and copies in.
    """

    subject: str
    kind: str
    created: str
    version: str
    above: str
    history: History = NO_HISTORY
    parts: tuple[str, ...] = ()
    part_of: str = ""
    sources: tuple[str, ...] = ()
    conversion: Conversion | None = None
    derivations: Derivations | None = None
    base: str = ""
    made_of: tuple[str, ...] = ()
    made_into: tuple[str, ...] = ()

    @property
    def package(self) -> str:
        """The package that all of this is in."""
        return self.part_of or self.subject


def premis(heading: PremisHeading, files: Iterable[PackageFile], checksum: str, prefix: str) -> Iterator[bytes]:
    """A whole PREMIS document: the subject, its files with checksum, size and format, events, and the program."""
    place = f"{spec.PREMIS} {heading.above}schemas/{PREMIS_XSD}"
    yield (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<premis xmlns="{spec.PREMIS}" xmlns:xsi="{spec.XSI}"'
        f' xsi:schemaLocation="{place}" version="3.0">\n'
    ).encode()
    yield _subject(heading).encode()
    batch: list[str] = []
    number = 0
    for number, file in enumerate(files, 1):
        batch.append(_file(file, file_id(prefix, number), checksum, _relations(heading, file.name)))
        if len(batch) >= _BATCH:
            yield "".join(batch).encode()
            batch.clear()
    yield "".join(batch).encode()
    agent = software_agent(heading.version)
    converted = conversion_events(heading.conversion, heading.subject, heading.created, heading.sources, agent)
    own = (*converted, _own_event(heading, number if heading.part_of else 0, agent))
    for event in (*heading.history.events, *own):
        yield _event(with_valid_time(event), heading.subject).encode()
    makers: dict[Identifier, EventAgent] = {}
    if heading.derivations is not None:
        for derivation in heading.derivations.all(heading.base):
            makers.update((maker.identifier, maker) for maker in derivation_agents(derivation.conversion))
            events = derivation_events(heading.package, _ID_TYPE, derivation)
            yield "".join(_event(with_valid_time(event), heading.subject) for event in events).encode()
    agents = agents_of(heading.history, agent, *makers.values())
    yield ("".join(map(_agent, agents)) + "</premis>\n").encode()


def file_id(prefix: str, number: int) -> str:
    """What a PREMIS document calls its files, in their order."""
    return f"{prefix}file-{number}"


def _relations(heading: PremisHeading, name: str) -> str:
    """What a file is a copy of, and which copies there are of it."""
    if heading.derivations is None:
        return ""
    relations = heading.derivations.relations(heading.package, f"{heading.base}{name}")
    return "".join(_derived(relation) for relation in relations)


def _own_event(heading: PremisHeading, files: int, agent: EventAgent) -> Event:
    """What this program did."""
    kind, detail = ("message digest calculation", f"{files} files")
    if not files:
        kind, detail = "information package creation", f"{SOFTWARE} {heading.version}"
    identifier = event_identifier(heading.package, f"{heading.subject} {kind}")
    subject = ((_ID_TYPE, heading.subject),)
    return Event(identifier, kind, heading.created, detail, (("success", ""),), (agent.identifier,), subject)


def _subject(heading: PremisHeading) -> str:
    related = "".join(_related("has part", part) for part in heading.parts)
    related += _related("is part of", heading.part_of) if heading.part_of else ""
    own = event_identifier(heading.subject, MIGRATION) if heading.conversion is not None else None
    related += "".join(_from_package(source, own) for source in heading.sources)
    related += "".join(_related(HAS_SOURCE, part, DERIVATION) for part in heading.made_of)
    related += "".join(_related(IS_SOURCE_OF, part, DERIVATION) for part in heading.made_into)
    for event in heading.history.events:
        if MIGRATION in event.type.lower() and event.objects:
            related += _from_package(event.objects[0][1], event.identifier)
    return f'<object xsi:type="{heading.kind}">{_identifier("object", heading.subject)}{related}</object>\n'


def _related(relationship: str, object_id: str, kind: str = "structural") -> str:
    return (
        f"<relationship><relationshipType>{kind}</relationshipType>"
        f"<relationshipSubType>{relationship}</relationshipSubType><relatedObjectIdentifier>"
        f"<relatedObjectIdentifierType>{_ID_TYPE}</relatedObjectIdentifierType>"
        f"<relatedObjectIdentifierValue>{escape_attribute(object_id)}</relatedObjectIdentifierValue>"
        "</relatedObjectIdentifier></relationship>"
    )


def _derived(relation: Relation) -> str:
    """A file that another was made of, or that was made of another, and in which event."""
    return (
        f"<relationship><relationshipType>{DERIVATION}</relationshipType>"
        f"<relationshipSubType>{relation.subtype}</relationshipSubType>"
        f"{_identifier('relatedObject', relation.object_id)}"
        f"{_identifier('relatedEvent', relation.event[1], relation.event[0])}</relationship>"
    )


def _from_package(source: str, event: Identifier | None) -> str:
    """A package that this one was made from, and in which event."""
    in_event = _identifier("relatedEvent", event[1], event[0]) if event is not None else ""
    return (
        "<relationship><relationshipType>derivation</relationshipType>"
        "<relationshipSubType>has source</relationshipSubType>"
        f"{_identifier('relatedObject', source, OBJECT_TYPE)}{in_event}</relationship>"
    )


def _identifier(of: str, value: str, kind: str = _ID_TYPE) -> str:
    return (
        f"<{of}Identifier><{of}IdentifierType>{escape_attribute(kind or 'unknown')}</{of}IdentifierType>"
        f"<{of}IdentifierValue>{escape_attribute(value)}</{of}IdentifierValue></{of}Identifier>"
    )


def _file(file: PackageFile, identifier: str, checksum: str, relations: str) -> str:
    version = f"<formatVersion>{escape_attribute(file.format_version)}</formatVersion>" if file.format_version else ""
    registry = (
        f"<formatRegistry><formatRegistryName>{PRONOM}</formatRegistryName>"
        f"<formatRegistryKey>{escape_attribute(file.puid)}</formatRegistryKey></formatRegistry>"
        if file.puid
        else ""
    )
    return (
        f'<object xsi:type="file"><objectIdentifier><objectIdentifierType>{_ID_TYPE}</objectIdentifierType>'
        f"<objectIdentifierValue>{identifier}</objectIdentifierValue></objectIdentifier><objectCharacteristics>"
        f"<fixity><messageDigestAlgorithm>{checksum}</messageDigestAlgorithm>"
        f"<messageDigest>{file.digest}</messageDigest></fixity><size>{file.size_bytes}</size>"
        f"<format><formatDesignation><formatName>{escape_attribute(file.format_name or file.media_type)}</formatName>"
        f"{version}"
        f"</formatDesignation>{registry}</format></objectCharacteristics>"
        f"<originalName>{escape_attribute(file.original_name or file.name)}</originalName>"
        f"<storage><contentLocation><contentLocationType>URI</contentLocationType>"
        f"<contentLocationValue>{href(file.name)}</contentLocationValue></contentLocation></storage>{relations}</object>\n"
    )


def _event(event: Event, subject: str) -> str:
    detail = (
        f"<eventDetailInformation><eventDetail>{escape_attribute(event.detail)}</eventDetail></eventDetailInformation>"
        if event.detail
        else ""
    )
    kind, value = event.identifier
    objects = event.objects or ((_ID_TYPE, subject),)
    return (
        f"<event>{_identifier('event', value, kind)}<eventType>{escape_attribute(event.type)}</eventType>"
        f"<eventDateTime>{escape_attribute(event.when)}</eventDateTime>{detail}{''.join(map(_outcome, event.outcomes))}"
        + "".join(_identifier("linkingAgent", value, kind) for kind, value in event.agents)
        + "".join(map(_linked, objects, (*event.roles, *("" for _ in objects))))
        + "</event>\n"
    )


def _linked(linked: Identifier, role: str) -> str:
    """An object of an event, with the part that it had."""
    link = _identifier("linkingObject", linked[1], linked[0])
    end = "</linkingObjectIdentifier>"
    return f"{link.removesuffix(end)}<linkingObjectRole>{role}</linkingObjectRole>{end}" if role else link


def _outcome(outcome: tuple[str, str]) -> str:
    result, note = outcome
    content = f"<eventOutcome>{escape_attribute(result)}</eventOutcome>" if result else ""
    if note:
        note_element = f"<eventOutcomeDetailNote>{escape_attribute(note)}</eventOutcomeDetailNote>"
        content += f"<eventOutcomeDetail>{note_element}</eventOutcomeDetail>"
    return f"<eventOutcomeInformation>{content}</eventOutcomeInformation>" if content else ""


def _agent(agent: EventAgent) -> str:
    kind, value = agent.identifier
    elements = (("agentName", agent.name), ("agentType", agent.type), ("agentVersion", agent.version))
    lines = "".join(f"<{name}>{escape_attribute(text)}</{name}>" for name, text in elements if text)
    return f"<agent>{_identifier('agent', value, kind)}{lines}</agent>\n"
