"""A document says the same to whoever asks: each row of the table of what once differed, through every door."""

from __future__ import annotations

import io
import os
import zipfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from noarkit.catalogue.text.decoding import parts_of
from noarkit.copies.converters.fonts_asked import fonts_asked
from noarkit.copies.converters.freezing import freeze_fields
from noarkit.documents.office_type import office_type
from tests.copies.corpus import office
from tests.copies.corpus.zips import pack
from tests.documents.readings import TYPES, Doors


def layers_in(doors: Doors) -> list[tuple[str, str]]:
    """What a search finds of a document, part by part, with the layer that a hit tells."""
    return [(layer, text.strip()) for layer, text in parts_of(doors.search, doors.found.stretches) if text.strip()]


def rewritten(content: bytes, replacements: Mapping[bytes, bytes]) -> bytes:
    """A zipped document with some bytes of its members replaced by others."""
    members: dict[str, str | bytes] = {}
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        for name in package.namelist():
            member = package.read(name)
            for old, new in replacements.items():
                member = member.replace(old, new)
            members[name] = member
    return pack(members)


_USUAL, _STRICT = b"http://schemas.openxmlformats.org/", b"http://purl.oclc.org/ooxml/"
STRICT = {
    _USUAL + b"%s/2006/%s" % (space, last): _STRICT + b"%s/%s" % (space, last)
    for space, last in (
        *((b"wordprocessingml", b"main"), (b"spreadsheetml", b"main"), (b"presentationml", b"main")),
        *((b"drawingml", b"main"), (b"officeDocument", b"relationships")),
    )
}
"""The names that the strict form has instead of the usual ones."""
WEB = {
    "docx": ("word/document.xml", "word/document2.xml"),
    "xlsx": ("xl/workbook.xml", "xl/book.xml"),
    "pptx": ("ppt/presentation.xml", "ppt/show.xml"),
}
"""The usual name of the main part, and one that only the relationships of the package tell."""


def _changed_letter() -> bytes:
    letter = office.docx(
        office.paragraph("Vedtak ", office.deleted("avslag"), office.inserted("innvilget")),
        office.paragraph(office.run("hemmelig", "<w:vanish/>")),
        header="topptekst",
        comment="merknad",
    )
    return office.renamed(letter, *WEB["docx"])


def test_a_letter_whose_main_part_has_another_name_is_read_by_every_door(tmp_path: Path) -> None:
    doors = Doors(tmp_path, _changed_letter(), "docx")
    for text in (doors.search, doors.server, doors.view):
        assert "innvilget" in text
    assert doors.words is not None
    assert doors.words["innvilget"] == 1
    assert doors.words["topptekst"] == 1


def test_changes_comments_and_hidden_text_are_found_whatever_the_main_part_is_called(tmp_path: Path) -> None:
    doors = Doors(tmp_path, _changed_letter(), "docx")
    assert doors.findings == {"tracked-changes", "comments", "hidden-text"}
    assert doors.findings <= doors.notes
    assert ("deleted", "avslag") in doors.passages
    assert ("comment", "merknad") in doors.passages
    assert ("hidden", "hemmelig") in doors.passages


@pytest.mark.parametrize(
    ("ending", "content"),
    [("xlsx", office.xlsx([["Blåbær"]], hidden_sheet="Tyttebær")), ("pptx", office.pptx(["Blåbær"], notes="Tyttebær"))],
)
def test_a_workbook_and_a_presentation_too(ending: str, content: bytes, tmp_path: Path) -> None:
    doors = Doors(tmp_path, office.renamed(content, *WEB[ending]), ending)
    for text in (doors.search, doors.server, doors.view):
        assert "Blåbær" in text
    assert doors.findings == Doors(tmp_path, content, ending).findings
    assert doors.passages == Doors(tmp_path, content, ending).passages != []
    assert doors.words == Doors(tmp_path, content, ending).words


