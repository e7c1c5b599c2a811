"""What lies in a zip or an OLE file, by the names within it. Runs in the child: directories are hostile bytes too."""

from __future__ import annotations

from pathlib import Path

from noarkit.errors import NoarkitError
from noarkit.reading_room.viewers.detection import HEAD_BYTES, detect, detected_as
from noarkit.reading_room.viewers.port import Detected
from noarkit.safe.unpack import stream_members

_MOST_NAMES = 20_000
_BY_MEMBER = {"word/document.xml": "docx", "ppt/presentation.xml": "pptx", "xl/workbook.xml": "xlsx"}
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
        for number, (member, _) in enumerate(stream_members(path, twins=True)):
            if member.name in _BY_MEMBER:
                return _BY_MEMBER[member.name]
            if number >= _MOST_NAMES:
                break
    except NoarkitError:
        return "zip"
    return "zip"


def _format_in_ole(path: Path) -> str:
    import olefile

    try:
        with olefile.OleFileIO(str(path)) as container:
            names = {entry[0] for entry in container.listdir(streams=True, storages=False) if len(entry) == 1}
    except (OSError, ValueError, IndexError, TypeError, RecursionError, MemoryError):
        return "ole"
    return next((name for stream, name in _BY_STREAM.items() if stream in names), "ole")
