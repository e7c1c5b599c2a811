"""Moments have one form for people: the configured zone, with its name, to the second."""

from __future__ import annotations

import pytest

from noarkit.catalogue.moments import spoken, spoken_apart


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2026-01-22T09:12:03Z", "2026-01-22 10:12:03 CET"),
        ("2026-07-22T09:12:03.123456+00:00", "2026-07-22 11:12:03 CEST"),
        ("2026-01-22T10:12:03", "2026-01-22 10:12:03 CET"),
        ("2026-01-22", "2026-01-22"),
        ("26/1234", "26/1234"),
    ],
)
def test_moments_are_told_in_one_form_and_nothing_else_is_changed(written: str, expected: str) -> None:
    assert spoken(written, "Europe/Oslo") == expected


def test_moments_that_differ_by_less_than_a_second_stay_as_they_are() -> None:
    close = ("2026-01-22T09:12:03.100Z", "2026-01-22T09:12:03.200Z")
    assert spoken_apart(*close, "Europe/Oslo") == close
    assert spoken_apart("2026-01-22T09:12:03Z", None, "Europe/Oslo") == ("2026-01-22 10:12:03 CET", None)
