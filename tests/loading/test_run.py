"""A run from first to last: locked, frozen, stopped tidily, and its numbers always add up."""

from __future__ import annotations

import itertools
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from noarkit.errors import ArchiveAway, DiskFull, JournalFault, NotLetIn, PlanChanged, RunLocked
from noarkit.events import Event
from noarkit.graph.cut import Limits
from noarkit.graph.store import GraphStore
from noarkit.loading.coordinator import Coordinator, CoordinatorDeps
from noarkit.loading.engines.assembly import reopen_items
from noarkit.loading.engines.processes import ProcessWorkers
from noarkit.loading.journal import Journal
from noarkit.loading.lease import (
    ChunkDone,
    Guard,
    Lease,
    Outcome,
    RunFacts,
    ShardDone,
    ShardStopped,
)
from noarkit.loading.numbers import numbers, outcomes
from noarkit.loading.stopping import StopRequest, stop_fault
from noarkit.loading.work import WorkerContext
from tests.loading.conftest import Opened
from tests.loading.journey import SYSTEM, Journey, copied, record
from tests.loading.trouble import Schedule

CONTENTS = {f"{n}": f"content {n}".encode() for n in range(12)}
RECORDS = [record(key, f"f{int(key) // 3}", content) for key, content in CONTENTS.items()]


@pytest.fixture
def journey(root: Path) -> Journey:
    """Twelve records in four folders, planned."""
    made = Journey(root, dict(CONTENTS))
    made.plan(RECORDS)
    return made


def test_a_run_tells_its_story_and_its_numbers(journey: Journey, opened: Opened) -> None:
    loaded = journey.once(opened(journey))
    assert (loaded.exit_code, loaded.state, loaded.numbers.archived) == (0, "done", 12)
    names = [event.name for event in journey.told]
    assert names[0] == "preflight"
    assert names.count("shard_started") == names.count("shard_done") > 2
    assert loaded.numbers.bytes == sum(map(len, CONTENTS.values()))
    assert {one.state for one in outcomes(journey.folder)} == {"archived"}
    assert all(one.id for one in outcomes(journey.folder))


def test_a_run_that_is_done_asks_nothing_of_the_archive_but_who_it_is(journey: Journey, opened: Opened) -> None:
    service = opened(journey)
    journey.once(service)
    counting = Schedule("upload", 10_000)
    journey.once(service, counting)
    assert counting.seen == 0
    assert journey.keys(service).most_common(1)[0][1] == 1


def test_a_run_that_is_held_names_its_holder(journey: Journey, opened: Opened) -> None:
    service = opened(journey)
    with journey.folder.locked(), pytest.raises(RunLocked) as told:
        journey.once(service)
    assert told.value.exit_code == 9
    assert f"process {os.getpid()} on " in str(told.value.data["owner"])
    assert journey.once(service).exit_code == 0


def test_a_plan_that_was_changed_is_not_loaded(journey: Journey, opened: Opened) -> None:
    graph = GraphStore.open(journey.folder.graph, read_only=False)
    graph.db.execute("UPDATE entity SET fields = replace(fields, 'record 3', 'record X')")
    graph.close()
    service = opened(journey)
    with pytest.raises(PlanChanged):
        journey.once(service)
    assert journey.count(service, "Basisregistrering") == 0


def test_a_plan_that_was_changed_between_two_calls_is_not_gone_on_with(journey: Journey, opened: Opened) -> None:
    service = opened(journey)
    journey.once(service, Schedule("transaction:401:before", 8))
    graph = GraphStore.open(journey.folder.graph, read_only=False)
    graph.db.execute("UPDATE content SET locator = '0' WHERE locator = '11'")
    graph.close()
    with pytest.raises(PlanChanged):
        journey.once(service)


@pytest.mark.parametrize(
    ("kind", "code", "exit_code"), [("transaction:401:before", "F320", 6), ("query:401:before", "F320", 6)]
)
def test_an_archive_fault_pauses_the_run_with_its_own_exit_code(
    kind: str, code: str, exit_code: int, archive_template: Path, tmp_path: Path, opened: Opened
) -> None:
    for step in itertools.count(1):  # the first that comes after preflight, each on an archive of its own
        copied(archive_template, tmp_path / str(step) / "archive")
        journey = Journey(tmp_path / str(step), dict(CONTENTS))
        journey.plan(RECORDS)
        service = opened(journey)
        try:
            loaded = journey.once(service, Schedule(kind, step))
        except NotLetIn:
            continue
        break
    stopped = [event for event in journey.told if event.name == "shard_stopped"]
    assert [event.data["code"] for event in stopped] == ["F320"]
    assert (loaded.exit_code, loaded.state) == (6, "paused")
    assert loaded.numbers.add_up
    assert journey.once(service).numbers.archived == 12


