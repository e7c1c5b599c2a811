"""Formats are judged by the regulation: by PRONOM identifier first, then by media type, then by name."""

from __future__ import annotations

import pytest

from noarkit.model.formats import judge


@pytest.mark.parametrize(
    ("puid", "ending", "media_type", "standing"),
    [
        ("fmt/354", "pdf", "application/pdf", "approved"),
        ("fmt/480", "pdf", "application/pdf", "conditions"),
        ("fmt/18", "pdf", "application/pdf", "not-approved"),
        (None, "pdf", "application/pdf", "unclear"),
        (None, "PDF", None, "unclear"),
        (None, "docx", "image/jpeg", "approved"),
        (None, "csv", "text/plain", "approved"),
        (None, "txt", "text/plain", "conditions"),
        (None, "", "text/plain", "conditions"),
        (None, "siard", "application/zip", "approved"),
        (None, "zip", "application/zip", "approved"),
        (None, "doc", "application/msword", "not-approved"),
        (None, "", None, "not-approved"),
    ],
)
def test_a_file_stands_as_the_regulation_has_it(
    puid: str | None, ending: str, media_type: str | None, standing: str
) -> None:
    assert judge(puid, ending, media_type).standing == standing


def test_what_the_regulation_does_not_name_goes_by_its_own_name() -> None:
    assert judge(None, "dwg", "image/vnd.dwg").name == "image/vnd.dwg"
    assert judge(None, "dwg", None).name == "dwg"
