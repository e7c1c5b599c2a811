"""delivery.db: the bundles that a run was sealed in for the other side of an air gap, and their receipts.

A bundle has its identity before the first file is packed, and its documents' checksums before it has its name; so
whatever stops the packing, the same command goes on, and a receipt can be held against what really left.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import orjson

from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import Numbers
from noarkit.loading.tables import change_tables, open_tables
from noarkit.safe.disk import translate_sqlite_errors

DELIVERY = "delivery.db"
DELIVERY_VERSION = 2

_ACCEPTANCES = (
    # what a person on this side accepted of what the receiver found, and just these findings
    "CREATE TABLE acceptance (id TEXT PRIMARY KEY, bundle TEXT NOT NULL, identity TEXT NOT NULL, at TEXT NOT NULL,"
    " by_name TEXT NOT NULL, note TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE accepted_finding (acceptance TEXT NOT NULL, code TEXT NOT NULL, key TEXT NOT NULL,"
    " detail TEXT NOT NULL, actual TEXT NOT NULL, PRIMARY KEY (acceptance, code, key, detail, actual)) WITHOUT ROWID",
)
_TABLES = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    # seal: its sha256, once it stands; placed: the bundle has its name
    "CREATE TABLE bundle (id TEXT PRIMARY KEY, target TEXT NOT NULL, made TEXT NOT NULL, seal TEXT,"
    " placed INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE document (bundle TEXT NOT NULL, n INTEGER NOT NULL, size INTEGER NOT NULL, sha256 TEXT NOT NULL,"
    " PRIMARY KEY (bundle, n)) WITHOUT ROWID",
    "CREATE TABLE left_out (bundle TEXT NOT NULL, n INTEGER NOT NULL, code TEXT NOT NULL, data TEXT NOT NULL,"
    " PRIMARY KEY (bundle, n)) WITHOUT ROWID",
    "CREATE TABLE receipt (id TEXT PRIMARY KEY, bundle TEXT NOT NULL, at TEXT NOT NULL, archive TEXT NOT NULL,"
    " identity TEXT NOT NULL, numbers TEXT NOT NULL, accepted INTEGER NOT NULL DEFAULT 0,"
    " accepted_by TEXT NOT NULL DEFAULT '') WITHOUT ROWID",
    *_ACCEPTANCES,
)
_UPGRADES = {
    1: (
        "ALTER TABLE receipt ADD COLUMN accepted INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE receipt ADD COLUMN accepted_by TEXT NOT NULL DEFAULT ''",
        *_ACCEPTANCES,
    )
}


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle; `seal` is the sha256 of its seal, None while it is packed, `is_placed` once it has its name."""

    id: str
    target: str
    created_at: str
    seal: str | None = None
    is_placed: bool = False