def test_a_journal_fault_stops_the_run_at_once(journey: Journey, opened: Opened) -> None:
    service = opened(journey)
    with pytest.raises(JournalFault):
        journey.once(service, Schedule("journal:fault:before", 12))
    assert journey.once(service).numbers.archived + journey.once(service).numbers.already_there == 12


@pytest.mark.parametrize("after", [1, 4, 9])
def test_a_run_that_is_asked_to_stop_drains_and_goes_on_where_it_was(
    after: int, journey: Journey, opened: Opened
) -> None:
    service = opened(journey)
    stopping = StopRequest()

    class Told(list[Event]):
        def append(self, event: Event) -> None:
            super().append(event)
            if len(self) == after:
                stopping.ask("SIGTERM")

    journey.told = Told()
    loaded = journey.once(service, stopping=stopping)
    assert (loaded.exit_code, loaded.state, loaded.numbers.in_doubt) == (143, "paused", 0)
    assert 0 < loaded.numbers.open <= 12
    journey.told = []
    assert journey.once(service).numbers.archived == 12
    assert set(journey.keys(service).values()) == {1}


def test_the_gravest_reason_to_stop_is_kept() -> None:
    stopping = StopRequest()
    stopping.ask("limit")
    stopping.ask("SIGTERM")
    assert stopping.reason == "limit"
    stopping.ask("source-changed")
    assert stopping.reason == "source-changed"
    reasons = ("limit", "until", "source-changed", "SIGINT", "SIGTERM")
    assert [stop_fault(reason).exit_code for reason in reasons] == [11, 11, 8, 130, 143]


@dataclass
class Script:
    """Workers that say what a test lets them say."""

    answers: Callable[[Lease], list[Outcome]]
    leases: list[Lease] = field(default_factory=list)
    stopped: bool = False
    _said: list[tuple[int, Outcome]] = field(default_factory=list)

    @property
    def free(self) -> int:
        return 2

    def start(self, lease: Lease) -> None:
        self.leases.append(lease)
        self._said += [(lease.shard, outcome) for outcome in self.answers(lease)]

    def outcomes(self) -> list[tuple[int, Outcome]]:
        said, self._said = self._said, []
        return said

    def ask_to_stop(self) -> None:
        self.stopped = True

    def close(self) -> None:
        """Nothing to end."""


Settled = Callable[[Lease], Iterator[Outcome]]


def nothing_landed(lease: Lease) -> Iterator[Outcome]:
    return iter(())


_opened: list[Callable[[], None]] = []


@pytest.fixture(autouse=True)
def _close_what_was_opened() -> Iterator[None]:
    yield
    while _opened:
        _opened.pop()()


def coordinated(
    journey: Journey, script: Script, settled: Settled = nothing_landed, stopping: StopRequest | None = None
) -> tuple[int, Journal]:
    journal = Journal(journey.folder.journal)
    graph = journey.folder.open_graph()
    _opened.extend((journal.close, graph.close))
    journal.adopt(graph)
    facts = RunFacts("plan", SYSTEM, True, True, True, 60.0)
    given = CoordinatorDeps(
        journal,
        graph,
        facts,
        lambda shard: Guard(f"g{shard}", "1"),
        lambda lease: settled(lease),
        journey.told.append,
        lambda: 777.0,
    )
    exit_code = Coordinator(given, script, StopRequest() if stopping is None else stopping).run()
    graph.close()
    return exit_code, journal


def all_done(lease: Lease) -> list[Outcome]:
    made = [ChunkDone(task.key, {task.last[2]: "1"}, guard_version="2") for task in lease.tasks]
    return [*made, ShardDone(lease.shard)]


def test_the_spine_goes_first_and_alone_and_every_lease_has_durable_intents(journey: Journey) -> None:
    script = Script(all_done)
    exit_code, journal = coordinated(journey, script)
    assert exit_code == 0
    assert [lease.kind for lease in script.leases] == ["spine", *("unit" for _ in script.leases[1:])]
    assert journal.open_shards() == []
    assert set(journal.chunk_counts()) == {"done"}
    assert journal.guard(1) == Guard("g1", "2")
    assert all(lease.guard == Guard(f"g{lease.shard}", "1") for lease in script.leases)
    journal.close()


def lost(lease: Lease) -> ShardStopped:
    return ShardStopped(lease.shard, "F431", 5, {"exit": -9})


def events(journey: Journey, name: str) -> list[dict[str, object]]:
    return [dict(event.data) for event in journey.told if event.name == name]


