"""DIAS packages beside tar and sha256sum: many small files and a few large ones, made and validated in the same run.

The floor for making writes a tar of the same files and hashes every file and the tar; the floor for validating hashes
every member of the tar as it streams by, and the tar: what no validator can do without.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from noarkit.forms.bagit.write import files_below
from noarkit.forms.dias.rules.run import validate_dias
from noarkit.forms.dias.write.package import make_dias
from noarkit.safe.digest import sha256_of
from scripts.benchmarks.figures import machine, medians, seconds, tell

_PEAK = """
import contextlib, io, resource, sys
from pathlib import Path
from noarkit.forms.dias.write.package import make_dias
from noarkit.forms.dias.rules.run import validate_dias
count, target = int(sys.argv[1]), Path(sys.argv[2])
def files():
    for n in range(count):
        yield f"{n // 1000:05}/{n:08}.txt", lambda: contextlib.closing(io.BytesIO(b"x")), 1, ""
make_dias(files(), target)
made = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
assert validate_dias(target).valid
print(made, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def run(rounds: int, *, small: bool, only: str) -> None:
    """Tells every figure, or those whose name holds `only`."""
    print(f"DIAS packages on {machine()}\n| what | ours | beside it | ratio | beside what |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="noarkit-bench-") as place:
        home = Path(place)
        if "small" in only or not only:
            _measure(home / "small", [4_096] * (2_000 if small else 20_000), rounds, "small")
        if "large" in only or not only:
            _measure(home / "large", [(32 if small else 256) * 2**20] * 4, rounds, "large")
        if "memory" in only or not only:
            _memory(home / "memory", 50_000 if small else 1_000_000)


def _measure(home: Path, sizes: list[int], rounds: int, name: str) -> None:
    source = home / "source"
    for number, size in enumerate(sizes):
        place = source / f"{number // 500:04}" / f"{number:06}.bin"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(os.urandom(4_096) * (size // 4_096))
    amount, unit = (len(sizes), "files/s") if name == "small" else (sum(sizes) / 1e6, "MB/s")
    targets = (home / f"target{number}" for number in itertools.count())
    made: list[Path] = []

    def ours() -> float:
        target = next(targets)
        files = ((file.name, str(file.source), file.size_bytes, file.stamp) for file in files_below(source))
        taken = seconds(lambda: make_dias(files, target))
        made.append(target)
        return amount / taken

    def floor() -> float:
        target = next(targets).with_suffix(".tar")
        return amount / seconds(lambda: _tarred(source, target))

    figure = medians(rounds, ours, floor)
    tell(f"make, {name}", figure[0], unit, figure[1], "tar, sha256 of files and tar", figure[2])
    (tar,) = made[0].glob("*.tar")
    figure = medians(
        rounds,
        lambda: amount / seconds(lambda: validate_dias(made[0])),
        lambda: amount / seconds(lambda: _hashed(tar)),
    )
    tell(f"validate, {name}", figure[0], unit, figure[1], "sha256 of members and tar", figure[2])
    shutil.rmtree(home)


def _tarred(source: Path, target: Path) -> None:
    with tarfile.open(target, "w") as archive:
        for path in sorted(source.rglob("*.bin")):
            sha256_of(path)
            archive.add(path, path.name, recursive=False)
    with target.open("rb+") as file:
        os.fsync(file.fileno())
    sha256_of(target)


def _hashed(tar: Path) -> None:
    with tarfile.open(tar) as archive:
        for member in archive:
            content = archive.extractfile(member)
            if content is not None:
                hashlib.file_digest(content, "sha256")  # type: ignore[arg-type]  # it reads into buffers too
    sha256_of(tar)


def _memory(target: Path, count: int) -> None:
    command = [sys.executable, "-c", _PEAK, str(count), str(target)]
    made, validated = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    tell(f"peak memory, {count:,} files made", float(made), "MiB")
    tell(f"peak memory, {count:,} files validated", float(validated), "MiB")
