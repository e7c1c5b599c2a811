"""A zip of very many empty files, a bag: what each member costs before anything of it is read, beside `zipfile`.

Processor time is told, for other work on the machine is not ours; each command runs in a process of its own.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from statistics import median

from noarkit.forms.container.sinks import PlacedFile, sink_into
from scripts.benchmarks.figures import machine, tell

_NOTHING = sha256(b"").hexdigest()
_STEPS = {
    "zipfile": "import zipfile; len(zipfile.ZipFile(place).infolist())",
    "opened and judged": "from noarkit.forms.container.storage import open_storage; open_storage(place)",
    "validate, until content is read": (
        "from noarkit.forms.bagit.rules import run; run._hash_in_order = lambda *_: iter(());"
        " from noarkit.forms.validation import validate; validate(place)"
    ),
    "validate, whole": "from noarkit.forms.validation import validate; assert validate(place).valid",
    "plan: opened, until the first record": (
        "from noarkit.forms.finders import open_source; from noarkit.events import ignore_event;"
        " next(iter(open_source(str(place)).records(ignore_event)))"
    ),
    "convert: opened, until the first file": (
        "from noarkit.extraction.payload import payload_of\n"
        "with payload_of(place) as payload: next(iter(payload.parts[0].files()))"
    ),
}
_MEASURE = """
import os, sys, time
from pathlib import Path
from scripts.benchmarks.figures import peak_mb
place = Path(sys.argv[1])
import noarkit.forms.validation, noarkit.forms.finders, noarkit.extraction.payload, zipfile
began = time.process_time()
exec(sys.argv[2])
print(time.process_time() - began, peak_mb(os.getpid()))
"""


def run(rounds: int, *, small: bool, only: str) -> None:
    """Tells every figure, or those whose name holds `only`."""
    count = 100_000 if small else 1_000_000
    print(f"a zip of {count:,} members on {machine()}")
    print("| what | ours | beside it | ratio | beside what |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="noarkit-bench-") as home:
        place = Path(home) / "bag.zip"
        _make(place, count)
        floor = 0.0
        for name, step in _STEPS.items():
            if name != "zipfile" and only not in name:
                continue
            found = [_measured(place, step) for _ in range(rounds)]
            each = median(seconds for seconds, _ in found) / count * 1e6
            floor = floor or each
            if name != "zipfile":
                tell(name, each, "µs a member", floor, "zipfile's infolist()", each / floor)
                tell(f"{name}: peak memory", max(peak for _, peak in found), "MiB")


def _measured(place: Path, step: str) -> tuple[float, float]:
    command = [sys.executable, "-c", _MEASURE, str(place), step]
    seconds, peak = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return float(seconds), float(peak)


def _make(place: Path, count: int) -> None:
    names = [f"data/f{number:06}.txt" for number in range(1, count + 1)]
    tags = {
        "bagit.txt": "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n",
        "manifest-sha256.txt": "".join(f"{_NOTHING}  {name}\n" for name in names),
    }
    with place.open("w+b") as file:
        sink = sink_into(file, "zip", "bag")

        def placed() -> Iterator[PlacedFile]:
            for name, text in tags.items():
                yield sink.add(name, io.BytesIO(text.encode()), None)
            for name in names:
                yield sink.add(name, io.BytesIO(b""), None)

        sink.finish(list(placed()))
