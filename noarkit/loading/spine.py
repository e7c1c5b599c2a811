"""Loads the spine: fonds, creators, series, classification systems, classes. Finds each by natural key, or makes it.

These types bear no EksternId, so each is looked for under its parent by what names it before it is made, and again when
an answer was lost. A target that must be found and is not there is a fault of the recipe.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from noarkit.archive.paging import objects
from noarkit.archive.port import Archive
from noarkit.archive.values import Parameter, Query, SavedObject
from noarkit.errors import ArchiveFault, PlanFault
from noarkit.graph.store import GraphStore, PlannedEntity
from noarkit.loading import lookup
from noarkit.loading.compose import add_guard, compose, send, temporary_id
from noarkit.loading.lease import ChunkDone, ChunkInDoubt, ChunkSent, ChunkTask, Guard, Lease, Outcome
from noarkit.loading.lookup import uuid_for
from noarkit.loading.settling import Clock, DoubtSettler, remainder_key

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
        self._known_ids = dict(lease.known_ids)
        self._settler = DoubtSettler(archive, lease.facts, clock, lease.guard)

    def load(self, task: ChunkTask) -> Iterator[Outcome]:
        """One chunk of the spine: what is there is found, the rest is made in one transaction.

        What stood before the first sending is told before it, so that all that stands later is known as made.
        """
        rows = [row for row in self._graph.between(task.first, task.last) if row.n not in self._known_ids]
        if task.sent_at is not None:
            yield from self._settler.announce_wait(task.sent_at)
        has_landed = self._has_landed(task.key, task.sent_at) if task.sent_at is not None else False
        was_sent = task.sent_at is not None
        missing, existing = self._find_existing(rows, was_sent=was_sent)
        is_own = was_sent and (has_landed if self._settler.guard is not None else task.surely_sent)
        created_ids, already = (existing, {}) if is_own else ({}, existing)
        if already and missing:
            yield ChunkDone(remainder_key(task.key), {}, already)
            already = {}
        for attempt in range(self._facts.attempts):
            if not missing:
                break
            sent_at = self._clock.now_s()
            links = self._graph.links_between(task.first, task.last)
            composed = compose(missing, links, self._known_ids, {}, self._facts)
            yield ChunkSent(task.key, sent_at)
            actions = add_guard(composed.actions, self._settler.guard, self._facts, task.key)
            try:
                saved_objects = send(self._archive, actions)
            except ArchiveFault as fault:
                yield ChunkInDoubt(task.key, fault.code, sent_at)
                if fault.fate_unknown:
                    yield from self._settler.announce_wait(sent_at)
                self._has_landed(task.key, sent_at if fault.fate_unknown else None)
                missing, existing = self._find_existing(missing, was_sent=True)
                created_ids.update(existing)
                renewed = bool(fault.data.get("renewed"))
                if missing and (not (fault.transient or renewed) or attempt + 1 == self._facts.attempts):
                    raise
                continue
            created_ids.update({row.n: saved_objects[temporary_id(row.n)].id for row in missing})
            guard = self._settler.guard
            if guard is not None and guard.id in saved_objects:
                self._settler.guard = Guard(guard.id, saved_objects[guard.id].version)
            break
        self._known_ids.update(created_ids)
        version = self._settler.guard.version if self._settler.guard else None
        yield ChunkDone(task.key, created_ids, already, guard_version=version)

    def settle(self, task: ChunkTask) -> Iterator[Outcome]:
        """What of a chunk that may have been sent is there, made by this run or found. Sends nothing."""
        if task.sent_at is None:
            return
        yield from self._settler.announce_wait(task.sent_at)
        has_landed = self._has_landed(task.key, task.sent_at)
        rows = [row for row in self._graph.between(task.first, task.last) if row.n not in self._known_ids]
        existing = self._find_existing(rows, was_sent=True)[1]
        is_own = has_landed if self._settler.guard is not None else task.surely_sent
        if existing:
            yield ChunkDone(remainder_key(task.key), *((existing, {}) if is_own else ({}, existing)))

    def _has_landed(self, key: str, sent_at: float | None) -> bool:
        """True if the guard names this chunk; if a time of sending is given, waits for the archive's deadline first."""
        if sent_at is not None:
            self._clock.wait_until(sent_at + self._facts.deadline_s)
        return bool(self._settler.landed_chunks((key,)))

    def _find_existing(
        self, rows: list[PlannedEntity], *, was_sent: bool
    ) -> tuple[list[PlannedEntity], dict[int, str]]:
        """What is to be made, and the ids of what is there, which are known from then on. No
        single empty answer is believed."""
        missing: list[PlannedEntity] = []
        existing: dict[int, str] = {}
        new: set[int] = set()
        for row in rows:
            archive_id = None
            # what an earlier plan of the same source made bears our uuid: it is ours, and could not be made twice
            findable = row.target != "create" or was_sent or self._facts.sets_system_fields
            if row.parent not in new and findable:
                # a second one that bears our uuid would be refused; of all else an empty answer would make a double
                orders = lookup.ORDERS if row.target != "create" or was_sent else lookup.ORDERS[:1]
                for order in orders:
                    archive_id = archive_id or self._find(row, order, only_ours=row.target == "create")
            if archive_id is not None:
                existing[row.n] = self._known_ids[row.n] = archive_id
            elif row.target == "find":
                raise PlanFault(where=f"{row.type}, recipe line {row.line}", why="target-not-found")
            else:
                missing.append(row)
                new.add(row.n)
        return missing, existing

    def _find(self, row: PlannedEntity, order: lookup.SortOrder, *, only_ours: bool) -> str | None:
        names = NATURAL_KEYS[row.type]
        parts, parameters = [], dict[str, Parameter]()
        for name in names:
            parts.append(f"{name} = @{name}")
            parameters[f"@{name}"] = str(row.fields.get(name, ""))
        if row.parent is not None and row.parent_link is not None and row.type != "Arkiv":
            parts.append(f"{row.parent_link}.id = @parent")
            parameters["@parent"] = self._known_ids[row.parent]
        if only_ours and self._facts.sets_system_fields:
            parts.append("uuid = @uuid")
            parameters["@uuid"] = uuid_for(self._facts, row)
        query = Query(row.type, " && ".join(parts), parameters, order=order)
        ids = [
            match.id
            for match in objects(self._archive, query)
            if match.type == row.type and _has_same_names(match, row)
        ]
        if not ids:
            return None
        # of what stands before us the oldest, of what we made the newest
        return (max if only_ours else min)(ids, key=lambda object_id: (len(object_id), object_id))


def _has_same_names(saved_object: SavedObject, row: PlannedEntity) -> bool:
    """True if an object has the natural key of a row, ignoring case, since an archive may search so."""
    names = NATURAL_KEYS[row.type]
    return all(
        str(saved_object.fields.get(name, "")).casefold() == str(row.fields.get(name, "")).casefold() for name in names
    )