@pytest.mark.parametrize("ending", WEB)
def test_a_scan_and_a_place_know_its_type(ending: str, tmp_path: Path) -> None:
    made = {"docx": office.docx("x"), "xlsx": office.xlsx([["x"]]), "pptx": office.pptx(["x"])}[ending]
    path = tmp_path / "a"
    path.write_bytes(office.renamed(made, *WEB[ending]))
    descriptor = os.open(path, os.O_RDONLY)
    try:
        assert office_type(descriptor, path.stat().st_size, path.read_bytes()[:4096]) == TYPES[ending]
    finally:
        os.close(descriptor)


def test_its_fields_are_frozen_and_its_fonts_are_asked_for(tmp_path: Path) -> None:
    letter = office.docx(
        office.paragraph(
            office.field("DATE", "1.1.2020"), office.run("x", '<w:rFonts w:ascii="Gill Sans" w:hAnsi="Gill Sans"/>')
        )
    )
    path = tmp_path / "a.docx"
    path.write_bytes(office.renamed(letter, "word/document.xml", "word/brev.xml"))
    assert freeze_fields(path, tmp_path / "frozen.docx").frozen == 1
    assert fonts_asked(path) == {"Gill Sans"}


def test_the_main_part_is_the_one_that_the_package_names_not_one_that_is_called_so(tmp_path: Path) -> None:
    decoy = '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body/></w:document>'
    letter = office.docx("Ekte", office.paragraph(office.deleted("gammel")), extra={"word/a.xml": decoy})
    apart = office.renamed(letter, "word/document.xml", "word/b.xml")
    swapped = office.renamed(apart, "word/a.xml", "word/document.xml")
    doors = Doors(tmp_path, swapped, "docx")
    for text in (doors.search, doors.server, doors.view):
        assert "Ekte" in text
    assert doors.findings == {"tracked-changes"}


def test_deleted_and_moved_text_is_found_as_such_and_shown_only_on_request(tmp_path: Path) -> None:
    letter = office.docx(
        office.paragraph("Vedtak: Blå", office.deleted("bær"), office.moved_away(" flyttet"), " slutt")
    )
    doors = Doors(tmp_path, letter, "docx")
    assert layers_in(doors) == [("body", "Vedtak: Blå slutt"), ("deleted", "Blåbær flyttet")]
    assert "Blåbær" in doors.server
    assert doors.view == "Vedtak: Blå slutt"
    assert "Vedtak: Blåbær flyttet slutt" in doors.shown("all")
    assert doors.words == Counter(["vedtak", "blå", "slutt"])


def test_a_word_that_was_replaced_stands_by_itself_among_the_deleted(tmp_path: Path) -> None:
    letter = office.docx(office.paragraph("Vedtak: ", office.inserted("innvilget"), office.deleted("avslått")))
    assert layers_in(Doors(tmp_path, letter, "docx")) == [("body", "Vedtak: innvilget"), ("deleted", "avslått")]


def test_a_hidden_run_is_found_as_such_and_not_shown_as_plain_text(tmp_path: Path) -> None:
    letter = office.docx(office.paragraph("Synlig ", office.run("hemmelig", "<w:vanish/>")))
    doors = Doors(tmp_path, letter, "docx")
    assert layers_in(doors) == [("body", "Synlig"), ("hidden", "hemmelig")]
    assert "hemmelig" in doors.server
    assert doors.view.strip() == "Synlig"
    assert "hemmelig" in doors.shown("all")
    assert doors.words == Counter(["synlig"])


def test_text_for_older_programs_is_found_once_and_kept_for_who_looks_for_persons(tmp_path: Path) -> None:
    doors = Doors(tmp_path, office.docx(office.paragraph(office.choice("boks", "boks Kari"))), "docx")
    assert doors.found.searched == "boks"
    assert layers_in(doors) == [("body", "boks")]
    assert "Kari" in doors.search
    assert doors.server.split() == doors.view.split() == ["boks"]
    assert doors.words == Counter(["boks"])


