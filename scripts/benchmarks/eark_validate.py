"""Validating E-ARK packages with every checksum: many small files, and the memory that a million of them takes.

The floor is the checksums alone, by the same crew in the same run. The package is made by a generator of its own.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from noarkit.forms.container.hash_pool import HashPool, Task
from noarkit.forms.eark.rules.run import EarkValidateOptions, validate_eark
from samples.packages.eark import MOMENT, REP, Draft, file, good, package_mets
from scripts.benchmarks.figures import machine, medians, seconds, tell

_PEAK = """
import resource, sys
from pathlib import Path
from noarkit.forms.eark.rules.run import EarkValidateOptions, validate_eark
schemas = Path(sys.argv[2]) if sys.argv[2] else None
report = validate_eark(Path(sys.argv[1]), EarkValidateOptions(schemas))
bad = [one for one in report.outcomes if one.rule.level == "error"]
assert report.valid, [(one.rule.code, one.count, one.places[:1]) for one in bad]
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, report.seconds)
"""


def run(rounds: int, *, small: bool, only: str) -> None:
    """Tells every figure, or those whose name holds `only`."""
    print(f"E-ARK packages on {machine()}\n| what | ours | beside it | ratio | beside what |\n|---|---|---|---|---|")
    given = os.environ.get("NOARKIT_BENCH_SCHEMAS", "")
    with tempfile.TemporaryDirectory(prefix="noarkit-bench-") as place:
        home = Path(place)
        if "speed" in only or not only:
            _speed(home, 2_000 if small else 20_000, rounds, Path(given) if given else None)
        if "memory" in only or not only:
            _memory(home, 20_000 if small else 1_000_000, given)


def _speed(home: Path, count: int, rounds: int, schemas: Path | None) -> None:
    package = big_package(home, count, 4_096)
    names = [f"{REP}/{name}" for name in _names(count)]

    def ours() -> float:
        return count / seconds(lambda: _valid(package, schemas))

    def floor() -> float:
        return count / seconds(lambda: _hashed(package, names))

    figure = medians(rounds, ours, floor)
    tell(f"validate with checksums, speed, {count:,} files", figure[0], "files/s", figure[1], "checksums", figure[2])
    shutil.rmtree(package)


def _valid(package: Path, schemas: Path | None) -> None:
    if not validate_eark(package, EarkValidateOptions(schemas)).valid:
        raise ValueError("the package is not valid")


def _hashed(package: Path, names: list[str]) -> None:
    with HashPool(package, ("sha256",)) as crew:
        crew.warm()
        for _ in crew.work(Task(name, 4_096) for name in names):
            pass


def _memory(home: Path, count: int, schemas: str) -> None:
    package = big_package(home, count, 1)
    command = [sys.executable, "-c", _PEAK, str(package), schemas]
    peak, taken = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    tell(f"peak memory, {count:,} files validated", float(peak), "MiB")
    tell(f"the same, {count:,} files", count / float(taken), "files/s")


def _names(count: int) -> Iterator[str]:
    for number in range(count):
        yield f"data/{number // 1000:05}/{number:08}.bin"


def big_package(home: Path, count: int, size: int) -> Path:
    """A package whose representation has that many files of that size, made file by file."""
    draft = good()
    package = home / draft.top
    for name in _names(count):
        path = package / REP / name
        if name.endswith("000.bin"):
            path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_content(name, size))
    for name, content in draft.files.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    _describe(draft, package, count, size)
    return package


def _describe(draft: Draft, package: Path, count: int, size: int) -> None:
    """The METS of the representation, which lists them all, and that of the package, which lists that."""
    mets = package / REP / "METS.xml"
    before, mark, after = draft.files[f"{REP}/METS.xml"].decode().partition("</fileGrp>")
    with mets.open("w", encoding="utf-8") as out:
        out.write(before)
        for number, name in enumerate(_names(count)):
            out.write(file(f"file-{number}", name, _content(name, size), formats=True))
        out.write(mark + after)
    whole = hashlib.sha256()
    with mets.open("rb") as made:
        while block := made.read(2**20):
            whole.update(block)
    draft.files[f"{REP}/METS.xml"] = b""
    empty = hashlib.sha256(b"").hexdigest()
    text = package_mets(draft).replace(
        f'SIZE="0" CREATED="{MOMENT}" CHECKSUM="{empty}"',
        f'SIZE="{mets.stat().st_size}" CREATED="{MOMENT}" CHECKSUM="{whole.hexdigest()}"',
    )
    (package / "METS.xml").write_text(text, "utf-8")


def _content(name: str, size: int) -> bytes:
    return (name.encode() * (size // len(name) + 1))[:size]
