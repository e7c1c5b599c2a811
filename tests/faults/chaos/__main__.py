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
from typing import TYPE_CHECKING

from tests.faults.chaos.clock import PROCESS

if TYPE_CHECKING:  # what imports noarkit comes after the clocks
    from tests.faults.chaos.lab import Lab
    from tests.faults.chaos.schedules import Schedule
    from tests.faults.chaos.trial import Outcome

_ENDED = "ended with "
PLAYED = "played "
"""Begins the lines by which whoever listens sees that the work gets on."""
_began = time.perf_counter


def main(arguments: list[str]) -> int:
    """The command. `--listen` takes one command line after another, as JSON, and plays all in the same archives."""
    with _Laboratory() as laboratory:
        if arguments != ["--listen"]:
            return _command(arguments, laboratory)
        for line in sys.stdin:
            print(f"{_ENDED}{_command([*json.loads(line), '--count'], laboratory)}", flush=True)
        return 0


def _command(arguments: list[str], laboratory: _Laboratory) -> int:
    from tests.faults.chaos.schedules import LOST_WORKERS, MODES

    parser = argparse.ArgumentParser(prog="scripts/faults chaos", description=__doc__)
    parser.add_argument("--seeds", default="1-60", help="A-B, or one seed")
    parser.add_argument(
        "--mode",
        default="all",
        choices=("all", *MODES, LOST_WORKERS),
        help="what the archive grants",
    )
    parser.add_argument("--pairs", action="store_true", help="seeds count the pairs of a commit fault and a look-up")
    parser.add_argument("--every", type=int, default=1, help="only every n-th of the seeds")
    parser.add_argument("--sampled", action="store_true", help="only those that it takes to meet all kinds of trouble")
    parser.add_argument("--faults", help="these faults, as a failing schedule prints them, in place of the seed's own")
    parser.add_argument("--no-shrink", action="store_true", help="leave failing schedules as they are")
    parser.add_argument("-v", "--verbose", action="store_true", help="tell what each call of the client came to")
    parser.add_argument("--count", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    first, _, last = options.seeds.partition("-")
    seeds = range(int(first), int(last or first) + 1, options.every)
    modes = MODES if options.mode == "all" else [options.mode]
    failures = sum(_play(mode, seeds, laboratory.lab(mode), options) for mode in modes)
    return 1 if failures else 0


class _Laboratory:
    """A folder with a lab for each mode, made when it is first asked for."""

    def __init__(self) -> None:
        from tests.faults.chaos.lab import make_template, work_folder

        self._folder = work_folder()
        get_temp_dir()  # its own, which must outlive ours
        tempfile.tempdir = str(self._folder)
        self._template = make_template(self._folder)
        self._labs: dict[str, Lab] = {}

    def lab(self, mode: str) -> Lab:
        """The lab of a mode."""
        from tests.faults.chaos.lab import Lab
        from tests.faults.chaos.schedules import mode_named

        if mode not in self._labs:
            (self._folder / mode).mkdir()
            self._labs[mode] = Lab(mode_named(mode), self._template, self._folder / mode)
        return self._labs[mode]

    def __enter__(self) -> _Laboratory:
        return self

    def __exit__(self, *_: object) -> None:
        for lab in self._labs.values():
            lab.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def _play(mode: str, seeds: Sequence[int], lab: Lab, options: argparse.Namespace) -> int:
    from tests.faults.chaos.proxy import Fault
    from tests.faults.chaos.schedules import pairs, sampled, schedule_of

    began_s, failures = _began(), 0
    if options.sampled:
        seeds = sampled(mode, seeds[0], seeds[-1])
    listed = pairs(mode) if options.pairs else []
    told: Counter[str] = Counter()
    for seed in seeds:
        if options.pairs and seed > len(listed):
            break
        schedule = listed[seed - 1] if options.pairs else schedule_of(seed, mode)
        if options.faults:
            given = json.loads(options.faults)
            faults = tuple(Fault(**{**one, "then": tuple(one.get("then", ()))}) for one in given)
            schedule = replace(schedule, faults=faults)
        trial_began_s = _began()
        outcome = _try(schedule, lab, counts=options.count)
        told["schedules"] += 1
        told["faults"] += len(outcome.fired)
        told["handed on"] += sum(result.handed_on for result in outcome.results)
        told["killed"] += sum(result.exit == 137 for result in outcome.results)
        told.update(f"exit {result.exit}" for result in outcome.results)
        if options.verbose:
            print(f"seed {seed}: {_began() - trial_began_s:.2f} s")
            _say_all(outcome)
        if outcome.wrong:
            failures += 1
            _say_failure(schedule, outcome, lab, options)
    told["lost workers"] = lab.lost_workers
    seconds = _began() - began_s
    print(
        f"{mode}: seeds {seeds[0]}-{seeds[-1]}, {failures} wrong, {seconds:.0f} s, {dict(sorted(told.items()))}",
        flush=True,
    )
    return failures


def _try(schedule: Schedule, lab: Lab, *, counts: bool) -> Outcome:
    from tests.faults.chaos.trial import try_out

    outcome = try_out(schedule, lab)
    if counts:
        print(f"{PLAYED}{lab.trials}", flush=True)
    return outcome


def _say_failure(schedule: Schedule, outcome: Outcome, lab: Lab, options: argparse.Namespace) -> None:
    from tests.faults.chaos.trial import shrink

    def fails(tried: Schedule) -> bool:
        return bool(_try(tried, lab, counts=options.count).wrong)

    least = schedule if options.no_shrink else shrink(schedule, outcome, fails)
    faults = json.dumps([asdict(fault) for fault in least.faults])
    print(f"WRONG: scripts/faults chaos --seeds {least.seed} --mode {least.mode} --faults '{faults}'")
    print(f"       loading {least.shape}{' in a child' if least.child else ''}")
    for wrong in outcome.wrong:
        print(f"       {wrong}", flush=True)


def _say_all(outcome: Outcome) -> None:
    print("fired", outcome.fired)
    for result in outcome.results:
        print("  ", asdict(result))


if __name__ == "__main__":
    warnings.simplefilter("error", ResourceWarning)
    PROCESS.install()
    sys.exit(main(sys.argv[1:]))
