"""The modelled archive behind the port: how long each request takes, what is worked on at once, and what goes wrong.

A request goes half the latency, waits for one of the archive's servers, is worked on, takes effect, and its answer goes
the other half. `Speed` says how long; a `Plot` says which requests are to go wrong, and how.
"""

from __future__ import annotations

import hashlib
import heapq
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

from noarkit.archive.values import (
    Action,
    Call,
    Downloaded,
    Json,
    Page,
    Query,
    Rendition,
    SavedObject,
    Upload,
    Uploaded,
)
from noarkit.errors import (
    AnswerLost,
    ArchiveAway,
    ArchiveBroken,
    ArchiveBusy,
    ArchiveConflict,
    ArchiveFault,
    ArchiveRefused,
)
from scripts.simulation.holdings import Holdings
from scripts.simulation.world import Killed, Task, World

T = TypeVar("T")
TIMEOUT_S = 5.0
_RETRY_AFTER_S = 2.0


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast an archive is. `servers`: how many requests it works on at once, None for as many as come.

    `calls_per_s`: more are answered with 429. `spread` is the sigma of a lognormal distribution around each latency.
    `outages`: from when to when it answers nothing.
    """

    latency_s: float = 0.01
    spread: float = 0.0
    query_s: float = 0.002
    upload_s: float = 0.002
    byte_s: float = 1 / 100e6
    transaction_s: float = 0.005
    action_s: float = 0.000_1
    servers: int | None = None
    calls_per_s: float | None = None
    outages: tuple[tuple[float, float], ...] = ()


class Plot(Protocol):
    """Says what becomes of each request."""

    def fate(self, call: str) -> str:
        """What becomes of the next request of this kind; "" if nothing happens to it."""
        ...


class Peace:
    """Nothing goes wrong."""

    def fate(self, call: str) -> str:
        return ""


@dataclass
class Machine:
    """A machine that a worker runs on: its task, and until when the network is cut. The coordinator's own has no
    task."""

    number: int = 0
    task: Task | None = None
    cut_until_s: float = 0.0

    @property
    def has_died(self) -> bool:
        """True if the process of its worker has ended."""
        return self.task is not None and self.task.has_ended


@dataclass
class Service:
    """An archive that many machines reach: what it holds, how fast it is, what it did."""

    world: World
    holdings: Holdings
    speed: Speed
    chance: random.Random
    plot: Plot = field(default_factory=Peace)
    calls: int = 0
    refused_calls: int = 0
    busy_s: float = 0.0
    waited_s: float = 0.0
    kill_coordinator: Callable[[], None] = lambda: None
    _free_at: list[float] = field(default_factory=list)
    _window: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._free_at = [0.0] * (self.speed.servers or 0)

    def one_way_s(self) -> float:
        """How long the next message is under way."""
        half = self.speed.latency_s / 2
        return half * self.chance.lognormvariate(0.0, self.speed.spread) if self.speed.spread else half

    def finish_at(self, arrival_s: float, service_s: float) -> float:
        """When the archive has worked on a request that arrives then."""
        self.busy_s += service_s
        if not self._free_at:
            return arrival_s + service_s
        began_s = max(arrival_s, heapq.heappop(self._free_at))
        self.waited_s += began_s - arrival_s
        heapq.heappush(self._free_at, began_s + service_s)
        return began_s + service_s

    def refuses(self) -> bool:
        """True if this request is one too many in this second, or comes during an outage."""
        now_s = self.world.now_s
        if any(begin <= now_s < end for begin, end in self.speed.outages):
            return True
        if self.speed.calls_per_s is None:
            return False
        self._window = [at for at in self._window if at > now_s - 1.0]
        if len(self._window) >= self.speed.calls_per_s:
            self.refused_calls += 1
            return True
        self._window.append(now_s)
        return False


class VirtualArchive:
    """`Archive`, as one machine reaches it."""

    def __init__(self, service: Service, machine: Machine) -> None:
        self._service = service
        self._machine = machine

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        speed, holdings = self._service.speed, self._service.holdings
        service_s = speed.transaction_s + speed.action_s * len(actions)
        return self._exchange("transaction", lambda: holdings.apply(actions), service_s)

    def query(self, query: Query) -> Page:
        return self._exchange("query", lambda: self._service.holdings.answer(query), self._service.speed.query_s)

    def upload(self, content: Upload) -> Uploaded:
        with content.open() as stream:
            whole = b"".join(iter(lambda: stream.read(65536), b""))
        sha256 = hashlib.sha256(whole).hexdigest()
        size = max(len(whole), content.size_bytes or 0)
        speed, holdings = self._service.speed, self._service.holdings
        service_s = speed.upload_s + speed.byte_s * size
        file_id = self._exchange("upload", lambda: holdings.keep_file(sha256, size), service_s)
        return Uploaded(file_id, sha256, size)

    def download(
        self,
        file_id: str,
        target: Path,
        *,
        rendition: Rendition = "original",
        expected_sha256: str | None = None,
        durable: bool = True,
    ) -> Downloaded:
        raise ArchiveRefused(call="download", description="not modelled")

    def call(self, call: Call) -> Json:
        raise ArchiveRefused(call=call.name, description="not modelled")

    def close(self) -> None:
        """There is nothing to close."""

    def _exchange(self, call: str, act: Callable[[], T], service_s: float) -> T:
        service, machine, world = self._service, self._machine, self._service.world
        if machine.task is not None:
            machine.task.check()
        service.calls += 1
        fate, _, detail = service.plot.fate(call).partition(":")
        if fate:
            self._before(call, fate, detail)
        if world.now_s < machine.cut_until_s:
            world.sleep(TIMEOUT_S)
            raise ArchiveAway(call=call)
        if service.refuses():
            world.sleep(service.one_way_s() * 2)
            raise ArchiveBusy(call=call, status=429, retry_after_s=_RETRY_AFTER_S)
        return self._send(call, act, service_s, fate, detail)

    def _send(self, call: str, act: Callable[[], T], service_s: float, fate: str, detail: str) -> T:
        service, world = self._service, self._service.world
        effect_s = service.finish_at(world.now_s + service.one_way_s(), service_s)
        box: list[T | ArchiveFault] = []

        def take_effect() -> None:
            try:
                box.append(act())
            except ArchiveFault as fault:
                box.append(fault)

        if fate in _LOST:
            world.at(effect_s + (float(detail) if fate in ("late", "gone") else 0.0), take_effect)
            self._after(call, fate, detail)
        world.step(effect_s, take_effect, effect_s + service.one_way_s())
        result = box[0]
        if isinstance(result, ArchiveFault):
            raise result
        return result

    def _before(self, call: str, fate: str, detail: str) -> None:
        """What happens to a request that does not leave, or leaves late."""
        machine, world = self._machine, self._service.world
        if fate == "kill":
            self._die()
        if fate == "hang" and machine.task is not None:
            machine.task.freeze(world.now_s + float(detail))
            world.sleep(0.001)
        if fate == "cut":
            machine.cut_until_s = world.now_s + float(detail)
        if fate == "coordinator":
            self._service.kill_coordinator()
        if fate in _REFUSALS:
            world.sleep(self._service.one_way_s() * 2)
            raise _REFUSALS[fate](call)
        if fate == "unsent":
            world.sleep(TIMEOUT_S)
            raise AnswerLost(call=call)

    def _after(self, call: str, fate: str, detail: str) -> None:
        """What happens after a request has left whose answer never comes."""
        machine, world = self._machine, self._service.world
        if fate == "dies":
            self._die()
        if fate == "gone":
            self._die()
        if fate == "stops" and machine.task is not None:
            machine.task.freeze(world.now_s + float(detail))
            world.sleep(0.001)
        if fate == "split":
            machine.cut_until_s = world.now_s + float(detail)
        world.sleep(TIMEOUT_S)
        raise ArchiveBroken(call=call, status=500) if fate == "broken" else AnswerLost(call=call)

    def _die(self) -> None:
        task = self._machine.task
        if task is None:
            raise Killed()
        task.kill()
        task.check()


_LOST = frozenset({"lost", "late", "broken", "dies", "gone", "stops", "split"})
_REFUSALS: Mapping[str, Callable[[str], ArchiveFault]] = {
    "away": lambda call: ArchiveAway(call=call),
    "409": lambda call: ArchiveConflict(call=call, status=409),
    "429": lambda call: ArchiveBusy(call=call, status=429, retry_after_s=_RETRY_AFTER_S),
    "503": lambda call: ArchiveBusy(call=call, status=503),
}
