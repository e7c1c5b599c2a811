"""Marks across runs: proposed when a run is planned, kept once all of it is archived, used by the next plan for the
same archive. They lie with the connection's own state, one file for each archive, and may be deleted at any time.

Hints that wait in the inbox make a plan read at least from where the first of them came; they are taken once its run is
archived. Nothing depends on them: what nobody told of is read all the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from noarkit.events import Event, EventFields, Listener
from noarkit.records import PROPOSED_MARKS
from noarkit.services.drift import Change, drift
from noarkit.services.inbox import store
from noarkit.services.settings import Connection
from noarkit.services.source.source import ConnectorSource, Span
from noarkit.services.watermarks import Hints, Watermarks, read_watermarks, write_watermarks

EVENTS: EventFields = {
    "hints": {"connection": "text", "count": "count", "events": "counts"},
    "field_changed": {"stream": "text", "field": "text", "how": "text"},
}

MOST_AGAIN = 1_000
"""So many things of a stream are asked for again one by one; of more, all of it is read from its old mark."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a run left out: by stream what names it in `Window.again`, and the streams that must be read whole again."""

    again: Mapping[str, Sequence[str]] = field(default_factory=dict)
    whole_streams: frozenset[str] = frozenset()


def load_watermarks(to: Connection, archive: str) -> Watermarks | None:
    """What stands for that archive (by its address or folder); None if nothing was archived there yet."""
    return read_watermarks(_place(to, archive))


def resume_source(source: ConnectorSource, archive: str | None) -> ConnectorSource:
    """The source, read from the marks that stand for that archive, or from the first hint that waits where that is
    earlier. Raises `JournalFault` for an inbox that cannot be read."""
    if archive is None:
        return source
    watermarks, hints = (
        load_watermarks(source.to, archive),
        store.waiting_hints(source.to.environment, source.to.full_name),
    )
    if watermarks is not None and hints is not None:
        watermarks = _cap_at_hints(watermarks, hints)
    keys_file = known_file(source.to, archive) if watermarks is not None else None
    return replace(source, span=replace(source.span, watermarks=watermarks, hints=hints, known_file=keys_file))


def name_successor(source: ConnectorSource, archive: str, now: datetime) -> None:
    """Says over which span the next plan into that archive reads a connection, for `source.next_keys`."""
    source.successor = resume_source(ConnectorSource(source.to, Span(now)), archive)


def emit_hints(source: ConnectorSource, emit: Listener) -> int:
    """Tells which hints wait for what is read now; says how many."""
    hints = source.span.hints
    if hints is None:
        return 0
    emit(Event("hints", {"connection": source.to.full_name, "count": hints.count, "events": dict(hints.events)}))
    return hints.count


def propose_watermarks(source: ConnectorSource, folder: Path) -> None:
    """Leaves with a run the marks that it will have earned, and the identity of the archive it counts on."""
    before = source.span.watermarks or Watermarks("")
    earned = source.next_watermarks()
    write_watermarks(
        folder / PROPOSED_MARKS, replace(earned, archive=before.archive, shapes={**before.shapes, **earned.shapes})
    )


def changed_fields(source: ConnectorSource, emit: Listener) -> tuple[Change, ...]:
    """Fields that are others than when the marks were earned, each told. To be asked once all is read."""
    before = source.span.watermarks
    changes = tuple(drift(before.shapes, source.next_watermarks().shapes)) if before is not None else ()
    for change in changes:
        emit(Event("field_changed", {"stream": change.stream, "field": change.field, "how": change.kind}))
    return changes


def expected_archive(folder: Path) -> str:
    """The identity of the archive that a run counts on; empty if it counts on none."""
    proposed = read_watermarks(folder / PROPOSED_MARKS)
    return proposed.archive if proposed is not None else ""


def healed_streams(folder: Path) -> Mapping[str, int]:
    """By stream how much a run took that the runs before it had missed."""
    proposed = read_watermarks(folder / PROPOSED_MARKS)
    return proposed.healed if proposed is not None else {}


def watermarks_file(to: Connection, archive: str) -> Path:
    """Where the marks for that archive (by its address or folder) are kept."""
    return _place(to, archive)


def known_file(to: Connection, archive: str) -> Path:
    """Where the keys that archive holds are kept."""
    return to.state_file(f"known-{_digest(archive)}.db")


def forget_watermarks(to: Connection) -> tuple[Path, ...]:
    """Removes the marks of a connection for every archive, and says which files they were; the next plan reads all."""
    prefixes = [place.name.rpartition("-")[0] for place in (_place(to, ""), known_file(to, ""))]
    paths = tuple(sorted(path for prefix in prefixes for path in to.state_folder().glob(f"{prefix}-*")))
    for path in paths:
        path.unlink(missing_ok=True)
    return paths


def commit_watermarks(
    source: ConnectorSource,
    folder: Path,
    archive: str,
    identity: str,
    left_out: LeftOut,
    *,
    now_s: float,
    delivered: bool = False,
) -> None:
    """A run is archived: its marks count from now on, with what is to be asked for again. Streams that must be read
    whole again keep their old marks; marks that are further on already stay. The hints it was planned with are taken,
    unless a stream is to be read again: they may have told of it."""
    proposed = read_watermarks(folder / PROPOSED_MARKS)
    if proposed is None:
        return
    place = _place(source.to, archive)
    current = read_watermarks(place)
    streams = {
        name: replace(mark, again=tuple(dict.fromkeys((*mark.again, *left_out.again.get(name, ())))))
        for name, mark in proposed.streams.items()
        if name not in left_out.whole_streams
    }
    shapes = proposed.shapes
    if current is not None and current.archive == identity and current.tenant == proposed.tenant:
        for name, mark in current.streams.items():
            if name not in streams or mark.until > streams[name].until:
                streams[name] = mark
        shapes = {**current.shapes, **shapes}
    write_watermarks(place, Watermarks(proposed.tenant, identity, streams, shapes, is_delivered=delivered))
    if proposed.hints is not None and not left_out.whole_streams:  # what they named may be among it
        store.take_hints(source.to.environment, source.to.full_name, proposed.hints, now_s)


def _cap_at_hints(watermarks: Watermarks, hints: Hints) -> Watermarks:
    """Marks that lie no later than the first hint."""
    since = datetime.fromtimestamp(hints.since_s, UTC)
    streams = {name: replace(mark, until=min(mark.until, since)) for name, mark in watermarks.streams.items()}
    return replace(watermarks, streams=streams)


def _place(to: Connection, archive: str) -> Path:
    return to.state_file(f"marks-{_digest(archive)}.json")


def _digest(archive: str) -> str:
    return hashlib.sha256(archive.encode()).hexdigest()[:16]
