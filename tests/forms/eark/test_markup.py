"""What is written as text is what XML and URIs take, and times are told as far as a calendar goes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from urllib.parse import unquote, unquote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from noarkit.forms.eark.write.markup import attributes, href, moment, moment_of_stamp
from noarkit.safe.xml_text import escape_attribute


@given(st.text())
def test_any_text_is_well_formed_and_comes_back_but_for_what_xml_forbids(text: str) -> None:
    root = etree.fromstring(f'<a b="{escape_attribute(text)}">{escape_attribute(text)}</a>'.encode())
    expected = "".join(sign if _allowed(sign) else "\ufffd" for sign in text)
    assert root.get("b") == expected
    assert (root.text or "") == expected


def _allowed(sign: str) -> bool:
    return sign in "\t\n\r" or (sign >= " " and sign not in "\ufffe\uffff" and not "\ud800" <= sign <= "\udfff")


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_reference_means_the_same_to_whoever_decodes_it(name: str) -> None:
    assert unquote(href(name)) == unquote_plus(href(name)) == name
    assert href(name).isascii()


def test_attributes_that_say_nothing_are_left_out() -> None:
    assert attributes(A="1", B="", csip_C='<"', D=None) == ' A="1" csip:C="&lt;&quot;"'


def test_a_moment_is_told_in_utc() -> None:
    assert moment(datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=2)))) == "2025-12-31T23:00:00Z"
    assert moment(datetime(2026, 1, 1, tzinfo=UTC)) == "2026-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("stamp", "told"),
    [
        ("12:1000000000000000000:7", "2001-09-09T01:46:40Z"),
        ("0:-1000000000:7", "1969-12-31T23:59:59Z"),
        ("0:0:0", "1970-01-01T00:00:00Z"),
        ("0:999999999999999999999999:7", None),
        ("0:-999999999999999999999999:7", None),
        ("abc", None),
        ("", None),
        ("a:1:2", None),
        ("1:x:2", None),
    ],
)
def test_a_stamp_tells_when_a_file_was_changed(stamp: str, told: str | None) -> None:
    assert moment_of_stamp(stamp) == told
