"""Simulates loads in virtual time: `scripts/simulate search|scale …`.

search   plays random schedules against the real coordinator and journal, and looks for lost or doubled keys
scale    1 to 200 workers on a modelled archive: how the time falls, and which limit it meets
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from scripts.simulation.mutants import MUTANTS
from scripts.simulation.scaling import SPEEDS, scale
from scripts.simulation.schedules import MODES, Schedule, parse_troubles, schedule_of
from scripts.simulation.search import Lab, shrink, try_out
from scripts.simulation.world import World

_MEMORY = Path("/dev/shm")  # noqa: S108  # a file system in memory, where there is one


def main(arguments: list[str]) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="scripts/simulate", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    search = commands.add_parser("search", help="look for lost or doubled keys in random schedules")
    search.add_argument("--seeds", "--seed", default="1-300", help="A-B, or one seed")
    search.add_argument("--mode", default="all", choices=("all", *MODES))
    search.add_argument("--troubles", help="these troubles, as a failing schedule prints them, in place of the seed's")
    search.add_argument(
        "--mutant", choices=tuple(MUTANTS), help="take one protection out: then something must be found"
    )
    search.add_argument("--no-shrink", action="store_true")
    search.add_argument("-v", "--verbose", action="store_true", help="say what each schedule came to")
    scaling = commands.add_parser("scale", help="show what 1 to 200 workers bring")
    scaling.add_argument("archives", nargs="*", default=["latency"], help=f"of {', '.join(SPEEDS)}")
    scaling.add_argument("--workers", default="1,4,16,64,200")
    scaling.add_argument("--documents", type=float, default=20_000)
    scaling.add_argument("--shards", type=int, default=256, help="of a plan whose chunks are all real")
    scaling.add_argument("--aggregate", action="store_true", help="shards as one span of time each, for huge plans")
    options = parser.parse_args(arguments)
    place = Path(tempfile.mkdtemp(prefix="noarkit-simulate-", dir=_MEMORY if _MEMORY.is_dir() else None))
    try:
        return _search(place, options) if options.command == "search" else _scale(place, options)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _search(place: Path, options: argparse.Namespace) -> int:
    first, _, last = options.seeds.partition("-")
    modes = [MUTANTS[options.mutant][1]] if options.mutant else list(MODES) if options.mode == "all" else [options.mode]
    lab, world = Lab(place), World()
    failures = 0
    mutant = MUTANTS[options.mutant][0]() if options.mutant else nullcontext()
    with mutant:
        for mode in modes:
            failures += _play(mode, range(int(first), int(last or first) + 1), lab, world, options)
    world.close()
    return 1 if failures else 0


def _scale(place: Path, options: argparse.Namespace) -> int:
    counts = tuple(int(count) for count in options.workers.split(","))
    documents = int(options.documents)
    kind = "shards as aggregates" if options.aggregate else "every chunk real"
    print(f"{documents:,} documents, {kind}; archive, network, machines and time are modelled\n")
    print("| archive | workers | virtual time | speed-up | of linear | limit | estimate | its limit | calls | real |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name in options.archives:
        first = None
        for count in counts:
            (point,) = scale(
                place, name, (count,), documents=documents, shards=options.shards, real=not options.aggregate
            )
            first = first or point
            speed_up = first.seconds / point.seconds * first.workers
            print(
                f"| {name} | {count} | {point.seconds:,.0f} s | {speed_up:.1f} | {speed_up / count:.2f} | {point.limit}"
                f" | {point.estimated_s:,.0f} s | {point.estimated_limit} | {point.calls:,} | {point.real_s:.0f} s |",
                flush=True,
            )
    return 0


def _play(mode: str, seeds: range, lab: Lab, world: World, options: argparse.Namespace) -> int:
    began, failures, struck = time.perf_counter(), 0, Counter[str]()
    first_wrong = None
    for seed in seeds:
        schedule = schedule_of(seed, mode)
        if options.troubles is not None:
            schedule = replace(schedule, troubles=parse_troubles(options.troubles))
        trial = try_out(schedule, lab, world)
        struck["schedules"] += 1
        struck["troubles"] += len(trial.struck)
        struck["turns"] += trial.turns
        struck["set aside"] += bool(trial.set_aside)
        if options.verbose:
            print(f"seed {seed}: {trial.turns} turns, {trial.seconds:.0f} s, {trial.struck} {trial.wrong}")
        if trial.wrong:
            failures += 1
            first_wrong = first_wrong or seed
            if failures <= _MOST_TOLD:
                _tell(schedule, trial.wrong, lab, world, options)
    seconds = time.perf_counter() - began
    rate = len(seeds) / seconds
    print(
        f"{mode}: seeds {seeds[0]}-{seeds[-1]}, {failures} wrong"
        + (f", the first {first_wrong}" if first_wrong else "")
        + f"; {seconds:.0f} s, {rate:.0f} a second, {dict(struck)}",
        flush=True,
    )
    return failures


_MOST_TOLD = 3


def _tell(schedule: Schedule, wrong: list[str], lab: Lab, world: World, options: argparse.Namespace) -> None:
    least = schedule if options.no_shrink else shrink(schedule, lambda tried: bool(try_out(tried, lab, world).wrong))
    troubles = ", ".join(map(str, least.troubles))
    mutant = f" --mutant {options.mutant}" if options.mutant else f" --mode {schedule.mode}"
    print(f"WRONG: scripts/simulate search --seed {schedule.seed}{mutant} --troubles '{troubles}'")
    for line in wrong[:5]:
        print(f"       {line}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
