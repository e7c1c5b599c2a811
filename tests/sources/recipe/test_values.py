"""Dates, numbers and texts, as people write them."""

from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noarkit.recipes.values import (
    Formats,
    ValueRefused,
    clean_text,
    key_text,
    make_formats,
    read_date_form,
    to_date,
    to_flag,
    to_moment,
    to_number,
    to_object,
    to_text,
    wire_moment,
)

NB = make_formats(Formats())
EN = make_formats(Formats(locale="en", decimal=".", thousands=",", zone=ZoneInfo("UTC")))


@pytest.mark.parametrize(
    ("value", "wire"),
    [
        ("2024-01-02T03:04:05.678Z", "2024-01-02T03:04:05.678Z"),
        ("2024-01-02T03:04:05+01:00", "2024-01-02T02:04:05.000Z"),
        ("2024-01-02 03:04", "2024-01-02T02:04:00.000Z"),
        ("2024-07-02 03:04", "2024-07-02T01:04:00.000Z"),
        ("2024-10-27 02:30", "2024-10-27T00:30:00.000Z"),
        ("2.1.2024 03:04:05", "2024-01-02T02:04:05.000Z"),
        ("2. januar 2024", "2024-01-01T23:00:00.000Z"),
        (date(2024, 1, 2), "2024-01-01T23:00:00.000Z"),
        (datetime(2024, 1, 2, tzinfo=UTC), "2024-01-02T00:00:00.000Z"),
        (0, "1970-01-01T00:00:00.000Z"),
        (1.5, "1970-01-01T00:00:01.500Z"),
    ],
)
def test_a_time_without_zone_is_read_in_the_recipes_zone(value: object, wire: str) -> None:
    assert wire_moment(to_moment(value, NB)) == wire


@pytest.mark.parametrize(
    ("value", "day"),
    [
        ("2024-12-31T23:30:00Z", "2025-01-01"),
        ("31.12.49", "2049-12-31"),
        ("31.12.50", "1950-12-31"),
        ("17. Mai 1814", "1814-05-17"),
        ("1. des 2020", "2020-12-01"),
        ("20240102", "2024-01-02"),
    ],
)
def test_a_day_is_the_day_it_is_in_the_recipes_zone(value: object, day: str) -> None:
    assert to_date(value, NB).isoformat() == day


def test_the_recipes_own_date_forms_are_tried_first() -> None:
    swapped = make_formats(Formats(dates=("%m.%d.%Y", "%Y%m%d%H%M%S", "%d.%m.%Y %H:%M %z")))
    assert to_date("02.01.2024", swapped) == date(2024, 2, 1)
    assert wire_moment(to_moment("20240102030405", swapped)) == "2024-01-02T02:04:05.000Z"
    assert wire_moment(to_moment("02.01.2024 03:04 -0500", swapped)) == "2024-01-02T08:04:00.000Z"


def test_english_months_are_read_with_the_english_locale() -> None:
    assert to_date("January 2, 2024", EN) == date(2024, 1, 2)
    assert to_date("2-Oct-2024", EN) == date(2024, 10, 2)


@pytest.mark.parametrize("value", ["31.2.2024", "yesterday", "", "99.99.9999", [], None, True, 1e300, "2024-13-01"])
def test_what_is_no_time_is_refused(value: object) -> None:
    with pytest.raises(ValueRefused):
        to_moment(value, NB)
    with pytest.raises(ValueRefused):
        to_date(value, NB)


@pytest.mark.parametrize(
    ("value", "formats", "number"),
    [
        ("1 234,5", NB, 1234.5),
        ("1\u00a0234", NB, 1234),
        ("-7", NB, -7),
        ("7,00", NB, 7),
        ("1,234.5", EN, 1234.5),
        (3.0, NB, 3),
        (10**20, NB, 10**20),
    ],
)
def test_numbers_are_read_with_the_recipes_signs(value: object, formats: Formats, number: float) -> None:
    found = to_number(value, formats)
    assert found == number
    assert isinstance(found, type(number))


@pytest.mark.parametrize("value", ["1.5", "1e9", "", "abc", "٣", True, None, float("nan"), float("inf"), "9" * 31])
def test_what_is_no_number_is_refused(value: object) -> None:
    with pytest.raises(ValueRefused):
        to_number(value, NB)


def test_flags_are_read_from_words_in_both_languages() -> None:
    assert [to_flag(value) for value in (True, "ja", "YES", 1, False, "nei", "0")] == [True] * 4 + [False] * 3
    with pytest.raises(ValueRefused):
        to_flag("perhaps")


@pytest.mark.parametrize("value", [[], {}, b"x", object(), pytest.param(10**5000, id="huge")])
def test_what_is_no_text_is_refused(value: object) -> None:
    with pytest.raises(ValueRefused):
        to_text(value)


def test_an_object_is_plain_to_the_bottom() -> None:
    assert to_object({"g": {"f": {"values": ["a\x01", 1.0, None]}}}, NB) == {
        "g": {"f": {"values": ["a\ufffd", 1, None]}}
    }
    hostiles: list[object] = [{"a": object()}, {"a": float("nan")}, {"a": {"b": {"c": {"d": {"e": {}}}}}}, []]
    for hostile in hostiles:
        with pytest.raises(ValueRefused):
            to_object(hostile, NB)


@pytest.mark.parametrize("form", ["%Q", "%", "%d %d", "%"])
def test_a_date_form_with_an_unknown_or_double_part_is_refused(form: str) -> None:
    with pytest.raises(ValueRefused):
        read_date_form(form)


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=30))
def test_signs_that_xml_forbids_are_replaced_and_counted(text: str) -> None:
    clean, count = clean_text(text)
    assert len(clean) == len(text)
    assert sum(new != old for new, old in zip(clean, text, strict=True)) == count
    assert clean_text(clean) == (clean, 0)
    clean.encode()


@given(st.lists(st.text(alphabet="#a\x01{}d1\ud800", max_size=8), max_size=12, unique=True))
def test_every_key_stays_its_own_and_apart_from_what_hangs_under_others(keys: list[str]) -> None:
    made = [made for key in keys for made in (key_text(key), f"{key_text(key)}#d1", f"{key_text(key)}#d1v1")]
    assert len(set(made)) == len(made)
    assert all(clean_text(key)[1] == 0 for key in made)
