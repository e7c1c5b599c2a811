"""Connectors beside stand-ins: how fast records become entities where nothing limits us, beside plain httpx making the
very same calls; the same where every answer comes as late as one of a real service; and how much of a limit is used
where there is one. The stand-in runs in a process of its own and counts what it was asked; both share this machine.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import httpx

import noarkit
from noarkit.api.origins import source_at
from noarkit.config import Sources, load
from noarkit.events import ignore_event
from noarkit.services.connections import read_connection
from noarkit.services.settings import Connection
from noarkit.services.source import ConnectorSource
from noarkit.services.wire import Answer, Request, Wire
from noarkit.settings import Settings
from scripts.benchmarks.figures import machine, measured, medians, seconds, tell

_FREE = ("--limit", "100000000/60")
_IN_FLIGHT = 4
_SPEEDS = (("crm", 500, 0.0), ("spend", 5_000, 0.0), ("crm", 500, 0.05))
"""Service, how many records, and by how many seconds each answer is late: those of real ones take longer."""
_SPEND_LIMIT = (500, 60.0)
_LIMITS: tuple[tuple[tuple[int, float], ...], ...] = (((40, 1.0),), ((600, 60.0),), ((20, 1.0), (60, 5.0)))


def run(rounds: int, *, small: bool, only: str) -> None:
    """Tells every figure, or those whose name holds `only`."""
    load_told = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"connectors on {machine()}, load {load_told}")
    print("| what | ours | beside it | ratio | beside what |\n|---|---|---|---|---|")
    for service, records, late_s in _SPEEDS:
        if only in f"{service}{', late' if late_s else ''}":
            _speed(service, records // 10 if small else records, 1 if small else rounds, late_s)
    if only in "spend, at its limit":
        _at_its_limit(*((2_000, (50, 6.0)) if small else (20_000, _SPEND_LIMIT)))
    if "limit" in only or not only:
        for windows in _LIMITS[:1] if small else _LIMITS:
            _limit(windows)


@dataclass(slots=True)
class _Round:
    """What one round came to."""

    records: int
    entities: int
    own_s: float


def _speed(service: str, records: int, rounds: int, late_s: float) -> None:
    """A plan, from the first call until it is frozen, beside the same calls and nothing else."""
    with (
        tempfile.TemporaryDirectory(prefix="noarkit-bench-") as place,
        _standin(service, place, records, late_s=late_s) as (_, home),
    ):
        calls = _calls_of(service, home)
        done: list[_Round] = []

        def ours() -> float:
            began = time.perf_counter()
            done.append(_round(service, home, len(done)))
            return done[-1].records / (time.perf_counter() - began)

        speed, floor, ratio = medians(rounds, ours, lambda: done[-1].records / _bare(calls))
    name = f"{service}, {records} there" + (f", answers {late_s * 1000:.0f} ms late" if late_s else "")
    what = "bare httpx, the same calls, four at once"
    tell(f"{name}: records planned", speed, "records/s", floor, what, ratio)
    for unit, count in (("entities", done[-1].entities), ("calls", len(calls))):
        more = count / done[-1].records
        tell(f"{name}: {unit}", speed * more, f"{unit}/s", floor * more, what, ratio)
    by_processor = statistics.median(one.records / one.own_s for one in done)
    tell(f"{name}: records by our own processor time", by_processor, "records/s", what=f"{done[0].records:,} records")


def _round(service: str, home: Path, number: int) -> _Round:
    folder, archive = home / f"run{number}", f"embedded:{home}/a"
    own = time.process_time()
    done = noarkit.plan(f"{service}:standin", folder, archive=archive, settings=_site(home))
    return _Round(sum(done.records.values()), sum(done.entities.values()), time.process_time() - own)


def _bare(calls: Sequence[Request]) -> float:
    """How long plain httpx takes for the same calls, four at once."""
    with httpx.Client(trust_env=False) as client, ThreadPoolExecutor(_IN_FLIGHT) as pool:

        def send(one: Request) -> int:
            headers = {**one.headers, **({"Content-Type": one.media_type} if one.media_type else {})}
            asked = client.request(one.method, one.url, params=one.params or None, headers=headers, content=one.body)
            return len(asked.content)

        began = time.perf_counter()
        for _ in pool.map(send, calls):
            pass
        return time.perf_counter() - began


@dataclass(slots=True)
class _Noting:
    """A wire that remembers what was sent."""

    wire: Wire
    sent: list[Request] = field(default_factory=list)

    def send(self, request: Request) -> Answer:
        """Sends, and notes it."""
        self.sent.append(request)
        return self.wire.send(request)

    def __getattr__(self, name: str) -> object:
        return getattr(self.wire, name)


def _calls_of(service: str, home: Path) -> list[Request]:
    """Every call that reading the service takes."""
    source = source_at(f"{service}:standin", _site(home))
    assert isinstance(source, ConnectorSource)
    client = source.service.calls.client  # type: ignore[attr-defined]  # both services have one
    client.wire = noting = _Noting(client.wire)
    for _ in source.records(ignore_event):
        pass
    source.release()
    return noting.sent


def _at_its_limit(records: int, window: tuple[int, float]) -> None:
    """A plan of the spend service as often as the service lets us ask, beside the least time that so many calls take
    there."""
    calls_allowed, span_s = window
    limit = ("--limit", f"{calls_allowed}/{span_s:g}")
    with (
        tempfile.TemporaryDirectory(prefix="noarkit-bench-") as place,
        _standin("spend", place, records, limit) as (url, home),
    ):
        done: list[_Round] = []
        took_s = measured(lambda: seconds(lambda: done.append(_round("spend", home, 0))))
        counted = httpx.get(f"{url}/standin/counts", trust_env=False).json()["limits"]
    least_s = _ideal((window,), calls=counted["calls"])[-1]
    name, planned = f"spend, {records} there, {calls_allowed} calls in {span_s:g} s", done[0].records
    what = f"the most that it allows: {counted['calls']:,} calls"
    tell(f"{name}: records planned", planned / took_s, "records/s", planned / least_s, what, least_s / took_s)


def _limit(windows: tuple[tuple[int, float], ...]) -> None:
    """Calls by four threads against windows: how much of them is used, and how often one was passed."""
    told = " and ".join(f"{calls} in {span_s:g} s" for calls, span_s in windows)
    asked = tuple(word for calls, span_s in windows for word in ("--limit", f"{calls}/{span_s:g}"))
    times = _ideal(windows, least_s=20.0)
    with tempfile.TemporaryDirectory(prefix="noarkit-bench-") as place, _standin("crm", place, 5, asked) as (url, home):
        site = _site(home)
        found = read_connection("crm:standin", site.config, site.environment)
        assert found is not None
        rates = [f"{calls}/{span_s:g}s" for calls, span_s in windows]
        source = source_at("crm:standin", site)
        assert isinstance(source, ConnectorSource)
        source.to = Connection(found.service, found.name, {**found.values, "rates": rates}, found.environment)
        service = source.service

        def ask(_: float) -> float:
            service.calls.modules()  # type: ignore[attr-defined]  # a Crm
            return time.perf_counter()

        with ThreadPoolExecutor(_IN_FLIGHT) as pool:
            answered = sorted(pool.map(ask, times))
        source.release()
        counted = httpx.get(f"{url}/standin/counts", trust_env=False).json()["limits"]
    # from when every window had been filled once: before that the machine sets the pace, not the limit
    full = max(calls for calls, _ in windows) - 1
    took_s, least_s, calls = answered[-1] - answered[full], times[-1] - times[full], len(times) - full - 1
    tell(f"within {told}", calls / took_s, "calls/s", calls / least_s, "the most that it allows", least_s / took_s)
    tell(
        f"within {told}: over it", counted["refused"], "calls", what=f"counted by the stand-in, of {counted['calls']:,}"
    )


def _ideal(windows: tuple[tuple[int, float], ...], least_s: float = 0.0, calls: int = 0) -> list[float]:
    """When each call could go that took no time at all: so many, or until some go after so many seconds."""
    times: list[float] = []
    while len(times) < calls if calls else not times or times[-1] < least_s or len(times) % windows[0][0]:
        waits = [times[-allowed] + span_s for allowed, span_s in windows if len(times) >= allowed]
        times.append(max([*waits, times[-1] if times else 0.0]))
    return times


def _site(home: Path) -> Settings:
    environment = {"HOME": str(home)}
    return Settings(load(Sources(environment=environment, file=home / "standin.toml")), environment)


@contextlib.contextmanager
def _standin(
    service: str, place: str, records: int, limit: tuple[str, ...] = _FREE, late_s: float = 0.0
) -> Iterator[tuple[str, Path]]:
    """A stand-in in a process of its own, and where its config lies."""
    home = Path(place)
    config = home / "standin.toml"
    command = [sys.executable, "-m", "noarkit", "standin", service, "--records", str(records), "--json", *limit]
    command += ["--config-out", str(config)]
    if late_s:
        command = [
            sys.executable,
            "-m",
            "scripts.benchmarks.late_standin",
            service,
            f"{records}",
            f"{late_s}",
            f"{config}",
        ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["url"], home
    finally:
        process.terminate()
        process.wait(20)
