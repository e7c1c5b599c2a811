"""What is shown of a document: its first page as others draw it, its first lines, or its words; and never too much."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path

import pypdfium2
import pytest
from PIL import Image, ImageChops, ImageFile

from noarkit.copies.port import Identity
from noarkit.copies.preview import MOST_LINES, preview
from noarkit.copies.reasons import Reason
from tests.copies.corpus import office
from tests.copies.corpus.images import encoded, png_header
from tests.copies.corpus.mail import mail
from tests.copies.corpus.pdf import pdf

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def identity(media_type: str | None, suffix: str = "") -> Identity:
    return Identity(None, media_type, suffix, "signature")


def written(folder: Path, content: bytes) -> Path:
    path = folder / "document"
    path.write_bytes(content)
    return path


def test_a_pdf_is_drawn_as_another_reader_draws_it(tmp_path: Path) -> None:
    path = written(tmp_path, pdf(["Vedtak om plan\nfor Nordby", "side to"]))
    shown = preview(path, identity("application/pdf"))
    picture = Image.open(io.BytesIO(shown.png))
    with pypdfium2.PdfDocument(path) as document:
        expected = document[0].render(scale=80 / 72).to_pil().convert("RGB")
    assert (shown.kind, picture.mode) == ("picture", "RGB")
    assert picture.size == expected.size
    assert ImageChops.difference(picture, expected).getbbox() is None
    assert len(picture.getcolors() or []) > 1


def test_a_locked_and_a_broken_pdf_are_not_drawn(tmp_path: Path) -> None:
    locked = preview(written(tmp_path, pdf(["Vedtak"], lock="hemmelig")), identity("application/pdf"))
    assert (locked.kind, locked.reason) == ("none", Reason.PASSWORD)
    broken = preview(written(tmp_path, b"%PDF-1.7\nnothing"), identity("application/pdf"))
    assert (broken.kind, broken.reason) == ("none", Reason.DAMAGED)


@pytest.mark.parametrize("mode", ["RGB", "L", "1", "P", "RGBA", "CMYK", "I;16"])
def test_a_picture_of_any_mode_is_drawn(mode: str, tmp_path: Path) -> None:
    if mode == "I;16":
        data = io.BytesIO()
        Image.new("I;16", (60, 40), 30_000).save(data, "TIFF")
        content = data.getvalue()
    else:
        content = encoded("TIFF", mode)
    shown = preview(written(tmp_path, content), identity("image/tiff"))
    picture = Image.open(io.BytesIO(shown.png))
    if mode == "I;16":
        assert picture.getpixel((5, 5)) == (116, 116, 116)
    elif mode == "RGB":
        assert picture.tobytes() == Image.open(io.BytesIO(content)).tobytes()
    assert (picture.format, picture.mode) == ("PNG", "RGB")


def test_what_is_transparent_lies_on_white(tmp_path: Path) -> None:
    data = io.BytesIO()
    Image.new("RGBA", (20, 20), (0, 0, 0, 0)).save(data, "PNG")
    shown = preview(written(tmp_path, data.getvalue()), identity("image/png"))
    assert Image.open(io.BytesIO(shown.png)).getpixel((3, 3)) == (255, 255, 255)


def test_a_large_picture_becomes_small_and_a_huge_one_is_not_decoded(tmp_path: Path) -> None:
    data = io.BytesIO()
    Image.new("L", (4_000, 9_000), 200).save(data, "PNG")
    shown = preview(written(tmp_path, data.getvalue()), identity("image/png"))
    assert Image.open(io.BytesIO(shown.png)).size == (444, 1000)
    for side in (12_000, 60_000):
        huge = preview(written(tmp_path, png_header(side, side)), identity("image/png"))
        assert (huge.kind, huge.reason) == ("none", Reason.TOO_LARGE)


@pytest.mark.parametrize("beside", ["nothing", "weasyprint"])
def test_a_picture_that_ends_early_is_not_drawn(beside: str, tmp_path: Path) -> None:
    if beside == "weasyprint":  # a library that lets half a picture pass, in the whole process
        ImageFile.LOAD_TRUNCATED_IMAGES = True
    content = encoded("PNG")
    shown = preview(written(tmp_path, content[: len(content) // 2]), identity("image/png"))
    assert (shown.kind, shown.reason) == ("none", Reason.DAMAGED)


def test_a_text_is_its_first_lines(tmp_path: Path) -> None:
    text = "\n".join(f"Linje {number} på blåbær" for number in range(100))
    for encoding in ("utf-8", "cp1252", "utf-16"):
        shown = preview(written(tmp_path, text.encode(encoding)), identity("text/plain"))
        assert shown.lines == tuple(text.splitlines()[:MOST_LINES])
        assert shown.cut
    short = preview(written(tmp_path, b"en\nto\n"), identity("text/csv"))
    assert (short.lines, short.cut) == (("en", "to"), False)


@pytest.mark.parametrize("offset", range(4))
def test_a_long_line_is_cut_also_within_a_sign(offset: int, tmp_path: Path) -> None:
    content = b"x" * offset + "\U0001f4c4ø".encode() * 50_000
    shown = preview(written(tmp_path, content), identity("text/plain"))
    assert shown.cut
    assert len(shown.lines) == 1
    assert shown.lines[0] == content.decode()[:400]


def test_a_page_and_a_mail_are_their_text(tmp_path: Path) -> None:
    page = preview(
        written(tmp_path, b"<html><head><title>x</title></head><body><p>Hei</p>\n<script>y()</script></body></html>"),
        identity("text/html"),
    )
    assert (page.kind, page.lines) == ("text", ("Hei",))
    letter = preview(written(tmp_path, mail("Svar på søknad", "Vi viser til søknaden.")), identity("message/rfc822"))
    assert "Svar på søknad" in letter.lines
    assert "Vi viser til søknaden." in letter.lines


def test_an_office_document_is_its_words_and_a_zip_is_nothing(tmp_path: Path) -> None:
    content = office.docx(office.paragraph(office.run("Vedtak om plan")))
    shown = preview(written(tmp_path, content), identity(DOCX))
    assert (shown.kind, shown.lines) == ("words", ("vedtak om plan",))
    other = preview(written(tmp_path, b"PK\x05\x06" + bytes(18)), identity("application/zip"))
    assert (other.kind, other.lines, other.reason) == ("none", (), None)


def test_a_bomb_is_not_opened(tmp_path: Path) -> None:
    chunk = zlib.compress(bytes(60_000_000))
    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 0, 0, 0, 0)
    parts = [(b"IHDR", header), (b"IDAT", chunk), (b"IEND", b"")]
    content = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in parts
    )
    shown = preview(written(tmp_path, content), identity("image/png"))
    assert (shown.kind, shown.reason) == ("none", Reason.TOO_LARGE)
