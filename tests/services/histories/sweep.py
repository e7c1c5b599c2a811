"""Plays many histories of a service: `scripts/faults histories SERVICE --seeds A-B`. A seed that fails is printed with
its history and what is wrong; `--history FILE` plays one that was written down, `--write FILE` writes one,
`--mutant NAME` plays without one protection of noarkit."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import cast

from noarkit.embedded import keep_services
from noarkit.services.standins.histories.chance import Chances, draw_history
from noarkit.services.standins.histories.script import History, history_lines, read_history, write_history
from tests.conftest import MEMORY
from tests.services.histories.facts import Oracle
from tests.services.histories.oracle import differences
from tests.services.histories.promises import broken_promises
from tests.services.histories.world import Played, draw_schedule, play
from tests.services.mutants import MUTANTS

SERVICES = ("crm", "spend", "appsec", "features")
_AN_ARCHIVE = 20


def try_seed(service: str, seed: int, folder: Path, archive: Path, history: History | None = None) -> list[str]:
    """What is wrong after the history of a seed; empty where nothing is."""
    oracle = find_oracle(service)
    script = history or draw_history(find_chances(service), seed)
    played: Played = play(service, oracle, script, draw_schedule(seed, oracle), folder, f"embedded:{archive}")
    return [*differences(service, oracle, played, archive), *broken_promises(played.promises)]


def find_oracle(service: str) -> Oracle:
    """What is known of a service."""
    return cast("Oracle", import_module(f"tests.services.histories.{service}").ORACLE)


def find_chances(service: str) -> Chances:
    """What may happen in a service."""
    return cast("Chances", import_module(f"noarkit.services.{service}.standin.history").CHANCES)


def main(arguments: list[str]) -> int:
    """Plays the seeds; 1 where one of them failed."""
    parser = argparse.ArgumentParser(prog="scripts/faults histories", description=__doc__)
    parser.add_argument("service", choices=SERVICES)
    parser.add_argument("--seeds", default="1-20", metavar="A-B")
    parser.add_argument("--history", type=Path, metavar="FILE")
    parser.add_argument("--write", type=Path, metavar="FILE")
    parser.add_argument("--first", action="store_true", help="end at the first seed that fails")
    parser.add_argument("--mutant", choices=tuple(MUTANTS), help="take one protection out, and end at what finds it")
    options = parser.parse_args(arguments)
    first, _, last = options.seeds.partition("-")
    seeds = range(int(first), int(last or first) + 1)
    if options.write:
        write_history(options.write, draw_history(find_chances(options.service), seeds[0]))
        return 0
    history = read_history(options.history) if options.history else None
    if options.mutant:
        words = (options.service, "--seeds", options.seeds, "--first")
        command = (sys.executable, "-m", "tests.services.mutation", options.mutant, __spec__.name, *words)
        return subprocess.run(command).returncode
    failed = list(_play_all(options.service, seeds, history, ends_early=options.first))
    print(f"{options.service}: {len(seeds)} histories, {len(failed)} failed {failed[:50]}")
    return 1 if failed else 0


def _play_all(service: str, seeds: range, history: History | None, *, ends_early: bool) -> Iterator[int]:
    base = MEMORY if MEMORY.is_dir() else None
    for begin in range(0, len(seeds), _AN_ARCHIVE):
        work = Path(tempfile.mkdtemp(prefix="histories-", dir=base))
        try:
            with keep_services():
                for seed in seeds[begin : begin + _AN_ARCHIVE]:
                    if not _is_good(service, seed, work, history):
                        yield seed
                        if ends_early:
                            return
        finally:
            shutil.rmtree(work, ignore_errors=True)


def _is_good(service: str, seed: int, work: Path, history: History | None) -> bool:
    folder = work / str(seed)
    folder.mkdir()
    try:
        wrong = try_seed(service, seed, folder, work / "archive", history)
    except Exception as error:  # noqa: BLE001  # whatever ends a run is a finding
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/noarkit/" in frame.filename]
        places = " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames[-6:]))
        wrong = [f"ended by {error!s} at {places}"]
    shutil.rmtree(folder, ignore_errors=True)
    if wrong:
        print(f"--- {service} seed {seed}: {len(wrong)} differences")
        print("\n".join(f"  {line}" for line in wrong[:30]))
        script = history or draw_history(find_chances(service), seed)
        print("\n".join(f"    {line}" for line in history_lines(script)), flush=True)
    return not wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
