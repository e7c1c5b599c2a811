"""The media type of an office document in a zip, quickly: by the list of its members, a few reads whatever its size."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping
from struct import unpack_from

from noarkit.documents.parts import USUAL_MAIN, OfficeFormat, office_format
from noarkit.safe.descriptors import read_at

UNTOLD = frozenset({"application/zip", "application/octet-stream", "application/x-zip-compressed"})
"""Media types that say no more than that it may be a zip."""

_SIGNATURE, _ENTRY = b"PK\x03\x04", b"PK\x01\x02"
_TAIL_BYTES = 1024 * 1024
_MOST_ENTRIES = 20_000
_ENTRY_BYTES, _LOCAL_BYTES = 46, 30
_OFFICE = "application/vnd.openxmlformats-officedocument."
_BY_FORMAT: Mapping[OfficeFormat, str] = {
    "docx": f"{_OFFICE}wordprocessingml.document",
    "xlsx": f"{_OFFICE}spreadsheetml.sheet",
    "xlsb": "application/vnd.ms-excel.sheet.binary.macroenabled.12",
    "pptx": f"{_OFFICE}presentationml.presentation",
}
_BY_MEMBER: Mapping[bytes, str] = {name.encode(): _BY_FORMAT[kind] for name, kind in USUAL_MAIN.items()}
_CONTENT_TYPES, _MIME_TYPE = b"[Content_Types].xml", b"mimetype"
_OPEN_DOCUMENT = b"application/vnd.oasis.opendocument."


def office_type(descriptor: int, size: int, head: bytes) -> str | None:
    """The media type of an office document in a zip, told by the list of its members; None for any other file."""
    if not head.startswith(_SIGNATURE):
        return None
    tail = read_at(descriptor, _TAIL_BYTES, max(size - _TAIL_BYTES, 0))
    members = _members(tail)
    if _CONTENT_TYPES in members:
        usual = next((kind for name, kind in _BY_MEMBER.items() if name in members), None)
        return usual or _by_main_part(descriptor)
    return _open_document(descriptor, members[_MIME_TYPE]) if _MIME_TYPE in members else None


def _by_main_part(descriptor: int) -> str | None:
    """By the main part, where that has a name of its own."""
    try:
        with os.fdopen(os.dup(descriptor), "rb") as file, zipfile.ZipFile(file) as archive:
            format_name = office_format(archive)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, ValueError):
        return None
    return _BY_FORMAT.get(format_name) if format_name is not None else None


def _members(tail: bytes) -> dict[bytes, int]:
    """The names in the list at the end of a zip, as far as it lies in these bytes, and where each member begins."""
    offsets: dict[bytes, int] = {}
    at = tail.find(_ENTRY)
    while at >= 0 and len(offsets) < _MOST_ENTRIES and at + _ENTRY_BYTES <= len(tail):
        (length,), (begins,) = unpack_from("<H", tail, at + 28), unpack_from("<I", tail, at + 42)
        offsets[tail[at + _ENTRY_BYTES : at + _ENTRY_BYTES + length]] = begins
        at = tail.find(_ENTRY, at + _ENTRY_BYTES + length)
    return offsets


def _open_document(descriptor: int, begins: int) -> str | None:
    """What the member `"mimetype"` says, which is there uncompressed."""
    local = read_at(descriptor, _LOCAL_BYTES + 300, begins)
    if len(local) < _LOCAL_BYTES or not local.startswith(_SIGNATURE):
        return None
    (method,), (length,) = unpack_from("<H", local, 8), unpack_from("<I", local, 22)
    name, extra = unpack_from("<HH", local, 26)
    media_type = local[_LOCAL_BYTES + name + extra :][:length]
    is_one = method == 0 and media_type.startswith(_OPEN_DOCUMENT) and length < 100 and media_type.isascii()
    return media_type.decode("ascii").strip() if is_one else None
