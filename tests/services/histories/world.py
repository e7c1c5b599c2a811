"""A history that is played in a stand-in while noarkit reads it: runs at random moments, the last of them a sweep. No
time passes but what calls take and what the history lets pass."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import noarkit
from noarkit.cli.standin import find_standin
from noarkit.errors import NoarkitError
from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import Numbers, outcomes
from noarkit.services.standins.fake_data import SeededRandom
from noarkit.services.standins.histories.player import AppliedChange, HistoryPlayer
from noarkit.services.standins.histories.script import History
from noarkit.services.standins.server import ReadyStandin, Standin, StandinSpec, serve
from tests.services.histories.archived import ArchivedRecord, read_archived
from tests.services.histories.facts import Listing, Oracle
from tests.services.histories.promises import Promise, newly_archived
from tests.services.standing import Standing
from tests.waiting import PATIENCE_S

START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
CALL_S = 0.2
EMBEDDED = "embedded:"
_SKEWS_S = (-45.0, 0.0, 0.0, 0.0, 45.0)


@dataclass(slots=True)
class Run:
    """One run: the moments of the timeline between which it read, what it told, and what the archive held after it."""

    name: str
    begin: int
    until: datetime
    is_thorough: bool
    end: int = 0
    numbers: Numbers = field(default_factory=Numbers)
    deleted_keys: frozenset[str] = frozenset()
    left_out: dict[str, str] = field(default_factory=dict)
    fault: NoarkitError | None = None
    archived: list[ArchivedRecord] = field(default_factory=list)


@dataclass(slots=True)
class Played:
    """What happened: the listing after each change, and every run."""

    history: History
    timeline: list[Listing] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    applied: list[AppliedChange] = field(default_factory=list)
    promises: list[Promise] = field(default_factory=list)
    tenant: str = ""

    def during(self, run: Run) -> list[Listing]:
        """The listings that stood while a run read."""
        return self.timeline[run.begin : run.end + 1]


@dataclass(frozen=True, slots=True)
class Schedule:
    """When runs begin, in seconds since the history began, and how far our clock is ahead of the service's. At the
    places in `quiet` the run before is verified first, and nothing happens until the run has ended."""

    moments: tuple[float, ...]
    skew_s: float = 0.0
    quiet: frozenset[int] = frozenset()
    settings: Mapping[str, object] = field(default_factory=dict)
    faults: tuple[type[NoarkitError], ...] = ()
    """More lines of the connection, and the faults that may end a run: what it should have read is for the next."""


def draw_schedule(seed: int, oracle: Oracle, length_s: float = 3_600.0, runs: int = 3) -> Schedule:
    """Runs at random moments within a history, one after it, and one long after it, which sweeps. The first of these
    two is quiet; while the other one reads, what waits for a call may happen with each second seed."""
    dice = SeededRandom("schedule", seed)
    moments = sorted(float(dice.number(f"run{place}", int(length_s))) for place in range(runs))
    quiet = frozenset({runs, runs + 1} if seed % 2 else {runs})
    return Schedule((*moments, length_s, length_s + oracle.sweep_s), dice.choose("skew", _SKEWS_S), quiet)


def play(service: str, oracle: Oracle, history: History, schedule: Schedule, folder: Path, archive: str) -> Played:
    """Plays a history, and loads at each moment of the schedule."""
    history = replace(history, start=START, speed=0.0, call_s=CALL_S)
    seed = hash_of(history)
    options = {**oracle.options, "tenant": f"tenant-{seed}"}  # each history has its own in an archive
    spec = StandinSpec(oracle.records, seed, limits=(), options=options, archivable=oracle.archivable, history=history)
    with serving(service, spec, folder) as (held, standin):
        player: HistoryPlayer = standin.player
        with held.config.open("a") as config:
            config.writelines(f"{name} = {json.dumps(value)}\n" for name, value in schedule.settings.items())
        played = Played(history, applied=player.applied, tenant=oracle.tenant(standin))

        def look(applied: AppliedChange | None = None) -> None:
            played.timeline.append(oracle.listing(standin))

        player.on_applied = look
        look()
        for place, moment in enumerate(schedule.moments):
            player.advance_to(moment)
            good = [run for run in played.runs if run.fault is None]
            is_thorough = not good or place == len(schedule.moments) - 1
            load = partial(_load, held, player, played, schedule, archive, is_thorough=is_thorough)
            if place in schedule.quiet:
                with player.paused():
                    verified = _verify(held, player, played, schedule, archive)
                    played.runs.append(load())
                    _keep_promise(held, played, verified)
            else:
                played.runs.append(load())
            player.clock.advance(CALL_S)  # no run begins in the instant in which another ended
    return played


def _load(
    held: Standing,
    player: HistoryPlayer,
    played: Played,
    schedule: Schedule,
    archive: str,
    *,
    is_thorough: bool,
) -> Run:
    settings = _settings(held, player, schedule, archive)
    name = f"run{len(played.runs) + 1}"
    run = Run(name, len(played.timeline) - 1, datetime.fromtimestamp(settings.now_s(), UTC), is_thorough)
    place = held.home / name
    try:
        noarkit.plan(f"{held.service}:standin", place, archive=archive, settings=settings)
    except schedule.faults as fault:
        run.fault, run.end = fault, len(played.timeline) - 1
        return run
    run.numbers = noarkit.ingest(place, archive=archive, workers=1, settings=settings).numbers
    run.end = len(played.timeline) - 1
    run.archived = read_archived(Path(archive.removeprefix(EMBEDDED)), held.service, f"{played.tenant}:")
    found = list(outcomes(RunFolder(place), "set_aside", "refused", "skipped"))
    reasons = {entry.key: str(entry.data.get("reason") or entry.code) for entry in found}
    run.deleted_keys = frozenset(key for key, reason in reasons.items() if reason == "deleted-there")
    run.left_out = {key: reason for key, reason in reasons.items() if reason != "deleted-there"}
    return run


def _verify(
    held: Standing, player: HistoryPlayer, played: Played, schedule: Schedule, archive: str
) -> noarkit.VerifyResult:
    """Verifies the last run as far as its records and keys go."""
    settings = _settings(held, player, schedule, archive)
    return noarkit.verify(held.home / played.runs[-1].name, depth="counts", archive=archive, settings=settings)


def _keep_promise(held: Standing, played: Played, verified: noarkit.VerifyResult) -> None:
    """Notes what was said of the last run before it was planned, and what it archived."""
    before, run = played.runs[-2:]
    keys = newly_archived(held.home / before.name, held.home / run.name)
    promise = Promise(before.name, run.is_thorough, verified.source_new, verified.source_late, keys)
    played.promises.append(promise)


def _settings(held: Standing, player: HistoryPlayer, schedule: Schedule, archive: str) -> noarkit.Settings:
    """The settings of a caller by the clock of a history."""

    def now_s() -> float:
        return (START + timedelta(seconds=player.clock.elapsed_s + schedule.skew_s)).timestamp()

    return replace(held.site(archive), now_s=now_s)


def hash_of(history: History) -> int:
    """A number of a history, for the data that it begins with."""
    return SeededRandom("data", *history.changes).number("seed", 1 << 30)


@contextmanager
def serving(service: str, spec: StandinSpec, folder: Path) -> Iterator[tuple[Standing, Any]]:  # Any: each its own
    """A stand-in for the length of a block, with a look at its data."""
    opened: queue.Queue[ReadyStandin | BaseException] = queue.Queue()
    stopping = threading.Event()
    built: list[Standin] = []

    def build(url: str, spec: StandinSpec) -> Standin:
        built.append(find_standin(service)(url, spec))
        return built[0]

    def run() -> None:
        try:
            serve(service, build, spec, config_out=folder / "standin.toml", ready=opened.put, stop_event=stopping)
        except BaseException as error:
            opened.put(error)
            raise

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    ready = opened.get(timeout=PATIENCE_S)
    assert isinstance(ready, ReadyStandin), ready
    try:
        yield Standing(service, ready.url, folder / "standin.toml", folder), built[0]
    finally:
        stopping.set()
        thread.join(PATIENCE_S)
