"""The receipt of a bundle: every key that arrived, with its id and checksum in the archive.

It is made on the receiving side once a verification found nothing wrong, sealed with a key of that side, and held on
the sending side against the plan and against the checksum of every document that left.
"""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import orjson

from noarkit.airgap.delivery import Deliveries, Receipt
from noarkit.airgap.source.index import INDEX, read_origin
from noarkit.archive.port import Archive
from noarkit.errors import SealBroken, UsageFault
from noarkit.events import Listener
from noarkit.forms.container.building import File
from noarkit.forms.sealed.read import SealedPackage
from noarkit.forms.sealed.write import SealOrder, seal_package
from noarkit.loading import lookup
from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import Numbers, outcomes
from noarkit.loading.verification import VerifyResult
from noarkit.loading.verification.outcome import FILES, KEYS, NOT_COMPARABLE, RECORDS, SUMS
from noarkit.safe.clocks import iso_seconds
from noarkit.safe.digest import BLOCK_BYTES, Readable
from noarkit.safe.signing import Signer

ITEMS, PAGE = "noarkit-items.jsonl", "certificate.html"
ARRIVED = ("archived", "already_there")
_BATCH = 500
_SHA256_SIGNS = 64
_LEFT = ("set_aside", "refused")
_ACCOUNTED_REASONS = frozenset({*_LEFT, "not_there"}) | NOT_COMPARABLE
_DOCUMENT_ROWS = ("Dokument", "Dokumentversjon")

_DOCUMENTS = """
SELECT c.entity, e.state, e.id, e.sha256 FROM graph.content c
JOIN run.entity e ON e.n = c.entity WHERE e.id IS NOT NULL AND e.id != '' AND c.entity > ? ORDER BY c.entity LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class ReceiptOrder:
    """A receipt that is to be made: of which run, where, with whose key. `archive` is its name for people."""

    folder: RunFolder
    target: Path
    signer: Signer
    by: Mapping[str, str]
    archive: str
    account: str


def is_fully_received(verified: VerifyResult) -> bool:
    """True if every key and every document of the bundle was found in this archive, compared to its last byte, and
    is as it was sent; what was set aside or refused is told as such."""
    if verified.depth != "bytes" or verified.verdict == "not_verified" or verified.left_by_choice:
        return False
    rows = (verified.row(name) for name in (RECORDS, KEYS, FILES, *_DOCUMENT_ROWS))
    return not any(
        count for row in rows for reason, count in row.not_compared.items() if reason not in _ACCOUNTED_REASONS
    )


def write_receipt(order: ReceiptOrder, verified: VerifyResult, archive: Archive, *, now_s: Callable[[], float]) -> str:
    """Makes the receipt of a run that came in a bundle and was verified; its id. Asks the archive for checksums.

    Raises `UsageFault` for a run that came in no bundle, or a target that is there.
    """
    index = order.folder.path / INDEX
    if not index.is_file():
        raise UsageFault(what="not-a-bundle", where=str(order.folder.path))
    origin = read_origin(index)
    with closing(order.folder.open_graph()), closing(order.folder.open_journal()) as journal:
        identity = journal.meta("archive") or ""
    sealed_at = iso_seconds(now_s())
    statement = {
        "bundle": origin.id,
        "seal": origin.seal,
        "plan": order.folder.plan()["sha256"],
        "archive": order.archive,
        "identity": identity,
        "account": order.account,
        "verified": verified.depth,
        "compared": {name: list(pair) for name, pair in verified.compared_counts.items()},
        "numbers": verified.numbers.as_data(),
    }
    receipt_id = str(uuid.uuid4())
    seal_order = SealOrder(order.target, "receipt", receipt_id, sealed_at, order.signer, order.by)
    files: list[File] = [(ITEMS, lambda: _open_lines(_Lines(_items(order.folder, archive))), None, "")]
    if verified.certificate is not None:
        files.append((PAGE, lambda: _page(verified), None, ""))
    seal_package(iter(files), seal_order, lambda _listed: statement)
    return receipt_id


def _items(folder: RunFolder, archive: Archive) -> Iterator[bytes]:
    """A line for each record that was read, then one for each document that stands."""
    for outcome in outcomes(folder):
        line_data = {
            "key": outcome.key,
            "state": outcome.state,
            "type": outcome.type,
            "id": outcome.id,
            "code": outcome.code,
        }
        yield orjson.dumps(line_data, option=orjson.OPT_APPEND_NEWLINE)
    with closing(sqlite3.connect("", uri=True, isolation_level=None)) as db:
        for name, path in (("graph", folder.graph), ("run", folder.journal)):
            db.execute(f"ATTACH ? AS {name}", (f"{path.resolve().as_uri()}?mode=ro",))
        last = -1
        while rows := db.execute(_DOCUMENTS, (last, _BATCH)).fetchall():
            last = rows[-1][0]
            told_by = _checksums(archive, [str(row[2]) for row in rows])
            for n, state, id_, uploaded in rows:
                sha256, size = told_by.get(str(id_), (None, None))
                # an archive that keeps no SHA-256 told it when it was uploaded
                line = {"document": n, "state": state, "id": id_, "sha256": sha256 or uploaded, "size": size}
                yield orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)


def _checksums(archive: Archive, ids: list[str]) -> dict[str, tuple[str | None, int | None]]:
    """Reads the checksum and size of document versions from the archive."""
    checksums: dict[str, tuple[str | None, int | None]] = {}
    for version in lookup.objects_of_ids(archive, "Dokumentversjon", ids):
        size = version.fields.get("filstoerrelse")
        checksum = str(version.fields.get("sjekksum") or "").lower()
        sha256 = checksum if len(checksum) == _SHA256_SIGNS else None
        checksums[version.id] = (sha256, int(str(size)) if size is not None else None)
    return checksums


@contextmanager
def _open_lines(lines: _Lines) -> Iterator[Readable]:
    yield lines


@contextmanager
def _page(verified: VerifyResult) -> Iterator[BinaryIO]:
    assert verified.certificate is not None  # noqa: S101  # who asks has looked
    with verified.certificate.open("rb") as file:
        yield file


class _Lines:
    """Lines of bytes as something to read."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = iter(lines)
        self._buffer = bytearray()

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""
        wanted_bytes = BLOCK_BYTES if size < 0 else size
        while len(self._buffer) < wanted_bytes:
            line = next(self._lines, None)
            if line is None:
                break
            self._buffer += line
        block = bytes(self._buffer[:wanted_bytes])
        del self._buffer[:wanted_bytes]
        return block


