"""Makes the links between shards, once both ends of each are loaded.

A link that is there already is never made again: each is asked for before its first send in a run, and after doubt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from noarkit.archive.port import Archive
from noarkit.archive.values import Link, Query
from noarkit.errors import ArchiveFault, ArchiveNotFound, ArchiveRefused
from noarkit.graph.store import GraphStore
from noarkit.loading.lease import BundleLeftOut, Lease, LinksMade, Outcome
from noarkit.loading.settling import Clock

LateLink = tuple[int, str, int]
_BATCH_SIZE = 200


class LinkLoader:
    """Makes the late links of a lease, in batches."""

    def __init__(self, lease: Lease, archive: Archive, graph: GraphStore, clock: Clock) -> None:
        self._lease = lease
        self._archive = archive
        self._graph = graph
        self._clock = clock

    def load(self) -> Iterator[Outcome]:
        """Makes every link of the lease; a link with an end that was left out is skipped."""
        links = [
            link
            for link in self._lease.late_links
            if link[0] in self._lease.known_ids and link[2] in self._lease.known_ids
        ]
        for start in range(0, len(links), _BATCH_SIZE):
            yield from self._make_batch(links[start : start + _BATCH_SIZE])

    def _make_batch(self, links: Sequence[LateLink]) -> Iterator[Outcome]:
        types = {n: self._graph.entity(n).type for n, _, _ in links}
        for attempt in range(self._lease.facts.attempts):
            open_links = [link for link in links if not self._exists(link, types)]
            if not open_links:
                break
            sent_at = self._clock.now_s()
            try:
                self._archive.transaction([self._action(link, types) for link in open_links])
                break
            except (ArchiveRefused, ArchiveNotFound) as fault:
                if not all(self._exists(link, types) for link in open_links):
                    yield from self._one_by_one(open_links, types, fault)
                    return
            except ArchiveFault as fault:
                if not fault.transient or attempt + 1 == self._lease.facts.attempts:
                    raise
                if fault.fate_unknown:
                    self._clock.wait_until(sent_at + self._lease.facts.deadline_s)
        yield LinksMade(tuple(links))

    def _one_by_one(
        self, links: Sequence[LateLink], types: Mapping[int, str], fault: ArchiveFault
    ) -> Iterator[Outcome]:
        if len(links) == 1:
            bundle = self._graph.entity(links[0][0]).bundle
            yield BundleLeftOut(bundle, "refused", fault.code, {**fault.data, "link": links[0][1]})
            yield LinksMade(tuple(links))
            return
        for link in links:
            yield from self._make_batch([link])

    def _exists(self, link: LateLink, types: Mapping[int, str]) -> bool:
        entity, name, target = link
        known_ids = self._lease.known_ids
        query = Query(
            types[entity], f"id = @a && {name}.id = @b", {"@a": known_ids[entity], "@b": known_ids[target]}, limit=1
        )
        return bool(self._archive.query(query).objects)

    def _action(self, link: LateLink, types: Mapping[int, str]) -> Link:
        entity, name, target = link
        return Link(types[entity], self._lease.known_ids[entity], name, (self._lease.known_ids[target],))
