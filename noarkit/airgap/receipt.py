"""The receipt of a bundle: every key that arrived, with its id and checksum in the archive.

It is made on the receiving side once a verification found nothing wrong, sealed with a key of that side, and held on
the sending side against the plan and against the checksum of every document that left.
"""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from noarkit.airgap.acceptance import SealedBy, read_acceptance, write_request
from noarkit.airgap.lines import lines_file, read_lines
from noarkit.airgap.source.index import INDEX, read_origin
from noarkit.archive.port import Archive
from noarkit.errors import SealBroken, UsageFault
from noarkit.events import Listener
from noarkit.forms.container.building import File
from noarkit.forms.sealed.read import SealedPackage, open_sealed
from noarkit.forms.sealed.write import SealOrder, seal_package
from noarkit.loading import lookup
from noarkit.loading.attached import attach_plan, attach_run
from noarkit.loading.delivery import Acceptance, Deliveries, Receipt
from noarkit.loading.findings import LOST, OF_FILES
from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import Numbers, outcomes
from noarkit.loading.verification import Finding, VerifyResult
from noarkit.loading.verification.ledger import BEARERS
from noarkit.loading.verification.objects import FILE_LINK
from noarkit.loading.verification.outcome import ACCEPTED_BY_SENDER, FILES, RECORDS, SUMS, SenderAcceptance
from noarkit.model import metamodel
from noarkit.safe.clocks import iso_seconds
from noarkit.safe.signing import PublicKey, Signer

ITEMS, PAGE = "noarkit-items.jsonl", "certificate.html"
ARRIVED = ("archived", "already_there")
_BATCH = 500
_SHA256_SIGNS = 64
_LEFT = ("set_aside", "refused")
_TOLD_REASONS = frozenset(_LEFT)

