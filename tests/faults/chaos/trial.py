"""One trial: the schedule is played, the client called again and again, and all it says held against the count."""

from __future__ import annotations

import random
import shutil
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from tests.faults.chaos.client import DEADLINE_S, Job, Result, ingest, make_plan, retry, verify_run
from tests.faults.chaos.count import Count, count, last_ids, made_since
from tests.faults.chaos.lab import Lab
from tests.faults.chaos.proxy import Fault
from tests.faults.chaos.schedules import Schedule

_CALLS_IN_TROUBLE = 6
_CALLS_IN_PEACE = 5
_DAMAGED = 7
_VERIFIED_EARLY = 0.15
_CALLED_ONCE_MORE = 5


@dataclass
class Outcome:
    """What a trial came to. `wrong` is empty where all was as it must be."""

    wrong: list[str] = field(default_factory=list)
    fired: list[str] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    last_ingest: Result = field(default_factory=lambda: Result(1))
    struck: set[int] = field(default_factory=set)


def try_out(schedule: Schedule, lab: Lab) -> Outcome:
    """Plays a schedule. The fonds, the external system and the run are its own."""
    name = lab.next_trial()
    run = lab.folder / name.replace(" ", "-")
    earlier = lab.mode.earlier
    job = Job(run, lab.proxy.port, lab.mode.account, lab.secret, name, name, schedule.shape, schedule.workers)
    job = replace(job, closes=not earlier)
    trial = _Trial(schedule, lab, job, last_ids(lab.raw))
    make_plan(job)
    try:
        if earlier:
            _load_earlier(replace(job, run=run / "earlier", only_first_half=True))
        trial.in_trouble()
        trial.in_peace()
    finally:
        lab.proxy.play(())
        shutil.rmtree(run)
    return trial.outcome


def _load_earlier(job: Job) -> None:
    make_plan(job)
    result = ingest(job)
    assert (result.exit, result.numbers["archived"]) == (0, job.shape.loaded_before), result


