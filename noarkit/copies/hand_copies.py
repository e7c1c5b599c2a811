"""Takes files that people made as copies of documents: judged in a worker as every product is, kept with their maker.

Nothing is written of a file that is refused. What is taken stands where a converter's copy would, also when the source
is read again; a later file for the same document takes its place.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from noarkit.copies.by_hand import BY_HAND, rule_by_hand, target_of
from noarkit.copies.conversion import Batch, BatchTask, Settlement
from noarkit.copies.coordinator import DerivingTools, limits_for, timestamp
from noarkit.copies.objects import OBJECTS, place_object
from noarkit.copies.offers import Offer, OfferedDocuments
from noarkit.copies.pool import WorkerPool
from noarkit.copies.port import Finding, OfferedFile, Product, Rule, State, Task
from noarkit.copies.reading import content_of, source_name, stage
from noarkit.copies.reasons import Reason
from noarkit.copies.rows import StoredCopy, StoredDocument, copy_of
from noarkit.copies.store import COPY_ROWS, LOCK, WORK, CopyKey, CopyOutcome, CopyStore
from noarkit.copies.toolbox import Toolbox
from noarkit.errors import SourceFault
from noarkit.records import PLACE_FAULTS, Source
from noarkit.results import JsonObject
from noarkit.safe import atomic
from noarkit.safe.descriptors import NO_FOLLOW, NO_WAITING, open_descriptor
from noarkit.safe.digest import copy_hashing, sha256_of
from noarkit.safe.locks import claimed

NO_DOCUMENT, SEVERAL_DOCUMENTS = "no-document", "several-documents"


@dataclass(frozen=True, slots=True)
class TakenFile(JsonObject):
    """What became of a file that was offered. `document` is the key of its record, `sha256` that of the original;
    `state` is `made`, `held` or `failed`, with the reason or the findings that it waits for."""

    file: str
    document: str
    sha256: str
    state: str
    reason: str = ""
    findings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Maker:
    """The person who made the files, and the program they were made with, where it is known."""

    name: str
    program: str = ""


def take(
    source: Source, store: CopyStore, tools: DerivingTools, offers: Sequence[Offer], maker: Maker
) -> Iterator[TakenFile]:
    """What becomes of each file. Raises `RunLocked`, `DiskFull`, `JournalFault`, and the faults of a source."""
    with claimed(store.folder / LOCK, str(store.folder)), ExitStack() as stack:
        work = store.folder / WORK
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(mode=0o700)
        stack.callback(shutil.rmtree, work, ignore_errors=True)
        toolbox = stack.enter_context(tools.factory())
        pool = stack.enter_context(WorkerPool(tools.factory, 1))
        hand_copies = _HandCopies(source, store, tools, toolbox, pool, maker, work)
        documents = OfferedDocuments(store, source_name(source))
        for offer in offers:
            if tools.is_stopped():
                return
            yield hand_copies.settle(offer, documents)


@dataclass(frozen=True, slots=True)
class _HandCopies:
    source: Source
    store: CopyStore
    tools: DerivingTools
    toolbox: Toolbox
    pool: WorkerPool
    maker: Maker
    work: Path

    def settle(self, offer: Offer, documents: OfferedDocuments) -> TakenFile:
        """What becomes of one file."""
        candidates = documents.of(offer)
        if len(candidates) != 1:
            return TakenFile(offer.name, offer.wanted, "", "failed", SEVERAL_DOCUMENTS if candidates else NO_DOCUMENT)
        document = candidates[0]
        folder = self.work / "file"
        for part in ("in", "out", "passed"):
            (folder / part).mkdir(parents=True, mode=0o700)
        try:
            outcome = self._judge(offer, document, folder)
        except PLACE_FAULTS:
            raise
        except SourceFault:
            outcome = CopyOutcome("failed", Reason.UNREADABLE)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return _taken_file(offer, document, outcome)

    def _judge(self, offer: Offer, document: StoredDocument, folder: Path) -> CopyOutcome:
        product = folder / "out" / f"copy{offer.file.suffix.lower()}"
        if not _copy_in(offer.file, product):
            return CopyOutcome("failed", Reason.NO_RESULT)
        task = self._task(document, product, folder)
        if task is None:
            return CopyOutcome("failed", Reason.WRONG_FORMAT)
        key = self._key(document, task, sha256_of(product))
        earlier = self._same_file(key)
        if earlier is not None:
            return CopyOutcome(earlier.state, earlier.reason, earlier.data, earlier.findings)
        stage(self.source, content_of(document), task.source)
        settlement = self._settlement(BatchTask(0, task, folder / "passed"))
        outcome = settlement.outcome
        if settlement.product is not None and outcome.sha256 is not None and outcome.state in ("made", "held"):
            place_object(self.store.folder, settlement.product, outcome.sha256)
            self._write(document, task.rule, key, outcome)
        return outcome

    def _task(self, document: StoredDocument, product: Path, folder: Path) -> Task | None:
        """What a worker is to judge; None where the policy keeps no document in the format of the file."""
        identity = self.toolbox.identify(product, product.name)
        own_rule = self.tools.policy.rule_for(identity)
        if own_rule is None or own_rule.action != "keep" or document.identity is None:
            return None
        made_by = Finding(BY_HAND, {"by": self.maker.name})
        handed_in = OfferedFile(
            Product(product, self.maker.program, "", (made_by,)),
            str(own_rule.options.get("validate", "")),
            identity.puid or "",
        )
        source = folder / "in" / f"document.{document.identity.suffix}".rstrip(".")
        rule = rule_by_hand(self.tools.policy.rule_for(document.identity))
        size = (document.size_bytes or 0) + product.stat().st_size
        limits = limits_for(size, again=True)
        return Task(
            *(source, document.name, document.identity, rule, target_of(identity), folder / "out", limits),
            offered=handed_in,
        )

    def _key(self, document: StoredDocument, task: Task, sha256: str) -> CopyKey:
        assert document.identity is not None  # noqa: S101  # there is a task only of one that is known
        rule = self.tools.policy.rule_for(document.identity)
        digest = self.tools.policy.rule_digest(rule) if rule is not None else ""
        return CopyKey(
            document.sha256 or "", document.identity.puid or "", digest, task.target, BY_HAND, sha256, self.maker.name
        )

    def _same_file(self, key: CopyKey) -> StoredCopy | None:
        """The same file, taken before from the same person."""
        rows = self.store.rows(
            f"{COPY_ROWS} WHERE source_sha256 = ? AND puid = ? AND rule_digest = ? AND target = ?"
            " AND converter = ? AND version = ? AND options_digest = ?",
            (
                *(key.source_sha256, key.puid, key.rule_digest, key.target),
                *(key.converter, key.version, key.options_digest),
            ),
        )
        return copy_of(rows[0], self.store.folder / OBJECTS) if rows else None

    def _settlement(self, item: BatchTask) -> Settlement:
        self.pool.start(Batch(BY_HAND, (item,)))
        while self.pool.busy:
            for event in self.pool.events():
                if isinstance(event, Settlement):
                    return event
        return Settlement(item.n, CopyOutcome("failed", Reason.CRASHED))

    def _write(self, document: StoredDocument, rule: Rule, key: CopyKey, outcome: CopyOutcome) -> None:
        walk = max(self.store.latest_walks(), default=0)
        with self.store.transaction() as db:
            number = self.store.plan(key, rule.name, document.size_bytes or 0, walk)
            self.store.settle(number, outcome, timestamp(self.tools.now_s()))
            db.execute(
                "UPDATE document SET copy = ? WHERE sha256 = ? AND coalesce(json_extract(identity, '$.puid'), '') = ?",
                (number, key.source_sha256, key.puid),
            )


def _copy_in(file: Path, target: Path) -> bool:
    """Copies an offered file to where a worker may read it; False where it is no plain file, or cannot be read."""
    try:
        descriptor = open_descriptor(file, os.O_RDONLY | NO_FOLLOW | NO_WAITING)
    except OSError:
        return False
    with os.fdopen(descriptor, "rb") as source, atomic.no_room(target), target.open("xb") as copy:
        return copy_hashing(source, copy).size_bytes > 0


def _taken_file(offer: Offer, document: StoredDocument, outcome: CopyOutcome) -> TakenFile:
    state: State = outcome.state
    codes = outcome.data.get("findings")
    waits_for = tuple(map(str, codes)) if isinstance(codes, list) else ()
    reason = str(outcome.reason) if outcome.reason is not None and state == "failed" else ""
    return TakenFile(offer.name, document.record_key, document.sha256 or "", state, reason, waits_for)
