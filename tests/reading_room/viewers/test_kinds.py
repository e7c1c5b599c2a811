"""Each kind of document as people read it: its words in order, its tables, its pages, and what is told of it."""

from __future__ import annotations

import io
import json
import mailbox
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path

import pypdfium2
import pytest
from PIL import Image, ImageChops

from noarkit.errors import ItemVanished
from noarkit.reading_room.viewers.content import ContentRequest, Tickets, content_response
from noarkit.reading_room.viewers.port import (
    DocumentSource,
    Letter,
    Lines,
    Members,
    Pictures,
    Prose,
    Sheet,
    View,
    ViewRequest,
    Way,
)
from noarkit.reading_room.viewers.signs import text_of
from noarkit.reading_room.viewers.viewer import Viewer
from noarkit.reading_room.viewers.workroom import WorkroomLimits
from samples.files.outlook import message
from tests.copies.corpus import binary, odf, office
from tests.copies.corpus.images import encoded, frames, wav
from tests.copies.corpus.mail import mail
from tests.copies.corpus.pdf import pdf, with_script
from tests.reading_room.town import LETTER
from tests.reading_room.viewers.rooms import codes_of, source_of, text_of_page

ASKED = ContentRequest("", "http://127.0.0.1:1")
NORWEGIAN = "Blåbærsyltetøy på kjøkkenet i Østfold. Ærlig talt, Åse."


def bytes_of(viewer: Viewer, token: str) -> bytes:
    """What the content origin gives for a token."""
    return content_response(viewer.tickets, token, ASKED).body()


def lines_in(view: View) -> list[str]:
    """The lines of a text."""
    assert isinstance(view.body, Lines)
    return [text_of(line) for line in view.body.lines]


def rows_in(view: View) -> list[tuple[int, list[str]]]:
    """The rows of a sheet with their numbers."""
    assert isinstance(view.body, Sheet)
    return [(row.number, [text_of(cell.text) for cell in row.cells]) for row in view.body.rows]


def blocks_in(view: View) -> list[tuple[str, int, str]]:
    """The blocks of a text."""
    assert isinstance(view.body, Prose)
    return [(block.role, block.level, text_of(block.text)) for block in view.body.blocks]


@pytest.mark.parametrize(
    ("encoding", "told"),
    [
        ("utf-8", []),
        ("utf-8-sig", ["encoding"]),
        ("utf-16", ["encoding"]),
        ("utf-16-le", ["encoding-guessed"]),
        ("cp1252", ["encoding-guessed"]),
        ("cp865", ["encoding-guessed"]),
        ("mac_roman", ["encoding-guessed"]),
    ],
)
def test_a_text_is_read_in_its_encoding(encoding: str, told: list[str], viewer: Viewer) -> None:
    view = viewer.view(source_of((NORWEGIAN + "\r\n\r\n" + NORWEGIAN).encode(encoding), "brev.txt"))
    assert lines_in(view) == [NORWEGIAN, "", NORWEGIAN]
    assert codes_of(view) == told


def test_a_table_as_text_is_a_sheet_and_its_source_can_be_seen(viewer: Viewer) -> None:
    source = source_of('navn;tekst\nKari;"en; to\nlinjer"\nOla;=1+2\n'.encode("cp1252"), "t.csv")
    view = viewer.view(source)
    assert rows_in(view) == [(1, ["navn", "tekst"]), (2, ["Kari", "en; to\nlinjer"]), (3, ["Ola", "=1+2"])]
    assert view.ways == ("source",)
    assert lines_in(viewer.view(source, ViewRequest(way="source")))[1] == 'Kari;"en; to'


def test_a_workbook_shows_values_formulas_and_every_sheet(viewer: Viewer) -> None:
    source = source_of(office.xlsx([["a", "=1+0"], ["b", "2"]], hidden_sheet="skjult"), "t.xlsx")
    view = viewer.view(source)
    assert isinstance(view.body, Sheet)
    assert view.body.rows[0].cells[0].formula == ()
    assert text_of(view.body.rows[0].cells[1].formula) == "1+0"
    assert rows_in(view)[0] == (1, ["a", "1"])
    assert len(view.body.names) == 2
    assert "hidden-sheets" in codes_of(view)
    assert "skjult" in text_of_page(viewer.view(source, ViewRequest(sheet=2)))
    assert codes_of(viewer.view(source, ViewRequest(sheet=3))) == ["no-such-sheet"]


