"""Joins the journals of a run's parts into `run.db`: from then on the run is as if one process had loaded it.

A union by keys that the plan has fixed. Whatever is not of this run, or says something else of the same thing, is a
clash, and then nothing is written. The new journal is made beside the old one and takes its place when it is whole, so
that the same call again does the same. What parts that are missing may have sent is in doubt, like what a lost worker
left.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from noarkit.errors import JournalsClash, OtherArchive, PartNotReady, PlanChanged, UsageFault
from noarkit.graph.store import GraphStore
from noarkit.loading.folder import AS_RUN, RunFolder
from noarkit.loading.journal import Journal
from noarkit.loading.numbers import Numbers, numbers
from noarkit.loading.part import (
    LINKS,
    SPINE,
    SPINE_JOURNAL,
    Part,
    check_whole_run,
    part_journals,
    part_of_journal,
    shards_of,
    spine_facts,
    unloaded_parts,
)
from noarkit.results import SPREAD, Result
from noarkit.safe import atomic
from noarkit.safe.disk import translate_sqlite_errors
from noarkit.safe.locks import claimed

_FINGERPRINT = "merged_fingerprint"
_LATEST_S = 1e15
"""A time of sending that is later than any: it counts as now when the run goes on."""
_CHUNK_COLUMNS = "key, shard, place, state, first_unit, first_bundle, first_n, last_unit, last_bundle, last_n"


@dataclass(frozen=True, slots=True)
class MergeResult(Result):
    """What was joined. `missing` are the parts without a journal, `open_shards` counts what is left to load of those
    that have one, by part."""

    EVENT: ClassVar = "merged"

    folder: RunFolder = field(metadata=AS_RUN)
    parts: tuple[str, ...]
    missing: tuple[str, ...]
    numbers: Numbers = field(metadata=SPREAD)
    open_shards: dict[str, int] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """True if every part is there and has loaded all its shards."""
        return not self.missing and not self.open_shards


@dataclass(frozen=True, slots=True)
class _PartJournal:
    """A journal to be joined, with the facts that must agree."""

    path: Path
    part: Part
    facts: dict[str, str]
    open_shards: int


def merge_journals(folder: RunFolder, paths: Sequence[Path], now_s: float) -> MergeResult:
    """Joins journals of parts (files, or folders that hold some; by default those of the run's own folder) into the
    journal of the run.

    Raises `PlanChanged`, `OtherArchive`, `JournalsClash`, `RunLocked`, and `PartNotReady` without the spine's journal.
    """
    places = _journals_at(paths) if paths else part_journals(folder.path)
    with ExitStack() as stack:
        stack.enter_context(folder.locked())
        for place in places:
            stack.enter_context(claimed(place.with_suffix(".lock"), str(place)))
        graph = stack.enter_context(closing(folder.open_graph()))
        check_not_gone_on(folder)
        parts = _checked_parts(folder, places)
        target = folder.path / f"{folder.journal.name}.merging"
        _remove(target)
        try:
            _write(target, graph, parts, now_s)
            _take_the_place(target, folder.journal)
        finally:
            _remove(target)
    count = next((part.part.count for part in parts if part.part.count), 0)
    numbers_present = {part.part.number for part in parts}
    return MergeResult(
        folder,
        tuple(str(part.part) for part in parts),
        tuple(f"{n}/{count}" for n in range(1, count + 1) if n not in numbers_present),
        numbers(folder),
        {str(part.part): part.open_shards for part in parts if part.open_shards},
    )


def check_before_load(folder: RunFolder) -> None:
    """Refuses a load that would come too early or too late among the parts of a run.

    Raises `PartNotReady`, `UsageFault`, `PlanChanged`.
    """
    part = folder.part
    if part is None:
        check_whole_run(folder.path)
    elif part.kind == LINKS:
        if not folder.journal.exists():
            parts = unloaded_parts(folder.path)
            why = "units-open" if parts else "units-apart"
            raise PartNotReady(where=str(folder.path), why=why, parts=", ".join(parts) or None)
    else:
        check_not_gone_on(RunFolder(folder.path))
        if part.kind != SPINE:
            spine_facts(folder.path / SPINE_JOURNAL, str(folder.plan()["sha256"]))


def check_not_gone_on(folder: RunFolder) -> None:
    """Raises `UsageFault` where the run has a journal that was not joined from parts, or has gone on since."""
    if not folder.journal.exists():
        return
    # Opened to write: what a crash left beside it is brought in, before another takes its place.
    with closing(folder.open_journal()) as journal:
        fingerprint = journal.meta(_FINGERPRINT)
        journal.checkpoint()
    if fingerprint != _fingerprint(folder.journal):
        raise UsageFault(what="run-gone-on", where=str(folder.journal))


def _journals_at(paths: Iterable[Path]) -> list[Path]:
    places: dict[Path, None] = {}
    for path in paths:
        inside = part_journals(path) if path.is_dir() else [path]
        if not inside or not all(place.is_file() and part_of_journal(place) for place in inside):
            raise UsageFault(what="no-part-journal", where=str(path))
        places.update(dict.fromkeys(place.resolve() for place in inside))
    return list(places)


def _checked_parts(folder: RunFolder, places: Iterable[Path]) -> list[_PartJournal]:
    """The journals as parts of this run, the spine first. A copy of the spine's beside each part counts once."""
    parts: dict[Part, _PartJournal] = {}
    for place in places:
        part = _read_part(place)
        first = parts.get(part.part)
        if first is None:
            parts[part.part] = part
        elif part.part.kind != SPINE or part.facts.get("mark") != first.facts.get("mark"):
            raise JournalsClash(where=f"{first.path}, {place}", why="clash-part", key=str(part.part))
    spine = parts.get(Part(SPINE))
    if spine is None or "mark" not in spine.facts:
        raise PartNotReady(where=str(folder.path / SPINE_JOURNAL), why="spine-missing")
    plan = str(folder.plan()["sha256"])
    for part in parts.values():
        # A part that was stopped before its first chunk may not have written all of them.
        if part.facts.get("plan", plan) != plan:
            raise PlanChanged(where=str(part.path), frozen=plan, found=part.facts["plan"])
        archive, mark = spine.facts.get("archive"), spine.facts["mark"]
        if part.facts.get("archive", archive) != archive:
            raise OtherArchive(where=str(part.path), expected=archive, found=part.facts["archive"])
        if part.facts.get("mark", mark) != mark:
            raise JournalsClash(where=str(part.path), why="clash-mark")
    counts = {part.part.count for part in parts.values() if part.part.count}
    if len(counts) > 1:
        raise JournalsClash(where=str(folder.path), why="clash-count", key=", ".join(map(str, sorted(counts))))
    return sorted(parts.values(), key=lambda part: (part.part.kind != SPINE, part.part.number))


def _read_part(path: Path) -> _PartJournal:
    # By way of the journal, which brings in what a crash left beside it and an older version up to this one.
    with closing(Journal(path, is_shared=True)) as journal:
        open_shards = len(journal.open_shards())
    with translate_sqlite_errors(path), closing(sqlite3.connect(path)) as db:
        facts = dict(db.execute("SELECT name, value FROM meta"))
    part = part_of_journal(path)
    assert part is not None  # noqa: S101  # by its name
    return _PartJournal(path, part, facts, open_shards)


def _write(target: Path, graph: GraphStore, parts: Sequence[_PartJournal], now_s: float) -> None:
    """The joined journal, whole and on the disk."""
    with closing(Journal(target)) as journal:
        journal.adopt(graph)
    with translate_sqlite_errors(target), closing(sqlite3.connect(target, isolation_level=None)) as db:
        db.execute("PRAGMA synchronous = NORMAL")
        present: set[int] = set()
        for part in parts:
            own = frozenset({0}) if part.part.kind == SPINE else shards_of(part.part, graph)
            present |= own
            with _attached(db, part.path):
                _check_same_entities(db, graph, part)
                _take_rows(db, part, own)
        absent = [n for n, kind, *_ in graph.shards() if kind == "unit" and n not in present]
        db.executemany(
            "UPDATE chunk SET state = 'in_doubt', sent_at = ?, code = 'F431' WHERE shard = ?",
            [(_LATEST_S, n) for n in absent],
        )
        _write_facts(db, parts, now_s)
    with translate_sqlite_errors(target), closing(sqlite3.connect(target, isolation_level=None)) as db:
        db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_FINGERPRINT, _fingerprint(target)))
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


