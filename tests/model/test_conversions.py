"""A conversion survives the one text field that an archive has for it, whatever its parts hold."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from noarkit.model.conversions import (
    Comment,
    Conversion,
    checksums_in,
    comment_text,
    copy_key,
    derived_from,
    details_text,
    original_key,
    parse_comment,
    parse_details,
    source_of,
)
from noarkit.model.own_marks import DERIVED_FROM

LETTER = Conversion(
    source_format="fmt/412",
    result_format="fmt/477",
    made_at="2026-11-22T09:12:03Z",
    made_by="noarkit 0.1",
    tool="LibreOffice 7.4.7.2",
    rule="ooxml-text",
    source_sha256="a" * 64,
    result_sha256="b" * 64,
    findings=("fields", "comments"),
)
_TEXTS = st.text(max_size=20) | st.sampled_from(
    [" · ", "%", "%;", "%25;", "\x00\x00", "fra x", ", ", " → ", "", "\x00", " a ", "\ud800"]
)
CONVERSIONS = st.builds(
    Conversion, *[_TEXTS] * 8, st.lists(_TEXTS, max_size=4).map(tuple), accepted_by=_TEXTS, accepted_at=_TEXTS
)
ACCEPTED = replace(LETTER, accepted_by="Berg, Kari · 1", accepted_at="2026-11-23T08:00:00Z")


def test_the_carrier_reads_as_a_sentence() -> None:
    assert details_text(LETTER) == (
        "fmt/477 · fra fmt/412 · 2026-11-22T09:12:03Z · LibreOffice 7.4.7.2 · av noarkit 0.1 · regel ooxml-text"
        f" · sha256 {'a' * 64} → {'b' * 64} · merknad fields, comments"
    )


@given(CONVERSIONS)
def test_a_conversion_is_read_back_exactly(conversion: Conversion) -> None:
    assert parse_details(details_text(conversion)) == conversion


@example(replace(LETTER, tool="0\xa00"))  # a space that a normaliser makes another
@given(CONVERSIONS)
def test_the_carrier_is_a_text_that_no_archive_changes(conversion: Conversion) -> None:
    text = details_text(conversion)
    assert text == " ".join(text.split())
    assert text.encode("utf-8").decode("utf-8") == text
    assert text.isprintable() or all(sign.isprintable() or ord(sign) > 0x9F for sign in text)


@given(st.text())
def test_no_other_text_is_taken_for_a_carrier(text: str) -> None:
    read = parse_details(text)
    assert read is None or details_text(read) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "application/pdf; fmt/477",
        details_text(LETTER).replace("fra ", "from "),
        details_text(LETTER).replace(" → ", " "),
        details_text(LETTER) + " · more",
        details_text(replace(LETTER, findings=())).replace(" · regel", " ·  regel"),
    ],
)
def test_what_only_resembles_a_carrier_is_none(text: str) -> None:
    assert parse_details(text) is None


def test_the_comment_names_both_files() -> None:
    comment = comment_text(LETTER)
    assert checksums_in(comment) == ("a" * 64, "b" * 64)
    assert comment.startswith("regel ooxml-text")
    assert comment.endswith("merknad fields, comments")
    assert checksums_in("converted by hand") is None


def test_who_took_a_copy_as_it_is_stands_in_carrier_and_comment() -> None:
    assert details_text(ACCEPTED).endswith(
        " · merknad fields, comments · godtatt av Berg%2C; Kari %B7; 1, 2026-11-23T08:00:00Z"
    )
    assert parse_details(details_text(ACCEPTED)) == ACCEPTED
    told = parse_comment(comment_text(ACCEPTED))
    assert (told.rule, told.source_sha256, told.result_sha256) == ("ooxml-text", "a" * 64, "b" * 64)
    assert (told.findings, told.accepted_by, told.accepted_at) == (
        *(("fields", "comments"), "Berg, Kari · 1", "2026-11-23T08:00:00Z"),
    )
    assert parse_comment("converted by hand") == Comment()


def test_a_copy_names_its_source_by_checksum() -> None:
    assert DERIVED_FROM == "noarkit:derived-from"
    assert source_of(derived_from("c" * 64)) == "c" * 64
    assert source_of("sha256:short") is None
    assert source_of("c" * 64) is None


def test_the_key_of_a_copy_leads_back_to_its_original() -> None:
    assert original_key(copy_key("letter#d1v1")) == "letter#d1v1"
    assert original_key("letter#d1v1") is None
