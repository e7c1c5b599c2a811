"""CSV files open in a spreadsheet, nothing in them acts there, and no value is lost."""

from __future__ import annotations

import ast
import csv
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from noarkit.safe.csv_files import cell_for_csv, cell_from_csv, write_csv
from tests.package_code import PACKAGE, modules_with, nodes_of

WRITER = PACKAGE / "safe" / "csv_files.py"

awkward = st.text(alphabet=st.sampled_from("=+-@'\";,|\t\r\n \\u0041ab＝\u202e\ud800\U000e0041\xa0")) | st.text(
    alphabet=st.characters(exclude_categories=())
)


@pytest.mark.parametrize("sign", list("=+-@＝＋－＠"))
@pytest.mark.parametrize("before", ["", " ", '"', "a;", "a,", "a, ", 'a,"', "a|", "a;; "])
def test_no_cell_is_computed_wherever_a_spreadsheet_splits_it(sign: str, before: str) -> None:
    assert cell_for_csv(f"{before}{sign}1+1") == f"{before}'{sign}1+1"


@pytest.mark.parametrize("cell", ["a=b", "case/a.txt", "2011-04", "", "a b, c", "C:\\users\\olga", "blåbær\xa01"])
def test_what_is_harmless_stays_as_it_is(cell: str) -> None:
    assert cell_for_csv(cell) == cell


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("a\tb\r\nc", "a\\u0009b\\u000d\\u000ac"),
        ("gnp.\u202eexe", "gnp.\\u202eexe"),
        ("\udcff", "\\udcff"),
        ("\U000e0041", "\\U000e0041"),
        ("\\u202e", "\\u005cu202e"),
    ],
)
def test_characters_that_nobody_sees_are_shown(cell: str, shown: str) -> None:
    assert cell_for_csv(cell) == shown


def test_every_control_and_format_character_is_shown() -> None:
    hidden = {chr(at) for at in range(0x110000) if unicodedata.category(chr(at)) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
    assert [char for char in hidden if cell_for_csv(f"a{char}b").isprintable() is False] == []


def test_nothing_and_numbers_are_cells() -> None:
    assert [cell_for_csv(None), cell_for_csv(7)] == ["", "7"]


@given(awkward)
@example("'=1")
@example(";'=1")
@example("\\u0041")
@example("\\\\u0041")
def test_the_value_of_a_cell_can_be_had_back(value: str) -> None:
    assert cell_from_csv(cell_for_csv(value)) == value


@given(st.lists(awkward, min_size=1, max_size=4), st.sampled_from(";,\t|"))
def test_no_spreadsheet_finds_a_formula_in_a_file(
    tmp_path_factory: pytest.TempPathFactory, row: list[str], by: str
) -> None:
    path = write_csv(tmp_path_factory.mktemp("csv") / "a.csv", ("a",), [row])
    lines = path.read_text("utf-8-sig").splitlines()
    assert len(lines) > 1
    for line in lines:
        for cell in (*next(csv.reader([line], delimiter=by)), *line.split(by)):
            assert not re.match(r'[\s"]*[=+\-@＝＋－＠]', cell), line


def test_a_file_has_a_mark_semicolons_and_every_cell_in_quotes(tmp_path: Path) -> None:
    key = 'sak; "Blåbær"'
    path = write_csv(tmp_path / "ids.csv", ("key", "id"), [(key, "1"), ("\udcff", None)])
    assert path.read_bytes() == (
        b'\xef\xbb\xbf"key";"id"\r\n' + '"sak; ""Blåbær""";"1"\r\n'.encode() + b'"\\udcff";""\r\n'
    )
    with path.open(encoding="utf-8-sig", newline="") as file:
        assert list(csv.reader(file, delimiter=";"))[1] == [key, "1"]
    assert path.stat().st_mode & 0o077 == 0


def csv_writers() -> Iterator[str]:
    """Every place of the package that makes a CSV writer; stand-ins speak for other systems, in their own way."""
    for path in modules_with("csv"):
        if path == WRITER or {"standin", "standins"} & set(path.parts):
            continue
        for node in nodes_of(path):
            named = isinstance(node, ast.Attribute) and ast.unparse(node) in ("csv.writer", "csv.DictWriter")
            if named or (isinstance(node, ast.ImportFrom) and node.module == "csv"):
                yield f"{path.relative_to(PACKAGE)}: {ast.unparse(node)}"


def test_there_is_one_writer_of_csv() -> None:
    assert list(csv_writers()) == []