@dataclass
class _Trial:
    schedule: Schedule
    lab: Lab
    job: Job
    before: dict[str, int]
    outcome: Outcome = field(default_factory=Outcome)
    _held: tuple[int, Count] | None = None

    def in_trouble(self) -> None:
        """The command, as a scheduler would call it, until it says that it is done."""
        script = self.lab.proxy.play(self.schedule.faults)
        chance, result = random.Random(self.schedule.seed), Result(1)
        for _ in range(_CALLS_IN_TROUBLE):
            result = self._call(ingest)
            if result.exit in (0, 3, _DAMAGED) and result.state == "done":
                break
            time.sleep(chance.choice((1.0, 5.0, 100.0)))
        if result.state != "done" or chance.random() < _VERIFIED_EARLY:
            self._judge_verdict(self._call(verify_run), self._count(), final=False)
        self.outcome.fired, self.outcome.struck = script.fired, script.struck

    def in_peace(self) -> None:
        """Now nothing goes wrong any more, and all must come to its end."""
        time.sleep(2 * DEADLINE_S)
        self.lab.proxy.play(())
        result = self.outcome.last_ingest
        # what ended well is mostly left at that
        if not self._ended_well(result) or self.schedule.seed % _CALLED_ONCE_MORE == 0:
            for turn in range(_CALLS_IN_PEACE):
                result = self._call(ingest if turn == 0 else retry)
                if self._ended_well(result):
                    break
        held = self._count()
        if not self._ended_well(result) and result.exit != _DAMAGED:
            self._wrong(f"never done: exit {result.exit} {result.state} {result.code}")
        self._judge_verdict(self._call(verify_run), held, final=True)

    def _ended_well(self, result: Result) -> bool:
        return result.state == "done" and result.exit == (0 if self.lab.mode.closes else 3) and result.all_stands

    def _call(self, act: Callable[[Job], Result]) -> Result:
        result = self.lab.in_child(act, self.job) if self.schedule.child else act(self.job)
        self.outcome.results.append(result)
        if act is not verify_run:
            self.outcome.last_ingest = result
        if result.crash:
            self._wrong(f"crash: {result.crash}")
        if act is not verify_run and result.numbers:
            self._judge_numbers(result)
        return result

    def _judge_numbers(self, result: Result) -> None:
        told = result.numbers
        sums = ("archived", "already_there", "set_aside", "refused", "skipped", "open")
        if told["read"] != self.schedule.shape.records or told["read"] != sum(told[name] for name in sums):
            self._wrong(f"numbers do not add up: {told}")
        before = self.schedule.shape.loaded_before
        if told["already_there"] > before or (
            result.state == "done" and result.exit == 0 and told["already_there"] < before
        ):
            self._wrong(f"{told['already_there']} told as already there in place of {before}: {told}")
        held = self._count()
        # what was refused may come to stand afterwards, where the answer told less than the truth
        stands = told["archived"] + told["already_there"]
        most = stands + told["refused"] if result.exit == 3 else stands
        if stands > held.records or (result.state == "done" and held.records > most):
            self._wrong(f"archived {stands}, but the archive holds {held.records}")
        if result.state == "done" and result.exit == 0:
            if not held.agrees:
                self._wrong(f"exit 0, but {_of(held)}")
            if self.job.closes and not held.is_closed:
                self._wrong(f"exit 0, but {held.open} objects are open")
            if told["bytes"] != held.bytes - self._bytes_before():
                self._wrong(f"bytes {told['bytes']}, but the archive holds {held.bytes}")

    def _bytes_before(self) -> int:
        shape = self.schedule.shape
        return sum(len(content) for key, _ in shape.first_half() for content in shape.contents(key))

    def _judge_verdict(self, result: Result, held: Count, *, final: bool) -> None:
        damaged = any("corrupt" in fired for fired in self.outcome.fired)
        if held.doubled or (held.strange and final and not damaged):
            self._wrong(_of(held))
        if result.verdict == "verified" and not held.agrees:
            self._wrong(f"verified, but {_of(held)}")
        good = "verified" if held.is_closed or not self.job.closes else "in_part"
        if final and held.agrees and result.verdict != good:
            self._wrong(f"all is there, but {result.verdict or result.code}: {result.findings[:3]} {result.events[:3]}")
        if final and not held.agrees and not (damaged and result.verdict == "not_verified"):
            self._wrong(f"in the end {_of(held)}, and {result.verdict}")

    def _count(self) -> Count:
        """The count as it is now; the last one, where nothing has reached the archive since."""
        changes = self.lab.proxy.changes
        if self._held is None or self._held[0] != changes:
            self._held = changes, self._counted()
        return self._held[1]

    def _counted(self) -> Count:
        held = count(self.lab.raw, self.schedule.shape, self.job.system, self.job.fonds)
        stray = Counter(made_since(self.lab.raw, self.before)) - Counter(held.objects)
        if stray:
            held.strange.append(f"outside of the fonds: {dict(stray)}")
        return held

    def _wrong(self, what: str) -> None:
        if what not in self.outcome.wrong:
            self.outcome.wrong.append(what)


def _of(held: Count) -> str:
    return f"lost {held.lost[:3]}, doubled {held.doubled[:3]}, strange {held.strange[:3]}"


def shrink(schedule: Schedule, failing: Outcome, fails: Callable[[Schedule], bool]) -> Schedule:
    """The least of a failing schedule that still fails: fewer faults, each struck once, and nothing wrong after it."""
    struck = tuple(fault for place, fault in enumerate(schedule.faults) if place in failing.struck)
    least = replace(schedule, faults=struck)
    if not fails(least):
        least = schedule
    for fault in schedule.faults:
        fewer = replace(least, faults=tuple(kept for kept in least.faults if kept != fault))
        if fault in least.faults and fails(fewer):
            least = fewer
    for place, fault in enumerate(least.faults):
        for simpler in _simpler(fault):
            tried = replace(least, faults=(*least.faults[:place], simpler, *least.faults[place + 1 :]))
            if fails(tried):
                least = tried
                break
    return least


def _simpler(fault: Fault) -> list[Fault]:
    plain = [replace(fault, times=1, then=())] if fault.then or fault.times > 1 else []
    return plain + ([replace(fault, times=1)] if fault.then and fault.times > 1 else [])
