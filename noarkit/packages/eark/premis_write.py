"""PREMIS 3 of a package and of its representations, written row by row: what was packed, by what, and what was done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from noarkit.packages.eark import spec
from noarkit.packages.eark.listing import Packed
from noarkit.packages.eark.markup import escaped, href, moment
from noarkit.packages.eark.order import SOFTWARE, PackageEvent
from noarkit.packages.eark.schemas import PREMIS_XSD

_BATCH = 250
_ID_TYPE = "local"


@dataclass(frozen=True, slots=True)
class Told:
    """Of what a PREMIS document tells: its subject by id and kind, its `parts`, and the `whole` it is part of."""

    subject: str
    kind: str
    created: str
    version: str
    above: str
    events: tuple[PackageEvent, ...] = ()
    parts: tuple[str, ...] = ()
    whole: str = ""


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
    for event_number, event in enumerate(told.events, 1):
        yield _event(told, event, event_number, moment(event.when)).encode()
    for shift, (kind, detail) in enumerate(_own_events(told, number), 1):
        own = _Own(kind, detail)
        yield _event(told, own, len(told.events) + shift, told.created).encode()
    yield (_agent(told.version) + "</premis>\n").encode()


@dataclass(frozen=True, slots=True)
class _Own:
    """Something this program did."""

    type: str
    detail: str
    outcome: str = "success"
    outcome_note: str = ""


def _own_events(told: Told, files: int) -> Iterator[tuple[str, str]]:
    if files:
        yield "message digest calculation", f"{files} files"
    else:
        yield "information package creation", f"{SOFTWARE} {told.version}"


def _subject(told: Told) -> str:
    related = "".join(_related("has part", part) for part in told.parts)
    related += _related("is part of", told.whole) if told.whole else ""
    return f'<object xsi:type="{told.kind}">{_identifier("object", told.subject)}{related}</object>\n'


def _related(how: str, other: str) -> str:
    return (
        "<relationship><relationshipType>structural</relationshipType>"
        f"<relationshipSubType>{how}</relationshipSubType><relatedObjectIdentifier>"
        f"<relatedObjectIdentifierType>{_ID_TYPE}</relatedObjectIdentifierType>"
        f"<relatedObjectIdentifierValue>{escaped(other)}</relatedObjectIdentifierValue>"
        "</relatedObjectIdentifier></relationship>"
    )


def _identifier(of: str, value: str) -> str:
    return (
        f"<{of}Identifier><{of}IdentifierType>{_ID_TYPE}</{of}IdentifierType>"
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


def _event(told: Told, event: PackageEvent | _Own, number: int, when: str) -> str:
    detail = (
        f"<eventDetailInformation><eventDetail>{escaped(event.detail)}</eventDetail></eventDetailInformation>"
        if event.detail
        else ""
    )
    note = (
        f"<eventOutcomeDetail><eventOutcomeDetailNote>{escaped(event.outcome_note)}</eventOutcomeDetailNote>"
        "</eventOutcomeDetail>"
        if event.outcome_note
        else ""
    )
    outcome = f"<eventOutcome>{escaped(event.outcome)}</eventOutcome>" if event.outcome else ""
    result = f"<eventOutcomeInformation>{outcome}{note}</eventOutcomeInformation>" if outcome or note else ""
    return (
        f"<event>{_identifier('event', f'event-{number}')}<eventType>{escaped(event.type)}</eventType>"
        f"<eventDateTime>{when}</eventDateTime>{detail}{result}"
        f"<linkingAgentIdentifier><linkingAgentIdentifierType>{_ID_TYPE}</linkingAgentIdentifierType>"
        f"<linkingAgentIdentifierValue>{SOFTWARE}</linkingAgentIdentifierValue></linkingAgentIdentifier>"
        f"<linkingObjectIdentifier><linkingObjectIdentifierType>{_ID_TYPE}</linkingObjectIdentifierType>"
        f"<linkingObjectIdentifierValue>{escaped(told.subject)}</linkingObjectIdentifierValue>"
        "</linkingObjectIdentifier></event>\n"
    )


def _agent(version: str) -> str:
    return (
        f"<agent>{_identifier('agent', SOFTWARE)}<agentName>{SOFTWARE}</agentName><agentType>software</agentType>"
        f"<agentVersion>{escaped(version)}</agentVersion></agent>\n"
    )
