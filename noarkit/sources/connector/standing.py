"""Marks across runs: proposed when a run is planned, kept once all of it is archived, used by the next plan for the
same archive. They lie with the connection's own state, one file for each archive, and may be deleted at any time."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from noarkit.connectors.marks import Marks, read_marks, write_marks
from noarkit.connectors.settings import Connection
from noarkit.sources.connector.source import ConnectorSource

PROPOSED = "marks.json"


def marks_for(to: Connection, archive: str) -> Marks | None:
    """What stands for that archive (by its address or folder); None where nothing was archived there yet."""
    return read_marks(_place(to, archive))


def from_marks(source: ConnectorSource, archive: str | None) -> ConnectorSource:
    """The source, read from the marks that stand for that archive."""
    marks = marks_for(source.to, archive) if archive else None
    return source if marks is None else replace(source, span=replace(source.span, marks=marks))


def propose(source: ConnectorSource, folder: Path) -> None:
    """Leaves with a run the marks that it will have earned, and the identity of the archive it counts on."""
    before = source.span.marks
    write_marks(folder / PROPOSED, replace(source.marks(), archive=before.archive if before else ""))


def counts_on(folder: Path) -> str:
    """The identity of the archive that a run counts on; empty where it counts on none."""
    proposed = read_marks(folder / PROPOSED)
    return proposed.archive if proposed is not None else ""


def keep(source: ConnectorSource, folder: Path, archive: str, identity: str, left_out: Collection[str]) -> None:
    """A run is archived: its marks count from now on, but for streams of which something was left out: those are read
    from their old marks again. Marks that are further on already stay."""
    proposed = read_marks(folder / PROPOSED)
    if proposed is None:
        return
    place = _place(source.to, archive)
    standing = read_marks(place)
    streams = {name: mark for name, mark in proposed.streams.items() if name not in left_out}
    if standing is not None and standing.archive == identity:
        for name, mark in standing.streams.items():
            if name not in streams or mark.until > streams[name].until:
                streams[name] = mark
    write_marks(place, Marks(proposed.tenant, identity, streams))


def _place(to: Connection, archive: str) -> Path:
    return to.state_file(f"marks-{hashlib.sha256(archive.encode()).hexdigest()[:16]}.json")
