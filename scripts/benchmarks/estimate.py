"""Paper against measurement: what `estimate` says of plans it has not seen, and what their loads then take.

Three plans: many small files, a few large ones, and the metadata of a database. Each is estimated and loaded on an
embedded archive, and on one that answers every call 50 ms late, where the processors of a busy machine matter little.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import noarkit
from noarkit.server.clients import ClientsFile
from scripts.benchmarks.figures import machine

_DELAY_S = 0.05
_SURE = 0.25


@dataclass(frozen=True, slots=True)
class Served:
    """A running archive, and the environment by which it is reached."""

    url: str
    environment: Mapping[str, str]


def run(rounds: int, *, small: bool, only: str) -> None:
    """Every plan on every archive, as rows of one table."""
    print(f"\nestimate: {machine()}, load {os.getloadavg()[0]:.1f}\n")
    print("| plan | archive | workers | estimate | range | loaded in | estimate / load | limit |")
    print("|---|---|---|---|---|---|---|---|")
    ratios: list[float] = []
    plans = _POINTS if "rows" in only else _PLANS
    for archive, delay_s in (("50 ms late", _DELAY_S), ("embedded", 0.0)):
        for name, make in plans.items():
            for _ in range(rounds):
                if only in f"{name} {archive}":
                    ratios.append(_compare(name, archive, delay_s, make, small=small))
    within = sum(abs(ratio - 1) <= _SURE for ratio in ratios)
    print(f"\nwithin {_SURE:.0%}: {within} of {len(ratios)}", flush=True)


def _compare(name: str, archive: str, delay_s: float, make: Callable[[Path, bool], str], *, small: bool) -> float:
    folder = Path(tempfile.mkdtemp(prefix="noarkit-bench-"))
    try:
        source = make(folder, small)
        with serving(folder / "archive", delay_s) as served:
            settings = noarkit.read_settings(environment=served.environment)
            noarkit.plan(source, folder / "run", settings=settings)
            estimated = noarkit.estimate(folder / "run", settings=settings)
            loaded = noarkit.ingest(folder / "run", settings=settings)
        assert loaded.state == "done", loaded
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    entry = estimated.time
    ratio = entry.likely_s / loaded.seconds
    print(
        f"| {name} | {archive} | {entry.workers} | {entry.likely_s:.1f} s | {entry.low_s:.1f}–{entry.high_s:.1f} s"
        f" | {loaded.seconds:.1f} s | {ratio:.2f} | {entry.limit} |",
        flush=True,
    )
    return ratio


@contextmanager
def serving(data: Path, delay_s: float = 0.0) -> Iterator[Served]:
    """An archive in a process of its own, which answers every call so much later."""
    command = [sys.executable, "-m", "noarkit", "serve", "--json", "--data", str(data), "--port", "0"]
    if delay_s:
        script = data.parent / "faults.json"
        script.write_text(json.dumps({"rule": [{"call": "*", "kind": "delay", "seconds": delay_s}]}))
        command += ["--faults", str(script), "--i-am-testing"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout is not None
        lines = (json.loads(line) for line in server.stdout)
        ready = next(line for line in lines if line["event"] == "serving")
        secret = ClientsFile(Path(ready["clients"])).current().accounts["integration"].secret
        environment = {"NOARKIT_ARCHIVE": ready["url"], "NOARKIT_CLIENT_ID": "integration"}
        yield Served(ready["url"], {**environment, "NOARKIT_CLIENT_SECRET": secret, "HOME": str(data.parent)})
    finally:
        server.terminate()
        server.wait()
        if server.stdout is not None:
            server.stdout.close()


def _small_files(folder: Path, small: bool) -> str:
    from scripts.benchmarks.ingest import make_files

    return str(make_files(folder / "source", 300 if small else 1_500, 4096))


def _large_files(folder: Path, small: bool) -> str:
    for number in range(4 if small else 24):
        path = folder / "source" / f"case {number % 8}" / f"film {number}.bin"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(1024 * 1024) * 20)
    return str(folder / "source")


def _database(folder: Path, small: bool, count: int = 20_000) -> str:
    path = folder / "cases.db"
    count = count // 10 if small else count
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE case_file (id INTEGER PRIMARY KEY, title TEXT, opened TEXT, handler TEXT)")
        rows = ((n, f"Case {n} about road {n % 97}", f"2019-0{1 + n % 9}-11", f"Person {n % 40}") for n in range(count))
        db.executemany("INSERT INTO case_file VALUES (?, ?, ?, ?)", rows)
        db.commit()
    return f"sqlite:///{path}"


_PLANS: Mapping[str, Callable[[Path, bool], str]] = {
    "many small files": _small_files,
    "few large files": _large_files,
    "metadata of a database": _database,
}
# `--only "rows"`, or `--only "1,000,000 rows embedded"` for one of them
_POINTS: Mapping[str, Callable[[Path, bool], str]] = {
    f"{count:,} rows": partial(_database, count=count) for count in (10_000, 100_000, 1_000_000)
}
