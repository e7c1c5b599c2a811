"""Runs of a connection into one archive, one after another: the first, an ordinary one when nothing has changed, and a
sweep. Each is walked with a tenth of the records too.

Each step is a command in a process of its own, beside a stand-in and an embedded archive. A record should cost as much
among many as among few, and no step should need more memory for it; the numbers must add up, nothing may be left out,
and the runs after the first archive nothing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from scripts.benchmarks.figures import machine

RECORDS = 100_000
_HERE = Path(__file__).parents[2]
_ITEMS_OF_A_RECORD = {"crm": 7.3, "spend": 1.29, "appsec": 1.7, "features": 12.8}
"""How many records a run reads of each that the stand-in of a service was asked for."""
_FREE = ("--limit", "100000000/60")
_MEMORY_MAY_GROW, _COST_MAY_GROW = 1.3, 1.3
_TICKS = os.sysconf("SC_CLK_TCK")
_OUTCOMES = ("archived", "already_there", "set_aside", "refused", "skipped")


@dataclass(frozen=True, slots=True)
class Step:
    """What one command of one run took. `peak_mib` is that of its largest process, `known_mb` the size of the file of
    known keys after it; `numbers` is its own summary."""

    service: str
    run: str
    command: str
    elapsed_s: float
    processor_s: float
    standin_s: float
    peak_mib: int
    known_mb: float
    numbers: Mapping[str, object]

    def number(self, name: str) -> int:
        """A number of the summary; 0 if it has none of this name."""
        return int(str(self.numbers.get(name) or 0))


def run(rounds: int, *, small: bool, only: str, records: int = RECORDS) -> None:
    """One round of each service; `only` names one."""
    del rounds
    most = records // 10 if small else records
    print(f"\nruns: {machine()}, load {os.getloadavg()[0]:.1f} at the start, one round\n", flush=True)
    for service in _ITEMS_OF_A_RECORD:
        if only in service:
            few, many = walk(service, most // 10), walk(service, most)
            print("\n".join([*table([*few, *many]), "", *verdicts(few, many), ""]), flush=True)


def table(steps: Sequence[Step]) -> Iterator[str]:
    """The lines of the table of steps."""
    yield "| service | run | command | read | elapsed | processor | a record | stand-in | peak memory | known keys |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for step in steps:
        each_ms = step.processor_s / max(1, step.number("read")) * 1e3
        yield (
            f"| {step.service} | {step.run} | {step.command} | {step.number('read'):,} | {step.elapsed_s:,.0f} s"
            f" | {step.processor_s:,.1f} s | {each_ms:.2f} ms | {step.standin_s:,.1f} s | {step.peak_mib} MiB"
            f" | {step.known_mb:.1f} MB |"
        )


def verdicts(few: Sequence[Step], many: Sequence[Step]) -> Iterator[str]:
    """For each step, whether its memory is flat and each further record costs what the first ones did; then what is
    wrong with the numbers."""
    yield "| run | command | memory | a further record | verdict |"
    yield "|---|---|---|---|---|"
    for less, more in zip(few, many, strict=True):
        memory = more.peak_mib / less.peak_mib
        further_records = more.number("read") - less.number("read")
        cost, further = less.processor_s / max(1, less.number("read")), "-"
        is_even = True
        if further_records > 1_000:  # of a few, what begins and ends a command is all
            further_cost = (more.processor_s - less.processor_s) / further_records
            further, is_even = f"{further_cost * 1e3:.2f} ms", further_cost <= cost * _COST_MAY_GROW
        yield (
            f"| {more.run} | {more.command} | {less.peak_mib} → {more.peak_mib} MiB, × {memory:.2f} | {further}"
            f" | memory {'flat' if memory <= _MEMORY_MAY_GROW else 'GROWS'}, cost {'even' if is_even else 'GROWS'} |"
        )
    yield ""
    yield "; ".join(problems([*few, *many])) or "All numbers add up, and only the first run archives anything."


def problems(steps: Sequence[Step]) -> Iterator[str]:
    """What is wrong with the numbers of ingests."""
    for step in steps:
        if step.command != "ingest":
            continue
        name = f"{step.service}, {step.run}"
        if step.number("read") != sum(step.number(outcome) for outcome in _OUTCOMES):
            yield f"{name}: NUMBERS DO NOT ADD UP"
        if step.number("set_aside") or step.number("refused"):
            yield f"{name}: LEAVES OUT"
        archived = step.number("archived") + step.number("new_versions")
        if bool(archived) != (step.run == "first"):
            yield f"{name}: ARCHIVES {archived:,}"


def walk(service: str, records: int) -> list[Step]:
    """Plans and ingests all three runs of a service of about so many records."""
    with (
        tempfile.TemporaryDirectory(prefix="noarkit-bench-") as place,
        _standin(service, Path(place), max(1, round(records / _ITEMS_OF_A_RECORD[service]))) as standin,
    ):
        home, archive, steps = Path(place), ("--archive", "embedded:archive"), []
        for name in ("first", "again", "sweep"):
            if name == "sweep":
                with (home / "standin.toml").open("a", encoding="utf-8") as config:
                    config.write("\nsweep_days = 0\n")  # its one table is that of the connection
            steps.append(_step(service, name, home, standin, "plan", f"{service}:standin", "-o", name, *archive))
            steps.append(_step(service, name, home, standin, "ingest", name, *archive))
    return steps


def _step(service: str, run_name: str, home: Path, standin: int, *words: str) -> Step:
    command = [sys.executable, "-m", "noarkit", *words, "--config", str(home / "standin.toml"), "--json"]
    standin_s, began = _processor_s(standin), time.perf_counter()
    with (home / "out").open("wb") as out, (home / "err").open("wb") as err:
        process = subprocess.Popen(command, cwd=home, stdout=out, stderr=err, env=_environment(home))
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{words} ended with {process.returncode}: {(home / 'err').read_text('utf-8')[-2_000:]}")
    return Step(
        service,
        run_name,
        words[0],
        time.perf_counter() - began,
        used.ru_utime + used.ru_stime,
        _processor_s(standin) - standin_s,
        used.ru_maxrss // 1024,
        sum(file.stat().st_size for file in home.rglob("*.known-*.db")) / 1e6,
        json.loads((home / "out").read_text("utf-8").splitlines()[-1]),
    )


def _processor_s(pid: int) -> float:
    """The processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _environment(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": str(_HERE)}


@contextmanager
def _standin(service: str, home: Path, records: int) -> Iterator[int]:
    """A stand-in in a process of its own; its number."""
    command = [sys.executable, "-m", "noarkit", "standin", service, "--records", str(records), "--json"]
    command += ["--config-out", str(home / "standin.toml"), *(() if service == "crm" else _FREE)]
    process = subprocess.Popen(command, cwd=home, stdout=subprocess.PIPE, env=_environment(home))
    try:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid
    finally:
        process.terminate()
        process.wait(60)
        if process.stdout is not None:
            process.stdout.close()
