"""`%=` is linear: whatever a client's pattern and whatever a title, the work grows with their lengths alone."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import SupportsIndex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noarkit.server.query.patterns import MAX_LENGTH, Pattern
from tests.server.conftest import Archive
from tests.server.wire import link, save, small_archive

SIGNS = st.text(alphabet="ab%_*[", max_size=12)


@settings(max_examples=2000, deadline=None)
@given(SIGNS, SIGNS)
def test_a_pattern_fits_what_a_regular_expression_of_it_fits(pattern: str, text: str) -> None:
    expression = ".*".join(map(re.escape, pattern.split("%")))
    assert Pattern(pattern).matches(text) is (re.fullmatch(expression, text, re.DOTALL) is not None)


class CountedText(str):
    """A text that counts how often it is searched."""

    searches = 0

    def find(self, sub: str, start: SupportsIndex | None = None, end: SupportsIndex | None = None, /) -> int:
        self.searches += 1
        return str.find(self, sub, start, end)


def test_no_piece_of_a_pattern_is_looked_for_twice() -> None:
    text = CountedText("a" * 100_000)
    assert not Pattern("%" + "a%" * 999 + "b").matches(text)
    assert not Pattern("%" + "a%" * 900 + "b%").matches(text)
    assert text.searches <= 1 + 901


def test_a_pattern_longer_than_a_title_is_400(archive: Archive) -> None:
    body = {"type": "Mappe", "limit": 1, "query": "tittel %= @p", "parameters": {"@p": "%a" * MAX_LENGTH}}
    reply = archive.wire.call("POST", "query", body)
    assert reply.status == 400
    assert b"@p" in reply.body


@pytest.mark.parametrize(
    "pattern", ["%" + "a%" * 990 + "b", "%" + "aaaaaaaaab%" * 180, "%" + "a" * 1900 + "b%", "%" + "a" * 40_000 + "b%"]
)
def test_long_patterns_over_long_titles_are_answered_at_once(fresh_archive: Archive, pattern: str) -> None:
    wire = fresh_archive.wire
    series = small_archive(wire)["@series"]
    for number in range(10):
        wire.saved(
            save("Mappe", f"@{number}", tittel="a" * 2_000_000), link("Mappe", f"@{number}", "refArkivdel", series)
        )
    body = {"type": "Mappe", "limit": 1, "query": "tittel %= @p", "parameters": {"@p": pattern}}
    reply = replace(wire, timeout_s=60.0).call("POST", "query", body)
    assert reply.status == (400 if len(pattern) > MAX_LENGTH else 200)
