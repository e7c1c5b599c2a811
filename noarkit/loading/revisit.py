"""Finds the changed documents of records that are in the archive already.

A document whose bytes match no version the archive holds for its record gets a new version, and a document more than
the archive holds is made; nothing else of a record that is there is touched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from noarkit.archive.paging import objects
from noarkit.archive.port import Archive
from noarkit.archive.values import Query
from noarkit.errors import SourceFault
from noarkit.graph.store import GraphStore, PlannedEntity
from noarkit.loading.contents import ContentUploader
from noarkit.records import PLACE_FAULTS

_IDS_A_QUERY = 100


@dataclass(slots=True)
class DocumentChanges:
    """`new` are planned documents and versions to make; `known_ids` the archive's ids of existing ones."""

    new: set[int] = field(default_factory=set)
    known_ids: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _ArchivedDocuments:
    """The documents of one record in the archive, in order, and its versions by checksum."""

    documents: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)


def changed_versions(
    archive: Archive,
    contents: ContentUploader,
    graph: GraphStore,
    entities: Sequence[PlannedEntity],
    records: Mapping[int, str],
    known_ids: Mapping[int, str],
) -> tuple[DocumentChanges, dict[int, SourceFault]]:
    """Compares the planned contents of archived records with the archive's checksums; faults are by version.

    `entities` may be some of a record's: what an earlier chunk held of it is known from the plan, and from `known_ids`.
    """
    archived = _read_archived_documents(archive, list(records.values()))
    revisited = DocumentChanges()
    faults: dict[int, SourceFault] = {}
    new_documents: set[int] = set()
    owners: dict[int, _ArchivedDocuments] = {}
    labels: list[PlannedEntity] = []
    for record, archive_id in records.items():
        documents = archived.get(archive_id, _ArchivedDocuments())
        for place, document in enumerate(graph.children(record, "Dokument")):
            owners[document] = documents
            if place < len(documents.documents):
                revisited.known_ids[document] = documents.documents[place]
            else:
                new_documents.add(document)
    for entity in entities:
        if entity.n in new_documents or (entity.type == "Dokumentversjon" and entity.parent in new_documents):
            revisited.new.add(entity.n)
        elif entity.type == "EksternId":
            labels.append(entity)
        elif entity.type == "Dokumentversjon" and entity.parent in owners:
            try:
                version = _version_of(entity, owners[entity.parent], contents, graph)
            except PLACE_FAULTS:
                raise
            except SourceFault as fault:
                faults[entity.n] = fault
                continue
            if version is None:
                revisited.new.add(entity.n)
            else:
                revisited.known_ids[entity.n] = version
    revisited.new |= _missing_labels(archive, graph, labels, revisited, known_ids)
    return revisited, faults


def _missing_labels(
    archive: Archive,
    graph: GraphStore,
    labels: Sequence[PlannedEntity],
    revisited: DocumentChanges,
    known_ids: Mapping[int, str],
) -> set[int]:
    """The external ids of versions that are to be made: of new ones, and of those that an earlier chunk made."""
    missing: set[int] = set()
    by_version: dict[str, list[PlannedEntity]] = {}
    for label in labels:
        version = label.parent
        if version is None or version in revisited.new:
            missing.add(label.n)
        elif graph.entity(version).type == "Dokumentversjon":
            version_id = revisited.known_ids.get(version) or known_ids.get(version)
            if version_id:
                by_version.setdefault(version_id, []).append(label)
    ids = list(by_version)
    for start in range(0, len(ids), _IDS_A_QUERY):
        batch = ids[start : start + _IDS_A_QUERY]
        wanted = {(one, *_name(label.fields)): label.n for one in batch for label in by_version[one]}
        for found in objects(archive, _query_below("EksternId", "refDokumentversjon", batch)):
            wanted.pop((found.links.get("refDokumentversjon", ""), *_name(found.fields)), None)
        missing.update(wanted.values())
    return missing


def _name(fields: Mapping[str, object]) -> tuple[object, object]:
    return fields.get("eksterntSystem"), fields.get("eksternID")


def _version_of(
    entity: PlannedEntity, documents: _ArchivedDocuments, contents: ContentUploader, graph: GraphStore
) -> str | None:
    """The archive's version with the bytes that this one has now; one planned without bytes stands as it is."""
    content = graph.content(entity.n)
    return "" if content is None else documents.versions.get(content.sha256 or contents.sha256(content))


def _read_archived_documents(archive: Archive, records: list[str]) -> dict[str, _ArchivedDocuments]:
    archived: dict[str, _ArchivedDocuments] = {}
    for start in range(0, len(records), _IDS_A_QUERY):
        owners: dict[str, str] = {}
        batch = records[start : start + _IDS_A_QUERY]
        for document in objects(archive, _query_below("Dokument", "refRegistrering", batch)):
            record = document.links.get("refRegistrering", "")
            owners[document.id] = record
            archived.setdefault(record, _ArchivedDocuments()).documents.append(document.id)
        ids = list(owners)
        for first in range(0, len(ids), _IDS_A_QUERY):
            for version in objects(
                archive, _query_below("Dokumentversjon", "refDokument", ids[first : first + _IDS_A_QUERY])
            ):
                record = owners.get(version.links.get("refDokument", ""), "")
                checksum = str(version.fields.get("sjekksum", "")).lower()
                archived.setdefault(record, _ArchivedDocuments()).versions.setdefault(checksum, version.id)
    return archived


def _query_below(kind: str, link: str, ids: list[str]) -> Query:
    parameters = {f"@p{i}": object_id for i, object_id in enumerate(ids)}
    condition = " || ".join(f"{link}.id = {name}" for name in parameters)
    return Query(kind, condition, parameters, order=(("id", "asc"),))
