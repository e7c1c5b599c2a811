"""What became of chunks of a run without an answer; afterwards nothing that the run sent can land any more.

A chunk that landed gives its objects to the journal, as when the run goes on. Then the guard of its shard is deleted,
with the version that was read while the chunks were asked for: had one landed since, the archive would refuse that,
and they are asked for again. Without its guard no transaction of the shard can be carried out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from noarkit.archive.port import Archive
from noarkit.archive.values import Delete, Query
from noarkit.errors import ArchiveConflict, ArchiveFault, ArchiveNotFound, ArchiveRefused, NotAllowed
from noarkit.graph.store import GraphStore
from noarkit.loading.journal import Journal
from noarkit.loading.lease import Guard, Lease, Outcome, RunFacts
from noarkit.loading.lookup import GUARD_TYPE
from noarkit.loading.lost_shards import settle_shard
from noarkit.loading.settling import Clock
from noarkit.loading.spine import SpineLoader

_ATTEMPTS = 5


@dataclass(slots=True)
class Doubts:
    """The doubts of one run. Its times of sending are in this boot's clock, and the leased shards marked."""

    archive: Archive
    graph: GraphStore
    journal: Journal
    facts: RunFacts
    clock: Clock
    wait_for_deadline: Callable[[], None]

    def settle_all(self) -> None:
        """Settles every shard that has a chunk in doubt, and deletes every guard. Raises archive faults."""
        kinds = dict(self.journal.open_shards())
        guards = dict(self.journal.guards())
        for shard in sorted({*kinds, *guards}):
            for attempt in range(_ATTEMPTS):
                if shard in kinds:
                    self._settle(shard, kinds[shard])
                if self._remove_guard(shard, guards.get(shard), is_last=attempt + 1 == _ATTEMPTS):
                    break
            if shard in kinds:
                self.journal.forget_doubts(shard)

    def _settle(self, shard: int, kind: str) -> None:
        lease = self._make_lease(shard, kind)
        if kind == "links" or not any(task.sent_at is not None for task in lease.tasks):
            return
        for outcome in self._outcomes(lease):
            self.journal.record(shard, (outcome,))

    def _outcomes(self, lease: Lease) -> Iterator[Outcome]:
        if lease.kind == "spine":
            loader = SpineLoader(lease, self.archive, self.graph, self.clock)
            for task in lease.tasks:
                yield from loader.settle(task)
        else:
            yield from settle_shard(lease, self.archive, self.graph, self.clock)

    def _make_lease(self, shard: int, kind: str) -> Lease:
        numbers = set(self.graph.needed_ids(shard))
        return Lease(
            shard=shard,
            kind=kind,
            attempt=0,
            facts=self.facts,
            tasks=self.journal.tasks(shard),
            known_ids=self.journal.ids(numbers),
            guard=self._standing_guard(shard),
            excluded=frozenset(self.journal.left_out_bundles()),
            already_there=self.journal.already_there(numbers),
        )

    def _standing_guard(self, shard: int) -> Guard | None:
        """The guard of a shard; None where an earlier call has deleted it already."""
        guard = self.journal.guard(shard)
        return None if guard is None else self._read_guard(guard)

    def _read_guard(self, guard: Guard) -> Guard | None:
        for _ in range(2):
            for actual in self.archive.query(Query(GUARD_TYPE, "id = @id", {"@id": guard.id}, limit=1)).objects:
                if (actual.type, actual.id) == (GUARD_TYPE, guard.id):
                    return Guard(actual.id, actual.version)
        return None

    def _remove_guard(self, shard: int, guard: Guard | None, *, is_last: bool) -> bool:
        """Deletes a guard; False where something landed since it was read."""
        before = self._read_guard(guard) if guard is not None else None
        if before is None:
            self.journal.forget_guard(shard)
            return True
        try:
            self.archive.transaction((Delete(GUARD_TYPE, before.id, before.version),))
        except ArchiveConflict:
            if is_last:
                raise
            return False
        except (NotAllowed, ArchiveRefused):
            return True  # it stays, and protects nothing any more: the class of a marker that is part of no series
        except ArchiveNotFound:
            pass
        except ArchiveFault as fault:
            if not fault.fate_unknown:
                raise
            self.wait_for_deadline()
            if self._read_guard(before) is not None:
                if is_last:
                    raise
                return False
        self.journal.forget_guard(shard)
        return True