def test_a_spreadsheet_of_opendocument_is_a_sheet(viewer: Viewer) -> None:
    view = viewer.view(source_of(odf.ods([["a", "b"], ["c", "d"]]), "t.ods"))
    assert rows_in(view) == [(1, ["a", "b"]), (2, ["c", "d"])]


def test_rows_come_in_pages(viewer: Viewer) -> None:
    source = source_of(office.xlsx([[str(number)] for number in range(450)]), "t.xlsx")
    pages = [viewer.view(source, ViewRequest(page=page)) for page in (1, 2, 3)]
    assert [(len(rows_in(view)), rows_in(view)[0][0], view.more) for view in pages] == [
        (200, 1, True),
        (200, 201, True),
        (50, 401, False),
    ]


def test_a_word_document_is_read_in_its_order(viewer: Viewer) -> None:
    content = office.docx(
        "Innledning",
        office.paragraph(office.run("Vedtaket "), office.deleted("gamle "), office.inserted("nye ")),
        office.table([["Rom", "Areal"], ["Bod", "15"]]),
        "Slutt",
        comment="hemmelig",
    )
    view = viewer.view(source_of(content, "b.docx"))
    assert blocks_in(view) == [
        ("paragraph", 0, "Innledning"),
        ("paragraph", 0, "Vedtaket nye "),
        ("table", 0, ""),
        ("paragraph", 0, "Slutt"),
    ]
    assert isinstance(view.body, Prose)
    assert [[text_of(cell) for cell in row] for row in view.body.blocks[2].rows] == [["Rom", "Areal"], ["Bod", "15"]]
    assert {"tracked-changes", "comments"} <= set(codes_of(view))


def test_presentations_are_read_slide_by_slide(viewer: Viewer) -> None:
    for name, content in (
        ("p.pptx", office.pptx(["Første", "Andre"], notes="husk dette")),
        ("p.odp", odf.odp(["Første", "Andre"], notes="husk dette")),
    ):
        view = viewer.view(source_of(content, name))
        told = [(role, text) for role, _, text in blocks_in(view)]
        assert told.index(("part", "1")) < [text for _, text in told].index("Første")
        assert told.index(("part", "2")) < [text for _, text in told].index("Andre")
        assert ("note", "husk dette") in told


def test_an_opendocument_text_and_rich_text_are_read(viewer: Viewer) -> None:
    heading = '<text:h text:outline-level="2">Vedtak</text:h>'
    assert blocks_in(viewer.view(source_of(odf.odt(heading, "Saken avsluttes."), "b.odt"))) == [
        ("heading", 2, "Vedtak"),
        ("paragraph", 0, "Saken avsluttes."),
    ]
    rich = rb"{\rtf1\ansi\ansicpg1252 Bl\'e5b\'e6r\par {\b to}\par}"
    assert [text for _, _, text in blocks_in(viewer.view(source_of(rich, "b.rtf")))] == ["Blåbær", "to"]


def test_a_web_page_is_read_without_its_markup(viewer: Viewer) -> None:
    page = (
        "<html><head><title>x</title><style>p{}</style></head><body><h2>Vedtak</h2><p>Se <a href='https://a.example/'>her"
        "</a>.</p><ul><li>en<ul><li>to</ul></ul><table><tr><th>a<td>b</table><script>x()</script></body></html>"
    )
    source = source_of(page.encode(), "s.html")
    assert blocks_in(viewer.view(source)) == [
        ("heading", 2, "Vedtak"),
        ("paragraph", 0, "Se her <https://a.example/>."),
        ("item", 1, "en"),
        ("item", 2, "to"),
        ("table", 0, ""),
    ]
    assert "<script>x()</script>" in lines_in(viewer.view(source, ViewRequest(way="source")))[0]


