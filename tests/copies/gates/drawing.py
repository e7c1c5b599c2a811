"""PDFs for tests of gates, written object by object: what is on a page is known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pikepdf
from pikepdf import pdfa
from PIL import Image


def draw_pdf(path: Path, pages: Sequence[str], *, size: tuple[int, int] = (595, 842), encryption: str = "") -> Path:
    """A PDF with the lines of each text on a page of its own, in the encoding of Windows; an empty text is blank."""
    with pikepdf.new() as pdf:
        font = pikepdf.Dictionary(
            Type=pikepdf.Name.Font,
            Subtype=pikepdf.Name.Type1,
            BaseFont=pikepdf.Name.Helvetica,
            Encoding=pikepdf.Name.WinAnsiEncoding,
        )
        for text in pages:
            page = pdf.add_blank_page(page_size=size)
            lines = [
                b"BT /F1 11 Tf 1 0 0 1 50 %d Tm (%s) Tj ET" % (size[1] - 60 - 14 * number, _escaped(line))
                for number, line in enumerate(text.splitlines())
            ]
            page.Contents = pdf.make_stream(b"\n".join(lines))
            page.Resources = pikepdf.Dictionary(Font=pikepdf.Dictionary(F1=font))
        lock = pikepdf.Encryption(user=encryption, owner=encryption) if encryption else False
        pdf.save(path, encryption=lock)
    return path


def draw_pdfa(path: Path, *, shade: int = 90, pages: int = 1) -> Path:
    """A valid PDF/A-2b with a picture on each page."""
    plain = path.with_suffix(".plain.pdf")
    pictures = [picture_with_cross(shade) for _ in range(pages)]
    pictures[0].save(plain, format="PDF", save_all=True, append_images=pictures[1:])
    with pikepdf.open(plain) as pdf:
        pdfa.save(pdf, path, "2b")
    plain.unlink()
    return path


def picture_with_cross(shade: int = 90, *, size: int = 60) -> Image.Image:
    """A picture in three colours."""
    picture = Image.new("RGB", (size, size), (250, 250, 250))
    for place in range(size):
        picture.putpixel((place, place), (shade, 20, 160))
        picture.putpixel((size - 1 - place, place), (20, shade, 40))
    return picture


def _escaped(line: str) -> bytes:
    return line.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
