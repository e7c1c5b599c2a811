"""What describes a package as records of their own: every METS, EAD, PREMIS and ERMS document is kept as it is, and
told of as far as a person would read it."""

from __future__ import annotations

from collections.abc import Iterator

from noarkit.errors import HostileInput, PackageFault
from noarkit.graph.entity import Content
from noarkit.packages.eark import spec
from noarkit.packages.eark.inventory import Entry
from noarkit.packages.eark.mets_read import Heading
from noarkit.packages.eark.read import EarkPackage
from noarkit.packages.holding.statements import read_statements
from noarkit.sources.descriptions import Told, told_by
from noarkit.sources.eark.agents import agent_fields, identifiers_of
from noarkit.sources.eark.records import Frame
from noarkit.sources.plain import path_fields
from noarkit.sources.port import SourceRecord

DESCRIPTION = "description"
_DOCUMENT_ID = "metsHdr/metsDocumentID"


def descriptions(package: EarkPackage) -> Iterator[Entry]:
    """The documents that describe a package and its representations, its own METS first."""
    yield package.find(spec.METS_FILE) or unlisted_entry(spec.METS_FILE)
    yield from package.metadata("")
    for name in sorted(package.documents):
        yield package.find(name) or unlisted_entry(name)
    yield from package.metadata()


def unlisted_entry(name: str) -> Entry:
    """A file of which nothing is told."""
    return Entry(name, "", "", name, "", None, "", "", "", "", "", "", "", "", "", "")


def description_record(package: EarkPackage, frame: Frame, entry: Entry, content: Content) -> SourceRecord:
    """The record of one of them."""
    told = _told(package, entry)
    fields = {
        **path_fields(entry.name.split("/")),
        **told.fields(),
        "size": content.size_bytes,
        "created": entry.created,
        "agents": [],
        "representation": frame.part,
        "package": frame.package,
    }
    heading = package.documents.get(entry.name)
    if heading is not None:
        fields |= _of_heading(heading, told)
    return SourceRecord(DESCRIPTION, entry.name, fields, (content,), told.notes(entry.name))


def _told(package: EarkPackage, entry: Entry) -> Told:
    """What it tells; nothing but its kind where it is no XML, which is the validator's to judge."""
    if not entry.name.lower().endswith(".xml"):
        return Told(entry.md_type)
    try:
        with package.open(entry.name) as source:
            return told_by(read_statements(source, f"{package.where}/{entry.name}"))
    except (PackageFault, HostileInput):
        return Told(entry.md_type)


def _of_heading(heading: Heading, told: Told) -> dict[str, object]:
    values = [
        ("LABEL", heading.label),
        ("TYPE", heading.category),
        ("CONTENTINFORMATIONTYPE", heading.content_type),
        ("OTHERCONTENTINFORMATIONTYPE", heading.other_content_type),
        ("OAISPACKAGETYPE", heading.package_type),
        ("PROFILE", heading.profile),
        ("CREATEDATE", heading.created),
        ("RECORDSTATUS", heading.record_status),
        *((one["name"], one["value"]) for one in told.values if one["name"] == _DOCUMENT_ID),
        *(
            (f"agent {agent.role} {agent.other_role or agent.type}".rstrip(), " — ".join((agent.name, *notes)))
            for agent in heading.agents
            if (notes := [text for text, _ in agent.notes if text]) or agent.name
        ),
    ]
    return {
        "created": heading.created,
        "values": [{"name": name, "value": value} for name, value in values if value],
        "agents": [agent_fields(agent) for agent in heading.agents],
        "identifiers": identifiers_of(heading),
    }
