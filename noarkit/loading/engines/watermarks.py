"""What the runs of a connection leave for the next: hints that are covered, marks that move on once all is archived.

Each step does nothing for a source that is no connection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from itertools import chain, islice
from typing import TYPE_CHECKING

from noarkit.errors import OtherArchive
from noarkit.events import Event, Listener
from noarkit.loading import preflight
from noarkit.loading.engines.assembly import ArchiveTarget, IngestResult
from noarkit.loading.engines.connections import connection_of
from noarkit.loading.engines.worker_factory import connect_archive
from noarkit.loading.folder import RunFolder
from noarkit.loading.follow_up import SINCE_ARCHIVE
from noarkit.loading.numbers import outcomes
from noarkit.recipes.record_keys import document_identity, folder_source_key
from noarkit.records import PROPOSED_MARKS, Source, innermost
from noarkit.safe.spill import KeySet
from noarkit.wings import require_wing

if TYPE_CHECKING:
    from noarkit.services.drift import Change
    from noarkit.services.source import ConnectorSource
    from noarkit.services.source.run_watermarks import LeftOut

_A_BATCH = 10_000


@dataclass(slots=True)
class PlanningNotes:
    """What was noticed while a connection was planned: hints that waited, and fields that are others than last time,
    to be asked for once all is read."""

    hints: int = 0
    changes: Callable[[], tuple[Change, ...]] = tuple


@contextmanager
def plan_with_watermarks(source: Source, folder: RunFolder, emit: Listener) -> Iterator[PlanningNotes]:
    """While the block plans a source, its run bears the marks that it will have earned."""
    noticed = PlanningNotes()
    connection = connection_of(source)
    if connection is None:
        yield noticed
        return
    from noarkit.services.source import run_watermarks

    connection.check_tenant()
    noticed.hints = run_watermarks.emit_hints(connection, emit)
    # a plan never stands without the archive that it counts on
    run_watermarks.propose_watermarks(connection, folder.path)
    noticed.changes = cache(partial(run_watermarks.changed_fields, connection, emit))  # told once
    yield noticed
    noticed.changes()
    connection.emit_healed(connection.next_watermarks().healed, emit)
    run_watermarks.propose_watermarks(connection, folder.path)


def drop_foreign_marks(source: Source, identity: Callable[[], str | None], emit: Listener) -> Source:
    """The source, without marks that another archive earned which stood at the same place before: all is read then.

    `identity` tells which archive stands there: None if that cannot be asked, empty if none does. Marks that a
    receipt proved count all the same: their archive stands elsewhere.
    """
    connection = connection_of(source)
    if connection is None:
        return source
    watermarks = connection.span.watermarks
    if watermarks is None or watermarks.is_delivered or not watermarks.archive:
        return source
    archive_identity = identity()
    if archive_identity is None or archive_identity == watermarks.archive:
        return source
    emit(Event("remark", {"stream": "", "why": "other-archive"}))
    return replace(connection, span=replace(connection.span, watermarks=None, known_file=None))


def name_successor(source: Source | None, archive: str, now_s: float) -> None:
    """Says of a connection what its next plan into that archive would read."""
    connector = None if source is None else connection_of(innermost(source))
    if connector is not None:
        from noarkit.services.source import run_watermarks

        run_watermarks.name_successor(connector, archive, datetime.fromtimestamp(now_s, UTC))


def check_archive(folder: RunFolder, source: Source, target: ArchiveTarget, emit: Listener) -> None:
    """Raises `OtherArchive` for a run that was planned from the marks, or as a follow-up to a run, of an archive that
    this is not."""
    by_marks = _archive_of_marks(folder)
    expected_archive = by_marks or str(folder.plan().get(SINCE_ARCHIVE) or "")
    if expected_archive:
        with closing(connect_archive(target.settings, emit=emit)) as connection:
            identity = preflight.find_identity(connection) or target.name
        if identity != expected_archive:
            raise OtherArchive(
                where=str(folder.path),
                expected=expected_archive,
                found=identity,
                **(_marks_in_the_way(source, target.name) if by_marks else {}),
            )


def _archive_of_marks(folder: RunFolder) -> str:
    """The archive that a run counts on by the marks it bears; nothing where it bears none."""
    if not (folder.path / PROPOSED_MARKS).is_file():
        return ""
    require_wing("services")
    from noarkit.services.source import run_watermarks

    return run_watermarks.expected_archive(folder.path)


def _marks_in_the_way(source: Source, archive: str) -> dict[str, object]:
    """The connection whose marks a plan was read from, and the file they are kept in."""
    connector = connection_of(innermost(source))
    if connector is None:
        return {}
    from noarkit.services.source import run_watermarks

    to = connector.to
    return {"connection": to.full_name, "marks": str(run_watermarks.watermarks_file(to, archive))}


def keep_watermarks(source: Source, result: IngestResult, now_s: float, emit: Listener) -> None:
    """Marks move on, and what was left out is asked for again; a stream that cannot be asked so keeps its own mark.
    What the runs before had missed is told."""
    connection = connection_of(innermost(source))
    if connection is None or result.state != "done" or result.dry_run:
        return
    from noarkit.services.source.run_watermarks import commit_watermarks, healed_streams

    with closing(result.folder.open_journal()) as journal:
        identity = journal.meta("archive") or result.archive
    held_keys = (outcome.key for outcome in outcomes(result.folder, "archived", "already_there"))
    _keep_known_keys(connection, result.folder, result.archive, identity, held_keys, now_s)
    connection.emit_healed(healed_streams(result.folder.path), emit)
    left_out = _left_out(connection, _streams_by_key(result.folder))
    if left_out is not None:
        commit_watermarks(connection, result.folder.path, result.archive, identity, left_out, now_s=now_s)


def keep_delivered_watermarks(
    source: Source,
    folder: RunFolder,
    archive: str,
    identity: str,
    told_items: Callable[[], Iterable[Mapping[str, object]]],
    now_s: float,
) -> None:
    """The same for what arrived elsewhere, in an archive that this side calls `archive`; `told_items` yields what its
    receipt tells of each record."""
    connection = connection_of(innermost(source))
    if connection is None:
        return
    from noarkit.services.source.run_watermarks import commit_watermarks

    held_keys = (str(item["key"]) for item in told_items() if item.get("state") in ("archived", "already_there"))
    _keep_known_keys(connection, folder, archive, identity, held_keys, now_s)
    with KeySet() as plan_keys:  # these tell their stream
        by_plan = [pair for pair in _streams_by_key(folder) if plan_keys.add(pair[0])]
        told_keys = (str(item["key"]) for item in told_items() if item.get("state") in ("set_aside", "refused"))
        left_out = _left_out(connection, (*by_plan, *((key, "") for key in told_keys if not plan_keys.has(key))))
    if left_out is not None:
        commit_watermarks(connection, folder.path, archive, identity, left_out, now_s=now_s, delivered=True)


def _keep_known_keys(
    source: ConnectorSource, folder: RunFolder, archive: str, identity: str, held_keys: Iterable[str], now_s: float
) -> None:
    """The keys that this run archived or found there are known from now on, with their documents, the places of those
    that do not tell theirs, and so is what the service deleted."""
    from noarkit.services.known_keys import KnownKeys, add_known_keys, document_key, place_key
    from noarkit.services.port import DELETED_THERE, DELETION_KEY_END
    from noarkit.services.source import run_watermarks

    deletions = (outcome for outcome in outcomes(folder, "skipped") if outcome.data.get("reason") == DELETED_THERE)
    gone_keys = (outcome.key.removesuffix(DELETION_KEY_END) for outcome in deletions)
    place = run_watermarks.known_file(source.to, archive)
    add_known_keys(place, identity, held_keys, gone_keys, now_s)
    with closing(KnownKeys(place)) as known_keys:
        more_keys = chain(
            (document_key(*names) for names in _planned_documents(folder) if known_keys.has(names[0])),
            (place_key(*names) for names in _planned_places(source, folder) if known_keys.has(names[0])),
        )
        while batch := list(islice(more_keys, _A_BATCH)):  # the file is not read while it is written
            add_known_keys(place, identity, batch, (), now_s)


def _planned_documents(folder: RunFolder) -> Iterator[tuple[str, str]]:
    """The key of each record of a plan with the identities of its documents, where they have such."""
    with closing(folder.graph_store()) as graph:
        rows = graph.db.execute(
            "SELECT r.key, e.key FROM entity e JOIN record r ON r.n = e.record WHERE e.type = 'Dokument'"
        )
        for key, name in rows:
            if identity := document_identity(name):
                yield key, identity


def _planned_places(source: ConnectorSource, folder: RunFolder) -> Iterator[tuple[str, str]]:
    """The key of each record of a plan that does not tell its case, with the source key of the folder it lies in."""
    from noarkit.services.registry import find_kind

    names_no_case = find_kind(source.to.service).names_no_case
    if names_no_case is None:
        return
    with closing(folder.graph_store()) as graph:
        rows = graph.db.execute(
            "SELECT r.key, p.key FROM record r JOIN entity e ON e.record = r.n JOIN entity p ON p.n = e.parent"
        )
        for key, parent_key in rows:
            if (place := folder_source_key(parent_key)) and names_no_case(key):
                yield key, place


def _streams_by_key(folder: RunFolder) -> Iterator[tuple[str, str]]:
    """The key of everything that was left out, and its stream where that is known."""
    return (
        (outcome.key, str(outcome.data.get("stream") or "")) for outcome in outcomes(folder, "set_aside", "refused")
    )


def _left_out(source: ConnectorSource, keys: Iterable[tuple[str, str]]) -> LeftOut | None:
    """What was left out, of keys with their streams; None where the stream of something is not known."""
    from noarkit.services.registry import find_kind
    from noarkit.services.source.run_watermarks import MOST_AGAIN, LeftOut

    again_id = find_kind(source.to.service).again_id
    again: dict[str, list[str]] = {}
    whole_streams: set[str] = set()
    for key, known_stream in keys:
        stream, name = again_id(key) or (known_stream, "")
        if not stream:
            return None
        if name and len(again.get(stream, ())) < MOST_AGAIN:
            again.setdefault(stream, []).append(name)
        else:
            whole_streams.add(stream)
    return LeftOut(again, frozenset(whole_streams))
