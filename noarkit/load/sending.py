"""Loads one chunk: settles what is in doubt, looks up what is there, uploads, sends, and learns the ids.

Yields outcomes in the order they become true. What a source cannot give or the archive refuses is left out bundle by
bundle; the rest of the chunk goes on. Archive faults that stop the shard are raised.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from noarkit.archive.port import Archive
from noarkit.archive.values import Action, Query, SavedObject
from noarkit.errors import (
    ArchiveConflict,
    ArchiveFault,
    ArchiveNotFound,
    ArchiveRefused,
    ChecksumDiffers,
    NotAllowed,
)
from noarkit.graph.store import GraphStore, Planned
from noarkit.load import lookup
from noarkit.load.compose import compose, guarded, temporary_id
from noarkit.load.contents import Contents, Filed
from noarkit.load.lease import (
    BundleLeftOut,
    ChunkDone,
    ChunkInDoubt,
    ChunkSent,
    ChunkSplit,
    ChunkTask,
    Guard,
    Lease,
    Outcome,
)
from noarkit.load.preflight import NOT_FOUND_AGAIN
from noarkit.load.revisit import changed_versions

_RECORDS = frozenset({"Basisregistrering", "Journalpost", "Moeteregistrering", "Arkivnotat"})
_FOLDERS = frozenset({"Mappe", "Saksmappe", "Moetemappe"})

Wait = Callable[[float], None]


@dataclass(slots=True)
class _Rest:
    """What of a chunk is still to be made, and what was found on the way."""

    entities: list[Planned]
    already: dict[int, str] = field(default_factory=dict)
    files: dict[int, Filed] = field(default_factory=dict)
    landed: dict[int, tuple[str, str, int]] = field(default_factory=dict)
    again: set[int] = field(default_factory=set)
    damaged: ChecksumDiffers | None = None


class ChunkLoader:
    """Loads the chunks of one lease. `wait_until` sleeps until a wall-clock time, or raises where the run must stop."""

    def __init__(self, lease: Lease, archive: Archive, graph: GraphStore, contents: Contents, clock: Clock) -> None:
        self._lease = lease
        self._facts = lease.facts
        self._archive = archive
        self._graph = graph
        self._contents = contents
        self._clock = clock
        self._known = dict(lease.known)
        self._excluded = set(lease.excluded)
        self._guard = lease.guard
        self._already_there = set(lease.already_there)
        self._finds = self._facts.rehearsal
        self._settled_keys: set[str] = set()
        self._there: set[str] = set()

    def settle_all(self, tasks: Iterable[ChunkTask]) -> None:
        """One wait for everything in doubt: after the deadline of the latest, asks which chunks are there, twice."""
        doubtful = {task.key: task.sent_at for task in tasks if task.sent_at is not None}
        if not doubtful:
            return
        self._clock.wait_until(max(doubtful.values()) + self._facts.deadline_s)
        self._settled_keys = set(doubtful)
        self._there = self._anchored(doubtful)
        if len(self._there) < len(doubtful):
            self._clock.wait_until(self._clock.now_s() + self._facts.settle_pause_s)
            self._there |= self._anchored(doubtful)
        self._guard = lookup.guard_now(self._archive, self._guard)

    def load(self, task: ChunkTask) -> Iterator[Outcome]:
        """One chunk, to its last half."""
        waiting = [task]
        while waiting:
            for outcome in self._load(waiting.pop()):
                if isinstance(outcome, ChunkSplit):
                    waiting.extend(reversed(outcome.halves))
                yield outcome

    def _load(self, task: ChunkTask) -> Iterator[Outcome]:
        rest = _Rest(self._open_entities(task))
        made: dict[int, str] = {}
        if task.sent_at is not None:
            if task.key not in self._settled_keys:
                made = self._settle(task, rest.entities, task.sent_at)
            elif task.key in self._there:
                made = self._learn(rest.entities)
            self._learned(made, rest)
        if not self._facts.fresh:
            yield from self._set_apart_what_is_there(rest)
        if (yield from self._file_contents(task, rest)):
            yield from self._send(task, rest, made)
        else:
            yield from self._split(task, rest, made)

    def _open_entities(self, task: ChunkTask) -> list[Planned]:
        rows = self._graph.between(task.first, task.last)
        return [row for row in rows if row.bundle not in self._excluded and row.n not in self._known]

    def _learned(self, ids: Mapping[int, str], rest: _Rest) -> None:
        """Takes over what turned out to stand, with what the archive says of the files that came with it."""
        self._known.update(ids)
        versions = {
            ids[entity.n]: entity for entity in rest.entities if entity.n in ids and entity.type == "Dokumentversjon"
        }
        for one in lookup.objects_of_ids(self._archive, "Dokumentversjon", versions):
            entity = versions[one.id]
            content = self._graph.content(entity.n)
            ours = rest.files[entity.n].sha256 if entity.n in rest.files else content.sha256 if content else None
            self._take_file(rest, entity, one, ours)
        rest.entities = [entity for entity in rest.entities if entity.n not in ids]

    def _take_file(self, rest: _Rest, entity: Planned, version: SavedObject, ours: str | None) -> None:
        """Remembers the file of a version that stands, and where its checksum is not ours."""
        theirs = str(version.fields.get("sjekksum") or "").lower() or None
        file, size = version.fields.get("referanseDokumentfil"), version.fields.get("filstoerrelse")
        if entity.n in rest.files:
            filed = rest.files[entity.n]
            rest.landed[entity.n] = (filed.id, filed.sha256, filed.size_bytes)
        elif file is not None:
            rest.landed[entity.n] = (str(file), ours or theirs or "", int(str(size or 0)))
        if ours is not None and theirs is not None and ours != theirs:
            rest.damaged = rest.damaged or ChecksumDiffers(key=entity.key, ours=ours, theirs=theirs)

    # what is there already

    def _set_apart_what_is_there(self, rest: _Rest) -> Iterator[Outcome]:
        bearers = {entity.key: entity for entity in rest.entities if entity.type in _RECORDS | _FOLDERS}
        owners = lookup.owners_of_keys(self._archive, self._facts.external_system, bearers)
        there = {bearers[key].bundle: owner.id for key, owner in owners.items()}
        # the rest of a bundle that earlier chunks began and found
        begun = {entity.bundle for entity in rest.entities} & self._already_there
        there.update({bundle: self._known[bundle] for bundle in begun if bundle in self._known})
        if not there:
            return
        self._already_there.update(there)
        records = {n: one for n, one in there.items() if self._graph.entity(n).type in _RECORDS}
        revisit = [entity for entity in rest.entities if entity.bundle in there]
        revisited, faults = changed_versions(self._archive, self._contents, self._graph, revisit, records)
        for n, fault in faults.items():
            entity = next(entity for entity in revisit if entity.n == n)
            if entity.bundle not in self._excluded:
                yield self._leave_out(rest, entity, "set_aside", fault.code, fault.data)
        self._known.update(there)
        self._known.update(revisited.known)
        rest.again = {entity.n for entity in revisit if entity.type == "Dokumentversjon"} & revisited.new
        for entity in revisit:
            if entity.n not in revisited.new and entity.bundle not in self._excluded:
                rest.already[entity.n] = self._known.get(entity.n, "")
        rest.entities = [entity for entity in rest.entities if entity.bundle not in there or entity.n in revisited.new]

    # contents

    def _file_contents(self, task: ChunkTask, rest: _Rest) -> Generator[Outcome, None, bool]:
        """Uploads what is to be linked. False where it took so long that the first are too old again: then less at a
        time may do."""
        open_ones = {entity.n: entity for entity in rest.entities if entity.type == "Dokumentversjon"}
        contents = self._graph.contents_between(task.first, task.last) if open_ones else {}
        wanted = {n: content for n, content in contents.items() if n in open_ones}
        one_bundle = len({entity.bundle for entity in rest.entities}) == 1
        for _ in range(2 if one_bundle else 1):
            rest.files, faults = self._contents.file(wanted)
            for n, fault in faults.items():
                if open_ones[n].bundle not in self._excluded:
                    state = "refused" if isinstance(fault, ArchiveRefused) else "set_aside"
                    yield self._leave_out(rest, open_ones[n], state, fault.code, fault.data)
            if not self._contents.stale(rest.files):
                return True
        return one_bundle

    def _leave_out(
        self, rest: _Rest, blamed: Planned, state: str, code: str, data: Mapping[str, object]
    ) -> BundleLeftOut:
        """Leaves the bundle of an entity out, which is to blame."""
        self._excluded.add(blamed.bundle)
        rest.entities = [entity for entity in rest.entities if entity.bundle != blamed.bundle]
        told = {**data, "type": blamed.type, "key": blamed.key, "line": blamed.line}
        return BundleLeftOut(blamed.bundle, state, code, told)

    # sending

    def _send(self, task: ChunkTask, rest: _Rest, made: dict[int, str]) -> Iterator[Outcome]:
        last: ArchiveFault | None = None
        for attempt in range(self._facts.attempts):
            composed, left_out = self._compose(task, rest)
            yield from left_out
            if not composed:
                yield self._done(task, rest, made, {}, settled=bool(made))
                self._tell_damage(rest)
                return
            sent_at = self._clock.now_s()
            yield ChunkSent(task.key, sent_at)
            actions = guarded(composed, self._guard, self._facts, task.key)
            try:
                saved = self._archive.transaction(actions)
            except (ArchiveRefused, ArchiveNotFound) as fault:
                yield from self._refused(task, rest, made, fault, actions)
                return
            except ArchiveFault as fault:
                last = fault
                found = yield from self._after(task, rest, fault, sent_at, attempt)
                made.update(found)
                self._learned(found, rest)
                self._contents.forget(list(rest.files) if fault.fate_unknown else [])
                if not (yield from self._file_contents(task, rest)):
                    yield from self._split(task, rest, made)
                    return
                continue
            yield self._done(task, rest, made, saved)
            self._tell_damage(rest)
            self._prove_finding(task, actions)
            return
        if last is not None:
            raise last

    def _compose(self, task: ChunkTask, rest: _Rest) -> tuple[tuple[Action, ...], list[Outcome]]:
        left_out: list[Outcome] = []
        links = self._graph.links_between(task.first, task.last)
        while True:
            files = {n: filed.id for n, filed in rest.files.items()}
            again = frozenset(rest.again)
            composed = compose(rest.entities, links, self._known, files, self._facts, again=again)
            if not composed.orphans:
                return composed.actions, left_out
            for entity in [entity for entity in rest.entities if entity.n in composed.orphans]:
                if entity.bundle not in self._excluded:
                    left_out.append(self._leave_out(rest, entity, "refused", "F332", {}))

    def _after(
        self, task: ChunkTask, rest: _Rest, fault: ArchiveFault, sent_at: float, attempt: int
    ) -> Generator[Outcome, None, dict[int, str]]:
        """What to do about a transaction that got no good answer; returns the ids it turns out to have made."""
        if fault.fate_unknown:
            yield ChunkInDoubt(task.key, fault.code, sent_at)
            return self._settle(task, rest.entities, sent_at)
        if isinstance(fault, ArchiveConflict):
            if self._anchored((task.key,)):
                return self._learn(rest.entities)
            self._guard = lookup.guard_now(self._archive, self._guard)
            self._clock.wait_until(self._clock.now_s() + min(0.05 * 2**attempt, 5.0))
            return {}
        raise fault

    def _refused(
        self, task: ChunkTask, rest: _Rest, made: dict[int, str], fault: ArchiveFault, actions: Sequence[Action]
    ) -> Iterator[Outcome]:
        if len({entity.bundle for entity in rest.entities}) > 1:
            yield from self._split(task, rest, made)
            return
        yield self._leave_out(rest, _blamed(rest.entities, fault, actions), "refused", fault.code, fault.data)
        yield self._done(task, rest, made, {})

    def _split(self, task: ChunkTask, rest: _Rest, made: dict[int, str]) -> Iterator[Outcome]:
        """Two chunks in place of this one; what of it is known already is told first."""
        if made or rest.already:
            files = {n: file for n, file in rest.landed.items() if n in made}
            yield ChunkDone(task.key + "+", {n: self._known[n] for n in made}, rest.already, files)
        yield ChunkSplit(task.key, _halves(task, rest.entities))

    def _done(
        self,
        task: ChunkTask,
        rest: _Rest,
        made: dict[int, str],
        saved: Mapping[str, SavedObject],
        *,
        settled: bool = False,
    ) -> ChunkDone:
        ids = {entity.n: saved[temporary_id(entity.n)].id for entity in rest.entities} if saved else {}
        self._known.update(ids)
        for entity in rest.entities if saved else ():
            if entity.n in rest.files:
                self._take_file(rest, entity, saved[temporary_id(entity.n)], rest.files[entity.n].sha256)
        self._contents.forget(list(rest.files))
        if self._guard is not None and self._guard.id in saved:
            self._guard = Guard(self._guard.id, saved[self._guard.id].version)
        version = self._guard.version if self._guard else None
        return ChunkDone(task.key, {**made, **ids}, rest.already, rest.landed, version, settled)

    def _tell_damage(self, rest: _Rest) -> None:
        """Stops where the archive holds other bytes than were sent: what stands is in the journal by now."""
        if rest.damaged is not None:
            raise rest.damaged

    # settling

    def _prove_finding(self, task: ChunkTask, actions: Sequence[Action]) -> None:
        """Once a lease: an account that does not find what it wrote could settle nothing. Raises NotAllowed."""
        if self._finds or not any(action.type == "EksternId" for action in actions):
            return
        name = self._facts.anchor(task.key)
        if not lookup.owners_of_keys(self._archive, self._facts.anchor_system, (name,)):
            raise NotAllowed(call="query", description=NOT_FOUND_AGAIN)
        self._finds = True

    def _settle(self, task: ChunkTask, entities: Sequence[Planned], sent_at: float) -> dict[int, str]:
        """Waits out the archive's deadline, asks, and asks once more; the ids where the chunk is there."""
        self._clock.wait_until(sent_at + self._facts.deadline_s)
        if not self._anchored((task.key,)):
            self._clock.wait_until(self._clock.now_s() + self._facts.settle_pause_s)
            if not self._anchored((task.key,)):
                self._guard = lookup.guard_now(self._archive, self._guard)
                return {}
        self._guard = lookup.guard_now(self._archive, self._guard)
        return self._learn(entities)

    def _anchored(self, keys: Iterable[str]) -> set[str]:
        """Which of these chunks are in the archive, by their anchors or by what the guard says last landed."""
        names = {self._facts.anchor(key): key for key in keys}
        there = {names[name] for name in lookup.owners_of_keys(self._archive, self._facts.anchor_system, names)}
        if self._guard is not None:
            guards = self._archive.query(Query(lookup.GUARD_TYPE, "id = @id", {"@id": self._guard.id}, limit=1)).objects
            last = [str(guard.fields.get("beskrivelse")) for guard in guards]
            there.update(names[name] for name in last if name in names)
        return there

    def _learn(self, entities: Sequence[Planned]) -> dict[int, str]:
        """The ids of a chunk that is known to be there; NotAllowed where the account sees nothing of it."""
        if self._facts.sets_system_fields:
            found = lookup.ids_by_uuid(self._archive, self._facts, entities)
        else:
            found = lookup.ids_by_nature(self._archive, self._facts, entities, self._known)
        if entities and not found:
            raise NotAllowed(call="query", description=NOT_FOUND_AGAIN)
        return found


