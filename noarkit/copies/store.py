"""COPIES/derive.db and COPIES/objects: what is known of each document, and the bytes of its copies.

One process writes it; any number may read it. A row of `copy` stands for everything that could change a result: the
document's sha256, its PRONOM identifier, the rule, the target, the converter with its version and options. States of a
copy: planned → working → made, kept, held, failed, left. The bytes of an object are durable before its row says so.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

import orjson

from noarkit.copies.objects import OBJECTS
from noarkit.copies.port import Finding, Identity, State
from noarkit.copies.reasons import Reason
from noarkit.copies.rows import IS_COPY_OF, SINCE, TABLES, StoredCopy, StoredDocument, copy_of, document_of
from noarkit.errors import JournalFault, UsageFault
from noarkit.model.conversions import Purpose
from noarkit.safe import atomic
from noarkit.safe.disk import translate_sqlite_errors

STORE_VERSION = 2
ALONE_FROM = 2
"""Attempts after which a document goes alone: it may be what ended the earlier ones."""
DATABASE, WORK, LOCK = "derive.db", "work", "derive.lock"
COPY_ROWS = "SELECT c.* FROM copy c"
DOCUMENT_ROWS = "SELECT d.* FROM document d"


@dataclass(frozen=True, slots=True)
class CopyKey:
    """Everything that could change what a copy is; one row of the store for each."""

    source_sha256: str
    puid: str
    rule_digest: str
    target: str
    converter: str = ""
    version: str = ""
    options_digest: str = ""


@dataclass(frozen=True, slots=True)
class DocumentPlace:
    """Where a document lies in a source, and what the source says of it."""

    source: str
    """Kind and place of its source, as `SourceIdentity` has them: `files:/srv/records`."""
    record_key: str
    locator: str
    name: str
    size_bytes: int | None
    modified_ns: int | None


@dataclass(frozen=True, slots=True)
class CopyOutcome:
    """What became of a copy, as its row says it. `sha256` is that of its object, where it has one."""

    state: State
    reason: Reason | None = None
    data: Mapping[str, object] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    verdicts: Mapping[str, str] = field(default_factory=dict)
    sha256: str | None = None
    size_bytes: int | None = None
    result_puid: str | None = None
    tool: str = ""
    tool_version: str = ""
    cpu_s: float = 0.0
    wall_s: float = 0.0
    peak_bytes: int = 0


SOURCE_DIGEST = "source_digest"
"""The fact of a store that is a checksum of its source as it was when its documents were last looked at."""


class CopyStore:
    """An open folder of copies. As a context manager it closes itself."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._path = folder / DATABASE
        with translate_sqlite_errors(self._path):
            self._db = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False, timeout=30)
            self._db.row_factory = sqlite3.Row
        try:
            self._prepare()
        except BaseException:
            self._db.close()
            raise

    @classmethod
    def open(cls, folder: Path, *, create: bool = False) -> Self:
        """Opens COPIES. Raises `UsageFault` where there is none and `create` is False, or where something else lies."""
        if not (folder / DATABASE).exists():
            if not create:
                raise UsageFault(what="not-copies", where=str(folder))
            if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
                raise UsageFault(what="exists", where=str(folder))
            with atomic.no_room(folder / DATABASE):
                folder.mkdir(parents=True, exist_ok=True)
                (folder / DATABASE).touch(mode=0o600)
        return cls(folder)

    def _prepare(self) -> None:
        with translate_sqlite_errors(self._path):
            self._db.execute("PRAGMA journal_mode = WAL")
            # What a row says of an object shall outlive a power cut: a result is never made twice.
            self._db.execute("PRAGMA synchronous = FULL")
            if self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
                self._make_tables()
        version = self.meta("version")
        if version is None or int(version) > STORE_VERSION:
            raise JournalFault(where=str(self._path), why="unknown-version", detail=version)
        if int(version) < STORE_VERSION:
            self._bring_up_to_date(int(version))

    def _make_tables(self) -> None:
        with self.transaction() as db:
            for table in TABLES:
                db.execute(table)
            db.execute("INSERT INTO meta VALUES ('version', ?)", (str(STORE_VERSION),))

    def _bring_up_to_date(self, version: int) -> None:
        """Adds what a store of an earlier version lacks. What was sealed is the same afterwards."""
        with self.transaction() as db:
            for later in range(version + 1, STORE_VERSION + 1):
                for statement in SINCE[later]:
                    db.execute(statement)
            self.remember(version=str(STORE_VERSION))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection."""
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Runs a block whole or not at all; within another it is part of that. Raises `DiskFull`, `JournalFault`."""
        if self._db.in_transaction:
            yield self._db
            return
        with translate_sqlite_errors(self._path):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[Any]:  # sqlite3 does not type its rows
        """The rows that a statement asks for. Raises `JournalFault`."""
        with translate_sqlite_errors(self._path):
            return self._db.execute(statement, values).fetchall()

    # -- facts of the store ---------------------------------------------------------------------------------------

    def meta(self, name: str) -> str | None:
        """One fact of the store; None where it was not remembered."""
        rows = self.rows("SELECT value FROM meta WHERE name = ?", (name,))
        return str(rows[0][0]) if rows else None

    def remember(self, **facts: str) -> None:
        """Remembers facts of the store by name."""
        with self.transaction() as db:
            db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", facts.items())

    def begin_walk(self, source: str, policy: str) -> int:
        """Begins to read a source: what was under way when a process was killed is planned again; what was so twice
        goes alone."""
        with self.transaction() as db:
            db.execute("UPDATE copy SET state = 'planned' WHERE state = 'working'")
            row = db.execute("INSERT INTO walk (source, policy) VALUES (?, ?) RETURNING n", (source, policy)).fetchone()
        return int(row[0])

    def latest_walks(self) -> Sequence[int]:
        """The latest walk of each source."""
        return [int(row[0]) for row in self.rows("SELECT max(n) FROM walk GROUP BY source ORDER BY 1")]

    def walk_source(self, walk: int) -> str:
        """The source that a walk read."""
        return str(self.rows("SELECT source FROM walk WHERE n = ?", (walk,))[0][0])

    def last_settled(self) -> str | None:
        """When the last copy got its outcome."""
        return str(self.rows("SELECT coalesce(max(ended_at), '') FROM copy")[0][0]) or None

    # -- documents ------------------------------------------------------------------------------------------------

    def document(self, source: str, locator: str) -> StoredDocument | None:
        """What is known of the document at a place of a source."""
        rows = self.rows(f"{DOCUMENT_ROWS} WHERE source = ? AND locator = ?", (source, locator))
        return document_of(rows[0]) if rows else None

    def documents(self, walk: int) -> Iterator[tuple[StoredDocument, StoredCopy | None]]:
        """Every document that a walk came to, in its order, with its copy."""
        last = 0
        while rows := self.rows(f"{DOCUMENT_ROWS} WHERE walk = ? AND n > ? ORDER BY n LIMIT 500", (walk, last)):
            for row in rows:
                yield document_of(row), self.copy(row["copy"]) if row["copy"] is not None else None
                last = int(row["n"])

    def note_document(
        self,
        place: DocumentPlace,
        walk: int,
        sha256: str | None,
        identity: Identity | None,
        *,
        fault: Mapping[str, object] | None = None,
    ) -> int:
        """Writes what was found at a place; returns the number of the document."""
        values = (
            *(place.source, place.record_key, place.locator, place.name, place.size_bytes, place.modified_ns),
            *(sha256, _json(asdict(identity)) if identity else None, _json(fault) if fault else None, walk),
        )
        with self.transaction() as db:
            row = db.execute(
                "INSERT INTO document (source, record_key, locator, name, size, modified_ns, sha256, identity, fault,"
                " walk) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (source, locator) DO UPDATE SET"
                " record_key = excluded.record_key, name = excluded.name, size = excluded.size,"
                " modified_ns = excluded.modified_ns, sha256 = excluded.sha256, identity = excluded.identity,"
                " fault = excluded.fault, walk = excluded.walk,"
                # other bytes are another document; the same ones keep their copy, also where only some are converted
                " copy = CASE WHEN excluded.sha256 IS sha256 THEN copy END,"
                " also = CASE WHEN excluded.sha256 IS sha256 THEN also END,"
                " access = CASE WHEN excluded.sha256 IS sha256 THEN access END RETURNING n",
                values,
            ).fetchone()
        return int(row[0])

    def link(self, document: int, copy: int | None, also: int | None, access: int | None = None) -> None:
        """Says which copies are a document's."""
        with self.transaction() as db:
            db.execute("UPDATE document SET copy = ?, also = ?, access = ? WHERE n = ?", (copy, also, access, document))

    def relink(self, old: int, new: int, also: int | None = None) -> None:
        """Gives every document of one copy another instead, and one in addition where there is one."""
        with self.transaction() as db:
            db.execute("UPDATE document SET copy = ?, also = coalesce(?, also) WHERE copy = ?", (new, also, old))
            db.execute("UPDATE document SET also = ? WHERE also = ?", (new, old))
            db.execute("UPDATE document SET access = ? WHERE access = ?", (new, old))

    def places_of(self, copy: int, walk: int) -> Sequence[StoredDocument]:
        """Where the document of a copy lies, as a walk found it; a few of the places where there are many."""
        rows = self.rows(
            f"{DOCUMENT_ROWS} WHERE {IS_COPY_OF.format('?1')} AND walk = ?2 ORDER BY n LIMIT 5", (copy, walk)
        )
        return [document_of(row) for row in rows]

    # -- copies ---------------------------------------------------------------------------------------------------

    def copy(self, n: int) -> StoredCopy:
        """The copy with a number."""
        return copy_of(self.rows(f"{COPY_ROWS} WHERE n = ?", (n,))[0], self.folder / OBJECTS)

    def copies_of(self, sha256: str, suffix: str) -> Sequence[StoredCopy]:
        """Every copy of a document by the document's sha256: those of documents whose names end so, then those that
        the policy wants now, and the latest first."""
        wanted = f"EXISTS (SELECT 1 FROM document d WHERE {IS_COPY_OF.format('c.n')}{{}})"  # noqa: S608  # ours
        by_name = wanted.format(" AND json_extract(d.identity, '$.suffix') = ?2")
        rows = self.rows(
            f"{COPY_ROWS} WHERE source_sha256 = ?1 ORDER BY {by_name} DESC, {wanted.format('')} DESC, n DESC",
            (sha256, suffix),
        )
        return [copy_of(row, self.folder / OBJECTS) for row in rows]

    def latest(self, key: CopyKey) -> StoredCopy | None:
        """The latest copy of a document by a rule, whatever made it."""
        rows = self.rows(
            f"{COPY_ROWS} WHERE source_sha256 = ? AND puid = ? AND rule_digest = ? AND target = ?"
            " ORDER BY n DESC LIMIT 1",
            (key.source_sha256, key.puid, key.rule_digest, key.target),
        )
        return copy_of(rows[0], self.folder / OBJECTS) if rows else None

    def failures_before(self, copy: StoredCopy) -> Sequence[StoredCopy]:
        """The copies of the same document by the same rule that failed before this one, in order."""
        rows = self.rows(
            f"{COPY_ROWS} WHERE source_sha256 = ? AND puid = ? AND rule_digest = ? AND target = ? AND n < ?"
            " AND state = 'failed' ORDER BY n",
            (copy.source_sha256, copy.puid, copy.rule_digest, copy.target, copy.n),
        )
        return [copy_of(row, self.folder / OBJECTS) for row in rows]

    def plan(self, key: CopyKey, rule: str, size_bytes: int, walk: int, purpose: Purpose = "archive") -> int:
        """The number of the row of a key; a new one is planned."""
        parts = asdict(key)
        names = ", ".join(parts)
        with self.transaction() as db:
            row = db.execute(
                f"INSERT INTO copy ({names}, rule, source_size, state, walk, purpose)"  # noqa: S608  # names of our own fields
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'planned', ?, ?)"
                f" ON CONFLICT ({names}) DO UPDATE SET walk = excluded.walk RETURNING n",
                (*parts.values(), rule, size_bytes, walk, purpose),
            ).fetchone()
        return int(row[0])

    def renew(self, n: int, walk: int) -> None:
        """Plans a copy once more; it forgets what became of it, and its object stays."""
        with self.transaction() as db:
            db.execute("UPDATE copy SET state = 'planned', attempt = 0, walk = ? WHERE n = ?", (walk, n))

    def answer(self, n: int, state: State, reason: Reason | None, data: Mapping[str, object]) -> None:
        """Changes the state of a copy whose findings are answered otherwise than before."""
        with self.transaction() as db:
            db.execute("UPDATE copy SET state = ?, reason = ?, data = ? WHERE n = ?", (state, reason, _json(data), n))

    def touch(self, n: int, walk: int) -> None:
        """Says that a walk has come to a copy, so that it is made where it is only planned."""
        with self.transaction() as db:
            db.execute("UPDATE copy SET walk = ? WHERE n = ? AND state = 'planned'", (walk, n))

    def next_planned(self, walk: int) -> StoredCopy | None:
        """The copy that is made next: the smallest, and what once took its worker with it last and alone."""
        rows = self.rows(
            f"{COPY_ROWS} WHERE state = 'planned' AND walk = ? ORDER BY attempt, source_size, n LIMIT 1", (walk,)
        )
        return copy_of(rows[0], self.folder / OBJECTS) if rows else None

    def more_planned(self, first: StoredCopy, walk: int, count: int) -> Sequence[StoredCopy]:
        """Further copies for the batch of a first one: by its converter, tried as often, and small ones first."""
        rows = self.rows(
            f"{COPY_ROWS} WHERE state = 'planned' AND walk = ? AND attempt = ? AND converter = ? AND n != ?"
            " ORDER BY source_size, n LIMIT ?",
            (walk, first.attempt, first.converter, first.n, count),
        )
        return [copy_of(row, self.folder / OBJECTS) for row in rows]

    def planned_like(self, first: StoredCopy, walk: int) -> int:
        """How many copies are planned that may be in a batch with this one, itself among them."""
        rows = self.rows(
            "SELECT count(*) FROM copy WHERE state = 'planned' AND walk = ? AND attempt = ? AND converter = ?",
            (walk, first.attempt, first.converter),
        )
        return int(rows[0][0])

    def lease(self, copies: Sequence[int], at: str) -> None:
        """Says that a worker is at some copies."""
        with self.transaction() as db:
            db.executemany(
                "UPDATE copy SET state = 'working', attempt = attempt + 1, started_at = ? WHERE n = ?",
                [(at, n) for n in copies],
            )

    def give_back(self, n: int, *, tried: bool) -> None:
        """Plans a copy again that a worker was at: to go alone, or without `tried` as if it had never been."""
        with self.transaction() as db:
            db.execute(
                "UPDATE copy SET state = 'planned', attempt = CASE WHEN ? THEN max(attempt, ?) ELSE attempt - 1 END"
                " WHERE n = ? AND state = 'working'",
                (tried, ALONE_FROM, n),
            )

    def settle(self, n: int, outcome: CopyOutcome, at: str) -> None:
        """Writes what became of a copy; its object must be in its place."""
        findings = [
            {"code": finding.code, **({"data": finding.data} if finding.data else {})} for finding in outcome.findings
        ]
        values = (
            *(outcome.state, outcome.reason, _json(outcome.data), _json(findings), _json(outcome.verdicts)),
            *(outcome.sha256, outcome.size_bytes, outcome.result_puid, outcome.tool, outcome.tool_version),
            *(outcome.cpu_s, outcome.wall_s, outcome.peak_bytes, at, n),
        )
        with self.transaction() as db:
            db.execute(
                "UPDATE copy SET state = ?, reason = ?, data = ?, findings = ?, verdicts = ?, sha256 = ?, size = ?,"
                " result_puid = ?, tool = ?, tool_version = ?, cpu_s = ?, wall_s = ?, peak_bytes = ?, ended_at = ?"
                " WHERE n = ?",
                values,
            )

    # -- objects --------------------------------------------------------------------------------------------------

    def objects(self) -> Iterator[tuple[str, int]]:
        """Every object that a row tells of, once, with its size."""
        last = ""
        statement = "SELECT DISTINCT sha256, size FROM copy WHERE sha256 > ? ORDER BY sha256 LIMIT 1000"
        while rows := self.rows(statement, (last,)):
            for row in rows:
                yield str(row[0]), int(row[1])
            last = str(rows[-1][0])

    def sealed_rows(self) -> Iterator[tuple[object, ...]]:
        """Everything of copies and documents that a plan goes by, in one order, as a seal covers it."""
        copies = (
            "SELECT n, source_sha256, puid, rule, rule_digest, target, state, reason, data, findings, sha256, size,"
            " result_puid, tool, tool_version, ended_at, accepted_by FROM copy WHERE n > ? ORDER BY n LIMIT 1000"
        )
        documents = (
            "SELECT n, sha256, name, identity, fault, copy, also FROM document WHERE n > ? ORDER BY n LIMIT 1000"
        )
        acceptances = "SELECT n, copy, what, who, at FROM acceptance WHERE n > ? ORDER BY n"
        # apart, so that what was sealed before there were copies for reading is what it was
        access = (
            "SELECT n, purpose FROM copy WHERE n > ? AND purpose != 'archive' ORDER BY n LIMIT 1000",
            "SELECT n, access FROM document WHERE n > ? AND access IS NOT NULL ORDER BY n LIMIT 1000",
        )
        for statement in (copies, documents, acceptances, *access):
            last = 0
            while rows := self.rows(statement, (last,)):
                yield from (tuple(row) for row in rows)
                last = int(rows[-1][0])

    def digest(self) -> str:
        """A checksum of everything that a plan goes by."""
        digest = hashlib.sha256()
        for row in self.sealed_rows():
            digest.update(_json(row).encode())
        return digest.hexdigest()

    def copy_to(self, folder: Path) -> None:
        """Copies what is known to another folder, without the objects."""
        folder.mkdir(parents=True)
        with closing(sqlite3.connect(folder / DATABASE)) as other:
            self._db.backup(other)

    # -- numbers --------------------------------------------------------------------------------------------------

    def open_count(self, walk: int) -> int:
        """How many copies a walk has still to make."""
        rows = self.rows("SELECT count(*) FROM copy WHERE state IN ('planned', 'working') AND walk = ?", (walk,))
        return int(rows[0][0])

    def access_bytes(self, walk: int) -> int:
        """The size of the access copies of a walk's documents, each once."""
        rows = self.rows(
            "SELECT coalesce(sum(size), 0) FROM copy WHERE state = 'made' AND n IN"
            " (SELECT access FROM document WHERE walk = ?)",
            (walk,),
        )
        return int(rows[0][0])

    def numbers(self, walk: int, purpose: Purpose = "archive") -> list[tuple[str, str, str, str, int, int]]:
        """How the documents of a walk stand: format, state, reason, converter, how many, how many bytes. Of
        copies for access only the documents that should have one."""
        column, least = ("copy", "") if purpose == "archive" else ("access", " AND d.access IS NOT NULL")
        rows = self.rows(
            "SELECT coalesce(json_extract(d.identity, '$.puid'), ''),"  # noqa: S608  # ours
            " CASE WHEN d.fault IS NOT NULL THEN 'failed' ELSE coalesce(c.state, 'planned') END AS now,"
            " coalesce(CASE WHEN d.fault IS NOT NULL THEN 'unreadable' ELSE c.reason END, '') AS why,"
            " coalesce(c.converter, ''), count(*), coalesce(sum(d.size), 0)"
            f" FROM document d LEFT JOIN copy c ON c.n = d.{column} WHERE d.walk = ?{least}"  # ours
            " GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3",
            (walk,),
        )
        return [(*map(str, row[:4]), int(row[4]), int(row[5])) for row in rows]  # type: ignore[misc]  # four texts


def _json(value: object) -> str:
    return orjson.dumps(value, default=str).decode()
