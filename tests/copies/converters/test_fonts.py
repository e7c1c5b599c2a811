"""Fonts that a document asks for are found in its copy, or in their twin, or it is told."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from noarkit.copies.converters.fonts import family, font_digest, fonts_named, missing_fonts
from noarkit.copies.port import Finding
from tests.copies.converters.documents import docx, paragraph, rtf

pikepdf = pytest.importorskip("pikepdf", reason="the extra [copies] is not installed")


def pdf_with(path: Path, *names: str) -> Path:
    """A PDF that bears fonts of these names."""
    pdf = pikepdf.new()
    pdf.add_blank_page()
    pdf.Root.Fonts = pdf.make_indirect(
        pikepdf.Array(
            [
                pdf.make_indirect(
                    pikepdf.Dictionary(Type=pikepdf.Name.FontDescriptor, FontName=pikepdf.Name(f"/{name}"))
                )
                for name in names
            ]
        )
    )
    pdf.save(path)
    return path


@pytest.mark.parametrize(
    ("fonts", "embedded", "told"),
    [
        (["Calibri"], ["BAAAAA+Carlito-Bold"], None),
        (["Arial", "Times New Roman"], ["A+LiberationSans", "B+LiberationSerif-Italic"], None),
        (["Segoe UI"], ["CAAAAA+DejaVuSans"], (["Segoe UI"], ["DejaVuSans"])),
        (["Segoe UI", "Calibri"], ["A+Carlito"], None),  # named, and nowhere used
        (["Calibri"], ["A+Carlito", "B+OpenSymbol"], None),  # bullets
        (["Verdana"], ["Verdana,BoldItalic"], None),
    ],
)
def test_twins_are_silent_and_others_are_told(
    tmp_path: Path, fonts: list[str], embedded: list[str], told: tuple[list[str], list[str]] | None
) -> None:
    source = docx(tmp_path / "a.docx", "".join(paragraph("x", font=font) for font in fonts))
    findings = missing_fonts(source, pdf_with(tmp_path / "a.pdf", *embedded))
    assert findings == (() if told is None else (Finding("fonts", {"asked": told[0], "used": told[1]}),))


def test_what_names_no_font_that_we_can_read_tells_nothing(tmp_path: Path) -> None:
    assert fonts_named(rtf(tmp_path / "a.rtf", "x")) == frozenset()
    assert missing_fonts(tmp_path / "a.rtf", pdf_with(tmp_path / "a.pdf", "Arial")) == ()


def test_names_are_compared_without_style() -> None:
    assert {family(name) for name in ("Carlito-BoldItalic", "carlito", "Carlito, Bold", "'Carlito'")} == {"carlito"}
    assert family("Liberation Sans Narrow") != family("Liberation Sans")


@pytest.mark.copies_tools
@pytest.mark.skipif("not __import__('shutil').which('fc-list')", reason="no fontconfig here: scripts/copies-tools")
def test_the_digest_is_that_of_the_fonts_that_are_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = font_digest()
    assert len(here) == 64
    families = subprocess.run(["fc-list", ":", "family"], capture_output=True, check=True).stdout
    assert families
    empty = tmp_path / "fonts.conf"
    empty.write_text('<?xml version="1.0"?><fontconfig></fontconfig>')
    monkeypatch.setenv("FONTCONFIG_FILE", str(empty))
    font_digest.cache_clear()
    assert font_digest() == ""
    font_digest.cache_clear()
