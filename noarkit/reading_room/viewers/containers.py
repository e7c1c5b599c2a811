"""What lies in a zip or an OLE file, by the names within it. Runs in the child: directories are hostile bytes too."""

from __future__ import annotations

import zipfile
from pathlib import Path

from noarkit.documents.parts import office_format
from noarkit.reading_room.viewers.detection import HEAD_BYTES, detect, detected_as, formats
from noarkit.reading_room.viewers.port import Detected

_BY_MIMETYPE = (
    (b"application/vnd.oasis.opendocument.text", "odt"),
    (b"application/vnd.oasis.opendocument.spreadsheet", "ods"),
    (b"application/vnd.oasis.opendocument.presentation", "odp"),
)
_BY_STREAM = {
    "__properties_version1.0": "msg",
    "WordDocument": "doc",
    "Workbook": "xls",
    "Book": "xls",
    "PowerPoint Document": "ppt",
}


def detect_file(path: Path) -> Detected:
    """What the file at `path` is, as far as its bytes tell."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    detected = detect(head)
    if detected.format == "zip":
        return detected_as(_format_in_zip(path, head))
    if detected.format == "ole":
        return detected_as(_format_in_ole(path))
    return detected


def _format_in_zip(path: Path, head: bytes) -> str:
    # OpenDocument says what it is in its first member, which is not packed
    if head[30:38] == b"mimetype":
        for media_type, name in _BY_MIMETYPE:
            if head.startswith(media_type, 38):
                return name
    try:
        with zipfile.ZipFile(path) as archive:
            format_name = office_format(archive)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, ValueError):
        return "zip"
    return format_name if format_name is not None and format_name in formats() else "zip"


def _format_in_ole(path: Path) -> str:
    import olefile

    try:
        with olefile.OleFileIO(str(path)) as container:
            names = {entry[0] for entry in container.listdir(streams=True, storages=False) if len(entry) == 1}
    except (OSError, ValueError, IndexError, TypeError, RecursionError, MemoryError):
        return "ole"
    return next((name for stream, name in _BY_STREAM.items() if stream in names), "ole")
