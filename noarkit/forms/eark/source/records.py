"""One file of a representation, or one unit of an ERMS document, as the plain values that recipes see as `record`."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from noarkit.forms.container.names import original_name
from noarkit.forms.container.plain_files import evidence_before, path_fields
from noarkit.forms.eark.read.erms import Unit
from noarkit.forms.eark.read.inventory import Entry
from noarkit.forms.eark.read.package import Part
from noarkit.forms.eark.source.agents import agent_fields, creator_of, identifier_of
from noarkit.forms.metadata.descriptions import ArchiveDescription, in_document_notes, period_of
from noarkit.forms.metadata.mets_facts import MetsHeader
from noarkit.graph.entity import Content, Note
from noarkit.records import SourceRecord
from noarkit.sources.files.dates import latest_day
from noarkit.sources.files.names import readable

UNLISTED = Note("W251")
APPENDIX_MISSING = "W252"


@dataclass(frozen=True, slots=True)
class Frame:
    """What all records of one representation have in common."""

    package: Mapping[str, object]
    part: Mapping[str, object]
    base: str
    """Where names within it begin."""


def package_fields(heading: MetsHeader, metadata: Mapping[str, str]) -> dict[str, object]:
    """What recipes see as `record.package`."""
    creator = creator_of(heading)
    return {
        "id": heading.object_id,
        "title": metadata.get("title") or metadata.get("title_proper") or heading.label or heading.object_id,
        "creator": creator.name if creator else metadata.get("creator", ""),
        "creator_id": identifier_of(creator) if creator else "",
        "description": metadata.get("description", ""),
        "period": period_of(metadata.get("date", "")),
        "reference": metadata.get("identifier", ""),
        "type": heading.package_type,
        "category": heading.type,
        "created": heading.created,
        "agreement": next((value for kind, value in heading.records if kind == "SUBMISSIONAGREEMENT"), ""),
        "agents": [agent_fields(agent) for agent in heading.agents if agent.name],
    }


def archive_description(fields: Mapping[str, object]) -> ArchiveDescription:
    """What a recipe says of the archive."""
    period = fields["period"]
    return ArchiveDescription(
        str(fields["creator"]),
        str(fields["creator_id"]),
        str(fields["description"]),
        period if isinstance(period, tuple) else None,
    )


def part_fields(part: Part, metadata: Mapping[str, str]) -> dict[str, object]:
    """What recipes see as `record.representation`."""
    return {
        "name": part.name,
        "title": metadata.get("title") or part.label,
        "content_type": part.content_type,
        "other_content_type": part.other_content_type,
        "kind": part.heading.kind if part.heading else "",
    }


def file_record(
    kind: str, frame: Frame, entry: Entry, content: Content, title: str, notes: tuple[Note, ...] = ()
) -> SourceRecord:
    """The record of one file, by its original name where that had to be another."""
    stored_name = entry.name.removeprefix(frame.base)
    original = original_name(entry.original_name, stored_name)
    steps = [readable(step) for step in original.split("/")]
    key, stated_name = entry.name, entry.original_name
    if original != stored_name:
        key, stated_name, content = frame.base + stated_name, "/".join(steps), replace(content, name=steps[-1])
    fields = {
        **path_fields(steps),
        "size": content.size_bytes,
        "title": title,
        "created": entry.created,
        "modified": entry.created,
        "media_type": entry.media_type,
        "puid": entry.puid,
        "format_name": entry.format_name,
        "original_name": stated_name,
        "representation": frame.part,
        "package": frame.package,
    }
    record = SourceRecord(kind, key, fields, (content,), notes)
    return evidence_before(str(frame.package["created"])).dated(record, latest_day(time.time()))


def unit_record(frame: Frame, unit: Unit, contents: tuple[Content, ...], notes: tuple[Note, ...]) -> SourceRecord:
    """The record of an aggregation or record of an ERMS document."""
    attributes = unit.texts
    fields: dict[str, object] = {
        "id": unit.id,
        "object_id": attributes.get("objectId", ""),
        "type": unit.type,
        "title": attributes.get("title", ""),
        "description": attributes.get("description", ""),
        "status": attributes.get("status", ""),
        "number": attributes.get("runningNumber", ""),
        "direction": attributes.get("direction", ""),
        "class_code": attributes.get("class_code", ""),
        "class_title": attributes.get("class_title", ""),
        "dates": dict(unit.dates),
        "keywords": list(unit.keywords),
        "notes": list(unit.notes),
        "agents": [dict(agent) for agent in unit.agents],
        "parties": [party for agent in unit.agents if (party := party_of(agent))],
        "author": authors_of(unit.agents),
        "restrictions": [dict(restriction) for restriction in unit.restrictions],
        "identifiers": unit_identifiers(unit),
        "values": unit_values(unit),
        "parent": unit_key(frame, unit.parent) if unit.parent else None,
        "name": attributes.get("objectId", "") or unit.id or ".".join(map(str, unit.place)),
        "representation": frame.part,
        "package": frame.package,
    }
    key = unit_key(frame, unit)
    document_notes = in_document_notes(key, [(f"{unit.kind}/{path}", value, 1) for path, value in unit.extras])
    return SourceRecord(unit.kind, key, fields, contents, (*notes, *document_notes))


def unit_key(frame: Frame, unit: Unit) -> str:
    """What a unit is known by: its system's identifier, else its place."""
    return f"{frame.base}{unit.kind}/{unit.id or '.'.join(map(str, unit.place))}"


