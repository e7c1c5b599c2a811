"""The tables of derive.db, and their rows as values."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson

from noarkit.copies.port import Finding, Identity, State
from noarkit.copies.reasons import Reason
from noarkit.model.conversions import Purpose

TABLES = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    # a source read once, from its beginning
    "CREATE TABLE walk (n INTEGER PRIMARY KEY, source TEXT NOT NULL, policy TEXT NOT NULL)",
    # identity: the fields of `Identity` as JSON; fault: why its bytes cannot be had; walk: the last that came to it
    "CREATE TABLE document (n INTEGER PRIMARY KEY, source TEXT NOT NULL, record_key TEXT NOT NULL,"
    " locator TEXT NOT NULL, name TEXT NOT NULL, size INTEGER, modified_ns INTEGER, sha256 TEXT, identity TEXT,"
    " fault TEXT, walk INTEGER NOT NULL, copy INTEGER, also INTEGER, access INTEGER, UNIQUE (source, locator))",
    "CREATE INDEX document_walk ON document (walk, n)",
    "CREATE INDEX document_copy ON document (copy)",
    "CREATE INDEX document_also ON document (also)",
    "CREATE INDEX document_access ON document (access)",
    # the first seven are the key: everything that could change the result. sha256, size: of the copy itself
    "CREATE TABLE copy (n INTEGER PRIMARY KEY, source_sha256 TEXT NOT NULL, puid TEXT NOT NULL,"
    " rule_digest TEXT NOT NULL, target TEXT NOT NULL, converter TEXT NOT NULL, version TEXT NOT NULL,"
    " options_digest TEXT NOT NULL, rule TEXT NOT NULL, source_size INTEGER NOT NULL, state TEXT NOT NULL,"
    " walk INTEGER NOT NULL, attempt INTEGER NOT NULL DEFAULT 0, reason TEXT, data TEXT NOT NULL DEFAULT '{}',"
    " findings TEXT NOT NULL DEFAULT '[]', verdicts TEXT NOT NULL DEFAULT '{}', sha256 TEXT, size INTEGER,"
    " result_puid TEXT, tool TEXT NOT NULL DEFAULT '', tool_version TEXT NOT NULL DEFAULT '', cpu_s REAL, wall_s REAL,"
    " peak_bytes INTEGER, started_at TEXT, ended_at TEXT, accepted_by TEXT,"
    " purpose TEXT NOT NULL DEFAULT 'archive',"
    " UNIQUE (source_sha256, puid, rule_digest, target, converter, version, options_digest))",
    "CREATE INDEX copy_planned ON copy (attempt, source_size, n) WHERE state = 'planned'",
    "CREATE INDEX copy_state ON copy (state)",
    "CREATE TABLE acceptance (n INTEGER PRIMARY KEY, copy INTEGER NOT NULL, what TEXT NOT NULL, who TEXT NOT NULL,"
    " at TEXT NOT NULL)",
)
SINCE: Mapping[int, tuple[str, ...]] = {
    2: (
        "ALTER TABLE document ADD COLUMN access INTEGER",
        "CREATE INDEX document_access ON document (access)",
        "ALTER TABLE copy ADD COLUMN purpose TEXT NOT NULL DEFAULT 'archive'",
    ),
}
"""What each version of the store has that the one before had not."""
IS_COPY_OF = "(d.copy = {0} OR d.also = {0} OR d.access = {0})"
"""That a copy is one of a document's, whatever its purpose."""


@dataclass(frozen=True, slots=True)
class StoredCopy:
    """What became of a document by a rule. `path` is where its bytes lie; None where there are none."""

    n: int
    source_sha256: str
    puid: str
    rule: str
    rule_digest: str
    target: str
    converter: str
    version: str
    options_digest: str
    source_size: int
    state: State
    attempt: int
    reason: Reason | None
    data: Mapping[str, object]
    findings: tuple[Finding, ...]
    verdicts: Mapping[str, str]
    sha256: str | None
    size_bytes: int | None
    result_puid: str | None
    tool: str
    tool_version: str
    started_at: str | None
    made_at: str | None
    """When it was made, in UTC: `2026-11-22T09:12:03Z`."""
    accepted_by: str | None
    path: Path | None
    purpose: Purpose = "archive"


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document as it was last read: where it lies, what it is, and the numbers of its copies."""

    n: int
    source: str
    record_key: str
    locator: str
    name: str
    size_bytes: int | None
    modified_ns: int | None
    sha256: str | None
    identity: Identity | None
    fault: Mapping[str, object] | None
    copy: int | None
    also: int | None
    access: int | None = None


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What a person accepted a copy by, that person's name, and when."""

    what: str
    who: str
    at: str


def copy_of(row: sqlite3.Row, objects: Path) -> StoredCopy:
    """A row of `copy` as a value."""
    sha256 = row["sha256"]
    findings = tuple(Finding(item["code"], item.get("data", {})) for item in orjson.loads(row["findings"]))
    return StoredCopy(
        **{name: row[name] for name in _AS_THEY_STAND},
        reason=Reason(row["reason"]) if row["reason"] else None,
        data=orjson.loads(row["data"]),
        findings=findings,
        verdicts=orjson.loads(row["verdicts"]),
        sha256=sha256,
        size_bytes=row["size"],
        made_at=row["ended_at"],
        path=objects / sha256[:2] / sha256 if sha256 else None,
    )


_AS_THEY_STAND = (
    *("n", "source_sha256", "puid", "rule", "rule_digest", "target", "converter", "version", "options_digest"),
    *("source_size", "state", "attempt", "result_puid", "tool", "tool_version", "started_at", "accepted_by"),
    "purpose",
)


def document_of(row: sqlite3.Row) -> StoredDocument:
    """A row of the table of documents as a value."""
    names = ("n", "source", "record_key", "locator", "name", "modified_ns", "sha256", "copy", "also", "access")
    return StoredDocument(
        **{name: row[name] for name in names},
        size_bytes=row["size"],
        identity=Identity(**orjson.loads(row["identity"])) if row["identity"] else None,
        fault=orjson.loads(row["fault"]) if row["fault"] else None,
    )
