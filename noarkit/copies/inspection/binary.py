"""Word, Excel and PowerPoint before 2007: what can be told from the streams of their container.

These formats have no public reader here that could tell everything. Macros, locks, revisions and hidden text are seen
for sure, field codes by their names in the text.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import olefile

from noarkit.copies.port import Finding
from noarkit.documents.refusal import DocumentRefused, Refusal
from noarkit.documents.slide_dates import STREAM, count_automatic_dates
from noarkit.documents.word_runs import DELETED, HIDDEN, INSERTED, REFORMATTED, RunsUnreadable, marked_runs, table_name

_MOST_BYTES = 256 * 1024 * 1024
_ENCRYPTED_STREAMS = ("EncryptedPackage", "EncryptionInfo")
_FIB_FLAGS = 0x0A
_FIB_ENCRYPTED = 0x0100
_FIB_COMMENTS = 0xBE
_COMMENT_BYTES = 34
"""Of a comment in the table whose length stands at `_FIB_COMMENTS`: a place, and what is said of it."""
_CHANGES = (DELETED, INSERTED, *REFORMATTED)
_FIELD_NAMES = b"DATE|TIME|PRINTDATE|SAVEDATE|CREATEDATE|FILENAME|IF|REF|INCLUDETEXT|INCLUDEPICTURE|LINK"
_FIELDS = re.compile(rb"\x13\s*(" + _FIELD_NAMES + rb")\b")
_WIDE_FIELDS = re.compile(rb"\x13\x00(?: \x00)*((?:[A-Z]\x00){2,14}) ?")
_BIFF_FORMULA, _BIFF_NOTE, _BIFF_FILEPASS, _BIFF_SHEET = 0x0006, 0x001C, 0x002F, 0x0085
_FORMULA_HEAD = 22
_VOLATILE = {b"\xdd\x00": "TODAY", b"\x4a\x00": "NOW", b"\x3f\x00": "RAND"}
# a call of a function that takes a fixed number of values, in its three classes
_VOLATILE_CALL = re.compile(rb"[\x21\x41\x61](\xdd\x00|\x4a\x00|\x3f\x00)")


def find_in_binary(path: Path) -> Iterator[Finding]:
    """What a person should know of an office document in an OLE container. Raises `DocumentRefused`."""
    try:
        with olefile.OleFileIO(str(path)) as container:
            names = [entry[-1] for entry in container.listdir(streams=True, storages=True)]
            if any(name in _ENCRYPTED_STREAMS for name in names):
                raise DocumentRefused(Refusal.PASSWORD)
            macros = names.count("VBA")
            streams = {name: _stream(container, name) for name in ("WordDocument", "Workbook", "Book", STREAM)}
            table = _stream(container, table_name(streams["WordDocument"]))
    except (OSError, ValueError, IndexError, TypeError) as error:
        raise DocumentRefused(Refusal.DAMAGED) from error
    if macros:
        yield Finding("macros", {"count": macros})
    text = streams["WordDocument"]
    if text:
        yield from _find_in_text(text, table)
    book = streams["Workbook"] or streams["Book"]
    if book:
        yield from _find_in_book(book)
    yield from _find_in_slides(streams[STREAM])


def _stream(container: olefile.OleFileIO, name: str) -> bytes:
    if not container.exists(name):
        return b""
    if container.get_size(name) > _MOST_BYTES:
        raise DocumentRefused(Refusal.TOO_LARGE, bytes=container.get_size(name))
    return bytes(container.openstream(name).read())


def _find_in_text(text: bytes, table: bytes) -> Iterator[Finding]:
    if int.from_bytes(text[_FIB_FLAGS : _FIB_FLAGS + 2], "little") & _FIB_ENCRYPTED:
        raise DocumentRefused(Refusal.PASSWORD)
    comments = int.from_bytes(text[_FIB_COMMENTS : _FIB_COMMENTS + 4], "little") // _COMMENT_BYTES
    if comments:
        yield Finding("comments", {"count": comments})
    marks = _marks(text, table)
    if revisions := sum(marks[code] for code in _CHANGES):
        yield Finding("tracked-changes", {"count": revisions})
    if hidden := marks[HIDDEN]:
        yield Finding("hidden-text", {"count": hidden})
    kinds = [match[1].decode() for match in _FIELDS.finditer(text)]
    wide = [match[1].decode("utf-16-le") for match in _WIDE_FIELDS.finditer(text)]
    kinds += [name for name in wide if name.encode() in _FIELD_NAMES.split(b"|")]
    if kinds:
        yield Finding("fields", {"count": len(kinds), "kinds": sorted(set(kinds))})


def _marks(text: bytes, table: bytes) -> Counter[int]:
    """How often each property of a run is on; where nobody can read which run has which, whatever looks like one."""
    try:
        return marked_runs(text, table)
    except RunsUnreadable:
        return Counter({code: text.count(struct.pack("<HB", code, 1)) for code in (DELETED, INSERTED, HIDDEN)})


def _find_in_book(book: bytes) -> Iterator[Finding]:
    """Reads the records of a workbook. Raises `DocumentRefused` where one says that the others are encrypted."""
    counts: Counter[str] = Counter()
    fields: Counter[str] = Counter()
    place = 0
    while place + 4 <= len(book):
        kind, size = (int.from_bytes(book[place + at : place + at + 2], "little") for at in (0, 2))
        data = book[place + 4 : place + 4 + size]
        if kind == _BIFF_FILEPASS:
            raise DocumentRefused(Refusal.PASSWORD)
        if kind == _BIFF_FORMULA:
            fields.update(_VOLATILE[match[1]] for match in _VOLATILE_CALL.finditer(data[_FORMULA_HEAD:]))
        elif kind == _BIFF_NOTE:
            counts["comments"] += 1
        elif kind == _BIFF_SHEET:
            counts["hidden-sheets"] += bool(data[4:5]) and data[4] & 0x03 != 0
        place += 4 + size
    yield from (Finding(code, {"count": count}) for code, count in sorted(counts.items()) if count)
    if fields:
        yield Finding("fields", {"count": fields.total(), "kinds": sorted(fields)})


def _find_in_slides(stream: bytes) -> Iterator[Finding]:
    if count := count_automatic_dates(stream):
        yield Finding("fields", {"count": count, "kinds": ["DATE"]})