def test_json_is_set_out_and_keeps_its_order_and_numbers(viewer: Viewer) -> None:
    data = {"b": [1, 2.50, None], "a": {"navn": "Åse", "stor": 12345678901234567890}}
    view = viewer.view(source_of(json.dumps(data).encode(), "d.json"))
    assert lines_in(view) == json.dumps(data, indent=2, ensure_ascii=False).split("\n")


def test_a_mail_shows_headers_body_and_attachments_that_open(viewer: Viewer) -> None:
    attached = office.docx("Vedlagt vedtak")
    content = mail(
        "Søknad på Åsen", "Hei\n\nHilsen Kari", attachments=(("vedtak.docx", "application/msword", attached),)
    )
    source = source_of(content, "m.eml")
    view = viewer.view(source)
    assert isinstance(view.body, Letter)
    headers = {header.name: text_of(header.value) for header in view.body.headers}
    assert headers["subject"] == "Søknad på Åsen"
    assert headers["from"] == "Kari Nordmann <kari@kommune.example>"
    assert headers["date"] == "2026-01-02 10:00 +01:00"
    assert [text_of(line) for line in view.body.lines] == ["Hei", "", "Hilsen Kari"]
    part = viewer.view(source, ViewRequest(part=(1,)))
    assert (part.kind, text_of(part.name)) == ("writing", "vedtak.docx")
    assert blocks_in(part) == [("paragraph", 0, "Vedlagt vedtak")]
    assert bytes_of(viewer, part.download) == attached
    assert codes_of(viewer.view(source, ViewRequest(part=(2,)))) == ["no-such-part"]


def test_a_mail_in_html_is_shown_as_words_with_addresses(viewer: Viewer) -> None:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "a@b.example", "c@d.example", "x"
    message.set_content('<p>Se <a href="https://a.example/x">avtalen</a></p>', subtype="html")
    view = viewer.view(source_of(message.as_bytes(), "m.eml"))
    assert isinstance(view.body, Letter)
    assert [text_of(line) for line in view.body.lines] == ["Se avtalen <https://a.example/x>"]
    assert codes_of(view) == ["body-of-markup"]


def test_an_outlook_message_is_a_mail_like_any_other(viewer: Viewer) -> None:
    content = message(
        "Søknad på Åsen",
        ("Kari", "kari@a.example"),
        [("Ola", "ola@b.example", 1)],
        datetime(2026, 1, 2, 9, tzinfo=UTC),
        "Hei\r\nKari",
        [("vedtak.pdf", "application/pdf", pdf(["Vedtak"]))],
    )
    source = source_of(content, "m.msg")
    view = viewer.view(source)
    assert (view.kind, view.detected.format, view.ways) == ("mail", "msg", ())
    text = text_of_page(view)
    assert "Søknad på Åsen" in text
    assert "ola@b.example" in text
    assert viewer.view(source, ViewRequest(part=(1,))).kind == "pdf"


def test_office_files_from_before_2007_are_named_and_offered(viewer: Viewer) -> None:
    for name, content in (("doc", binary.doc()), ("xls", binary.xls())):
        view = viewer.view(source_of(content, f"x.{name}"))
        assert (view.kind, view.detected.format, codes_of(view)) == ("facts", name, [])


def test_mails_of_a_mailbox_and_files_of_archive_files_open_in_turn(viewer: Viewer, tmp_path: Path) -> None:
    box = mailbox.mbox(tmp_path / "box")
    box.add(mail("en", "første", number=1))
    box.add(mail("to", "andre", number=2))
    box.close()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.write(tmp_path / "box", "mappe/post.mbox")
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w:gz") as wrapper:
        entry = tarfile.TarInfo("alt.zip")
        entry.size = len(packed.getvalue())
        wrapper.addfile(entry, io.BytesIO(packed.getvalue()))
    source = source_of(tar.getvalue(), "alt.tar.gz")
    views = [viewer.view(source, ViewRequest(part=part)) for part in ((), (1,), (1, 1), (1, 1, 2))]
    assert [view.detected.format for view in views] == ["gzip", "zip", "mbox", "eml"]
    assert isinstance(views[2].body, Members)
    assert [text_of(member.name) for member in views[2].body.members] == [
        "Kari Nordmann <kari@kommune.example> — en",
        "Kari Nordmann <kari@kommune.example> — to",
    ]
    assert "andre" in text_of_page(views[3])


