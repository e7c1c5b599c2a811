"""Copies documents into a static copy, under names of which no browser takes them for something that runs.

A browser that opens a file from a disk goes by the ending of its name. Endings of passive formats are kept; any other
file ends in `.bin`, which browsers only save.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from noarkit.catalogue.catalogue import Card, Catalogue
from noarkit.catalogue.masking import is_screened
from noarkit.catalogue.port import Document
from noarkit.errors import ChecksumDiffers, NoarkitError
from noarkit.reading_room.static.addresses import IN_A_FOLDER
from noarkit.safe import atomic
from noarkit.safe.fixity import refuse_differences

PASSIVE = frozenset(
    """
    pdf png jpg jpeg gif tif tiff bmp webp jp2 txt csv log rtf doc docx xls xlsx ppt pptx odt ods odp eml msg mp3 mp4
    m4a wav flac avi mov mpg mkv ogg zip gz tar 7z dwg dxf ifc siard warc
    """.split()  # noqa: SIM905  # a list of so many would take a line each
)
_LONGEST_NAME = 80


@dataclass(slots=True)
class DocumentCounts:
    """How many documents were copied, could not be opened, and were left out because they are not what was stated."""

    copied: int = 0
    lost: int = 0
    differing: int = 0


class DocumentCopier:
    """Copies the documents of one item after another into `root`; `note` hears of each file with its sha256."""

    def __init__(self, catalogue: Catalogue, root: Path, note: Callable[[str, str, int], None]) -> None:
        self._catalogue = catalogue
        self._root = root
        self._note = note
        self.counts = DocumentCounts()
        self.refused: dict[str, ChecksumDiffers] = {}
        """Why documents of the last item were not copied that are not what was stated of them."""

    def copy(self, card: Card) -> dict[str, str]:
        """The paths of the copies by the refs of their documents. What is screened is not copied, and
        neither are bytes that are not what was stated of them."""
        paths: dict[str, str] = {}
        self.refused.clear()
        for number, document in enumerate(card.documents, 1):
            if document.locator is None or is_screened(document, card.entry):
                continue
            path = f"files/{card.entry.n // IN_A_FOLDER}/{card.entry.n}/{number}-{safe_name(document.name)}"
            try:
                self._copy(document, path)
            except ChecksumDiffers as fault:
                self.counts.differing += 1
                self.refused[document.ref] = fault
                continue
            except NoarkitError:
                self.counts.lost += 1
                continue
            paths[document.ref] = path
        return paths

    def _copy(self, document: Document, path: str) -> None:
        target = self._root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with self._catalogue.open(document) as stream, atomic.open_atomic(target, sync=False) as file:
            for block in stream:
                file.write(block)
            refuse_differences(stream.differences(), document.ref)
        self._note(path, stream.sha256, stream.size_bytes)
        self.counts.copied += 1


def safe_name(name: str) -> str:
    """A name that every system bears, with an ending that a browser runs nothing of."""
    plain = unicodedata.normalize("NFC", name).replace("\\", "/").rpartition("/")[2]
    clean = re.sub(r"[^\w.-]+", "_", plain, flags=re.UNICODE).strip("._-") or "document"
    stem, dot, ending = clean.rpartition(".")
    if not dot:
        stem, ending = clean, ""
    stem = stem.replace(".", "_").strip("._-")[:_LONGEST_NAME] or "document"
    if ending.lower() in PASSIVE:
        return f"{stem}.{ending.lower()}"
    return f"{stem}{'_' + ending[:12] if ending else ''}.bin"
