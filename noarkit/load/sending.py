"""Loads one chunk: settles what is in doubt, looks up what is there, uploads, sends, and learns the ids.

Yields outcomes in the order they become true. What a source cannot give or the archive refuses is left out bundle by
bundle; the rest of the chunk goes on. Archive faults that stop the shard are raised.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from noarkit.archive.port import Archive
from noarkit.archive.values import Action, SavedObject
from noarkit.errors import (
    ArchiveBusy,
    ArchiveConflict,
    ArchiveFault,
    ArchiveNotFound,
    ArchiveRefused,
    ArchiveStrange,
    ChecksumDiffers,
    NotAllowed,
    SourceFault,
)
from noarkit.graph.store import GraphStore, Planned
from noarkit.load import lookup
from noarkit.load.compose import compose, guarded, send, temporary_id
from noarkit.load.contents import Contents, Filed
from noarkit.load.lease import (
    BundleLeftOut,
    BytesDiffer,
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
from noarkit.load.settling import Clock, Settling, earlier_tries, lineage, remainder
from noarkit.sources.port import OF_THE_PLACE

_RECORDS = frozenset({"Basisregistrering", "Journalpost", "Moeteregistrering", "Arkivnotat"})
_FOLDERS = frozenset({"Mappe", "Saksmappe", "Moetemappe"})

_BUSY_PATIENCE_S = 300.0
_LONGEST_PAUSE_S = 30.0


@dataclass(slots=True)
class _Rest:
    """What of a chunk is still to be made, what was found on the way, and the ids of what was learned to stand."""

    entities: list[Planned]
    made: dict[int, str] = field(default_factory=dict)
    already: dict[int, str] = field(default_factory=dict)
    files: dict[int, Filed] = field(default_factory=dict)
    landed: dict[int, tuple[str, str, int]] = field(default_factory=dict)
    again: set[int] = field(default_factory=set)
    damaged: dict[int, BytesDiffer] = field(default_factory=dict)


@dataclass(slots=True)
class _Tries:
    """How often a chunk was sent, and how long it waited for an archive that was busy."""

    count: int = 0
    waited_s: float = 0.0


class ChunkLoader:
    """Loads the chunks of one lease."""

    def __init__(self, lease: Lease, archive: Archive, graph: GraphStore, contents: Contents, clock: Clock) -> None:
        self._lease = lease
        self._facts = lease.facts
        self._archive = archive
        self._graph = graph
        self._contents = contents
        self._clock = clock
        self._known = dict(lease.known)
        self._excluded = set(lease.excluded)
        self._settling = Settling(archive, lease.facts, clock, lease.guard)
        self._already_there = set(lease.already_there)
        self._finds = self._facts.rehearsal
        self._there: set[str] = set()

    def settle_all(self, tasks: Iterable[ChunkTask]) -> Iterator[Outcome]:
        """One wait for everything in doubt: after the deadline of the latest, asks which chunks are there, twice."""
        doubtful = {task.key: task.sent_at for task in tasks if task.sent_at is not None}
        if doubtful:
            names = [*doubtful, *map(remainder, doubtful)]
            yield from self._settling.told_wait(max(doubtful.values()), len(doubtful))
            self._there = self._settling.landed_in_time(names, max(doubtful.values()))

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
        if self._there & {task.key, remainder(task.key)}:
            self._learn(rest, all_sent=False)
        if not self._facts.fresh:
            yield from self._set_apart_what_is_there(task, rest)
        if (yield from self._file_contents(task, rest)):
            yield from self._send(task, rest)
        else:
            yield from self._split(task, rest)

    def _open_entities(self, task: ChunkTask) -> list[Planned]:
        rows = self._graph.between(task.first, task.last)
        found_before = self._lease.already_there
        return [
            row
            for row in rows
            if row.bundle not in self._excluded and row.n not in self._known and row.n not in found_before
        ]

    def _learn(self, rest: _Rest, *, all_sent: bool) -> None:
        """Takes over what turned out to stand, with what the archive says of the files that came with it."""
        ids = self._settling.learned(rest.entities, self._known, all_sent=all_sent)
        rest.made.update(ids)
        self._known.update(ids)
        versions = {
            ids[entity.n]: entity for entity in rest.entities if entity.n in ids and entity.type == "Dokumentversjon"
        }
        told = {one.id: one for one in lookup.objects_of_ids(self._archive, "Dokumentversjon", versions)}
        if told.keys() != versions.keys():
            raise ArchiveStrange(call="query", why="parts-missing")
        for archive_id, entity in versions.items():
            self._take_file(rest, entity, told[archive_id], self._our_sha256(rest, entity))
        rest.entities = [entity for entity in rest.entities if entity.n not in ids]

    def _our_sha256(self, rest: _Rest, entity: Planned) -> str | None:
        """The sha256 that a version should have, from the source where nobody remembers it; None where the source
        cannot say it any more, which verify will tell."""
        if entity.n in rest.files:
            return rest.files[entity.n].sha256
        content = self._graph.content(entity.n)
        if content is None or content.sha256 is not None:
            return content.sha256 if content else None
        try:
            return self._contents.sha256(content)
        except OF_THE_PLACE:
            raise
        except SourceFault:
            return None

    def _take_file(self, rest: _Rest, entity: Planned, version: SavedObject, ours: str | None) -> None:
        """Remembers the file of a version that stands, and where its checksum is not ours."""
        theirs = str(version.fields.get("sjekksum") or "").lower() or None
        file, size = version.fields.get("referanseDokumentfil"), version.fields.get("filstoerrelse")
        if entity.n in rest.files:
            filed = rest.files[entity.n]
            # a commit that came late names the upload that it was sent with, not the one made for sending it again
            rest.landed[entity.n] = (str(file or filed.id), filed.sha256, filed.size_bytes)
        elif file is not None:
            rest.landed[entity.n] = (str(file), ours or theirs or "", int(str(size or 0)))
        if ours is not None and theirs is not None and ours != theirs:
            rest.damaged[entity.n] = BytesDiffer(entity.n, entity.key, ours, theirs)

    # what is there already

    def _set_apart_what_is_there(self, task: ChunkTask, rest: _Rest) -> Iterator[Outcome]:
        there = self._owners(rest)
        if there and (self._settling.landed(lineage(task.key)) or self._landed_earlier(task.key, there)):
            # an anchor of this plan and chunk: what stands is ours, whatever was answered before
            self._learn(rest, all_sent=False)
            there = self._owners(rest)
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

    def _landed_earlier(self, key: str, there: Mapping[int, str]) -> bool:
        """Whether what stands of a chunk that is taken up again landed with an earlier try that was told as refused:
        with one that was split since, or with its own, where the anchor of that hangs on it."""
        tries = earlier_tries(key)
        own = {one for one in tries if one.replace("~", "").rstrip("+") == key.replace("~", "")}
        split = [one for one in tries if one not in own]
        return bool(self._settling.landed(split) or self._settling.bearers(own) & set(there.values()))

    def _owners(self, rest: _Rest) -> dict[int, str]:
        """What bears a source key of this chunk, by bundle."""
        bearers = {entity.key: entity for entity in rest.entities if entity.type in _RECORDS | _FOLDERS}
        owners = lookup.owners_of_keys(self._archive, self._facts.external_system, bearers)
        return {bearers[key].bundle: owner.id for key, owner in owners.items()}

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

    def _send(self, task: ChunkTask, rest: _Rest) -> Iterator[Outcome]:
        tries = _Tries()
        while True:
            composed, left_out = self._compose(task, rest)
            yield from left_out
            if not composed:
                done = self._done(task, rest, {}, settled=bool(rest.made))
                yield from rest.damaged.values()
                yield done
                _tell_damage(rest)
                return
            if rest.already:  # known as another run's before anything of ours may stand beside it
                yield ChunkDone(remainder(task.key), {}, dict(rest.already))
                rest.already.clear()
            key = remainder(task.key) if rest.made else task.key
            sent_at = self._clock.now_s()
            yield ChunkSent(task.key, sent_at)
            actions = guarded(composed, self._settling.guard, self._facts, key)
            try:
                saved = send(self._archive, actions)
            except ArchiveFault as fault:
                yield ChunkInDoubt(task.key, fault.code, sent_at)
                if fault.fate_unknown:
                    yield from self._settling.told_wait(sent_at)
                if self._landed(key, fault, sent_at):
                    self._learn(rest, all_sent=True)
                    continue
                if isinstance(fault, ArchiveRefused | ArchiveNotFound):
                    yield from self._refused(task, rest, fault, actions)
                    return
                self._wait_to_send_again(fault, tries)
                self._contents.forget(list(rest.files) if fault.fate_unknown else [])
                if not (yield from self._file_contents(task, rest)):
                    yield from self._split(task, rest)
                    return
                continue
            done = self._done(task, rest, saved)
            yield from rest.damaged.values()
            yield done
            _tell_damage(rest)
            self._prove_finding(key, actions)
            return

    def _landed(self, key: str, fault: ArchiveFault, sent_at: float) -> bool:
        """Whether what was sent stands after all. No answer but a good one is believed to say that it does not."""
        if fault.fate_unknown:
            return bool(self._settling.landed_in_time((key,), sent_at))
        return bool(self._settling.landed((key,)))

    def _wait_to_send_again(self, fault: ArchiveFault, tries: _Tries) -> None:
        """Waits before a chunk is sent once more; raises the fault where that cannot help, or was tried enough."""
        busy = isinstance(fault, ArchiveBusy) and not fault.fate_unknown
        again = fault.fate_unknown or busy or isinstance(fault, ArchiveConflict) or bool(fault.data.get("renewed"))
        patient = tries.waited_s < _BUSY_PATIENCE_S if busy else tries.count + 1 < self._facts.attempts
        if not again or not patient:
            raise fault
        pause_s = 0.0
        if isinstance(fault, ArchiveConflict):
            pause_s = min(0.05 * 2**tries.count, 5.0)
        elif busy:
            asked_s = fault.data.get("retry_after_s")
            pause_s = float(asked_s) if isinstance(asked_s, int | float) else 0.5 * 2 ** min(tries.count, 6)
        tries.count += 1
        tries.waited_s += min(pause_s, _LONGEST_PAUSE_S)
        self._clock.wait_until(self._clock.now_s() + min(pause_s, _LONGEST_PAUSE_S))

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

    def _refused(
        self, task: ChunkTask, rest: _Rest, fault: ArchiveFault, actions: Sequence[Action]
    ) -> Iterator[Outcome]:
        if len({entity.bundle for entity in rest.entities}) > 1:
            yield from self._split(task, rest)
            return
        yield self._leave_out(rest, _blamed(rest.entities, fault, actions), "refused", fault.code, fault.data)
        yield self._done(task, rest, {})

    def _split(self, task: ChunkTask, rest: _Rest) -> Iterator[Outcome]:
        """Two chunks in place of this one; what of it is known already is told first."""
        if rest.made or rest.already:
            files = {n: file for n, file in rest.landed.items() if n in rest.made}
            yield from rest.damaged.values()
            yield ChunkDone(remainder(task.key), dict(rest.made), rest.already, files)
        yield ChunkSplit(task.key, _halves(task, rest.entities))

    def _done(
        self,
        task: ChunkTask,
        rest: _Rest,
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
        guard = self._settling.guard
        if guard is not None and guard.id in saved:
            guard = self._settling.guard = Guard(guard.id, saved[guard.id].version)
        version = guard.version if guard else None
        return ChunkDone(task.key, {**rest.made, **ids}, rest.already, rest.landed, version, settled)

    def _prove_finding(self, key: str, actions: Sequence[Action]) -> None:
        """Once a lease: an account that does not find what it wrote could settle nothing. Raises NotAllowed."""
        if self._finds or not any(action.type == "EksternId" for action in actions):
            return
        name, system = self._facts.anchor(key), self._facts.anchor_system
        if not any(lookup.owners_of_keys(self._archive, system, (name,)) for _ in range(2)):
            raise NotAllowed(call="query", description=NOT_FOUND_AGAIN)
        self._finds = True


def _tell_damage(rest: _Rest) -> None:
    """Stops where the archive holds other bytes than were sent: what stands is in the journal by now."""
    for damage in rest.damaged.values():
        raise ChecksumDiffers(key=damage.key, ours=damage.ours, theirs=damage.theirs)


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
