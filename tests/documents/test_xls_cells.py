"""The cells of a workbook before 2007, by records that are laid by hand; damage in the middle is no end."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from noarkit.documents.refusal import DocumentRefused, Refusal
from noarkit.documents.xls_cells import read_workbook
from tests.copies.corpus.binary import cell_place, container, record, sheet_text, sheet_texts, workbook


def _values_of(folder: Path, texts: bytes, *cells: bytes) -> dict[tuple[int, int], object]:
    path = folder / "ark.xls"
    path.write_bytes(workbook(texts, *cells))
    book = read_workbook(path)
    assert book is not None
    return {(cell.row, cell.column): cell.value for cell in book.cells()}


def test_every_kind_of_cell_is_read(tmp_path: Path) -> None:
    formatted = struct.pack("<HBH", 3, 0x08, 1) + b"fet" + bytes(4)
    extended = struct.pack("<HBI", 2, 0x05, 6) + "čš".encode("utf-16-le") + bytes(6)
    texts = sheet_texts(sheet_text("Søknad") + formatted + extended, count=3)
    long_half = struct.unpack("<Q", struct.pack("<d", 2.5))[0] >> 32
    cells = (
        *(record(0xFD, cell_place(number, 0) + struct.pack("<I", number)) for number in range(3)),
        record(0x203, cell_place(0, 1) + struct.pack("<d", 1234.5)),
        record(0x27E, cell_place(1, 1) + struct.pack("<I", (7 << 2) | 2)),
        record(0x27E, cell_place(2, 1) + struct.pack("<i", (-700 << 2) | 3)),
        record(0xBD, struct.pack("<HHHIHIH", 3, 1, 15, long_half, 15, (9 << 2) | 2, 2)),
        record(0x205, cell_place(4, 0) + b"\x01\x00"),
        record(0x205, cell_place(4, 1) + b"\x07\x01"),
        record(0x204, cell_place(5, 0) + struct.pack("<HB", 3, 0) + b"gml"),
        record(0x06, cell_place(6, 0) + struct.pack("<d", 42.0) + bytes(8)),
        record(0x06, cell_place(6, 1) + b"\0\0\0\0\0\0\xff\xff" + bytes(8)),
        record(0x207, struct.pack("<HB", 4, 1) + "čnin".encode("utf-16-le")),
        record(0x06, cell_place(6, 2) + b"\x01\0\x01\0\0\0\xff\xff" + bytes(8)),
    )
    assert _values_of(tmp_path, texts, *cells) == {
        **{(0, 0): "Søknad", (1, 0): "fet", (2, 0): "čš", (0, 1): 1234.5, (1, 1): 7.0, (2, 1): -7.0},
        **{
            (3, 1): 2.5,
            (3, 2): 9.0,
            (4, 0): 1.0,
            (4, 1): None,
            (5, 0): "gml",
            (6, 0): 42.0,
            (6, 1): "čnin",
            (6, 2): 1.0,
        },
    }


def test_a_text_goes_on_in_the_next_record_in_another_width(tmp_path: Path) -> None:
    begun = struct.pack("<HB", 10, 0) + b"S\xf8knad"
    texts = sheet_texts(begun, b"\x01" + "ŋoŋo".encode("utf-16-le") + sheet_text("til"), count=2)
    cells = [record(0xFD, cell_place(number, 0) + struct.pack("<I", number)) for number in range(2)]
    assert _values_of(tmp_path, texts, *cells) == {(0, 0): "Søknadŋoŋo", (1, 0): "til"}


@pytest.mark.parametrize(
    ("texts", "cells"),
    [
        (sheet_texts(sheet_text("ja"), count=1), [bytes(60)]),
        (sheet_texts(sheet_text("ja") + bytes(9), count=1), []),
        (sheet_texts(sheet_text("ja"), count=2), []),
        (sheet_texts(sheet_text("ja"), count=1), [record(0xFD, cell_place(0, 0) + struct.pack("<I", 5))]),
        (sheet_texts(sheet_text("ja"), count=1), [struct.pack("<HH", 0x203, 9_000)]),
    ],
    ids=["zeros", "texts-too-long", "texts-too-short", "no-such-text", "no-such-length"],
)
def test_bytes_of_nothing_in_the_middle_are_damage(tmp_path: Path, texts: bytes, cells: list[bytes]) -> None:
    with pytest.raises(DocumentRefused) as refused:
        _values_of(tmp_path, texts, *cells)
    assert refused.value.reason == Refusal.DAMAGED


def test_a_workbook_of_an_older_kind_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "ark.xls"
    path.write_bytes(container({"Book": record(0x809, struct.pack("<HHHH", 0x500, 5, 0, 0))}))
    assert read_workbook(path) is None
