"""The properties of runs in a Word document before 2007, in tables laid by hand; the same bytes in text are none."""

from __future__ import annotations

import struct
from collections import Counter

import pytest

from noarkit.documents.word_runs import DELETED, HIDDEN, INSERTED, RunsUnreadable, marked_runs, table_name

INSERTED_ON, DELETED_ON, HIDDEN_OFF = b"\x01\x08\x01", b"\x00\x08\x01", b"\x3c\x08\x00"
BOLD_THEN_INSERTED = b"\x35\x08\x01" + b"\x63\x48\x00\x00" + b"\x57\xca\x03\x00\x00\x00" + INSERTED_ON


def stream(*runs: bytes, text: bytes = b"", version: int = 0xC1, pieces: tuple[int, int] = (0, 0)) -> bytes:
    """The main stream: its head, the text, and one page of runs of ten bytes each."""
    head = bytearray(1024)
    struct.pack_into("<H", head, 2, version)
    struct.pack_into("<H", head, 0x0A, 0x0200)
    struct.pack_into("<II", head, 0xFA, 0, 12)
    struct.pack_into("<II", head, 0x1A2, *pieces)
    page = bytearray(512)
    struct.pack_into(f"<{len(runs) + 1}I", page, 0, *(1024 + 10 * number for number in range(len(runs) + 1)))
    end = 510
    for number, run in enumerate(runs):
        end = (end - len(run) - 1) & ~1
        page[end : end + 1 + len(run)] = bytes([len(run)]) + run
        page[4 * (len(runs) + 1) + number] = end // 2
    page[511] = len(runs)
    return bytes(head) + text.ljust(512, b"\0") + bytes(page)


TABLE = struct.pack("<III", 1024, 2048, 3)
"""Says that the runs are on the fourth page."""


def table_with_piece(modifier: int, *lists: bytes) -> bytes:
    """The table with the list of one piece of text behind it."""
    named = b"".join(b"\x01" + struct.pack("<H", len(each)) + each for each in lists)
    piece = struct.pack("<II", 0, 10) + struct.pack("<HIH", 0, 1024, modifier)
    return TABLE + named + b"\x02" + struct.pack("<I", len(piece)) + piece


def test_each_run_counts_by_what_it_bears() -> None:
    runs = (INSERTED_ON, DELETED_ON, BOLD_THEN_INSERTED, HIDDEN_OFF)
    assert marked_runs(stream(*runs), TABLE) == Counter({INSERTED: 2, DELETED: 1, 0x0835: 1})


def test_the_same_bytes_in_the_text_are_no_property() -> None:
    assert marked_runs(stream(b"\x35\x08\x00", text=INSERTED_ON + DELETED_ON), TABLE) == Counter()


@pytest.mark.parametrize(
    ("modifier", "lists", "marks"),
    [(0x42 << 1 | 1 << 8, (), {INSERTED: 1}), (3, (b"\x35\x08\x00", b"\x3c\x08\x01"), {HIDDEN: 1}), (0, (), {})],
    ids=["named-by-a-byte", "in-a-list", "nothing"],
)
def test_a_piece_of_text_bears_properties_too(modifier: int, lists: tuple[bytes, ...], marks: dict[int, int]) -> None:
    table = table_with_piece(modifier, *lists)
    assert marked_runs(stream(b"\x35\x08\x00", pieces=(12, len(table) - 12)), table) == Counter(marks)


@pytest.mark.parametrize(
    ("content", "table"),
    [(stream(INSERTED_ON), b""), (stream(INSERTED_ON, version=0x68), TABLE), (b"", TABLE), (bytes(2048), TABLE)],
    ids=["no-table", "before-97", "empty", "no-list"],
)
def test_what_cannot_be_read_is_said(content: bytes, table: bytes) -> None:
    with pytest.raises(RunsUnreadable):
        marked_runs(content, table)


def test_the_head_names_its_table() -> None:
    assert (table_name(stream(INSERTED_ON)), table_name(bytes(16))) == ("1Table", "0Table")
