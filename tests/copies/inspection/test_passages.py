"""The passages that a person reads before a copy is accepted: each one, with who wrote it, in Word and OpenDocument."""

from __future__ import annotations

from pathlib import Path

import pytest

from noarkit.copies.inspection.passages import lists_passages, passages_of
from tests.copies.corpus import odf, office

HIDDEN = "<w:vanish/>"
KARI = ("Kari", "2026-01-02T10:00:00Z")


def passages(folder: Path, content: bytes) -> list[tuple[str, str, str, str]]:
    path = folder / "document"
    path.write_bytes(content)
    return [(passage.kind, passage.text, passage.author, passage.at) for passage in passages_of(path)]


def test_every_change_and_hidden_text_of_word_is_listed_in_its_order(tmp_path: Path) -> None:
    row = '<w:tbl><w:tr><w:trPr><w:del w:id="9" w:author="Ola"/></w:trPr><w:tc><w:p/></w:tc></w:tr></w:tbl>'
    formatted = '<w:rPr><w:b/><w:rPrChange w:id="8" w:author="Kari"><w:rPr/></w:rPrChange></w:rPr>'
    document = office.docx(
        office.paragraph("Vedtak: ", office.deleted("avslag"), office.inserted("innvilget")),
        office.paragraph(office.moved_away("flyttet")),
        office.paragraph(office.run("synlig"), office.run("skjult ", HIDDEN), office.run("notat", HIDDEN)),
        f"<w:p><w:r>{formatted}<w:t>fet</w:t></w:r></w:p>",
        row,
    )
    assert passages(tmp_path, document) == [
        ("deleted", "avslag", *KARI),
        ("inserted", "innvilget", *KARI),
        ("moved-from", "flyttet", *KARI),
        ("hidden", "skjult notat", "", ""),
        ("formatted", "fet", "Kari", ""),
        ("deleted", "", "Ola", ""),
    ]


def test_a_change_within_a_box_of_text_is_listed_once(tmp_path: Path) -> None:
    box = f"<w:r><w:txbxContent>{office.paragraph(office.inserted('i boksen'))}</w:txbxContent></w:r>"
    assert passages(tmp_path, office.docx(office.paragraph("ute", box))) == [("inserted", "i boksen", *KARI)]


def test_deleted_text_of_opendocument_comes_from_the_list_and_inserted_text_from_the_body(tmp_path: Path) -> None:
    info = (
        "<office:change-info><dc:creator>Kari</dc:creator><dc:date>2026-01-02T10:00:00</dc:date></office:change-info>"
    ).replace("<office:change-info>", '<office:change-info xmlns:dc="http://purl.org/dc/elements/1.1/">')
    changes = (
        f'<text:tracked-changes><text:changed-region text:id="c1"><text:deletion>{info}<text:p>avslag</text:p>'
        '</text:deletion></text:changed-region><text:changed-region text:id="c2">'
        f"<text:insertion>{info}</text:insertion>"
        "</text:changed-region></text:tracked-changes>"
    )
    body = (
        '<text:p>Vedtak: <text:change text:change-id="c1"/><text:change-start text:change-id="c2"/>inn<text:span>vilget'
        '</text:span></text:p><text:p>helt<text:change-end text:change-id="c2"/> ferdig</text:p>'
        '<text:p><text:hidden-text text:condition="x" text:string-value="skjult" text:is-hidden="true"/></text:p>'
    )
    assert passages(tmp_path, odf.odt(body, changes=changes)) == [
        ("hidden", "skjult", "", ""),
        ("deleted", "avslag", "Kari", "2026-01-02T10:00:00"),
        ("inserted", "inn vilget helt", "Kari", "2026-01-02T10:00:00"),
    ]


def test_hidden_slides_sheets_and_notes_are_listed(tmp_path: Path) -> None:
    slides = passages(tmp_path, office.pptx(["Åpent", "Skjult"], notes="Si ikke dette", hidden=True))
    assert ("notes", "Si ikke dette", "", "") in slides
    assert [kind for kind, *_ in slides].count("slide") == 1


@pytest.mark.parametrize(("content", "is_listed"), [(office.docx("x"), True), (b"{\\rtf1 x}", False), (b"", False)])
def test_a_format_that_cannot_be_listed_says_so(tmp_path: Path, content: bytes, is_listed: bool) -> None:
    (tmp_path / "document").write_bytes(content)
    assert lists_passages(tmp_path / "document") == is_listed


def test_what_is_damaged_ends_and_raises_nothing(tmp_path: Path) -> None:
    whole = office.docx(office.paragraph(office.inserted("inn")))
    assert passages(tmp_path, whole[: len(whole) // 2]) == []
