"""Formats are judged by the regulation: by PRONOM identifier first, then by media type, then by name."""

from __future__ import annotations

import pytest

from noarkit.model.formats import classify_format


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
        (None, "zip", "application/zip", "conditions"),
        ("fmt/412", "docx", "application/zip", "conditions"),
        ("fmt/494", "docx", "application/x-ole-storage", "not-approved"),  # a document with a password
        ("fmt/494", "docx", "application/octet-stream", "not-approved"),
        ("fmt/40", "doc", "application/msword", "not-approved"),
        ("fmt/143", "wav", "audio/x-wav", "not-approved"),  # 24 bits
        ("fmt/6", "wav", "audio/x-wav", "conditions"),
        ("fmt/569", "mkv", "video/x-matroska", "conditions"),
        ("fmt/279", "flac", "audio/flac", "approved"),
        ("fmt/1149", "md", "text/plain", "conditions"),
        (None, "odg", "application/vnd.oasis.opendocument.graphics", "not-approved"),
        (None, "doc", "application/msword", "not-approved"),
        (None, "", None, "not-approved"),
    ],
)
def test_a_file_stands_as_the_regulation_has_it(
    puid: str | None, ending: str, media_type: str | None, standing: str
) -> None:
    assert classify_format(puid, ending, media_type).status == standing


def test_what_the_regulation_does_not_name_goes_by_its_own_name() -> None:
    assert classify_format(None, "dwg", "image/vnd.dwg").name == "image/vnd.dwg"
    assert classify_format(None, "dwg", None).name == "dwg"
