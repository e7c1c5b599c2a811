"""Media types by the first bytes of a file, from a table of our own: for systems that libmagic does not run on.

The names are those that libmagic uses. It knows hundreds of kinds; this knows those that archives are full of, and says
`application/octet-stream` of all others, which is nobody's mistake to believe.
"""

from __future__ import annotations

import re

_UNKNOWN = "application/octet-stream"
_SIGNATURES: tuple[tuple[int, bytes, str], ...] = (
    (0, b"%PDF-", "application/pdf"),
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF8", "image/gif"),
    (0, b"II*\0", "image/tiff"),
    (0, b"MM\0*", "image/tiff"),
    (0, b"\0\0\0\x0cjP  ", "image/jp2"),
    (4, b"ftypqt", "video/quicktime"),
    (4, b"ftypheic", "image/heic"),
    (4, b"ftypheix", "image/heic"),
    (4, b"ftypmif1", "image/heif"),
    (4, b"ftypavif", "image/avif"),
    (4, b"ftypM4A", "audio/x-m4a"),
    (4, b"ftypM4V", "video/x-m4v"),
    *((4, b"ftyp" + brand, "video/mp4") for brand in (b"isom", b"iso2", b"mp41", b"mp42", b"avc1", b"dash")),
    (0, b"fLaC", "audio/flac"),
    (0, b"OggS", "audio/ogg"),
    (0, b"\x1aE\xdf\xa3", "video/x-matroska"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (0, b"{\\rtf", "text/rtf"),
    (0, b"%!PS", "application/postscript"),
    (0, b"SQLite format 3\0", "application/vnd.sqlite3"),
    (0, b"\x1f\x8b", "application/gzip"),
    (0, b"\xfd7zXZ\0", "application/x-xz"),
    (0, b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (0, b"Rar!\x1a\x07", "application/x-rar"),
    (257, b"ustar", "application/x-tar"),
    (0, b"\x7fELF", "application/x-executable"),
)
# letters that a text may begin with as well
_SHORT_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"BM", "image/bmp"),
    (b"ID3", "audio/mpeg"),
    (b"BZh", "application/x-bzip2"),
    (b"MZ", "application/x-dosexec"),
)
_IN_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/x-wav", b"AVI ": "video/x-msvideo"}
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_OFFICE = "application/vnd.openxmlformats-officedocument."
_IN_ZIP: tuple[tuple[bytes, str], ...] = (
    (b"word/", f"{_OFFICE}wordprocessingml.document"),
    (b"xl/", f"{_OFFICE}spreadsheetml.sheet"),
    (b"ppt/", f"{_OFFICE}presentationml.presentation"),
)
_TYPE_IN_ZIP = re.compile(rb"mimetype(application/[\x21-\x7e]{1,120}?)PK")
_HTML = re.compile(rb"\s*(<!doctype html|<html)", re.IGNORECASE)
_CONTROL = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f]")
_BOMS = (b"\xff\xfe", b"\xfe\xff")


class SignatureTable:
    """Answers as libmagic does, of the kinds that it knows."""

    def from_buffer(self, head: bytes) -> str:
        """The media type of a file that begins so."""
        if not head:
            return "application/x-empty"
        if head.startswith(_ZIP):
            return _type_in_zip(head)
        for offset, signature, media_type in _SIGNATURES:
            if head.startswith(signature, offset):
                return media_type
        if head.startswith(b"RIFF") and head[8:12] in _IN_RIFF:
            return _IN_RIFF[head[8:12]]
        if _CONTROL.search(head):
            for signature, media_type in _SHORT_SIGNATURES:
                if head.startswith(signature):
                    return media_type
        return _type_of_text(head)


def _type_in_zip(head: bytes) -> str:
    member = _TYPE_IN_ZIP.search(head)
    if member is not None:
        return member[1].decode("ascii")
    first = min(((head.find(name), kind) for name, kind in _IN_ZIP if name in head), default=None)
    return "application/zip" if first is None else first[1]


def _type_of_text(head: bytes) -> str:
    body = head.removeprefix(b"\xef\xbb\xbf")
    if not head.startswith(_BOMS) and _CONTROL.search(body):
        return _UNKNOWN
    if _HTML.match(body):
        return "text/html"
    return "text/xml" if body.lstrip().startswith(b"<?xml") else "text/plain"
