"""What lies in a zip or an OLE file, by the names within it. Runs in the child: directories are hostile bytes too."""

from __future__ import annotations

import zipfile
from pathlib import Path

from noarkit.documents.detect import LONG_HEAD_BYTES, format_of
from noarkit.documents.outlook import streams_in
from noarkit.documents.parts import office_format

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


def format_of_file(path: Path, name: str = "", media_type: str = "") -> str:
    """Our name of the format of the file at `path`, as far as its bytes tell."""
    with path.open("rb") as file:
        head = file.read(LONG_HEAD_BYTES)
    format_name = format_of(head, name, media_type)
    if format_name == "zip":
        return _format_in_zip(path, head)
    return format_in_ole(path) if format_name == "ole" else format_name


def format_in_ole(path: Path) -> str:
    """What lies in an OLE file; `"ole"` for what nobody here knows."""
    with path.open("rb") as file:
        names = streams_in(file) or frozenset()
    return next((name for stream, name in _BY_STREAM.items() if stream in names), "ole")


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
    return format_name or "zip"
