"""Archival copies beside the bare tools: letters through `noarkit derive`, with every gate, and through LibreOffice
alone in one batch; pictures beside Pillow; PDF/A as delivered; and a second run over it all."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import noarkit
from scripts.benchmarks.figures import machine, medians, processor_seconds, seconds, tell
from scripts.copies_corpus.kinds import KINDS, Kind
from scripts.copies_corpus.writing import write_corpus

_MOST_S = 3_600
_SIDE = 1_500
"""Width of a picture, in pixels."""


def run(rounds: int, *, small: bool, only: str) -> None:
    """Tells every figure, or those whose name holds `only`."""
    print(f"copies on {machine()}\n| what | ours | beside it | ratio | beside what |\n|---|---|---|---|---|")
    count = 20 if small else 200
    with tempfile.TemporaryDirectory(prefix="noarkit-bench-") as place:
        home = Path(place)
        # what is installed lies there compiled, and so do the libraries on the other side
        subprocess.run([sys.executable, "-m", "compileall", "-q", *noarkit.__path__], check=True)
        if only in "pictures":
            _pictures(home / "pictures", rounds, count // 4)
        program = shutil.which("soffice")
        if program is None:
            print("| letters | soffice is not installed | | | |")
            return
        _letters(home / "letters", program, rounds, count, only)


def _letters(home: Path, program: str, rounds: int, count: int, only: str) -> None:
    letters = next(kind for kind in KINDS if (kind.name, kind.suffix) == ("brev", "docx"))
    write_corpus(home, (Kind(letters.name, letters.suffix, letters.write, "made", count=count),))
    files = sorted((home / "documents").rglob("*.docx"))
    ours, floor = partial(_derive, home), partial(_convert, program, home, files)
    for name, measure in (("letters, wall time", seconds), ("letters, processor time", processor_seconds)):
        if only in name:
            took, beside, ratio = medians(rounds, partial(measure, ours), partial(measure, floor))
            tell(name, count / took, "files/s", count / beside, "soffice --convert-to, one batch", 1 / ratio)
    if only in "one that hangs":
        _hanging(home, program, files)
    if only in "second run" or only in "PDF/A as delivered":
        _derive(home)
    if only in "second run":
        again = partial(_derive, home, afresh=False)
        took, beside, ratio = medians(rounds, partial(seconds, again), partial(seconds, partial(_hash, files)))
        tell("second run, with its start", count / took, "files/s", count / beside, "SHA-256 alone", 1 / ratio)
    if only in "PDF/A as delivered":
        _as_delivered(home, rounds)


_HANGS = """#!/bin/sh
# LibreOffice, but for a document that ends in a mark: there it works for ever
count=0 mark=
for each in "$@"; do
  case $each in *.docx) if tail -c 6 "$each" | grep -q HENGER; then mark=yes; break; fi ;; esac
  count=$((count + 1))
done
[ -n "$mark" ] || exec {program} "$@"
number=0 all=$#
while [ $number -lt $all ]; do
  [ $number -ge $count ] || set -- "$@" "$1"
  shift
  number=$((number + 1))
