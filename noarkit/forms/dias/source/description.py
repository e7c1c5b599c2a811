"""What describes a DIAS package as records of their own: METS, log, PREMIS, EAD, ADDML, and the submission description.

Each is kept as it is, and told of as far as a person would read it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from noarkit.errors import HostileInput, ItemMalformed, ItemVanished, PackageFault
from noarkit.forms.container.plain_files import PlainFile, PlainRecords, path_fields
from noarkit.forms.container.statements import read_statements
from noarkit.forms.dias import spec
from noarkit.forms.dias.read.info import INFO_NAMESPACE
from noarkit.forms.dias.read.package import DiasPackage, read_description
from noarkit.forms.metadata.descriptions import ArchiveDescription, DocumentSummary, period_of, summarise_document
from noarkit.forms.metadata.mets_facts import MetsHeader, MetsItem
from noarkit.forms.metadata.model import Agent
from noarkit.graph.entity import Content, SetAside
from noarkit.records import SourceItem, SourceRecord
from noarkit.safe.digest import hash_of_stream
from noarkit.sources.files.names import key_of

DESCRIPTION = "description"
BESIDE = "beside"
"""What stands in a locator for a file beside the package, in place of an algorithm."""
_ORGANISATION_NUMBER = re.compile(r"\d{3} ?\d{3} ?\d{3}")
_SOFTWARE = "SOFTWARE"


def described_key(name: str) -> str:
    """The key of a file that is no content; no file of the content has one that begins so."""
    return f"/{key_of(name.encode('utf-8', 'surrogateescape'))}"


def contradicted_documents(package: DiasPackage) -> Iterator[str]:
    """Documents of metadata whose bytes are not those that the package states: dias-mets.xml by the submission
    description, every other one by dias-mets.xml."""
    statements = [(spec.METS, entry.checksum_type, entry.checksum) for entry in _sealing_entries(package)]
    statements += [
        (entry.name, entry.checksum_type, entry.checksum)
        for entry in package.entries()
        if not entry.name.startswith(f"{spec.CONTENT}/")
    ]
    for name, checksum_type, checksum in statements:
        algorithm = spec.CHECKSUM_TYPES.get(checksum_type.upper())
        if algorithm is None or not checksum or package.size_of(name) is None:
            continue
        try:
            with package.storage.open(name) as source:
                is_intact = hash_of_stream(source, algorithm) == checksum.lower()
        except (OSError, PackageFault, HostileInput):
            continue  # set aside when its record is made
        if not is_intact:
            yield name


def _sealing_entries(package: DiasPackage) -> list[MetsItem]:
    """What the submission description states of dias-mets.xml; nothing where it cannot be read."""
    if package.located.description is None:
        return []
    try:
        _, files = read_description(package.located.description)
    except (PackageFault, HostileInput, OSError):
        return []
    return [file for file in files if any(path.rpartition("/")[2] == spec.METS for path in spec.paths_of(file.href))]


def description_item(package: DiasPackage, records: PlainRecords, file: PlainFile) -> SourceItem:
    """The record of a description within the package."""
    item = records.item(file)
    if not isinstance(item, SourceRecord):
        return replace(item, record_key=described_key(file.name)) if isinstance(item, SetAside) else item
    summary = DocumentSummary()
    if file.name.lower().endswith(".xml"):
        try:
            with package.storage.open(file.name) as source:
                summary = summarise_document(read_statements(source, f"{package.storage.where}: {file.name}"))
        except (PackageFault, HostileInput):
            summary = DocumentSummary()  # it is kept as it is; the validator says what is wrong with it
    header = package.header if file.name == spec.METS else None
    return _record(file.name, summary, header, package.header, item.contents[0])


def sealing_item(package: DiasPackage) -> SourceItem | None:
    """The record of the submission description beside the package; None if there is none."""
    place = package.located.description
    if place is None:
        return None
    try:
        status = place.stat()
        with place.open("rb") as source:
            summary = summarise_document(read_statements(source, str(place)))
    except (PackageFault, HostileInput) as fault:  # what seals the package and cannot be read proves nothing
        data = {"key": place.name, "why": str(fault.data.get("why", ""))}
        return SetAside(described_key(place.name), ItemMalformed.code, data)
    except OSError:
        return SetAside(described_key(place.name), ItemVanished.code, {"key": place.name})
    content = Content(
        f"{BESIDE}::{place.name}", place.name, status.st_size, status.st_mtime_ns, None, "application/xml"
    )
    return _record(f"../{place.name}", summary, _header_of(place), package.header, content)


def archive_description(header: MetsHeader) -> ArchiveDescription:
    """What the package says of its archive."""
    maker = next((agent for agent in header.agents if agent.role == "ARCHIVIST" and agent.type == "ORGANIZATION"), None)
    period = period_of(f"{header.value('STARTDATE')}/{header.value('ENDDATE')}")
    return ArchiveDescription(maker.name if maker else "", _identifier(maker) if maker else "", "", period)


def agents_of(header: MetsHeader) -> list[dict[str, str]]:
    """Those whom the package names."""
    return [
        {
            "role": agent.other_role or agent.role,
            "type": agent.other_type or agent.type,
            "name": agent.name,
            "id": _identifier(agent),
        }
        for agent in header.agents
        if agent.name
    ]


def _record(
    name: str, summary: DocumentSummary, header: MetsHeader | None, package_header: MetsHeader, content: Content
) -> SourceRecord:
    fields: dict[str, object] = {
        **path_fields(name.removeprefix("../").split("/")),
        **summary.fields(),
        "size": content.size_bytes,
        "created": None,
        "package": {"agents": agents_of(package_header)},
    }
    if header is not None and header.namespace == INFO_NAMESPACE:
        fields["identifiers"] = [{"system": "pakkeID", "id": header.object_id}] if header.object_id else []
    elif header is not None:
        fields |= {
            "created": header.created or None,
            "values": [{"name": key, "value": value} for key, value in _values(header) if value],
            "identifiers": _identifiers(header),
        }
    key = described_key(name.removeprefix("../")) if not name.startswith("../") else described_key(name)
    return SourceRecord(DESCRIPTION, key, fields, (content,), summary.notes(key))


def _values(header: MetsHeader) -> Iterator[tuple[str, str]]:
    yield "LABEL", header.label
    yield "TYPE", header.type
    yield "PROFILE", header.profile
    yield "CREATEDATE", header.created
    yield "RECORDSTATUS", header.record_status
    yield "metsDocumentID", header.document_id
    yield from ((kind, value) for kind, value in header.records if kind in _DATES)
    for agent in header.agents:
        kind = " ".join(filter(None, (agent.other_role or agent.role, agent.other_type or agent.type)))
        yield f"agent {kind}", " — ".join((agent.name, *agent.texts))


_DATES = frozenset({"STARTDATE", "ENDDATE"})


def _identifiers(header: MetsHeader) -> list[dict[str, str]]:
    identifiers = [("OBJID", header.object_id), *header.records]
    return [
        {"system": kind or "altRecordID", "id": value} for kind, value in identifiers if value and kind not in _DATES
    ]


def _identifier(agent: Agent) -> str:
    """The organisation number among its notes; they have no types."""
    matches = (_ORGANISATION_NUMBER.fullmatch(note) for note in agent.texts if agent.other_type != _SOFTWARE)
    return next((match.group().replace(" ", "") for match in matches if match), "")


def _header_of(place: Path) -> MetsHeader | None:
    try:
        header, _ = read_description(place)
    except (PackageFault, HostileInput, OSError):
        return None
    return header if header.namespace in (spec.SUBMISSION_NAMESPACE, spec.METS_NAMESPACE, INFO_NAMESPACE) else None
