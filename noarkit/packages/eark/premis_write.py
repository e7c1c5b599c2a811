"""PREMIS 3 of a package and of its representations, written row by row: what was packed, by what, and what was done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from noarkit.packages.eark import spec
from noarkit.packages.eark.listing import Packed
from noarkit.packages.eark.markup import escaped, href
from noarkit.packages.eark.order import NO_HISTORY, SOFTWARE
from noarkit.packages.eark.schemas import PREMIS_XSD
from noarkit.packages.metadata.model import Event, EventAgent, History, Identifier
from noarkit.packages.metadata.provenance import (
    MIGRATION,
    OBJECT_TYPE,
    Conversion,
    agents_of,
    conversion_events,
    dated,
    event_identifier,
    software_agent,
)

_BATCH = 250
_ID_TYPE = "local"


@dataclass(frozen=True, slots=True)
class Told:
    """Of what a PREMIS document tells: its subject by id and kind, its `parts`, and the `whole` it is part of.

    `history` is what was done before, and by whom; `sources` are the packages that the subject was made from.
    """

    subject: str
    kind: str
    created: str
    version: str
    above: str
    history: History = NO_HISTORY
    parts: tuple[str, ...] = ()
    whole: str = ""
    sources: tuple[str, ...] = ()
    conversion: Conversion | None = None


def premis(told: Told, files: Iterable[Packed], checksum: str, prefix: str) -> Iterator[bytes]:
    """A whole PREMIS document: the subject, its files with checksum, size and format, events, and the program."""
    place = f"{spec.PREMIS} {told.above}schemas/{PREMIS_XSD}"
    yield (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<premis xmlns="{spec.PREMIS}" xmlns:xsi="{spec.XSI}"'
        f' xsi:schemaLocation="{place}" version="3.0">\n'
    ).encode()
    yield _subject(told).encode()
    held: list[str] = []
    number = 0
    for number, file in enumerate(files, 1):
        held.append(_file(file, f"{prefix}file-{number}", checksum))
        if len(held) >= _BATCH:
            yield "".join(held).encode()
            held.clear()
    yield "".join(held).encode()
    agent = software_agent(told.version)
    converted = conversion_events(told.conversion, told.subject, told.created, told.sources, agent)
    own = (*converted, _own_event(told, number, agent))
    for event in (*told.history.events, *own):
        yield _event(dated(event), told.subject).encode()
    yield ("".join(map(_agent, agents_of(told.history, agent))) + "</premis>\n").encode()


def _own_event(told: Told, files: int, agent: EventAgent) -> Event:
    """What this program did."""
    kind, detail = ("message digest calculation", f"{files} files")
    if not files:
        kind, detail = "information package creation", f"{SOFTWARE} {told.version}"
    named = event_identifier(told.whole or told.subject, f"{told.subject} {kind}")
    subject = ((_ID_TYPE, told.subject),)
    return Event(named, kind, told.created, detail, (("success", ""),), (agent.identifier,), subject)


def _subject(told: Told) -> str:
    related = "".join(_related("has part", part) for part in told.parts)
    related += _related("is part of", told.whole) if told.whole else ""
    own = event_identifier(told.subject, MIGRATION) if told.conversion is not None else None
    related += "".join(_derived(source, own) for source in told.sources)
    for event in told.history.events:
        if MIGRATION in event.type.lower() and event.objects:
            related += _derived(event.objects[0][1], event.identifier)
    return f'<object xsi:type="{told.kind}">{_identifier("object", told.subject)}{related}</object>\n'


def _related(how: str, other: str) -> str:
    return (
        "<relationship><relationshipType>structural</relationshipType>"
        f"<relationshipSubType>{how}</relationshipSubType><relatedObjectIdentifier>"
        f"<relatedObjectIdentifierType>{_ID_TYPE}</relatedObjectIdentifierType>"
        f"<relatedObjectIdentifierValue>{escaped(other)}</relatedObjectIdentifierValue>"
        "</relatedObjectIdentifier></relationship>"
    )


def _derived(source: str, event: Identifier | None) -> str:
    """A package that this one was made from, and in which event."""
    in_event = _identifier("relatedEvent", event[1], event[0]) if event is not None else ""
    return (
        "<relationship><relationshipType>derivation</relationshipType>"
        "<relationshipSubType>has source</relationshipSubType>"
        f"{_identifier('relatedObject', source, OBJECT_TYPE)}{in_event}</relationship>"
    )


def _identifier(of: str, value: str, kind: str = _ID_TYPE) -> str:
    return (
        f"<{of}Identifier><{of}IdentifierType>{escaped(kind or 'unknown')}</{of}IdentifierType>"
        f"<{of}IdentifierValue>{escaped(value)}</{of}IdentifierValue></{of}Identifier>"
    )


def _file(file: Packed, file_id: str, checksum: str) -> str:
    version = f"<formatVersion>{escaped(file.format_version)}</formatVersion>" if file.format_version else ""
    registry = (
        f"<formatRegistry><formatRegistryName>{spec.PRONOM}</formatRegistryName>"
        f"<formatRegistryKey>{escaped(file.puid)}</formatRegistryKey></formatRegistry>"
        if file.puid
        else ""
    )
    return (
        f'<object xsi:type="file"><objectIdentifier><objectIdentifierType>{_ID_TYPE}</objectIdentifierType>'
        f"<objectIdentifierValue>{file_id}</objectIdentifierValue></objectIdentifier><objectCharacteristics>"
        f"<fixity><messageDigestAlgorithm>{checksum}</messageDigestAlgorithm>"
        f"<messageDigest>{file.digest}</messageDigest></fixity><size>{file.size_bytes}</size>"
        f"<format><formatDesignation><formatName>{escaped(file.format_name or file.media_type)}</formatName>{version}"
        f"</formatDesignation>{registry}</format></objectCharacteristics>"
        f"<originalName>{escaped(file.original_name or file.name)}</originalName>"
        f"<storage><contentLocation><contentLocationType>URI</contentLocationType>"
        f"<contentLocationValue>{href(file.name)}</contentLocationValue></contentLocation></storage></object>\n"
    )


def _event(event: Event, subject: str) -> str:
    detail = (
        f"<eventDetailInformation><eventDetail>{escaped(event.detail)}</eventDetail></eventDetailInformation>"
        if event.detail
        else ""
    )
    kind, value = event.identifier
    objects = event.objects or ((_ID_TYPE, subject),)
    return (
        f"<event>{_identifier('event', value, kind)}<eventType>{escaped(event.type)}</eventType>"
        f"<eventDateTime>{escaped(event.when)}</eventDateTime>{detail}{''.join(map(_outcome, event.outcomes))}"
        + "".join(_identifier("linkingAgent", value, kind) for kind, value in event.agents)
        + "".join(_identifier("linkingObject", value, kind) for kind, value in objects)
        + "</event>\n"
    )


def _outcome(outcome: tuple[str, str]) -> str:
    result, note = outcome
    told = f"<eventOutcome>{escaped(result)}</eventOutcome>" if result else ""
    if note:
        noted = f"<eventOutcomeDetailNote>{escaped(note)}</eventOutcomeDetailNote>"
        told += f"<eventOutcomeDetail>{noted}</eventOutcomeDetail>"
    return f"<eventOutcomeInformation>{told}</eventOutcomeInformation>" if told else ""


def _agent(agent: EventAgent) -> str:
    kind, value = agent.identifier
    told = (("agentName", agent.name), ("agentType", agent.type), ("agentVersion", agent.version))
    lines = "".join(f"<{name}>{escaped(text)}</{name}>" for name, text in told if text)
    return f"<agent>{_identifier('agent', value, kind)}{lines}</agent>\n"
