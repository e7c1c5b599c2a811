"""Searches for lost or doubled keys: plays a schedule against the real coordinator, journal and workers' code.

Real: `load` with its preflight, the coordinator, run.db, leases, `run_lease` with all that it calls, retries and
governor. Modelled: the archive, the network, the machines, and time.
"""

from __future__ import annotations

import os
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from noarkit.archive.port import Archive
from noarkit.archive.retry import RetryClock, RetryingArchive, RetryPolicy
from noarkit.errors import NoarkitError
from noarkit.events import Event
from noarkit.graph.store import GraphStore
from noarkit.loading.clocks import Clocks
from noarkit.loading.contents import no_gate
from noarkit.loading.engines.assembly import reopen_items
from noarkit.loading.engines.cluster.fence import FencedArchive
from noarkit.loading.folder import RunFolder
from noarkit.loading.governor import GovernedArchive, Rate
from noarkit.loading.lease import Outcome
from noarkit.loading.lease_end import promise_lease_end
from noarkit.loading.run import LoadSettings, load
from noarkit.loading.stopping import StopRequest
from noarkit.loading.work import WorkerContext
from scripts.simulation.holdings import Holdings
from scripts.simulation.machines import ClusterMachines, MakeContext, Rules, VirtualWorkers
from scripts.simulation.plans import SYSTEM, Shape, make_plan, open_content
from scripts.simulation.schedules import MODES, Schedule, Trouble
from scripts.simulation.service import Machine, Service, Speed, VirtualArchive
from scripts.simulation.world import Killed, World

_TURNS_IN_TROUBLE = 5
_TURNS_IN_PEACE = 8
DEADLINE_S = 60.0
_SPEED = Speed(latency_s=0.05, spread=0.4, query_s=0.003, upload_s=0.003, transaction_s=0.02)


@dataclass
class Trial:
    """What a schedule came to; `wrong` is empty where all is as it must be."""

    wrong: list[str] = field(default_factory=list)
    struck: list[str] = field(default_factory=list)
    turns: int = 0
    seconds: float = 0.0
    set_aside: int = 0


class Script:
    """The troubles of a schedule, in the order in which they strike."""

    def __init__(self, troubles: tuple[Trouble, ...]) -> None:
        self._fates = {(trouble.call, trouble.nth): trouble.fate for trouble in troubles}
        self._counts: Counter[str] = Counter()
        self.struck: list[str] = []
        self.is_over = False

    def fate(self, call: str) -> str:
        """What becomes of the next of these."""
        self._counts[call] += 1
        fate = "" if self.is_over else self._fates.get((call, self._counts[call]), "")
        if fate:
            self.struck.append(f"{call} {self._counts[call]} {fate}")
        return fate


@dataclass
class Lab:
    """A folder with a plan of each shape, from which runs are copied."""

    folder: Path
    _templates: dict[Shape, RunFolder] = field(default_factory=dict)
    _runs: int = 0

    def new_run(self, shape: Shape) -> RunFolder:
        """A run of this shape that nobody has begun."""
        template = self._templates.get(shape)
        if template is None:
            template = self._templates[shape] = RunFolder(self.folder / f"template{len(self._templates)}")
            make_plan(template, shape)
            with closing(template.open_graph()) as graph, closing(template.open_journal()) as journal:
                journal.adopt(graph)
        self._runs += 1
        folder = RunFolder(self.folder / f"run{self._runs}")
        folder.path.mkdir()
        os.link(template.graph, folder.graph)
        shutil.copyfile(template.path / "plan.json", folder.path / "plan.json")
        shutil.copyfile(template.journal, folder.journal)
        return folder


def try_out(schedule: Schedule, lab: Lab, world: World) -> Trial:
    """Plays one schedule."""
    mode, script, trial = MODES[schedule.mode], Script(schedule.troubles), Trial()
    folder = lab.new_run(schedule.shape)
    holdings = Holdings(honours_versions=mode.honours_versions, may_set_uuids=mode.may_set_uuids)
    chance = random.Random(schedule.seed)
    service = Service(world, holdings, _SPEED, chance, script)
    run = _Run(schedule, folder, service, script, trial, ExitStack())
    service.kill_coordinator = lambda: world.at(world.now_s, run.kill_coordinator)
    try:
        for turn in range(_TURNS_IN_TROUBLE + _TURNS_IN_PEACE):
            script.is_over = turn >= _TURNS_IN_TROUBLE
            trial.turns += 1
            if run.turn():
                break
            world.sleep(chance.choice((0.5, 5.0, 30.0, 100.0)))
        else:
            trial.wrong.append(f"never done: {run.last}")
        world.run_out()
        _judge(folder, holdings, trial)
        trial.struck, trial.seconds = script.struck, world.now_s
    finally:
        world.end_tasks()
        run.opened.close()
        shutil.rmtree(folder.path)
    return trial


