"""Validation of Noark 5 packages beside its floors: expat without handlers over the XML, plain sha256 of every file.

`python -m scripts.benchmarks.validate POSTS DIR` makes one package of any size in DIR and measures one round of it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from xml.parsers import expat

from samples.packages.good import ROOT
from scripts.benchmarks.figures import machine, medians, seconds, tell
from scripts.benchmarks.noark_package import make_package

SIZES = (10_000, 100_000)
_ALONE = """
import resource, sys, time
from pathlib import Path
began = time.perf_counter()
{act}
taken = time.perf_counter() - began
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(taken, sum(one.ru_utime + one.ru_stime for one in used), used[0].ru_maxrss // 1024, used[1].ru_maxrss // 1024)
"""
_OURS = "from noarkit.forms.validation import validate; assert validate(Path(sys.argv[1])).valid"
_FLOOR = "from scripts.benchmarks.validate import _floor; _floor(Path(sys.argv[1]))"


def run(rounds: int, *, small: bool, only: str) -> None:
    """Every figure, as rows of one table."""
    print(f"\nvalidate: {machine()}, medians of {rounds} rounds\n")
    print("| figure | ours | floor | ratio | floor is |\n|---|---|---|---|---|")
    folder = Path(tempfile.mkdtemp(prefix="noarkit-bench-"))
    try:
        for posts in SIZES[: 1 if small else 2]:
            package = folder / f"package-{posts}"
            make_package(package, posts)
            if only in "whole":
                _whole(package, posts, rounds)
            if only in "documents":
                _documents(package, posts, rounds)
            shutil.rmtree(package)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _whole(package: Path, posts: int, rounds: int) -> None:
    from noarkit.forms.validation import validate

    def ours() -> float:
        return seconds(lambda: validate(package)) * 1000

    def floor() -> float:
        return seconds(lambda: _floor(package)) * 1000

    one, other, ratio = medians(rounds, ours, floor)
    tell(f"validate {posts:,} journalposter", one, "ms", other, "expat over each XML + sha256 of each file", ratio)
    _, _, mine, largest_child = _alone(_OURS, package)
    tell(f"memory of {posts:,}", mine + (os.cpu_count() or 1) * largest_child, "MB")


def _alone(act: str, package: Path) -> tuple[float, float, float, float]:
    """Seconds, seconds of processor, memory and that of the largest child (MB) of an act in a process of its own."""
    command = [sys.executable, "-c", _ALONE.format(act=act), str(package)]
    told = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout.split()
    taken, processor, mine, largest_child = map(float, told)
    return taken, processor, mine, largest_child


def once(posts: int, folder: Path) -> None:
    """One round over one package."""
    package = folder / f"package-{posts}"
    make_package(package, posts)
    try:
        ours, floor = _alone(_OURS, package), _alone(_FLOOR, package)
    finally:
        shutil.rmtree(package)
    tell(f"validate {posts:,}", ours[0], "s", floor[0], "expat over each XML + sha256 of each file", ours[0] / floor[0])
    tell("  processor", ours[1], "s", floor[1], "the same", ours[1] / floor[1])
    tell("  memory", ours[2] + (os.cpu_count() or 1) * ours[3], "MB")


def _documents(package: Path, posts: int, rounds: int) -> None:
    cores = os.cpu_count() or 1

    def ours() -> float:
        return posts / _shared(package, cores)

    def floor() -> float:
        return posts / _plain(package, cores)

    one, other, ratio = medians(rounds, ours, floor)
    tell(f"documents of {posts:,}", one, "files/s", other, f"hashlib in {cores} processes", ratio)


def _shared(package: Path, cores: int) -> float:
    from noarkit.forms.noark5.rules.jobs import ProcessWorkers, Work

    began = time.perf_counter()
    workers = ProcessWorkers(Work(package, ()), cores)
    try:
        assert sum(1 for _ in workers.remaining())
    finally:
        workers.close()
    return time.perf_counter() - began


def _plain(package: Path, cores: int) -> float:
    names = list(_files(package))
    shares = [names[number::cores] for number in range(cores)]
    began = time.perf_counter()
    with ProcessPoolExecutor(cores) as pool:
        assert sum(pool.map(_hash_all, shares)) == len(names)
    return time.perf_counter() - began


def _hash_all(names: list[str]) -> int:
    for name in names:
        with open(name, "rb") as file:  # noqa: PTH123  # the floor is the plainest way there is
            hashlib.file_digest(file, "sha256").digest()
    return len(names)


def _files(package: Path) -> Iterator[str]:
    for place, _, names in os.walk(package):
        yield from (os.path.join(place, name) for name in names)  # noqa: PTH118  # as above


def _floor(package: Path) -> None:
    for path in package.glob("*.xml"):
        parser = expat.ParserCreate()
        with path.open("rb") as file:
            parser.ParseFile(file)
    assert _hash_all(list(_files(package)))


if __name__ == "__main__":
    once(int(sys.argv[1]), Path(sys.argv[2]))
