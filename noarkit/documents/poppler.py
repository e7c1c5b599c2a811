"""What poppler sees of a PDF: its pages, the text on them, how they look. It runs within walls where there are some.

It is the second reader of PDFs, beside the library: where two readers agree on what a document says and shows, no slip
of one of them decides.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from noarkit.safe.children import child_environment
from noarkit.safe.sandbox import walls_around

if TYPE_CHECKING:
    from PIL.Image import Image

PROGRAMS = ("pdftotext", "pdftoppm")
_PATIENCE_S = 300.0
_MOST_BYTES = 128 * 1024 * 1024
_PAGE_END = "\f"
_PICTURE = re.compile(rb"P5\s+(\d+)\s+(\d+)\s+255\s", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Poppler:
    """The programs of poppler. `bubblewrap` names the program that walls them in; empty means without."""

    bubblewrap: str = "bwrap"

    @property
    def is_there(self) -> bool:
        """True where all its programs are."""
        return all(shutil.which(name) for name in PROGRAMS)

    def text(self, path: Path) -> str | None:
        """The text of the whole document, a form feed behind each page; None where it cannot open it."""
        answer = self._run(("pdftotext", "-enc", "UTF-8", str(path.resolve()), "-"), path)
        return None if answer is None else answer.decode("utf-8", "replace")

    def pictures(self, path: Path, pages: int, longest: int) -> list[Image]:
        """The first pages as they look, in grey, `longest` pixels on the longer side; those alone that it can draw."""
        options = ("-gray", "-scale-to", str(longest), "-l", str(pages))
        answer = self._run(("pdftoppm", *options, str(path.resolve())), path)
        return [] if answer is None else list(_pictures_in(answer))

    def _run(self, command: Sequence[str], path: Path) -> bytes | None:
        """What a program writes; None where it does not end well, or not in time."""
        walls = walls_around((path.resolve().parent,), {}, self.bubblewrap) if self.bubblewrap else None
        full_command = [*(walls or ()), str(shutil.which(command[0])), *command[1:]]
        with tempfile.TemporaryFile() as file:
            try:
                ended = subprocess.run(  # noqa: S603  # a program of the system, without a shell
                    full_command,
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=subprocess.DEVNULL,
                    env=child_environment(),
                    timeout=_PATIENCE_S,
                    check=False,
                )
            except (OSError, subprocess.TimeoutExpired):
                return None
            file.seek(0)
            return file.read(_MOST_BYTES) if ended.returncode == 0 else None


def page_count(text: str | None) -> int | None:
    """How many pages a text is of, by the form feeds behind them."""
    return None if text is None else text.count(_PAGE_END)


def _pictures_in(content: bytes) -> list[Image]:
    """The pictures of a stream of PGM, one behind the other: `P5 2 1 255 ab` is one of two pixels."""
    from PIL import Image

    pictures, at = [], 0
    while head := _PICTURE.match(content, at):
        size = int(head[1]), int(head[2])
        at = head.end() + size[0] * size[1]
        if at <= len(content):
            pictures.append(Image.frombytes("L", size, content[head.end() : at]))
    return pictures
