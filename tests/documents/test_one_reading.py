"""A document says the same to whoever asks: each row of the table of what once differed, through every door."""

from __future__ import annotations

import io
import os
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path

import pytest

from noarkit.catalogue.text.decoding import parts_of
from noarkit.cli.help import code_lists
from noarkit.copies.converters.fonts_asked import fonts_asked
from noarkit.copies.converters.freezing import freeze_fields
from noarkit.documents.layers import LAYERS
from noarkit.documents.office_type import office_type
from noarkit.documents.opendocument import opendocument_spans
from noarkit.documents.zipped import open_package
from noarkit.manual.chapters import read_chapter
from noarkit.manual.markdown import Table
from noarkit.words.texts import texts
from samples.files.outlook import message
from tests.copies.corpus import binary, odf, office
from tests.copies.corpus.zips import pack
from tests.documents.readings import TYPES, Doors


def layers_in(doors: Doors) -> list[tuple[str, str]]:
    """What a search finds of a document, part by part, with the layer that a hit tells."""
    parts = parts_of(doors.search, doors.search_result.stretches)
    return [(layer, text.strip()) for layer, text in parts if text.strip()]


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
    assert doors.notes_in("") >= {"tracked-changes", "comments", "hidden-text-unseen"}
    assert doors.notes_in("all") >= {"tracked-changes-shown", "comments-shown", "hidden-text"}
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
    assert doors.search_result.searched == "boks"
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


@pytest.mark.parametrize("in_result", [False, True])
def test_a_date_within_a_condition_is_shown_once(in_result: bool, tmp_path: Path) -> None:
    doors = Doors(tmp_path, office.docx(office.paragraph(office.field_within("3. mars", in_result=in_result))), "docx")
    assert doors.view == "3. mars"
    assert ("body", "3. mars") in layers_in(doors)
    assert doors.words == Counter(["3", "mars"])


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


def test_a_word_with_a_part_in_bold_is_one_word(tmp_path: Path) -> None:
    doors = Doors(tmp_path, b"<html><body><p>bo<b>ld</b> og <i>kur</i>siv</p></body></html>", "html")
    for text in (doors.search, doors.server, doors.view):
        assert text.split() == ["bold", "og", "kursiv"]
    assert doors.words == Counter(["bold", "og", "kursiv"])


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp865", "Blåbær på Ås, søknad om løyve"),
        ("mac_roman", "Blåbær på Ås, søknad om løyve"),
        ("cp1252", "Blåbær på Ås – «søknad» om løyve"),
        ("iso8859_10", "Sámi čállin: áššebáhpárat, guolásteapmi ja boazodoallu Kárášjogas"),
        ("utf-16-le", "Blåbær på Ås"),
        ("utf-16-be", "Blåbær på Ås"),
        ("utf-16", "Blåbær på Ås"),
        ("utf-8-sig", "Blåbær på Ås"),
    ],
)
@pytest.mark.parametrize("stated", ["text/plain", "application/octet-stream"])
def test_a_text_is_found_and_shown_in_whatever_encoding_it_is(
    encoding: str, text: str, stated: str, tmp_path: Path
) -> None:
    doors = Doors(tmp_path, f"{text}\n".encode(encoding), "txt", stated)
    assert doors.search == doors.server.strip() == doors.view == text


def _mail(*, is_attachment_plain: bool = False) -> bytes:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "Kari <kari@a.example>", "ola@b.example", "Blåbær"
    message["Date"] = "Wed, 01 May 2024 23:30:00 +0100"
    message.set_content("Enkel utgave av brevet")
    message.add_alternative("<p>Formatert utg<b>ave</b> av brevet</p>", subtype="html")
    if is_attachment_plain:
        message.add_attachment("Vedlagt notat", filename="notat.txt")
    return message.as_bytes()


def test_of_a_mail_with_two_bodies_the_one_in_html_is_the_body_and_the_other_is_told(tmp_path: Path) -> None:
    doors = Doors(tmp_path, _mail(), "eml")
    layers = dict(layers_in(doors))
    assert "Formatert utgave av brevet" in layers["body"]
    assert layers["alternative"] == "Enkel utgave av brevet"
    assert "Formatert utgave" in doors.server
    assert "Enkel utgave" in doors.server
    assert doors.view == "Formatert utgave av brevet"
    assert doors.shown("plain") == "Enkel utgave av brevet"
    assert doors.words is not None
    assert doors.words["formatert"] == 1
    assert doors.words["enkel"] == 1  # a copy shows both, for they do not say the same


