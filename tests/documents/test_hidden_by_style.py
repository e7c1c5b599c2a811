"""Text that a style hides is hidden text at every door, as what is hidden itself is; LibreOffice shows none of it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.copies.corpus import odf, office
from tests.documents.readings import Doors
from tests.waiting import PATIENCE_S

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
HIDES, SHOWS = "<w:rPr><w:vanish/></w:rPr>", '<w:rPr><w:vanish w:val="0"/></w:rPr>'
OPEN = "Åpent"


def style(name: str, kind: str = "paragraph", says: str = HIDES, base: str = "", *, is_standard: bool = False) -> str:
    """A style of Word."""
    based_on = f'<w:basedOn w:val="{base}"/>' if base else ""
    standard = ' w:default="1"' if is_standard else ""
    return f'<w:style w:type="{kind}" w:styleId="{name}"{standard}><w:name w:val="{name}"/>{based_on}{says}</w:style>'


def letter(text: str, *styles: str, defaults: str = "") -> bytes:
    """A letter with an open paragraph in a style of its own, and `text`."""
    shown = f'<w:p><w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>{OPEN}</w:t></w:r></w:p>'
    part = f'<w:styles xmlns:w="{WORD}">{defaults}{"".join(styles)}</w:styles>'
    return office.docx(shown, text, relations=[("rs", "styles", "styles.xml", False)], extra={"word/styles.xml": part})


def styled(text: str, name: str, run: str = "") -> str:
    """A paragraph in a style, of one run."""
    return f'<w:p><w:pPr><w:pStyle w:val="{name}"/></w:pPr>{office.run(text, run)}</w:p>'


def _table(text: str, name: str) -> str:
    table = office.table([[text]])
    return table.replace("<w:tblPr/>", f'<w:tblPr><w:tblStyle w:val="{name}"/></w:tblPr>')


DEFAULTS = f"<w:docDefaults><w:rPrDefault>{HIDES}</w:rPrDefault></w:docDefaults>"
IN_RUN = '<w:rStyle w:val="T"/>'
HIDDEN = {
    "paragraph": letter(styled("skjult", "A"), style("A")),
    "run": letter(office.paragraph(office.run("skjult", IN_RUN)), style("T", "character")),
    "based-on": letter(styled("skjult", "C"), style("C", says="", base="B"), style("B", says="", base="A"), style("A")),
    "run-based-on": letter(
        office.paragraph(office.run("skjult", IN_RUN)),
        style("T", "character", "", base="S"),
        style("S", "character"),
    ),
    "defaults": letter(office.paragraph("skjult"), defaults=DEFAULTS),
    "standard": letter(office.paragraph("skjult"), style("Vanlig", is_standard=True)),
    "heading": letter(styled("skjult", "H"), style("H", says=f'<w:pPr><w:outlineLvl w:val="0"/></w:pPr>{HIDES}')),
}
SHOWN = {
    "unused": letter(office.paragraph("synlig"), style("A")),
    "taken-back": letter(styled("synlig", "B"), style("B", says=SHOWS, base="A"), style("A")),
    "shown-by-itself": letter(styled("synlig", "A", '<w:vanish w:val="0"/>'), style("A")),
    "before-a-change": letter(
        '<w:p><w:pPr><w:pPrChange w:id="1" w:author="Kari"><w:pPr><w:pStyle w:val="A"/></w:pPr></w:pPrChange></w:pPr>'
        f"{office.run('synlig')}</w:p>",
        style("A"),
    ),
    "mark-of-paragraph": letter(f"<w:p><w:pPr>{HIDES}</w:pPr>{office.run('synlig')}</w:p>"),
}


def _open_styles(*styles: str) -> str:
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "style", "text")
    )
    return f"<office:document-styles {spaces}><office:styles>{''.join(styles)}</office:styles></office:document-styles>"


def open_style(name: str, family: str = "paragraph", display: str = "none", base: str = "") -> str:
    """A style of OpenDocument."""
    parent = f' style:parent-style-name="{base}"' if base else ""
    says = f'<style:text-properties text:display="{display}"/>' if display else ""
    return f'<style:style style:name="{name}" style:family="{family}"{parent}>{says}</style:style>'


def open_letter(text: str, *named: str, automatic: str = "") -> bytes:
    """A text with an open paragraph and another; `named` styles stand apart from it, `automatic` ones with it."""
    return odf.odt(OPEN, text, styles=automatic, **{"styles.xml": _open_styles(*named)})


IN_P, IN_SPAN = (
    '<text:p text:style-name="A">{}</text:p>',
    '<text:p><text:span text:style-name="A">{}</text:span></text:p>',
)
OPEN_HIDDEN = {
    "named": open_letter(IN_P.format("skjult"), open_style("A")),
    "named-span": open_letter(IN_SPAN.format("skjult"), open_style("A", "text")),
    "parent": open_letter(
        IN_P.format("skjult"), open_style("N"), automatic=open_style("A", display="", base="N")
    ),
    "default": odf.odt(
        '<text:p text:style-name="B">Åpent</text:p>', IN_P.format("skjult"),
        styles=open_style("B", display="true"),
        **{"styles.xml": _open_styles(
            '<style:default-style style:family="paragraph"><style:text-properties text:display="none"/>'
            "</style:default-style>", open_style("A", display=""),
        )},
    ),
}  # fmt: skip
OPEN_SHOWN = {
    "unused": open_letter("synlig", open_style("N")),
    "taken-back": open_letter(
        IN_P.format("synlig"), open_style("N"), automatic=open_style("A", display="true", base="N")
    ),
    "other-family": open_letter(IN_P.format("synlig"), open_style("A", "text"), automatic=open_style("A", display="")),
}
CASES = [
    *((name, "docx", content, ["skjult"]) for name, content in HIDDEN.items()),
    *((name, "docx", content, []) for name, content in SHOWN.items()),
    *((name, "odt", content, ["skjult"]) for name, content in OPEN_HIDDEN.items()),
    *((name, "odt", content, []) for name, content in OPEN_SHOWN.items()),
]
SHOWN_BY_LIBREOFFICE = ("defaults", "default")
"""What hides by default in a whole document, which that program takes no notice of."""
IDS = [f"{name}.{ending}" for name, ending, *_ in CASES]


@pytest.mark.parametrize(("name", "ending", "content", "hidden"), CASES, ids=IDS)
def test_what_a_style_hides_is_hidden_at_every_door(
    tmp_path: Path, name: str, ending: str, content: bytes, hidden: list[str]
) -> None:
    doors = Doors(tmp_path, content, ending)
    shown = [OPEN] if hidden else [OPEN, "synlig"]
    assert doors.view.split() == shown
    assert doors.words is not None
    assert sorted(doors.words) == sorted(word.lower() for word in shown)
    assert doors.findings - {"tracked-changes"} == ({"hidden-text"} if hidden else set())
    assert [text for kind, text in doors.passages if kind == "hidden"] == hidden
    assert set(doors.search.split()) == {*shown, *hidden}


def test_styles_that_both_hide_show_together_as_word_has_it(tmp_path: Path) -> None:
    """A case that LibreOffice does not settle: the rule is that of the standard for such properties."""
    content = letter(styled("synlig", "A", IN_RUN), style("A"), style("T", "character"))
    assert Doors(tmp_path, content, "docx").view.split() == [OPEN, "synlig"]


def test_the_style_of_a_table_hides_what_stands_in_it(tmp_path: Path) -> None:
    doors = Doors(tmp_path, letter(_table("skjult", "G"), style("G", "table")), "docx")
    assert (doors.findings, doors.passages) == ({"hidden-text"}, [("hidden", "skjult")])


def test_styles_that_are_based_on_each_other_end(tmp_path: Path) -> None:
    word = letter(styled("synlig", "A"), style("A", says="", base="B"), style("B", says="", base="A"), style("C"))
    assert Doors(tmp_path, word, "docx").view.split() == [OPEN, "synlig"]
    text = open_letter(
        IN_P.format("synlig"), open_style("A", display="", base="B"), open_style("B", "paragraph", "", "A")
    )
    assert Doors(tmp_path, text, "odt").view.split() == [OPEN, "synlig"]


def test_a_hidden_picture_is_hidden_though_it_has_no_text(tmp_path: Path) -> None:
    drawing = '<w:p><w:r><w:rPr><w:rStyle w:val="T"/></w:rPr><w:drawing/></w:r></w:p>'
    doors = Doors(tmp_path, letter(drawing, style("T", "character")), "docx")
    assert (doors.findings, doors.passages) == ({"hidden-text"}, [("hidden", "")])


@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not on this machine")
def test_a_foreign_program_shows_none_of_it(tmp_path: Path) -> None:
    cases = [case for case in CASES if case[0] not in SHOWN_BY_LIBREOFFICE]
    paths = []
    for name, ending, content, _ in cases:
        paths.append(tmp_path / f"{name}-{ending}.{ending}")
        paths[-1].write_bytes(content)
    profile = f"-env:UserInstallation=file://{tmp_path}/profile"
    command: list[str | Path] = ["soffice", profile, "--headless", "--convert-to", "pdf", "--outdir", tmp_path / "pdf"]
    subprocess.run([*command, *paths], check=True, capture_output=True, timeout=PATIENCE_S)
    shown = {path.name: words_of_pdf(tmp_path / "pdf" / f"{path.stem}.pdf") for path in paths}
    expected = {path.name: [OPEN] if case[3] else [OPEN, "synlig"] for path, case in zip(paths, cases, strict=True)}
    assert shown == expected


def words_of_pdf(path: Path) -> list[str]:
    """The words of a PDF, as poppler reads them."""
    answer = subprocess.run(["pdftotext", path, "-"], capture_output=True, check=True, timeout=PATIENCE_S)
    return answer.stdout.decode().split()
