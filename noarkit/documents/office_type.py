"""The media type of an office document in a zip, quickly: by the list of its members, a few reads whatever its size."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping

from noarkit.documents.parts import USUAL_MAIN, OfficeFormat, office_format
from noarkit.documents.zip_tail import SIGNATURE, Member, find_member, read_member, read_tail

UNTOLD = frozenset({"application/zip", "application/octet-stream", "application/x-zip-compressed"})
"""Media types that say no more than that it may be a zip."""

_TAIL_BYTES = 1024 * 1024
_LONGEST_TYPE = 100
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
    if not head.startswith(SIGNATURE):
        return None
    tail = read_tail(descriptor, size, _TAIL_BYTES)
    if find_member(tail, _CONTENT_TYPES) is not None:
        usual = next((kind for name, kind in _BY_MEMBER.items() if find_member(tail, name) is not None), None)
        return usual or _by_main_part(descriptor)
    member = find_member(tail, _MIME_TYPE)
    return _open_document(descriptor, member) if member is not None else None


def _by_main_part(descriptor: int) -> str | None:
    """By the main part, where that has a name of its own."""
    try:
        with os.fdopen(os.dup(descriptor), "rb") as file, zipfile.ZipFile(file) as archive:
            format_name = office_format(archive)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, ValueError):
        return None
    return _BY_FORMAT.get(format_name) if format_name is not None else None


def _open_document(descriptor: int, member: Member) -> str | None:
    """What the member `"mimetype"` says, which is there uncompressed."""
    if not member.is_plain or member.packed_bytes >= _LONGEST_TYPE:
        return None
    media_type = read_member(descriptor, member, _LONGEST_TYPE)
    is_one = media_type.startswith(_OPEN_DOCUMENT) and media_type.isascii()
    return media_type.decode("ascii").strip() if is_one else None
