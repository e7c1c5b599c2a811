"""Leases and outcomes: the messages to and from a worker. Frozen and picklable, for one process or many machines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from noarkit.events import Event
from noarkit.graph.store import Position
from noarkit.model.own_marks import CHUNK_ANCHORS


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Facts of the whole run: names that the plan decided, and abilities that the preflight proved.

    `plan` is the head of the plan's sha256; every anchor and guard names it. `mark` tells the anchors of this run from
    those of another run of an equal plan. `fresh` says that nothing of this
    external system was in the archive when the run began, so that source keys need no look-up. `closes`: what
    finalises an object is held back until all stands. `codes`: what the archive calls a planned code, by list. A
    `rehearsal` writes nothing, and so never looks for it. `witness`: a source key that was there when the run began, so
    that an answer without it is not believed. `writes_after_link` says that the archive takes the fields that it fills
    in itself only for what is linked into its structure, since the right to write them depends on where that is.
    """

    plan: str
    external_system: str
    honours_versions: bool
    sets_system_fields: bool
    fresh: bool
    deadline_s: float
    settle_pause_s: float = 1.0
    attempts: int = 5
    closes: bool = False
    codes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    rehearsal: bool = False
    mark: str = ""
    witness: str | None = None
    writes_after_link: bool = False

    @property
    def anchor_system(self) -> str:
        """The eksterntSystem of anchors, apart from the source's own."""
        return CHUNK_ANCHORS

    def anchor(self, chunk_key: str) -> str:
        """The name a chunk goes by in the archive; the same in every attempt."""
        # The same however often the run is resumed: it must find what it sent before it was stopped (invariant 2).
        return f"{self.plan}.{self.mark}/{chunk_key}" if self.mark else f"{self.plan}/{chunk_key}"


@dataclass(frozen=True, slots=True)
class Guard:
    """The object whose version every chunk of a shard must carry, so that of two sends only one can land.

    Both sends of a chunk say «version 4»; whichever lands first makes it 5, and the archive answers the other with 409.
    """

    id: str
    version: str


@dataclass(frozen=True, slots=True)
class ChunkTask:
    """A chunk to be loaded: its place in the order, and when it may last have been sent (None: never).

    `surely_sent` is False if a process was lost and nobody knows whether it sent anything.
    """

    key: str
    first: Position
    last: Position
    # None means that the journal has no send on record, and the coordinator was there to record it: no wait is needed.
    sent_at: float | None = None
    surely_sent: bool = True


@dataclass(frozen=True, slots=True)
class Lease:
    """One shard for one worker. The intents of all its chunks are durable before it is handed out.

    `known_ids` are the archive's ids of entities that these chunks may refer to or already hold (spine, earlier chunks,
    earlier tries); `excluded` are bundles that were set aside or refused before, `already_there` those that another run
    put into the archive.
    """

    shard: int
    kind: str
    attempt: int
    facts: RunFacts
    tasks: tuple[ChunkTask, ...]
    # Everything a worker needs is in the lease: it never reads the journal, so that only one process has it open to
    # write.
    known_ids: Mapping[int, str]
    guard: Guard | None
    excluded: frozenset[int] = frozenset()
    already_there: frozenset[int] = frozenset()
    late_links: tuple[tuple[int, str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ChunkSent:
    """A transaction is about to leave, at this time."""

    chunk: str
    at: float


@dataclass(frozen=True, slots=True)
class ChunkDone:
    """The archive's ids of all entities of a chunk: made now, or already there before."""

    chunk: str
    created_ids: Mapping[int, str]
    existing_ids: Mapping[int, str] = field(default_factory=dict)
    files: Mapping[int, tuple[str, str, int]] = field(default_factory=dict)
    # Beside the ids, so that one transaction of the journal commits both.
    guard_version: str | None = None
    was_settled: bool = False


@dataclass(frozen=True, slots=True)
class ChunkInDoubt:
    """No answer came; the chunk waits to be settled."""

    chunk: str
    code: str
    at: float


@dataclass(frozen=True, slots=True)
class ChunkSplit:
    """The archive refused a chunk; its halves stand in its place, with sub-keys."""

    chunk: str
    halves: tuple[ChunkTask, ...]


@dataclass(frozen=True, slots=True)
class BundleLeftOut:
    """A record (or folder) of a chunk that is not loaded: `"set_aside"` by its source, or `"refused"` by the
    archive."""

    bundle: int
    state: str
    code: str
    data: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class WaitingInDoubt:
    """A wait before doubt is settled: the archive may still carry out what it did not answer."""

    seconds: float
    chunks: int


@dataclass(frozen=True, slots=True)
class SourceTold:
    """What the source says while a content is opened, such as a wait for a service."""

    event: Event


@dataclass(frozen=True, slots=True)
class BytesDiffer:
    """The archive holds other bytes of a version than were sent."""

    entity: int
    key: str
    sent_sha256: str
    archive_sha256: str


@dataclass(frozen=True, slots=True)
class BytesMoved:
    """Progress: bytes uploaded since the last time."""

    bytes: int


@dataclass(frozen=True, slots=True)
class LinksMade:
    """Late links that stand in the archive now: (entity, reference, other)."""

    links: tuple[tuple[int, str, int], ...]


@dataclass(frozen=True, slots=True)
class ShardDone:
    """Every chunk of the lease has its outcome."""

    shard: int


@dataclass(frozen=True, slots=True)
class ShardStopped:
    """The worker stopped before the end: by an archive fault, or because it was asked to (no fault)."""

    shard: int
    code: str | None
    exit_code: int
    data: Mapping[str, object] = field(default_factory=dict)


Outcome = (
    ChunkSent
    | ChunkDone
    | ChunkInDoubt
    | ChunkSplit
    | BundleLeftOut
    | BytesDiffer
    | WaitingInDoubt
    | SourceTold
    | BytesMoved
    | LinksMade
    | ShardDone
    | ShardStopped
)
