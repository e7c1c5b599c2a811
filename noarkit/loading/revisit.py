"""Finds the changed documents of records that are in the archive already.

A document whose bytes match no version that the archive holds of it gets a new version, and one that the archive does
not hold is made; nothing else of a record that is there is touched. Which is which says `document_matching`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from noarkit.archive.paging import objects
from noarkit.archive.port import Archive
from noarkit.archive.values import Query, SavedObject
from noarkit.errors import SourceFault
from noarkit.graph.entity import Content
from noarkit.graph.store import GraphStore, PlannedEntity
from noarkit.loading.contents import ContentUploader
from noarkit.loading.document_matching import ArchivedDocument, PlannedDocument, match_documents
from noarkit.loading.lease import RunFacts
from noarkit.loading.lookup import ORDERS, SortOrder, uuid_for
from noarkit.recipes.record_keys import document_identity
from noarkit.records import PLACE_FAULTS

_IDS_A_QUERY = 100


@dataclass(slots=True)
class DocumentChanges:
    """`new` are planned documents and versions to make; `known_ids` the archive's ids of existing ones. `renamed` are
    new documents whose own uuid another document of the record bears."""

    new: set[int] = field(default_factory=set)
    known_ids: dict[int, str] = field(default_factory=dict)
    renamed: set[int] = field(default_factory=set)


_Documents = dict[str, ArchivedDocument]


@dataclass(slots=True)
class DocumentComparison:
    """Compares the planned documents of archived records with what the archive holds of them. `known_ids` are the
    archive's ids of what this run found or made."""

    archive: Archive
    contents: ContentUploader
    graph: GraphStore
    facts: RunFacts
    known_ids: Mapping[int, str]
    _checksums: dict[int, str | SourceFault | None] = field(default_factory=dict)

    def changes(
        self, entities: Sequence[PlannedEntity], records: Mapping[int, str]
    ) -> tuple[DocumentChanges, dict[int, SourceFault]]:
        """What is to be made of these entities, which stand below records with these ids in the archive; and why
        contents could not be compared, by version.

        `entities` may be some of a record's: what an earlier chunk held of it is known from the plan, and from
        `known_ids`.
        """
        by_record: dict[str, _Documents] = {archive_id: {} for archive_id in records.values()}
        # What seems to be missing is asked for again before it is made: an empty answer may be a false one.
        for order in ORDERS:
            _read_archived_documents(self.archive, by_record, order)
            revisited = self._compare(by_record, entities, records)
            if not revisited.new:
                break
        labels = [entity for entity in entities if entity.type == "EksternId"]
        revisited.new |= _missing_labels(self.archive, self.graph, labels, revisited, self.known_ids)
        numbers = {entity.n for entity in entities}
        return revisited, {
            n: fault for n, fault in self._checksums.items() if isinstance(fault, SourceFault) and n in numbers
        }

    def _compare(
        self, by_record: Mapping[str, _Documents], entities: Sequence[PlannedEntity], records: Mapping[int, str]
    ) -> DocumentChanges:
        """Finds which documents and versions of these records are there, and which are to be made."""
        revisited = DocumentChanges()
        new_documents: set[int] = set()
        pairs: dict[int, ArchivedDocument] = {}
        for record, archive_id in records.items():
            planned_entities = {n: self.graph.entity(n) for n in self.graph.children(record, "Dokument")}
            documents = sorted(by_record[archive_id].values(), key=lambda document: _age(document.id))
            pairs_of_record = match_documents(
                [self._planned(entity) for entity in planned_entities.values()],
                documents,
                self.known_ids,
                self._first_checksum,
            )
            pairs |= pairs_of_record
            revisited.known_ids |= {n: document.id for n, document in pairs_of_record.items()}
            new_documents |= planned_entities.keys() - pairs_of_record.keys()
            taken_uuids = {document.uuid for document in documents}
            revisited.renamed |= {
                n
                for n in planned_entities.keys() - pairs_of_record.keys()
                if uuid_for(self.facts, planned_entities[n]) in taken_uuids
            }
        for entity in entities:
            if entity.n in new_documents or (entity.type == "Dokumentversjon" and entity.parent in new_documents):
                revisited.new.add(entity.n)
            elif entity.type == "Dokumentversjon" and entity.parent in pairs:
                self._compare_version(entity, pairs[entity.parent], revisited)
        return revisited

    def _compare_version(self, entity: PlannedEntity, document: ArchivedDocument, revisited: DocumentChanges) -> None:
        version = self._version_by_id(entity, document)
        if version is not None:
            revisited.known_ids[entity.n] = version
            return
        checksum = self._checksum(entity.n)
        if isinstance(checksum, SourceFault):
            return
        # a version planned without bytes stands as it is
        version = "" if checksum is None else document.versions.get(checksum)
        if version is None:
            revisited.new.add(entity.n)
        else:
            revisited.known_ids[entity.n] = version

    def _version_by_id(self, entity: PlannedEntity, document: ArchivedDocument) -> str | None:
        """The version that holds what a service names by an id, which another content never gets: its bytes need not be
        read again to be compared. None where that cannot be said."""
        content = self.graph.content(entity.n)
        if content is None or content.sha256 is not None or content.size_bytes is None:
            return None
        if entity.parent is None or not document_identity(self.graph.entity(entity.parent).key):
            return None
        return document.files.get((content.name, content.size_bytes))

    def _planned(self, entity: PlannedEntity) -> PlannedDocument:
        identity, own_uuid = document_identity(entity.key), entity.fields.get("uuid")
        content = self._first_content(entity.n)
        return PlannedDocument(
            entity.n,
            identity,
            uuid_for(self.facts, entity) if identity or own_uuid else "",
            str(entity.fields.get("tittel") or ""),
            "" if content is None else content.name,
        )

    def _first_content(self, document: int) -> Content | None:
        versions = self.graph.children(document, "Dokumentversjon")
        return self.graph.content(versions[0]) if versions else None

    def _first_checksum(self, document: int) -> str | None:
        versions = self.graph.children(document, "Dokumentversjon")
        checksum = self._checksum(versions[0]) if versions else None
        return None if isinstance(checksum, SourceFault) else checksum

    def _checksum(self, n: int) -> str | SourceFault | None:
        """The checksum of the bytes that a version has now, or why they cannot be read; None if none are planned."""
        if n not in self._checksums:
            self._checksums[n] = _read_checksum(self.contents, self.graph.content(n))
        return self._checksums[n]


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
        missing_by_name = {
            (version_id, *_name(label.fields)): label.n for version_id in batch for label in by_version[version_id]
        }
        for order in ORDERS:  # as above: an empty answer may be a false one
            for external in objects(archive, _query_below("EksternId", "refDokumentversjon", batch, order)):
                missing_by_name.pop((external.links.get("refDokumentversjon", ""), *_name(external.fields)), None)
            if not missing_by_name:
                break
        missing.update(missing_by_name.values())
    return missing