@contextmanager
def _attached(db: sqlite3.Connection, path: Path) -> Iterator[None]:
    db.execute("ATTACH ? AS part", (str(path),))
    try:
        with _transaction(db):
            yield
    finally:
        db.execute("DETACH part")


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _check_same_entities(db: sqlite3.Connection, graph: GraphStore, part: _PartJournal) -> None:
    clash = db.execute(
        "SELECT p.n FROM part.entity p JOIN entity e ON e.n = p.n"
        " WHERE e.id IS NOT p.id OR e.state != p.state OR e.sha256 IS NOT p.sha256 LIMIT 1"
    ).fetchone()
    if clash is not None:
        raise JournalsClash(where=str(part.path), why="clash-entity", key=graph.entity(clash[0]).key)
    clash = db.execute(
        "SELECT p.bundle FROM part.left_out p JOIN left_out l ON l.bundle = p.bundle"
        " WHERE l.state != p.state OR l.code != p.code LIMIT 1"
    ).fetchone()
    if clash is not None:
        raise JournalsClash(where=str(part.path), why="clash-entity", key=graph.entity(clash[0]).key)


def _take_rows(db: sqlite3.Connection, part: _PartJournal, own: frozenset[int]) -> None:
    """All that a part's journal knows; of shards and chunks, only its own."""
    adopted = {n for (n,) in db.execute("SELECT n FROM part.shard")}
    if not adopted <= own | {0}:
        raise JournalsClash(where=str(part.path), why="clash-shards")
    db.execute("CREATE TEMP TABLE IF NOT EXISTS own (n INTEGER PRIMARY KEY)")
    db.execute("DELETE FROM own")
    db.executemany("INSERT INTO own VALUES (?)", [(n,) for n in own & adopted])
    for table, column in (("shard", "n"), ("guard", "shard")):
        db.execute(f"DELETE FROM {table} WHERE {column} IN (SELECT n FROM own)")  # noqa: S608  # our own words
        db.execute(
            f"INSERT INTO {table} SELECT * FROM part.{table} WHERE {column} IN (SELECT n FROM own)"  # noqa: S608  # the same
        )
    db.execute("DELETE FROM chunk WHERE shard IN (SELECT n FROM own)")
    # Times of sending become the archive's, which all machines heard; where a part heard none, they count as now.
    ahead = part.facts.get("archive_ahead_s")
    db.execute(
        f"INSERT INTO chunk ({_CHUNK_COLUMNS}, sent_at, code)"  # noqa: S608  # the same
        f" SELECT {_CHUNK_COLUMNS}, iif(sent_at IS NULL, NULL, coalesce(sent_at + ?, ?)), code"
        " FROM part.chunk WHERE shard IN (SELECT n FROM own)",
        (float(ahead) if ahead else None, _LATEST_S),
    )
    for table in ("entity", "left_out", "finding"):
        db.execute(f"INSERT OR IGNORE INTO {table} SELECT * FROM part.{table}")  # noqa: S608  # the same
    db.execute(
        "INSERT INTO event (at, name, data) SELECT at, name, json_set(data, '$.part', ?) FROM part.event ORDER BY n",
        (str(part.part),),
    )