@dataclass(frozen=True, slots=True)
class MissingDocument:
    """A document that could not be sealed: the entity it belongs to, and the fault that it met."""

    n: int
    code: str
    data: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Receipt:
    """A receipt that closed the case: what arrived where, with how much of it accepted as it is, and by whom."""

    id: str
    bundle: str
    at: str
    archive: str
    identity: str
    numbers: Numbers
    accepted: int = 0
    accepted_by: str = ""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What a person accepted of what the receiver of a bundle found in the archive with this identity: the code, key
    and detail of each finding, and what tells the value that it is of."""

    id: str
    bundle: str
    identity: str
    at: str
    by: str
    note: str
    findings: tuple[tuple[str, str, str, str], ...]


DeliveryState = Literal["sealed", "delivered"]


class Deliveries:
    """An open delivery.db, made where there is none; close() ends it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._db = open_tables(path, _TABLES, DELIVERY_VERSION, pragmas=("synchronous = FULL",), upgrades=_UPGRADES)

    def close(self) -> None:
        """Ends the connection."""
        self._db.close()

    def begin(self, target: str, now: str) -> Bundle:
        """The bundle that is being packed for `target`: the one begun before, or a new one."""
        with change_tables(self._db, self.path) as db:
            row = db.execute("SELECT * FROM bundle WHERE target = ? AND NOT placed", (target,)).fetchone()
            if row is not None:
                return Bundle(*row[:4])
            bundle = Bundle(str(uuid.uuid4()), target, now)
            db.execute("INSERT INTO bundle VALUES (?, ?, ?, NULL, 0)", (bundle.id, bundle.target, bundle.created_at))
        return bundle

    def bundle(self, id_: str) -> Bundle | None:
        """A bundle that was sealed, by its id."""
        with translate_sqlite_errors(self.path):
            row = self._db.execute("SELECT * FROM bundle WHERE id = ? AND seal IS NOT NULL", (id_,)).fetchone()
        if row is None:
            return None
        bundle_id, target, created_at, seal, is_placed = row
        return Bundle(bundle_id, target, created_at, seal, bool(is_placed))

    def any_sealed(self) -> bool:
        """True if something of the run was sealed."""
        with translate_sqlite_errors(self.path):
            return self._db.execute("SELECT 1 FROM bundle WHERE seal IS NOT NULL LIMIT 1").fetchone() is not None

    def leave_out(self, bundle: str, missing: MissingDocument) -> None:
        """Remembers a document that cannot be sealed."""
        row = (bundle, missing.n, missing.code, orjson.dumps(dict(missing.data), default=str).decode())
        with change_tables(self._db, self.path) as db:
            db.execute("INSERT OR REPLACE INTO left_out VALUES (?, ?, ?, ?)", row)

    def is_left_out(self, bundle: str, n: int) -> bool:
        """True for a document that could not be sealed."""
        query = "SELECT 1 FROM left_out WHERE bundle = ? AND n = ?"
        return self._db.execute(query, (bundle, n)).fetchone() is not None

    def missing_documents(self, bundle: str) -> Iterator[MissingDocument]:
        """Every document that could not be sealed."""
        rows = self._db.execute("SELECT n, code, data FROM left_out WHERE bundle = ? ORDER BY n", (bundle,))
        for n, code, data in rows:
            yield MissingDocument(n, code, orjson.loads(data))

    def count_missing(self, bundle: str) -> int:
        """How many could not be sealed."""
        row = self._db.execute("SELECT count(*) FROM left_out WHERE bundle = ?", (bundle,)).fetchone()
        return int(row[0])

    def keep_documents(self, bundle: str, documents: Iterable[tuple[int, int, str]]) -> int:
        """The documents that leave: number, size and sha256 of each. Returns how many."""
        with change_tables(self._db, self.path) as db:
            db.execute("DELETE FROM document WHERE bundle = ?", (bundle,))
            db.executemany("INSERT INTO document VALUES (?, ?, ?, ?)", ((bundle, *document) for document in documents))
            return int(db.execute("SELECT count(*) FROM document WHERE bundle = ?", (bundle,)).fetchone()[0])

    def keep_seal(self, bundle: str, sha256: str) -> None:
        """The seal of a bundle stands; it gets its name in the next moment."""
        with change_tables(self._db, self.path) as db:
            db.execute("UPDATE bundle SET seal = ? WHERE id = ?", (sha256, bundle))

    def keep_placed(self, bundle: str) -> None:
        """A bundle has its name."""
        with change_tables(self._db, self.path) as db:
            db.execute("UPDATE bundle SET placed = 1 WHERE id = ?", (bundle,))

    def keep_receipt(self, receipt: Receipt) -> None:
        """Keeps the receipt that closes the case. Keeping the same receipt again changes nothing."""
        numbers = orjson.dumps(receipt.numbers.as_data()).decode()
        acceptance = (receipt.accepted, receipt.accepted_by)
        row = (receipt.id, receipt.bundle, receipt.at, receipt.archive, receipt.identity, numbers, *acceptance)
        with change_tables(self._db, self.path) as db:
            db.execute("INSERT OR REPLACE INTO receipt VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)

    def keep_acceptance(self, acceptance: Acceptance) -> None:
        """Keeps what a person accepted, before it is sealed."""
        row = (acceptance.id, acceptance.bundle, acceptance.identity, acceptance.at, acceptance.by, acceptance.note)
        findings = ((acceptance.id, *finding) for finding in acceptance.findings)
        with change_tables(self._db, self.path) as db:
            db.execute("INSERT INTO acceptance VALUES (?, ?, ?, ?, ?, ?)", row)
            db.executemany("INSERT INTO accepted_finding VALUES (?, ?, ?, ?, ?)", findings)

    def acceptance(self, id_: str) -> Acceptance | None:
        """What was accepted on this side, by its id."""
        with translate_sqlite_errors(self.path):
            row = self._db.execute("SELECT * FROM acceptance WHERE id = ?", (id_,)).fetchone()
            query = "SELECT code, key, detail, actual FROM accepted_finding WHERE acceptance = ? ORDER BY key, code"
            findings = self._db.execute(query, (id_,)).fetchall()
        if row is None:
            return None
        acceptance_id, bundle, identity, at, by, note = row
        return Acceptance(acceptance_id, bundle, identity, at, by, note, tuple(findings))

    def is_under_way(self) -> bool:
        """True where a bundle was sealed after the last one that has its receipt, and has none itself."""
        query = (
            "SELECT 1 FROM bundle WHERE seal IS NOT NULL AND id NOT IN (SELECT bundle FROM receipt) AND made >="
            " (SELECT max(made) FROM bundle WHERE id IN (SELECT bundle FROM receipt)) LIMIT 1"
        )
        with translate_sqlite_errors(self.path):
            return self._db.execute(query).fetchone() is not None

    def receipt(self) -> Receipt | None:
        """The latest receipt that closed the case."""
        with translate_sqlite_errors(self.path):
            row = self._db.execute("SELECT * FROM receipt ORDER BY at DESC, id LIMIT 1").fetchone()
        if row is None:
            return None
        id_, bundle, at, archive, identity, counts, *acceptance = row
        return Receipt(id_, bundle, at, archive, identity, Numbers(**orjson.loads(counts)), *acceptance)


def open_deliveries(folder: RunFolder) -> Deliveries:
    """Opens the delivery.db of a run."""
    return Deliveries(folder.path / DELIVERY)


def delivery_state(folder: RunFolder) -> tuple[DeliveryState, Receipt | None] | None:
    """Tells if a run over an air gap is sealed or delivered, with its receipt; None for any other run."""
    if not (folder.path / DELIVERY).exists():
        return None
    with closing(open_deliveries(folder)) as deliveries_log:
        receipt = deliveries_log.receipt()
        if receipt is not None:
            return "delivered", receipt
        return ("sealed", None) if deliveries_log.any_sealed() else None