def _name(fields: Mapping[str, object]) -> tuple[object, object]:
    return fields.get("eksterntSystem"), fields.get("eksternID")


def _read_checksum(contents: ContentUploader, content: Content | None) -> str | SourceFault | None:
    try:
        return None if content is None else content.sha256 or contents.sha256(content)
    except PLACE_FAULTS:
        raise
    except SourceFault as fault:
        return fault


def _read_archived_documents(archive: Archive, by_record: Mapping[str, _Documents], order: SortOrder) -> None:
    """Reads the documents and versions of records, and adds what was not known of them."""
    records = list(by_record)
    for start in range(0, len(records), _IDS_A_QUERY):
        batch = records[start : start + _IDS_A_QUERY]
        for document in objects(archive, _query_below("Dokument", "refRegistrering", batch, order)):
            documents = by_record.get(document.links.get("refRegistrering", ""))
            if documents is not None and document.id not in documents:
                uuid, title = str(document.fields.get("uuid") or "").lower(), str(document.fields.get("tittel") or "")
                documents[document.id] = ArchivedDocument(document.id, uuid, title)
        by_id = {document_id: document for record in batch for document_id, document in by_record[record].items()}
        ids = list(by_id)
        for first in range(0, len(ids), _IDS_A_QUERY):
            query = _query_below("Dokumentversjon", "refDokument", ids[first : first + _IDS_A_QUERY], order)
            versions = sorted(objects(archive, query), key=lambda version: _age(version.id))
            for version in versions:
                owner = by_id.get(version.links.get("refDokument", ""))
                if owner is not None:
                    _add_version(owner, version)


def _add_version(document: ArchivedDocument, version: SavedObject) -> None:
    """Adds what one version says of its document: the oldest names it, and stands for its bytes."""
    checksum = str(version.fields.get("sjekksum", "")).lower()
    if all(_age(version.id) <= _age(version_id) for version_id in document.versions.values()):
        document.name = str(version.fields.get("filnavn") or "")
    size = version.fields.get("filstoerrelse")
    if isinstance(size, int | float):
        document.files.setdefault((str(version.fields.get("filnavn") or ""), int(size)), version.id)
    document.versions[checksum] = min(document.versions.get(checksum, version.id), version.id, key=_age)


def _age(object_id: str) -> tuple[int, str]:
    """What orders ids by age: they grow."""
    return len(object_id), object_id


def _query_below(kind: str, link: str, ids: list[str], order: SortOrder) -> Query:
    parameters = {f"@p{i}": object_id for i, object_id in enumerate(ids)}
    condition = " || ".join(f"{link}.id = {name}" for name in parameters)
    return Query(kind, condition, parameters, order=order)