def test_a_plain_pdf_is_left_to_the_browser_and_its_pages_can_be_pictures(viewer: Viewer) -> None:
    content = pdf(["Vedtak om plan\nfor Nordby", "side to"])
    source = source_of(content, "v.pdf")
    view = viewer.view(source)
    assert (view.kind, view.ways) == ("pdf", ("pages",))
    assert bytes_of(viewer, view.raw) == content
    second = viewer.view(source, ViewRequest(page=2, way="pages"))
    assert (second.page, second.pages, second.more, second.raw) == (2, 2, False, "")
    drawn = Image.open(io.BytesIO(bytes_of(viewer, second.pictures[0].token)))
    with pypdfium2.PdfDocument(content) as document:
        expected = document[1].render(scale=110 / 72).to_pil().convert("RGB")
    assert ImageChops.difference(drawn, expected).getbbox() is None
    assert [text_of(line) for line in second.pictures[0].lines] == ["side to"]


def test_a_pdf_that_would_act_is_shown_as_pictures_whatever_is_asked(viewer: Viewer) -> None:
    source = source_of(pdf(["Vedtak"], with_script), "v.pdf")
    ways: tuple[Way, ...] = ("", "raw", "pages")
    for way in ways:
        view = viewer.view(source, ViewRequest(way=way))
        assert (view.raw, len(view.pictures)) == ("", 1)
        assert "pdf-scripts" in codes_of(view)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_pictures_that_browsers_draw_are_their_own_bytes(kind: str, viewer: Viewer) -> None:
    content = encoded(kind)
    view = viewer.view(source_of(content, "x"))
    assert bytes_of(viewer, view.raw) == content
    assert [dict(note.data) for note in view.notes if note.code == "size"] == [{"width": 60, "height": 60}]


@pytest.mark.parametrize("kind", ["TIFF", "BMP", "JPEG2000", "ICO"])
def test_other_pictures_are_drawn_anew_with_the_same_pixels(kind: str, viewer: Viewer) -> None:
    content = encoded(kind)
    view = viewer.view(source_of(content, "x"))
    drawn = Image.open(io.BytesIO(bytes_of(viewer, view.pictures[0].token)))
    original = Image.open(io.BytesIO(content)).convert("RGB")
    assert drawn.format == "PNG"
    assert ImageChops.difference(drawn.convert("RGB"), original).getbbox() is None


def test_frames_of_a_picture_are_its_pages(viewer: Viewer) -> None:
    source = source_of(frames("TIFF", 3), "x.tif")
    views = [viewer.view(source, ViewRequest(page=page)) for page in (1, 3, 4)]
    assert [(view.page, view.pages, view.more) for view in views[:2]] == [(1, 3, True), (3, 3, False)]
    assert isinstance(views[0].body, Pictures)
    assert codes_of(views[2]) == ["no-such-page"]


def test_sound_is_played_from_its_own_bytes(viewer: Viewer) -> None:
    content = wav()
    view = viewer.view(source_of(content, "x.wav", "audio/x-wav"))
    assert (view.kind, codes_of(view), bytes_of(viewer, view.raw) == content) == ("media", [], True)


