"""Runs leases on the workers of a cluster: the adapter of Dask distributed to the coordinator's port `Workers`.

The library dispatches and encrypts; it is never asked what became of anything. A lease is submitted once, under the key
run/shard/attempt, and its outcomes come back as numbered reports. It lasts for as long as it is renewed: each renewal
answers a beat of its worker and counts from that beat, so the worker's end of it is never later than ours. A worker is
lost, and said to be (F431), once nothing of it can leave any more: its lease ran out here, or its machine reaped it.
"""

from __future__ import annotations

import asyncio
import queue
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noarkit.errors import LeaseEnded, NoWorkers, WorkerLost
from noarkit.loading.contents import OpenContent
from noarkit.loading.engines.cluster.connection import CALL_PATIENCE_S, check_link, connect, submit_once
from noarkit.loading.engines.cluster.messages import (
    BadMessage,
    Beat,
    Order,
    Renewal,
    Report,
    at_own_time,
    decode,
    encode,
    outcome_of,
    report_of,
    with_ages,
)
from noarkit.loading.engines.cluster.roster import Member, Roster
from noarkit.loading.engines.cluster.shares import RateShares
from noarkit.loading.engines.cluster.shipping import WANTS, PieceSender, Want
from noarkit.loading.engines.cluster.worker import BEATS, BUSY, carry_out_lease
from noarkit.loading.engines.remote import ClusterTarget, RunReference
from noarkit.loading.governor import Rate
from noarkit.loading.lease import Lease, Outcome, ShardDone, ShardStopped
from noarkit.version import __version__

_WAIT_S = 0.5
_NAP_S = 0.02


@dataclass(frozen=True, slots=True)
class EngineHooks:
    """What the engine asks and tells. `promise` makes durable until when workers may send, by the steady clock of the
    journal, None once none does; `should_stop` says that the run is to stop. `plan` and `open_content` are for
    workers that have them not."""

    promise: Callable[[float | None], None]
    should_stop: Callable[[], bool]
    plan: Path
    open_content: OpenContent
    steady_s: Callable[[], float] = time.monotonic


@dataclass(slots=True)
class _RunningLease:
    shard: int
    key: str
    worker: str
    address: str
    machine: str
    until_s: float
    renewed_s: float
    future: Any = None  # the library's own
    next_report: int = 0
    is_broken: bool = False


