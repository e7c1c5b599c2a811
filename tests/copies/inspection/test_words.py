"""The words of a document are those on its pages, however its program cut them into runs, and no others."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noarkit.copies.inspection import words_of
from noarkit.copies.port import Identity
from noarkit.copies.tokens import tokens
from tests.copies.corpus import odf, office, pdf
from tests.waiting import PATIENCE_S

DOCX = Identity(
    "fmt/412", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx", "container"
)
PPTX = Identity(
    "fmt/215", "application/vnd.openxmlformats-officedocument.presentationml.presentation", "pptx", "container"
)
ODT = Identity("fmt/291", "application/vnd.oasis.opendocument.text", "odt", "container")
RTF = Identity("fmt/50", "application/rtf", "rtf", "signature")
PDF = Identity("fmt/17", "application/pdf", "pdf", "signature")
HTML = Identity("fmt/471", "text/html", "html", "signature")
LETTER = "Søknad om dispensasjon frå reguleringsplanen for gnr. 12 bnr. 7 i Ås kommune, 3,5 m² og ﬁre vedlegg"
# what XML can hold, without the blanks that programs fold
_TEXT = st.text(st.sampled_from("abcæøåÆØÅ019 .,-§²ﬁ\u00adéß漢"), min_size=1, max_size=60)


def _words(folder: Path, content: bytes, identity: Identity) -> Counter[str] | None:
    path = folder / f"a.{identity.suffix}"
    path.write_bytes(content)
    return words_of(path, identity)


def _cut(text: str, places: list[int]) -> list[str]:
    edges = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[begin:end] for begin, end in itertools.pairwise(edges)]


def _rtf(text: str) -> str:
    return "".join(
        sign if sign.isascii() else f"\\u{ord(sign) if ord(sign) < 32768 else ord(sign) - 65536}?" for sign in text
    )


@settings(max_examples=80, deadline=None)
@given(text=_TEXT, places=st.lists(st.integers(0, 100), max_size=8))
def test_words_are_the_same_however_they_are_cut_into_runs(
    tmp_path_factory: pytest.TempPathFactory, text: str, places: list[int]
) -> None:
    folder = tmp_path_factory.getbasetemp()
    pieces, expected = _cut(text, places), Counter(tokens(text))
    runs = office.paragraph(*(office.run(piece, "<w:b/>" if len(piece) % 2 else "") for piece in pieces))
    spans = "".join(f"<text:span>{piece.replace(' ', '<text:s/>')}</text:span>" for piece in pieces)
    groups = "".join("{\\b " + _rtf(piece) + "}" for piece in pieces)
    page = "".join(f"<b>{piece}</b>" for piece in pieces)
    assert _words(folder, office.docx(runs), DOCX) == expected
    assert _words(folder, odf.odt(f"<text:p>{spans}</text:p>"), ODT) == expected
    assert _words(folder, b"{\\rtf1\\ansi " + groups.encode("ascii") + b"}", RTF) == expected
    assert _words(folder, f'<meta charset="utf-8"><p>{page}</p>'.encode(), HTML) == expected


_GONE = (
    office.deleted("borte"),
    office.moved_away("borte"),
    office.run("borte", "<w:vanish/>"),
    office.choice("synlig", "borte"),
    office.field("PAGE", "borte"),
    office.simple_field("NUMPAGES", "borte"),
)


@pytest.mark.parametrize("gone", _GONE)
def test_what_is_on_no_page_of_a_letter_is_not_among_its_words(tmp_path: Path, gone: str) -> None:
    found = _words(tmp_path, office.docx(office.paragraph("før", gone, "etter"), comment="borte"), DOCX)
    assert found is not None
    assert "borte" not in "".join(found)
    whole = "".join(found)
    assert "før" in whole
    assert "etter" in whole


def test_fields_keep_the_result_that_was_stored_and_what_was_put_in_stays(tmp_path: Path) -> None:
    content = office.docx(
        office.paragraph(office.field('DATE \\@ "d.M.yyyy"', "03.02.2019"), " ", office.inserted("innsatt")),
        office.table([["celle", "nabo"]]),
        header="topptekst",
        footer="bunntekst",
    )
    assert _words(tmp_path, content, DOCX) == Counter(
        ["03", "02", "2019", "innsatt", "celle", "nabo", "topptekst", "bunntekst"]
    )


def test_slides_have_their_notes_and_hidden_ones_count(tmp_path: Path) -> None:
    content = office.pptx(["første side", "skjult"], notes="husk dette", hidden=True)
    assert _words(tmp_path, content, PPTX) == Counter(["første", "side", "skjult", "husk", "dette"])


def test_hidden_sections_styles_and_deletions_of_opendocument_are_not_words(tmp_path: Path) -> None:
    hidden = "".join(
        f'<style:style style:name="{name}" style:family="{family}"><style:text-properties text:display="none"/>'
        "</style:style>"
        for name, family in (("T1", "text"), ("P1", "paragraph"))
    )
    deletion = "<text:deletion><text:p>borte</text:p></text:deletion>"
    content = odf.odt(
        '<text:p>før<text:span text:style-name="T1"> borte</text:span></text:p>',
        '<text:section text:name="s" text:display="none"><text:p>borte</text:p></text:section>',
        '<text:p text:style-name="P1">borte</text:p>',
        "<text:p>etter<office:annotation><text:p>borte</text:p></office:annotation></text:p>",
        "<text:p><text:page-number>9</text:page-number></text:p>",
        styles=hidden,
        changes=f'<text:tracked-changes><text:changed-region text:id="c">{deletion}</text:changed-region>'
        "</text:tracked-changes>",
    )
    assert _words(tmp_path, content, ODT) == Counter(["før", "etter"])


def test_hidden_text_of_rtf_ends_where_its_group_or_a_plain_run_begins(tmp_path: Path) -> None:
    content = b"{\\rtf1\\ansi\\ansicpg1252 f\\'f8r {\\v borte} synlig \\v borte\\plain etter{\\info{\\title borte}}}"
    assert _words(tmp_path, content, RTF) == Counter(["før", "synlig", "etter"])


def test_a_pdf_has_the_words_that_poppler_reads(tmp_path: Path) -> None:
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext is not installed")
    text = LETTER.replace("ﬁ", "fi") + "\nnabovarsel (B-1) på side to"
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf.pdf([text, "andre side"]))
    read = subprocess.run(["pdftotext", path, "-"], capture_output=True, check=True).stdout.decode()
    assert words_of(path, PDF) == Counter(tokens(read)) == Counter(tokens(text + " andre side"))


@pytest.mark.copies_tools
def test_words_are_those_that_libreoffice_writes_as_text(tmp_path: Path) -> None:
    program = shutil.which("soffice")
    if program is None:
        pytest.skip("soffice is not installed")
    table = office.table([["gnr.", "12/7"], ["areal", "3,5 m²"]])
    runs = office.paragraph(*(office.run(piece) for piece in _cut(LETTER, [3, 9, 10, 30, 51])))
    samples = {
        "brev.docx": (office.docx(runs, table, office.paragraph("a", office.choice("ny", "gammel"))), DOCX),
        "tekst.odt": (odf.odt(LETTER, "<text:p>delt<text:s/>av<text:tab/>mellomrom</text:p>"), ODT),
        "notat.rtf": (b"{\\rtf1\\ansi\\uc1 " + _rtf(LETTER).encode("ascii") + b"\\par siste}", RTF),
    }
    for name, (content, _) in samples.items():
        (tmp_path / name).write_bytes(content)
    command = [program, f"-env:UserInstallation=file://{tmp_path}/profile", "--headless", "--convert-to"]
    files = [str(tmp_path / name) for name in samples]
    subprocess.run(
        [*command, "txt:Text (encoded):UTF8", "--outdir", str(tmp_path / "ut"), *files], check=True, timeout=PATIENCE_S
    )
    for name, (_, identity) in samples.items():
        read = (tmp_path / "ut" / name).with_suffix(".txt").read_text("utf-8-sig")
        assert words_of(tmp_path / name, identity) == Counter(tokens(read)), name
