"""The port of work that other machines do: jobs out, results back. Whoever needs it knows neither network nor engine.

A job is the name of a function that every worker has, and plain data; never code. Jobs only read, so one whose worker
is lost is given to another. Results come in any order: whoever puts them together brings them into his own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

JobFunction = Callable[[object], object]
"""What a worker runs: plain data in, plain data out; it raises faults of ours."""

_PATIENCE_S = 0.5


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of work: the name of the function, and what it is given."""

    name: str
    data: object


@dataclass(frozen=True, slots=True)
class JobTable:
    """What every worker can do for others: functions by name, and the dataclasses that they are given or return;
    `close` ends what they keep between two jobs."""

    functions: Mapping[str, JobFunction] = field(default_factory=dict)
    kinds: tuple[type, ...] = ()
    close: Callable[[], None] = lambda: None


NO_JOBS = JobTable()


class JobWorkers(Protocol):
    """Workers elsewhere that carry out jobs."""

    @property
    def free(self) -> int:
        """How many jobs can be started now; waits for a worker where none is at work. Raises `NoWorkers`,
        `OtherVersion`, `EngineAway`."""
        ...

    def start(self, job: Job) -> None:
        """Gives a job to a free worker."""
        ...

    def results(self, patience_s: float) -> list[tuple[Job, object]]:
        """What has been done meanwhile; waits at most so long for the first. Raises the fault of a job, and
        `WorkerLost` for one that workers were lost over again and again."""
        ...


class RunningJobs:
    """Jobs under way at `workers`: each is started once a worker is free, none is prepared long before."""

    def __init__(self, workers: JobWorkers, jobs: Iterable[Job]) -> None:
        self._workers = workers
        self._jobs = iter(jobs)
        self._added: deque[Job] = deque()
        self._running = 0
        self._has_more = True

    @property
    def is_done(self) -> bool:
        """True once every job is done and its result was taken."""
        return not self._has_more and not self._added and not self._running

    def add(self, job: Job) -> None:
        """One job more, before those that were not started yet: what follows from a result."""
        self._added.append(job)

    def take(self, patience_s: float = _PATIENCE_S) -> list[tuple[Job, object]]:
        """Starts what can be started, and returns what is done; waits at most so long for the first result."""
        self._start()
        if not self._running:
            return []
        results = self._workers.results(patience_s)
        self._running -= len(results)
        if results:
            self._start()  # nobody waits for a job while its result is used
        return results

    def _start(self) -> None:
        if not self._has_more and not self._added:
            return
        for _ in range(self._workers.free):
            job = self._added.popleft() if self._added else next(self._jobs, None)
            if job is None:
                self._has_more = False
                return
            self._workers.start(job)
            self._running += 1


def run_jobs(workers: JobWorkers, jobs: Iterable[Job]) -> Iterator[tuple[Job, object]]:
    """Has all jobs carried out; yields each with its result, as they come."""
    running = RunningJobs(workers, jobs)
    while not running.is_done:
        yield from running.take()