def test_the_shard_of_a_lost_worker_is_in_doubt_and_handed_on_after_all_others(journey: Journey) -> None:
    def once(lease: Lease) -> list[Outcome]:
        return [lost(lease)] if (lease.shard, lease.attempt) == (1, 1) else all_done(lease)

    script = Script(once)
    exit_code, journal = coordinated(journey, script)
    assert exit_code == 0
    assert journal.open_shards() == []
    units = [lease for lease in script.leases if lease.kind == "unit"]
    assert [lease.shard for lease in units] == [*range(1, len(units)), 1]
    first, again = units[0], units[-1]
    assert {task.sent_at for task in again.tasks} == {777.0}
    assert [task.key for task in again.tasks] == [task.key for task in first.tasks]
    assert (first.facts.fresh, again.facts.fresh) == (True, False), "what a lost worker made is looked for"
    assert events(journey, "shard_handed_on") == [{"shard": 1, "code": "F431", "exit": -9, "losses": 1}]
    journal.close()


def test_a_shard_that_two_workers_died_of_is_settled_and_what_is_not_there_set_aside(journey: Journey) -> None:
    def poisonous(lease: Lease) -> list[Outcome]:
        return [lost(lease)] if lease.shard == 1 else all_done(lease)

    settled: list[Lease] = []

    def found_one(lease: Lease) -> Iterator[Outcome]:
        settled.append(lease)
        task = lease.tasks[0]
        with closing(journey.folder.open_graph()) as graph:
            yield ChunkDone(task.key, {row.n: "1" for row in graph.between(task.first, task.last)})

    script = Script(poisonous)
    exit_code, journal = coordinated(journey, script, found_one)
    assert [lease.shard for lease in script.leases].count(1) == 2
    assert [(lease.shard, {task.sent_at for task in lease.tasks}) for lease in settled] == [(1, {777.0})]
    assert (exit_code, journal.open_shards()) == (0, [])
    counts = numbers(journey.folder)
    assert counts.add_up
    assert counts.in_doubt == 0
    assert counts.archived > 0 and counts.set_aside > 0
    told = {one.code for one in outcomes(journey.folder, "set_aside")}
    assert told == {"F432"}
    (aside,) = events(journey, "shard_set_aside")
    assert aside["bundles"] == len(events(journey, "set_aside")) >= counts.set_aside
    again = reopen_items(journey.folder, "F432")
    assert again == aside["bundles"]
    assert {task.sent_at for task in journal.tasks(1)} == {777.0}, "it may still have been sent"
    assert [n for n, _ in journal.open_shards()] == [1]
    journal.close()


@pytest.mark.parametrize(("fault", "code", "exit_code"), [(ArchiveAway(), "F301", 5), (ValueError(), "F433", 5)])
def test_what_cannot_be_settled_stays_in_doubt_and_the_run_says_so(
    fault: Exception, code: str, exit_code: int, journey: Journey
) -> None:
    def unsettled(lease: Lease) -> Iterator[Outcome]:
        raise fault

    script = Script(lambda lease: [lost(lease)] if lease.shard == 1 else all_done(lease))
    exit_seen, journal = coordinated(journey, script, unsettled)
    assert exit_seen == exit_code
    assert [stopped["code"] for stopped in events(journey, "shard_stopped")] == [code]
    assert numbers(journey.folder).in_doubt == len(journal.tasks(1)) > 0
    assert numbers(journey.folder).set_aside == 0
    journal.close()


def test_a_journal_fault_while_settling_stops_the_run(journey: Journey) -> None:
    def full(lease: Lease) -> Iterator[Outcome]:
        raise DiskFull(where="run.db")

    with pytest.raises(DiskFull):
        coordinated(journey, Script(lambda lease: [lost(lease)] if lease.shard == 1 else all_done(lease)), full)


def test_a_spine_that_two_workers_died_of_stops_the_run(journey: Journey) -> None:
    script = Script(lambda lease: [lost(lease)])
    exit_code, journal = coordinated(journey, script)
    assert [lease.kind for lease in script.leases] == ["spine", "spine"]
    assert exit_code == 5
    assert [stopped["code"] for stopped in events(journey, "shard_stopped")] == ["F433"]
    assert numbers(journey.folder).in_doubt > 0
    journal.close()


def test_where_every_worker_dies_no_shard_is_leased_three_times_and_nothing_is_set_aside(root: Path) -> None:
    journey = Journey(root, dict(CONTENTS), limits=Limits(chunk_actions=30, shard_entities=4))
    journey.plan(RECORDS)
    script = Script(lambda lease: all_done(lease) if lease.kind == "spine" else [lost(lease)])
    exit_code, journal = coordinated(journey, script)
    leases = Counter(lease.shard for lease in script.leases)
    assert len(leases) > 3
    assert max(leases.values()) == 2
    assert (exit_code, numbers(journey.folder).set_aside) == (5, 0)
    assert {stopped["code"] for stopped in events(journey, "shard_stopped")} == {"F431"}
    journal.close()


