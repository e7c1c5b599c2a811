"""Finds the changed documents of records that are in the archive already.

A document whose bytes match no version the archive holds for its record gets a new version, and a document more than
the archive holds is made; nothing else of a record that is there is touched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from noarkit.archive.paging import objects
from noarkit.archive.port import Archive
from noarkit.archive.values import Query
from noarkit.errors import SourceFault
from noarkit.graph.store import GraphStore, PlannedEntity
from noarkit.loading.contents import ContentUploader
from noarkit.loading.lookup import ORDERS, SortOrder
from noarkit.records import PLACE_FAULTS

_IDS_A_QUERY = 100


@dataclass(slots=True)
class DocumentChanges:
    """`new` are planned documents and versions to make; `known_ids` the archive's ids of existing ones."""

    new: set[int] = field(default_factory=set)
    known_ids: dict[int, str] = field(default_factory=dict)


class _ArchivedDocuments(NamedTuple):
    """The documents of one record in the archive, in order, and the oldest of its versions of each checksum."""

    documents: list[str]
    versions: dict[str, str]


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
    archived = {archive_id: _ArchivedDocuments([], {}) for archive_id in records.values()}
    checksums: dict[int, str | SourceFault | None] = {}
    # What seems to be missing is asked for again before it is made: an empty answer may be a false one.
    for order in ORDERS:
        _read_archived_documents(archive, archived, order)
        revisited = _compare(archived, contents, graph, entities, records, checksums)
        if not revisited.new:
            break
    labels = [entity for entity in entities if entity.type == "EksternId"]
    revisited.new |= _missing_labels(archive, graph, labels, revisited, known_ids)
    return revisited, {n: fault for n, fault in checksums.items() if isinstance(fault, SourceFault)}


def _compare(
    archived: Mapping[str, _ArchivedDocuments],
    contents: ContentUploader,
    graph: GraphStore,
    entities: Sequence[PlannedEntity],
    records: Mapping[int, str],
    checksums: dict[int, str | SourceFault | None],
) -> DocumentChanges:
    """Compares the plan with what was read so far; keeps the checksums of contents, or why there is none."""
    revisited = DocumentChanges()
    new_documents: set[int] = set()
    owners: dict[int, _ArchivedDocuments] = {}
    for record, archive_id in records.items():
        documents = archived[archive_id]
        for place, document in enumerate(graph.children(record, "Dokument")):
            owners[document] = documents
            if place < len(documents.documents):
                revisited.known_ids[document] = documents.documents[place]
            else:
                new_documents.add(document)
    for entity in entities:
        if entity.n in new_documents or (entity.type == "Dokumentversjon" and entity.parent in new_documents):
            revisited.new.add(entity.n)
        elif entity.type == "Dokumentversjon" and entity.parent in owners:
            if entity.n not in checksums:
                checksums[entity.n] = _checksum(entity, contents, graph)
            checksum = checksums[entity.n]
            if isinstance(checksum, SourceFault):
                continue
            # a version planned without bytes stands as it is
            version = "" if checksum is None else owners[entity.parent].versions.get(checksum)
            if version is None:
                revisited.new.add(entity.n)
            else:
                revisited.known_ids[entity.n] = version
    return revisited


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
        for order in ORDERS:  # as above: an empty answer may be a false one
            for found in objects(archive, _query_below("EksternId", "refDokumentversjon", batch, order)):
                wanted.pop((found.links.get("refDokumentversjon", ""), *_name(found.fields)), None)
            if not wanted:
                break
        missing.update(wanted.values())
    return missing


def _name(fields: Mapping[str, object]) -> tuple[object, object]:
    return fields.get("eksterntSystem"), fields.get("eksternID")


def _checksum(entity: PlannedEntity, contents: ContentUploader, graph: GraphStore) -> str | SourceFault | None:
    """The checksum of the bytes that a version has now, or why they cannot be read; None if none are planned."""
    content = graph.content(entity.n)
    try:
        return None if content is None else content.sha256 or contents.sha256(content)
    except PLACE_FAULTS:
        raise
    except SourceFault as fault:
        return fault


def _read_archived_documents(archive: Archive, archived: Mapping[str, _ArchivedDocuments], order: SortOrder) -> None:
    """Reads the documents and versions of records, and adds what was not known of them."""
    records = list(archived)
    for start in range(0, len(records), _IDS_A_QUERY):
        owners: dict[str, str] = {}
        batch = records[start : start + _IDS_A_QUERY]
        for document in objects(archive, _query_below("Dokument", "refRegistrering", batch, order)):
            record = document.links.get("refRegistrering", "")
            if record in archived and document.id not in archived[record].documents:
                archived[record].documents.append(document.id)
        for record in batch:
            archived[record].documents.sort(key=_age)
            owners.update(dict.fromkeys(archived[record].documents, record))
        ids = list(owners)
        for first in range(0, len(ids), _IDS_A_QUERY):
            for version in objects(
                archive, _query_below("Dokumentversjon", "refDokument", ids[first : first + _IDS_A_QUERY], order)
            ):
                record = owners.get(version.links.get("refDokument", ""), "")
                checksum = str(version.fields.get("sjekksum", "")).lower()
                if record in archived:
                    versions = archived[record].versions
                    versions[checksum] = min(versions.get(checksum, version.id), version.id, key=_age)


def _age(object_id: str) -> tuple[int, str]:
    """What orders ids by age: they grow."""
    return len(object_id), object_id


def _query_below(kind: str, link: str, ids: list[str], order: SortOrder) -> Query:
    parameters = {f"@p{i}": object_id for i, object_id in enumerate(ids)}
    condition = " || ".join(f"{link}.id = {name}" for name in parameters)
    return Query(kind, condition, parameters, order=order)