def test_a_header_is_shown_where_a_page_shows_it(tmp_path: Path) -> None:
    w = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    first = f"<w:hdr {w}>{office.paragraph('forsidetekst')}</w:hdr>"
    letter = office.docx(
        "Brev", header="topptekst", footer="bunntekst",
        relations=[("rfirst", "header", "header2.xml", False)], extra={"word/header2.xml": first},
    )  # fmt: skip
    doors = Doors(tmp_path, letter, "docx")
    assert layers_in(doors) == [("body", "Brev"), ("hidden", "forsidetekst"), ("header", "topptekst\nbunntekst")]
    assert doors.server.split() == ["Brev", "forsidetekst", "topptekst", "bunntekst"]
    assert doors.view.split() == ["Brev", "topptekst", "bunntekst"]
    assert "forsidetekst" in doors.shown("all")
    assert doors.words == Counter(["brev", "topptekst", "bunntekst"])


def test_a_comment_is_found_as_such_and_shown_on_request(tmp_path: Path) -> None:
    doors = Doors(tmp_path, office.docx("Brev", comment="merknad"), "docx")
    assert layers_in(doors) == [("body", "Brev"), ("comment", "merknad")]
    assert "merknad" in doors.server
    assert doors.view == "Brev"
    assert doors.ways == ("all",)
    assert "merknad" in doors.shown("all")
    assert doors.words == Counter(["brev"])


def test_a_hyphen_that_does_not_break_is_a_hyphen(tmp_path: Path) -> None:
    run = "<w:r><w:t>Tel</w:t><w:noBreakHyphen/><w:t>nr</w:t></w:r>"
    doors = Doors(tmp_path, office.docx(office.paragraph(run)), "docx")
    assert doors.search == doors.server.strip() == doors.view == "Tel-nr"
    assert doors.words == Counter(["tel", "nr"])


def test_a_number_of_pages_is_shown_in_its_sentence_and_is_no_word_of_a_copy(tmp_path: Path) -> None:
    numbered = office.paragraph("Side ", office.field("PAGE", "3"), " av ", office.simple_field("NUMPAGES", "7"))
    doors = Doors(tmp_path, office.docx(numbered, footer=office.paragraph(office.field("PAGE", "3"))), "docx")
    assert doors.view == "Side 3 av 7"
    assert doors.search.splitlines()[0] == "Side 3 av 7"
    assert doors.words == Counter(["side", "av"])


def test_a_document_in_the_strict_form_is_read_as_any_other(tmp_path: Path) -> None:
    letter = office.docx(office.paragraph("Strengt ", office.deleted("slettet")), header="topptekst")
    doors = Doors(tmp_path, rewritten(letter, STRICT), "docx")
    assert layers_in(doors) == [("body", "Strengt"), ("deleted", "slettet"), ("header", "topptekst")]
    assert doors.view.split() == ["Strengt", "topptekst"]
    assert doors.words == Counter(["strengt", "topptekst"])
    assert doors.findings == {"tracked-changes"}
    assert doors.passages == [("deleted", "slettet")]


@pytest.mark.parametrize(
    ("ending", "content"),
    [("xlsx", office.xlsx([["Blåbær"]], hidden_sheet="Tyttebær")), ("pptx", office.pptx(["Blåbær"], notes="Tyttebær"))],
)
def test_a_workbook_and_a_presentation_in_the_strict_form_too(ending: str, content: bytes, tmp_path: Path) -> None:
    doors, usual = (Doors(tmp_path, each, ending) for each in (rewritten(content, STRICT), content))
    assert "Blåbær" in doors.view
    assert (doors.search, doors.server, doors.view) == (usual.search, usual.server, usual.view)
    assert (doors.words, doors.findings, doors.passages) == (usual.words, usual.findings, usual.passages)
