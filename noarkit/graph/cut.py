"""Cuts a finished graph into shards and chunks, in one pass over its order.

A unit (topmost folder or record) is never split between shards, so one case file belongs to one shard. A bundle (a
record with its parties, documents and versions) stays in one chunk unless it alone is over the limits: then it is cut
before a document or a version, which later chunks may add. The spine is shard 0; late links are the last shard.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from noarkit.graph.store import GraphStore

_SAVE_OVERHEAD_BYTES = 110
_LINK_BYTES = 130
_CUT_BEFORE = frozenset({"Dokument", "Dokumentversjon"})

Position = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of the size of a chunk and of a shard."""

    chunk_actions: int = 1000
    chunk_json_bytes: int = 4 * 1024 * 1024
    chunk_upload_bytes: int = 256 * 1024 * 1024
    shard_entities: int = 20_000
    shard_bytes: int = 4 * 1024 * 1024 * 1024


@dataclass(slots=True)
class _Sums:
    entities: int = 0
    actions: int = 0
    json_bytes: int = 0
    bytes: int = 0

    def plus(self, sums: _Sums) -> _Sums:
        return _Sums(
            self.entities + sums.entities,
            self.actions + sums.actions,
            self.json_bytes + sums.json_bytes,
            self.bytes + sums.bytes,
        )

    def within(self, limits: Limits) -> bool:
        return (
            self.actions <= limits.chunk_actions
            and self.json_bytes <= limits.chunk_json_bytes
            and (self.bytes <= limits.chunk_upload_bytes or self.entities == 1)
        )


@dataclass(slots=True)
class _Piece:
    first: Position
    last: Position
    sums: _Sums = field(default_factory=_Sums)


def cut(store: GraphStore, limits: Limits | None = None) -> None:
    """Writes the shard and chunk tables; the graph's rows must all stand."""
    limits = limits or Limits()
    db = store.db
    db.execute("BEGIN")
    db.execute("DELETE FROM shard")
    db.execute("DELETE FROM chunk")
    cutter = _Cutter(store, limits)
    for piece in _pieces(store, limits):
        cutter.take(piece)
    cutter.close_shard()
    late = store.count("link", "late")
    if late:
        db.execute("INSERT INTO shard VALUES (?, 'links', 0, 0)", (cutter.shard + 1,))
    db.execute("COMMIT")


class _Cutter:
    """Gathers pieces into chunks and chunks into shards."""

    def __init__(self, store: GraphStore, limits: Limits) -> None:
        self._db = store.db
        self._limits = limits
        self.shard = 0
        self._chunk = 0
        self._open: _Piece | None = None
        self._shard_sums = _Sums()

    def take(self, piece: _Piece) -> None:
        spine_ends = self.shard == 0 and piece.first[0] > 0
        new_unit = self._open is not None and self._open.last[0] != piece.first[0]
        full = (
            self._shard_sums.entities >= self._limits.shard_entities
            or self._shard_sums.bytes >= self._limits.shard_bytes
        )
        if spine_ends or (new_unit and full):
            self.close_shard()
            self.shard += 1
        if self._open is not None and self._open.sums.plus(piece.sums).within(self._limits):
            self._open.last = piece.last
            self._open.sums = self._open.sums.plus(piece.sums)
        else:
            self._close_chunk()
            self._open = piece
        self._shard_sums = self._shard_sums.plus(piece.sums)

    def close_shard(self) -> None:
        self._close_chunk()
        kind = "unit" if self.shard else "spine"
        sums = self._shard_sums
        self._db.execute("INSERT INTO shard VALUES (?,?,?,?)", (self.shard, kind, sums.entities, sums.bytes))
        self._shard_sums = _Sums()
        self._chunk = 0

    def _close_chunk(self) -> None:
        if self._open is None:
            return
        piece, self._open = self._open, None
        sums = piece.sums
        row = (
            self.shard,
            self._chunk,
            f"{self.shard}/{self._chunk}",
            sums.entities,
            sums.actions,
            sums.json_bytes,
            sums.bytes,
        )
        self._db.execute("INSERT INTO chunk VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)", (*row, *piece.first, *piece.last))
        self._chunk += 1


def _pieces(store: GraphStore, limits: Limits) -> Iterator[_Piece]:
    """Whole bundles in order; a bundle over the limits in several pieces."""
    piece: _Piece | None = None
    for position, kind, sums in _rows(store):
        if piece is not None:
            is_same_bundle = piece.last[:2] == position[:2]
            if is_same_bundle and (kind not in _CUT_BEFORE or piece.sums.plus(sums).within(limits)):
                piece.last = position
                piece.sums = piece.sums.plus(sums)
                continue
            yield piece
        piece = _Piece(position, position, sums)
    if piece is not None:
        yield piece


def _rows(store: GraphStore) -> Iterator[tuple[Position, str, _Sums]]:
    cursor = store.db.cursor()
    cursor.execute(
        "SELECT e.unit, e.bundle, e.n, e.type, e.parent IS NOT NULL, length(e.fields), coalesce(c.size, 0),"
        " (SELECT count(*) FROM link WHERE link.entity = e.n AND NOT late)"
        " FROM entity e LEFT JOIN content c ON c.entity = e.n ORDER BY e.unit, e.bundle, e.n"
    )
    for unit, bundle, n, kind, parented, size, content, links in cursor:
        link_count = links + parented
        json_bytes = size + _SAVE_OVERHEAD_BYTES + link_count * _LINK_BYTES
        yield (unit, bundle, n), kind, _Sums(1, 1 + link_count, json_bytes, content)
