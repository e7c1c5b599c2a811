"""Values on the wire and in the archive, by the table of the wire format."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noarkit.model import Field, metamodel
from noarkit.server import values
from noarkit.server.values import BadValue, Stored, converter, format_timestamp, to_wire


def field(type_name: str, name: str) -> Field:
    return metamodel().types[type_name].fields[name]


TITTEL = field("Journalpost", "tittel")
MOMENT = field("Journalpost", "mottattDato")
DATE = field("Journalpost", "dokumentetsDato")
NUMBER = field("Journalpost", "bevaringstid")
BOOLEAN = field("Dokumentversjon", "kryptertDokument")
CLOSED = field("Journalpost", "publiseringsstatus")
METADATA = field("Journalpost", "virksomhetsspesifikkeMetadata")


@pytest.mark.parametrize(
    ("which", "sent", "stored"),
    [
        (MOMENT, "2024-01-02T03:04:05.678+0100", 1704161045678),
        (MOMENT, "2024-01-02T03:04:05.678+01:00", 1704161045678),
        (MOMENT, "2024-01-02T02:04:05.678Z", 1704161045678),
        (MOMENT, "2024-01-02T02:04:05.678912Z", 1704161045678),
        (MOMENT, "2024-01-02T03:04:05", 1704161045000),
        (MOMENT, "2024-07-02T03:04:05", 1719882245000),
        (MOMENT, "2024-01-02T03:04", 1704161040000),
        (MOMENT, "2024-01-02", 1704150000000),
        (MOMENT, "1969-12-31T23:59:59.999Z", -1),
        (DATE, "2021-12-07", "2021-12-07"),
        (DATE, "2021-12-06T23:30:00.000Z", "2021-12-07"),
        (DATE, "2021-12-07T00:00:00", "2021-12-07"),
        (NUMBER, 10, 10),
        (NUMBER, "10", 10),
        (NUMBER, 10.0, 10),
        (NUMBER, "-3", -3),
        (BOOLEAN, True, 1),
        (BOOLEAN, "false", 0),
        (BOOLEAN, "TRUE", 1),
        (TITTEL, "", ""),
        (TITTEL, "Blåbærsyltetøy 🫐", "Blåbærsyltetøy 🫐"),
        (CLOSED, "PUBLISHED_METADATA", "PUBLISHED_METADATA"),
        (METADATA, {"b": 1, "a": {"c": ["ø"]}}, '{"a":{"c":["ø"]},"b":1}'),
        (METADATA, {}, "{}"),
    ],
)
def test_every_written_form_is_stored_as_one(which: Field, sent: object, stored: Stored) -> None:
    assert converter(which)(sent) == stored


@pytest.mark.parametrize(
    ("which", "sent"),
    [
        (TITTEL, 5),
        (TITTEL, True),
        (TITTEL, ["a"]),
        (TITTEL, "nul\x00"),
        (TITTEL, "half \ud83d"),
        (MOMENT, "yesterday"),
        (MOMENT, 1704161045678),
        (MOMENT, "2024-02-30T00:00:00Z"),
        (MOMENT, "2024-01-02T25:00:00Z"),
        (MOMENT, "2024-01-02T03:04:05+99:00"),
        (MOMENT, "0001-01-01T00:00:00+01:00"),
        (MOMENT, "9999-12-31T23:59:59-01:00"),
        (MOMENT, "２０２４-01-02"),
        (DATE, "2024-02-30"),
        (DATE, "07.12.2021"),
        (DATE, 20211207),
        (NUMBER, "ten"),
        (NUMBER, 1.5),
        (NUMBER, True),
        (NUMBER, 2**63),
        (NUMBER, "9" * 19),
        (NUMBER, "9" * 5000),
        (NUMBER, float("inf")),
        (NUMBER, {}),
        (BOOLEAN, 1),
        (BOOLEAN, "yes"),
        (CLOSED, "SOMETHING"),
        (CLOSED, ["PUBLISHED_METADATA"]),
        (METADATA, "{}"),
        (METADATA, {"half": "\ud83d"}),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_what_would(which: Field, sent: object) -> None:
    with pytest.raises(BadValue, match=r"\A(takes|holds|is) "):
        converter(which)(sent)


@given(st.integers(min_value=-62_135_596_800_000, max_value=253_402_300_799_999))
def test_a_written_timestamp_reads_as_itself(stored: int) -> None:
    written = format_timestamp(stored)
    assert len(written) == 24
    assert converter(MOMENT)(written) == stored


@given(st.one_of(st.text(), st.integers(), st.floats(), st.booleans(), st.lists(st.text())))
def test_no_value_is_stored_unless_it_is_stored_whole(sent: object) -> None:
    for which in (TITTEL, MOMENT, DATE, NUMBER, BOOLEAN, CLOSED):
        try:
            stored = converter(which)(sent)
        except BadValue as bad:
            assert str(bad)
        else:
            assert isinstance(stored, int | str)
            if isinstance(stored, str):
                stored.encode()


def test_wire_forms_follow_the_kind() -> None:
    assert to_wire("timestamp", 1704161045678) == "2024-01-02T02:04:05.678Z"
    assert to_wire("timestamp", 0) == "1970-01-01T00:00:00.000Z"
    assert to_wire("boolean", 0) is False
    assert to_wire("number", 5) == 5
    assert to_wire("date", "2021-12-07") == "2021-12-07"
    assert to_wire("object", '{"a":1}') == {"a": 1}
    assert to_wire("timestamp", None) is None


def test_the_day_and_year_are_those_of_the_archives_zone() -> None:
    new_year_in_oslo = converter(MOMENT)("2023-12-31T23:30:00Z")
    assert isinstance(new_year_in_oslo, int)
    assert values.day_of(new_year_in_oslo) == "2024-01-01"
    assert values.year_of(new_year_in_oslo) == 2024
