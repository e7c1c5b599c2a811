"""What a document states beyond what a person would read is told by counts; periods are read as they are written."""

from __future__ import annotations

import io

import pytest

from noarkit.errors import UnsafeXml
from noarkit.forms.container.statements import read_statements
from noarkit.forms.metadata.descriptions import MOST_EVENTS, MOST_VALUES, DocumentSummary, period_of, summarise_document


def told(document: str) -> DocumentSummary:
    return summarise_document(read_statements(io.BytesIO(document.encode()), "x"))


def test_values_and_events_beyond_the_bounds_are_counted() -> None:
    found = told(f"<ead>{'<p>a</p>' * (MOST_VALUES + 7)}</ead>")
    assert (found.form, len(found.values)) == ("EAD", MOST_VALUES)
    (note,) = found.notes("k")
    assert (note.code, note.data["count"], note.data["in_document"]) == ("W253", 7, [["k", "p", "", 7]])
    event = "<event><eventType>fixity</eventType></event>"
    found = told(f"<premis>{event * (MOST_EVENTS + 3)}</premis>")
    (note,) = found.notes("k")
    assert (len(found.events), note.data["count"]) == (MOST_EVENTS, 3)


def test_text_is_told_with_what_stands_in_it_and_bulk_is_left_to_its_reader() -> None:
    found = told("<ead><a>x <b>y</b> z</a><s value='closed'/><dsc><c>no</c></dsc><e/></ead>")
    assert found.values == [{"name": "a", "value": "x y z"}, {"name": "s/@value", "value": "closed"}]


def test_a_document_that_nests_without_end_is_refused() -> None:
    with pytest.raises(UnsafeXml):
        told("<a>" * 500 + "</a>" * 500)


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("1990-01-01/1999-06-30", ("1990-01-01", "1999-06-30")),
        ("1990 – 1999", ("1990-01-01", "1999-12-31")),
        ("1999/1990", None),
        ("ca. 1990", None),
        ("/", None),
    ],
)
def test_periods(text: str, period: tuple[str, str] | None) -> None:
    assert period_of(text) == period
