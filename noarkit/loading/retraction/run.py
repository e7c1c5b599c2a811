"""A retraction from first to last: lock, same archive, doubts, judgement, and, where asked to, the deletes.

Without `deletes` nothing is changed, neither in the archive nor in the run. The same call again goes on where the last
one stopped, and takes up again what stayed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from typing import ClassVar

from noarkit.archive.administration import Administration
from noarkit.archive.port import Archive
from noarkit.archive.registers import ListedCodes
from noarkit.errors import NotAllowed, UsageFault
from noarkit.events import Event, EventFields, Listener
from noarkit.graph.store import GraphStore
from noarkit.loading import registers
from noarkit.loading.clocks import Clocks, system_clocks
from noarkit.loading.engines.assembly import check_same_archive
from noarkit.loading.folder import AS_RUN, RunFolder
from noarkit.loading.journal import Journal
from noarkit.loading.lease import RunFacts
from noarkit.loading.lease_end import latest_lease_end
from noarkit.loading.lookup import ORDERS, objects_of_ids
from noarkit.loading.preflight import NOT_FOUND_AGAIN
from noarkit.loading.retraction.doubts import Doubts
from noarkit.loading.retraction.judgement import Judge
from noarkit.loading.retraction.record import RetractedObject, RetractionRecord
from noarkit.loading.retraction.removal import Remover
from noarkit.loading.retraction.selection import MOST_CHECKS, Selection
from noarkit.loading.settling import Clock
from noarkit.loading.state import closed_of
from noarkit.loading.stopping import StopRequest
from noarkit.loading.verification.expectation import Expectation
from noarkit.results import HIDDEN, Result, json_field

EVENTS: EventFields = {"judged": {"objects": "count"}}
_JUDGED_AT_ONCE = 200
_MOST_TOLD = 1000


@dataclass(frozen=True, slots=True)
class RetractSettings:
    """How a retraction goes. `account` is who asks for it. `takes_closed` takes what the run itself closed as well;
    `deadline_s` is how long the archive may still carry out what a client gave up on. A record with more than
    `most_checks` parts stays, since not all of their versions could go with its delete."""

    archive_name: str
    account: str = ""
    deletes: bool = False
    takes_closed: bool = False
    deadline_s: float = 60.0
    most_checks: int = MOST_CHECKS
    clocks: Clocks = field(default_factory=system_clocks)
    sleep_s: Callable[[float], None] = time.sleep


@dataclass(frozen=True, slots=True)
class RetractResult(Result):
    """What went out of the archive, or would go: objects by type, and `kept`, the first of those that stay, with why.

    `in_doubt` counts chunks that a dry run leaves unsettled; they are settled before anything is deleted.
    """

    EVENT: ClassVar = "retraction"

    folder: RunFolder = field(metadata=AS_RUN)
    deletes: bool = field(metadata=json_field("deleted"))
    is_complete: bool = field(metadata=json_field("complete"))
    objects: Mapping[str, int]
    gone: int
    absent: int
    kept_count: int = field(metadata=json_field("kept"))
    kept: tuple[RetractedObject, ...] = field(metadata=HIDDEN)
    in_doubt: int = 0


def retract(
    folder: RunFolder,
    archive: Archive,
    settings: RetractSettings,
    *,
    stop_request: StopRequest,
    emit: Listener,
    now_s: Callable[[], float],
) -> RetractResult:
    """Takes what a run made out of the archive, or says what would go.

    What another run made, what was there before, and what somebody closed or changed since stays. Raises
    `RunLocked`, `OtherArchive`, archive faults.
    """
    if not folder.journal.exists():
        raise UsageFault(what="not-begun", where=str(folder.path))
    with folder.locked(), closing(folder.open_graph()) as graph:
        check_same_archive(folder, archive, settings.archive_name)
        with closing(folder.open_journal()) as journal:
            facts = _facts(folder, journal, graph, archive, settings.deadline_s)
            steps = _Steps(folder, archive, journal, graph, facts, settings, stop_request, emit, now_s)
            return steps.take()


@dataclass(slots=True)
class _Steps:
    folder: RunFolder
    archive: Archive
    journal: Journal
    graph: GraphStore
    facts: RunFacts
    settings: RetractSettings
    stop_request: StopRequest
    emit: Listener
    now_s: Callable[[], float]

    def take(self) -> RetractResult:
        record = RetractionRecord(self.journal, self.settings.account)
        if self.settings.deletes:
            self._settle_doubts(record)
        with closing(Selection(self.folder)) as selection:
            make_judge = self._judge_maker(selection)
            remover = Remover(
                self.archive,
                selection,
                record,
                make_judge,
                self._wait_for_deadline,
                self.stop_request,
                self.emit,
                self.now_s,
            )
            absent, is_complete = self._judge_all(selection, make_judge(), record)
            if self.settings.deletes and is_complete:
                for batch in selection.absent_batches(_JUDGED_AT_ONCE):
                    remover.settle(batch)
            objects = selection.counts()
            if self.settings.deletes and is_complete:
                is_complete = remover.remove_all()
                if is_complete:
                    record.end(selection.kept_objects(), self.now_s())
            kept_objects = tuple(islice(selection.kept_objects(), _MOST_TOLD))
            return RetractResult(
                folder=self.folder,
                deletes=self.settings.deletes,
                is_complete=is_complete,
                objects=objects,
                gone=remover.gone,
                absent=remover.absent if self.settings.deletes else absent,
                kept_count=sum(1 for _ in selection.kept_objects()),
                kept=kept_objects,
                in_doubt=self._doubt_count(),
            )

    def _settle_doubts(self, record: RetractionRecord) -> None:
        clocks, journal = self.settings.clocks, self.journal
        lease_end_s = latest_lease_end(journal, clocks)
        journal.keep_time(clocks)
        journal.mark_all_in_doubt(lease_end_s)
        if record.has_intents():  # an earlier call may have been killed while a delete was under way
            self._wait_for_deadline()
        clock = Clock(clocks.steady_s, self._wait_until)
        Doubts(self.archive, self.graph, journal, self.facts, clock, self._wait_for_deadline).settle_all()

    def _judge_all(self, selection: Selection, judge: Judge, record: RetractionRecord) -> tuple[int, bool]:
        """Judges everything, and changes nothing. Says how much is not there, and whether it came to the end."""
        absent, unexplained, judged_count, is_any_present = 0, 0, 0, False
        for batch in selection.batches(_JUDGED_AT_ONCE):
            if self.stop_request:
                return absent, False
            verdict = judge.judge(batch)
            is_any_present = is_any_present or bool(verdict.present)
            absent += len(verdict.absent)
            unexplained += len(verdict.absent - record.intended(verdict.absent))
            for n, (reason, detail) in verdict.reasons.items():
                selection.keep(n, reason, detail)
            selection.set_absent(verdict.absent)
            judged_count += len(batch)
            self.emit(Event("judged", {"objects": judged_count}))
        if absent and not is_any_present and (unexplained or not self._sees_above(selection)):
            # An account that sees nothing of it proves nothing by that, unless the same account was about to delete it
            # all, and still sees what it hung under.
            raise NotAllowed(call="query", description=NOT_FOUND_AGAIN)
        selection.keep_large(self.settings.most_checks)
        selection.spread()
        return absent, True

    def _sees_above(self, selection: Selection) -> bool:
        """True if the account is shown something that the run found there and hung its own under, or there is none."""
        above = selection.found_above()
        questions = ((order, family, ids) for order in ORDERS for family, ids in above.items())
        return not above or any(
            actual
            for order, family, ids in questions
            for actual in objects_of_ids(self.archive, family, ids, order=order)
        )

    def _judge_maker(self, selection: Selection) -> Callable[[], Judge]:
        code_lists = Administration(self.archive).code_lists()
        closed = bool(closed_of(self.journal))
        not_closed = {finding.key: "accepted" for finding in self.journal.findings("open", "asked", "accepted")}
        expectation = Expectation(self.facts, closed, _defaults(code_lists), not_closed=not_closed)
        return lambda: Judge(self.archive, selection, expectation, closed, self.settings.takes_closed)

    def _wait_until(self, moment_s: float) -> None:
        while (remaining_s := moment_s - self.settings.clocks.steady_s()) > 0:
            self.settings.sleep_s(min(remaining_s, 1.0))

    def _wait_for_deadline(self) -> None:
        self._wait_until(self.settings.clocks.steady_s() + self.settings.deadline_s)

    def _doubt_count(self) -> int:
        counts = self.journal.chunk_counts()
        return counts.get("in_doubt", 0) + counts.get("intent", 0)


def _facts(folder: RunFolder, journal: Journal, graph: GraphStore, archive: Archive, deadline_s: float) -> RunFacts:
    return RunFacts(
        plan=str(folder.plan()["sha256"])[:16],
        external_system=graph.meta("external_system") or "noarkit",
        honours_versions=journal.meta("honours_versions") == "True",
        sets_system_fields=journal.meta("sets_system_fields") == "True",
        fresh=False,
        deadline_s=deadline_s,
        settle_pause_s=min(1.0, deadline_s),
        closes=graph.meta("close") == "yes",
        codes=registers.prepare(archive, graph, rehearsal=True),
        mark=journal.meta("mark") or "",
    )


def _defaults(code_lists: tuple[ListedCodes, ...]) -> dict[tuple[str, str], str]:
    return {(entry.type, entry.field): entry.default for entry in code_lists if entry.default is not None}
