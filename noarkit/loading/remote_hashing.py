"""Has the machines of a cluster hash the documents of a source while it is planned; records keep their order.

A worker opens the source at the same place, or where its source map says, and reads a document only if it is the one of
the plan by size and time. What it cannot read is read on the planning machine, which alone says that something is gone,
changed or unreadable: a plan is the same with a cluster and without.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from noarkit.errors import OtherSource, SourceFault, SourceGone
from noarkit.graph.entity import Content, SetAside
from noarkit.records import PLACE_FAULTS, Connected, Source, SourceIdentity, SourceItem, SourceRecord, read_stated
from noarkit.safe.remote_jobs import Job, JobFunction, JobWorkers

HASH = "plan.hash"
_MOST_CONTENTS = 200
_MOST_BYTES = 64 * 1024 * 1024
_MOST_RECORDS = 2_000
_MOST_WAITING = 20_000


@dataclass(frozen=True, slots=True)
class HashOrder:
    """Contents of a source, to be hashed."""

    source: SourceIdentity
    contents: tuple[Content, ...]


@dataclass(frozen=True, slots=True)
class HashReply:
    """The sha256 of each, None for what could not be read as it was planned."""

    digests: tuple[str | None, ...]


KINDS = (SourceIdentity, Content, HashOrder, HashReply)
"""The dataclasses that orders and replies consist of."""


def hash_content(source: Source, content: Content) -> Content:
    """A content with its sha256. Raises `ItemChanged` for one that is not what was stated of it or changed meanwhile,
    and faults of the source."""
    return replace(content, sha256=read_stated(source, content).sha256)


class ContentHasher:
    """A worker's side. `reopen` opens a source with this machine's own settings, where its place is here."""

    def __init__(self, reopen: Callable[[SourceIdentity], Source]) -> None:
        self._reopen = reopen
        self._identity: SourceIdentity | None = None
        self._source: Source | None = None

    @property
    def functions(self) -> Mapping[str, JobFunction]:
        """What it does for others, by name."""
        return {HASH: self._hash}

    def close(self) -> None:
        """Lets the source go."""
        if isinstance(self._source, Connected):
            self._source.release()
        self._source = self._identity = None

    def _hash(self, data: object) -> object:
        order = cast(HashOrder, data)
        source = self._open(order.source)
        return HashReply(tuple(self._digest(source, content) for content in order.contents))

    def _digest(self, source: Source, content: Content) -> str | None:
        try:
            return hash_content(source, content).sha256
        except PLACE_FAULTS as fault:
            raise OtherSource(where=str(fault.data.get("where", "")), why="not-there") from fault
        except SourceFault:
            return None  # the coordinator says what is wrong with it

    def _open(self, identity: SourceIdentity) -> Source:
        if self._source is None or self._identity != identity:
            self.close()
            try:
                self._source = self._reopen(identity)
            except SourceGone as fault:
                raise OtherSource(where=str(fault.data.get("where", identity.where)), why="not-there") from fault
            self._identity = identity
        return self._source


@dataclass(slots=True)
class _Waiting:
    """An item in its place, and the digests that are there so far."""

    item: SourceItem
    missing: int = 0
    digests: list[str | None] = field(default_factory=list)


class RemoteHashing:
    """The coordinator's side: items of a source, their contents hashed by workers. `is_known` says which records need
    none."""

    def __init__(self, source: Source, workers: JobWorkers, is_known: Callable[[SourceRecord], bool]) -> None:
        self._source = source
        self._workers = workers
        self._is_known = is_known
        self._waiting: deque[_Waiting] = deque()
        self._running: dict[int, list[_Waiting]] = {}

    def items(self, source_items: Iterable[SourceItem]) -> Iterator[SourceItem]:
        """The items in their order; a record with a document that cannot be read is set aside."""
        remaining = iter(source_items)
        has_more = True
        while has_more or self._waiting:
            while has_more and len(self._waiting) < _MOST_WAITING and self._workers.free:
                has_more = self._start_portion(remaining)
            while self._waiting and not self._waiting[0].missing:
                yield self._hashed(self._waiting.popleft())
            if self._running:
                for job, result in self._workers.results(0.5):
                    self._note(job, cast(HashReply, result))

    def _start_portion(self, remaining: Iterator[SourceItem]) -> bool:
        """Has the contents of the next items hashed; False where no item is left."""
        contents: list[Content] = []
        owners: list[_Waiting] = []
        size_bytes = 0
        for _ in range(_MOST_RECORDS):
            item = next(remaining, None)
            if item is None:
                break
            waiting = _Waiting(item)
            self._waiting.append(waiting)
            if isinstance(item, SourceRecord) and not self._is_known(item):
                waiting.missing = len(item.contents)
                contents += item.contents
                owners += [waiting] * len(item.contents)
                size_bytes += sum(content.size_bytes or 0 for content in item.contents)
            if len(contents) >= _MOST_CONTENTS or size_bytes >= _MOST_BYTES:
                break
        if contents:
            job = Job(HASH, HashOrder(self._source.identity, tuple(contents)))
            self._running[id(job.data)] = owners
            self._workers.start(job)
        return item is not None

    def _note(self, job: Job, reply: HashReply) -> None:
        for waiting, sha256 in zip(self._running.pop(id(job.data)), reply.digests, strict=True):
            waiting.digests.append(sha256)
            waiting.missing -= 1

    def _hashed(self, waiting: _Waiting) -> SourceItem:
        item = waiting.item
        if not isinstance(item, SourceRecord) or not waiting.digests:
            return item
        try:
            contents = tuple(
                hash_content(self._source, content) if sha256 is None else replace(content, sha256=sha256)
                for content, sha256 in zip(item.contents, waiting.digests, strict=True)
            )
        except PLACE_FAULTS:
            raise
        except SourceFault as fault:
            return SetAside(item.key, fault.code, dict(fault.data))
        return replace(item, contents=contents)
