"""One file of a representation, or one unit of an ERMS document, as the plain values that recipes see as `record`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from noarkit.forms.container.names import original_name
from noarkit.forms.container.plain_files import path_fields
from noarkit.forms.eark.read.erms import Unit
from noarkit.forms.eark.read.inventory import Entry
from noarkit.forms.eark.read.package import Heading, Part
from noarkit.forms.eark.source.agents import agent_fields, creator_of, identifier_of
from noarkit.forms.eark.source.unit_fields import authors_of, party_of, unit_identifiers, unit_values
from noarkit.forms.metadata.descriptions import ArchiveDescription, in_document_notes, period_of
from noarkit.graph.entity import Content, Note
from noarkit.records import SourceRecord
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


def package_fields(heading: Heading, metadata: Mapping[str, str]) -> dict[str, object]:
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
        "category": heading.category,
        "created": heading.created,
        "agreement": next((value for kind, value in heading.record if kind == "SUBMISSIONAGREEMENT"), ""),
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
    return SourceRecord(kind, key, fields, (content,), notes)


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
