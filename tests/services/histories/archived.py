"""What an embedded archive holds of one tenant, read from its tables: its own API is not asked."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from tests.waiting import PATIENCE_S


@dataclass(slots=True)
class Document:
    """A document: the checksums and names of its versions, oldest first."""

    sha256s: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)


@dataclass(slots=True)
class ArchivedRecord:
    """A record with the external id of its folder."""

    key: str
    folder: str
    documents: dict[int, Document] = field(default_factory=dict)


_RECORDS = """
SELECT x.eksternID, r.id, coalesce(f.eksternID, '') FROM o_eksternid x
JOIN o_abstraktregistrering r ON r.id = x.refRegistrering
LEFT JOIN o_eksternid f ON f.refMappe = r.refMappe AND f.eksterntSystem = x.eksterntSystem
WHERE x.eksterntSystem = ? AND instr(x.eksternID, ?) = 1 ORDER BY r.id
"""
_VERSIONS = """
SELECT d.id, v.sjekksum, v.filnavn FROM o_dokument d JOIN o_dokumentversjon v ON v.refDokument = d.id
WHERE d.refRegistrering = ? ORDER BY d.id, v.versjonsnummer, v.id
"""


def read_archived(folder: Path, system: str, prefix: str) -> list[ArchivedRecord]:
    """All records whose external id begins so; one that was archived twice comes twice."""
    records: list[ArchivedRecord] = []
    with closing(sqlite3.connect(folder / "archive.db", timeout=PATIENCE_S)) as db:
        for key, number, folder_key in db.execute(_RECORDS, (system, prefix)).fetchall():
            record = ArchivedRecord(key, folder_key)
            for document, sha256, name in db.execute(_VERSIONS, (number,)):
                entry = record.documents.setdefault(document, Document())
                entry.sha256s.append(sha256)
                entry.names.append(name)
            records.append(record)
    return records


def read_file(folder: Path, sha256: str) -> bytes:
    """The bytes of a stored file."""
    return (folder / "files" / sha256[:2] / sha256).read_bytes()
