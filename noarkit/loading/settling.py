"""Finds out whether chunks whose transaction got no good answer are in the archive. Reads only.

Two marks show that a chunk has landed: its anchor (an EksternId of its own), and the shard's guard, whose text names
the chunk that landed last. Reading the guard also fixes its version: what was sent with an older version can no longer
land. Where there is no guard, one answer that says «not there» is not believed: the query is made as often as any
whose empty answer has something made (`lookup.ORDERS`).

    sent, no answer  ->  wait for the deadline  ->  look for the anchors, then read the guard
        found        ->  take over the ids; never send again
        not found    ->  pause, ask once more (`landed_after_deadline`), with a guard too; only then send again
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from noarkit.archive.port import Archive
from noarkit.archive.values import Query
from noarkit.errors import ArchiveStrange, NotAllowed
from noarkit.graph.store import PlannedEntity
from noarkit.loading import lookup
from noarkit.loading.lease import Guard, Outcome, RunFacts, WaitingInDoubt
from noarkit.loading.preflight import NOT_FOUND_AGAIN
from noarkit.recipes.record_keys import document_identity

_LONG_S = 10.0
GUARD_MISSING = "guard-missing"


@dataclass(frozen=True, slots=True)
class Clock:
    """Time as the worker sees it: now by a steady clock, and a sleep that raises where the run must stop."""

    now_s: Callable[[], float]
    wait_until: Callable[[float], None]


def remainder_key(chunk_key: str) -> str:
    """The key of the remainder of a chunk that landed in part: it has an anchor of its own."""
    # Examples: "3/7+" is what was still missing of chunk 7 of shard 3, "3/7.0" and "3/7.1" are its halves, "3/7~" is
    # the chunk taken up again by `retry`. They must differ: an anchor says «all that was sent under this key is there».
    return f"{chunk_key}+"


def earlier_keys(chunk_key: str) -> list[str]:
    """The keys of a chunk in earlier attempts, before what was left out of it was reopened."""
    keys: dict[str, None] = {}
    # Each `~` was added by one `reopen`; taking away the last first goes back one attempt at a time.
    while "~" in chunk_key:
        chunk_key = "".join(chunk_key.rsplit("~", 1))
        keys |= dict.fromkeys(related_keys(chunk_key))
    return list(keys)


def related_keys(chunk_key: str) -> list[str]:
    """All keys under which a chunk may have landed: its own, its remainder's, those it is a half of."""
    return [chunk_key, remainder_key(chunk_key), *whole_keys(chunk_key)]


def whole_keys(chunk_key: str) -> list[str]:
    """The keys under which all of a half was sent before: the archive can refuse a chunk to us and commit it all the
    same, however late."""
    keys: list[str] = []
    whole_key = chunk_key.rstrip("+")
    while whole_key.endswith((".0", ".1")):
        whole_key = whole_key[:-2]
        keys += [whole_key, remainder_key(whole_key)]
    return keys


