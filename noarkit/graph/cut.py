"""Cuts a finished graph into shards and chunks, in one pass over its order.

A unit (topmost folder or record) is never split between shards, so one case file belongs to one shard. A bundle (a
record with its parties, documents and versions) stays in one chunk unless it alone is over the limits: then it is cut
before a document or a version, which later chunks may add. The spine is shard 0; late links are the last shard.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from noarkit.graph.store import GraphStore

_SAVE_OVERHEAD_BYTES = 110
_LINK_BYTES = 130
_CUT_BEFORE = frozenset({"Dokument", "Dokumentversjon"})

# the number of an entity's links, that to its parent among them
_LINKS = "(e.parent IS NOT NULL) + (SELECT count(*) FROM link WHERE link.entity = e.n AND NOT late)"
_PARENT_LINK = "(e.parent IS NOT NULL)"
_CONTENTS = "FROM entity e LEFT JOIN content c ON c.entity = e.n"

Bundle = tuple[int, int, int, int, int, int, int, int]
"""Unit, bundle, its first and last entity, and what they add up to: entities, bytes of fields, links, bytes."""

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
class _Piece:
    """A range of the order, and what it adds up to."""

    first: Position
    last: Position
    entities: int = 0
    actions: int = 0
    json_bytes: int = 0
    bytes: int = 0

    def has_room_for(self, piece: _Piece, limits: Limits) -> bool:
        """True if both together stay within the limits of a chunk."""
        return (
            self.actions + piece.actions <= limits.chunk_actions
            and self.json_bytes + piece.json_bytes <= limits.chunk_json_bytes
            and self.bytes + piece.bytes <= limits.chunk_upload_bytes
        )

    def take(self, piece: _Piece) -> None:
        """Goes on to the end of the piece that follows."""
        self.last = piece.last
        self.entities += piece.entities
        self.actions += piece.actions
        self.json_bytes += piece.json_bytes
        self.bytes += piece.bytes


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
        self._shard_entities = 0
        self._shard_bytes = 0

    def take(self, piece: _Piece) -> None:
        spine_ends = self.shard == 0 and piece.first[0] > 0
        new_unit = self._open is not None and self._open.last[0] != piece.first[0]
        full = self._shard_entities >= self._limits.shard_entities or self._shard_bytes >= self._limits.shard_bytes
        if spine_ends or (new_unit and full):
            self.close_shard()
            self.shard += 1
        self._shard_entities += piece.entities
        self._shard_bytes += piece.bytes
        if self._open is not None and self._open.has_room_for(piece, self._limits):
            self._open.take(piece)
        else:
            self._close_chunk()
            self._open = piece

    def close_shard(self) -> None:
        self._close_chunk()
        kind = "unit" if self.shard else "spine"
        row = (self.shard, kind, self._shard_entities, self._shard_bytes)
        self._db.execute("INSERT INTO shard VALUES (?,?,?,?)", row)
        self._shard_entities = self._shard_bytes = 0
        self._chunk = 0

    def _close_chunk(self) -> None:
        if self._open is None:
            return
        piece, self._open = self._open, None
        sums = (piece.entities, piece.actions, piece.json_bytes, piece.bytes)
        row = (self.shard, self._chunk, f"{self.shard}/{self._chunk}", *sums)
        self._db.execute("INSERT INTO chunk VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)", (*row, *piece.first, *piece.last))
        self._chunk += 1


def _pieces(store: GraphStore, limits: Limits) -> Iterator[_Piece]:
    """Whole bundles in order; a bundle over the limits in several pieces."""
    links = _LINKS if store.count("link", "NOT late") else _PARENT_LINK
    for unit, bundle, first, last, entities, fields_bytes, link_count, size in _bundles(store, links):
        # an entity is an action, and each of its links another
        actions = entities + link_count
        json_bytes = fields_bytes + entities * _SAVE_OVERHEAD_BYTES + link_count * _LINK_BYTES
        piece = _Piece((unit, bundle, first), (unit, bundle, last), entities, actions, json_bytes, size)
        if _NOTHING.has_room_for(piece, limits):
            yield piece
        else:
            yield from _split(store, limits, (unit, bundle), links)


def _bundles(store: GraphStore, links: str) -> Iterator[Bundle]:
    """SQLite adds up the entities of a bundle in a fraction of the time it would take to hand them out."""
    return store.db.execute(
        f"SELECT e.unit, e.bundle, min(e.n), max(e.n), count(*), sum(length(e.fields)), sum({links}),"
        f" sum(coalesce(c.size, 0)) {_CONTENTS} GROUP BY e.unit, e.bundle ORDER BY e.unit, e.bundle"
    )


def _split(store: GraphStore, limits: Limits, bundle_position: tuple[int, int], links: str) -> Iterator[_Piece]:
    """A bundle over the limits, cut where it may be."""
    rows = store.db.execute(
        f"SELECT e.n, e.type, length(e.fields), {links}, coalesce(c.size, 0) {_CONTENTS}"
        " WHERE e.unit = ? AND e.bundle = ? ORDER BY e.n",
        bundle_position,
    )
    piece: _Piece | None = None
    for n, kind, fields_bytes, link_count, size in rows:
        position = (*bundle_position, n)
        json_bytes = fields_bytes + _SAVE_OVERHEAD_BYTES + link_count * _LINK_BYTES
        entity = _Piece(position, position, 1, 1 + link_count, json_bytes, size)
        if piece is None:
            piece = entity
        elif kind not in _CUT_BEFORE or piece.has_room_for(entity, limits):
            piece.take(entity)
        else:
            yield piece
            piece = entity
    if piece is not None:
        yield piece


_NOTHING = _Piece((0, 0, 0), (0, 0, 0))
