"""Shards that two workers died of: finds out what of them reached the archive, and what is to be set aside.

Nothing is sent here, nothing is composed and no content is read, for one of these may be what the workers died of.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn

from noarkit.archive.port import Archive
from noarkit.errors import ItemUnreadable
from noarkit.graph.entity import Content
from noarkit.graph.store import GraphStore
from noarkit.loading.chunk_loader import ChunkLoader
from noarkit.loading.contents import ContentUploader, no_gate
from noarkit.loading.journal import SHARD_SET_ASIDE, Journal
from noarkit.loading.lease import BundleLeftOut, Lease, Outcome
from noarkit.loading.settling import Clock


def settle_shard(lease: Lease, archive: Archive, graph: GraphStore, clock: Clock) -> Iterator[Outcome]:
    """Settles all doubts of a shard and sends nothing. Raises archive faults, and `Paused` from the clock."""
    contents = ContentUploader(archive, _read_nothing, clock.now_s, no_gate)
    loader = ChunkLoader(lease, archive, graph, contents, clock)
    yield from loader.settle_all(lease.tasks)
    for task in lease.tasks:
        yield from loader.take_over(task)


def unloaded_bundles(journal: Journal, graph: GraphStore, shard: int, losses: int) -> Iterator[BundleLeftOut]:
    """The bundles of a shard that are not in the archive as a whole, to be set aside."""
    left_out = set(journal.left_out_bundles())
    for task in journal.tasks(shard):
        rows = list(graph.between(task.first, task.last))
        numbers = [row.n for row in rows]
        loaded = journal.ids(numbers).keys() | journal.already_there(numbers)
        for row in rows:
            if row.n in loaded or row.bundle in left_out:
                continue
            left_out.add(row.bundle)
            data = {"shard": shard, "losses": losses, "type": row.type, "key": row.key, "line": row.line}
            yield BundleLeftOut(row.bundle, "set_aside", SHARD_SET_ASIDE, data)


def _read_nothing(content: Content) -> NoReturn:
    """Opens no content: a checksum that only the source knows is left to `verify`."""
    raise ItemUnreadable(key=content.locator)
