"""What the runs of a connection leave for the next: hints that are covered, marks that move on once all is archived.

Each step does nothing for a source that is no connection.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace

from noarkit.errors import OtherArchive
from noarkit.events import Event, Listener
from noarkit.graph.store import GraphStore
from noarkit.loading import preflight
from noarkit.loading.engines.assembly import ArchiveTarget, IngestResult
from noarkit.loading.engines.worker_factory import connect_archive
from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import Numbers
from noarkit.records import Source, innermost
from noarkit.services.drift import Change
from noarkit.services.source import ConnectorSource, run_watermarks


@dataclass(slots=True)
class PlanningNotes:
    """What was noticed while a connection was planned: hints that waited, and fields that are others than last time."""

    hints: int = 0
    changes: tuple[Change, ...] = ()


@contextmanager
def plan_with_watermarks(source: Source, folder: RunFolder, emit: Listener) -> Iterator[PlanningNotes]:
    """While the block plans a source, its run bears the marks that it will have earned; `changes` stand afterwards."""
    noticed = PlanningNotes()
    if not isinstance(source, ConnectorSource):
        yield noticed
        return
    noticed.hints = run_watermarks.emit_hints(source, emit)
    run_watermarks.propose_watermarks(source, folder.path)  # a plan never stands without the archive that it counts on
    yield noticed
    noticed.changes = run_watermarks.changed_fields(source, emit)
    run_watermarks.propose_watermarks(source, folder.path)


def drop_foreign_marks(source: Source, identity: Callable[[], str | None], emit: Listener) -> Source:
    """The source, without marks that another archive earned which stood at the same place before: all is read then.

    `identity` tells which archive stands there: None if that cannot be asked, empty if none does. Marks that a
    receipt proved count all the same: their archive stands elsewhere.
    """
    if not isinstance(source, ConnectorSource):
        return source
    watermarks = source.span.watermarks
    if watermarks is None or watermarks.is_delivered or not watermarks.archive:
        return source
    archive_identity = identity()
    if archive_identity is None or archive_identity == watermarks.archive:
        return source
    emit(Event("remark", {"stream": "", "why": "other-archive"}))
    return replace(source, span=replace(source.span, watermarks=None))


def check_archive(folder: RunFolder, target: ArchiveTarget, emit: Listener) -> None:
    """Raises `OtherArchive` for a run that was planned from the marks of an archive that this is not."""
    expected_archive = run_watermarks.expected_archive(folder.path)
    if expected_archive:
        with closing(connect_archive(target.settings, emit=emit)) as connection:
            identity = preflight.find_identity(connection) or target.name
        if identity != expected_archive:
            raise OtherArchive(where=str(folder.path), expected=expected_archive, found=identity)


def keep_watermarks(source: Source, result: IngestResult, now_s: float) -> None:
    """Marks move on where nothing was left out while loading; a stream that could not be read whole keeps its own."""
    source = innermost(source)
    if not isinstance(source, ConnectorSource) or result.state != "done" or result.dry_run:
        return
    with closing(result.folder.open_journal()) as journal:
        identity = journal.meta("archive") or result.archive
    left_out = _streams_left_out(result.folder, result.numbers)
    if left_out is not None:
        run_watermarks.commit_watermarks(source, result.folder.path, result.archive, identity, left_out, now_s=now_s)


def keep_delivered_watermarks(
    source: Source, folder: RunFolder, archive: str, identity: str, numbers: Numbers, now_s: float
) -> None:
    """The same for what arrived elsewhere, in an archive that this side calls `archive`."""
    source = innermost(source)
    left_out = _streams_left_out(folder, numbers)
    if isinstance(source, ConnectorSource) and left_out is not None:
        run_watermarks.commit_watermarks(source, folder.path, archive, identity, left_out, now_s=now_s, delivered=True)


def _streams_left_out(folder: RunFolder, numbers: Numbers) -> Collection[str] | None:
    """The streams of which something was left out while planning; None if something was left out besides."""
    with closing(GraphStore.open(folder.graph)) as graph:
        rows = graph.db.execute("SELECT data FROM record WHERE state = 'set_aside'")
        streams = [json.loads(data or "{}").get("stream") for (data,) in rows]
    if numbers.set_aside + numbers.refused != len(streams) or not all(streams):
        return None
    return {str(stream) for stream in streams}
