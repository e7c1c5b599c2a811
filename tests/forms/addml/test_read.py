"""Flat files by foreign writers, read back value for value; what is not as described is told by its line."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noarkit.forms.addml import spec
from noarkit.forms.addml.model import Field, FieldType, FileDefinition, Layout, RecordType
from noarkit.forms.addml.read import BrokenRecord, FlatRecord, HeaderRecord, RecordItem, read_records, why_unreadable
from noarkit.forms.addml.values import KeptText, UnfitValue, declared_type, reader_of

TEXT = FieldType()
SIGNS = st.characters(exclude_categories=["Cs"])


class Slow:
    """A stream that gives a few bytes at a time, so that every sign lies across two blocks once."""

    def __init__(self, data: bytes, step: int) -> None:
        self._file = io.BytesIO(data)
        self._step = step

    def read(self, size: int = -1, /) -> bytes:
        return self._file.read(self._step)


def delimited(width: int, *, encoding: str = "utf-8-sig", separator: str = "\r\n", quote: str = '"') -> FileDefinition:
    fields = tuple(Field(f"f{number}", TEXT) for number in range(width))
    return FileDefinition("d", Layout("x", encoding, separator, ";", quote), (RecordType("r", fields),))


def positions(*lengths: int, separator: str = "\n", encoding: str = "latin-1", trimmed: bool = False) -> FileDefinition:
    fields = tuple(Field(f"f{at}", TEXT, sum(lengths[:at]), length) for at, length in enumerate(lengths))
    layout = Layout("x", encoding, separator)
    return FileDefinition("d", layout, (RecordType("r", fields, is_trimmed=trimmed),))


def items(data: bytes, definition: FileDefinition, step: int = 1 << 20) -> list[RecordItem]:
    assert why_unreadable(definition) == ""
    return list(read_records(Slow(data, step), definition))


def rows(data: bytes, definition: FileDefinition, step: int = 1 << 20) -> list[list[str]]:
    found = items(data, definition, step)
    assert all(isinstance(item, FlatRecord) for item in found), found
    return [list(item.values) for item in found if isinstance(item, FlatRecord)]


@settings(deadline=None)
@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(st.lists(st.text(SIGNS, max_size=12), min_size=width, max_size=width), min_size=1)
    ),
    st.sampled_from(["\r\n", "\n"]),
    st.integers(1, 40),
)
def test_what_another_program_quoted_comes_back_as_it_was(table: list[list[str]], end: str, step: int) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=";", lineterminator=end, quoting=csv.QUOTE_ALL).writerows(table)
    data = text.getvalue().encode()
    assert rows(data, delimited(len(table[0]), separator=end), step) == table


@settings(deadline=None)
@given(
    st.lists(
        st.lists(
            st.text(st.characters(codec="latin-1", exclude_characters="\n"), min_size=3, max_size=3),
            min_size=2,
            max_size=2,
        )
    ),
    st.sampled_from(["\n", ""]),
    st.integers(1, 40),
)
def test_fields_of_fixed_positions_come_back_as_they_were(table: list[list[str]], end: str, step: int) -> None:
    data = "".join("".join(row) + end for row in table).encode("latin-1")
    assert rows(data, positions(3, 3, separator=end), step) == table


@settings(deadline=None)
@given(st.binary(max_size=200), st.sampled_from(["utf-8-sig", "latin-1", "ascii", "utf-16"]))
def test_no_bytes_make_it_fail(data: bytes, encoding: str) -> None:
    for definition in (delimited(2, encoding=encoding), positions(2, 3, encoding=encoding), positions(4, separator="")):
        lines = [item.line for item in items(data, definition, 7)]
        assert lines == sorted(lines)


def test_a_quote_that_is_never_closed_costs_one_line() -> None:
    found = items(b'a;b\r\n"open;c\r\nd;e\r\n', delimited(2))
    assert [item.line for item in found] == [1, 2, 3]
    assert [type(item) for item in found] == [FlatRecord, BrokenRecord, FlatRecord]


def test_lines_that_a_broken_record_would_swallow_are_read_by_themselves() -> None:
    found = items(b'"open;c\r\nd;e\r\nf";g;h\r\ni;j\r\n', delimited(2))
    assert [(item.line, getattr(item, "why", "")) for item in found] == [
        (1, "addml-field-count"),
        (2, ""),
        (3, "addml-field-count"),
        (4, ""),
    ]


def test_bytes_of_no_character_break_their_record_alone() -> None:
    found = items(b"a;b\r\n\xe5;c\r\nd;e\r\n", delimited(2))
    assert [getattr(item, "why", "") for item in found] == ["", "addml-charset", ""]


def test_a_record_of_another_length_is_broken_but_one_that_is_trimmed_is_not() -> None:
    assert [getattr(item, "why", "") for item in items(b"abc\nab\nabcd\n", positions(1, 2))] == [
        "",
        "addml-length",
        "addml-length",
    ]
    assert rows(b"abc\na\n", positions(1, 2, trimmed=True)) == [["a", "bc"], ["a", ""]]


def test_behind_a_broken_record_with_no_separator_nothing_is_read() -> None:
    (first, last) = items(b"abcab", positions(1, 2, separator=""))
    assert isinstance(first, FlatRecord) and last == BrokenRecord(2, "addml-length", is_end=True)


def test_header_lines_are_told_as_such() -> None:
    record_type = RecordType("r", (Field("a", TEXT),), header_lines=1)
    definition = FileDefinition("d", Layout("x", "ascii", "\n", ";"), (record_type,))
    assert items(b"navn\nOle\n", definition) == [HeaderRecord(1), FlatRecord(0, 2, ["Ole"])]


def test_a_file_without_its_separator_is_told_and_not_held() -> None:
    found = items(b"x" * 9_500_000, delimited(1))
    assert found == [BrokenRecord(1, "addml-too-long", is_end=True)]


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("ISO-8859-1:1998", b"\xe6\xf8\xe5", "æøå"),
        ("UTF-8", "æøå".encode("utf-8-sig"), "æøå"),
        ("ANSI", b"\x80\xe5", "€å"),
        ("ISO 646-NO", b"{|}[\\]", "æøåÆØÅ"),
        ("IBM865", b"\x91\x9b\x86", "æøå"),
        ("windows-1252", b"\xf8", "ø"),
    ],
)
def test_character_sets_by_the_names_they_are_given(name: str, data: bytes, text: str) -> None:
    known = spec.charset_of(name)
    assert known is not None
    layout = Layout(name, known[0], "\n", ";", translation=known[1])
    definition = FileDefinition("d", layout, (RecordType("r", (Field("a", TEXT),)),))
    assert rows(data, definition) == [[text]]


def test_unknown_sets_and_separators() -> None:
    assert [spec.charset_of(name) for name in ("EBCDIC-norsk", "hex", "zlib", "idna", "punycode", "")] == [None] * 6
    assert spec.charset_of("ISO_8859-15") == ("iso8859-15", {})
    assert [spec.separator_of(name) for name in ("CRLF", "lf", "TAB", "\\t", "\t", " ; ", "|")] == [
        *("\r\n", "\n", "\t", "\t", "\t", ";", "|")
    ]


@pytest.mark.parametrize(
    ("kind", "pattern", "text", "value"),
    [
        ("integer", "", "0042", 42),
        ("integer", "", "-7", -7),
        ("integer", "n.nnn", "12.345", 12345),
        ("float", "", "12.50", "12.50"),
        ("float", "nn,nn", "12,50", "12.50"),
        ("float", "n.nnn,nn", "1.234.567,5", "1234567.5"),
        ("date", "dd.MM.yyyy", "31.12.1999", "1999-12-31"),
        ("date", "yyyyMMdd", "19991231", "1999-12-31"),
        ("date", "DDMMYYYY", "31121999", "1999-12-31"),
        ("date", "ddmmyyyy", "31121999", "1999-12-31"),
        ("date", "d.M.yyyy", "1.2.1999", "1999-02-01"),
        ("date", "", "1999-12-31", "1999-12-31"),
        ("date", "yyyy-MM-ddTHH:mm:ss", "1999-12-31T23:59:58", "1999-12-31 23:59:58"),
        ("date", "dd.MM.yyyy HH:mm", "31.12.1999 23:59", "1999-12-31 23:59:00"),
        ("time", "HHmmss", "235958", "23:59:58"),
        ("boolean", "Y/N", "N", 0),
        ("boolean", "", "TRUE", 1),
        ("string", "", "  x ", "  x "),
        ("link", "", "fil.pdf", "fil.pdf"),
        ("integer", "", "", None),
        ("date", "", "  ", None),
    ],
)
def test_values_by_type_and_pattern(kind: str, pattern: str, text: str, value: object) -> None:
    found = reader_of(FieldType(kind, pattern), fixed=False)(text)
    assert found == value and not isinstance(found, KeptText)


@pytest.mark.parametrize(
    ("kind", "pattern", "text"),
    [
        ("integer", "", "1_000"),
        ("integer", "", "12a"),
        ("integer", "", "9" * 30),
        ("float", "nn,nn", "1.5"),
        ("date", "dd.MM.yyyy", "31.02.1999"),
        ("date", "dd.MM.yy", "31.12.99"),
        ("date", "yyyyMMdd", "00000000"),
        ("boolean", "Y/N", "kanskje"),
    ],
)
def test_what_is_no_value_stays_the_text_it_is(kind: str, pattern: str, text: str) -> None:
    found = reader_of(FieldType(kind, pattern), fixed=False)(text)
    assert found == text and isinstance(found, KeptText)


def test_a_number_among_words_of_yes_and_no_is_not_taken_for_one() -> None:
    with pytest.raises(UnfitValue):
        reader_of(FieldType("boolean", "J/N"), fixed=False)("0")


def test_padding_and_null_values_of_fixed_fields() -> None:
    assert reader_of(FieldType("string", pad="*"), fixed=True)("ab**") == "ab"
    assert reader_of(FieldType("string", pad="0", align="right"), fixed=True)("0012") == "12"
    assert reader_of(FieldType("string", nulls=frozenset({"-"})), fixed=True)("-   ") is None
    assert reader_of(FieldType("string"), fixed=True)("    ") is None
    assert reader_of(FieldType("string"), fixed=False)("") == ""


def test_columns_are_declared_so_that_texts_stay_texts() -> None:
    assert declared_type(FieldType("date", "dd.MM.yyyy")) == "DATE_CHAR"
    assert declared_type(FieldType("date", "yyyyMMddHHmmss")) == "DATETIME_CHAR"
    assert declared_type(FieldType("date", "dd.MM.yy")) == "TEXT" == declared_type(FieldType("float"))


def test_definitions_that_cannot_be_read_say_why() -> None:
    good = delimited(2)
    record_type = good.record_types[0]
    layout = good.layout
    assert layout is not None
    repeating = RecordType("r", record_type.fields, repeats=True)
    packed = RecordType("r", (Field("a", FieldType(packing="packed decimal")),))
    without = RecordType("r", (Field("a", TEXT),))
    reasons = [
        why_unreadable(FileDefinition("d", None, (record_type,))),
        why_unreadable(FileDefinition("d", layout, ())),
        why_unreadable(FileDefinition("d", layout, (repeating,))),
        why_unreadable(FileDefinition("d", layout, (packed,))),
        why_unreadable(FileDefinition("d", layout, (record_type, record_type), identifier="nei")),
        why_unreadable(FileDefinition("d", Layout("x", "", "\n", ";"), (record_type,))),
        why_unreadable(FileDefinition("d", Layout("x", "ascii", "\n"), (without,))),
        why_unreadable(positions(5, -3)),
        why_unreadable(positions(900_000_000, separator="")),
    ]
    assert reasons == [
        "addml-undefined",
        "addml-undefined",
        "addml-repeating",
        "addml-packed",
        "addml-undefined",
        "addml-unknown-charset",
        "addml-undefined",
        "addml-undefined",
        "addml-undefined",
    ]
