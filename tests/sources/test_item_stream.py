"""Whoever reads a source hears how far it came, and a proposal looks at a bounded part of it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice

from noarkit.events import Event
from noarkit.graph.entity import SetAside
from noarkit.records import SourceItem, SourceRecord
from noarkit.sources.item_stream import sample_records, system_name, with_progress


def test_progress_is_told_by_ten_thousands_and_nothing_is_read_ahead() -> None:
    read: list[int] = []
    events: list[Event] = []

    def numbers() -> Iterator[int]:
        for number in count(1):
            read.append(number)
            yield number

    stream = with_progress(numbers(), events.append)
    assert read == []
    assert list(islice(stream, 25_000)) == list(range(1, 25_001))
    assert len(read) == 25_000
    assert [(event.name, event.data["items"]) for event in events] == [("source_read", 10_000), ("source_read", 20_000)]


def test_a_sample_of_an_endless_source_ends_and_holds_records_alone() -> None:
    def items() -> Iterator[SourceItem]:
        for number in count():
            yield SourceRecord("file", str(number), {}) if number % 2 == 0 else SetAside(str(number), "F300", {})

    sample = list(sample_records(items()))
    assert [record.key for record in sample] == [str(number) for number in range(0, 20_000, 2)]


def test_long_places_are_cut_and_still_told_apart() -> None:
    first, second = ("/a" + letter + "/x" * 400 for letter in "bc")
    assert system_name("bag", "/short") == "bag:/short"
    assert system_name("bag", first) != system_name("bag", second)
    assert len(system_name("bag", first)) < 200
