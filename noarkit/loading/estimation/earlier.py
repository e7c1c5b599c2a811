"""What earlier loads into an archive really took, kept in their journals, as figures for the next estimate."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from noarkit.errors import NoarkitError
from noarkit.loading.estimation.demand import demand_of
from noarkit.loading.estimation.figures import DEFAULTS, Figure, Figures, Measurement
from noarkit.loading.estimation.model import Setup, time_of
from noarkit.loading.folder import RunFolder

_LEAST_S = 1.0
_SURE = (0.7, 1.5)


@dataclass(frozen=True, slots=True)
class EarlierLoad:
    """A run that was loaded in one go: how long that took, and with how many workers."""

    folder: RunFolder
    seconds: float
    workers: int
    ended_at: float


def earlier_measurement(folder: RunFolder, archive: str | None, setup: Setup) -> Measurement | None:
    """Figures by the run's own load into this archive (or any), else by the latest beside it; None if there is none."""
    own = folder.path.resolve()
    loads = sorted(
        earlier_loads(folder, archive), key=lambda load: (load.folder.path == own, load.ended_at), reverse=True
    )
    for load in loads:
        try:
            demand = demand_of(load.folder)
        except NoarkitError:
            continue
        modelled = time_of(demand, DEFAULTS, setup, max(load.workers, 1))
        factor = load.seconds / modelled.seconds
        return Measurement(scaled_figures(DEFAULTS, factor), "run", where=load.folder.name)
    return None


def scaled_figures(figures: Figures, factor: float) -> Figures:
    """Figures of which all are `factor` times as long, and as sure as those of one load are."""

    def scaled(name: str) -> Figure:
        likely = getattr(figures, name).likely * factor
        return Figure(likely * _SURE[0], likely, likely * _SURE[1])

    names = (
        "query",
        "upload",
        "byte",
        "transaction",
        "action",
        "source_open",
        "source_byte",
        "entity",
        "here",
        "here_entity",
    )
    return replace(figures, **{name: scaled(name) for name in names})  # type: ignore[arg-type]  # each is a Figure


def earlier_loads(folder: RunFolder, archive: str | None) -> Iterator[EarlierLoad]:
    """The run, and those beside it, as far as they were loaded in one go into this archive.

    What took less than a second tells nothing of another plan, but all of the run's own.
    """
    for path in sorted(folder.path.resolve().parent.iterdir()):
        journal = path / "run.db"
        if journal.is_file() and (path / "plan.json").is_file():
            load = _read_load(RunFolder(path), archive)
            if load is not None and (load.seconds >= _LEAST_S or path == folder.path.resolve()):
                yield load


def _read_load(folder: RunFolder, archive: str | None) -> EarlierLoad | None:
    """One run's load, read without changing anything; None if it took several goes, or went elsewhere."""
    try:
        with closing(_read_only(folder.journal)) as db:
            where = db.execute("SELECT value FROM meta WHERE name = 'where'").fetchone()
            notes = db.execute(
                "SELECT at, name, data FROM event WHERE name IN ('ingest_began', 'ingest_ended') ORDER BY n"
            ).fetchall()
    except sqlite3.Error:
        return None
    if where is None or (archive is not None and where[0] != archive) or len(notes) < 2:
        return None
    (began_at, began, facts), (ended_at, ended, outcome) = notes[:2]
    if (began, ended) != ("ingest_began", "ingest_ended") or orjson.loads(outcome).get("state") != "done":
        return None
    workers = orjson.loads(facts).get("workers")
    if not isinstance(workers, int) or ended_at <= began_at:
        return None
    return EarlierLoad(folder, ended_at - began_at, workers, ended_at)


def _read_only(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