def test_a_worker_that_is_lost_while_the_run_stops_is_not_replaced(journey: Journey) -> None:
    stopping = StopRequest()

    def dying(lease: Lease) -> list[Outcome]:
        if lease.kind == "spine":
            return all_done(lease)
        stopping.ask("SIGTERM")
        return [lost(lease)]

    exit_code, journal = coordinated(journey, Script(dying), stopping=stopping)
    assert exit_code == 5
    assert events(journey, "shard_handed_on") == []
    assert numbers(journey.folder).in_doubt > 0
    journal.close()


def test_a_shard_without_workers_waits_for_one(journey: Journey) -> None:
    class Late(Script):
        asked = 0

        @property
        def free(self) -> int:
            return int(self.asked > 3)

        def outcomes(self) -> list[tuple[int, Outcome]]:
            self.asked += 1
            return super().outcomes()

    exit_code, journal = coordinated(journey, Late(all_done))
    assert (exit_code, journal.open_shards()) == (0, [])
    journal.close()


def test_the_gravest_exit_code_of_several_shards_wins_and_the_others_are_asked_to_stop(journey: Journey) -> None:
    def failing(lease: Lease) -> list[Outcome]:
        code = {1: ArchiveAway.exit_code, 2: NotLetIn.exit_code}.get(lease.shard)
        return all_done(lease) if code is None else [ShardStopped(lease.shard, "F3xx", code)]

    script = Script(failing)
    exit_code, journal = coordinated(journey, script)
    assert (exit_code, script.stopped) == (6, True)
    journal.close()


def test_a_child_that_dies_is_told_as_a_lost_worker(journey: Journey) -> None:
    def workshop() -> object:
        os._exit(9)

    workers = ProcessWorkers(workshop, 1)  # type: ignore[arg-type]  # a workshop that kills its worker
    facts = RunFacts("plan", SYSTEM, True, True, True, 60.0)
    workers.start(Lease(3, "unit", 1, facts, (), {}, None))
    said: list[tuple[int, Outcome]] = []
    while not said:
        said = workers.outcomes()
    workers.close()
    ((shard, outcome),) = said
    assert isinstance(outcome, ShardStopped)
    assert (shard, outcome.code, outcome.exit_code) == (3, "F431", 5)


def test_a_child_that_died_idle_costs_no_lease(journey: Journey) -> None:
    class Workshop:
        def __enter__(self) -> object:
            return WorkerContext(None, None, None, None)  # type: ignore[arg-type]  # a shard without links asks nobody

        def __exit__(self, *_: object) -> None:
            pass

    workers = ProcessWorkers(Workshop, 1)  # type: ignore[arg-type]  # a workshop whose workers run leases of nothing
    facts = RunFacts("plan", SYSTEM, True, True, True, 60.0)
    said: list[tuple[int, Outcome]] = []
    for shard in (3, 4):
        workers.start(Lease(shard, "links", 1, facts, (), {}, None))
        while len(said) < shard - 2:
            said += workers.outcomes()
        if shard == 3:
            (child,) = workers._children
            os.kill(child.worker.pid, signal.SIGKILL)
            child.worker.wait()
    workers.close()
    assert [(shard, type(outcome)) for shard, outcome in said] == [(3, ShardDone), (4, ShardDone)]


@dataclass
class OneByOne(Script):
    """Workers beside the coordinator that take one lease at a time, and look at the journal before they tell."""

    journal_path: Path = Path()
    goes_on_alone: bool = True
    guards: list[tuple[int, list[int]]] = field(default_factory=list)

    @property
    def free(self) -> int:
        return 0 if self._said else 1

    def outcomes(self) -> list[tuple[int, Outcome]]:
        with closing(Journal(self.journal_path)) as journal:
            self.guards.append((self.leases[-1].shard, [shard for shard, _ in journal.guards()]))
        return super().outcomes()


@pytest.mark.parametrize("beside", [True, False])
def test_workers_beside_the_coordinator_find_the_guard_of_the_next_shard_made(journey: Journey, beside: bool) -> None:
    script = OneByOne(all_done, journal_path=journey.folder.journal, goes_on_alone=beside)
    exit_code, journal = coordinated(journey, script)
    assert (exit_code, journal.open_shards()) == (0, [])
    units = [lease.shard for lease in script.leases if lease.kind == "unit"]
    assert len(units) > 1
    ahead = 2 if beside else 1
    assert dict(script.guards)[units[0]] == [0, *units[:ahead]]
    assert {task for lease in script.leases for task in lease.tasks if lease.shard == units[0]}
    journal.close()
