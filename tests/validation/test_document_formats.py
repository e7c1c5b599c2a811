"""Formats of documents are judged by their bytes: files made by foreign libraries, and judged by a foreign library."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pikepdf
import pikepdf.pdfa
import pygfried
import pytest

from noarkit.forms.noark5.rules.formats import declared_pdfa
from noarkit.forms.validation import validate
from samples.packages.bad import Bad
from samples.packages.changes import all_of, conversions, rewritten
from tests.copies.planning.made import pdfa_of, picture

OURS = {"N102"}


def office(main: str) -> bytes:
    """The container of a text document, or of one with macros."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        kind = f"application/vnd.{main}.main+xml"
        packed.writestr(
            "[Content_Types].xml",
            '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
            f'<Override PartName="/word/document.xml" ContentType="{kind}"/></Types>',
        )
        packed.writestr("word/document.xml", "<w:document/>")
    return out.getvalue()


def codes(tmp_path: Path, content: bytes, ending: str) -> frozenset[str]:
    Bad("N410", "x", before=rewritten(content, ending=ending)).draft().write(tmp_path)
    return validate(tmp_path).codes - OURS


def test_a_document_is_archival_by_its_bytes(tmp_path: Path) -> None:
    assert codes(tmp_path, office("openxmlformats-officedocument.wordprocessingml.document"), "docx") == frozenset()


@pytest.mark.parametrize(
    ("content", "ending"),
    [
        (b"{\\rtf1\\ansi a letter}", "txt"),
        (b"RIFF\x24\x00\x00\x00AVI LIST\x10\x00\x00\x00hdrlavih" + bytes(64), "mp4"),
        (b"GIF89a" + bytes(30) + b"\x3b", "mkv"),
    ],
)
def test_a_name_alone_makes_nothing_archival(content: bytes, ending: str, tmp_path: Path) -> None:
    assert "N410" in codes(tmp_path, content, ending)


def test_what_cannot_be_used_is_counted_once_whatever_its_format(tmp_path: Path) -> None:
    """One reason to find a whole copy; in what format that then is, is judged when it is there."""
    assert codes(tmp_path, b"", "xyz") == {"N406"}


@pytest.mark.parametrize(("flavour", "puid"), [("1b", "fmt/354"), ("2b", "fmt/477"), ("3b", "fmt/480")])
def test_the_flavour_that_a_pdf_declares_is_what_siegfried_reads(flavour: str, puid: str, tmp_path: Path) -> None:
    path = tmp_path / "copy.pdf"
    with pikepdf.new() as pdf:
        pdf.add_blank_page()
        pikepdf.pdfa.save(pdf, path, flavour)
    found = pygfried.identify(str(path), True)["files"][0]["matches"][0]["id"]
    assert declared_pdfa(path.read_bytes()) == found == puid


def test_a_conversion_to_another_flavour_is_told(tmp_path: Path) -> None:
    copy = pdfa_of(picture(5))
    for target, expected in (("fmt/477", frozenset()), ("fmt/354", {"N419"})):
        folder = tmp_path / target.replace("/", "-")
        folder.mkdir()
        change = all_of(rewritten(copy), conversions(("fmt/40", target)))
        Bad("N419", "x", before=change).draft().write(folder)
        assert validate(folder).codes - OURS == expected