# the sending side


def check_receipt(
    sealed: SealedPackage, folder: RunFolder, deliveries_log: Deliveries, *, emit: Listener
) -> tuple[VerifyResult, Receipt]:
    """Holds a proven receipt against the run whose bundle it is of. Findings are V4xx; it is good where there are none.

    Raises `UsageFault` where nothing of the run was sealed, `PlanChanged`, `SealBroken` for lines that cannot be read.
    """
    if not deliveries_log.any_sealed():
        raise UsageFault(what="nothing-sealed", where=str(folder.path))
    sealed.prove(emit)
    statement = sealed.seal.statement
    numbers = _numbers(statement.get("numbers"), sealed.where)
    result = VerifyResult("receipt", numbers)
    bundle = deliveries_log.bundle(str(statement.get("bundle")))
    with closing(folder.open_graph()):
        plan = str(folder.plan()["sha256"])
    if bundle is None or bundle.seal != statement.get("seal"):
        result.differ(SUMS, "V401", "", str(statement.get("bundle")))
    if statement.get("plan") != plan:
        result.differ(SUMS, "V402", "", str(statement.get("plan")))
    if not result.differences:
        with _ReceiptCheck(folder, deliveries_log.path) as check:
            check.add_lines(_receipt_lines(sealed), sealed.where)
            check.compare(str(statement["bundle"]), numbers, result)
    receipt = Receipt(
        sealed.seal.id,
        str(statement.get("bundle")),
        sealed.seal.made_at,
        str(statement.get("archive")),
        str(statement.get("identity")),
        numbers,
    )
    return result, receipt


