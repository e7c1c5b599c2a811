"""Bags beside bagit-python and cp: many small files and few large ones, made and validated in the same run.

bagit-python makes in place, so its floor has nothing to copy. Both are told to compute sha256 with all processors.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import bagit

from noarkit.forms.bagit.rules.run import validate_bag
from noarkit.forms.bagit.write import BagOrder, files_below, make_bag
from scripts.benchmarks.figures import machine, medians, seconds, tell

_ORDER = BagOrder(algorithms=("sha256",))
_PEAK = """
import resource, sys
from pathlib import Path
from noarkit.forms.bagit.write import BagFile, BagOrder, make_bag
from noarkit.forms.bagit.rules.run import validate_bag
count, target = int(sys.argv[1]), Path(sys.argv[2])
import contextlib, io
files = (BagFile(f"{n // 1000:05}/{n:08}.txt", lambda: contextlib.closing(io.BytesIO(b"x")), 1) for n in range(count))
make_bag(files, target, BagOrder(algorithms=("sha256",)))
made = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
assert validate_bag(target).valid
print(made, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def run(rounds: int, *, small: bool, only: str) -> None:
    """Tells every figure, or those whose name holds `only`."""
    print(f"bags on {machine()}\n| what | ours | beside it | ratio | beside what |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="noarkit-bench-") as place:
        home = Path(place)
        count = 2_000 if small else 20_000
        if "small" in only or not only:
            _measure(home / "small", [4_096] * count, rounds, "small")
        if "large" in only or not only:
            _measure(home / "large", [(64 if small else 512) * 2**20] * (4 if small else 8), rounds, "large")
        if "memory" in only or not only:
            _memory(home / "memory.tar", 50_000 if small else 1_000_000)


def _measure(home: Path, sizes: list[int], rounds: int, name: str) -> None:
    source = home / "source"
    for number, size in enumerate(sizes):
        place = source / f"{number // 500:04}" / f"{number:06}.bin"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(os.urandom(4_096) * (size // 4_096))
    amount, unit = (len(sizes), "files/s") if name == "small" else (sum(sizes) / 1e6, "MB/s")
    processes = os.cpu_count() or 1
    made: list[Path] = []

    # nothing is removed between rounds: some file systems look long for room among what was just deleted
    targets = (home / f"target{number}" for number in itertools.count())

    def ours() -> float:
        target = next(targets)
        taken = seconds(lambda: make_bag(files_below(source), target, _ORDER))
        made.append(target)
        return amount / taken

    def theirs() -> float:
        target = next(targets)
        if name == "large":
            return amount / seconds(lambda: _copied(source, target))
        _copied(source, target)
        return amount / seconds(lambda: bagit.make_bag(str(target), processes=processes, checksums=["sha256"]))

    beside = "bagit-python in place" if name == "small" else "cp and sync"
    figure = medians(rounds, ours, theirs)
    tell(f"make elsewhere, {name}", figure[0], unit, figure[1], beside, figure[2])
    figure = medians(
        rounds,
        lambda: amount / seconds(lambda: validate_bag(made[0])),
        lambda: amount / seconds(lambda: bagit.Bag(str(made[0])).validate(processes=processes)),
    )
    tell(f"validate, {name}", figure[0], unit, figure[1], "bagit-python", figure[2])
    shutil.rmtree(home)


def _copied(source: Path, target: Path) -> None:
    subprocess.run(["cp", "-r", source, target], check=True)
    os.sync()


def _memory(target: Path, count: int) -> None:
    command = [sys.executable, "-c", _PEAK, str(count), str(target)]
    made, validated = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    tell(f"peak memory, {count:,} files made", float(made), "MiB")
    tell(f"peak memory, {count:,} files validated", float(validated), "MiB")
