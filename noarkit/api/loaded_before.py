"""Asks an archive, before a plan is frozen or loaded, whether it holds the same already from another root.

The one refusal of `plan` and `ingest`; it names the run that loaded it, where that is here, and the commands that help.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from noarkit.api.destination import Destination, open_target
from noarkit.archive.retry import RetryPolicy
from noarkit.errors import ArchiveFault, ConfigFault, LoadedBefore, NoarkitError, RunLocked
from noarkit.events import Event, EventFields, Listener
from noarkit.graph.store import GraphStore
from noarkit.loading.engines.assembly import ArchiveTarget
from noarkit.loading.engines.worker_factory import connect_archive
from noarkit.loading.folder import RunFolder, runs_in
from noarkit.loading.follow_up import read_earlier_run
from noarkit.loading.next_step import commands_for_other_root
from noarkit.loading.other_root import OtherRoot, find_other_root
from noarkit.loading.preflight import find_identity
from noarkit.loading.request import RunRequest, request_of_plan
from noarkit.places import own_kind
from noarkit.records import Source

EVENTS: EventFields = {"other_root_unknown": {"code": "text"}}
_BRIEFLY = RetryPolicy(patience_s=2)  # for a question that the work can do without


def refuse_plan_of_loaded(
    place: Destination, graph: GraphStore, source: Source, folder: RunFolder, request: RunRequest, emit: Listener
) -> None:
    """Raises `LoadedBefore` before a plan for this archive is frozen. An archive that is not there yet is not made, and
    one that cannot be opened is asked again by the load."""
    if place.embedded is not None and own_kind(place.embedded) != "archive":
        return
    try:
        with open_target(place) as target:
            _refuse(target, graph, source, folder, request, emit)
    except (ArchiveFault, ConfigFault, RunLocked) as fault:
        emit(Event("other_root_unknown", {"code": fault.code}))


def refuse_load_of_loaded(
    target: ArchiveTarget, folder: RunFolder, source: Source, request: RunRequest, emit: Listener
) -> None:
    """Raises `LoadedBefore` before the first load of a run, unless somebody said that the same may be loaded again, now
    or when it was planned."""
    planned = request_of_plan(folder)
    values = {**(planned.values if planned else {}), **request.values}
    if not (values.get("as-new") or values.get("same-as")):
        with closing(folder.graph_store()) as graph:
            _refuse(target, graph, source, folder, request, emit)


def _refuse(
    target: ArchiveTarget, graph: GraphStore, source: Source, folder: RunFolder, request: RunRequest, emit: Listener
) -> None:
    """Raises `LoadedBefore`; says so by an event where the archive does not answer."""
    try:
        with closing(connect_archive(target.settings, policy=_BRIEFLY, emit=emit)) as connection:
            other = find_other_root(connection, graph, source)
            if other is None:
                return
            loader = _run_of(other, find_identity(connection) or target.name, folder)
    except ArchiveFault as fault:  # what the load itself needs of the archive it asks for itself
        emit(Event("other_root_unknown", {"code": fault.code}))
        return
    raise LoadedBefore(
        where=graph.meta("external_system"),
        other=other.system,
        count=other.count,
        sampled=other.sampled,
        **({} if loader is None else {"run": str(loader.path)}),
        **commands_for_other_root(folder, request, loader),
    )


def _run_of(other: OtherRoot, identity: str, folder: RunFolder) -> RunFolder | None:
    """The newest run, here or beside the one at hand, that loaded keys of the other root into this archive."""
    for path in reversed(list(dict.fromkeys((*runs_in(folder.path.parent), *runs_in(Path()))))):
        try:
            earlier = read_earlier_run(RunFolder(path))
        except (NoarkitError, OSError, sqlite3.Error):
            continue  # never loaded, taken back, or no longer readable: its keys are of no use
        if (earlier.external_system, earlier.identity) == (other.system, identity):
            return earlier.folder
    return None
