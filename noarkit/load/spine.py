"""Loads the spine: fonds, creators, series, classification systems, classes. Found by natural key, or made once.

These types bear no EksternId, so each is looked for under its parent by what names it before it is made, and again when
an answer was lost. A target that must be found and is not there is a fault of the recipe.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from noarkit.archive.paging import objects
from noarkit.archive.port import Archive
from noarkit.archive.values import Parameter, Query
from noarkit.errors import ArchiveFault, PlanFault
from noarkit.graph.store import GraphStore, Planned
from noarkit.load.compose import compose, guarded, temporary_id
from noarkit.load.lease import ChunkDone, ChunkInDoubt, ChunkSent, ChunkTask, Guard, Lease, Outcome
from noarkit.load.lookup import guard_now, uuid_for
from noarkit.load.sending import Clock

# what names an object among its siblings
NATURAL_KEYS: Mapping[str, tuple[str, ...]] = {
    "Arkiv": ("tittel",),
    "Arkivskaper": ("arkivskaperIdent",),
    "Arkivdel": ("tittel",),
    "Klassifikasjonssystem": ("tittel",),
    "Klasse": ("klasseIdent",),
}


@dataclass(frozen=True, slots=True)
class _Found:
    ids: Mapping[int, str]
    missing: list[Planned]


class SpineLoader:
    """Loads the chunks of the spine's lease, alone and before every other shard."""

    def __init__(self, lease: Lease, archive: Archive, graph: GraphStore, clock: Clock) -> None:
        self._facts = lease.facts
        self._archive = archive
        self._graph = graph
        self._clock = clock
        self._known = dict(lease.known)
        self._guard = lease.guard

    def load(self, task: ChunkTask) -> Iterator[Outcome]:
        """One chunk of the spine: what is there is found, the rest is made in one transaction."""
        if task.sent_at is not None:
            self._clock.wait_until(task.sent_at + self._facts.deadline_s)
            self._guard = guard_now(self._archive, self._guard)
        rows = [row for row in self._graph.between(task.first, task.last) if row.n not in self._known]
        ours = task.sent_at is not None
        for attempt in range(self._facts.attempts):
            found = self._look(rows, ours=ours)
            sent_at = self._clock.now_s()
            links = self._graph.links_between(task.first, task.last)
            composed = compose(found.missing, links, {**self._known, **found.ids}, {}, self._facts)
            if not composed.actions:
                yield self._done(task, found, {})
                return
            yield ChunkSent(task.key, sent_at)
            try:
                saved = self._archive.transaction(guarded(composed.actions, self._guard, self._facts, task.key))
            except ArchiveFault as fault:
                if not fault.transient or attempt + 1 == self._facts.attempts:
                    raise
                yield ChunkInDoubt(task.key, fault.code, sent_at)
                if fault.fate_unknown:
                    self._clock.wait_until(sent_at + self._facts.deadline_s)
                ours = True
                self._guard = guard_now(self._archive, self._guard)
                continue
            if self._guard is not None:
                self._guard = Guard(self._guard.id, saved[self._guard.id].version)
            yield self._done(task, found, {row.n: saved[temporary_id(row.n)].id for row in found.missing})
            return

    def _done(self, task: ChunkTask, found: _Found, made: Mapping[int, str]) -> ChunkDone:
        self._known.update(found.ids)
        self._known.update(made)
        version = self._guard.version if self._guard else None
        return ChunkDone(task.key, made, found.ids, guard_version=version)

    def _look(self, rows: list[Planned], *, ours: bool) -> _Found:
        ids: dict[int, str] = {}
        missing: list[Planned] = []
        new: set[int] = set()
        for row in rows:
            found = None
            # what an earlier plan of the same source made bears our uuid: it is ours, and could not be made twice
            findable = row.target != "create" or ours or self._facts.sets_system_fields
            if row.parent not in new and findable:
                found = self._find(row, {**self._known, **ids}, only_ours=row.target == "create")
            if found is not None:
                ids[row.n] = found
            elif row.target == "find":
                raise PlanFault(where=f"{row.type}, recipe line {row.line}", why="target-not-found")
            else:
                missing.append(row)
                new.add(row.n)
        return _Found(ids, missing)

    def _find(self, row: Planned, known: Mapping[int, str], *, only_ours: bool) -> str | None:
        names = NATURAL_KEYS[row.type]
        parts, parameters = [], dict[str, Parameter]()
        for name in names:
            parts.append(f"{name} = @{name}")
            parameters[f"@{name}"] = str(row.fields.get(name, ""))
        if row.parent is not None and row.parent_link is not None and row.type != "Arkiv":
            parts.append(f"{row.parent_link}.id = @parent")
            parameters["@parent"] = known[row.parent]
        if only_ours and self._facts.sets_system_fields:
            parts.append("uuid = @uuid")
            parameters["@uuid"] = uuid_for(self._facts, row)
        query = Query(row.type, " && ".join(parts), parameters, order=(("id", "desc"),))
        found = list(objects(self._archive, query))
        return found[-1].id if found and not only_ours else (found[0].id if found else None)
