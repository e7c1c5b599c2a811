"""Fonts that a document asks for are found in its copy, or in their twin, or it is told."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from noarkit.copies.converters.fonts import family, font_digest, forget_fonts, missing_fonts
from noarkit.copies.converters.fonts_asked import fonts_asked, fonts_named
from noarkit.copies.port import Finding
from tests.copies.converters.documents import rtf
from tests.copies.corpus.letters import letter, word_styles, word_theme

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


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., None]]:
    """Says which fonts fontconfig finds: those that are installed, but for the folders that a test leaves out."""

    def without(*folders: str) -> None:
        rejected = "".join(f"<glob>*/{folder}/*</glob>" for folder in folders)
        conf = tmp_path / "fonts.conf"
        conf.write_text(
            '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>'
            f'<include ignore_missing="yes">/etc/fonts/fonts.conf</include><cachedir>{tmp_path / "cache"}</cachedir>'
            f"<selectfont><rejectfont>{rejected}</rejectfont></selectfont></fontconfig>"
        )
        monkeypatch.setenv("FONTCONFIG_FILE", str(conf))
        forget_fonts()

    yield without
    forget_fonts()


WORD = letter(
    styles=word_styles(),
    theme=word_theme("Calibri Light", "Calibri"),
)
"""Written as Word writes letters: the font stands in the theme, and a dozen of styles that nothing uses name others."""
needs_fonts = pytest.mark.skipif(
    "not __import__('shutil').which('fc-list')", reason="no fontconfig here: scripts/copies-tools"
)


@pytest.mark.copies_tools
@needs_fonts
@pytest.mark.parametrize(
    ("runs", "embedded", "asked"),
    [
        ([("Vi viser til søknaden.", "")], ["BAAAAA+Carlito-Bold"], []),  # Calibri, by the theme
        ([("Hei", "Arial"), ("på", "Times New Roman")], ["A+LiberationSans", "B+LiberationSerif-Italic"], []),
        ([("Kryss av: ☐", "")], ["A+Carlito", "B+DejaVuSans"], []),  # a box that Carlito lacks
        ([("Hei", "Oslo Sans")], ["CAAAAA+DejaVuSans"], ["Oslo Sans"]),
        ([("Hei", ""), ("du", "Oslo Sans")], ["A+Carlito", "B+DejaVuSans"], ["Oslo Sans"]),
        ([("Hei", "Oslo Sans")], ["OsloSans,BoldItalic"], []),  # it brings its font along
    ],
)
def test_only_text_in_a_font_that_is_not_here_is_told(
    tmp_path: Path, runs: list[tuple[str, str]], embedded: list[str], asked: list[str], here: Callable[..., None]
) -> None:
    here()
    source = tmp_path / "a.docx"
    source.write_bytes(WORD(runs))
    found = missing_fonts(source, pdf_with(tmp_path / "a.pdf", *embedded))
    assert [finding.data["asked"] for finding in found] == ([asked] if asked else [])
    assert all(finding.data["used"] == ["DejaVuSans"] for finding in found)


@pytest.mark.copies_tools
@needs_fonts
def test_without_its_twin_a_font_is_told_and_styles_that_no_text_uses_never(
    tmp_path: Path, here: Callable[..., None]
) -> None:
    source = tmp_path / "a.docx"
    source.write_bytes(WORD([("Vi viser til søknaden.", ""), ("Hei", "Arial")]))
    copy = pdf_with(tmp_path / "a.pdf", "A+DejaVuSans", "B+LiberationSans")
    here()
    assert missing_fonts(source, copy) == ()
    here("crosextra")
    assert missing_fonts(source, copy) == (Finding("fonts", {"asked": ["Calibri"], "used": ["DejaVuSans"]}),)
    here("liberation", "liberation2")
    found = missing_fonts(source, pdf_with(tmp_path / "b.pdf", "A+Carlito", "B+DejaVuSans"))
    assert found == (Finding("fonts", {"asked": ["Arial"], "used": ["DejaVuSans"]}),)


def test_the_font_of_a_run_is_its_own_or_that_of_its_style(tmp_path: Path) -> None:
    source = tmp_path / "a.docx"
    source.write_bytes(WORD([("Tittel", "", "Overskrift1"), ("Hei", "Georgia"), ("", "Impact")]))
    assert fonts_asked(source) == {"Calibri Light", "Georgia"}
    assert {"Segoe UI", "Cambria", "Impact"} <= fonts_named(source)


def test_what_names_no_font_that_we_can_read_tells_nothing(tmp_path: Path) -> None:
    source = rtf(tmp_path / "a.rtf", "x")
    assert fonts_named(source) == fonts_asked(source) == frozenset()
    assert missing_fonts(source, pdf_with(tmp_path / "a.pdf", "Arial")) == ()
    whole = WORD([("Hei", "Georgia")])
    source.write_bytes(whole[: len(whole) // 2])
    assert fonts_asked(source) == frozenset()


def test_names_are_compared_without_style() -> None:
    assert {family(name) for name in ("Carlito-BoldItalic", "carlito", "Carlito, Bold", "'Carlito'")} == {"carlito"}
    assert family("Liberation Sans Narrow") != family("Liberation Sans")


@pytest.mark.copies_tools
@needs_fonts
def test_the_digest_is_that_of_the_fonts_that_are_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = font_digest()
    assert len(here) == 64
    families = subprocess.run(["fc-list", ":", "family"], capture_output=True, check=True).stdout
    assert families
    empty = tmp_path / "fonts.conf"
    empty.write_text('<?xml version="1.0"?><fontconfig></fontconfig>')
    monkeypatch.setenv("FONTCONFIG_FILE", str(empty))
    forget_fonts()
    assert font_digest() == ""
    forget_fonts()