done
case $each in *01/*) ;; *) {program} "$@" ;; esac
while :; do :; done
"""


def _hanging(home: Path, program: str, files: list[Path]) -> None:
    """What one document costs on which LibreOffice never ends, among many that are made, beside the same without it."""
    script = home / "bin" / "hangs"
    script.parent.mkdir()
    real = Path(program).resolve().with_name("soffice.bin")
    script.write_text(_HANGS.replace("{program}", str(real)), "utf-8")
    script.chmod(0o755)
    config = home / "noarkit.toml"
    config.write_text(f'[copies]\nsoffice = "{script}"\n', "utf-8")
    whole = partial(_derive, home, more=("--config", str(config)))
    without = _both(whole)
    with zipfile.ZipFile(files[len(files) // 2], "a") as package:
        package.comment = b"HENGER"
    took = _both(partial(whole, code=3))
    made = sum(1 for path in (home / "copies" / "objects").rglob("*") if path.is_file())
    print(
        f"| one that hangs among {len(files)} letters: {made} made | {took[0]:,.0f} s of processor, {took[1]:,.0f} s"
        f" | {without[0]:,.0f} s, {without[1]:,.0f} s | | the same without it |",
        flush=True,
    )


def _both(act: Callable[[], None]) -> tuple[float, float]:
    """Processor time and wall time of one call."""
    wall = 0.0

    def timed() -> None:
        nonlocal wall
        wall = seconds(act)

    return processor_seconds(timed), wall


def _as_delivered(home: Path, rounds: int) -> None:
    """The copies of the letters as a source of their own: nothing to convert, each to be validated."""
    folder = home / "pdfa" / "documents"
    folder.mkdir(parents=True)
    for path in (home / "copies" / "objects").rglob("*"):
        if path.is_file():
            shutil.copyfile(path, folder / f"{path.name}.pdf")
    files = sorted(folder.iterdir())
    ours, floor = partial(_derive, home / "pdfa"), partial(_validate, files)
    took, beside, ratio = medians(rounds, partial(processor_seconds, ours), partial(processor_seconds, floor))
    tell("PDF/A as delivered, processor time", len(files) / took, "files/s", len(files) / beside, _VALIDATOR, 1 / ratio)


_VALIDATOR = "pikepdf.pdfa alone, with its start"


def _pictures(home: Path, rounds: int, count: int) -> None:
    """Pictures that become PNG, with every pixel compared, beside Pillow's own decoding and encoding."""
    from PIL import Image

    folder = home / "documents"
    folder.mkdir(parents=True)
    noise = Image.effect_noise((_SIDE // 10, _SIDE // 10), 60).resize((_SIDE, _SIDE))
    for number in range(count):
        picture = Image.merge("RGB", (noise.rotate(number), noise, noise.rotate(90)))
        # a BMP takes no notice of the option
        picture.save(folder / f"{number:03d}.{('bmp', 'webp')[number % 2]}", lossless=True)
    files = sorted(folder.iterdir())
    ours, floor = partial(_derive, home), partial(_encode, files)
    took, beside, ratio = medians(rounds, partial(processor_seconds, ours), partial(processor_seconds, floor))
    what = "Pillow decodes and encodes, with its start"
    tell("pictures of 2 MP to PNG, processor time", count / took, "files/s", count / beside, what, 1 / ratio)


def _command(home: Path) -> list[str]:
    return [sys.executable, "-m", "noarkit", "derive", str(home / "documents"), "-o", str(home / "copies")]


def _derive(home: Path, *, afresh: bool = True, more: tuple[str, ...] = (), code: int = 0) -> None:
    """Copies every document with one worker, since the floor has one process."""
    if afresh:
        shutil.rmtree(home / "copies", ignore_errors=True)
    command = [*_command(home), "--workers", "1", *more]
    completed = subprocess.run(command, check=False, capture_output=True, timeout=_MOST_S)
    if completed.returncode != code:
        raise RuntimeError(completed.stderr.decode("utf-8", "replace")[-2000:])


def _convert(program: str, home: Path, files: list[Path]) -> None:
    target = 'pdf:writer_pdf_Export:{"SelectPdfVersion":{"type":"long","value":"2"}}'
    command = [program, f"-env:UserInstallation=file://{home}/profile", "--headless", "--convert-to", target]
    subprocess.run([*command, "--outdir", home / "bare", *files], check=True, capture_output=True, timeout=_MOST_S)


def _python(code: str, files: list[Path]) -> None:
    command = [sys.executable, "-c", code, *map(str, files)]
    subprocess.run(command, check=True, capture_output=True, timeout=_MOST_S)


def _validate(files: list[Path]) -> None:
    _python("import sys, pikepdf.pdfa as p\nfor name in sys.argv[1:]: p.validate_written(name, '2b')", files)


def _encode(files: list[Path]) -> None:
    _python(
        "import io, sys\nfrom PIL import Image\nfor name in sys.argv[1:]: Image.open(name).save(io.BytesIO(), 'png')",
        files,
    )


def _hash(files: list[Path]) -> None:
    for file in files:
        hashlib.sha256(file.read_bytes()).hexdigest()
