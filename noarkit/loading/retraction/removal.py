"""Deletes what a run made, a few groups at a time: records with all that is theirs, folders, series, classes, fonds.

Each transaction carries the version of everything that it takes, as it was read before it was judged. So what anybody
adds or changes meanwhile makes the archive refuse, and it is judged again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from noarkit.archive.port import Archive
from noarkit.archive.values import Action, Delete, Save, SavedObject
from noarkit.errors import (
    ArchiveBusy,
    ArchiveConflict,
    ArchiveFault,
    ArchiveNotFound,
    ArchiveRefused,
    ArchiveStrange,
    NotAllowed,
)
from noarkit.events import Event, EventFields, Listener
from noarkit.loading.retraction.judgement import Judge, Verdict
from noarkit.loading.retraction.record import ABSENT, GONE, INTENT, RetractedObject, RetractionRecord
from noarkit.loading.retraction.selection import Candidate, Selection
from noarkit.loading.stopping import StopRequest

EVENTS: EventFields = {"retracted": {"objects": "count"}}

REFUSED, NOT_ALLOWED = "refused", "not-allowed"
_GROUPS = 50
_ATTEMPTS = 6


@dataclass(slots=True)
class Remover:
    """Takes away all of a selection that may go. `wait_for_deadline` returns when nothing that was sent before it is
    called can be carried out any more."""

    archive: Archive
    selection: Selection
    record: RetractionRecord
    make_judge: Callable[[], Judge]
    wait_for_deadline: Callable[[], None]
    stop_request: StopRequest
    emit: Listener
    now_s: Callable[[], float]
    gone: int = 0
    absent: int = 0

    def remove_all(self) -> bool:
        """Deletes until nothing is left that may go; False where it was asked to stop before."""
        judge = self.make_judge()
        while batch := self.selection.next_group_batch(_GROUPS):
            if self.stop_request:
                return False
            self._remove(judge, batch)
            self.emit(Event("retracted", {"objects": self.gone}))
        return True

    def _remove(self, judge: Judge, batch: list[Candidate]) -> None:
        """Removes a batch, in halves where the archive refuses it, down to the one group to blame."""
        last: ArchiveFault = ArchiveStrange(call="transaction", why="not-all-saved", fate="unknown")
        for _ in range(_ATTEMPTS):
            batch, verdict = self._judge_again(judge, batch)
            if not batch:
                return
            self._intend(batch)
            try:
                self.archive.transaction(self._actions(batch, verdict))
            except (ArchiveRefused, NotAllowed) as fault:
                self._blame(judge, batch, fault)
                return
            except ArchiveFault as fault:
                # Whatever it says, the next round asks what is there; so does a good answer, which is no proof.
                last = fault
                if fault.fate_unknown:
                    self.wait_for_deadline()
                elif not isinstance(fault, ArchiveConflict | ArchiveNotFound | ArchiveBusy):
                    raise
        if self._judge_again(judge, batch)[0]:
            raise last

    def _judge_again(self, judge: Judge, batch: list[Candidate]) -> tuple[list[Candidate], Verdict]:
        """Settles what is not there, lets stay what must, and returns the remaining."""
        judge.look_again()
        verdict = judge.judge(batch)
        self.settle([candidate for candidate in batch if candidate.n in verdict.absent])
        for n, (reason, detail) in verdict.reasons.items():
            self.selection.keep(n, reason, detail)
        if verdict.reasons:
            self.selection.spread()
        stays = {candidate.head for candidate in batch if candidate.n in verdict.reasons}
        may_go = self.selection.open_ones(verdict.present)
        remaining = [candidate for candidate in batch if candidate.n in may_go and candidate.head not in stays]
        return remaining, verdict

    def settle(self, candidates: Sequence[Candidate]) -> None:
        """Writes down what is not there: gone where it was our intent, absent where another removed it."""
        if not candidates:
            return
        intended = self.record.intended(entry.n for entry in candidates)
        self.record.settle(
            [
                RetractedObject(entry.n, "", entry.type, entry.id, GONE if entry.n in intended else ABSENT)
                for entry in candidates
            ],
            self.now_s(),
        )
        self.selection.settle(entry.n for entry in candidates)
        self.gone += len(intended)
        self.absent += len(candidates) - len(intended)

    def _intend(self, batch: Sequence[Candidate]) -> None:
        self.record.begin(self.now_s())
        entries = [RetractedObject(entry.n, "", entry.type, entry.id, INTENT) for entry in batch]
        self.record.intend(entries, self.now_s())

    def _actions(self, batch: Sequence[Candidate], verdict: Verdict) -> tuple[Action, ...]:
        """Every head with its version; before it, an empty save of each of its parts that others may have added to."""
        numbers = {candidate.n for candidate in batch}
        heads = [entry for entry in batch if entry.head == entry.n or entry.head not in numbers]
        checks = [_check(member, verdict.present[member.n]) for member in _checked_members(batch)]
        return (*checks, *(Delete(head.type, head.id, verdict.present[head.n].version) for head in heads))

    def _blame(self, judge: Judge, batch: list[Candidate], fault: ArchiveFault) -> None:
        heads = list(dict.fromkeys(candidate.head for candidate in batch))
        if len(heads) > 1:
            first = set(heads[: len(heads) // 2])
            self._remove(judge, [candidate for candidate in batch if candidate.head in first])
            self._remove(judge, [candidate for candidate in batch if candidate.head not in first])
            return
        if isinstance(fault, NotAllowed) and not self.gone:
            self._judge_again(judge, batch)  # a proxy may say no for an archive that has deleted it
            if not self.gone:
                self.record.withdraw()
                raise fault  # nothing went, and nothing else will: it is the account that may not
        reason = NOT_ALLOWED if isinstance(fault, NotAllowed) else REFUSED
        for candidate in batch:
            self.selection.keep(candidate.n, reason, fault.code)
        self.selection.spread()


def _checked_members(batch: Sequence[Candidate]) -> list[Candidate]:
    """The parts that others may have added to, of heads that go with them."""
    numbers = {candidate.n for candidate in batch}
    return [entry for entry in batch if entry.head != entry.n and entry.head in numbers and not entry.is_owned]


def _check(candidate: Candidate, actual: SavedObject) -> Save:
    """Changes nothing, and is refused where the object has another version by now."""
    return Save(candidate.type, candidate.id, {}, version=actual.version)
