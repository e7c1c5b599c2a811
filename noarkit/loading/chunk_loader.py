"""Loads a chunk: settles its doubts, looks up what exists, uploads files, sends the transaction, keeps the ids.

Yields outcomes in the order they become true. What a source cannot give or the archive refuses is left out bundle by
bundle; the rest of the chunk goes on. Archive faults that stop the shard are raised.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

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
from noarkit.graph.entity import CreationMode
from noarkit.graph.store import GraphStore, PlannedEntity
from noarkit.loading import lookup
from noarkit.loading.compose import add_guard, compose, send, temporary_id
from noarkit.loading.contents import ContentUploader, UploadedFile
from noarkit.loading.cutting import find_refused_entity, split_task
from noarkit.loading.finder import find_planned
from noarkit.loading.lease import (
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
from noarkit.loading.preflight import NOT_FOUND_AGAIN
from noarkit.loading.revisit import DocumentComparison
from noarkit.loading.settling import Clock, DoubtSettler, related_keys, remainder_key, whole_keys
from noarkit.loading.version_numbers import numbers_of_remade, numbers_with_copies
from noarkit.records import PLACE_FAULTS

_RECORDS = frozenset({"Basisregistrering", "Journalpost", "Moeteregistrering", "Arkivnotat"})
_FOLDERS = frozenset({"Mappe", "Saksmappe", "Moetemappe"})

_BUSY_PATIENCE_S = 300.0
_LONGEST_PAUSE_S = 30.0


@dataclass(slots=True)
class _ChunkState:
    """The state of a chunk while it is loaded: entities still to be made, ids made or found, uploaded files."""

    entities: list[PlannedEntity]
    created_ids: dict[int, str] = field(default_factory=dict)
    existing_ids: dict[int, str] = field(default_factory=dict)
    files: dict[int, UploadedFile] = field(default_factory=dict)
    landed_files: dict[int, tuple[str, str, int]] = field(default_factory=dict)
    named_by_plan: set[int] = field(default_factory=set)
    damaged: dict[int, BytesDiffer] = field(default_factory=dict)


@dataclass(slots=True)
class _SendAttempts:
    """How often a chunk was sent, and how long it waited for an archive that was busy."""

    count: int = 0
    waited_s: float = 0.0


class ChunkLoader:
    """Loads the chunks of one lease."""

    def __init__(
        self, lease: Lease, archive: Archive, graph: GraphStore, contents: ContentUploader, clock: Clock
    ) -> None:
        self._lease = lease
        self._facts = lease.facts
        self._archive = archive
        self._graph = graph
        self._contents = contents
        self._clock = clock
        # Copies that grow while the lease runs: later chunks refer to what earlier ones made, without asking the
        # coordinator.
        self._known_ids = dict(lease.known_ids)
        self._excluded = set(lease.excluded)
        self._settler = DoubtSettler(archive, lease.facts, clock, lease.guard)
        self._already_there = set(lease.already_there)
        self._lookup_is_proven = self._facts.rehearsal
        self._landed_keys: set[str] = set()

    def settle_all(self, tasks: Iterable[ChunkTask]) -> Iterator[Outcome]:
        """Settles all chunks in doubt with one wait: after the latest deadline, asks twice which of them are there."""
        doubtful = {task.key: task.sent_at for task in tasks if task.sent_at is not None}
        if doubtful:
            names = list(dict.fromkeys(name for key in doubtful for name in related_keys(key)))
            yield from self._settler.announce_wait(max(doubtful.values()), len(doubtful))
            self._landed_keys = self._settler.landed_after_deadline(names, max(doubtful.values()))

    def take_over(self, task: ChunkTask) -> Iterator[Outcome]:
        """Takes over what `settle_all` found of a chunk in the archive. Sends nothing; a chunk of which all is there is
        done."""
        chunk_state = _ChunkState(self._open_entities(task))
        yield from self._take_over_found(chunk_state)
        if self._landed_keys & set(related_keys(task.key)):
            self._take_over_landed(chunk_state, all_sent=False)
        if chunk_state.entities and not (chunk_state.created_ids or chunk_state.existing_ids):
            return
        outcome = self._chunk_done(task, chunk_state, {}, was_settled=bool(chunk_state.created_ids))
        yield from chunk_state.damaged.values()
        yield replace(outcome, chunk=remainder_key(task.key)) if chunk_state.entities else outcome

    def load(self, task: ChunkTask) -> Iterator[Outcome]:
        """Loads one chunk; where the archive refuses it, its halves, down to single bundles."""
        waiting = [task]
        while waiting:
            for outcome in self._load(waiting.pop()):
                if isinstance(outcome, ChunkSplit):
                    waiting.extend(reversed(outcome.halves))
                yield outcome

    def _load(self, task: ChunkTask) -> Iterator[Outcome]:
        chunk_state = _ChunkState(self._open_entities(task))
        yield from self._take_over_found(chunk_state)
        if self._landed_keys & {task.key, remainder_key(task.key)}:
            self._take_over_landed(chunk_state, all_sent=False)
        # Invariant 6: source keys are looked up before the first send. In an archive that held nothing of this system
        # when the run began, there is nothing to find, and the queries are saved; but for halves of what was refused,
        # which may have been committed all the same.
        if not self._facts.fresh or whole_keys(task.key):
            yield from self._split_off_existing(task, chunk_state)
        if (yield from self._upload_contents(task, chunk_state)):
            yield from self._send(task, chunk_state)
        else:
            yield from self._split(task, chunk_state)

    def _open_entities(self, task: ChunkTask) -> list[PlannedEntity]:
        # What has an id already is not sent again: after a crash the remainder of a chunk is an ordinary chunk.
        rows = self._graph.between(task.first, task.last)
        found_before = self._lease.already_there
        return [
            row
            for row in rows
            if row.bundle not in self._excluded and row.n not in self._known_ids and row.n not in found_before
        ]

    def _take_over_found(self, chunk_state: _ChunkState) -> Iterator[Outcome]:
        """Takes over the ids of what is to be found in the archive; a bundle that lacks it there is left out."""
        ids, missing = find_planned(self._archive, self._facts, chunk_state.entities)
        self._known_ids.update(ids)
        chunk_state.existing_ids.update(ids)
        chunk_state.entities = [entity for entity in chunk_state.entities if entity.n not in ids]
        for entity in missing:
            yield self._leave_out(chunk_state, entity, "refused", ArchiveNotFound.code, {"call": "query"})

    def _take_over_landed(self, chunk_state: _ChunkState, *, all_sent: bool) -> None:
        """Takes over the entities that turned out to be in the archive: their ids, and the files of their versions."""
        ids = self._settler.landed_ids(chunk_state.entities, self._known_ids, all_sent=all_sent)
        chunk_state.created_ids.update(ids)
        self._known_ids.update(ids)
        versions = {
            ids[entity.n]: entity
            for entity in chunk_state.entities
            if entity.n in ids and entity.type == "Dokumentversjon"
        }
        versions_by_id = {
            version.id: version for version in lookup.objects_of_ids(self._archive, "Dokumentversjon", versions)
        }
        # Without the versions' own answer neither the file id nor the checksum is known; guessing either would hide
        # damage.
        if versions_by_id.keys() != versions.keys():
            raise ArchiveStrange(call="query", why="parts-missing")
        for archive_id, entity in versions.items():
            self._record_file(chunk_state, entity, versions_by_id[archive_id], self._our_sha256(chunk_state, entity))
        chunk_state.entities = [entity for entity in chunk_state.entities if entity.n not in ids]

    def _our_sha256(self, chunk_state: _ChunkState, entity: PlannedEntity) -> str | None:
        """The sha256 that a version should have, from the source where nobody remembers it; None if the source
        cannot say it any more, which verify will tell."""
        if entity.n in chunk_state.files:
            return chunk_state.files[entity.n].sha256
        content = self._graph.content(entity.n)
        if content is None or content.sha256 is not None:
            return content.sha256 if content else None
        try:
            return self._contents.sha256(content)
        # A source that is gone as a whole stops the run; only one file that cannot be read is verify's business.
        except PLACE_FAULTS:
            raise
        except SourceFault:
            return None

    def _record_file(
        self, chunk_state: _ChunkState, entity: PlannedEntity, version: SavedObject, expected_sha256: str | None
    ) -> None:
        """Records the archived file of a version, and as damage a checksum that is not the expected one."""
        # Invariant 8: the checksum that the archive returns must equal ours. It is kept as damage here, not raised: the
        # objects are in the archive, so their ids must reach the journal first.
        archive_sha256 = str(version.fields.get("sjekksum") or "").lower() or None
        file, size = version.fields.get("referanseDokumentfil"), version.fields.get("filstoerrelse")
        if entity.n in chunk_state.files:
            upload = chunk_state.files[entity.n]
            # a commit that came late names the upload that it was sent with, not the one made for sending it again
            chunk_state.landed_files[entity.n] = (str(file or upload.id), upload.sha256, upload.size_bytes)
        elif file is not None:
            chunk_state.landed_files[entity.n] = (
                str(file),
                expected_sha256 or archive_sha256 or "",
                int(str(size or 0)),
            )
        if expected_sha256 is not None and archive_sha256 is not None and expected_sha256 != archive_sha256:
            chunk_state.damaged[entity.n] = BytesDiffer(entity.n, entity.key, expected_sha256, archive_sha256)

    # what is there already

    def _split_off_existing(self, task: ChunkTask, chunk_state: _ChunkState) -> Iterator[Outcome]:
        # Who owns the source keys that are found? Either this run, in a send whose answer was lost or wrong, or another
        # run. Only the second is «already there»; the anchor tells them apart.
        owner_ids = self._owners(chunk_state)
        if owner_ids and (
            self._settler.landed_chunks(related_keys(task.key)) or self._settler.landed_earlier(task.key, owner_ids)
        ):
            # an anchor of this plan and chunk: what stands is ours, whatever was answered before
            self._take_over_landed(chunk_state, all_sent=False)
            owner_ids = self._owners(chunk_state)
        # the rest of a bundle that earlier chunks began and found
        begun_bundles = {
            bundle
            for bundle in {entity.bundle for entity in chunk_state.entities} & self._already_there
            if self._graph.entity(bundle).target != CreationMode.FIND  # what was to be found is no other run's load
        }
        owner_ids.update({bundle: self._known_ids[bundle] for bundle in begun_bundles if bundle in self._known_ids})
        if not owner_ids:
            return
        self._already_there.update(owner_ids)
        # What another run loaded is not touched, but a record's source may have new versions since; those alone are
        # added.
        records = {n: owner_id for n, owner_id in owner_ids.items() if self._graph.entity(n).type in _RECORDS}
        revisit = [entity for entity in chunk_state.entities if entity.bundle in owner_ids]
        comparison = DocumentComparison(self._archive, self._contents, self._graph, self._facts, self._known_ids)
        revisited, faults = comparison.changes(revisit, records)
        for n, fault in faults.items():
            entity = next(entity for entity in revisit if entity.n == n)
            if entity.bundle not in self._excluded:
                yield self._leave_out(chunk_state, entity, "set_aside", fault.code, fault.data)
        self._known_ids.update(owner_ids)
        self._known_ids.update(revisited.known_ids)
        again = {entity.n for entity in revisit if entity.type in lookup.MADE_AGAIN}
        chunk_state.named_by_plan = (again | revisited.renamed) & revisited.new
        for entity in revisit:
            if entity.n not in revisited.new and entity.bundle not in self._excluded:
                chunk_state.existing_ids[entity.n] = self._known_ids.get(entity.n, "")
        chunk_state.entities = [
            entity for entity in chunk_state.entities if entity.bundle not in owner_ids or entity.n in revisited.new
        ]

    def _owners(self, chunk_state: _ChunkState) -> dict[int, str]:
        """The archive's ids of objects that have a source key of this chunk, by bundle."""
        bearers = {entity.key: entity for entity in chunk_state.entities if entity.type in _RECORDS | _FOLDERS}
        system, witness = self._facts.external_system, self._facts.witness
        owners = lookup.surely_owners_of_keys(self._archive, system, bearers, witness)
        return {bearers[key].bundle: owner.id for key, owner in owners.items()}

    # contents

    def _upload_contents(self, task: ChunkTask, chunk_state: _ChunkState) -> Generator[Outcome, None, bool]:
        """Uploads the files of a chunk. False if it took so long that the first uploads are too old again: the chunk
        should then be split."""
        open_ones = {entity.n: entity for entity in chunk_state.entities if entity.type == "Dokumentversjon"}
        contents = self._graph.contents_between(task.first, task.last) if open_ones else {}
        open_contents = {n: content for n, content in contents.items() if n in open_ones}
        one_bundle = len({entity.bundle for entity in chunk_state.entities}) == 1
        # Invariant 9: uploads older than 50 minutes may be swept. A chunk of many bundles is then halved; a single
        # bundle cannot be, so it gets one more round and is sent with what it has.
        for _ in range(2 if one_bundle else 1):
            chunk_state.files, faults = self._contents.upload_all(open_contents)
            for n, fault in faults.items():
                if open_ones[n].bundle not in self._excluded:
                    state = "refused" if isinstance(fault, ArchiveRefused) else "set_aside"
                    yield self._leave_out(chunk_state, open_ones[n], state, fault.code, fault.data)
            if not self._contents.is_stale(chunk_state.files):
                return True
        return one_bundle

    def _leave_out(
        self, chunk_state: _ChunkState, blamed: PlannedEntity, state: str, code: str, data: Mapping[str, object]
    ) -> BundleLeftOut:
        """Leaves out the bundle of the entity that is to blame."""
        # A bundle is left out whole, with its fault: a record without one of its documents would be a silent loss.
        self._excluded.add(blamed.bundle)
        chunk_state.entities = [entity for entity in chunk_state.entities if entity.bundle != blamed.bundle]
        fault_data = {**data, "type": blamed.type, "key": blamed.key, "line": blamed.line}
        return BundleLeftOut(blamed.bundle, state, code, fault_data)

    # sending

    def _send(self, task: ChunkTask, chunk_state: _ChunkState) -> Iterator[Outcome]:
        """Sends the transaction of a chunk until it is known to stand, is refused, or must be split."""
        tries = _SendAttempts()
        while True:
            composed, left_out = self._compose(task, chunk_state)
            yield from left_out
            if not composed:
                outcome = self._chunk_done(task, chunk_state, {}, was_settled=bool(chunk_state.created_ids))
                yield from chunk_state.damaged.values()
                yield outcome
                _raise_damage(chunk_state)
                return
            if chunk_state.existing_ids:  # known as another run's before anything of ours may stand beside it
                yield ChunkDone(remainder_key(task.key), {}, dict(chunk_state.existing_ids))
                chunk_state.existing_ids.clear()
            # What was taken over landed under the chunk's own anchor; the rest needs another, or that anchor would
            # vouch for it.
            key = remainder_key(task.key) if chunk_state.created_ids else task.key
            sent_at = self._clock.now_s()
            # Before the request, so that a worker lost during it leaves the time of sending behind. The intent itself
            # has been durable since the lease was given (invariant 1).
            yield ChunkSent(task.key, sent_at)
            actions = add_guard(composed, self._settler.guard, self._facts, key)
            try:
                saved_objects = send(self._archive, actions)
            except ArchiveFault as fault:
                # Every fault counts as doubt, refusals too: a proxy may answer for an archive that has committed. Hence
                # «settle, never resend first» (invariant 5), whatever the fault says.
                yield ChunkInDoubt(task.key, fault.code, sent_at)
                if fault.fate_unknown:
                    yield from self._settler.announce_wait(sent_at)
                if self._has_landed(key, fault, sent_at):
                    # Round again with what is left, usually nothing: then `_compose` is empty and the chunk is done.
                    self._take_over_landed(chunk_state, all_sent=True)
                    continue
                if isinstance(fault, ArchiveRefused | ArchiveNotFound):
                    yield from self._handle_refusal(task, chunk_state, fault, actions)
                    return
                self._wait_to_send_again(fault, tries)
                # An upload of unknown fate might be linked already by a commit to come; a second link to it must not
                # exist.
                self._contents.forget(list(chunk_state.files) if fault.fate_unknown else [])
                if not (yield from self._upload_contents(task, chunk_state)):
                    yield from self._split(task, chunk_state)
                    return
                continue
            outcome = self._chunk_done(task, chunk_state, saved_objects)
            yield from chunk_state.damaged.values()
            yield outcome
            _raise_damage(chunk_state)
            # After the outcome, so that what is in the archive is in the journal even if this raises.
            self._prove_lookup(key, actions)
            return

    def _has_landed(self, key: str, fault: ArchiveFault, sent_at: float) -> bool:
        """True if a transaction landed although its answer was a fault. The archive is asked, whatever the fault."""
        # A plain refusal ends the transaction at once, so it needs no wait; only a lost answer can still be followed by
        # a commit.
        if fault.fate_unknown:
            return bool(self._settler.landed_after_deadline((key,), sent_at))
        return bool(self._settler.landed_chunks((key,)))

    def _wait_to_send_again(self, fault: ArchiveFault, tries: _SendAttempts) -> None:
        """Waits before a chunk is sent once more; raises the fault where that cannot help, or was tried enough."""
        busy = isinstance(fault, ArchiveBusy) and not fault.fate_unknown
        again = fault.fate_unknown or busy or isinstance(fault, ArchiveConflict) or bool(fault.data.get("renewed"))
        # A busy archive is given time, not attempts: it took nothing, so asking often does no harm. Conflicts and lost
        # answers are counted, for each of them may mean that something is wrong.
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

    def _compose(self, task: ChunkTask, chunk_state: _ChunkState) -> tuple[tuple[Action, ...], list[Outcome]]:
        left_out: list[Outcome] = []
        links = self._graph.links_between(task.first, task.last)
        numbers: dict[int, int] = {}
        if self._facts.sets_system_fields:
            entities, known_ids = chunk_state.entities, self._known_ids
            numbers = numbers_of_remade(self._archive, self._graph, self._facts, entities, known_ids)
            numbers |= numbers_with_copies(self._archive, self._graph, entities, known_ids)
        while True:
            files = {n: upload.id for n, upload in chunk_state.files.items()}
            # Leaving out one bundle may orphan what refers to it, so it is composed again until nothing dangles.
            again = frozenset(chunk_state.named_by_plan)
            composed = compose(
                chunk_state.entities, links, self._known_ids, files, self._facts, again=again, numbers=numbers
            )
            if not composed.orphans:
                return composed.actions, left_out
            for entity in [entity for entity in chunk_state.entities if entity.n in composed.orphans]:
                if entity.bundle not in self._excluded:
                    left_out.append(self._leave_out(chunk_state, entity, "refused", "F332", {}))

    def _handle_refusal(
        self, task: ChunkTask, chunk_state: _ChunkState, fault: ArchiveFault, actions: Sequence[Action]
    ) -> Iterator[Outcome]:
        # Halving finds the refused bundle in some log2(n) steps, and all beside it is loaded. With one bundle left,
        # the blame is certain.
        if len({entity.bundle for entity in chunk_state.entities}) > 1:
            yield from self._split(task, chunk_state)
            return
        yield self._leave_out(
            chunk_state, find_refused_entity(chunk_state.entities, fault, actions), "refused", fault.code, fault.data
        )
        yield self._chunk_done(task, chunk_state, {})

    def _split(self, task: ChunkTask, chunk_state: _ChunkState) -> Iterator[Outcome]:
        """Replaces the chunk by its two halves, after an outcome for what of it is known already."""
        if chunk_state.created_ids or chunk_state.existing_ids:
            files = {n: file for n, file in chunk_state.landed_files.items() if n in chunk_state.created_ids}
            yield from chunk_state.damaged.values()
            yield ChunkDone(remainder_key(task.key), dict(chunk_state.created_ids), chunk_state.existing_ids, files)
        rows = self._graph.between(task.first, task.last)
        yield ChunkSplit(task.key, split_task(task, chunk_state.entities, rows))

    def _chunk_done(
        self,
        task: ChunkTask,
        chunk_state: _ChunkState,
        saved_objects: Mapping[str, SavedObject],
        *,
        was_settled: bool = False,
    ) -> ChunkDone:
        ids = (
            {entity.n: saved_objects[temporary_id(entity.n)].id for entity in chunk_state.entities}
            if saved_objects
            else {}
        )
        self._known_ids.update(ids)
        for entity in chunk_state.entities if saved_objects else ():
            if entity.n in chunk_state.files:
                self._record_file(
                    chunk_state, entity, saved_objects[temporary_id(entity.n)], chunk_state.files[entity.n].sha256
                )
        self._contents.forget(list(chunk_state.files))
        # The next chunk must carry the version that this one made, else the archive would refuse it as a late resend.
        guard = self._settler.guard
        if guard is not None and guard.id in saved_objects:
            guard = self._settler.guard = Guard(guard.id, saved_objects[guard.id].version)
        version = guard.version if guard else None
        return ChunkDone(
            task.key,
            {**chunk_state.created_ids, **ids},
            chunk_state.existing_ids,
            chunk_state.landed_files,
            version,
            was_settled,
        )

    def _prove_lookup(self, key: str, actions: Sequence[Action]) -> None:
        """Once a lease: an account that does not find what it wrote could settle nothing. Raises NotAllowed."""
        if self._lookup_is_proven or not any(action.type == "EksternId" for action in actions):
            return
        name, system = self._facts.anchor(key), self._facts.anchor_system
        if not any(lookup.owners_of_keys(self._archive, system, (name,)) for _ in range(2)):
            raise NotAllowed(call="query", description=NOT_FOUND_AGAIN)
        self._lookup_is_proven = True


def _raise_damage(chunk_state: _ChunkState) -> None:
    """Raises `ChecksumDiffers` where the archive has other bytes than were sent; the journal knows the rest by now."""
    for damage in chunk_state.damaged.values():
        raise ChecksumDiffers(key=damage.key, ours=damage.sent_sha256, theirs=damage.archive_sha256)
