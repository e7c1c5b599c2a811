"""Lists open in a spreadsheet, and nothing in them acts there."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from noarkit.report.lists import harmless, write_csv


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1"])
def test_no_cell_is_computed(cell: str) -> None:
    assert harmless(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["a=b", "case/a.txt", "2011-04", "", " =1 "])
def test_what_is_harmless_stays_as_it_is(cell: str) -> None:
    assert harmless(cell) == cell


def test_nothing_and_numbers_are_cells() -> None:
    assert [harmless(None), harmless(7)] == ["", "7"]


def test_a_list_has_a_mark_semicolons_and_every_sign_of_its_keys(tmp_path: Path) -> None:
    key = 'sak; "Blåbær"\nlinje\u202e'
    path = write_csv(tmp_path / "ids.csv", ("key", "id"), [(key, "1"), ("\udcff", None)])
    raw = path.read_bytes()
    assert raw.startswith(b"\xef\xbb\xbfkey;id\r\n")
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file, delimiter=";"))
    assert rows[1] == [key, "1"]
    assert rows[2] == ["\\udcff", ""]
    assert path.stat().st_mode & 0o077 == 0