_DOCUMENTS = """
SELECT c.entity, e.state, e.id, e.sha256 FROM graph.content c
JOIN run.entity e ON e.n = c.entity WHERE e.id IS NOT NULL AND e.id != '' AND c.entity > ? ORDER BY c.entity LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class ReceiptOrder:
    """A receipt that is to be made: of which run, where, with whose key. `archive` is its name for people, `request`
    where the sender is asked to accept what stands in its way, `acceptance` the sealed answer."""

    folder: RunFolder
    target: Path
    signer: Signer
    by: Mapping[str, str]
    archive: str
    account: str
    request: Path | None = None
    acceptance: Path | None = None
    trusted: Sequence[PublicKey] = ()


def is_fully_received(verified: VerifyResult) -> bool:
    """True if all of the bundle was found in this archive, compared to its last byte, and is verified: every key,
    object, link, field and file, but what the sender accepted. What was set aside or refused is told as such in the
    receipt; anything else that was not compared, or was changed since, or was accepted on this side alone, leaves the
    case of the sender open."""
    if verified.depth != "bytes" or verified.source != "read" or verified.verdict == "not_verified":
        return False
    return not verified.left_by_choice and verified.missing.keys() <= _TOLD_REASONS


def write_receipt(order: ReceiptOrder, verified: VerifyResult, archive: Archive, *, now_s: Callable[[], float]) -> str:
    """Makes the receipt of a run that came in a bundle and was verified; its id. Asks the archive for checksums.

    Raises `UsageFault` for a run that came in no bundle, or a target that is there.
    """
    statement = {
        **_statement(order),
        "account": order.account,
        "verified": verified.depth,
        "compared": {name: list(pair) for name, pair in verified.compared_counts.items()},
        "numbers": verified.numbers.as_data(),
    }
    if verified.sender is not None and verified.accepted_by_sender:
        sender = verified.sender
        statement["accepted"] = {"acceptance": sender.id, "by": sender.by, "count": verified.accepted_by_sender}
    receipt_id = str(uuid.uuid4())
    seal_order = SealOrder(order.target, "receipt", receipt_id, iso_seconds(now_s()), order.signer, order.by)
    files: list[File] = [lines_file(ITEMS, _items(order.folder, archive))]
    if verified.certificate is not None:
        files.append((PAGE, lambda: _page(verified), None, ""))
    seal_package(iter(files), seal_order, lambda _listed: statement)
    return receipt_id


def ask_sender(order: ReceiptOrder, target: Path, verified: VerifyResult, now_s: float) -> None:
    """Seals what was found at `target`, for the sender to accept. Raises `UsageFault` for a target that is there."""
    sealed_by = SealedBy(target, order.signer, order.by, iso_seconds(now_s))
    write_request(sealed_by, _statement(order), verified)


def accepted_by_sender(order: ReceiptOrder, emit: Listener) -> SenderAcceptance | None:
    """What the sender accepted; None where no answer came. Raises `SealBroken`."""
    if order.acceptance is None:
        return None
    with open_sealed(order.acceptance, order.trusted, "acceptance") as sealed:
        return read_acceptance(sealed, order.folder, str(_statement(order)["identity"]), emit)


def _statement(order: ReceiptOrder) -> dict[str, object]:
    """Of which bundle, plan and archive a receipt or a request is."""
    index = order.folder.path / INDEX
    if not index.is_file():
        raise UsageFault(what="not-a-bundle", where=str(order.folder.path))
    origin = read_origin(index)
    with closing(order.folder.open_graph()), closing(order.folder.open_journal()) as journal:
        identity = journal.meta("archive") or ""
    plan = order.folder.plan()["sha256"]
    return {"bundle": origin.id, "seal": origin.seal, "plan": plan, "archive": order.archive, "identity": identity}


def _items(folder: RunFolder, archive: Archive) -> Iterator[Mapping[str, object]]:
    """A line for each record that was read, then one for each document that stands."""
    for outcome in outcomes(folder):
        yield {
            "key": outcome.key,
            "state": outcome.state,
            "type": outcome.type,
            "id": outcome.id,
            "code": outcome.code,
        }
    with closing(sqlite3.connect("", uri=True, isolation_level=None)) as db:
        attach_plan(db, folder)
        attach_run(db, folder)
        last = -1
        while rows := db.execute(_DOCUMENTS, (last, _BATCH)).fetchall():
            last = rows[-1][0]
            told_by = _checksums(archive, [str(row[2]) for row in rows])
            for n, state, id_, uploaded in rows:
                sha256, size = told_by.get(str(id_), (None, None))
                # an archive that keeps no SHA-256 told it when it was uploaded
                yield {"document": n, "state": state, "id": id_, "sha256": sha256 or uploaded, "size": size}


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
def _page(verified: VerifyResult) -> Iterator[BinaryIO]:
    assert verified.certificate is not None  # noqa: S101  # who asks has looked
    with verified.certificate.open("rb") as file:
        yield file


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
    sender = _acceptance_of(statement, deliveries_log, result)
    if not result.differences:
        with _ReceiptCheck(folder, deliveries_log.path, sender) as check:
            check.add_lines(read_lines(sealed, ITEMS), sealed.where)
            check.compare(str(statement["bundle"]), numbers, result)
    receipt = Receipt(
        sealed.seal.id,
        str(statement.get("bundle")),
        sealed.seal.made_at,
        str(statement.get("archive")),
        str(statement.get("identity")),
        numbers,
        result.accepted_by_sender,
        sender.by if sender is not None else "",
    )
    return result, receipt


def _acceptance_of(
    statement: Mapping[str, object], deliveries_log: Deliveries, result: VerifyResult
) -> Acceptance | None:
    """What the receipt says was accepted here, where it was: by this name, for this bundle and archive."""
    accepted = statement.get("accepted")
    if not isinstance(accepted, dict):
        return None
    acceptance = deliveries_log.acceptance(str(accepted.get("acceptance")))
    count = accepted.get("count")
    if (
        acceptance is None
        or (acceptance.bundle, acceptance.identity) != (statement.get("bundle"), statement.get("identity"))
        or acceptance.by != accepted.get("by")
        or not isinstance(count, int)
        or not 0 < count <= len(acceptance.findings)
    ):
        result.differ(SUMS, "V408", "", str(accepted.get("by")))
        return None
    result.sender = SenderAcceptance(
        acceptance.id, acceptance.by, frozenset(Finding(*finding) for finding in acceptance.findings)
    )
    result.accepted_by_sender = count
    return acceptance


class _AcceptedPlaces:
    """Where a receipt may say otherwise, since that was accepted: the keys of what is lost, and of files that are not
    those that were sent, each with the checksums that it may have instead."""

    def __init__(self, acceptance: Acceptance | None) -> None:
        self.lost_keys: set[str] = set()
        self.files: dict[str, set[str]] = {}
        for code, key, detail, actual in acceptance.findings if acceptance is not None else ():
            if code in LOST:
                self.lost_keys.add(key)
            if code in OF_FILES | LOST or detail.startswith(f"Dokumentversjon.{FILE_LINK}:"):
                self.files.setdefault(key, set()).update(actual.split())


class _ReceiptCheck:
    """Compares a receipt with the plan and with what was sealed, in one SQLite connection."""

    def __init__(self, folder: RunFolder, deliveries: Path, acceptance: Acceptance | None) -> None:
        self._paths = {"graph": folder.graph, "sent": deliveries}
        self._accepted = _AcceptedPlaces(acceptance)

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
            "SELECT r.key, r.state, p.type, p.key, i.state, i.id, i.times FROM graph.record r"
            " LEFT JOIN graph.entity p ON p.n = r.root LEFT JOIN item i ON i.key = r.key ORDER BY r.n"
        )
        record_count = 0
        for key, plan_state, kind, root_key, state, archive_id, times in rows:
            record_count += 1
            if state is None:
                result.differ(RECORDS, "V403", key)
            elif times > 1:
                result.differ(RECORDS, "V404", key)
            elif not _is_possible(plan_state, kind, state, archive_id):
                result.differ(RECORDS, "V405", key, str(state))
            elif root_key in self._accepted.lost_keys:
                result.leave(RECORDS, ACCEPTED_BY_SENDER)
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
            is_same = archive_sha256 == sent_sha256 and their_size in (None, size)
            if key in self._accepted.files and (is_same or archive_sha256 in self._accepted.files[key]):
                result.leave(FILES, ACCEPTED_BY_SENDER)
            elif is_same:
                result.agree(FILES)
            else:
                result.differ(FILES, "V406", key, str(archive_sha256 or ""))


def _is_possible(plan_state: str, kind: str | None, state: str, archive_id: str | None) -> bool:
    """True if a record that was planned in this state, as an object of a type or as none, can have this outcome."""
    if plan_state != "mapped":
        return state == plan_state
    if state == "archived":
        return kind is None or bool(archive_id)
    if state == "already_there":
        # a note or a party has no key of its own: it stands with what it belongs to, and was verified there
        return kind is None or bool(archive_id) or metamodel().family(kind) not in BEARERS
    return state in _LEFT


def receipt_records(sealed: SealedPackage) -> Iterator[Mapping[str, object]]:
    """Yields key, state, type, id and code of each record from a receipt whose seal was checked."""
    return (line for line in read_lines(sealed, ITEMS) if "key" in line)


def _numbers(value: object, receipt_name: str) -> Numbers:
    try:
        return Numbers(**{str(name): int(count) for name, count in dict(value).items()})  # type: ignore[call-overload]  # judged here
    except (TypeError, ValueError) as error:
        raise SealBroken(where=receipt_name, why="seal-unreadable", name="numbers") from error
