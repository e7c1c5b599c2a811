"""Runs the jobs of a validation that can be shared: schema checks, reading and hashing, inline or in child processes.

Small packages are handled in this process, large ones by one child per core. Each child takes the next free job, then
its share of the files. Children, not threads: most of the work is Python code, which threads would run one at a time. A
child whose parent is gone ends at its next message, because its pipe is broken; nothing is written to disk.
"""

from __future__ import annotations

import gc
import itertools
import multiprocessing
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkContext, SpawnContext
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Protocol

from noarkit.errors import NoarkitError, PackageFault, UnsafeXml
from noarkit.forms.noark5.rules.documents import Claim, read_files
from noarkit.forms.noark5.rules.journals import read_change_log, read_journal
from noarkit.forms.noark5.rules.messages import Message, UnreadableFile, refusal
from noarkit.forms.noark5.rules.schemas import SchemaSet, judge_document

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


@dataclass(frozen=True, slots=True)
class ChangeLogJob:
    """The change log, read."""

    path: Path


Job = JudgeJob | JournalJob | ChangeLogJob


@dataclass(frozen=True, slots=True)
class Work:
    """All that is to be done beside the walk through arkivstruktur: the jobs, and every file beneath `root`."""

    root: Path
    jobs: tuple[Job, ...]


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
        elif isinstance(job, JournalJob):
            yield from read_journal(job.path, job.journal)
        else:
            yield from read_change_log(job.path)
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
        yield from read_files(self._work.root, itertools.count().__next__)

    def close(self) -> None:
        """Nothing is open."""


class ProcessWorkers:
    """`count` children that share the work."""

    def __init__(self, work: Work, count: int) -> None:
        context = _context()
        jobs, blocks = _Counter(context), _Counter(context)
        self._pipes: list[Connection] = []
        self._children = []
        for _ in range(count):
            parent_end, child_end = context.Pipe(duplex=False)
            child = context.Process(
                target=_run_worker, args=(work, child_end, [*self._pipes, parent_end], jobs, blocks), daemon=True
            )
            child.start()
            child_end.close()
            self._pipes.append(parent_end)
            self._children.append(child)

    def ready(self) -> Iterator[Message]:
        """What lies in the pipes."""
        yield from self._receive(0)

    def remaining(self) -> Iterator[Message]:
        """Until every child is done."""
        while self._pipes:
            yield from self._receive(None)

    def close(self) -> None:
        """Ends the children, done or not."""
        patience_s = 0.0 if self._pipes else _PATIENCE_S  # a child that has sent everything ends by itself
        for pipe in self._pipes:
            pipe.close()
        for child in self._children:
            child.join(patience_s)
            child.kill()
            child.join()

    def _receive(self, patience_s: float | None) -> Iterator[Message]:
        for pipe in wait(self._pipes, patience_s):
            assert isinstance(pipe, Connection)  # noqa: S101  # wait returns what it was given
            received = _receive_from(pipe)
            if received is None:
                self._pipes.remove(pipe)
                pipe.close()
            elif isinstance(received, NoarkitError):
                raise received
            else:
                yield from received


def make_workers(work: Work, count: int) -> Workers:
    """Child processes where `count` is above 0, else workers in this process."""
    return ProcessWorkers(work, count) if count else InlineWorkers(work)


def _receive_from(pipe: Connection) -> Sequence[Message] | NoarkitError | None:
    """What a child says: findings, a fault, or None if it is done."""
    try:
        received = pipe.recv()
    except EOFError:
        return NoarkitError(error="a child process ended unasked", where="noarkit.validate")
    return received if isinstance(received, list | NoarkitError) else None


class _Counter:
    """A counter shared by processes: numbers from 0 on, each given out once."""

    def __init__(self, context: ForkContext | SpawnContext) -> None:
        self._next: Synchronized[int] = context.Value("q", 0)

    def __call__(self) -> int:
        with self._next.get_lock():
            number = self._next.value
            self._next.value = number + 1
        return number


def _context() -> ForkContext | SpawnContext:
    """Children by fork where the system has it: they start in milliseconds."""
    if sys.platform.startswith("linux"):
        return multiprocessing.get_context("fork")
    return multiprocessing.get_context("spawn")


def _run_worker(work: Work, pipe: Connection, inherited: list[Connection], jobs: Claim, blocks: Claim) -> None:
    for connection in inherited:
        connection.close()
    gc.disable()  # nothing here makes circles, and looking for them among millions of elements costs a tenth
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever gathers decides when to stop, and closes the pipe
    try:
        while (number := jobs()) < len(work.jobs):
            for message in run_job(work.jobs[number]):
                pipe.send([message])
        for message in read_files(work.root, blocks):
            pipe.send([message])
        pipe.send(None)
    except (BrokenPipeError, ConnectionError):
        return
    except NoarkitError as fault:
        pipe.send(fault)
