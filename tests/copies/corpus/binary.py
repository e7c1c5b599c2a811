"""OLE containers as Word, Excel and PowerPoint before 2007 write them: small ones, sector by sector."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Mapping
from pathlib import PurePosixPath

_SECTOR = 512
_END, _FREE, _FAT, _NONE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD, 0xFFFFFFFF
_CUTOFF = 4096
CLASSES = {
    "WordDocument": bytes.fromhex("0609020000000000c000000000000046"),
    "Workbook": bytes.fromhex("2008020000000000c000000000000046"),
}
_BOF = struct.pack("<HHHHHHII", 0x809, 16, 0x600, 5, 0x0DBB, 0x07CC, 0, 6)
_EOF = struct.pack("<HH", 0x0A, 0)


def container(streams: Mapping[str, bytes]) -> bytes:
    """An OLE container; a name `a/b` is a stream in a storage. Every stream is filled up with zeros to a whole size."""
    folders = {str(folder) for name in streams for folder in PurePosixPath(name).parents if str(folder) != "."}
    names = sorted(folders | set(streams), key=lambda name: (name.count("/"), name))
    entries: list[tuple[str, int, bytes | None]] = []  # name, parent, content
    places = {"": 0}
    for name in names:
        folder, _, stem = name.rpartition("/")
        places[name] = len(entries) + 1
        entries.append((stem, places[folder], streams.get(name)))
    fat: list[int] = [_FAT]
    content = bytearray()
    starts: list[tuple[int, int]] = []
    for _, _, data in entries:
        if data is None:
            starts.append((0, 0))
            continue
        padded = data.ljust(_CUTOFF, b"\0")
        starts.append((len(fat), len(padded)))
        padded += b"\0" * (-len(padded) % _SECTOR)
        count = len(padded) // _SECTOR
        fat.extend([*range(len(fat) + 1, len(fat) + count), _END])
        content += padded
    directory = _directory(entries, starts, next((CLASSES[n] for n in CLASSES if n in streams), bytes(16)))
    first = len(fat)
    count = len(directory) // _SECTOR
    fat.extend([*range(first + 1, first + count), _END])
    if len(fat) > _SECTOR // 4:
        raise ValueError("too long for one sector of the table")
    fat.extend([_FREE] * (_SECTOR // 4 - len(fat)))
    head = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(16) + struct.pack("<HHHHH6x", 0x3E, 3, 0xFFFE, 9, 6)
    head += struct.pack("<IIIIIIIII", 0, 1, first, 0, _CUTOFF, _END, 0, _END, 0) + struct.pack("<I", 0)
    head += struct.pack("<108I", *[_FREE] * 108)
    return head + struct.pack("<128I", *fat) + bytes(content) + directory


def _directory(entries: list[tuple[str, int, bytes | None]], starts: list[tuple[int, int]], class_id: bytes) -> bytes:
    """Entries of 128 bytes: the children of a storage hang on one another as a list."""
    children = {n: [at for at, (_, parent, _) in enumerate(entries, 1) if parent == n] for n in range(len(entries) + 1)}
    following = {a: b for row in children.values() for a, b in itertools.pairwise(row)}
    rows = [_entry("Root Entry", 5, _NONE, (children[0] or [_NONE])[0], (_END, 0), class_id)]
    for at, ((name, _, data), start) in enumerate(zip(entries, starts, strict=True), 1):
        kind = 1 if data is None else 2
        rows.append(_entry(name, kind, following.get(at, _NONE), (children[at] or [_NONE])[0], start, bytes(16)))
    rows += [_entry("", 0, _NONE, _NONE, (0, 0), bytes(16))] * (-len(rows) % 4)
    return b"".join(rows)


def _entry(name: str, kind: int, right: int, child: int, start: tuple[int, int], class_id: bytes) -> bytes:
    wide = name.encode("utf-16-le")
    head = wide.ljust(64, b"\0") + struct.pack("<HBBIII", len(wide) + 2 if name else 0, kind, 1, _NONE, right, child)
    return head + class_id + bytes(20) + struct.pack("<II", *start) + bytes(4)


def word_stream(text: bytes = b"", *, flags: int = 0, comments: int = 0) -> bytes:
    """The main stream of a Word document: its head, and bytes that stand for text and properties."""
    head = bytearray(0x400)
    struct.pack_into("<HH", head, 0, 0xA5EC, 0xC1)
    struct.pack_into("<H", head, 0x0A, flags)
    struct.pack_into("<H", head, 0x20, 14)
    struct.pack_into("<H", head, 0x3E, 22)
    struct.pack_into("<H", head, 0x98, 93)
    struct.pack_into("<I", head, 0xBE, 4 + 34 * comments if comments else 0)
    return bytes(head) + text


def record(kind: int, data: bytes) -> bytes:
    """A record of a workbook."""
    return struct.pack("<HH", kind, len(data)) + data


def book_stream(*records: bytes) -> bytes:
    """The stream of a workbook with these records."""
    return _BOF + b"".join(records) + _EOF


def formula(tokens: bytes) -> bytes:
    """A cell with a formula."""
    return record(6, struct.pack("<HHH8sHIH", 0, 0, 0, bytes(8), 0, 0, len(tokens)) + tokens)


def doc(text: bytes = b"Vedtak", *, flags: int = 0, comments: int = 0, **more: bytes) -> bytes:
    """A Word document before 2007, with streams beside its own."""
    streams = {"WordDocument": word_stream(text, flags=flags, comments=comments), "1Table": b""}
    return container({**streams, **{name.replace("__", "/"): content for name, content in more.items()}})


def xls(*records: bytes, **more: bytes) -> bytes:
    """A workbook before 2007, with streams beside its own."""
    streams = {"Workbook": book_stream(*records)}
    return container({**streams, **{name.replace("__", "/"): content for name, content in more.items()}})


def atom(kind: int, data: bytes) -> bytes:
    """A record of a presentation that holds no others."""
    return struct.pack("<HHI", 0, kind, len(data)) + data


def ppt(*records: bytes) -> bytes:
    """A presentation before 2007 with these records on its one slide."""
    inner = b"".join(records)
    return container({"PowerPoint Document": struct.pack("<HHI", 0xF, 0x3EE, len(inner)) + inner})


def headers_of_slide(flags: int) -> bytes:
    """What a slide says of its header and footer."""
    return atom(0xFDA, struct.pack("<HH", 0, flags))


def cell_place(row: int, column: int) -> bytes:
    """What the record of a cell begins with: its place and its format."""
    return struct.pack("<HHH", row, column, 15)


def sheet_text(text: str) -> bytes:
    """A text as the list of a workbook has it."""
    return struct.pack("<HB", len(text), 0) + text.encode("latin-1")


def sheet_texts(*records: bytes, count: int) -> bytes:
    """The list of texts of a workbook: its first record, and those that it goes on in."""
    first, *others = records
    return record(0xFC, struct.pack("<II", count, count) + first) + b"".join(record(0x3C, part) for part in others)


def workbook(texts: bytes, *cells: bytes) -> bytes:
    """A workbook before 2007 with one sheet of these records, `Ark1`."""
    begin = [record(0x809, struct.pack("<HHHHII", 0x600, kind, 0x0DBB, 0x07CC, 0, 6)) for kind in (5, 16)]
    name = struct.pack("<BBBB", 0, 0, 4, 0) + b"Ark1"
    size = len(begin[0]) + len(record(0x85, bytes(4) + name)) + len(texts) + len(_EOF)
    sheet = record(0x85, struct.pack("<I", size) + name)
    return container({"Workbook": begin[0] + sheet + texts + _EOF + begin[1] + b"".join(cells) + _EOF})


def locked_ooxml() -> bytes:
    """A document since 2007 that has a password: a container with the encrypted package."""
    info = struct.pack("<HHI", 4, 4, 0x40) + b'<?xml version="1.0"?><encryption/>'
    return container({"EncryptedPackage": struct.pack("<Q", 100) + bytes(range(256)), "EncryptionInfo": info})