_SENDERS = frozenset({"sender", "dispatcher", "avsender"})
_RECEIVERS = frozenset({"receiver", "recipient", "addressee", "mottaker"})
_COPIES = frozenset({"copy_recipient", "copy recipient", "kopimottaker"})
_AUTHORS = frozenset({"author", "creator", "editor", "forfatter"})
_CODES = (("EA", _SENDERS), ("EM", _RECEIVERS), ("EK", _COPIES))
_OF_A_PARTY = frozenset({"type", "role", "name", "organisation", "idNumber"})


def party_of(agent: Mapping[str, str]) -> dict[str, str] | None:
    """An agent who sent or got the record, with the code of its part; None for any other."""
    words = _words(agent)
    code = next((code for code, code_words in _CODES if words & code_words), None)
    if code is None or not _name(agent):
        return None
    contact = agent.get("name", "") if agent.get("organisation") else ""
    return {"code": code, "name": agent.get("organisation") or _name(agent), "contact": contact}


def authors_of(agents: Iterable[Mapping[str, str]]) -> str:
    """The names of those who wrote it."""
    return ", ".join(_name(agent) for agent in agents if _words(agent) & _AUTHORS and _name(agent))


def unit_identifiers(unit: Unit) -> list[dict[str, str]]:
    """By which a unit was known."""
    own = [("objectId", unit.texts["objectId"])] if unit.texts.get("objectId") else []
    return [{"system": f"ERMS {kind}", "id": value} for kind, value in (*own, *unit.ids)]


def unit_values(unit: Unit) -> list[dict[str, str]]:
    """Everything that has no field of its own in the archive, to be read as remarks."""
    return [{"name": name, "value": value} for name, value in _values(unit) if value]


def _values(unit: Unit) -> Iterator[tuple[str, str]]:
    attributes = unit.texts
    yield f"{unit.kind} type", unit.type
    yield "status", attributes.get("status", "")
    yield "runningNumber", attributes.get("runningNumber", "")
    yield "direction", attributes.get("direction", "")
    yield "classification", " ".join(filter(None, (attributes.get("class_code"), attributes.get("class_title"))))
    yield "subject", attributes.get("subject", "")
    yield "levelName", attributes.get("levelName", "")
    yield from ((f"date {kind}", text) for kind, text in unit.dates.items())
    yield from (("restriction", _line(entry)) for entry in unit.restrictions)
    yield from (("agent", _line(entry)) for entry in unit.agents if unit.kind == "record" and not _is_covered(entry))
    yield from (("agent", _line(entry)) for entry in unit.agents if unit.kind != "record" and set(entry) - _OF_A_PARTY)


def _is_covered(agent: Mapping[str, str]) -> bool:
    """True if a party or the author says all there is to say of it."""
    covered_fields = _OF_A_PARTY - {"idNumber"} if party_of(agent) else frozenset({"type", "role", "name"})
    return bool(party_of(agent) or _words(agent) & _AUTHORS) and not set(agent) - covered_fields


def _line(attributes: Mapping[str, str]) -> str:
    return ", ".join(
        value if name in ("type", "name") else f"{name}: {value}" for name, value in attributes.items() if value
    )


def _words(agent: Mapping[str, str]) -> frozenset[str]:
    texts: Sequence[str] = (agent.get("type", ""), agent.get("role", ""))
    return frozenset(text.strip().lower() for text in texts)


def _name(agent: Mapping[str, str]) -> str:
    return agent.get("name") or agent.get("organisation", "")
