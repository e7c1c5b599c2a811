"""Small pictures of documents, kept beside the catalogue by the sha256 of their bytes.

Only pictures and PDF have one, and only where the libraries that draw them are installed. A document that has none is
remembered as such. The folder is its owner's alone, and what was not asked for longest goes when it grows too large.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from noarkit.documents.detect import LONG_HEAD_BYTES
from noarkit.reading_room.viewers.detection import detect
from noarkit.reading_room.viewers.job import Job
from noarkit.reading_room.viewers.port import DocumentSource
from noarkit.reading_room.viewers.workroom import LaidOut, Workroom, open_plain
from noarkit.safe import atomic

MOST_BYTES = 200 * 1024 * 1024
_MOST_OF_ONE = 1024 * 1024
_LARGEST_DOCUMENT = 64 * 1024 * 1024
_LIKELY_ENDINGS = frozenset(
    {"pdf", "png", "jpg", "jpeg", "gif", "webp", "tif", "tiff", "bmp", "jp2", "heic", "heif", "avif"}
)
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")
_KEPT = re.compile(r"[0-9a-f]{64}\.png\Z")


class Thumbnails:
    """The small pictures of one place. Serves many threads: a picture that two ask for at once is drawn twice."""

    def __init__(self, folder: Path, room: Workroom, *, most_bytes: int = MOST_BYTES) -> None:
        self._folder = folder
        self._room = room
        self._most_bytes = most_bytes

    def picture(self, source: DocumentSource, sha256: str, size_bytes: int | None = None) -> bytes | None:
        """A PNG of a document with this sha256, None where it has no picture. Raises what opening it raises."""
        if not _SHA256.match(sha256) or (size_bytes or 0) > _LARGEST_DOCUMENT:
            return None
        path = self._folder / f"{sha256}.png"
        kept = self._read(path)
        if kept is not None:
            return kept or None
        document = self._room.lay_out(source)
        if document.differences:  # no picture of other bytes stands for it
            return None
        png = self._draw(document)
        self._keep(path, png)
        return png or None

    def _draw(self, document: LaidOut) -> bytes:
        if document.size_bytes > _LARGEST_DOCUMENT:
            return b""
        with os.fdopen(open_plain(document.path), "rb") as file:
            kind = detect(file.read(LONG_HEAD_BYTES)).kind
        if kind not in ("pdf", "picture"):
            return b""
        result = self._room.read(document, Job("thumbnail", "", ""))
        return b"" if result.answer.refused is not None else self._read(result.folder / "thumbnail.png") or b""

    def _read(self, path: Path) -> bytes | None:
        """The bytes of a picture that was kept, or was drawn; none for anything else that lies there."""
        try:
            with os.fdopen(open_plain(path), "rb") as file:
                data = file.read(_MOST_OF_ONE + 1)
                os.utime(file.fileno())
        except OSError:
            return None
        return data if len(data) <= _MOST_OF_ONE and (not data or detect(data).format == "png") else b""

    def _keep(self, path: Path, png: bytes) -> None:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        atomic.write_bytes(path, png, mode=0o600, sync=False)
        self._make_room()

    def _make_room(self) -> None:
        sizes: list[tuple[float, int, Path]] = []
        for entry in os.scandir(self._folder):
            if _KEPT.match(entry.name):
                status = entry.stat(follow_symlinks=False)
                sizes.append((status.st_mtime, status.st_size + 4096, Path(entry.path)))
        total = sum(size for _, size, _ in sizes)
        for _, size, path in sorted(sizes):
            if total <= self._most_bytes:
                return
            path.unlink(missing_ok=True)
            total -= size


def may_have_thumbnail(name: str, media_type: str) -> bool:
    """True for a document that is said to be a picture or PDF, so that a list asks only for these."""
    is_picture = media_type.startswith("image/") and media_type != "image/svg+xml"
    return is_picture or media_type == "application/pdf" or name.rpartition(".")[2].lower() in _LIKELY_ENDINGS


def thumbnails_folder(catalogue: Path) -> Path:
    """Where the pictures of a catalogue lie: beside it."""
    return catalogue.with_name(f"{catalogue.stem}-pictures")