class _ReceiptCheck:
    """Compares a receipt with the plan and with what was sealed, in one SQLite connection."""

    def __init__(self, folder: RunFolder, deliveries: Path) -> None:
        self._paths = {"graph": folder.graph, "sent": deliveries}

    def __enter__(self) -> _ReceiptCheck:
        self.db = sqlite3.connect("", uri=True, isolation_level=None)
        for name, path in self._paths.items():
            self.db.execute(f"ATTACH ? AS {name}", (f"{path.resolve().as_uri()}?mode=ro",))
        self.db.execute("CREATE TABLE item (key TEXT PRIMARY KEY, state TEXT, id TEXT, times INTEGER) WITHOUT ROWID")
        self.db.execute("CREATE TABLE document (n INTEGER PRIMARY KEY, sha256 TEXT, size INTEGER, id TEXT)")
        return self

    def __exit__(self, *_: object) -> None:
        self.db.close()

    def add_lines(self, lines: Iterable[Mapping[str, object]], receipt_name: str) -> None:
        """Reads every line of the receipt into tables."""
        db = self.db
        db.execute("BEGIN")
        for line in lines:
            if "key" in line:
                db.execute(
                    "INSERT INTO item VALUES (?, ?, ?, 1) ON CONFLICT (key) DO UPDATE SET times = times + 1",
                    (str(line["key"]), str(line.get("state")), line.get("id")),
                )
            elif "document" in line:
                row = (line["document"], line.get("sha256"), line.get("size"), line.get("id"))
                db.execute("INSERT OR REPLACE INTO document VALUES (?, ?, ?, ?)", row)
            else:
                raise SealBroken(where=receipt_name, why="seal-unreadable", name=ITEMS)
        db.execute("COMMIT")

    def compare(self, bundle: str, numbers: Numbers, result: VerifyResult) -> None:
        """Checks that each key has one possible outcome, and each document the checksum that it was sent with."""
        db = self.db
        record_count = self._records(result)
        self._documents(bundle, result)
        states = dict(db.execute("SELECT state, count(*) FROM item GROUP BY state").fetchall())
        counts = {name: getattr(numbers, name) for name in (*ARRIVED, *_LEFT, "skipped", "open")}
        if any(states.pop(name, 0) != count for name, count in counts.items()) or states or numbers.open:
            result.differ(SUMS, "V407", "", str(counts))
        if not numbers.add_up or numbers.read != record_count:
            result.differ(SUMS, "V407", "", str(numbers.read))

    def _records(self, result: VerifyResult) -> int:
        """Each key that was sent, once, with an outcome that it can have; how many were sent."""
        db = self.db
        rows = db.execute(
            "SELECT r.key, r.state, r.root, i.state, i.id, i.times FROM graph.record r"
            " LEFT JOIN item i ON i.key = r.key ORDER BY r.n"
        )
        record_count = 0
        for key, plan_state, root, state, archive_id, times in rows:
            record_count += 1
            if state is None:
                result.differ(RECORDS, "V403", key)
            elif times > 1:
                result.differ(RECORDS, "V404", key)
            elif not _is_possible(plan_state, root, state, archive_id):
                result.differ(RECORDS, "V405", key, str(state))
            else:
                result.agree(RECORDS)
        for (key,) in db.execute(
            "SELECT i.key FROM item i LEFT JOIN graph.record r ON r.key = i.key WHERE r.n IS NULL"
        ):
            result.differ(RECORDS, "V404", key)
        return record_count

    def _documents(self, bundle: str, result: VerifyResult) -> None:
        rows = self.db.execute(
            "SELECT e.key, s.sha256, s.size, d.sha256, d.size FROM sent.document s"
            " JOIN graph.entity e ON e.n = s.n JOIN graph.record r ON r.n = e.record JOIN item i ON i.key = r.key"
            " LEFT JOIN document d ON d.n = s.n"
            " WHERE s.bundle = ? AND i.state IN ('archived', 'already_there') ORDER BY s.n",
            (bundle,),
        )
        for key, sent_sha256, size, archive_sha256, their_size in rows:
            if archive_sha256 == sent_sha256 and their_size in (None, size):
                result.agree(FILES)
            else:
                result.differ(FILES, "V406", key, str(archive_sha256 or ""))


def _is_possible(plan_state: str, root: int | None, state: str, archive_id: str | None) -> bool:
    """True if a record that was planned in this state can have this outcome."""
    if plan_state != "mapped":
        return state == plan_state
    if state in ARRIVED:
        return root is None or bool(archive_id)
    return state in _LEFT


def receipt_records(sealed: SealedPackage) -> Iterator[Mapping[str, object]]:
    """Yields key, state, type, id and code of each record from a receipt whose seal was checked."""
    return (line for line in _receipt_lines(sealed) if "key" in line)


def _receipt_lines(sealed: SealedPackage) -> Iterator[Mapping[str, object]]:
    remainder = b""
    with sealed.open(ITEMS) as content:
        while block := content.read(BLOCK_BYTES):
            *lines, remainder = (remainder + block).split(b"\n")
            for line in lines:
                yield _parse_line(line, sealed.where)
    if remainder:
        raise SealBroken(where=sealed.where, why="seal-unreadable", name=ITEMS)


def _parse_line(line: bytes, receipt_name: str) -> Mapping[str, object]:
    try:
        value = orjson.loads(line)
    except ValueError as error:
        raise SealBroken(where=receipt_name, why="seal-unreadable", name=ITEMS) from error
    if not isinstance(value, dict):
        raise SealBroken(where=receipt_name, why="seal-unreadable", name=ITEMS)
    return value


def _numbers(value: object, receipt_name: str) -> Numbers:
    try:
        return Numbers(**{str(name): int(count) for name, count in dict(value).items()})  # type: ignore[call-overload]  # judged here
    except (TypeError, ValueError) as error:
        raise SealBroken(where=receipt_name, why="seal-unreadable", name="numbers") from error
