"""The worker processes of a machine: one for each slot, made by fork and ended with this one.

Each is a worker of the cluster by itself. One that dies is started again, and the new one tells that the old one is
surely gone, since it was reaped here; its lease need not be waited for. One that lost the scheduler is started again as
well, and looks for it until it is back.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from noarkit.errors import EngineAway, causes
from noarkit.loading.engines.cluster import tls
from noarkit.loading.engines.cluster.handshake import check_scheduler
from noarkit.loading.engines.cluster.job_desk import EXTENSION
from noarkit.loading.engines.cluster.library import distributed, quiet_settings
from noarkit.loading.engines.cluster.listening import fault_of_address
from noarkit.loading.engines.cluster.messages import decode
from noarkit.loading.engines.cluster.shipping import Piece
from noarkit.loading.engines.cluster.worker import LeaseWorker, OpenBench
from noarkit.safe.children import OUR_THREADS, WorkerLost
from noarkit.safe.remote_jobs import NO_JOBS, JobTable
from noarkit.safe.worker_pool import (
    END,
    ParentLost,
    ParentPipe,
    ProcessPool,
    WorkerOptions,
    WorkerProcess,
    ready_workers,
)
from noarkit.safe.workplace import temporary_folder

_LOOK_AGAIN_S = 1.0
_PATIENCE_S = 0.25
_MOST_RESTARTS = 5
_RESTART_WINDOW_S = 60.0


@dataclass(frozen=True, slots=True)
class WorkerSetup:
    """How the workers of a machine are to be: the scheduler, the certificates, where they listen, how many they are."""

    scheduler: str
    tls: Path
    open_bench: OpenBench
    listen_host: str | None = None
    first_port: int = 0
    slots: int = 1
    beat_s: float = 2.0
    jobs: JobTable = NO_JOBS


@dataclass(slots=True)
class _Slot:
    number: int
    name: str = ""
    worker: WorkerProcess | None = None
    ended: list[str] = field(default_factory=list)
    starts: list[float] = field(default_factory=list)


class Slots:
    """The slots of this machine, while `run` lasts. `on_ready` is told the addresses once all are at the scheduler."""

    def __init__(self, setup: WorkerSetup, on_ready: Callable[[list[str]], None]) -> None:
        self._setup = setup
        self._on_ready = on_ready
        self._addresses: dict[int, str] = {}
        self._was_ready = False
        self._pools: dict[int, ProcessPool] = {}

    def run(self, should_stop: Callable[[], bool]) -> None:
        """Keeps every slot at work until it is to stop; then each ends after the chunk that it is working on.

        Raises what ended a slot: faults of TLS, settings and version.
        """
        distributed()  # imported once, before the first fork
        slots = [_Slot(number) for number in range(self._setup.slots)]
        try:
            for slot in slots:
                self._start(slot)
            while not should_stop():
                for slot in self._with_news(slots):
                    if not self._hear(slot):
                        self._start(slot)
            self._drain(slots)
        finally:
            for pool in self._pools.values():
                pool.close()

    def _start(self, slot: _Slot) -> None:
        # One that dies again and again is not started as fast as it dies.
        now = time.monotonic()
        slot.starts = [start for start in slot.starts if now - start < _RESTART_WINDOW_S]
        if len(slot.starts) >= _MOST_RESTARTS:
            time.sleep(_LOOK_AGAIN_S)
        slot.starts.append(now)
        slot.name = f"{slot.number}-{uuid.uuid4().hex[:12]}"
        life = partial(_run_slot, self._setup, slot.number, slot.name, tuple(slot.ended[-8:]))
        pool = self._pools[slot.number] = ProcessPool(life, WorkerOptions())
        slot.worker = pool.start()

    def _with_news(self, slots: list[_Slot]) -> list[_Slot]:
        by_worker = {slot.worker: slot for slot in slots if slot.worker is not None}
        return [by_worker[worker] for worker in ready_workers(list(by_worker), _PATIENCE_S)]

    def _hear(self, slot: _Slot) -> bool:
        """Hears what a slot has to say; False where it is gone and is to be started again."""
        worker = slot.worker
        if worker is None:
            return False
        try:
            message = worker.receive()
        except WorkerLost:
            self._pools[slot.number].reap(worker)
            message = END
        if message is END:
            worker.wait()
            slot.ended.append(slot.name)
            slot.worker = None
            return False
        self._addresses[slot.number] = str(message)
        if len(self._addresses) == self._setup.slots and not self._was_ready:
            self._was_ready = True
            self._on_ready([self._addresses[number] for number in sorted(self._addresses)])
        return True

    def _drain(self, slots: list[_Slot]) -> None:
        for slot in slots:
            if slot.worker is not None:
                try:
                    slot.worker.send("stop")
                except WorkerLost:
                    slot.worker = None
        while any(slot.worker is not None for slot in slots):
            for slot in self._with_news(slots):
                self._hear(slot)


def _run_slot(setup: WorkerSetup, number: int, name: str, ended: tuple[str, ...], parent: ParentPipe) -> None:
    """Runs in the child."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with quiet_settings(), temporary_folder("cluster") as folder:
        asyncio.run(_Slotted(setup, number, name, ended, folder).serve(parent))


