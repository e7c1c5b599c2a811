"""`Workers` whose workers are virtual: child processes, or machines of a cluster, under the real coordinator.

A child process runs the real `run_lease`; it dies with its coordinator, and one that is gone is reaped at once. A
machine runs the real `LeaseWorker` of the cluster, with its fence, its beats and the messages of the wire; here stands
what `DaskWorkers` does with them, without the library: renewals that answer beats, a promise in the journal of how long
leases may last, reports in their order, and a worker that is lost once its lease has run out or its machine reaped it.
What is said comes a moment later, or when the network is back.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace

from noarkit.errors import LeaseEnded, WorkerLost
from noarkit.loading.engines.cluster.messages import (
    Beat,
    Order,
    Renewal,
    Report,
    at_own_time,
    decode,
    encode,
    outcome_of,
    with_ages,
)
from noarkit.loading.engines.cluster.worker import BEATS, BenchHooks, LeaseWorker, OpenBench, WorkerClock
from noarkit.loading.engines.remote import RunReference, Timing
from noarkit.loading.governor import Rate
from noarkit.loading.lease import Lease, Outcome, ShardDone, ShardStopped
from noarkit.loading.work import WorkerContext, WorkerControl, run_lease
from noarkit.version import __version__
from scripts.simulation.service import Machine
from scripts.simulation.world import World

_POLL_S = 1.0
_RUN = RunReference("simulated", "", "", "", "", "")
TIMING = Timing(beat_s=10.0)

MakeContext = Callable[[Machine, Callable[[], None]], AbstractContextManager[WorkerContext]]
"""Gives a machine its connection to the archive; what is called before each request raises where none may leave."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How machines live: how many there are, whether in a `cluster` or as child processes, how long a message takes.

    `journal_s` and `journal_entity_s` are what it takes the coordinator to write what it hears.
    """

    machines: int = 3
    cluster: bool = True
    message_s: float = 0.001
    detect_s: float = 0.5
    journal_s: float = 0.0
    journal_entity_s: float = 0.0


@dataclass
class Leased:
    """A lease that a machine has, as the coordinator knows of it."""

    machine: Machine
    lease: Lease
    said_until_s: float = 0.0
    until_s: float = float("inf")
    next_report: int = 0
    is_broken: bool = False
    worker: LeaseWorker | None = None

    @property
    def key(self) -> str:
        return f"{self.lease.shard}/{self.lease.attempt}"


class VirtualWorkers:
    """Child processes, as many as the rules say."""

    def __init__(self, world: World, rules: Rules, make_context: MakeContext, machines: list[Machine]) -> None:
        self.world = world
        self.rules = rules
        self.make_context = make_context
        self.is_stopping = False
        self.is_dead = False
        self.coordinator_s = 0.0
        self.defects: list[BaseException] = []
        self._idle = list(machines)
        self._leased: dict[str, Leased] = {}
        self._heard: list[tuple[int, Outcome]] = []
        self._owed_s = 0.0

    @property
    def free(self) -> int:
        return 0 if self.is_stopping else len(self._idle)

    def start(self, lease: Lease) -> None:
        leased = Leased(self._idle.pop(0), lease)
        self._leased[leased.key] = leased
        self.begin(leased)
        self._watch(leased)

    def outcomes(self) -> list[tuple[int, Outcome]]:
        if self._owed_s:
            self.world.sleep(self._owed_s)  # what it took to write the last ones
            self.coordinator_s += self._owed_s
        self.world.run_until(lambda: bool(self._heard), self.world.now_s + _POLL_S)
        heard, self._heard = self._heard, []
        entities = sum(self.entities_of(outcome) for _, outcome in heard)
        self._owed_s = (self.rules.journal_s if heard else 0.0) + entities * self.rules.journal_entity_s
        return heard

    def entities_of(self, outcome: Outcome) -> int:
        """How many rows of the journal an outcome takes."""
        return len(getattr(outcome, "created_ids", ()))

    def ask_to_stop(self) -> None:
        self.is_stopping = True

    def close(self) -> None:
        """Ends the children with the coordinator."""
        self.is_stopping = self.is_dead = True
        for leased in self._leased.values():
            if leased.machine.task is not None:
                leased.machine.task.kill()

    def begin(self, leased: Leased) -> None:
        """Has a machine begin with its lease."""
        leased.machine.task = self.world.start(lambda: self._guarded(lambda: self.work(leased)))

    def work(self, leased: Leased) -> None:
        """What a child process does."""
        control = WorkerControl(lambda: self.world.now_s, self.world.sleep, lambda: self.is_stopping)
        with self.make_context(leased.machine, lambda: None) as context:
            for outcome in run_lease(leased.lease, context, control):
                self.say(leased, outcome)

    def say(self, leased: Leased, outcome: Outcome) -> None:
        """An outcome on its way to the coordinator."""
        self.deliver(leased, lambda: self.hear(leased, outcome))

    def deliver(self, leased: Leased, act: Callable[[], None]) -> None:
        """Does something at the coordinator when the message is there; messages of a machine come in their order."""
        arrives_s = max(self.world.now_s + self.rules.message_s, leased.machine.cut_until_s, leased.said_until_s)
        leased.said_until_s = arrives_s
        self.world.at(arrives_s, lambda: act() if self.is_listened_to(leased) else None)

    def hear(self, leased: Leased, outcome: Outcome) -> None:
        """An outcome has come."""
        self._heard.append((leased.lease.shard, outcome))
        if isinstance(outcome, ShardDone | ShardStopped):
            del self._leased[leased.key]
            self._idle.append(leased.machine)

    def is_listened_to(self, leased: Leased) -> bool:
        """False once the coordinator is gone, or has let the lease go."""
        return not self.is_dead and self._leased.get(leased.key) is leased

    def is_over(self, leased: Leased) -> bool:
        """True if a lease ran out; child processes have none."""
        return False

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as fault:  # noqa: BLE001  # a defect: told by whoever ran the schedule
            self.defects.append(fault)

    def _watch(self, leased: Leased) -> None:
        """Finds out that a worker is gone: its process was reaped, or its lease has run out."""
        if not self.is_listened_to(leased):
            return
        machine, now_s = leased.machine, self.world.now_s
        # what it had said comes before its end
        is_reaped = machine.has_died and max(machine.cut_until_s, leased.said_until_s) <= now_s
        if is_reaped or self.is_over(leased):
            del self._leased[leased.key]
            self._heard.append((leased.lease.shard, ShardStopped(leased.lease.shard, WorkerLost.code, 5, {"exit": -9})))
            # one that is only not heard of may come back, as another worker; for us there is another machine
            self._idle.append(Machine(machine.number))
            return
        self.world.at(now_s + self.rules.detect_s, lambda: self._watch(leased))


class ClusterMachines(VirtualWorkers):
    """Machines of a cluster. `promise` makes durable until when leases may last."""

    def __init__(
        self,
        world: World,
        rules: Rules,
        make_context: MakeContext,
        machines: list[Machine],
        *,
        promise: Callable[[float | None], None],
    ) -> None:
        super().__init__(world, rules, make_context, machines)
        self._promise = promise
        self._promised_s = 0.0

    @property
    def hands_on_after_s(self) -> float:
        """How long after its last renewal a worker counts as lost."""
        return TIMING.lease_s + TIMING.margin_s

    def outcomes(self) -> list[tuple[int, Outcome]]:
        if self._leased:
            self._promise_more()
        return super().outcomes()

    def close(self) -> None:
        """Machines that are at work stop at the latest with their lease."""
        if not self._leased:
            self._promise(None)
        self.is_stopping = self.is_dead = True

    def begin(self, leased: Leased) -> None:
        self._promise_more()
        world, machine = self.world, leased.machine
        leased.until_s = world.now_s + self.hands_on_after_s
        clock = WorkerClock(lambda: world.now_s, lambda: world.now_s, world.sleep)
        send = _Wire(self, leased).send
        leased.worker = LeaseWorker(f"{machine.number}", self._open_bench(machine), send, clock=clock)
        order = Order(
            version=__version__,
            topic="reports",
            key=leased.key,
            stamp=world.now_s,
            timing=TIMING,
            run=_RUN,
            lease=with_ages(leased.lease, world.now_s),
        )
        message, worker = encode(order), leased.worker
        machine.task = world.start(lambda: self._guarded(lambda: worker.carry_out(message)))
        world.at(world.now_s + TIMING.beat_s, lambda: self._beat(leased))

    def is_over(self, leased: Leased) -> bool:
        return self.world.now_s > leased.until_s

    def hear_beat(self, leased: Leased, beat: Beat) -> None:
        """Renews the lease of a worker that says that it is there, from the time of its saying so."""
        end_s = self.world.now_s + self.hands_on_after_s
        if leased.is_broken or end_s > self._promised_s:
            return
        leased.until_s = end_s
        renewal = encode(Renewal(leased.key, beat.stamp, Rate()))
        arrives_s = max(self.world.now_s + self.rules.message_s, leased.machine.cut_until_s)
        self.world.at(arrives_s, lambda: self._renew(leased, renewal))

    def hear_report(self, leased: Leased, report: Report) -> None:
        """Takes an outcome that came over the wire, if it is the next."""
        if leased.is_broken or report.n != leased.next_report:
            leased.is_broken = True
            return
        leased.next_report += 1
        outcome = at_own_time(outcome_of(report), self.world.now_s)
        if isinstance(outcome, ShardStopped) and outcome.code == LeaseEnded.code:
            outcome = replace(outcome, code=WorkerLost.code, exit_code=WorkerLost.exit_code)
        self.hear(leased, outcome)

    def _promise_more(self) -> None:
        now_s, length_s = self.world.now_s, self.hands_on_after_s
        if self._promised_s < now_s + length_s + TIMING.renew_s / 2:
            self._promised_s = now_s + length_s + 2 * TIMING.renew_s
            self._promise(self._promised_s)

    def _beat(self, leased: Leased) -> None:
        """In the worker's process: says that it is there, for as long as it works on the lease."""
        task = leased.machine.task
        if task is None or task.has_ended or leased.worker is None or leased.worker.is_idle:
            return
        if not task.is_free_at(self.world.now_s):
            self.world.at(task.frozen_until_s, lambda: self._beat(leased))
            return
        leased.worker.beat()
        self.world.at(self.world.now_s + TIMING.beat_s, lambda: self._beat(leased))

    def _renew(self, leased: Leased, renewal: bytes) -> None:
        task = leased.machine.task
        if task is None or leased.worker is None:
            return
        if not task.is_free_at(self.world.now_s) and not task.has_ended:
            self.world.at(max(task.frozen_until_s, self.world.now_s + 0.001), lambda: self._renew(leased, renewal))
            return
        leased.worker.renew(renewal)

    def _open_bench(self, machine: Machine) -> OpenBench:
        @contextmanager
        def open_bench(run: RunReference, hooks: BenchHooks):  # type: ignore[no-untyped-def]  # a generator of a bench
            with self.make_context(machine, hooks.check) as context:
                yield _Bench(context)

        return open_bench


@dataclass(slots=True)
class _Bench:
    context: WorkerContext
    rates: list[Rate] = field(default_factory=list)

    def set_rate(self, rate: Rate) -> None:
        self.rates = [rate]

    def slow_down(self) -> None:
        """The governor of a virtual machine has no limit to halve."""


@dataclass(frozen=True, slots=True)
class _Wire:
    """What a worker sends: bytes, by topic."""

    workers: ClusterMachines
    leased: Leased

    def send(self, topic: str, message: bytes) -> None:
        workers, leased = self.workers, self.leased
        if topic == BEATS:
            workers.deliver(leased, lambda: workers.hear_beat(leased, decode(Beat, message)))
        elif topic == "reports":
            workers.deliver(leased, lambda: workers.hear_report(leased, decode(Report, message)))
