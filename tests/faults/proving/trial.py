"""One trial: a run is loaded and verified while the network fails, again and again, and all that is said is judged."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.chaos.client import Job, Result, ingest, make_plan, verify_run
from tests.faults.chaos.clock import PROCESS
from tests.faults.chaos.shape import Shape
from tests.faults.proving.middlebox import Middlebox
from tests.faults.proving.schedules import Schedule
from tests.strict_archive.account import Account
from tests.strict_archive.archive import Archive, Reply
from tests.strict_archive.store import Store

_CALLS_IN_TROUBLE = 6
_CALLS_IN_PEACE = 3
_DIFFERS = 7
_TEMPORARY = 5
_IN_PART = 3
_TRIALS_AN_ARCHIVE = 60
_VERIFIED_AGAIN = 10
_ACCOUNT = Account("prover", "not-so-secret")


class RememberingArchive(Archive):
    """An archive that keeps what it held before each of its last changes."""

    def __init__(self, reference: Path) -> None:
        super().__init__(reference, [_ACCOUNT])
        self.earlier: list[Store] = []

    def answer(self, method: str, target: str, headers: Mapping[str, str], raw: bytes) -> Reply:
        """See `Archive`."""
        if target.endswith("/transaction"):
            self.earlier.append(self.store.snapshot())
        return super().answer(method, target, headers, raw)


@dataclass
class Outcome:
    """What a trial came to. `wrong` is empty where all was as it must be."""

    wrong: list[str] = field(default_factory=list)
    fired: list[str] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)


@dataclass
class Lab:
    """An archive, the same as it was before, and a proxy before both."""

    reference: Path
    folder: Path
    trials: int = 0
    jobs: int = 0
    loaded: dict[Shape, Job] = field(default_factory=dict)

    def begin_trial(self) -> None:
        """Makes ready for a trial, in an archive that is not too large to ask."""
        if self.trials % _TRIALS_AN_ARCHIVE == 0:
            self.close()
            self.archive = RememberingArchive(self.reference)
            self.before = Archive(self.reference, [_ACCOUNT])
            self.before._tokens = self.archive._tokens
            self.proxy = Middlebox(self.archive, self.before, PROCESS)
        self.trials += 1

    def new_job(self, shape: Shape) -> Job:
        """A plan of its own, with a name that no other has."""
        self.archive.earlier.clear()
        self.jobs += 1
        name = f"job {self.jobs}"
        job = Job(self.folder / f"job-{self.jobs}", self.proxy.port, _ACCOUNT.id, _ACCOUNT.secret, name, name, shape)
        make_plan(job)
        return job

    def close(self) -> None:
        """Ends what was started."""
        if self.trials:
            self.proxy.close()
        for job in self.loaded.values():
            shutil.rmtree(job.run)
        self.loaded.clear()


def try_out(schedule: Schedule, lab: Lab) -> Outcome:
    """Plays a schedule."""
    lab.begin_trial()
    loaded = None if schedule.loads else lab.loaded.get(schedule.shape)
    trial = _Trial(schedule, lab, loaded or lab.new_job(schedule.shape), loaded is not None)
    try:
        trial.play()
    finally:
        lab.proxy.play(())
        if schedule.loads:
            shutil.rmtree(trial.job.run)
    trial.outcome.wrong += [f"the archive failed: {crash}" for crash in lab.archive.crashes]
    lab.archive.crashes.clear()
    return trial.outcome


def _asks_for_another(result: Result) -> bool:
    """True where a verification says that it could not be done, or not all of it, and claims no difference."""
    return result.exit == _TEMPORARY or (result.exit == _IN_PART and result.verdict == "in_part")


@dataclass
class _Trial:
    schedule: Schedule
    lab: Lab
    job: Job
    is_loaded: bool
    outcome: Outcome = field(default_factory=Outcome)

    def play(self) -> None:
        """Loads, verifies in trouble, and where that proved nothing, or now and then, verifies in peace."""
        fired: list[str] = []
        if self.schedule.loads:
            script = self.lab.proxy.play(self.schedule.faults)
            self._load(_CALLS_IN_TROUBLE)
            fired = script.fired
            time.sleep(120.0)
            self.lab.proxy.play(())
        if not self.is_loaded:
            self._load(_CALLS_IN_PEACE, must_end=True)
            self._remember()
            if not self.schedule.loads and not self.outcome.wrong:
                self.lab.loaded[self.schedule.shape] = self.job
        with self._harmed():
            script = self.lab.proxy.play(self.schedule.faults)
            is_proven = self._verify_in_trouble()
            self.outcome.fired = [*fired, *script.fired]
            self.lab.proxy.play(())
            if not is_proven or self.schedule.seed % _VERIFIED_AGAIN == 0:
                time.sleep(120.0)
                self._judge(self._call("verify"), may_fail=False)

    def _remember(self) -> None:
        """What is told as from before: as it was at some change of this load."""
        earlier = self.lab.archive.earlier
        if earlier:
            self.lab.before.store = random.Random(self.schedule.seed).choice(earlier)

    def _load(self, most: int, *, must_end: bool = False) -> None:
        for _ in range(most):
            result = self._call("ingest")
            if result.exit == 0 and result.state == "done":
                return
            if result.exit != _TEMPORARY:
                self._wrong(f"ingest: exit {result.exit} {result.state} {result.code} {result.events[-3:]}")
            time.sleep(100.0)
        if must_end:
            self._wrong("the load never came to its end")

    def _verify_in_trouble(self) -> bool:
        """Verifies until there is a verdict; True if there is one."""
        for _ in range(_CALLS_IN_TROUBLE):
            result = self._call("verify")
            self._judge(result, may_fail=True)
            if not _asks_for_another(result):
                return True
            time.sleep(10.0)
        return False

    def _judge(self, result: Result, *, may_fail: bool) -> None:
        if may_fail and _asks_for_another(result):
            return
        expected = _DIFFERS if self.schedule.harm else 0
        if result.exit != expected or (expected == 0 and result.verdict != "verified"):
            said = f"verify: exit {result.exit} {result.verdict} {result.code}"
            self._wrong(f"{said}, not {expected}: {result.findings[:4]} {result.events[-3:]}")

    def _call(self, what: str) -> Result:
        result = (verify_run if what == "verify" else ingest)(self.job)
        self.outcome.results.append(result)
        if result.crash:
            self._wrong(f"crash: {result.crash}")
        return result

    def _wrong(self, what: str) -> None:
        self.outcome.wrong.append(what)

    @contextmanager
    def _harmed(self) -> Iterator[None]:
        """Changes something in the archive, below its interface, where the schedule says so."""
        store = self.lab.archive.store
        if not self.schedule.harm:
            yield
            return
        externals = [store.objects[id] for id in store.with_value("EksternId", "eksterntSystem", self.job.system)]
        records = [id for external in externals for id in external.links.get("refRegistrering", ())]
        documents = [id for record in records for id in store.objects[record].links.get("refDokument", ())]
        seen = store.objects[random.Random(self.schedule.seed).choice([*records, *documents])]
        title = seen.fields["tittel"]
        seen.fields["tittel"] = "Forged"
        store.forget_indexes()
        yield
        seen.fields["tittel"] = title
        store.forget_indexes()
