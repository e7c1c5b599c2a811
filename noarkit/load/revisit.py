"""What became of records that are in the archive already: which of their documents have other bytes now.

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
from noarkit.graph.store import GraphStore, Planned
from noarkit.load.contents import Contents

_IDS_A_QUERY = 100


@dataclass(slots=True)
class Revisited:
    """`new` are planned documents and versions to make; `documents` the archive's ids of those that get a version."""

    new: set[int] = field(default_factory=set)
    documents: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Held:
    """What the archive holds for one record: its documents in order, and the checksums of all their versions."""

    documents: list[str] = field(default_factory=list)
    checksums: set[str] = field(default_factory=set)


def changed_versions(
    archive: Archive,
    contents: Contents,
    graph: GraphStore,
    entities: Sequence[Planned],
    records: Mapping[int, str],
) -> tuple[Revisited, dict[int, SourceFault]]:
    """Compares the planned contents of records that are there with what the archive holds; faults are by bundle."""
    held = _held(archive, list(records.values()))
    revisited = Revisited()
    faults: dict[int, SourceFault] = {}
    planned_documents: dict[int, list[Planned]] = {}
    for entity in entities:
        if entity.type == "Dokument" and entity.parent is not None and entity.parent in records:
            planned_documents.setdefault(entity.parent, []).append(entity)
    documents = {one.n: one for several in planned_documents.values() for one in several}
    for entity in entities:
        document = documents.get(entity.parent or 0)
        if entity.type != "Dokumentversjon" or document is None or document.parent is None:
            continue
        content = graph.content(entity.n)
        there = held.get(records[document.parent], _Held())
        place = planned_documents[document.parent].index(document)
        if content is None:
            continue
        if place >= len(there.documents):
            revisited.new.update((document.n, entity.n))
            continue
        try:
            checksum = content.sha256 or contents.sha256(content)
        except SourceFault as fault:
            faults[entity.bundle] = fault
            continue
        if checksum not in there.checksums:
            revisited.new.add(entity.n)
            revisited.documents[document.n] = there.documents[place]
    return revisited, faults


def _held(archive: Archive, records: list[str]) -> dict[str, _Held]:
    held: dict[str, _Held] = {}
    for start in range(0, len(records), _IDS_A_QUERY):
        owners: dict[str, str] = {}
        some = records[start : start + _IDS_A_QUERY]
        for document in objects(archive, _under("Dokument", "refRegistrering", some)):
            record = document.links.get("refRegistrering", "")
            owners[document.id] = record
            held.setdefault(record, _Held()).documents.append(document.id)
        ids = list(owners)
        for first in range(0, len(ids), _IDS_A_QUERY):
            for version in objects(
                archive, _under("Dokumentversjon", "refDokument", ids[first : first + _IDS_A_QUERY])
            ):
                record = owners.get(version.links.get("refDokument", ""), "")
                held.setdefault(record, _Held()).checksums.add(str(version.fields.get("sjekksum", "")).lower())
    return held


def _under(kind: str, link: str, ids: list[str]) -> Query:
    parameters = {f"@p{i}": one for i, one in enumerate(ids)}
    where = " || ".join(f"{link}.id = {name}" for name in parameters)
    return Query(kind, where, parameters, order=(("id", "asc"),))
