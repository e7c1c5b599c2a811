"""What describes a package as records of their own: every METS, EAD, PREMIS and ERMS document is kept as it is, and
told of as far as a person would read it."""

from __future__ import annotations

from collections.abc import Iterator

from noarkit.errors import HostileInput, PackageFault
from noarkit.forms.container.plain_files import path_fields
from noarkit.forms.container.statements import read_statements
from noarkit.forms.eark import spec
from noarkit.forms.eark.read.inventory import Entry
from noarkit.forms.eark.read.package import EarkPackage
from noarkit.forms.eark.source.agents import agent_fields, identifiers_of
from noarkit.forms.eark.source.records import Frame
from noarkit.forms.eark.spec import HASHES
from noarkit.forms.metadata.descriptions import DocumentSummary, summarise_document
from noarkit.forms.metadata.mets_facts import MetsHeader
from noarkit.graph.entity import Content
from noarkit.records import SourceRecord
from noarkit.safe.digest import hash_of_stream

DESCRIPTION = "description"
_DOCUMENT_ID = "metsHdr/metsDocumentID"


def descriptions(package: EarkPackage) -> Iterator[Entry]:
    """The documents that describe a package and its representations, its own METS first."""
    yield package.find(spec.METS_FILE) or unlisted_entry(spec.METS_FILE)
    yield from package.metadata("")
    for name in sorted(package.documents):
        yield package.find(name) or unlisted_entry(name)
    yield from package.metadata()


def contradicted_documents(package: EarkPackage) -> Iterator[str]:
    """Documents of metadata whose bytes are not those that a METS states. What they say of the records is not believed
    unseen: a flipped bit in a date or a name would land as if the package had said so."""
    for entry in descriptions(package):
        algorithm = HASHES.get(entry.checksum_type, "") if entry.checksum and not entry.why else ""
        if not algorithm:
            continue
        try:
            with package.open(entry.name) as source:
                is_intact = hash_of_stream(source, algorithm) == entry.checksum.lower()
        except (OSError, PackageFault, HostileInput):
            continue  # set aside when its record is made
        if not is_intact:
            yield entry.name


def unlisted_entry(name: str) -> Entry:
    """A file of which nothing is told."""
    return Entry(name, "", "", name, "", None, "", "", "", "", "", "", "", "", "", "")


def description_record(package: EarkPackage, frame: Frame, entry: Entry, content: Content) -> SourceRecord:
    """The record of one of them."""
    summary = _summary_of(package, entry)
    fields = {
        **path_fields(entry.name.split("/")),
        **summary.fields(),
        "size": content.size_bytes,
        "created": entry.created,
        "agents": [],
        "representation": frame.part,
        "package": frame.package,
    }
    heading = package.documents.get(entry.name)
    if heading is not None:
        fields |= _heading_fields(heading, summary)
    return SourceRecord(DESCRIPTION, entry.name, fields, (content,), summary.notes(entry.name))


def _summary_of(package: EarkPackage, entry: Entry) -> DocumentSummary:
    """What it tells; nothing but its kind where it is no XML, which is the validator's to judge."""
    if not entry.name.lower().endswith(".xml"):
        return DocumentSummary(entry.md_type)
    try:
        with package.open(entry.name) as source:
            return summarise_document(read_statements(source, f"{package.where}/{entry.name}"))
    except (PackageFault, HostileInput):
        return DocumentSummary(entry.md_type)


def _heading_fields(heading: MetsHeader, summary: DocumentSummary) -> dict[str, object]:
    values = [
        ("LABEL", heading.label),
        ("TYPE", heading.type),
        ("CONTENTINFORMATIONTYPE", heading.content_type),
        ("OTHERCONTENTINFORMATIONTYPE", heading.other_content_type),
        ("OAISPACKAGETYPE", heading.package_type),
        ("PROFILE", heading.profile),
        ("CREATEDATE", heading.created),
        ("RECORDSTATUS", heading.record_status),
        *((entry["name"], entry["value"]) for entry in summary.values if entry["name"] == _DOCUMENT_ID),
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
