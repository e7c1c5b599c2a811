"""Has jobs carried out by the workers of a cluster: the adapter of Dask distributed to the port `JobWorkers`.

Jobs only read, so nothing is in doubt when a worker is lost: its job is given to another, and given up (F447) after the
third loss. The library is not asked to do that, since it would do so for leases as well. One worker has one job at a
time; those that work on a lease of a load are left to it.
"""

from __future__ import annotations

import asyncio
import queue
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from noarkit.errors import JobLost, NoarkitError, NoWorkers, fault_from_code
from noarkit.loading.engines.cluster.connection import CALL_PATIENCE_S, check_link, connect, submit_once
from noarkit.loading.engines.cluster.job_desk import JobOrder, JobReply, carry_out_job
from noarkit.loading.engines.cluster.messages import BadMessage, Beat, decode, encode
from noarkit.loading.engines.cluster.plain import PlainFormat
from noarkit.loading.engines.cluster.roster import Member, Roster
from noarkit.loading.engines.cluster.worker import BEATS
from noarkit.loading.engines.remote import ClusterTarget
from noarkit.safe.remote_jobs import Job
from noarkit.version import __version__

MOST_LOSSES = 3
"""So many workers may be lost over one job."""

_NAP_S = 0.02


@dataclass(slots=True)
class _RunningJob:
    job: Job
    member: Member
    started_s: float
    losses: int
    future: Any = None  # the library's own


class ClusterJobs:
    """The workers at a scheduler, as far as they carry out jobs; used by one thread."""

    def __init__(self, client: Any, target: ClusterTarget, kinds: tuple[type, ...]) -> None:  # it tells no types
        self._client, self._target = client, target
        self._format = PlainFormat(kinds)
        self._fresh_s = 3 * target.timing.beat_s + 1.0
        self._roster = Roster(self._fresh_s, time.monotonic)
        self._name = uuid.uuid4().hex[:12]
        self._count = 0
        self._running: dict[str, _RunningJob] = {}
        self._again: list[tuple[Job, int]] = []
        self._ended: queue.SimpleQueue[str] = queue.SimpleQueue()
        client.subscribe_topic(BEATS, self._hear_beat)
        self._hear_all()

    @property
    def free(self) -> int:
        """As the port says. Jobs that were lost are started first."""
        deadline_s = time.monotonic() + self._target.patience_s
        while not (idle := self._idle()) and not self._running:
            check_link(self._client, self._target)
            self._roster.check_versions()
            if time.monotonic() >= deadline_s:
                raise NoWorkers(where=self._target.address, seconds=round(self._target.patience_s))
            time.sleep(_NAP_S)
        self._roster.check_versions()
        while self._again and idle:
            self._start(*self._again.pop(0), idle.pop(0))
        return len(idle)

    def start(self, job: Job) -> None:
        """Gives a job to a worker that was free a moment ago."""
        idle = self._idle()
        if idle:
            self._start(job, 0, idle[0])
        else:
            self._again.append((job, 0))

    def results(self, patience_s: float) -> list[tuple[Job, object]]:
        """As the port says."""
        results: list[tuple[Job, object]] = []
        ends_s = time.monotonic() + patience_s
        while True:
            with suppress(queue.Empty):
                while True:
                    wait_s = 0.0 if results else min(ends_s - time.monotonic(), 0.5)
                    key = self._ended.get(timeout=wait_s) if wait_s > 0 else self._ended.get_nowait()
                    results += self._take(key)
            check_link(self._client, self._target)
            self._find_lost()
            if self._again:
                _ = self.free  # starts them, where a worker is free
            if results or time.monotonic() >= ends_s:
                return results

    def close(self) -> None:
        """Lets go of what is under way; a worker ends its job by itself, and nobody hears of it."""
        for running in self._running.values():
            running.future.release()
        self._running.clear()

    def _start(self, job: Job, losses: int, member: Member) -> None:
        self._count += 1
        key = f"noarkit-job/{self._name}/{self._count}"
        order = JobOrder(__version__, key, job.name, self._format.encode(job.data).decode())
        running = self._running[key] = _RunningJob(job, member, time.monotonic(), losses)
        address = member.beat.address
        running.future = submit_once(self._client, carry_out_job, encode(order), key=key, worker=address)
        running.future.add_done_callback(lambda _: self._ended.put(key))

    def _take(self, key: str) -> Iterator[tuple[Job, object]]:
        running = self._running.pop(key, None)
        if running is None:
            return  # one that had been given up: another worker has it
        try:
            message = running.future.result(CALL_PATIENCE_S)
        except Exception as error:  # noqa: BLE001  # however the library says that a worker was lost
            check_link(self._client, self._target)
            self._lose(running, error)
            return
        finally:
            running.future.release()
        self._roster.hear(replace(running.member.beat, key=""))  # it is free, whatever its last beat said
        reply = decode(JobReply, message)
        if reply.state == "fault":
            raise fault_from_code(reply.code, reply.facts)
        if reply.state == "defect":
            raise NoarkitError(error=reply.data, where=running.member.beat.machine)
        yield running.job, self._format.decode(reply.data.encode())

    def _find_lost(self) -> None:
        """Gives up jobs whose worker is surely gone, or was not heard since it was given one."""
        now = time.monotonic()
        for key, running in list(self._running.items()):
            worker = running.member.beat.worker
            stamp = self._roster.stamp(worker)
            is_silent = stamp == running.member.beat.stamp and now - running.started_s > self._fresh_s
            if self._roster.has_ended(worker) or is_silent:
                del self._running[key]
                running.future.release()
                self._lose(running, None)

    def _lose(self, running: _RunningJob, cause: Exception | None) -> None:
        losses = running.losses + 1
        if losses >= MOST_LOSSES:
            raise JobLost(where=running.member.beat.machine, job=running.job.name, losses=losses) from cause
        self._again.append((running.job, losses))

    def _idle(self) -> list[Member]:
        return self._roster.idle({running.member.beat.worker for running in self._running.values()})

    def _hear_all(self) -> None:
        """Hears every worker that is at the scheduler now, before anything is given to one of them."""

        async def ask() -> Any:  # the library's own
            call = self._client.scheduler.broadcast(msg={"op": "noarkit_beat"}, on_error="ignore")
            return await asyncio.wait_for(call, self._fresh_s)

        with suppress(TimeoutError, asyncio.TimeoutError, OSError):  # one that does not answer is not free
            for reply in self._client.sync(ask).values():
                self._roster.hear(decode(Beat, reply))

    def _hear_beat(self, event: tuple[float, bytes]) -> None:
        """In the thread of the library's loop."""
        with suppress(BadMessage):
            self._roster.hear(decode(Beat, event[1]))


@contextmanager
def open_cluster_jobs(target: ClusterTarget, kinds: tuple[type, ...]) -> Iterator[ClusterJobs]:
    """The workers at a scheduler, for as long as a block lasts. Raises `EngineAway`, `EngineTrust`, `OtherVersion`."""
    with ExitStack() as stack:
        jobs = ClusterJobs(connect(target, stack), target, kinds)
        stack.callback(jobs.close)
        yield jobs
