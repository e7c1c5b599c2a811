"""One worker of a cluster: carries out leases one after another, says what came of each step, and stops where it is
not renewed.

What it needs to know of the library is three calls: `log_event(…)`, which sends; handlers, which receive; and the
thread in which the library runs `carry_out_lease`.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from noarkit.errors import LeaseEnded, NoarkitError, OtherVersion, WorkerLost
from noarkit.loading.contents import OpenContent
from noarkit.loading.engines.cluster.fence import LeaseFence
from noarkit.loading.engines.cluster.job_desk import EXTENSION, JobDesk
from noarkit.loading.engines.cluster.library import distributed
from noarkit.loading.engines.cluster.messages import Beat, Order, Renewal, decode, encode, report_of, without_ages
from noarkit.loading.engines.cluster.shipping import PieceReceiver
from noarkit.loading.engines.remote import RunReference
from noarkit.loading.governor import Rate
from noarkit.loading.lease import Outcome, ShardStopped
from noarkit.loading.work import WorkerContext, WorkerControl, run_lease
from noarkit.safe.clocks import boot_s
from noarkit.safe.remote_jobs import NO_JOBS, JobTable
from noarkit.version import __version__

BEATS = "noarkit-beats"
BUSY = "noarkit-busy"


class RunBench(Protocol):
    """The resources of a worker for one run, whose rate can be changed."""

    @property
    def context(self) -> WorkerContext: ...

    def set_rate(self, rate: Rate) -> None: ...

    def slow_down(self) -> None: ...


@dataclass(frozen=True, slots=True)
class BenchHooks:
    """What the resources of a run ask and tell: `check` raises where nothing may be sent, `busy` hears of 429 and
    503; `open_shipped` opens a content at the coordinator, `fetch_plan` writes its plan to a file."""

    check: Callable[[], None]
    busy: Callable[[], None]
    open_shipped: OpenContent
    fetch_plan: Callable[[Path], None]


@dataclass(frozen=True, slots=True)
class WorkerClock:
    """The clocks of a worker: one that is steady, one that goes on while the machine sleeps; and how it sleeps."""

    steady_s: Callable[[], float] = time.monotonic
    boot_s: Callable[[], float] = boot_s
    sleep_s: Callable[[float], None] = time.sleep


OpenBench = Callable[[RunReference, BenchHooks], AbstractContextManager[RunBench]]


@dataclass(slots=True)
class _CurrentLease:
    order: Order
    fence: LeaseFence
    rate: Rate
    bench: RunBench | None = None
    is_stopped: bool = False


class LeaseWorker:
    """A worker, apart from the library. `send` sends bytes to a topic, from any thread."""

    def __init__(
        self,
        name: str,
        open_bench: OpenBench,
        send: Callable[[str, bytes], None],
        *,
        ended: tuple[str, ...] = (),
        jobs: JobTable = NO_JOBS,
        clock: WorkerClock | None = None,
    ) -> None:
        self._clock = clock or WorkerClock()
        self.name = name
        self.address = ""
        self.is_leaving = False
        self._open_bench = open_bench
        self._send = send
        self._ended = ended
        self.jobs = JobDesk(jobs)
        self._current: _CurrentLease | None = None
        self._stack = ExitStack()
        self._run: RunReference | None = None
        self._bench: RunBench | None = None
        self.pieces = PieceReceiver(send, self._check)
        self._idle = threading.Event()
        self._idle.set()

    # in the thread of the library's loop

    def beat(self) -> bytes:
        """Says who we are, and that we are there; returns what was said."""
        current = self._current
        message = encode(
            Beat(
                worker=self.name,
                address=self.address,
                machine=socket.gethostname(),
                version=__version__,
                stamp=self._clock.boot_s(),
                key=current.order.key if current else self.jobs.key,
                is_leaving=self.is_leaving,
                ended=self._ended,
            )
        )
        self._send(BEATS, message)
        return message

    def renew(self, message: bytes) -> None:
        """Hears a renewal. One that lay on the way for longer than a lease lasts renews nothing."""
        renewal = decode(Renewal, message)
        current = self._current
        if current is None or current.order.key != renewal.key:
            return
        current.fence.renew(renewal.stamp + current.order.timing.lease_s)
        current.rate = renewal.rate
        if current.bench is not None:
            current.bench.set_rate(renewal.rate)
            if renewal.slower:
                current.bench.slow_down()

    def stop(self) -> None:
        """Has the lease that is worked on end after its chunk."""
        if self._current is not None:
            self._current.is_stopped = True

    def leave(self) -> None:
        """Takes no more leases, and ends the one that is worked on after its chunk."""
        self.is_leaving = True
        self.stop()
        self.beat()

    @property
    def is_idle(self) -> bool:
        """True while neither a lease nor a job is worked on."""
        return self._idle.is_set() and not self.jobs.key

    # in the thread that works

    def carry_out(self, message: bytes) -> None:
        """Carries out a lease to its end, whatever that is; what came of it is reported, step by step."""
        order = decode(Order, message)
        current = _CurrentLease(order, LeaseFence(order.stamp + order.timing.lease_s, self._clock.boot_s), order.rate)
        self._idle.clear()
        # In this order: a beat that says that we leave, and does not name this lease, promises that it is not begun.
        self._current = current
        current.is_stopped |= self.is_leaving
        try:
            for n, outcome in enumerate(self._outcomes(current)):
                self._send(order.topic, encode(report_of(order.key, n, outcome)))
        finally:
            self._current = None
            self._idle.set()

    def close(self) -> None:
        """Ends the lease that is worked on after its chunk. The library calls it when it closes the worker."""
        self.is_leaving = True
        self.stop()
        self.jobs.close()

    def _close_bench(self) -> None:
        self._stack.close()
        self._run = self._bench = None

    def _outcomes(self, current: _CurrentLease) -> Iterator[Outcome]:
        shard = current.order.lease.shard
        try:
            yield from self._steps(current)
        except NoarkitError as fault:
            yield ShardStopped(shard, fault.code, fault.exit_code, _on_this_machine(fault.data))
        except Exception as error:  # noqa: BLE001  # a defect ends this lease; that it is over is known for certain
            yield ShardStopped(shard, WorkerLost.code, WorkerLost.exit_code, {"error": type(error).__name__})

    def _steps(self, current: _CurrentLease) -> Iterator[Outcome]:
        order = current.order
        if order.version != __version__:
            raise OtherVersion(where=socket.gethostname(), expected=order.version, found=__version__)
        if current.is_stopped:  # given back untouched: whoever gave it may have given it to another by now
            yield ShardStopped(order.lease.shard, None, 0)
            return
        bench = current.bench = self._bench_for(order.run)
        bench.set_rate(current.rate)
        control = WorkerControl(
            self._clock.steady_s, self._clock.sleep_s, lambda: current.is_stopped or current.fence.is_over()
        )
        for outcome in run_lease(without_ages(order.lease, self._clock.steady_s()), bench.context, control):
            if isinstance(outcome, ShardStopped) and outcome.code is None and current.fence.is_over():
                raise LeaseEnded()
            yield outcome

    def _bench_for(self, run: RunReference) -> RunBench:
        """The resources for a run, kept until another run is worked on."""
        if self._bench is None or self._run != run:
            self._close_bench()
            self._stack = ExitStack()
            self._bench = self._stack.enter_context(self._open_bench(run, self._hooks()))
            self._run = run
        return self._bench

    def _hooks(self) -> BenchHooks:
        return BenchHooks(
            self._check,
            self._busy,
            lambda content: self.pieces.open(self._key(), content),
            lambda target: self.pieces.fetch_plan(self._key(), target),
        )

    def _key(self) -> str:
        current = self._current
        return "" if current is None else current.order.key

    def _check(self) -> None:
        current = self._current
        if current is None:
            raise LeaseEnded()
        current.fence.check()

    def _busy(self) -> None:
        current = self._current
        if current is not None:
            self._send(BUSY, current.order.key.encode())


def _on_this_machine(data: Mapping[str, object]) -> dict[str, object]:
    """The data of a fault that is told on another machine, where it must say whose setting, folder or plan it means."""
    machine = socket.gethostname()
    where = data.get("where")
    return {**data, "machine": machine, **({"where": f"{where} ({machine})"} if where and where != machine else {})}


def carry_out_lease(message: bytes) -> None:
    """Carries out a lease in the worker that the library runs this in: the one function that is ever submitted."""
    worker: LeaseWorker = distributed().get_worker().extensions[EXTENSION]
    worker.carry_out(message)