def test_text_that_is_no_alternative_is_shown_beside_what_is_in_html(tmp_path: Path) -> None:
    boundary = "Content-Type: multipart/mixed; boundary=x\r\n\r\n"
    plain = "--x\r\nContent-Type: text/plain\r\n\r\nAvtalt pris\r\n"
    markup = "--x\r\nContent-Type: text/html\r\n\r\n<p>Reklame</p>\r\n"
    content = f"From: a@b.example\r\nTo: c@d.example\r\nSubject: s\r\n{boundary}{plain}{markup}--x--\r\n".encode()
    doors = Doors(tmp_path, content, "eml")
    assert doors.view.split() == ["Avtalt", "pris", "Reklame"]
    assert "Avtalt pris" in doors.search
    assert [layer for layer, _ in layers_in(doors)] == ["body"]


def test_a_mail_was_sent_at_one_time_in_the_zone_that_it_states(tmp_path: Path) -> None:
    doors = Doors(tmp_path, _mail(), "eml")
    sent = "2024-05-01 23:30 +01:00"
    assert doors.search.startswith(sent)
    assert doors.server.startswith(sent)
    assert doors.headers["date"] == sent
    assert doors.words is not None
    assert doors.words["23"] == doors.words["30"] == 1
    assert doors.words["22"] == 0


def test_what_is_attached_to_a_mail_is_found_and_the_server_names_it(tmp_path: Path) -> None:
    doors = Doors(tmp_path, _mail(is_attachment_plain=True), "eml")
    assert "Vedlagt notat" in doors.search
    assert "notat.txt" in doors.search
    assert "notat.txt" in doors.server


@pytest.mark.parametrize("ending", ["rtf", "msg"])
def test_the_server_reads_what_search_reads(ending: str, tmp_path: Path) -> None:
    sent = datetime(2026, 1, 2, 10, tzinfo=UTC)
    made = {
        "rtf": rb"{\rtf1\ansi\ansicpg1252 Bl\'e5b\'e6r {\v hemmelig} slutt\par}",
        "msg": message("Tilbud", ("Kari", "kari@a.example"), (), sent, "Blåbær slutt", ()),
    }[ending]
    doors = Doors(tmp_path, made, ending)
    for text in (doors.search, doors.server, doors.view):
        assert "Blåbær" in text
        assert "slutt" in text
        assert "hemmelig" not in text


@pytest.mark.parametrize("make", [binary.doc, binary.xls])
def test_documents_before_2007_have_no_text_at_any_door(make: Callable[[], bytes], tmp_path: Path) -> None:
    doors = Doors(tmp_path, make(), "doc", "application/msword")
    assert doors.search_result.reason == "unknown-format"
    assert doors.search == doors.server == doors.view == ""


def _workbook() -> bytes:
    styles = (
        '<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><cellXfs><xf numFmtId="0"/>'
        '<xf numFmtId="14"/></cellXfs></styleSheet>'
    )
    cells = '<row r="9"><c s="1"><v>45292</v></c><c><v>1234.5</v></c><c><f>A1+1</f><v>77</v></c></row>'
    return office.xlsx([["Dato", "Sum"]], cell=cells, hidden_sheet="Blåbær", extra={"xl/styles.xml": styles})


def test_dates_numbers_and_results_of_a_workbook_are_found_as_they_are_shown(tmp_path: Path) -> None:
    doors = Doors(tmp_path, _workbook(), "xlsx")
    assert doors.view.splitlines()[-1] == "2024-01-01 | 1234.5 | 77"
    for text in (doors.search, doors.server):
        for word in ("2024-01-01", "1234.5", "77", "Dato", "Blåbær"):
            assert word in text.split()
        assert "45292" not in text


def test_a_word_on_any_sheet_is_on_the_page_of_that_sheet(tmp_path: Path) -> None:
    doors = Doors(tmp_path, _workbook(), "xlsx")
    assert "Blåbær" in doors.shown("", sheet=2)
    assert "Skjult" in doors.search  # the name of the sheet, which the page shows


def test_slides_are_found_in_the_order_in_which_they_are_shown_and_notes_as_such(tmp_path: Path) -> None:
    shown = rewritten(
        office.pptx(["først i filen", "først på lerretet"], notes="husk dette"),
        {b'r:id="r1"/>': b'r:id="rx"/>', b'r:id="r2"/>': b'r:id="r1"/>', b'r:id="rx"/>': b'r:id="r2"/>'},
    )
    doors = Doors(tmp_path, shown, "pptx")
    assert layers_in(doors) == [("body", "først på lerretet\nførst i filen"), ("note", "husk dette")]
    assert doors.view.index("lerretet") < doors.view.index("filen") < doors.view.index("husk")
    assert doors.server.index("lerretet") < doors.server.index("filen") < doors.server.index("husk")