def _write_facts(db: sqlite3.Connection, parts: Sequence[_PartJournal], now_s: float) -> None:
    spine = parts[0].facts
    facts: dict[str, str] = {
        name: spine[name] for name in ("mark", "plan", "archive", "where", "started") if name in spine
    }
    for name in ("honours_versions", "sets_system_fields"):
        # What one part did without, nobody can count on for the whole.
        facts[name] = str(all(part.facts.get(name, "True") == "True" for part in parts))
    facts["boot"], facts["archive_ahead_s"] = "", "0"
    facts["merged"] = str(now_s)
    with _transaction(db):
        db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", facts.items())
        rows = db.execute("SELECT at, name, data FROM event ORDER BY at, n").fetchall()
        db.execute("DELETE FROM event")
        db.executemany("INSERT INTO event (at, name, data) VALUES (?, ?, ?)", rows)


def _fingerprint(journal: Path) -> str:
    """What changes as soon as a journal goes on: each load, closing and retry adds to its story or its outcomes."""
    questions = (
        "SELECT count(*), coalesce(max(n), 0) FROM event",
        "SELECT count(*) FROM left_out",
        "SELECT state, count(*) FROM chunk GROUP BY state ORDER BY state",
        "SELECT n, state, attempt FROM shard ORDER BY n",
        "SELECT state, count(*) FROM finding GROUP BY state ORDER BY state",
        "SELECT name, value FROM meta WHERE name IN ('mark', 'merged', 'closed') ORDER BY name",
    )
    with translate_sqlite_errors(journal), closing(sqlite3.connect(journal)) as db:
        answers = [db.execute(question).fetchall() for question in questions]
    return hashlib.sha256(repr(answers).encode()).hexdigest()


def _take_the_place(target: Path, journal: Path) -> None:
    with target.open("rb") as file:
        os.fsync(file.fileno())
    # The old one was opened and closed, so that nothing is left beside it that the new one could take for its own.
    _remove_beside(journal)
    target.replace(journal)
    atomic.sync_folder(journal.parent)


def _remove(journal: Path) -> None:
    journal.unlink(missing_ok=True)
    _remove_beside(journal)


def _remove_beside(journal: Path) -> None:
    for suffix in ("-wal", "-shm", "-journal"):
        journal.with_name(journal.name + suffix).unlink(missing_ok=True)
