"""Word, Excel and PowerPoint before 2007: what can be told from the streams of their container.

These formats have no public reader here that could tell everything. Macros, locks and field codes are seen for sure;
revisions and hidden text by the codes of their properties.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import olefile

from noarkit.copies.inspection.packages import DocumentRefused
from noarkit.copies.port import Finding
from noarkit.copies.reasons import Reason

_MOST_BYTES = 256 * 1024 * 1024
_MACROS = ("VBA", "Macros", "_VBA_PROJECT_CUR")
_ENCRYPTED_STREAMS = ("EncryptedPackage", "EncryptionInfo")
_FIB_FLAGS = 0x0A
_FIB_ENCRYPTED = 0x0100
# sprmCFRMarkDel, sprmCFRMarkIns and sprmCFVanish, switched on
_REVISIONS = (b"\x00\x08\x01", b"\x01\x08\x01")
_HIDDEN = b"\x3c\x08\x01"
_FIELD_NAMES = b"DATE|TIME|PRINTDATE|SAVEDATE|CREATEDATE|FILENAME|IF|REF|INCLUDETEXT|INCLUDEPICTURE|LINK"
_FIELDS = re.compile(rb"\x13\s*(" + _FIELD_NAMES + rb")\b")
_WIDE_FIELDS = re.compile(rb"\x13\x00(?: \x00)*((?:[A-Z]\x00){2,14}) ?")
_BIFF_FILEPASS = 0x002F


def find_in_binary(path: Path) -> Iterator[Finding]:
    """What a person should know of an office document in an OLE container. Raises `DocumentRefused`."""
    try:
        with olefile.OleFileIO(str(path)) as container:
            names = [entry[-1] for entry in container.listdir(streams=True, storages=True)]
            if any(name in _ENCRYPTED_STREAMS for name in names):
                raise DocumentRefused(Reason.PASSWORD)
            macros = sum(name in _MACROS for name in names)
            streams = {name: _stream(container, name) for name in ("WordDocument", "Workbook", "Book")}
    except (OSError, ValueError, IndexError, TypeError) as error:
        raise DocumentRefused(Reason.DAMAGED) from error
    if macros:
        yield Finding("macros", {"count": macros})
    text = streams["WordDocument"]
    if text:
        yield from _find_in_text(text)
    book = streams["Workbook"] or streams["Book"]
    if book:
        _refuse_locked_book(book)


def _stream(container: olefile.OleFileIO, name: str) -> bytes:
    if not container.exists(name):
        return b""
    if container.get_size(name) > _MOST_BYTES:
        raise DocumentRefused(Reason.TOO_LARGE, bytes=container.get_size(name))
    return bytes(container.openstream(name).read())


def _find_in_text(text: bytes) -> Iterator[Finding]:
    if int.from_bytes(text[_FIB_FLAGS : _FIB_FLAGS + 2], "little") & _FIB_ENCRYPTED:
        raise DocumentRefused(Reason.PASSWORD)
    revisions = sum(text.count(code) for code in _REVISIONS)
    if revisions:
        yield Finding("tracked-changes", {"count": revisions})
    if hidden := text.count(_HIDDEN):
        yield Finding("hidden-text", {"count": hidden})
    kinds = [match[1].decode() for match in _FIELDS.finditer(text)]
    wide = [match[1].decode("utf-16-le") for match in _WIDE_FIELDS.finditer(text)]
    kinds += [name for name in wide if name.encode() in _FIELD_NAMES.split(b"|")]
    if kinds:
        yield Finding("fields", {"count": len(kinds), "kinds": sorted(set(kinds))})


def _refuse_locked_book(book: bytes) -> None:
    """Raises `DocumentRefused` where one of the first records of a workbook says that the others are encrypted."""
    place = 0
    for _ in range(32):
        kind, size = (int.from_bytes(book[place + at : place + at + 2], "little") for at in (0, 2))
        if kind == _BIFF_FILEPASS:
            raise DocumentRefused(Reason.PASSWORD)
        place += 4 + size
        if place >= len(book):
            return
