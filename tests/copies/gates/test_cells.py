"""A spreadsheet whose copy lacks a cell, or has another value in it, is no copy; a result that changed is told."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from noarkit.copies.gates.cells import compare_cells
from noarkit.copies.port import Failure, Finding
from noarkit.copies.reasons import Reason
from tests.copies.corpus.binary import cell_place, record, sheet_text, sheet_texts, workbook
from tests.copies.corpus.odf import ods
from tests.copies.corpus.office import xlsx

BOOK = workbook(
    sheet_texts(sheet_text("Søknad") + sheet_text("Vedtak"), count=2),
    *(record(0xFD, cell_place(number, 0) + struct.pack("<I", number)) for number in range(2)),
    record(0x06, cell_place(2, 0) + struct.pack("<d", 1.0) + bytes(8)),
)


def _compare(folder: Path, source: bytes, rows: list[list[str]], format_name: str = "xls") -> list[Finding] | Failure:
    (folder / "source").write_bytes(source)
    (folder / "copy.ods").write_bytes(ods(rows))
    result = compare_cells(folder / "source", format_name, folder / "copy.ods")
    return result if isinstance(result, Failure) else list(result)


def test_every_cell_is_counted_in_both(tmp_path: Path) -> None:
    result = _compare(tmp_path, BOOK, [["Søknad"], ["Vedtak"], ["=1"]])
    assert isinstance(result, list)
    assert [dict(each.data) for each in result] == [
        {"kind": "cells", "original": 2, "copy": 2},
        {"kind": "numbers", "original": 1, "copy": 1},
        {"kind": "sheets", "original": 1, "copy": 1},
    ]


@pytest.mark.parametrize(
    "rows",
    [
        [["Søknad"], [""], ["=1"]],
        [["Søknad"], ["Vedtatt"], ["=1"]],
        [["Søknad", "Vedtak"], [""], ["=1"]],
        [["Søknad"], ["=1"], ["=1"]],
        [["Søknad"], ["Vedtak"]],
    ],
    ids=["gone", "another", "elsewhere", "a-number", "a-result-gone"],
)
def test_a_cell_that_is_not_the_same_is_missing(tmp_path: Path, rows: list[list[str]]) -> None:
    result = _compare(tmp_path, BOOK, rows)
    assert isinstance(result, Failure)
    assert (result.reason, dict(result.data)) == (Reason.TEXT_MISSING, {"missing": 1, "cells": 4})


def test_another_result_of_a_formula_is_told(tmp_path: Path) -> None:
    book = workbook(sheet_texts(b"", count=0), record(0x06, cell_place(0, 0) + struct.pack("<d", 2.0) + bytes(8)))
    result = _compare(tmp_path, book, [["=1"]])
    assert isinstance(result, list)
    assert result[-1] == Finding("values-differ", {"count": 1})


def test_a_sheet_that_is_gone_is_missing(tmp_path: Path) -> None:
    result = _compare(tmp_path, BOOK.replace(b"Ark1", b"Ark9"), [["Søknad"], ["Vedtak"], ["=1"]])
    assert isinstance(result, Failure)
    assert result.data["missing"] == 4


def test_of_a_newer_workbook_each_cell_must_be_there(tmp_path: Path) -> None:
    source = xlsx([["Søknad", "12"], ["=1"]])
    assert isinstance(_compare(tmp_path, source, [["Søknad", "12"], ["=1"]], "xlsx"), list)
    result = _compare(tmp_path, source, [["Søknad"], ["=1"]], "xlsx")
    assert isinstance(result, Failure)
    assert dict(result.data) == {"missing": 1, "cells": 4}


def test_what_nobody_counts_is_said(tmp_path: Path) -> None:
    result = _compare(tmp_path, b"", [["Søknad"]], "xlsb")
    assert result == [Finding("not-counted", {"kinds": ["sheets", "cells", "numbers"]})]
