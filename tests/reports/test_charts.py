"""Charts are plain SVG of the numbers given: escaped, complete, the same every time."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from noarkit.reports.charts import bars, columns, shares

HOSTILE = '<script>alert("x")</script> & "more"'


@pytest.mark.parametrize("chart", [bars, columns, shares])
def test_a_chart_is_well_formed_and_holds_no_markup_of_its_data(chart: object) -> None:
    assert callable(chart)
    drawn = str(chart([(HOSTILE, 3), ("b", 1)], HOSTILE))
    root = ElementTree.fromstring(drawn)
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"] == HOSTILE
    assert not [each for each in root.iter() if each.tag.endswith("script")]
    assert drawn == str(chart([(HOSTILE, 3), ("b", 1)], HOSTILE))


@pytest.mark.parametrize("chart", [bars, columns, shares])
def test_nothing_is_drawn_of_nothing(chart: object) -> None:
    assert callable(chart)
    assert str(chart([], "empty")) == ""


def test_shares_leave_out_what_is_nothing_and_name_the_rest_in_numbers() -> None:
    drawn = str(shares([("archived", 75), ("refused", 0), ("set aside", 25)], "outcome"))
    assert "archived: 75 (75.0 %)" in drawn
    assert "set aside: 25 (25.0 %)" in drawn
    assert "refused" not in drawn


def test_the_longest_bar_is_the_largest_number() -> None:
    drawn = str(bars([("a", 10), ("b", 5)], "t"))
    long, half = (float(wide) for wide in re.findall(r'<rect class="bar"[^>]*width="([\d.]+)"', drawn))
    assert long == pytest.approx(half * 2, rel=0.01)


def test_many_years_keep_the_last_sixty() -> None:
    drawn = str(columns([(str(year), 1) for year in range(1900, 2000)], "years"))
    assert "1940: 1" in drawn
    assert "1939" not in drawn
