"""Small documents of the kinds that an office leaves behind, each a few hundred bytes, made by no office program.

Every document says inside itself when it was last saved, but for RTF, which cannot.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from datetime import datetime
from io import BytesIO
from xml.sax.saxutils import escape

from samples.files.outlook import ole2

_XML = '<?xml version="1.0" encoding="UTF-8"?>\n'
_FORMATS = "http://schemas.openxmlformats.org"
_RELATIONS = f"{_FORMATS}/officeDocument/2006/relationships"
_WORD, _SHEET = f"{_FORMATS}/wordprocessingml/2006/main", f"{_FORMATS}/spreadsheetml/2006/main"
_OFFICE = "application/vnd.openxmlformats-officedocument"
_PACKAGE = "application/vnd.openxmlformats-package"
_ODF = "urn:oasis:names:tc:opendocument:xmlns"
_ODT = "application/vnd.oasis.opendocument.text"
_MADE = (2014, 1, 1, 0, 0, 0)


def docx(text: str, saved: datetime) -> bytes:
    """A Word document of one paragraph."""
    body = f"<w:body><w:p><w:r><w:t>{escape(text)}</w:t></w:r></w:p></w:body>"
    parts = {"word/document.xml": f'<w:document xmlns:w="{_WORD}">{body}</w:document>'}
    return _office(parts, {"word/document.xml": "wordprocessingml.document.main"}, saved)


def xlsx(sheet: str, rows: Sequence[Sequence[str]], saved: datetime) -> bytes:
    """A workbook of one sheet; every cell is a text. Empty rows are left out, as workbooks do."""
    lines = "".join(
        f'<row r="{number}">{"".join(_cell(column, number, text) for column, text in enumerate(row) if text)}</row>'
        for number, row in enumerate(rows, start=1)
        if any(row)
    )
    sheets = f'<sheets><sheet name="{escape(sheet)}" sheetId="1" r:id="rId1"/></sheets>'
    parts = {
        "xl/workbook.xml": f'<workbook xmlns="{_SHEET}" xmlns:r="{_RELATIONS}">{sheets}</workbook>',
        "xl/_rels/workbook.xml.rels": _relations((f"{_RELATIONS}/worksheet", "worksheets/sheet1.xml")),
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_SHEET}"><sheetData>{lines}</sheetData></worksheet>',
    }
    kinds = {"xl/workbook.xml": "spreadsheetml.sheet.main", "xl/worksheets/sheet1.xml": "spreadsheetml.worksheet"}
    return _office(parts, kinds, saved)


def odt(text: str, saved: datetime) -> bytes:
    """An OpenDocument text of one paragraph."""
    head = f'xmlns:office="{_ODF}:office:1.0" office:version="1.2"'
    body = f"<office:body><office:text><text:p>{escape(text)}</text:p></office:text></office:body>"
    time = f"<office:meta><dc:date>{saved:%Y-%m-%dT%H:%M:%S}</dc:date></office:meta>"
    kinds = {"/": _ODT, "content.xml": "text/xml", "meta.xml": "text/xml"}
    entries = "".join(f'<m:file-entry m:full-path="{path}" m:media-type="{kind}"/>' for path, kind in kinds.items())
    meta = f'{head} xmlns:dc="http://purl.org/dc/elements/1.1/"'
    parts = {
        "content.xml": f'<office:document-content {head} xmlns:text="{_ODF}:text:1.0">{body}</office:document-content>',
        "meta.xml": f"<office:document-meta {meta}>{time}</office:document-meta>",
        "META-INF/manifest.xml": f'<m:manifest xmlns:m="{_ODF}:manifest:1.0">{entries}</m:manifest>',
    }
    return _zip({"mimetype": _ODT, **{name: _XML + part for name, part in parts.items()}})


def pdf(text: str, saved: datetime) -> bytes:
    """A page with one line; brackets in it are left out."""
    line = text.encode("cp1252", "replace").translate(None, b"\\()")
    stream = b"BT /F1 12 Tf 72 720 Td (" + line + b") Tj ET"
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        f"<< /ModDate (D:{saved:%Y%m%d%H%M%S}Z) >>".encode(),
    )
    content, table = b"%PDF-1.4\n", b"0000000000 65535 f \n"
    for number, body in enumerate(objects, start=1):
        table += b"%010d 00000 n \n" % len(content)
        content += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    trailer = b"trailer\n<< /Size 7 /Root 1 0 R /Info 6 0 R >>\nstartxref\n%d\n%%%%EOF\n" % len(content)
    return content + b"xref\n0 7\n" + table + trailer


def rtf(text: str) -> bytes:
    """A paragraph of rich text."""
    signs = (sign if sign.isascii() else f"\\'{sign.encode('cp1252', 'replace').hex()}" for sign in text)
    return b"{\\rtf1\\ansi\\ansicpg1252 " + "".join(signs).encode() + b"\\par}\n"


def locked_docx() -> bytes:
    """A Word document behind a password: what its container says, and nothing that could be opened."""
    return ole2({"EncryptionInfo": b"\x04\x00\x04\x00@\x00\x00\x00<encryption/>", "EncryptedPackage": bytes(512)})


def locked_zip(name: str, text: str) -> bytes:
    """A zip file whose member is marked as encrypted."""
    whole = bytearray(_zip({name: text}))
    for signature, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        whole[whole.index(signature) + at] |= 1
    return bytes(whole)


def _office(parts: Mapping[str, str], kinds: Mapping[str, str], saved: datetime) -> bytes:
    """An office document, its main part first; `kinds` are those of its parts."""
    core = (
        f'<cp:coreProperties xmlns:cp="{_FORMATS}/package/2006/metadata/core-properties"'
        ' xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
        f'<dcterms:modified xsi:type="dcterms:W3CDTF">{saved:%Y-%m-%dT%H:%M:%SZ}</dcterms:modified>'
        "</cp:coreProperties>"
    )
    types = {f"/{part}": f"{_OFFICE}.{kind}+xml" for part, kind in kinds.items()}
    types["/docProps/core.xml"] = f"{_PACKAGE}.core-properties+xml"
    overrides = "".join(f'<Override PartName="{part}" ContentType="{kind}"/>' for part, kind in types.items())
    defaults = f'<Default Extension="rels" ContentType="{_PACKAGE}.relationships+xml"/>'
    of_core = f"{_FORMATS}/package/2006/relationships/metadata/core-properties", "docProps/core.xml"
    head = {
        "[Content_Types].xml": f'<Types xmlns="{_FORMATS}/package/2006/content-types">{defaults}{overrides}</Types>',
        "_rels/.rels": _relations((f"{_RELATIONS}/officeDocument", next(iter(parts))), of_core),
        "docProps/core.xml": core,
    }
    return _zip({name: _XML + text for name, text in {**head, **parts}.items()})


def _relations(*targets: tuple[str, str]) -> str:
    inner = "".join(
        f'<Relationship Id="rId{number}" Type="{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets, start=1)
    )
    return f'<Relationships xmlns="{_FORMATS}/package/2006/relationships">{inner}</Relationships>'


def _cell(column: int, row: int, text: str) -> str:
    return f'<c r="{chr(ord("A") + column)}{row}" t="inlineStr"><is><t>{escape(text)}</t></is></c>'


def _zip(members: Mapping[str, str]) -> bytes:
    target = BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, text in members.items():
            archive.writestr(zipfile.ZipInfo(name, _MADE), text)
    return target.getvalue()
