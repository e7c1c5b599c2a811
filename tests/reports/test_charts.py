"""Charts are plain SVG of the numbers given: escaped, complete, on an axis that lies about nothing."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from noarkit.reports.charts import Row, bar, columns, shares

HOSTILE = '<script>alert("x")</script> & "more"'


def broad(rows: list[Row]) -> ElementTree.Element:
    """The drawing for wide windows."""
    figure = ElementTree.fromstring(str(columns(rows, "years", lambda count: f"{count} each")))
    return figure[0]


def bars_of(drawing: ElementTree.Element) -> dict[str, float]:
    """The height of each column, by its title."""
    rects = (one for one in drawing.iter() if one.get("class") == "bar")
    return {str(one[0].text): float(str(one.get("height"))) for one in rects}


def labels_of(drawing: ElementTree.Element) -> dict[int, float]:
    """Where the label of each year stands."""
    texts = (one for one in drawing.iter() if one.tag.endswith("text") and one.get("text-anchor"))
    return {int(str(one.text)): float(str(one.get("x"))) for one in texts}


def test_a_chart_is_well_formed_and_holds_no_markup_of_its_data() -> None:
    for drawn in (str(shares([(HOSTILE, 3), ("b", 1)], HOSTILE)), str(columns([("1999", 3), ("2001", 1)], HOSTILE))):
        root = ElementTree.fromstring(drawn)
        drawing = next(one for one in root.iter() if one.get("role") == "img")
        assert drawing.attrib["aria-label"] == HOSTILE
        assert not [each for each in root.iter() if each.tag.endswith("script")]


def test_nothing_is_drawn_of_nothing() -> None:
    assert str(shares([], "empty")) == str(shares([("a", 0)], "empty")) == str(columns([], "empty")) == ""
    assert str(columns([("2001", 5)], "one year is no course of years")) == ""


def test_shares_leave_out_what_is_nothing_and_name_the_rest_in_numbers() -> None:
    drawn = str(shares([("archived", 75), ("refused", 0), ("set aside", 25)], "outcome"))
    assert "archived: 75 (75.0 %)" in drawn
    assert "set aside: 25 (25.0 %)" in drawn
    assert "refused" not in drawn


def test_a_bar_is_as_long_as_its_share_of_the_largest_and_seen_where_it_is_not_nothing() -> None:
    widths = [
        float(width) for value in (10, 5, 1, 0) for width in re.findall(r'width="([\d.]+)"', str(bar(value, 1000)))
    ]
    assert widths == [1.0, 0.5, 0.5, 0.0]
    assert 'width="100.0"' in str(bar(7, 7))
    assert 'width="0.0"' in str(bar(0, 0))


def test_years_without_anything_keep_their_place_on_the_axis() -> None:
    drawing = broad([("2001", 4), ("2002", 2), ("2011", 1)])
    assert bars_of(drawing) == pytest.approx({"2001: 4": 130, "2002: 2": 65, "2011: 1": 32.5})
    labels = labels_of(drawing)
    assert sorted(labels) == list(range(2001, 2012))
    assert labels[2011] - labels[2006] == pytest.approx(labels[2006] - labels[2001])


def test_many_years_are_grouped_by_decade_and_none_is_left_out() -> None:
    rows = [(str(year), 1) for year in range(1895, 2025)]
    drawing = broad(rows)
    heights = bars_of(drawing)
    whole = [f"{year}–{year + 9}: 10" for year in range(1900, 2020, 10)]
    assert list(heights) == ["1890–1899: 5", *whole, "2020–2029: 5"]
    assert "10 each" in drawing.attrib["aria-label"]


def test_a_year_that_somebody_mistyped_makes_no_drawing_of_ten_thousand_columns() -> None:
    heights = bars_of(broad([("1020", 1), ("2019", 40), ("9999", 1), ("?", 12)]))
    assert sum(int(name.rpartition(": ")[2]) for name in heights) == 42
    assert len(heights) == 3