@pytest.mark.parametrize(
    ("content", "name", "stated", "told"),
    [
        (encoded("PNG"), "x.pdf", "application/pdf", ["type-differs", "name-differs"]),
        (encoded("PNG"), "x.png", "image/png", []),
        (encoded("PNG"), "x", "application/octet-stream", []),
        (b"a;b\n1;2\n", "x.txt", "text/plain", []),
        (b"hei", "x.csv", "text/csv", ["name-differs"]),
        (b"<html><p>x</p></html>", "x.txt", "text/plain; charset=utf-8", ["type-differs", "name-differs"]),
        (b"", "x.docx", "application/pdf", []),
        *((LETTER, "x.pdf", stated, []) for stated in ("pdf", "PDF/A", "PDF/A-1b", "RA-PDF", "fmt/95", "fmt/18")),
        (LETTER, "x.pdf", "application/pdf; version=1.4", []),
        (LETTER, "x.pdf", "et format som ingen kjenner", []),
        (LETTER, "x.pdf", "TIFF", ["type-differs"]),
        (encoded("PNG"), "x", "fmt/95", ["type-differs"]),
        (encoded("JPEG2000"), "x", "JPEG 2000", []),
    ],
)
def test_what_others_say_of_a_document_is_compared_with_its_bytes(
    content: bytes, name: str, stated: str, told: list[str], viewer: Viewer
) -> None:
    assert [code for code in codes_of(viewer.view(source_of(content, name, stated))) if "differs" in code] == told


def test_what_cannot_be_shown_is_told_and_offered(viewer: Viewer) -> None:
    view = viewer.view(source_of(b"\x00\x01\x02" * 100, "x.bin"))
    assert (view.kind, view.detected.format, view.size_bytes) == ("facts", "unknown", 300)
    assert bytes_of(viewer, view.download) == b"\x00\x01\x02" * 100
    assert view.sha256 in text_of_page(view)


def test_pronom_names_a_format_that_is_not_shown_and_what_a_place_says_stands(viewer: Viewer) -> None:
    content = b"\x7fELF\x02\x01\x01" + bytes(200)
    assert viewer.view(source_of(content, "x.so")).puid.startswith("fmt/690 ")
    stated = replace(source_of(content, "y.so"), puid="fmt/9")
    assert viewer.view(stated).puid == "fmt/9"
    assert viewer.view(source_of(b"\x00\x01\x02" * 50, "z.bin")).puid == ""


def test_an_attachment_is_never_taken_for_a_document_that_is_called_alike(viewer: Viewer) -> None:
    content = mail("x", "y", attachments=(("a.txt", "text/plain", b"attached"),))
    outer = replace(source_of(content), key="post.eml")
    assert "attached" in text_of_page(viewer.view(outer, ViewRequest(part=(1,))))
    assert "another" in text_of_page(viewer.view(replace(source_of(b"another"), key="post.eml/1")))


def test_what_was_asked_before_is_not_read_again(viewer: Viewer) -> None:
    source = source_of(frames("TIFF", 2), "again.tif")
    first = viewer.view(source)
    place = viewer.room.lay_out(source)
    place.path.write_bytes(b"gone")
    second = viewer.view(source)
    assert (second.body, second.pages) == (first.body, first.pages)
    assert bytes_of(viewer, second.pictures[0].token) == bytes_of(viewer, first.pictures[0].token)
    assert codes_of(viewer.view(source, ViewRequest(page=2))) != codes_of(first)


def test_the_document_that_was_not_looked_at_for_longest_makes_room() -> None:
    with Viewer(Tickets(), limits=WorkroomLimits(documents=2)) as viewer:
        sources = [source_of(f"text {number}".encode()) for number in range(3)]
        views = [viewer.view(source) for source in sources]
        gone, here = (content_response(viewer.tickets, view.download, ASKED) for view in (views[0], views[2]))
        assert (gone.status, here.body()) == (404, b"text 2")
        assert viewer.view(sources[0]).kind == "text"
    assert content_response(viewer.tickets, views[2].download, ASKED).status == 404


def test_a_document_that_is_gone_is_a_fault_and_leaves_nothing_half(viewer: Viewer) -> None:
    class Gone:
        def read(self, size: int = -1, /) -> bytes:
            raise ItemVanished(where="x")

        def still_the_same(self) -> bool:
            return False

    @contextmanager
    def opened() -> Iterator[Gone]:
        yield Gone()

    source = DocumentSource("gone", opened)
    for _ in range(2):
        with pytest.raises(ItemVanished):
            viewer.view(source)
    assert viewer.view(source_of(b"text")).kind == "text"