class DoubtSettler:
    """Settles the doubts of one shard. `guard` is the shard's guard as last read."""

    def __init__(self, archive: Archive, facts: RunFacts, clock: Clock, guard: Guard | None) -> None:
        self._archive = archive
        self._facts = facts
        self._clock = clock
        self.guard = guard

    def announce_wait(self, sent_at: float, chunks: int = 1) -> Iterator[Outcome]:
        """Announces the wait until the archive's deadline for what was sent, where it is long enough to be noticed."""
        seconds = sent_at + self._facts.deadline_s - self._clock.now_s()
        if seconds >= _LONG_S:
            yield WaitingInDoubt(round(seconds, 1), chunks)

    def landed_chunks(self, keys: Collection[str]) -> set[str]:
        """Which of these chunks are in the archive now. Asked of a guard last, so that what lands later than this
        cannot stand beside what is sent with the guard's version."""
        # Anchors first, guard last. A commit between the two questions is seen in the guard's text, which names the
        # chunk that landed last; one that comes later raises the version, so that what is sent with the version read
        # here is refused (invariant 3). With the text unread, that version would let a resend land beside the first.
        if not keys:
            return set()
        # Without a guard nothing else tells that a chunk landed, so an index that lags is given further chances.
        return self._anchored_keys(keys, surely=self.guard is None) | self._last_landed_key(keys)

    def anchor_owners(self, keys: Collection[str]) -> set[str]:
        """The ids of the objects that the anchors of these chunks hang on."""
        names = [self._facts.anchor(key) for key in keys]
        return {owner.id for owner in lookup.owners_of_keys(self._archive, self._facts.anchor_system, names).values()}

    def landed_earlier(self, key: str, owner_ids: Mapping[int, str]) -> bool:
        """True if existing objects of a reopened chunk were made by an earlier try that was reported as refused.

        That try may have been split since, or have had this chunk's own key; then its anchor hangs on the objects.
        """
        # For a split try its anchor is enough. For the same chunk the anchor may hang on bundles that landed while this
        # one was refused, so it must hang on the very object that was found.
        tries = earlier_keys(key)
        same_chunk = {
            earlier_key for earlier_key in tries if earlier_key.replace("~", "").rstrip("+") == key.replace("~", "")
        }
        split = [earlier_key for earlier_key in tries if earlier_key not in same_chunk]
        return bool(self.landed_chunks(split) or self.anchor_owners(same_chunk) & set(owner_ids.values()))

    def landed_after_deadline(self, keys: Collection[str], sent_at: float) -> set[str]:
        """Like `landed_chunks`, but waits for the archive's deadline first, and asks a second time after a pause."""
        # Invariant 5: until the deadline the archive may still commit what it did not answer, so an earlier «not there»
        # would prove nothing. The second question is for an archive whose search lags behind.
        self._clock.wait_until(sent_at + self._facts.deadline_s)
        landed_keys = self.landed_chunks(keys)
        if len(landed_keys) < len(keys):
            self._pause()
            landed_keys |= self.landed_chunks(keys)
        return landed_keys

    def landed_ids(
        self, entities: Sequence[PlannedEntity], known_ids: Mapping[int, str], *, all_sent: bool
    ) -> dict[int, str]:
        """The archive's ids of the entities of a chunk that landed.

        With `all_sent` everything must be there; else a record may be missing that was left out of what was sent, but
        never a part of one, unless another run loaded the record and this one only adds to it. Raises `NotAllowed`
        where the account sees nothing of it, `ArchiveStrange` where parts are missing.
        """
        ids, uncertain = self._ids(entities, known_ids, all_sent=all_sent)
        if len(ids) + len(uncertain) < len(entities):
            self._pause()
            more_ids, uncertain = self._ids(entities, known_ids, all_sent=all_sent)
            ids |= more_ids
        # The chunk is known to be there, so an account that sees nothing of it lacks a right. Sending again would make
        # doubles.
        if entities and not ids:
            raise NotAllowed(call="query", description=NOT_FOUND_AGAIN)
        # A whole bundle may be missing: it was left out before the chunk was sent. Half a bundle cannot be, for a
        # transaction lands whole or not at all.
        missing = {entity.bundle for entity in entities if entity.n not in ids and entity.n not in uncertain}
        if missing and (all_sent or missing & {entity.bundle for entity in entities if entity.n in ids}):
            raise ArchiveStrange(call="query", why="parts-missing")
        return ids

    def _ids(
        self, entities: Sequence[PlannedEntity], known_ids: Mapping[int, str], *, all_sent: bool
    ) -> tuple[dict[int, str], set[int]]:
        """The ids of entities, and those of which an earlier run may have made what stands there."""
        if not self._facts.sets_system_fields:
            return lookup.ids_by_natural_key(self._archive, self._facts, entities, known_ids), set()
        own_ids, ids_by_plan = lookup.ids_by_both_uuids(self._archive, self._facts, entities)
        if all_sent:
            return own_ids | ids_by_plan, set()
        # What was added to a record that another run loaded bears uuids of this plan. That run may have numbered the
        # documents otherwise, so what bears the uuid of a number need not be what the number means here. It is left to
        # be compared, as all of such a record is.
        revisited_bundles = {entity.bundle for entity in entities if entity.n in ids_by_plan}
        uncertain = {
            entity.n
            for entity in entities
            if entity.bundle in revisited_bundles
            and entity.n not in ids_by_plan
            and not (entity.type == "Dokument" and entity.n in own_ids and document_identity(entity.key))
        }
        return {n: own_id for n, own_id in own_ids.items() if n not in uncertain} | ids_by_plan, uncertain

    def _anchored_keys(self, keys: Iterable[str], *, surely: bool) -> set[str]:
        names, system = {self._facts.anchor(key): key for key in keys}, self._facts.anchor_system
        if surely:
            owners = lookup.surely_owners_of_keys(self._archive, system, names, None)
        else:
            owners = lookup.owners_of_keys(self._archive, system, names)
        return {names[name] for name in owners}

    def _last_landed_key(self, keys: Iterable[str]) -> set[str]:
        """Reads the guard; the key of the chunk that it says landed last, where it is one of these. Those of the halves
        of a whole that landed since the guard was read before."""
        if self.guard is None:
            return set()
        # Read twice, since a wrong «no guard» gives up the shard and has another guard made.
        guard_state = self._read_guard() or self._read_guard()
        if guard_state is None:
            raise ArchiveStrange(call="query", why=GUARD_MISSING)
        has_moved = guard_state[0].version != self.guard.version
        self.guard = guard_state[0]
        names: dict[str, set[str]] = {}
        for key in keys:
            # with the version read here a half would land beside the whole, whose commit came late
            for name in (key, *(whole_keys(key) if has_moved else ())):
                names.setdefault(self._facts.anchor(name), set()).add(key)
        return names.get(guard_state[1], set())

    def _read_guard(self) -> tuple[Guard, str] | None:
        assert self.guard is not None  # noqa: S101  # asked by the caller
        query = Query(lookup.GUARD_TYPE, "id = @id", {"@id": self.guard.id}, limit=1)
        # The type and id are checked although they were asked for: a proxy or cache may answer another question.
        for guard in self._archive.query(query).objects:
            if (guard.type, guard.id) == (lookup.GUARD_TYPE, self.guard.id):
                return Guard(guard.id, guard.version), str(guard.fields.get("beskrivelse"))
        return None

    def _pause(self) -> None:
        self._clock.wait_until(self._clock.now_s() + self._facts.settle_pause_s)
