"""What COPY gave is written as the same values are that come one by one: every text, NULL and number of it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noarkit.errors import PackageFault
from noarkit.forms.siard.cells import Cell, cells_of
from noarkit.forms.siard.copied import CopiedRows
from noarkit.forms.siard.model import Column, Table
from noarkit.forms.siard.write.copied_rows import CopyWriter
from noarkit.forms.siard.write.rows import RowWriter

TYPES = ("INTEGER", "CHARACTER VARYING(80)", "DATE", "CHARACTER LARGE OBJECT", "DOUBLE PRECISION")
COPY_ESCAPES = {"\\": r"\\", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v"}
MOST_INLINE = 40
Row = tuple[str | None, ...]

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30) | st.sampled_from(
    [
        "",
        "  ",
        "a  b   c",
        r"\N",
        r"C:\N",
        r"\u0041",
        "\\",
        "a & b",
        "<c2>\\N</c2>",
        "x\x01\\\x7f\x85",
        "æ\ufffe",
        "\t\n\r",
    ]
)
ROWS = st.lists(
    st.tuples(
        st.none() | st.integers().map(str),
        st.none() | TEXTS,
        st.none() | st.dates().map(lambda day: f"{day}Z"),
        st.none() | TEXTS,
        st.none() | st.floats(allow_nan=False, allow_infinity=False).map(repr),
    ),
    min_size=1,
    max_size=20,
)


def cells() -> tuple[Cell, ...]:
    columns = tuple(Column(f"k{number}", type=name) for number, name in enumerate(TYPES))
    return cells_of(Table("t", columns=columns), "s", {})


def copied(rows: list[Row]) -> CopiedRows:
    """As COPY writes them."""
    lines = ("\t".join(r"\N" if text is None else text.translate(_TABLE) for text in row) for row in rows)
    return CopiedRows("".join(f"{line}\n" for line in lines).encode(), len(TYPES))


_TABLE = str.maketrans(COPY_ESCAPES)


def row_writer() -> RowWriter:
    def large(number: int, cell: Cell, value: object) -> str:
        return f'<{cell.tag} file="{number}" length="{len(str(value))}"/>'

    return RowWriter("s.t", [f"k{number}" for number in range(len(TYPES))], cells(), large, MOST_INLINE)


@settings(max_examples=400, deadline=None)
@given(ROWS)
def test_what_copy_gave_is_written_as_its_values_are(rows: list[Row]) -> None:
    slow, writer = row_writer(), row_writer()
    quick = CopyWriter(writer, cells(), MOST_INLINE)
    assert quick.text(copied(rows)) == slow.text(rows)
    assert writer.nulls == slow.nulls
    assert copied(rows).count == len(rows)
    assert [list(column) for column in copied(rows).columns()] == [list(column) for column in zip(*rows, strict=True)]


class NeverAsked(RowWriter):
    """Takes no value."""

    def columns_text(self, columns: object) -> str:
        raise AssertionError("a value was looked at")


@pytest.mark.parametrize("text", ["plain", "a & <b> å", "two  spaces", "back\\slash\tand\nline", None, r"\N", "\x01"])
def test_no_value_is_looked_at_by_itself(text: str | None) -> None:
    writer = NeverAsked("s.t", ["k"], cells(), lambda number, cell, value: "", MOST_INLINE)
    rows: list[Row] = [("1", text, None, text, "1.5"), ("2", "b", "2020-01-02Z", None, None)]
    assert CopyWriter(writer, cells(), MOST_INLINE).text(copied(rows)) == row_writer().text(rows)


@pytest.mark.parametrize(
    "row", [("1.5", "a", None, None, None), ("", "a", None, None, None), ("1", "a", "yesterday", None, "1.5")]
)
def test_a_value_that_its_column_cannot_hold_is_a_fault(row: Row) -> None:
    with pytest.raises(PackageFault) as caught:
        CopyWriter(row_writer(), cells(), MOST_INLINE).text(copied([("1", "a", None, "b", "2"), row]))
    assert caught.value.data["why"] == "value-unfit"


def test_a_long_text_stands_in_a_file() -> None:
    rows: list[Row] = [("1", "a" * 50, None, "a" * 41, None), ("1", "a", None, "b", None)]
    text = CopyWriter(row_writer(), cells(), MOST_INLINE).text(copied(rows))
    assert text == row_writer().text(rows)
    assert '<c4 file="3" length="41"/>' in text


def test_a_line_of_another_width_is_a_fault() -> None:
    with pytest.raises(PackageFault) as caught:
        CopyWriter(row_writer(), cells(), MOST_INLINE).text(CopiedRows(b"1\ta\n", 2))
    assert caught.value.data["why"] == "row-width"
