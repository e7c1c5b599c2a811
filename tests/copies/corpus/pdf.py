"""PDFs with one trait each: locked, signed, with attachments, scripts, forms or layers, and broken ones."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence

import pikepdf
from pikepdf import Array, Dictionary, Name, pdfa

_DATE = re.compile(rb"(?<=MetadataDate>)[0-9T:.+-]{32}")
_NUMBER = re.compile(rb"/ID \[<[0-9a-f]{32}><[0-9a-f]{32}>\]")
Change = Callable[[pikepdf.Pdf], None]


def pdf(pages: Sequence[str], *changes: Change, lock: str | None = None, embed_font: bool = False) -> bytes:
    """A PDF with the lines of each text on a page of its own. `lock` is the password that opens it, empty for one that
    only restricts."""
    result = io.BytesIO()
    with pikepdf.new() as document:
        font = Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica, Encoding=Name.WinAnsiEncoding)
        for text in pages:
            page = document.add_blank_page(page_size=(595, 842))
            lines = [
                b"BT /F1 11 Tf 1 0 0 1 50 %d Tm (%s) Tj ET" % (780 - 14 * number, _escaped(line))
                for number, line in enumerate(text.splitlines())
            ]
            page.Contents = document.make_stream(b"\n".join(lines))
            page.Resources = Dictionary(Font=Dictionary(F1=document.make_indirect(font)))
        for change in changes:
            change(document)
        encryption = pikepdf.Encryption(user=lock, owner="eier", R=6) if lock is not None else False
        document.save(result, encryption=encryption, deterministic_id=encryption is False)
    return result.getvalue()


def pdfa_of(plain: bytes, flavour: str = "2b") -> bytes:
    """The same declared as PDF/A, where that is possible."""
    result = io.BytesIO()
    with pikepdf.open(io.BytesIO(plain)) as document:
        pdfa.save(document, result, flavour)
    dated = _DATE.sub(b"2026-01-02T10:00:00.000000+00:00", result.getvalue())
    return _NUMBER.sub(lambda match: b"/ID [<" + b"0" * 32 + b"><" + b"0" * 32 + b">]", dated)


def signed(document: pikepdf.Pdf) -> None:
    """A form with a signature."""
    signature = Dictionary(
        Type=Name.Sig,
        Filter=Name("/Adobe.PPKLite"),
        SubFilter=Name("/adbe.pkcs7.detached"),
        ByteRange=Array([0, 10, 20, 10]),
        Contents=pikepdf.String(bytes(16)),
    )
    field = Dictionary(
        Type=Name.Annot, Subtype=Name.Widget, FT=Name.Sig, T="Signatur", V=document.make_indirect(signature)
    )
    document.Root.AcroForm = Dictionary(Fields=Array([document.make_indirect(field)]), SigFlags=3)


def with_form(document: pikepdf.Pdf) -> None:
    """A form whose one field lies in another."""
    child = document.make_indirect(Dictionary(FT=Name.Tx, T="navn", V="Kari"))
    parent = document.make_indirect(Dictionary(T="skjema", Kids=Array([child])))
    document.Root.AcroForm = Dictionary(Fields=Array([parent]))


def with_endless_form(document: pikepdf.Pdf) -> None:
    """A form whose field is its own child."""
    field = document.make_indirect(Dictionary(FT=Name.Tx, T="navn"))
    field.Kids = Array([field, field])
    document.Root.AcroForm = Dictionary(Fields=Array([field]))


def with_attachment(document: pikepdf.Pdf) -> None:
    """A file within."""
    document.attachments["vedlegg.txt"] = b"Vedlegg"


def with_script(document: pikepdf.Pdf) -> None:
    """A script that runs when the document is opened."""
    document.Root.OpenAction = Dictionary(S=Name.JavaScript, JS="app.alert('hei')")


def with_named_script(document: pikepdf.Pdf) -> None:
    """A script of the whole document."""
    script = document.make_indirect(Dictionary(S=Name.JavaScript, JS="app.alert('hei')"))
    document.Root.Names = Dictionary(JavaScript=Dictionary(Names=Array(["start", script])))


def with_layers(document: pikepdf.Pdf) -> None:
    """A layer that is off."""
    layer = document.make_indirect(Dictionary(Type=Name.OCG, Name="skjult"))
    document.Root.OCProperties = Dictionary(OCGs=Array([layer]), D=Dictionary(OFF=Array([layer])))


def cyclic() -> bytes:
    """A tree of pages that is its own branch."""
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [2 0 R 3 0 R] /Count 2 >>",
        b"<< /Type /Pages /Kids [2 0 R] /Parent 2 0 R /Count 1 >>",
    )
    content, places = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(content))
        content += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = len(content)
    content += b"xref\n0 4\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % place for place in places)
    return bytes(content) + b"trailer\n<< /Size 4 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % table


def _escaped(line: str) -> bytes:
    return line.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
