"""Connectors beside stand-ins: how fast records become entities where nothing limits us, and how much of a limit is
used where one does. The stand-in runs in a process of its own and counts what it was asked; both share this machine.
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
from collections.abc import Iterator
from pathlib import Path

import httpx

import noarkit
from noarkit.config import Sources, load
from noarkit.connectors.settings import Connection, connection
from noarkit.journeys import Site, source_at
from noarkit.sources.connector import ConnectorSource
from scripts.benchmarks.figures import machine, tell

_FREE = ("--limit", "100000000/60")
_CALLS, _WINDOW_S = 40, 1.0


def run(rounds: int, *, small: bool, only: str) -> None:
    """Tells every figure, or those whose name holds `only`."""
    load_told = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"connectors on {machine()}, load {load_told}")
    print("| what | ours | beside it | ratio | beside what |\n|---|---|---|---|---|")
    for service, records in (("crm", 200), ("spend", 2_000)):
        if service in only or not only:
            _speed(service, records // 10 if small else records, 1 if small else rounds)
    if "limit" in only or not only:
        _limit(40 if small else 400)


def _speed(service: str, records: int, rounds: int) -> None:
    """A plan, from the first call until it is frozen: source records and entities by the second."""
    rates, entity_rates = [], []
    for _ in range(rounds):
        with (
            tempfile.TemporaryDirectory(prefix="noarkit-bench-") as place,
            _standin(service, place, records) as (_, home),
        ):
            began = time.perf_counter()
            done = noarkit.plan(f"{service}:standin", home / "run", archive=f"embedded:{home}/a", settings=_site(home))
            took = time.perf_counter() - began
            rates.append(sum(done.records.values()) / took)
            entity_rates.append(sum(done.entities.values()) / took)
    tell(f"{service}, {records} there: records planned", statistics.median(rates), "records/s")
    tell(f"{service}, {records} there: entities planned", statistics.median(entity_rates), "entities/s")


def _limit(calls: int) -> None:
    """Calls one after the other against a window: how much of it is used, and how often it was passed."""
    limit = ("--limit", f"{_CALLS}/{_WINDOW_S:g}")
    with tempfile.TemporaryDirectory(prefix="noarkit-bench-") as place, _standin("crm", place, 5, limit) as (url, home):
        site = _site(home)
        found = connection("crm:standin", site.config, site.environment)
        assert found is not None
        rated = Connection(
            found.service, found.name, {**found.values, "rates": [f"{_CALLS}/{_WINDOW_S:g}s"]}, found.environment
        )
        source = source_at("crm:standin", site)
        assert isinstance(source, ConnectorSource)
        source.to = rated
        service = source.service
        service.introduce()
        began = time.perf_counter()
        for _ in range(calls):
            service.calls.modules()  # type: ignore[attr-defined]  # a Crm
        took = time.perf_counter() - began
        source.release()
        counted = httpx.get(f"{url}/standin/counts", trust_env=False).json()["limits"]
    allowed = _CALLS * (took / _WINDOW_S)
    tell("calls within a limit", calls / took, "calls/s", _CALLS / _WINDOW_S, "what the limit allows", calls / allowed)
    tell("calls over the limit", counted["refused"], "calls", what=f"counted by the stand-in, of {counted['calls']:,}")


def _site(home: Path) -> Site:
    environment = {"HOME": str(home)}
    return Site(load(Sources(environment=environment, file=home / "standin.toml")), environment)


@contextlib.contextmanager
def _standin(service: str, place: str, records: int, limit: tuple[str, str] = _FREE) -> Iterator[tuple[str, Path]]:
    """A stand-in in a process of its own, and where its config lies."""
    home = Path(place)
    command = [sys.executable, "-m", "noarkit", "standin", service, "--records", str(records), "--json", *limit]
    process = subprocess.Popen(
        [*command, "--config-out", str(home / "standin.toml")], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["url"], home
    finally:
        process.terminate()
        process.wait(20)
