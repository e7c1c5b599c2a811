"""What the writer makes of a value, the reader makes of the text again."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noarkit.forms.noark5.moments import Moments
from noarkit.forms.noark5.nodes import Node
from noarkit.forms.noark5.read import values
from noarkit.forms.noark5.read.readers import ReaderCompiler
from noarkit.graph.entity import FieldValue
from noarkit.model.mapping import mapping

ZONES = ("Europe/Oslo", "UTC", "America/St_Johns", "Asia/Kolkata")
MOMENTS = st.datetimes(datetime(1900, 1, 2), datetime(2199, 12, 30), timezones=st.just(UTC))
CHANGE = datetime(2024, 10, 27, 0, 0, tzinfo=UTC)


def wire(moment: datetime) -> str:
    """A moment as the archive tells it."""
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"


@given(moment=MOMENTS, name=st.sampled_from(ZONES))
def test_a_moment_comes_back_to_the_millisecond(moment: datetime, name: str) -> None:
    assert values.timestamp(Moments(name).local(wire(moment)), ZoneInfo(name)) == wire(moment)


@given(minutes=st.integers(0, 239), name=st.sampled_from(ZONES))
def test_both_hours_that_a_clock_change_makes_of_one_come_back(minutes: int, name: str) -> None:
    told = wire(CHANGE.replace(hour=minutes // 60, minute=minutes % 60))
    assert values.timestamp(Moments(name).local(told), ZoneInfo(name)) == told


def test_only_the_repeated_hour_bears_its_offset() -> None:
    moments = Moments("Europe/Oslo")
    assert moments.local("2024-10-27T00:30:00.000Z") == "2024-10-27T02:30:00"
    assert moments.local("2024-10-27T01:30:00.000Z") == "2024-10-27T02:30:00+01:00"
    assert moments.local("2024-10-27T02:30:00.000Z") == "2024-10-27T03:30:00"
    assert moments.day("2024-10-27T01:30:00.000Z") == "2024-10-27"


@given(day=st.dates())
def test_a_date_comes_back(day: datetime) -> None:
    assert values.day(Moments("Europe/Oslo").day(day.isoformat())) == day.isoformat()


@pytest.mark.parametrize("synonym", mapping().words.synonyms, ids=lambda one: str(one.code))
def test_words_of_the_catalogue_are_read_as_the_code_they_stand_for(synonym: object) -> None:
    told = next(one for one in mapping().words.synonyms if one == synonym)
    codes = values.Codes()
    assert codes.code(told.code_list, told.text) == told.code
    assert codes.code(told.code_list, told.name) == told.code
    assert not codes.new


def test_a_blank_element_never_has_the_value_of_another_that_began_blank() -> None:
    compiler = ReaderCompiler(ZoneInfo("Europe/Oslo"), values.Codes())

    def read(*dates: str) -> FieldValue:
        node: Node = {"saksdato": list(dates)}
        return compiler.fields(compiler.readers_for("Saksmappe"), node, lambda *_: None).get("saksdato")

    first = read(" ", "2020-01-02")
    assert first is not None
    assert read(" ") is None
    assert read("2020-01-02") == first == read("2020-01-02")
