"""Plays random schedules against a load: `scripts/faults chaos --seeds A-B --mode M`. Exit 1 where one comes out wrong.

A failing schedule is made as small as it goes, and printed with the command that plays it again.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from multiprocessing.util import get_temp_dir
from pathlib import Path

from tests.faults.chaos.clock import PROCESS

_began = time.perf_counter


def main(arguments: list[str]) -> int:
    """The command."""
    from tests.faults.chaos.lab import make_template, work_folder
    from tests.faults.chaos.schedules import MODES

    parser = argparse.ArgumentParser(prog="scripts/faults chaos", description=__doc__)
    parser.add_argument("--seeds", default="1-60", help="A-B, or one seed")
    parser.add_argument("--mode", default="all", choices=("all", *MODES), help="what the archive grants")
    parser.add_argument("--pairs", action="store_true", help="seeds count the pairs of a commit fault and a look-up")
    parser.add_argument("--every", type=int, default=1, help="only every n-th of the seeds")
    parser.add_argument("--sampled", action="store_true", help="only those that it takes to meet all kinds of trouble")
    parser.add_argument("--faults", help="these faults, as a failing schedule prints them, in place of the seed's own")
    parser.add_argument("--no-shrink", action="store_true", help="leave failing schedules as they are")
    parser.add_argument("-v", "--verbose", action="store_true", help="tell what each call of the client came to")
    options = parser.parse_args(arguments)
    first, _, last = options.seeds.partition("-")
    seeds = range(int(first), int(last or first) + 1, options.every)
    folder = work_folder()
    get_temp_dir()  # its own, which must outlive ours
    tempfile.tempdir = str(folder)
    try:
        template = make_template(folder)
        failures = sum(
            _play(mode, seeds, template, options) for mode in (MODES if options.mode == "all" else [options.mode])
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if failures else 0


def _play(mode: str, seeds: Sequence[int], template: Path, options: argparse.Namespace) -> int:
    from tests.faults.chaos.lab import Lab
    from tests.faults.chaos.proxy import Fault
    from tests.faults.chaos.schedules import MODES, pairs, sampled, schedule_of
    from tests.faults.chaos.trial import Outcome, try_out

    place = template.parent / mode
    place.mkdir()
    lab = Lab(MODES[mode], template, place)
    began_s, failures = _began(), 0
    if options.sampled:
        seeds = sampled(mode, seeds[0], seeds[-1])
    listed = pairs(mode) if options.pairs else []
    told: Counter[str] = Counter()
    try:
        for seed in seeds:
            if options.pairs and seed > len(listed):
                break
            schedule = listed[seed - 1] if options.pairs else schedule_of(seed, mode)
            if options.faults:
                given = json.loads(options.faults)
                faults = tuple(Fault(**{**one, "then": tuple(one.get("then", ()))}) for one in given)
                schedule = replace(schedule, faults=faults)
            trial_began_s = _began()
            outcome: Outcome = try_out(schedule, lab)
            told["schedules"] += 1
            told["faults"] += len(outcome.fired)
            told["killed"] += sum(result.exit == 137 for result in outcome.results)
            told.update(f"exit {result.exit}" for result in outcome.results)
            if options.verbose:
                print(f"seed {seed}: {_began() - trial_began_s:.2f} s")
                _say_all(outcome)
            if outcome.wrong:
                failures += 1
                _say_failure(schedule, outcome, lab, shrinks=not options.no_shrink)
    finally:
        lab.close()
    seconds = _began() - began_s
    print(
        f"{mode}: seeds {seeds[0]}-{seeds[-1]}, {failures} wrong, {seconds:.0f} s, {dict(sorted(told.items()))}",
        flush=True,
    )
    return failures


def _say_failure(schedule: object, outcome: object, lab: object, *, shrinks: bool) -> None:
    from tests.faults.chaos.lab import Lab
    from tests.faults.chaos.schedules import Schedule
    from tests.faults.chaos.trial import Outcome, shrink, try_out

    assert isinstance(schedule, Schedule) and isinstance(outcome, Outcome) and isinstance(lab, Lab)
    least = shrink(schedule, outcome, lambda tried: bool(try_out(tried, lab).wrong)) if shrinks else schedule
    faults = json.dumps([asdict(fault) for fault in least.faults])
    print(f"WRONG: scripts/faults chaos --seeds {least.seed} --mode {least.mode} --faults '{faults}'")
    print(f"       loading {least.shape}{' in a child' if least.child else ''}")
    for wrong in outcome.wrong:
        print(f"       {wrong}", flush=True)


def _say_all(outcome: object) -> None:
    from tests.faults.chaos.trial import Outcome

    assert isinstance(outcome, Outcome)
    print("fired", outcome.fired)
    for result in outcome.results:
        print("  ", asdict(result))


if __name__ == "__main__":
    warnings.simplefilter("error", ResourceWarning)
    PROCESS.install()
    sys.exit(main(sys.argv[1:]))
