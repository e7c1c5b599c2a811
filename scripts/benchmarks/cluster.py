"""Loads over a scheduler with one and with four workers, into an archive that takes 50 ms for every call."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from noarkit.archive.http import connect
from noarkit.archive.retry import RetryingArchive
from noarkit.archive.settings import ArchiveSettings
from noarkit.archive.token import Credentials
from noarkit.events import ignore_event
from noarkit.graph.cut import Limits
from noarkit.loading.engines.assembly import ArchiveTarget, LoadOptions, cluster_workers
from noarkit.loading.engines.cluster.tls import write_certificates
from noarkit.loading.engines.remote import ClusterTarget
from noarkit.loading.folder import RunFolder
from noarkit.loading.plan import PlanSpec, make_plan
from noarkit.loading.run import LoadSettings, load
from noarkit.loading.stopping import StopRequest
from noarkit.recipes import compile_recipe, read_recipe
from noarkit.secrets import Secret
from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.source import FileTree
from scripts.benchmarks.figures import machine

_FILES = 960
_SHARD_ENTITIES = 250
_DELAY_S = 0.05
_WORKERS = (1, 4)


def run(rounds: int, *, small: bool, only: str) -> None:
    """The time of a load with each number of workers, and how many times faster than with one."""
    files = _FILES // 10 if small else _FILES
    print(f"\ncluster: {machine()}, medians of {rounds} rounds, {files:,} files, {_DELAY_S * 1000:.0f} ms a call\n")
    print("| workers | load | files/s | times as fast | processor time of the coordinator |\n|---|---|---|---|---|")
    single = 0.0
    for workers in _WORKERS:
        measured = [_load(files, workers) for _ in range(rounds)]
        taken, own = (statistics.median(figures) for figures in zip(*measured, strict=True))
        single = single or taken
        speed, times = files / taken, single / taken
        print(f"| {workers} | {taken:.1f} s | {speed:.1f} | {times:.2f} | {own:.1f} s |", flush=True)


def _load(files: int, workers: int) -> tuple[float, float]:
    """The seconds of one load, and of the coordinator's processor time."""
    with tempfile.TemporaryDirectory(prefix="noarkit-bench-") as name, ExitStack() as stack:
        folder = Path(name)
        root = folder / "files"
        for i in range(files):
            (root / f"case {i // 10:05}").mkdir(parents=True, exist_ok=True)
            (root / f"case {i // 10:05}" / f"letter {i:07}.txt").write_bytes(os.urandom(2_000))
        source = FileTree(root, FilePolicy(look_inside=False, settle_s=0))
        text = source.default_recipe()
        recipe = read_recipe(text, "default")
        limits = Limits(shard_entities=_SHARD_ENTITIES)
        system = recipe.target.external_system
        run_folder = RunFolder(folder / "run")
        make_plan(
            PlanSpec(source, compile_recipe(recipe), text, system, limits=limits), run_folder, ignore_event, time.time
        )
        url, secret = stack.enter_context(_archive(folder))
        account = {"NOARKIT_CLIENT_ID": "admin", "NOARKIT_CLIENT_SECRET": secret}
        write_certificates(folder / "tls", ("127.0.0.1",), datetime.now(UTC))
        line = ["scheduler", "--tls", "tls", "--listen", "127.0.0.1:0"]
        address = str(stack.enter_context(_command(folder, line, {}))["address"])
        stack.enter_context(_command(folder, ["worker", address, "--tls", "tls", "--slots", str(workers)], account))
        settings = ArchiveSettings(url, Credentials("admin", Secret(secret)))
        target = ArchiveTarget(url, settings, 60.0)
        options = LoadOptions(cluster=ClusterTarget(address, folder / "tls"))
        stopping = StopRequest()
        archive = stack.enter_context(closing(RetryingArchive(connect(settings))))
        began, processor_began = time.perf_counter(), time.process_time()
        result = load(
            run_folder,
            archive,
            lambda: cluster_workers(run_folder, source.open, target, options, stopping),
            LoadSettings(url),
            stop_request=stopping,
            emit=ignore_event,
            now_s=time.time,
        )
        taken, processor_s = time.perf_counter() - began, time.process_time() - processor_began
        assert result.numbers.archived == files, result
        return taken, processor_s


@contextmanager
def _archive(folder: Path) -> Iterator[tuple[str, str]]:
    (folder / "slow.json").write_text(json.dumps({"rule": [{"call": "*", "kind": "delay", "seconds": _DELAY_S}]}))
    line = ["serve", "--data", "archive", "--port", "0", "--faults", "slow.json", "--i-am-testing"]
    with _command(folder, line, {}) as told:
        clients = tomllib.loads((folder / "archive" / "clients.toml").read_text("utf-8"))["clients"]
        yield str(told["url"]), str(clients["admin"]["secret"])


@contextmanager
def _command(folder: Path, line: list[str], more: Mapping[str, str]) -> Iterator[dict[str, object]]:
    """A command of ours that serves; the first thing it says."""
    command = [sys.executable, "-m", "noarkit", *line, "--json"]
    environment = {**os.environ, **more}
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        try:
            told: dict[str, object] = json.loads(process.stdout.readline())
            yield told
        finally:
            process.terminate()
            process.wait(60)
