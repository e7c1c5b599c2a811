"""E-ARK packages beside a plain copy that hashes, in one process: many small files made a folder or zip, and listed.

The reference validator was measured beforehand on this kind of machine: it makes a zip of 5,260 small files a second.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from noarkit.forms.eark.read.package import open_eark
from noarkit.forms.eark.write.package import EarkOrder, Representation, files_below, make_eark
from scripts.benchmarks.figures import machine, medians, seconds, tell

_PEAK = """
import resource, sys
from pathlib import Path
from noarkit.forms.eark.read.package import open_eark
from noarkit.forms.eark.write.package import EarkFile, Representation, make_eark
count, target = int(sys.argv[1]), Path(sys.argv[2])
make_eark([Representation("rep1", (EarkFile(f"{n // 1000:05}/{n:08}.txt", b"x") for n in range(count)))], target)
made = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
with open_eark(target) as package:
    assert sum(1 for entry in package.files("rep1") if not entry.why) == count
print(made, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def run(rounds: int, *, small: bool, only: str) -> None:
    """Tells every figure, or those whose name holds `only`."""
    print(f"E-ARK on {machine()}\n| what | ours | beside it | ratio | beside what |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="noarkit-bench-") as place:
        home = Path(place)
        count = 2_000 if small else 20_000
        for tail, name in (("", "folder"), (".zip", "zip")):
            if name in only or not only:
                _measure(home, count, rounds, (tail, name))
        if "memory" in only or not only:
            _memory(home / "memory.tar", 50_000 if small else 1_000_000)


def _measure(home: Path, count: int, rounds: int, shape: tuple[str, str]) -> None:
    source = _source(home / "source", count)
    tail, name = shape
    made: list[Path] = []
    # nothing is removed between rounds: some file systems look long for room among what was just deleted
    targets = (home / f"{name}{number}{tail}" for number in itertools.count())

    def ours() -> float:
        target = next(targets)
        made.append(target)
        return count / seconds(
            lambda: make_eark([Representation("rep1", files_below(source))], target, EarkOrder(agreement="1"))
        )

    def plain() -> float:
        target = next(targets)
        return count / seconds(lambda: _copied_and_hashed(source, target))

    figure = medians(rounds, ours, plain)
    tell(f"make a SIP, {name}", figure[0], "files/s", figure[1], "copy and hash, one process", figure[2])
    figure = medians(rounds, lambda: count / seconds(lambda: _listed(made[0])), plain)
    tell(f"list a SIP, {name}", figure[0], "files/s", figure[1], "copy and hash, one process", figure[2])


def _source(home: Path, count: int) -> Path:
    if not home.exists():
        for number in range(count):
            place = home / f"{number // 500:04}" / f"{number:06}.bin"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(os.urandom(4_096))
    return home


def _copied_and_hashed(source: Path, target: Path) -> None:
    for place, _, names in os.walk(source):
        beside = target / Path(place).relative_to(source)
        beside.mkdir(parents=True)
        for name in names:
            content = Path(place, name).read_bytes()
            hashlib.sha256(content).hexdigest()
            (beside / name).write_bytes(content)
    os.sync()


def _listed(path: Path) -> None:
    with open_eark(path) as package:
        assert all(not entry.why for entry in package.files())


def _memory(target: Path, count: int) -> None:
    command = [sys.executable, "-c", _PEAK, str(count), str(target)]
    made, read = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    tell(f"peak memory, {count:,} files made", float(made), "MiB")
    tell(f"peak memory, {count:,} files read", float(read), "MiB")