@dataclass(frozen=True, slots=True)
class Clock:
    """Time as the worker sees it: the wall clock, and a sleep that raises where the run must stop."""

    now_s: Callable[[], float]
    wait_until: Wait


def _blamed(entities: Sequence[Planned], fault: ArchiveFault, actions: Sequence[Action]) -> Planned:
    """The entity that a refusal names by its action, else the first of them."""
    place = fault.data.get("action")
    named = actions[place].id if isinstance(place, int) and place < len(actions) else ""
    return next((entity for entity in entities if temporary_id(entity.n) == named), entities[0])


def _halves(task: ChunkTask, entities: Iterable[Planned]) -> tuple[ChunkTask, ...]:
    """Two chunks in place of one, cut between bundles, with sub-keys that the cut decides."""
    rows = list(entities)
    bundles = sorted({(row.unit, row.bundle) for row in rows})
    middle = bundles[len(bundles) // 2]
    left = [(row.unit, row.bundle, row.n) for row in rows if (row.unit, row.bundle) < middle]
    right = [(row.unit, row.bundle, row.n) for row in rows if (row.unit, row.bundle) >= middle]
    return (
        ChunkTask(f"{task.key}.0", task.first, max(left)),
        ChunkTask(f"{task.key}.1", min(right), task.last),
    )
