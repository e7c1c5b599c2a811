"""Finds the fields of formats that are not rewritten: doc, xls, ppt, rtf.

They are reported, for LibreOffice computes them anew.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from noarkit.copies.converters.freezing_word import VOLATILE, code_of
from noarkit.documents.slide_dates import STREAM, count_automatic_dates

_MOST_BYTES = 256 * 1024 * 1024
_WORD_FIELD = re.compile(rb"\x13([ -~]{2,60})|\x13\x00((?:[ -~]\x00){2,60})")
_RTF_FIELD = re.compile(rb"\\fldinst([^}]{0,400}(?:\{[^}]{0,400}){0,3})")
_RTF_CONTROL = re.compile(rb"\\[a-z]+-?\d* ?|\\[^a-z]|[{}\r\n]")
_FUNCTIONS = {221: "TODAY", 74: "NOW", 63: "RAND"}
_FORMULA_RECORD = 0x0006
_FUNCTION_CLASSES = (b"\x21", b"\x41", b"\x61")


def field_codes(source: Path) -> tuple[str, ...]:
    """The volatile fields of a document in an old format, each once; empty for whatever has no such format."""
    with source.open("rb") as file:
        head = file.read(8)
        if head.startswith(b"{\\rtf"):
            file.seek(0)
            return tuple(dict.fromkeys(_of_rtf(file.read(_MOST_BYTES))))
    if head == bytes.fromhex("d0cf11e0a1b11ae1"):
        return tuple(dict.fromkeys(_of_container(source)))
    return ()


def _of_rtf(text: bytes) -> Iterator[str]:
    for found in _RTF_FIELD.finditer(text):
        code = code_of(_RTF_CONTROL.sub(b" ", found.group(1)).decode("latin-1"))
        if code in VOLATILE:
            yield code


def _of_container(source: Path) -> Iterator[str]:
    import olefile

    try:
        with olefile.OleFileIO(source) as container:
            for name, codes_in in (
                ("WordDocument", _of_word),
                (STREAM, _of_slides),
                ("Workbook", _of_sheets),
                ("Book", _of_sheets),
            ):
                if container.exists(name):
                    yield from codes_in(container.openstream(name))
    except (OSError, ValueError, IndexError, struct.error):  # what is damaged, LibreOffice will say
        return


def _of_word(stream: BinaryIO) -> Iterator[str]:
    for found in _WORD_FIELD.finditer(stream.read(_MOST_BYTES)):
        narrow, wide = found.groups()
        code = code_of((narrow or wide.replace(b"\0", b"")).decode("ascii", "replace"))
        if code in VOLATILE:
            yield code


def _of_slides(stream: BinaryIO) -> Iterator[str]:
    if count_automatic_dates(stream.read(_MOST_BYTES)):
        yield "DATE"


def _of_sheets(stream: BinaryIO) -> Iterator[str]:
    while len(head := stream.read(4)) == 4:
        kind, length = struct.unpack("<HH", head)
        record = stream.read(length)
        if kind != _FORMULA_RECORD:
            continue
        for number, name in _FUNCTIONS.items():
            if any(kind_of + struct.pack("<H", number) in record[22:] for kind_of in _FUNCTION_CLASSES):
                yield name
