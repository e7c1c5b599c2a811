"""Small valid documents: a page of PDF, a picture, a text, a table, an XML invoice."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from html import escape

Paper = tuple[str, str, Callable[[str], bytes]]


def pdf(text: str) -> bytes:
    """Builds one page of PDF 1.4 with a line of text."""
    escaped = text.encode("latin-1", "replace").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
    stream = b"BT /F1 12 Tf 56 760 Td (" + escaped + b") Tj ET"
    parts = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%b\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
    )
    content = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    places = []
    for number, part in enumerate(parts, 1):
        places.append(len(content))
        content += b"%d 0 obj%b\nendobj\n" % (number, part)
    table = len(content)
    content += b"xref\n0 6\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % place for place in places)
    content += b"trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % table
    return bytes(content)


def png(text: str) -> bytes:
    """Builds a picture of eight by eight pixels, with colours derived from the text."""
    colours = (text.encode() * 200)[:192]
    raw = b"".join(b"\x00" + colours[row * 24 : row * 24 + 24] for row in range(8))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")


def plain(text: str) -> bytes:
    """Builds a text with Norwegian letters."""
    return (text + "\n").encode()


def table(text: str) -> bytes:
    """Builds a table of two columns."""
    return ("felt;verdi\r\n" + "\r\n".join(f"{place};{word}" for place, word in enumerate(text.split()))).encode()


def invoice(text: str) -> bytes:
    """Builds an XML invoice."""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<Invoice><Note>{escape(text)}</Note></Invoice>\n'.encode()


PAPERS: tuple[Paper, ...] = (
    ("pdf", "application/pdf", pdf),
    ("png", "image/png", png),
    ("txt", "text/plain", plain),
    ("csv", "text/csv", table),
    ("xml", "application/xml", invoice),
)