class _Slotted:
    """A worker of the cluster in a process of its own."""

    def __init__(self, setup: WorkerSetup, number: int, name: str, ended: tuple[str, ...], folder: Path) -> None:
        self._setup = setup
        self._number = number
        self._name = name
        self._ended = ended
        self._folder = folder
        self._stop = asyncio.Event()

    async def serve(self, parent: ParentPipe) -> None:
        """Until the parent says so, or the scheduler is lost. Raises `EngineTrust`, `ConfigFault`."""
        orders = (asyncio.get_running_loop(), parent)
        threading.Thread(target=self._hear_parent, args=orders, name=f"{OUR_THREADS}orders", daemon=True).start()
        security = tls.security(self._setup.tls, "worker")
        address, host, port = tls.read_address(self._setup.scheduler, "noarkit worker")
        own_host = await self._find_scheduler(security, host, port)
        if own_host is None:
            return
        library_worker = self._library_worker(security, address, self._setup.listen_host or own_host)
        lease_worker: LeaseWorker = library_worker.extensions[EXTENSION]
        if not await self._is_started(library_worker):
            return
        lease_worker.address = library_worker.address
        parent.send(library_worker.address)
        closed = asyncio.ensure_future(library_worker.finished())
        stopped = asyncio.ensure_future(self._stop.wait())
        beats = asyncio.ensure_future(self._beat(lease_worker))
        await asyncio.wait({closed, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if not closed.done():
            lease_worker.leave()
            await asyncio.sleep(0)
            while not lease_worker.is_idle and not closed.done():
                await asyncio.sleep(0.02)
            lease_worker.beat()
            await asyncio.sleep(0.1)  # the last outcome is sent by the loop
        beats.cancel()
        stopped.cancel()
        if not closed.done():
            await asyncio.wait({asyncio.ensure_future(library_worker.close(timeout=2)), closed}, timeout=5.0)

    async def _is_started(self, library_worker: Any) -> bool:  # the library's own
        """Starts it; False where the scheduler was lost meanwhile. Raises `ConfigFault`."""
        try:
            await library_worker
        except Exception as error:  # the library wraps whatever it met
            where = f"{self._setup.listen_host or ''}:{self._port}"
            fault = fault_of_address(error, where)
            if fault is not None:
                raise fault from error
            if any(isinstance(cause, OSError | TimeoutError) for cause in causes(error)):
                return False
            raise
        return True

    @property
    def _port(self) -> int:
        return self._setup.first_port + self._number if self._setup.first_port else 0

    async def _find_scheduler(self, security: Any, host: str, port: int) -> str | None:
        """Waits for the scheduler; our own address on the way there, None where it is to stop before. Raises
        `EngineTrust`."""
        while not self._stop.is_set():
            try:
                return await asyncio.to_thread(check_scheduler, security, "worker", host, port)
            except EngineAway:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._stop.wait(), _LOOK_AGAIN_S)
        return None

    def _library_worker(self, security: Any, address: str, listen_host: str) -> Any:  # it tells no types
        def extension(library_worker: Any) -> LeaseWorker:
            setup = self._setup

            def send(topic: str, message: bytes) -> None:
                # By the loop's queue from every thread, its own too: nothing overtakes what was said before.
                library_worker.loop.add_callback(library_worker.log_event, topic, message)

            return LeaseWorker(self._name, setup.open_bench, send, ended=self._ended, jobs=setup.jobs)

        library_worker = distributed().Worker(
            address,
            nthreads=1,
            name=self._name,
            host=f"[{listen_host}]" if ":" in listen_host else listen_host,
            port=self._port,
            protocol="tls",
            security=security,
            extensions={EXTENSION: extension},
            memory_limit=0,
            dashboard=False,
            local_directory=str(self._folder),
        )
        # The library opens a second port for its pages; ours has none.
        library_worker.start_http_server = lambda *_, **__: None
        lease_worker: LeaseWorker = library_worker.extensions[EXTENSION]

        async def renew(message: bytes) -> None:
            lease_worker.renew(message)

        async def stop() -> None:
            lease_worker.stop()

        async def beat() -> bytes:
            return lease_worker.beat()

        async def piece(message: bytes, data: bytes) -> bool:
            return await lease_worker.pieces.take(decode(Piece, message), data)

        library_worker.handlers.update(noarkit_renew=renew, noarkit_stop=stop, noarkit_beat=beat, noarkit_piece=piece)
        return library_worker

    async def _beat(self, lease_worker: LeaseWorker) -> None:
        while True:
            lease_worker.beat()
            await asyncio.sleep(self._setup.beat_s)

    def _hear_parent(self, loop: asyncio.AbstractEventLoop, parent: ParentPipe) -> None:
        with contextlib.suppress(ParentLost):
            parent.receive()
        loop.call_soon_threadsafe(self._stop.set)
