"""Runs the jobs of a validation that can be shared: schema checks, reading and hashing, inline or in child processes.

Small packages are handled in this process, large ones by one child per core. Each child takes the next free job, then
its share of the files. Children, not threads: most of the work is Python code, which threads would run one at a time.
Nothing is written to disk, so a child may be killed at any time.
"""

from __future__ import annotations

import gc
import itertools
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Protocol

from noarkit.errors import NoarkitError, PackageFault, UnsafeXml
from noarkit.forms.noark5.rules.documents import Claim, read_files
from noarkit.forms.noark5.rules.journals import read_journal
from noarkit.forms.noark5.rules.messages import Message, UnreadableFile, refusal
from noarkit.forms.noark5.rules.schemas import SchemaSet, judge_document
from noarkit.safe.children import WorkerLost
from noarkit.safe.worker_pool import (
    END,
    ParentPipe,
    ProcessContext,
    ProcessPool,
    WorkerProcess,
    process_context,
    ready_workers,
)

_PATIENCE_S = 5.0


@dataclass(frozen=True, slots=True)
class JudgeJob:
    """A document against its schemas."""

    path: Path
    schemas: SchemaSet


@dataclass(frozen=True, slots=True)
class JournalJob:
    """A journal, read."""

    path: Path
    journal: int


Job = JudgeJob | JournalJob


@dataclass(frozen=True, slots=True)
class Work:
    """All that is to be done beside the walk through arkivstruktur: the jobs, and every file beneath `root`, unless
    others read the files."""

    root: Path
    jobs: tuple[Job, ...]
    with_files: bool = True


class Workers(Protocol):
    """The interface of the workers."""

    def ready(self) -> Iterator[Message]:
        """What was found since it was last asked; never waits."""

    def remaining(self) -> Iterator[Message]:
        """All else, until everything is done."""

    def close(self) -> None:
        """Ends, also in the middle."""


def run_job(job: Job) -> Iterator[Message]:
    """What one job finds; a file that cannot be read is a finding too."""
    try:
        if isinstance(job, JudgeJob):
            yield from judge_document(job.path, job.schemas)
        else:
            yield from read_journal(job.path, job.journal)
    except (PackageFault, UnsafeXml, OSError) as fault:
        yield UnreadableFile(refusal(job.path.name, fault), isinstance(job, JudgeJob))


class InlineWorkers:
    """Does all work in this process, when the remaining messages are asked for."""

    def __init__(self, work: Work) -> None:
        self._work = work

    def ready(self) -> Iterator[Message]:
        """Nothing yet."""
        return iter(())

    def remaining(self) -> Iterator[Message]:
        """Job by job, then the files."""
        for job in self._work.jobs:
            yield from run_job(job)
        if self._work.with_files:
            yield from read_files(self._work.root, itertools.count().__next__)

    def close(self) -> None:
        """Nothing is open."""


class ProcessWorkers:
    """`count` children that share the work. Of several, one rests until the remaining messages are asked for: until
    then this process walks through the structure, and would be the last to end if it had to share its processor."""

    def __init__(self, work: Work, count: int) -> None:
        context = process_context()
        share = partial(_do_share, work, _Counter(context), _Counter(context))
        self._pool = ProcessPool(share)
        self._busy = [self._pool.start() for _ in range(count)]
        self._resting = self._busy[max(1, count - 1) :]
        self._begin(self._busy[: max(1, count - 1)])

    def ready(self) -> Iterator[Message]:
        """What lies in the pipes."""
        yield from self._receive(0)

    def remaining(self) -> Iterator[Message]:
        """Until every child is done."""
        self._begin(self._resting)
        self._resting = []
        while self._busy:
            yield from self._receive(None)

    def close(self) -> None:
        """Ends the children, done or not."""
        # a child that has sent everything ends by itself
        self._pool.close(0.0 if self._busy else _PATIENCE_S)

    def _begin(self, workers: Sequence[WorkerProcess]) -> None:
        for worker in workers:
            with suppress(WorkerLost):  # told where its messages are received
                worker.send(None)

    def _receive(self, patience_s: float | None) -> Iterator[Message]:
        for worker in ready_workers(self._busy, patience_s):
            try:
                message: Message = worker.receive()
            except WorkerLost as error:
                raise NoarkitError(error="a child process ended unasked", where="noarkit.validate") from error
            if message is END:
                self._busy.remove(worker)
            else:
                yield message


def make_workers(work: Work, count: int) -> Workers:
    """Child processes where `count` is above 0, else workers in this process."""
    return ProcessWorkers(work, count) if count else InlineWorkers(work)


class _Counter:
    """A counter shared by processes: numbers from 0 on, each given out once."""

    def __init__(self, context: ProcessContext) -> None:
        self._next: Synchronized[int] = context.Value("q", 0)

    def __call__(self) -> int:
        with self._next.get_lock():
            number = self._next.value
            self._next.value = number + 1
        return number


def _do_share(work: Work, jobs: Claim, blocks: Claim, parent: ParentPipe) -> None:
    """Runs in the child, once it is told to begin."""
    parent.receive()
    gc.disable()  # nothing here makes circles, and looking for them among millions of elements costs a tenth
    while (number := jobs()) < len(work.jobs):
        for message in run_job(work.jobs[number]):
            parent.send(message)
    if work.with_files:
        for message in read_files(work.root, blocks):
            parent.send(message)
