"""Writes dias-premis.xml and log.xml: the package as an object, what was done to it, and what METS cannot say of files.

METS already lists every file with size and checksum; a PREMIS object has only those whose format METS has no word for,
and those whose original name is another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from zoneinfo import ZoneInfo

from noarkit.forms.container.progress import PackagedFile
from noarkit.forms.dias.spec import (
    CONTENT,
    IDENTIFIER_TYPE,
    OBJECT_PREFIX,
    PREMIS_NAMESPACE,
    XLINK,
    extension_of,
    href_of,
)
from noarkit.forms.dias.write.markup import HEAD, attributes, element
from noarkit.forms.dias.write.mets import Facts
from noarkit.forms.dias.write.order import SOFTWARE, DiasOrder
from noarkit.forms.metadata.derivations import DERIVATION, Derivations, derivation_agents, derivation_events
from noarkit.forms.metadata.file_facts import PRONOM
from noarkit.forms.metadata.model import Event, EventAgent, FileFacts, Identifier
from noarkit.forms.metadata.provenance import (
    MIGRATION,
    OBJECT_TYPE,
    agents_of,
    conversion_events,
    event_identifier,
    software_agent,
    with_valid_time,
)
from noarkit.safe.portable import is_portable_name_of
from noarkit.safe.xml_text import escape_text

CREATION = "Creation"
EVENT_TYPES = ("Adjustment", "Disposal", "Migration", "Creation", "Ingestion", "Deletion")
AGENT_TYPES = ("person", "organization", "software")
INCLUDED = "is included in"
_XSI = "http://www.w3.org/2001/XMLSchema-instance"
_BATCH = 500


def dias_premis(
    order: DiasOrder,
    facts: Facts,
    extra_files: Iterable[tuple[PackagedFile, FileFacts]],
    derivations: Derivations | None = None,
) -> Iterator[bytes]:
    """dias-premis.xml; `extra_files` are the files that METS has no type for, or less to say of than is known, and
    copies with their originals."""
    yield (_root_start() + _package(order, facts)).encode()
    lines: list[str] = []
    for number, (row, file_facts) in enumerate(extra_files, start=1):
        related = "" if derivations is None else _relations(derivations, facts, row.name)
        lines.append(_file(row, file_facts, order.type, (file_id(facts, number), related)))
        if len(lines) >= _BATCH:
            yield "".join(lines).encode()
            lines.clear()
    lines += _earlier_events(order, facts)
    makers: dict[Identifier, EventAgent] = {}
    if derivations is not None:
        for derivation in derivations.all():
            makers.update((maker.identifier, maker) for maker in derivation_agents(derivation.conversion))
            for event in derivation_events(facts.uuid, IDENTIFIER_TYPE, derivation):
                lines.append(_earlier_event(with_valid_time(_named_as_here(event)), facts))
            yield "".join(lines).encode()
            lines.clear()
    lines.append(_event(order, facts, "hash", "SHA-256 of every file, while it was copied", ""))
    agents = "".join(map(_earlier_agent, agents_of(order.history, software_agent(facts.version), *makers.values())))
    yield ("".join(lines) + _agent(facts) + agents + "</premis>\n").encode()


def file_id(facts: Facts, number: int) -> str:
    """What dias-premis.xml calls its files, in their order."""
    return f"{facts.uuid}/{number}"


def _named_as_here(event: Event) -> Event:
    """An event under the word that DIAS has for it, where it has one."""
    kind = next((entry for entry in EVENT_TYPES if entry.casefold() == event.type.casefold()), event.type)
    return replace(event, type=kind)


def _relations(derivations: Derivations, facts: Facts, name: str) -> str:
    """What a file is a copy of, and which copies there are of it, each with the event."""
    return "".join(
        "<relationship>\n"
        + element("relationshipType", DERIVATION)
        + element("relationshipSubType", relation.subtype)
        + _identifier("relatedObjectIdentification", "relatedObject", relation.object_id)
        + _identifier("relatedEventIdentification", "relatedEvent", relation.event[1], relation.event[0])
        + "</relationship>\n"
        for relation in derivations.relations(facts.uuid, name)
    )


def _earlier_events(order: DiasOrder, facts: Facts) -> Iterator[str]:
    """What was done before, and how this package came from another."""
    when = _moment(order, facts)
    agent = software_agent(facts.version)
    converted = conversion_events(order.conversion, f"{OBJECT_PREFIX}{facts.uuid}", when, order.derived_from, agent)
    for event in (*order.history.events, *converted):
        yield _earlier_event(with_valid_time(event), facts)


def _earlier_event(event: Event, facts: Facts) -> str:
    """An event of any type; one that is none of the six stands in brackets before its detail."""
    kind = next((entry for entry in EVENT_TYPES if entry.casefold() == event.type.casefold()), "")
    detail = event.detail if kind == event.type else f"[{event.type}] {event.detail}".rstrip()
    objects = event.objects or ((IDENTIFIER_TYPE, facts.uuid),)
    return (
        "<event>\n"
        + _identifier("eventIdentifier", "event", event.identifier[1], event.identifier[0])
        + element("eventType", kind if kind == event.type else EVENT_TYPES[0])
        + element("eventDateTime", event.when)
        + (element("eventDetail", detail) if detail else "")
        + "".join(_outcome(result, note) for result, note in event.outcomes if result or note)
        + "".join(_identifier("linkingAgentIdentifier", "linkingAgent", entry[1], entry[0]) for entry in event.agents)
        + "".join(_identifier("linkingObjectIdentifier", "linkingObject", entry[1], entry[0]) for entry in objects)
        + "</event>\n"
    )


def _outcome(result: str, note: str) -> str:
    content = element("eventOutcome", result) if result else ""
    if note:
        content += f"<eventOutcomeDetail>{element('eventOutcomeDetailNote', note)}</eventOutcomeDetail>"
    return f"<eventOutcomeInformation>{content}</eventOutcomeInformation>\n"


def _earlier_agent(agent: EventAgent) -> str:
    """Who did it; a version has no element of its own here, and stands after the name."""
    name = agent.name if not agent.version or agent.version in agent.name else f"{agent.name} {agent.version}"
    content = element("agentName", name) if name else ""
    content += element("agentType", agent.type) if agent.type in AGENT_TYPES else ""
    identifier = _identifier("agentIdentifier", "agent", agent.identifier[1], agent.identifier[0])
    return f"<agent>\n{identifier}{content}</agent>\n"


def log(order: DiasOrder, facts: Facts, files: int, size_bytes: int) -> Iterator[bytes]:
    """log.xml: what happened to the package so far."""
    outcome = f"{files} files, {size_bytes} bytes"
    event = _event(order, facts, "pack", f"{order.type} packed by {SOFTWARE} {facts.version}", outcome)
    yield (_root_start() + _package(order, facts) + event + _agent(facts) + "</premis>\n").encode()


def _root_start() -> str:
    root_attributes = {"xmlns": PREMIS_NAMESPACE, "xmlns:xlink": XLINK, "xmlns:xsi": _XSI, "version": "2.0"}
    return f"{HEAD}<premis{attributes(root_attributes)}>\n"


def _package(order: DiasOrder, facts: Facts) -> str:
    related = ""
    if order.aic is not None:
        related = (
            "<relationship>\n"
            + element("relationshipType", "structural")
            + element("relationshipSubType", INCLUDED)
            + _identifier("relatedObjectIdentification", "relatedObject", str(order.aic))
            + "</relationship>\n"
        )
    related += "".join(_derivation(order, facts, source) for source in order.derived_from)
    level = "<preservationLevel><preservationLevelValue>full</preservationLevelValue></preservationLevel>\n"
    return (
        '<object xsi:type="file">\n'
        + _identifier("objectIdentifier", "object", facts.uuid)
        + level
        + f"<objectCharacteristics>\n{_format('tar')}</objectCharacteristics>\n{related}</object>\n"
    )


def _derivation(order: DiasOrder, facts: Facts, source: str) -> str:
    """The package that this one was made from, and in which event."""
    event = ""
    if order.conversion is not None:
        kind, value = event_identifier(facts.uuid, MIGRATION)
        event = _identifier("relatedEventIdentification", "relatedEvent", value, kind)
    return (
        "<relationship>\n"
        + element("relationshipType", "derivation")
        + element("relationshipSubType", "has source")
        + _identifier("relatedObjectIdentification", "relatedObject", source, OBJECT_TYPE)
        + f"{event}</relationship>\n"
    )


def _file(row: PackagedFile, file_facts: FileFacts, package_type: str, id_and_relations: tuple[str, str]) -> str:
    """A file by its identifier, with its relationships."""
    identifier, related = id_and_relations
    fixity = (
        "<fixity>"
        f"<messageDigestAlgorithm>SHA-256</messageDigestAlgorithm><messageDigest>{row.digests[0]}</messageDigest>"
        f"</fixity>\n<size>{row.size_bytes}</size>\n"
    )
    extension = extension_of(row.name)
    return (
        '<object xsi:type="file">\n'
        + _identifier("objectIdentifier", "object", identifier)
        + f"<objectCharacteristics>\n{_file_format(file_facts, extension, fixity)}</objectCharacteristics>\n"
        + element("originalName", _original_path(row, file_facts))
        + "<storage><contentLocation>\n"
        + element("contentLocationType", package_type)
        + element("contentLocationValue", href_of(row.name))
        + f"</contentLocation></storage>\n{related}</object>\n"
    )


def _file_format(file_facts: FileFacts, extension: str, fixity: str) -> str:
    """The format as it is known, else by the ending of the name."""
    designation = element("formatName", file_facts.format_name or file_facts.media_type or extension or "unknown")
    designation += element("formatVersion", file_facts.format_version) if file_facts.format_version else ""
    registry = ""
    if file_facts.puid:
        registry = element("formatRegistryName", PRONOM) + element("formatRegistryKey", file_facts.puid)
        registry = f"<formatRegistry>{registry}</formatRegistry>"
    content = f"<formatDesignation>{designation}</formatDesignation>{registry}"
    return f"<compositionLevel>0</compositionLevel>\n{fixity}<format>{content}</format>\n"


def _format(name: str, fixity: str = "") -> str:
    designation = f"<formatDesignation><formatName>{escape_text(name)}</formatName></formatDesignation>"
    return f"<compositionLevel>0</compositionLevel>\n{fixity}<format>{designation}</format>\n"


def _event(order: DiasOrder, facts: Facts, what: str, detail: str, outcome: str) -> str:
    moment = _moment(order, facts)
    note = f"<eventOutcomeDetail>{element('eventOutcomeDetailNote', outcome)}</eventOutcomeDetail>" if outcome else ""
    return (
        "<event>\n"
        + _identifier("eventIdentifier", "event", f"{facts.uuid}/{what}")
        + element("eventType", CREATION)
        + element("eventDateTime", moment)
        + element("eventDetail", detail)
        + f"<eventOutcomeInformation><eventOutcome>success</eventOutcome>{note}</eventOutcomeInformation>\n"
        + _identifier("linkingAgentIdentifier", "linkingAgent", SOFTWARE)
        + _identifier("linkingObjectIdentifier", "linkingObject", facts.uuid)
        + "</event>\n"
    )


def _moment(order: DiasOrder, facts: Facts) -> str:
    return facts.moment.astimezone(ZoneInfo(order.zone)).isoformat(timespec="seconds")


def _agent(facts: Facts) -> str:
    content = element("agentName", f"{SOFTWARE} {facts.version}") + element("agentType", "software")
    return f"<agent>\n{_identifier('agentIdentifier', 'agent', SOFTWARE)}{content}</agent>\n"


def _identifier(tag: str, stem: str, value: str, kind: str = IDENTIFIER_TYPE) -> str:
    type_element = element(f"{stem}IdentifierType", kind or "unknown")
    return f"<{tag}>\n{type_element}{element(f'{stem}IdentifierValue', value)}</{tag}>\n"


def _original_path(row: PackagedFile, file_facts: FileFacts) -> str:
    """The path that a file had before; one that only our rule for names changed lay below the content, too."""
    original = file_facts.original_name
    if original and is_portable_name_of(original, row.name.removeprefix(f"{CONTENT}/")):
        return f"{CONTENT}/{original}"
    return original or row.name