@dataclass
class _Run:
    schedule: Schedule
    folder: RunFolder
    service: Service
    script: Script
    trial: Trial
    opened: ExitStack
    last: str = ""
    machines: list[Machine] = field(default_factory=list)
    is_running: bool = False

    def kill_coordinator(self) -> None:
        """Ends the coordinator where it stands, if there is one just then."""
        if self.is_running:
            raise Killed()

    def turn(self) -> bool:
        """The command once; True where all is loaded."""
        world, rules = self.service.world, self.schedule.rules
        # machines that still work for a coordinator that is gone are not ours to use
        busy = [machine for machine in self.machines if machine.task is not None and not machine.task.has_ended]
        self.machines = [Machine(number) for number in range(rules.machines)]
        workers = self._workers(world, rules)
        archive = patient(VirtualArchive(self.service, Machine()), self.service, resends=True)
        self.is_running = True
        try:
            result = load(
                self.folder,
                archive,
                lambda: workers,
                load_settings(world),
                stop_request=StopRequest(),
                emit=_ignore,
                now_s=lambda: world.now_s,
            )
            self.last = f"{result.state}, exit {result.exit_code}, {result.numbers.as_data()}"
            if not result.numbers.add_up:
                self.trial.wrong.append(f"numbers do not add up: {self.last}")
            left_out = result.numbers.set_aside + result.numbers.refused
            if result.state == "done" and left_out:  # shards that two workers died of: taken up again, as by `retry`
                self.trial.set_aside += left_out
                reopen_items(self.folder, None)
            return result.state == "done" and result.exit_code == 0 and not left_out
        except Killed:
            self.last = "killed"
        except NoarkitError as fault:
            self.last = f"{fault.code} {dict(fault.data)}"
        finally:
            self.is_running = False
            self.trial.wrong += [f"defect: {defect!r}" for defect in workers.defects]
            self.machines += busy
        return False

    def _workers(self, world: World, rules: Rules) -> VirtualWorkers:
        make_context, machines = context_maker(self.service, self.folder, self.opened), list(self.machines)
        if not rules.cluster:
            return _KillableChildren(world, rules, make_context, machines).with_script(self.script)
        promise = promise_in(self.folder, world)
        return _KillableMachines(world, rules, make_context, machines, promise=promise).with_script(self.script)


class _Killable(VirtualWorkers):
    """Kills the coordinator before or after it writes what it heard."""

    _script = Script(())
    _dies_next = False

    def with_script(self, script: Script) -> VirtualWorkers:
        """The same, by this script."""
        self._script = script
        return self

    def outcomes(self) -> list[tuple[int, Outcome]]:
        if self._dies_next:
            raise Killed()
        heard = super().outcomes()
        fate = self._script.fate("outcomes") if heard else ""
        if fate == "kill-before":
            raise Killed()
        self._dies_next = fate == "kill-after"
        return heard


class _KillableChildren(_Killable):
    """Child processes."""


class _KillableMachines(_Killable, ClusterMachines):
    """Machines of a cluster."""


def load_settings(world: World) -> LoadSettings:
    """The settings of a load in virtual time."""
    clocks = Clocks(lambda: world.now_s, "boot", lambda: None)
    return LoadSettings("simulated", DEADLINE_S, clocks=clocks, sleep_s=world.sleep)


def promise_in(folder: RunFolder, world: World) -> Callable[[float | None], None]:
    """Writes into the journal until when leases may last."""

    def promise(end_s: float | None) -> None:
        with closing(folder.open_journal()) as journal:
            promise_lease_end(journal, end_s, world.now_s)

    return promise


def context_maker(service: Service, folder: RunFolder, opened: ExitStack) -> MakeContext:
    """What gives a machine its connection to the archive and its reader of the plan. `opened` closes what one that dies
    leaves open."""

    @contextmanager
    def make(machine: Machine, check: Callable[[], None]) -> Iterator[WorkerContext]:
        with closing(GraphStore.open(folder.graph)) as graph:
            opened.callback(graph.close)
            archive = patient(FencedArchive(VirtualArchive(service, machine), check), service)
            yield WorkerContext(archive, graph, open_content, no_gate)

    return make


def patient(archive: Archive, service: Service, *, resends: bool = False) -> Archive:
    """An archive as workers have it: with the limits of rate and the retries of a load. The coordinator `resends` what
    was not taken; a worker asks first."""
    world, chance = service.world, service.chance
    governed = GovernedArchive(archive, Rate(), clock=lambda: world.now_s, sleep=world.sleep)
    policy, clock = RetryPolicy(resends=resends), RetryClock(world.sleep, lambda: world.now_s, chance.random)
    return RetryingArchive(governed, policy, outside=clock)


def _judge(folder: RunFolder, holdings: Holdings, trial: Trial) -> None:
    """Holds what is in the archive against the plan and the journal."""
    with closing(GraphStore.open(folder.graph)) as graph, closing(folder.open_journal()) as journal:
        planned = Counter(entity.type for entity in graph.all_entities())
        numbers = {entity.n: entity for entity in graph.all_entities()}
        links = list(graph.late_links())
        ids = journal.ids(numbers)
    keys = Counter(entity.key for entity in numbers.values() if entity.type in ("Mappe", "Basisregistrering"))
    present = holdings.external_ids(SYSTEM)
    trial.wrong += [f"lost: {key}" for key in keys if not present[key]]
    trial.wrong += [f"doubled: {key} {count} times" for key, count in present.items() if count > 1]
    for kind, count in planned.items():
        if kind != "EksternId" and holdings.counts()[kind] != count:
            trial.wrong.append(f"{holdings.counts()[kind]} of {kind} in place of {count}")
    trial.wrong += [
        f"no link: {numbers[link.entity].key} to {numbers[link.target].key}"
        for link in links
        if holdings.target_of(ids.get(link.entity, ""), link.name) != ids.get(link.target)
    ]
    standing = {archive_id for items in holdings.by_type.values() for archive_id in items}
    missing = [numbers[n].key for n in numbers if ids.get(n) not in standing]
    if missing:
        trial.wrong.append(f"done in the journal, but not in the archive: {missing[:5]}")


def _ignore(event: Event, /) -> None:
    return None


Judged = Callable[[Schedule], bool]
Context = AbstractContextManager[WorkerContext]


def shrink(schedule: Schedule, fails: Judged) -> Schedule:
    """The least of a failing schedule that still fails."""
    from dataclasses import replace

    least = schedule
    for trouble in schedule.troubles:
        fewer = replace(least, troubles=tuple(other for other in least.troubles if other is not trouble))
        if trouble in least.troubles and fails(fewer):
            least = fewer
    return least
