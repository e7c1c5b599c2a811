"""Plays random schedules of verifications: `scripts/faults verify --seeds A-B`. Exit 1 where one comes out wrong."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from collections import Counter
from dataclasses import asdict, replace

from tests.faults.chaos.clock import PROCESS

_began = time.perf_counter


def main(arguments: list[str]) -> int:
    """The command."""
    from tests.conftest import reference_folder
    from tests.faults.chaos.lab import work_folder
    from tests.faults.chaos.proxy import Fault
    from tests.faults.proving.schedules import schedule_of
    from tests.faults.proving.trial import Lab, try_out

    parser = argparse.ArgumentParser(prog="scripts/faults verify", description=__doc__)
    parser.add_argument("--seeds", default="1-60", help="A-B, or one seed")
    parser.add_argument("--every", type=int, default=1, help="only every n-th of the seeds")
    parser.add_argument("--faults", help="these faults, as a failing schedule prints them, in place of the seed's own")
    parser.add_argument("-v", "--verbose", action="store_true", help="tell what each call of the client came to")
    options = parser.parse_args(arguments)
    first, _, last = options.seeds.partition("-")
    seeds = range(int(first), int(last or first) + 1, options.every)
    reference = reference_folder()
    if reference is None:
        print("no reference tables: NOARKIT_REFERENCE names no folder that holds them")
        return 2
    folder = work_folder()
    lab, told, failures, began_s = Lab(reference, folder), Counter[str](), 0, _began()
    try:
        for seed in seeds:
            schedule = schedule_of(seed)
            if options.faults:
                given = json.loads(options.faults)
                faults = tuple(Fault(**{**one, "then": tuple(one.get("then", ()))}) for one in given)
                schedule = replace(schedule, faults=faults)
            outcome = try_out(schedule, lab)
            told.update(["schedules"], faults=len(outcome.fired), harmed=schedule.harm, loads=schedule.loads)
            told.update(f"exit {result.exit}" for result in outcome.results)
            if options.verbose:
                print(f"seed {seed}", outcome.fired, [asdict(result) for result in outcome.results])
            if outcome.wrong:
                failures += 1
                print(
                    f"WRONG: scripts/faults verify --seeds {seed} --faults "
                    f"'{json.dumps([asdict(fault) for fault in schedule.faults])}'"
                )
                for wrong in outcome.wrong:
                    print(f"       {wrong}", flush=True)
    finally:
        lab.close()
        shutil.rmtree(folder, ignore_errors=True)
    print(f"verify: seeds {options.seeds}, {failures} wrong, {_began() - began_s:.0f} s, {dict(sorted(told.items()))}")
    return 1 if failures else 0


if __name__ == "__main__":
    PROCESS.install()
    sys.exit(main(sys.argv[1:]))
