"""Patterns either have a bound or are refused."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noarkit.recipes.patterns import PatternRefused, read_pattern


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+b",
        r"(a|a)*b",
        r"((((a*)*)*)*)*b",
        r"(a{1,9}){1,9}b",
        r"(?:a?)*b",
        r"a?" * 40 + "a" * 40,
        r".*a.*b.*c.*d",
        r"(?=a)b",
        r"(?<!a)b",
        r"(a)\1",
        r"(?P<x>a)(?P=x)",
        r"(?i:a)",
        r"(",
        r"[",
        r"a{2,",
        r"*a",
        "a" * 501,
    ],
)
def test_what_could_hang_or_cannot_be_read_is_refused(pattern: str) -> None:
    with pytest.raises(PatternRefused):
        read_pattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "text", "groups"),
    [
        (r"^(\d{4})-(\d+)_(.*)$", "2024-17_Søknad om torsk", ["2024", "17", "Søknad om torsk"]),
        (r"(\d{4})(?:-(\d\d))?", "2024", ["2024", None]),
        (r"(?P<year>\d{4})", "2024!", ["2024"]),
        (r"(?i)sak ", "SAK 3", ["SAK "]),
        (r"(?:ab)+c", "ababc", ["ababc"]),
        (r"(brev|notat)-\d+", "notat-12", ["notat"]),
        (r"x", "y", None),
    ],
)
def test_an_honest_pattern_gives_its_groups(pattern: str, text: str, groups: list[str] | None) -> None:
    assert read_pattern(pattern).groups(text) == groups


@pytest.mark.parametrize("pattern", [r".*.*b", r"a*a*b", r"[a-z]+[a-z]+_", r"a*(a*b)?c", r"(a|a)(a|a)(a|a)a*b"])
def test_the_longest_text_a_pattern_may_be_tried_on_is_done_within_a_moment(pattern: str) -> None:
    read = read_pattern(pattern)
    begun = time.process_time()
    assert read.groups("a" * read.longest) is None
    assert time.process_time() - begun < 2
    with pytest.raises(PatternRefused):
        read.groups("a" * (read.longest + 1))


@given(st.text(alphabet=r"ab.*+?{}()[]|\d^$1,2-", max_size=14), st.text(alphabet="ab1", max_size=24))
def test_whatever_is_written_either_matches_as_python_does_or_is_refused(pattern: str, text: str) -> None:
    try:
        read = read_pattern(pattern)
    except PatternRefused:
        return
    found = re.match(pattern, text)
    assert (read.groups(text) is None) == (found is None)
