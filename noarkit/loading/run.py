"""Runs or resumes a load from start to end: lock, frozen plan, preflight, doubts of the last attempt, shards, numbers.

The same call again goes on where the last one stopped; there is no other way to resume.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from noarkit.archive.port import Archive
from noarkit.errors import NotAllowed
from noarkit.events import Event, EventFields, Listener, combine_listeners
from noarkit.graph.store import GraphStore
from noarkit.loading import preflight, registers
from noarkit.loading.acceptance import accept_archive, is_other_archive
from noarkit.loading.clocks import Clocks, system_clocks
from noarkit.loading.coordinator import Coordinator, CoordinatorDeps, Workers
from noarkit.loading.folder import RunFolder
from noarkit.loading.follow import follow
from noarkit.loading.history import keep_history
from noarkit.loading.journal import Journal
from noarkit.loading.lease import Guard, Lease, Outcome, RunFacts
from noarkit.loading.lease_end import latest_lease_end
from noarkit.loading.lost_shards import settle_shard
from noarkit.loading.numbers import Numbers
from noarkit.loading.part import LINKS, SPINE_JOURNAL, begin_part, check_links
from noarkit.loading.settling import Clock
from noarkit.loading.source_values import refuse_lost_values
from noarkit.loading.state import read_state, refuse_delivered, refuse_retracted
from noarkit.loading.stopping import StopRequest
from noarkit.loading.work import WorkerControl

EVENTS: EventFields = {
    "preflight": {"identity": "text?", "honours_versions": "flag", "sets_system_fields": "flag", "fresh": "flag"},
    "in_doubt": {"chunks": "count"},
}


@dataclass(frozen=True, slots=True)
class LoadSettings:
    """Settings of a load. `archive_name` is the archive's name for people; `deadline_s` is how long the archive may
    still commit after a client gave up (0 if its process is known to be gone). A `rehearsal` proves nothing about
    the archive beforehand, because that would write. `todays_dates` says that the archive's own dates and numbers are
    taken where the account may not set those of the plan."""

    archive_name: str
    deadline_s: float = 60.0
    settle_pause_s: float = 1.0
    limits: Callable[[], None] = lambda: None
    rehearsal: bool = False
    todays_dates: bool = False
    clocks: Clocks = field(default_factory=system_clocks)
    sleep_s: Callable[[float], None] = time.sleep


@dataclass(frozen=True, slots=True)
class LoadResult:
    """The result of a load."""

    numbers: Numbers
    exit_code: int
    state: str


MakeWorkers = Callable[[], Workers]
LOSS_NOTES = ("shard_handed_on", "shard_set_aside")
"""Events that the journal keeps: each time a worker was lost, one of them or the run stopped."""


def load(
    folder: RunFolder,
    archive: Archive,
    make_workers: MakeWorkers,
    settings: LoadSettings,
    *,
    stop_request: StopRequest,
    emit: Listener,
    now_s: Callable[[], float],
) -> LoadResult:
    """Loads what is not loaded yet. Raises RunLocked, RunRetracted, PlanChanged, OtherArchive, SourceValuesLost,
    archive faults."""
    # The lock comes first and is held to the end: one coordinator alone writes the journal. It dies with its process,
    # so a killed run needs no cleaning up.
    with folder.locked():
        refuse_delivered(folder)
        graph = folder.open_graph()
        journal = folder.open_journal()
        try:
            refuse_retracted(journal, str(folder.path))
            begin_journal(folder, journal, graph)
            facts, abilities = _prepare(folder, journal, graph, archive, settings, now_s)
            emit(Event("preflight", _preflight_payload(abilities, facts)))
            if not settings.rehearsal:
                refuse_lost_values(folder, journal, graph, facts, now_s(), is_allowed=settings.todays_dates)
            _accept(folder, journal, facts, abilities, settings, now_s())
            clocks = settings.clocks
            lease_end_s = latest_lease_end(journal, clocks)
            # In this order: times of sending must be in this boot's clock before anything is compared with them, and
            # doubts must be marked before the first lease, which would take a leased shard for a new one.
            journal.keep_time(clocks)
            doubtful = journal.mark_all_in_doubt(lease_end_s)
            if doubtful:
                emit(Event("in_doubt", {"chunks": doubtful}))
            deps = CoordinatorDeps(
                journal,
                graph,
                facts,
                _guards(archive, abilities, facts),
                _settling(archive, graph, settings, stop_request),
                combine_listeners(emit, _keep_losses(journal, now_s)),
                clocks.steady_s,
                settings.limits,
            )
            # Made after the preflight, so that an archive that cannot be used starts no processes.
            workers = make_workers()
            try:
                exit_code = Coordinator(deps, workers, stop_request).run()
            finally:
                workers.close()
            # Only what is complete, or complete but for what was left out, has a history to keep.
            if exit_code in (0, 3) and not settings.rehearsal and folder.part is None:
                keep_history(folder, graph, journal, archive, emit)
                follow(folder, archive, facts, emit)
        finally:
            journal.close()
            graph.close()
    state = read_state(folder)
    return LoadResult(state.numbers, exit_code, state.after_load(exit_code))


def begin_journal(folder: RunFolder, journal: Journal, graph: GraphStore) -> None:
    """Writes the plan into a journal, the first time; only its own shards into that of a part."""
    part = folder.part
    if part is None:
        journal.adopt(graph)
    elif part.kind == LINKS:
        journal.adopt(graph)
        check_links(journal, folder.path)
    else:
        begin_part(journal, graph, part, folder.path / SPINE_JOURNAL, str(folder.plan()["sha256"]))


def _prepare(
    folder: RunFolder,
    journal: Journal,
    graph: GraphStore,
    archive: Archive,
    settings: LoadSettings,
    now_s: Callable[[], float],
) -> tuple[RunFacts, preflight.ArchiveAbilities]:
    plan = str(folder.plan()["sha256"])
    system = graph.meta("external_system") or "noarkit"
    first = journal.meta("started") is None
    if settings.rehearsal:
        abilities = preflight.read_abilities(archive, system)
    elif not first and not journal.open_shards():
        # Nothing is left to send, so nothing is proved by writing: a load that is done leaves the archive as it is.
        abilities = replace(
            preflight.read_abilities(archive, system),
            finds_what_it_writes=True,
            honours_versions=journal.meta("honours_versions") == "True",
            sets_system_fields=journal.meta("sets_system_fields") == "True",
        )
    else:
        abilities = preflight.prove_abilities(archive, system, f"probe {uuid.uuid4()}")
    is_other = is_other_archive(folder, journal, abilities.identity or settings.archive_name)
    if not abilities.finds_what_it_writes and abilities.marker is not None:
        raise NotAllowed(call="query", description=preflight.NOT_FOUND_AGAIN)
    # A mark of this run's own: a second run of an equal plan must not take the first one's anchors for its own. Written
    # before any anchor can be.
    if journal.meta("mark") is None:
        journal.remember(mark=uuid.uuid4().hex[:8])
    facts = RunFacts(
        plan=plan[:16],
        external_system=system,
        honours_versions=abilities.honours_versions,
        # what a run began without it goes on without, so that all it made can be found in one way
        sets_system_fields=abilities.sets_system_fields and (is_other or journal.meta("sets_system_fields") != "False"),
        # Another may have loaded of the same part before, whose journal is not here.
        fresh=(first or is_other) and not abilities.knows_system and folder.part is None,
        deadline_s=settings.deadline_s,
        settle_pause_s=min(settings.settle_pause_s, settings.deadline_s),
        closes=graph.meta("close") == "yes",
        codes=registers.prepare(archive, graph, rehearsal=settings.rehearsal),
        rehearsal=settings.rehearsal,
        mark=journal.meta("mark") or "",
        witness=abilities.witness,
        writes_after_link=abilities.writes_after_link,
    )
    return facts, abilities


def _accept(
    folder: RunFolder,
    journal: Journal,
    facts: RunFacts,
    abilities: preflight.ArchiveAbilities,
    settings: LoadSettings,
    now_s: float,
) -> None:
    name, plan = settings.archive_name, str(folder.plan()["sha256"])
    accept_archive(journal, facts, identity=abilities.identity or name, name=name, now_s=now_s, plan=plan)


def _guards(archive: Archive, abilities: preflight.ArchiveAbilities, facts: RunFacts) -> Callable[[int], Guard | None]:
    def guard_for(shard: int) -> Guard | None:
        if abilities.marker is None or not facts.honours_versions:
            return None
        return preflight.guard_for(archive, abilities.marker, facts.plan, shard)

    return guard_for


def _settling(
    archive: Archive, graph: GraphStore, settings: LoadSettings, stop_request: StopRequest
) -> Callable[[Lease], Iterator[Outcome]]:
    """What settles a shard here, without a worker."""

    clock = clock_of(settings, stop_request)

    def settle(lease: Lease) -> Iterator[Outcome]:
        return settle_shard(lease, archive, graph, clock)

    return settle


def clock_of(settings: LoadSettings, stop_request: StopRequest) -> Clock:
    """The clock of this process's own waits, which end early where the run is to stop."""

    def should_stop() -> bool:
        settings.limits()
        return bool(stop_request)

    control = WorkerControl(settings.clocks.steady_s, settings.sleep_s, should_stop)
    return Clock(control.now_s, control.wait_until)


def _keep_losses(journal: Journal, now_s: Callable[[], float]) -> Listener:
    """Keeps in the run's story that a worker was lost, and what became of its shard."""

    def keep(event: Event, /) -> None:
        if event.name in LOSS_NOTES:
            journal.add_note(now_s(), event.name, event.data)

    return keep


def _preflight_payload(abilities: preflight.ArchiveAbilities, facts: RunFacts) -> dict[str, object]:
    return {
        "identity": abilities.identity,
        "honours_versions": facts.honours_versions,
        "sets_system_fields": facts.sets_system_fields,
        "fresh": facts.fresh,
    }
