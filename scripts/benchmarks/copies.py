"""Archival copies beside the bare tool: the same letters through `noarkit derive`, with every gate, and through
LibreOffice alone in one batch; and a second run over what has been copied, beside reading and hashing it."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from scripts.benchmarks.figures import machine, medians, processor_seconds, seconds, tell
from scripts.copies_corpus.__main__ import write_corpus
from scripts.copies_corpus.kinds import KINDS, Kind

_MOST_S = 3_600


def run(rounds: int, *, small: bool, only: str) -> None:
    """Tells every figure, or those whose name holds `only`."""
    print(f"copies on {machine()}\n| what | ours | beside it | ratio | beside what |\n|---|---|---|---|---|")
    program = shutil.which("soffice")
    if program is None:
        print("| letters | soffice is not installed | | | |")
        return
    count = 20 if small else 200
    letters = next(kind for kind in KINDS if (kind.name, kind.suffix) == ("brev", "docx"))
    with tempfile.TemporaryDirectory(prefix="noarkit-bench-") as place:
        home = Path(place)
        write_corpus(home, kinds=(Kind(letters.name, letters.suffix, letters.write, "made", count=count),))
        files = sorted((home / "documents").rglob("*.docx"))
        if only in "letters, wall time" or only in "letters, processor time":
            ours, floor = partial(_derive, home), partial(_convert, program, home, files)
            for name, measure in (("letters, wall time", seconds), ("letters, processor time", processor_seconds)):
                took, beside, ratio = medians(rounds, partial(measure, ours), partial(measure, floor))
                tell(name, count / took, "files/s", count / beside, "soffice --convert-to, one batch", 1 / ratio)
        if only in "second run":
            _derive(home)
            again = partial(_derive, home, afresh=False)
            took, beside, ratio = medians(rounds, partial(seconds, again), partial(seconds, partial(_hash, files)))
            tell("second run, with its start", count / took, "files/s", count / beside, "SHA-256 alone", 1 / ratio)


def _derive(home: Path, *, afresh: bool = True) -> None:
    """Copies every document with one worker, since the floor has one process."""
    if afresh:
        shutil.rmtree(home / "copies", ignore_errors=True)
    command = [sys.executable, "-m", "noarkit", "derive", str(home / "documents"), "-o", str(home / "copies")]
    subprocess.run([*command, "--workers", "1"], check=True, capture_output=True, timeout=_MOST_S)


def _convert(program: str, home: Path, files: list[Path]) -> None:
    target = 'pdf:writer_pdf_Export:{"SelectPdfVersion":{"type":"long","value":"2"}}'
    command = [program, f"-env:UserInstallation=file://{home}/profile", "--headless", "--convert-to", target]
    subprocess.run([*command, "--outdir", home / "bare", *files], check=True, capture_output=True, timeout=_MOST_S)


def _hash(files: list[Path]) -> None:
    for file in files:
        hashlib.sha256(file.read_bytes()).hexdigest()
