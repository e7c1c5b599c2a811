"""A run from first to last: lock, frozen plan, preflight, doubt of the last time, shards, sums.

The same call again goes on where the last one stopped; there is no other way to resume.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

from noarkit.archive.port import Archive
from noarkit.errors import NotAllowed, OtherArchive
from noarkit.events import Event, Listener
from noarkit.graph.store import GraphStore
from noarkit.load import preflight, registers
from noarkit.load.clocks import Clocks, system_clocks
from noarkit.load.coordinator import Coordinator, Given, Stopping, Workers
from noarkit.load.folder import RunFolder
from noarkit.load.follow import follow
from noarkit.load.history import keep_history
from noarkit.load.journal import Journal
from noarkit.load.lease import Guard, RunFacts
from noarkit.load.numbers import Numbers, numbers


@dataclass(frozen=True, slots=True)
class Terms:
    """How a run treats its archive. `where` names the archive for people; `deadline_s` is how long the archive may
    still commit after a client gave up (0 where its process is known to be gone). A `rehearsal` proves nothing about
    the archive beforehand, because that would write."""

    where: str
    deadline_s: float = 60.0
    settle_pause_s: float = 1.0
    limits: Callable[[], None] = lambda: None
    rehearsal: bool = False
    clocks: Clocks = field(default_factory=system_clocks)


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a run came to."""

    numbers: Numbers
    exit_code: int
    state: str


MakeWorkers = Callable[[], Workers]


def load(
    folder: RunFolder,
    archive: Archive,
    make_workers: MakeWorkers,
    terms: Terms,
    *,
    stopping: Stopping,
    tell: Listener,
    now_s: Callable[[], float],
) -> Loaded:
    """Loads what of the plan is not loaded yet. Raises RunLocked, PlanChanged, OtherArchive and archive faults."""
    with folder.locked():
        graph = folder.open_graph()
        journal = folder.open_journal()
        try:
            journal.adopt(graph)
            facts, proven = _prepare(folder, journal, graph, archive, terms, now_s)
            tell(Event("preflight", _told(proven, facts)))
            clocks = terms.clocks
            journal.keep_time(clocks)
            doubtful = journal.doubt_all(clocks.steady_s())
            if doubtful:
                tell(Event("in_doubt", {"chunks": doubtful}))
            given = Given(journal, graph, facts, _guards(archive, proven, facts), tell, clocks.steady_s, terms.limits)
            workers = make_workers()
            try:
                exit_code = Coordinator(given, workers, stopping).run()
            finally:
                workers.close()
            if exit_code in (0, 3) and not terms.rehearsal:
                keep_history(folder, graph, journal, archive, tell)
                follow(folder, archive, facts, tell)
        finally:
            journal.close()
            graph.close()
    counted = numbers(folder)
    return Loaded(counted, exit_code, _state(counted, exit_code))


def _prepare(
    folder: RunFolder,
    journal: Journal,
    graph: GraphStore,
    archive: Archive,
    terms: Terms,
    now_s: Callable[[], float],
) -> tuple[RunFacts, preflight.Proven]:
    plan = str(folder.plan()["sha256"])
    system = graph.meta("external_system") or "noarkit"
    if terms.rehearsal:
        proven = preflight.unproven(archive, system)
    else:
        proven = preflight.prove(archive, system, f"probe {uuid.uuid4()}")
    _same_archive(folder, journal, proven.identity or terms.where)
    if not proven.finds_what_it_writes and proven.marker is not None:
        raise NotAllowed(call="query", description=preflight.NOT_FOUND_AGAIN)
    first = journal.meta("started") is None
    if first:
        journal.remember(mark=uuid.uuid4().hex[:8])
    facts = RunFacts(
        plan=plan[:16],
        external_system=system,
        honours_versions=proven.honours_versions,
        # what a run began without it goes on without, so that all it made can be found in one way
        sets_system_fields=proven.sets_system_fields and journal.meta("sets_system_fields") != "False",
        fresh=first and not proven.knows_system,
        deadline_s=terms.deadline_s,
        settle_pause_s=min(terms.settle_pause_s, terms.deadline_s),
        closes=graph.meta("close") == "yes",
        codes=registers.prepare(archive, graph, rehearsal=terms.rehearsal),
        rehearsal=terms.rehearsal,
        mark=journal.meta("mark") or "",
    )
    if first:
        journal.remember(started=str(now_s()), plan=plan)
    journal.remember(
        where=terms.where,
        honours_versions=str(facts.honours_versions),
        sets_system_fields=str(facts.sets_system_fields),
    )
    return facts, proven


def _same_archive(folder: RunFolder, journal: Journal, identity: str) -> None:
    known = journal.meta("archive")
    if known is None:
        journal.remember(archive=identity)
    elif known != identity:
        raise OtherArchive(where=str(folder.path), expected=known, found=identity)


def _guards(archive: Archive, proven: preflight.Proven, facts: RunFacts) -> Callable[[int], Guard | None]:
    def guard_for(shard: int) -> Guard | None:
        if proven.marker is None or not facts.honours_versions:
            return None
        return preflight.guard_for(archive, proven.marker, facts.plan, shard)

    return guard_for


def _told(proven: preflight.Proven, facts: RunFacts) -> dict[str, object]:
    return {
        "identity": proven.identity,
        "honours_versions": facts.honours_versions,
        "sets_system_fields": facts.sets_system_fields,
        "fresh": facts.fresh,
    }


def _state(counted: Numbers, exit_code: int) -> str:
    if counted.open or counted.in_doubt:
        return "paused" if exit_code else "open"
    return "done"
