"""Loads the spine: fonds, creators, series, classification systems, classes. Found by natural key, or made once.

These types bear no EksternId, so each is looked for under its parent by what names it before it is made, and again when
an answer was lost. A target that must be found and is not there is a fault of the recipe.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from noarkit.archive.paging import objects
from noarkit.archive.port import Archive
from noarkit.archive.values import Parameter, Query, SavedObject
from noarkit.errors import ArchiveFault, PlanFault
from noarkit.graph.store import GraphStore, Planned
from noarkit.load.compose import compose, guarded, send, temporary_id
from noarkit.load.lease import ChunkDone, ChunkInDoubt, ChunkSent, ChunkTask, Guard, Lease, Outcome
from noarkit.load.lookup import uuid_for
from noarkit.load.settling import Clock, Settling, remainder

# what names an object among its siblings
NATURAL_KEYS: Mapping[str, tuple[str, ...]] = {
    "Arkiv": ("tittel",),
    "Arkivskaper": ("arkivskaperIdent",),
    "Arkivdel": ("tittel",),
    "Klassifikasjonssystem": ("tittel",),
    "Klasse": ("klasseIdent",),
}


class SpineLoader:
    """Loads the chunks of the spine's lease, alone and before every other shard."""

    def __init__(self, lease: Lease, archive: Archive, graph: GraphStore, clock: Clock) -> None:
        self._facts = lease.facts
        self._archive = archive
        self._graph = graph
        self._clock = clock
        self._known = dict(lease.known)
        self._settling = Settling(archive, lease.facts, clock, lease.guard)

    def load(self, task: ChunkTask) -> Iterator[Outcome]:
        """One chunk of the spine: what is there is found, the rest is made in one transaction.

        What stood before the first sending is told before it, so that all that stands later is known as made.
        """
        rows = [row for row in self._graph.between(task.first, task.last) if row.n not in self._known]
        if task.sent_at is not None:
            yield from self._settling.told_wait(task.sent_at)
        landed = self._landed(task.key, task.sent_at) if task.sent_at is not None else False
        sent = task.sent_at is not None
        missing, there = self._look(rows, sent=sent)
        ours = sent and (landed if self._settling.guard is not None else task.surely_sent)
        made, already = (there, {}) if ours else ({}, there)
        if already and missing:
            yield ChunkDone(remainder(task.key), {}, already)
            already = {}
        for attempt in range(self._facts.attempts):
            if not missing:
                break
            sent_at = self._clock.now_s()
            links = self._graph.links_between(task.first, task.last)
            composed = compose(missing, links, self._known, {}, self._facts)
            yield ChunkSent(task.key, sent_at)
            actions = guarded(composed.actions, self._settling.guard, self._facts, task.key)
            try:
                saved = send(self._archive, actions)
            except ArchiveFault as fault:
                yield ChunkInDoubt(task.key, fault.code, sent_at)
                if fault.fate_unknown:
                    yield from self._settling.told_wait(sent_at)
                self._landed(task.key, sent_at if fault.fate_unknown else None)
                missing, there = self._look(missing, sent=True)
                made.update(there)
                renewed = bool(fault.data.get("renewed"))
                if missing and (not (fault.transient or renewed) or attempt + 1 == self._facts.attempts):
                    raise
                continue
            made.update({row.n: saved[temporary_id(row.n)].id for row in missing})
            guard = self._settling.guard
            if guard is not None and guard.id in saved:
                self._settling.guard = Guard(guard.id, saved[guard.id].version)
            break
        self._known.update(made)
        version = self._settling.guard.version if self._settling.guard else None
        yield ChunkDone(task.key, made, already, guard_version=version)

    def _landed(self, key: str, sent_at: float | None) -> bool:
        """Whether the guard names this chunk; after the archive's deadline where a time of sending is given."""
        if sent_at is not None:
            self._clock.wait_until(sent_at + self._facts.deadline_s)
        return bool(self._settling.landed((key,)))

    def _look(self, rows: list[Planned], *, sent: bool) -> tuple[list[Planned], dict[int, str]]:
        """What is to be made, and the ids of what is there, which are known from then on. What was sent and what must
        be there is looked for twice."""
        missing: list[Planned] = []
        there: dict[int, str] = {}
        new: set[int] = set()
        for row in rows:
            found = None
            # what an earlier plan of the same source made bears our uuid: it is ours, and could not be made twice
            findable = row.target != "create" or sent or self._facts.sets_system_fields
            if row.parent not in new and findable:
                found = self._find(row, only_ours=row.target == "create")
                if found is None and (sent or row.target == "find"):
                    found = self._find(row, only_ours=row.target == "create")
            if found is not None:
                there[row.n] = self._known[row.n] = found
            elif row.target == "find":
                raise PlanFault(where=f"{row.type}, recipe line {row.line}", why="target-not-found")
            else:
                missing.append(row)
                new.add(row.n)
        return missing, there

    def _find(self, row: Planned, *, only_ours: bool) -> str | None:
        names = NATURAL_KEYS[row.type]
        parts, parameters = [], dict[str, Parameter]()
        for name in names:
            parts.append(f"{name} = @{name}")
            parameters[f"@{name}"] = str(row.fields.get(name, ""))
        if row.parent is not None and row.parent_link is not None and row.type != "Arkiv":
            parts.append(f"{row.parent_link}.id = @parent")
            parameters["@parent"] = self._known[row.parent]
        if only_ours and self._facts.sets_system_fields:
            parts.append("uuid = @uuid")
            parameters["@uuid"] = uuid_for(self._facts, row)
        query = Query(row.type, " && ".join(parts), parameters, order=(("id", "desc"),))
        found = [one for one in objects(self._archive, query) if one.type == row.type and _bears_names(one, row)]
        return found[-1].id if found and not only_ours else (found[0].id if found else None)


def _bears_names(one: SavedObject, row: Planned) -> bool:
    """Whether an object is the one asked for; an archive may compare texts without regard to case."""
    names = NATURAL_KEYS[row.type]
    return all(str(one.fields.get(name, "")).casefold() == str(row.fields.get(name, "")).casefold() for name in names)