_DC = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'
_WHO = f"<dc:creator {_DC}>Kari</dc:creator><dc:date {_DC}>2026-01-02T10:00:00</dc:date>"


def _open_text() -> bytes:
    info = f"<office:change-info>{_WHO}</office:change-info>"
    deletion = f"<text:deletion>{info}<text:p>slettet</text:p></text:deletion>"
    hidden = (
        '<style:style style:name="T1" style:family="text"><style:text-properties text:display="none"/></style:style>'
    )
    body = "<text:note-body><text:p>fotnote</text:p></text:note-body>"
    note = f"<text:note><text:note-citation>1</text:note-citation>{body}</text:note>"
    return odf.odt(
        f"<text:p>Brev<office:annotation>{_WHO}<text:p>merknad</text:p></office:annotation> til Ola</text:p>",
        '<text:p>synlig<text:span text:style-name="T1"> hemmelig</text:span></text:p>',
        f"<text:p>med note{note}</text:p>",
        "<text:p>Side <text:page-number>3</text:page-number></text:p>",
        styles=hidden,
        changes=f'<text:tracked-changes><text:changed-region text:id="c">{deletion}</text:changed-region>'
        "</text:tracked-changes>",
    )


def test_a_text_of_opendocument_is_read_in_layers_too(tmp_path: Path) -> None:
    doors = Doors(tmp_path, _open_text(), "odt")
    layers: dict[str, list[str]] = {}
    for layer, text in layers_in(doors):
        layers.setdefault(layer, []).extend(text.split())
    assert layers == {
        "deleted": ["slettet"],
        "body": ["Brev", "til", "Ola", "synlig", "med", "note1", "Side", "3"],
        "comment": ["merknad"],
        "hidden": ["hemmelig"],
        "note": ["fotnote"],
    }
    assert set(doors.server.split()) == {word for words in layers.values() for word in words}
    assert doors.view.split() == ["Brev", "til", "Ola", "synlig", "med", "note1", "fotnote", "Side", "3"]
    assert {"slettet", "merknad", "hemmelig"} <= set(doors.shown("all").split())
    assert doors.words == Counter(["brev", "til", "ola", "synlig", "med", "note1", "fotnote", "side"])


def test_deleted_text_and_comments_of_opendocument_tell_whose_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a.odt"
    path.write_bytes(_open_text())
    with open_package(path) as package:
        authors = {span.layer: (span.author, span.at) for span in opendocument_spans(package) if span.author}
    assert authors == dict.fromkeys(("deleted", "comment"), ("Kari", "2026-01-02T10:00:00"))


def test_the_header_of_the_first_page_of_opendocument_is_shown_and_that_of_another_is_told_as_hidden(
    tmp_path: Path,
) -> None:
    ns = "urn:oasis:names:tc:opendocument:xmlns:"
    masters = "".join(
        f'<style:master-page style:name="{name}"><style:header><text:p>{text}</text:p></style:header>'
        "</style:master-page>"
        for name, text in (("Standard", "topptekst"), ("Annen", "ubrukt"))
    )
    styles = (
        f'<office:document-styles xmlns:office="{ns}office:1.0" xmlns:style="{ns}style:1.0" xmlns:text="{ns}text:1.0">'
        f"<office:master-styles>{masters}</office:master-styles></office:document-styles>"
    )
    doors = Doors(tmp_path, odf.odt("Brev", **{"styles.xml": styles}), "odt")
    assert layers_in(doors) == [("body", "Brev"), ("header", "topptekst"), ("hidden", "ubrukt")]
    assert doors.view.split() == ["Brev", "topptekst"]
    assert doors.words == Counter(["brev", "topptekst"])


@pytest.mark.parametrize("lang", ["en", "nb"])
def test_the_table_of_layers_in_the_manual_is_the_one_in_the_code(lang: str) -> None:
    words = texts(lang)
    table = code_lists(words)["layers"]
    assert table in read_chapter("browsing", lang, code_lists(words))
    assert isinstance(table, Table)
    by_name = {row[0][0].text: [cell[0].text for cell in row[1:]] for row in table.rows}
    yes, no, on_request = (words.say(f"layer.{key}") for key in ("yes", "no", "on-request"))
    told = {layer: by_name[words.say(f"layer.name.{layer}")] for layer in LAYERS}
    assert told == {
        "body": [yes, yes, yes, yes],
        "header": [yes, yes, yes, yes],
        "note": [yes, yes, yes, yes],
        "comment": [yes, on_request, no, yes],
        "deleted": [yes, on_request, no, yes],
        "hidden": [yes, on_request, no, yes],
        "fallback": [no, no, no, yes],
        "alternative": [yes, on_request, no, yes],
        "field": [yes, yes, no, yes],
    }
