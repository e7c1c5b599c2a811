"""Office documents of a few hundred bytes each, made by hand: in them stands what the tests say, and no more."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SLIDE = "http://schemas.openxmlformats.org/presentationml/2006/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_VENDOR = "application/vnd.openxmlformats-officedocument"


def write_zip(path: Path, parts: Mapping[str, str | bytes]) -> Path:
    """A package of parts; the first is stored, as OpenDocument wants it of its media type."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for number, (name, text) in enumerate(parts.items()):
            package.writestr(name, text, zipfile.ZIP_STORED if number == 0 else zipfile.ZIP_DEFLATED)
    return path


def relations(*targets: tuple[str, str], external: tuple[str, ...] = ()) -> str:
    """The relations of a part: kinds and targets, numbered from rId1."""
    lines = [
        f'<Relationship Id="rId{number}" Type="{RELATIONS}/{kind}" Target="{target}"'
        f"{' TargetMode=' + chr(34) + 'External' + chr(34) if target in external else ''}/>"
        for number, (kind, target) in enumerate(targets, 1)
    ]
    return f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships">{"".join(lines)}</Relationships>'


def content_types(**overrides: str) -> str:
    """The list of media types; `word_document` stands for `/word/document.xml`."""
    parts = "".join(
        f'<Override PartName="/{name.replace("__", "/")}.xml" ContentType="{_VENDOR}.{kind}+xml"/>'
        for name, kind in overrides.items()
    )
    return (
        f'{_HEAD}<Types xmlns="{_PACKAGE}/content-types">'
        f'<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/><Default Extension="png" ContentType="image/png"/>'
        f"{parts}</Types>"
    )


def docx(path: Path, body: str, *, more: Mapping[str, str | bytes] | None = None, links: str = "") -> Path:
    """A document of Word with this body."""
    document = f'{_HEAD}<w:document xmlns:w="{WORD}" xmlns:r="{RELATIONS}"><w:body>{body}</w:body></w:document>'
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": content_types(word__document="wordprocessingml.document.main"),
        "_rels/.rels": relations(("officeDocument", "word/document.xml")),
        "word/document.xml": document,
        **({"word/_rels/document.xml.rels": links} if links else {}),
        **(more or {}),
    }
    return write_zip(path, parts)


def paragraph(text: str, *, font: str = "") -> str:
    """A paragraph of Word."""
    properties = f'<w:rPr><w:rFonts w:ascii="{font}" w:hAnsi="{font}"/></w:rPr>' if font else ""
    return f'<w:p><w:r>{properties}<w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def word_field(instruction: str, stored: str) -> str:
    """A paragraph with a field and what it showed when it was stored."""
    return (
        '<w:p><w:r><w:t xml:space="preserve">Felt: </w:t></w:r>'
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
        f'<w:r><w:instrText xml:space="preserve"> {instruction} </w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r>'
        f'<w:r><w:t>{stored}</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
    )


def xlsx(path: Path, cells: str, *, after: str = "") -> Path:
    """A workbook with one sheet of these rows."""
    sheet = f'{_HEAD}<worksheet xmlns="{SHEET}"><sheetData>{cells}</sheetData>{after}</worksheet>'
    workbook = (
        f'{_HEAD}<workbook xmlns="{SHEET}" xmlns:r="{RELATIONS}"><sheets>'
        '<sheet name="Budsjett" sheetId="1" r:id="rId1"/></sheets></workbook>'
    )
    return write_zip(
        path,
        {
            "[Content_Types].xml": content_types(
                xl__workbook="spreadsheetml.sheet.main", xl__worksheets__sheet1="spreadsheetml.worksheet"
            ),
            "_rels/.rels": relations(("officeDocument", "xl/workbook.xml")),
            "xl/workbook.xml": workbook,
            "xl/_rels/workbook.xml.rels": relations(("worksheet", "worksheets/sheet1.xml")),
            "xl/worksheets/sheet1.xml": sheet,
        },
    )


_TREE = "<p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id='1' name=''/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>{}"
_TREE += "</p:spTree></p:cSld>"
_SHAPE = (
    "<p:sp><p:nvSpPr><p:cNvPr id='{number}' name='Tekst'/><p:cNvSpPr txBox='1'/><p:nvPr/></p:nvSpPr><p:spPr><a:xfrm>"
    "<a:off x='600000' y='600000'/><a:ext cx='7000000' cy='2000000'/></a:xfrm><a:prstGeom prst='rect'/></p:spPr>"
    "<p:txBody><a:bodyPr/><a:p>{runs}</a:p></p:txBody></p:sp>"
)


def pptx(path: Path, *slides: str, hidden: frozenset[int] = frozenset()) -> Path:
    """A presentation: the runs of a text box for each slide."""
    spaces = f'xmlns:p="{SLIDE}" xmlns:a="{DRAWING}" xmlns:r="{RELATIONS}"'
    numbers = range(1, len(slides) + 1)
    ids = "".join(f'<p:sldId id="{255 + number}" r:id="rId{number}"/>' for number in numbers)
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": content_types(
            ppt__presentation="presentationml.presentation.main",
            **{f"ppt__slides__slide{number}": "presentationml.slide" for number in numbers},
        ),
        "_rels/.rels": relations(("officeDocument", "ppt/presentation.xml")),
        "ppt/presentation.xml": f"{_HEAD}<p:presentation {spaces}><p:sldIdLst>{ids}</p:sldIdLst>"
        '<p:sldSz cx="9144000" cy="6858000"/><p:notesSz cx="6858000" cy="9144000"/></p:presentation>',
        "ppt/_rels/presentation.xml.rels": relations(*(("slide", f"slides/slide{number}.xml") for number in numbers)),
    }
    for number, runs in enumerate(slides, 1):
        shape = _SHAPE.format(number=number + 1, runs=runs)
        show = ' show="0"' if number in hidden else ""
        parts[f"ppt/slides/slide{number}.xml"] = f"{_HEAD}<p:sld {spaces}{show}>{_TREE.format(shape)}</p:sld>"
    return write_zip(path, parts)


def odf(path: Path, kind: str, body: str) -> Path:
    """A document in OpenDocument: `kind` is text, spreadsheet or presentation."""
    names = ["office", "text", "table", "draw", "presentation", "style"]
    spaces = " ".join(f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in names)
    spaces += ' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:of="urn:oasis:names:tc:opendocument:xmlns:of:1.2"'
    spaces += ' xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"'
    media_type = f"application/vnd.oasis.opendocument.{kind}"
    manifest = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
    return write_zip(
        path,
        {
            "mimetype": media_type,
            "META-INF/manifest.xml": f'{_HEAD}<m:manifest xmlns:m="{manifest}" m:version="1.2">'
            f'<m:file-entry m:full-path="/" m:media-type="{media_type}"/>'
            '<m:file-entry m:full-path="content.xml" m:media-type="text/xml"/></m:manifest>',
            "content.xml": f'{_HEAD}<office:document-content {spaces} office:version="1.2"><office:body>'
            f"<office:{kind}>{body}</office:{kind}></office:body></office:document-content>",
        },
    )


def rtf(path: Path, text: str) -> Path:
    """A document in RTF; signs beyond ASCII as its escapes."""
    escaped = "".join(sign if ord(sign) < 128 else f"\\u{ord(sign)}?" for sign in text)
    path.write_bytes(
        b"{\\rtf1\\ansi\\ansicpg1252\\deff0{\\fonttbl{\\f0 Times New Roman;}}\\f0\\fs24 " + escaped.encode() + b"\\par}"
    )
    return path