class DaskWorkers:
    """The workers at a scheduler, for the time of one load. Raises `EngineAway`, `EngineTrust`, `OtherVersion`."""

    def __init__(self, target: ClusterTarget, run: RunReference, rate: Rate, hooks: EngineHooks) -> None:
        self._target, self._run, self._hooks = target, run, hooks
        self._timing = target.timing
        self._roster = Roster(3 * self._timing.beat_s + 1.0, time.monotonic)
        self._shares = RateShares(rate, time.monotonic)
        self._reports: queue.SimpleQueue[Report] = queue.SimpleQueue()
        self._running: dict[str, _RunningLease] = {}
        self._promised_s = 0.0
        self._is_stopping = False
        self._chosen: list[Member] = []
        self._tasks: set[Future[Any]] = set()
        self._stack = ExitStack()
        try:
            self._client = connect(target, self._stack)
        except BaseException:
            self._stack.close()
            raise
        self._topic = f"noarkit-{self._client.id}"
        sender = PieceSender(hooks.plan, hooks.open_content, self._send_piece)
        self._stack.callback(sender.close)
        self._sender = sender
        hearers = {
            BEATS: self._hear_beat,
            BUSY: self._hear_busy,
            WANTS: self._hear_want,
            self._topic: self._hear_report,
        }
        for topic, hear in hearers.items():
            self._client.subscribe_topic(topic, hear)
        self._hear_all()

    @property
    def free(self) -> int:
        """How many workers are free; where none is at work, waits for one. Raises `NoWorkers`, `OtherVersion`."""
        if self._is_stopping:
            return 0
        deadline_s = time.monotonic() + self._target.patience_s
        while not (idle := self._idle()) and not self._running and not self._hooks.should_stop():
            check_link(self._client, self._target)
            self._roster.check_versions()
            if time.monotonic() >= deadline_s:
                raise NoWorkers(where=self._target.address, seconds=round(self._target.patience_s))
            time.sleep(_NAP_S)
        self._roster.check_versions()
        self._chosen = idle
        return len(idle)

    def start(self, lease: Lease) -> None:
        member = self._chosen.pop(0)
        now = time.monotonic()
        self._promise_more(now)
        beat, key = member.beat, f"{self._run.name}/{lease.shard}/{lease.attempt}"
        running = _RunningLease(lease.shard, key, beat.worker, beat.address, beat.machine, self._end_s(now), now)
        self._running[key] = running
        order = Order(
            version=__version__,
            topic=self._topic,
            key=key,
            stamp=beat.stamp,
            timing=self._timing,
            run=self._run,
            lease=with_ages(lease, self._hooks.steady_s()),
            rate=self._shares.share(len(self._running)),
        )
        self._renew_all(others_than=key)  # their shares are smaller now
        if self._roster.is_leaving(beat.worker):  # it was free a moment ago; from here on `_hear_beat` sees to it
            self._give_back(running)
            return
        # Data, not code: one function that every worker has, and bytes. Never run again, never by another.
        running.future = submit_once(self._client, carry_out_lease, encode(order), key=key, worker=beat.address)

    def outcomes(self) -> list[tuple[int, Outcome]]:
        outcomes: list[tuple[int, Outcome]] = []
        with suppress(queue.Empty):
            outcomes += self._take(self._reports.get(timeout=_WAIT_S))
            while True:  # all that is there at once, for one transaction of the journal
                outcomes += self._take(self._reports.get_nowait())
        check_link(self._client, self._target)
        now = time.monotonic()
        for running in list(self._running.values()):
            has_ended = self._roster.has_ended(running.worker)
            if has_ended or now > running.until_s:
                self._let_go(running)
                outcomes.append((running.shard, _loss_of(running, silent=not has_ended)))
        if self._running:
            self._promise_more(now)
        return outcomes

    def ask_to_stop(self) -> None:
        if not self._is_stopping:
            self._is_stopping = True
            for running in list(self._running.values()):
                self._ask(running.address, "noarkit_stop")

    def close(self) -> None:
        """Lets the workers go. Those that are at work are asked to stop, and do so at the latest with their lease."""
        for running in list(self._running.values()):
            self._ask(running.address, "noarkit_stop")
        if not self._running:
            self._hooks.promise(None)
        with suppress(TimeoutError):
            for task in list(self._tasks):
                task.result(1.0)
        self._stack.close()

    # what the library is asked

    def _ask(self, address: str, operation: str, **data: object) -> None:
        """Sends a message to a worker, by way of the scheduler; nobody waits for the answer."""

        async def send() -> None:
            with suppress(Exception):  # whoever does not hear it is not renewed, and is lost then
                message = {"op": operation, **data}
                call = self._client.scheduler.broadcast(msg=message, workers=[address], on_error="ignore")
                await asyncio.wait_for(call, CALL_PATIENCE_S)

        task = asyncio.run_coroutine_threadsafe(send(), self._client.loop.asyncio_loop)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _hear_all(self) -> None:
        """Hears every worker that is at the scheduler now, before anything is given to one of them."""

        async def ask() -> Any:  # the library's own
            call = self._client.scheduler.broadcast(msg={"op": "noarkit_beat"}, on_error="ignore")
            return await asyncio.wait_for(call, 2 * self._timing.beat_s + 1.0)

        with suppress(TimeoutError, asyncio.TimeoutError, OSError):  # one that does not answer is not free
            for reply in self._client.sync(ask).values():
                self._roster.hear(decode(Beat, reply))

    def _send_piece(self, address: str, message: bytes, data: bytes) -> bool:
        """Sends a piece of what a worker asked for, from a thread; True if it was taken."""

        async def send() -> Any:  # the library's own
            operation = {"op": "noarkit_piece", "message": message, "data": data}
            call = self._client.scheduler.broadcast(msg=operation, workers=[address], on_error="ignore")
            return await asyncio.wait_for(call, self._timing.lease_s)

        try:
            answers = asyncio.run_coroutine_threadsafe(send(), self._client.loop.asyncio_loop).result()
        except Exception:  # noqa: BLE001  # a worker that hears nothing asks no more; its lease decides what comes of it
            return False
        return answers.get(address) is True

    # in the thread of the library's loop

    def _hear_beat(self, event: tuple[float, bytes]) -> None:
        with suppress(BadMessage):
            beat = decode(Beat, event[1])
            self._roster.hear(beat)
            if beat.is_leaving:
                # What it has not begun by now it will not begin: an order still on its way is given back untouched.
                for lease in list(self._running.values()):
                    if lease.worker == beat.worker and lease.key != beat.key:
                        self._give_back(lease)
            running = self._running.get(beat.key)
            if running is None or running.worker != beat.worker:
                return
            if time.monotonic() - running.renewed_s >= self._timing.renew_s:
                self._renew(running, beat.stamp)

    def _hear_busy(self, event: tuple[float, bytes]) -> None:
        if event[1].decode() in self._running and self._shares.heard_busy():
            self._renew_all(slower=True)

    def _hear_report(self, event: tuple[float, bytes]) -> None:
        with suppress(BadMessage):
            self._reports.put(decode(Report, event[1]))

    def _hear_want(self, event: tuple[float, bytes]) -> None:
        with suppress(BadMessage):
            want = decode(Want, event[1])
            running = self._running.get(want.key)
            if running is not None:
                self._sender.serve(want, running.address)

    def _renew_all(self, *, others_than: str = "", slower: bool = False) -> None:
        for running in list(self._running.values()):
            stamp = self._roster.stamp(running.worker)
            if running.key != others_than and stamp is not None:
                self._renew(running, stamp, slower=slower)

    def _renew(self, running: _RunningLease, stamp: float, *, slower: bool = False) -> None:
        now = time.monotonic()
        # Only as far as the journal says that workers may send: whoever comes after us must know how long to wait.
        if running.is_broken or self._end_s(now) > self._promised_s:
            return
        running.until_s, running.renewed_s = self._end_s(now), now
        renewal = Renewal(running.key, stamp, self._shares.share(len(self._running)), slower)
        self._ask(running.address, "noarkit_renew", message=encode(renewal))

    # leases

    def _give_back(self, running: _RunningLease) -> None:
        # As its worker would say it first; of a lease that was begun, reports came before, and this one is too many.
        sent = encode(report_of(running.key, 0, ShardStopped(running.shard, None, 0)))
        self._reports.put(decode(Report, sent))

    def _idle(self) -> list[Member]:
        return self._roster.idle({running.worker for running in self._running.values()})

    def _end_s(self, now: float) -> float:
        """The latest time at which a worker may send whose lease is renewed now."""
        return now + self._timing.lease_s + self._timing.margin_s

    def _promise_more(self, now: float) -> None:
        if self._promised_s < self._end_s(now) + self._timing.renew_s / 2:
            ahead_s = self._timing.lease_s + self._timing.margin_s + 2 * self._timing.renew_s
            self._hooks.promise(self._hooks.steady_s() + ahead_s)
            self._promised_s = now + ahead_s

    def _take(self, report: Report) -> list[tuple[int, Outcome]]:
        running = self._running.get(report.key)
        if running is None or running.is_broken:
            return []  # of a lease that has ended here: what it did is found by asking the archive
        try:
            outcome = at_own_time(outcome_of(report), self._hooks.steady_s())
        except BadMessage:
            running.is_broken = True
            return []
        if report.n != running.next_report:
            running.is_broken = True  # one was lost on the way; it is not renewed any more, and lost at its end
            return []
        running.next_report += 1
        if isinstance(outcome, ShardDone | ShardStopped):
            self._let_go(running)
            self._roster.finish(running.worker, running.key)
            if isinstance(outcome, ShardStopped) and outcome.code == LeaseEnded.code:
                outcome = _loss_of(running, silent=True)
        return [(running.shard, outcome)]

    def _let_go(self, running: _RunningLease) -> None:
        del self._running[running.key]
        if running.future is not None:
            running.future.release()


def _loss_of(running: _RunningLease, *, silent: bool) -> ShardStopped:
    """The end of a lease whose worker is gone, or was not heard of until its lease had ended."""
    data = {"machine": running.machine, **({"silent": True} if silent else {})}
    return ShardStopped(running.shard, WorkerLost.code, WorkerLost.exit_code, data)
