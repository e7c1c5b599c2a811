"""OpenDocument texts, spreadsheets and presentations, a few KB each, as their programs would open them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from tests.copies.corpus.zips import HEAD, pack

_SPACES = " ".join(
    f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for short, name in (
        *(("office", "office"), ("text", "text"), ("table", "table"), ("style", "style"), ("draw", "drawing")),
        *(("presentation", "presentation"), ("fo", "xsl-fo-compatible"), ("svg", "svg-compatible"), ("meta", "meta")),
    )
)
_NAMESPACES = (
    f'{_SPACES} xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'
    ' office:version="1.2"'
)
TYPES = {
    name: f"application/vnd.oasis.opendocument.{word}"
    for name, word in (("odt", "text"), ("ods", "spreadsheet"), ("odp", "presentation"), ("odg", "graphics"))
}

STYLES = (
    f'{HEAD}<office:document-styles {_NAMESPACES}><office:automatic-styles><style:page-layout style:name="P1">'
    '<style:page-layout-properties fo:page-width="21cm" fo:page-height="29.7cm"/></style:page-layout>'
    '</office:automatic-styles><office:master-styles><style:master-page style:name="Standard"'
    ' style:page-layout-name="P1"/></office:master-styles></office:document-styles>'
)
"""What says how large a page is, and names the one kind of page."""
MATH = "application/vnd.oasis.opendocument.formula"


def paragraph(text: str) -> str:
    """A paragraph; text that begins with `<` is XML."""
    return f"<text:p>{text if text.startswith('<') else escape(text)}</text:p>"


def odt(*blocks: str, styles: str = "", changes: str = "", **more: str | bytes) -> bytes:
    """A text document; a bare block is a paragraph, `styles` are automatic ones, `more` other members."""
    body = "".join(block if block.startswith("<") else paragraph(block) for block in blocks)
    return _document("odt", f"<office:text>{changes}{body}</office:text>", styles, more)


def ods(rows: Sequence[Sequence[str]], *, hidden_sheet: str = "", shapes: str = "", **more: str | bytes) -> bytes:
    """A spreadsheet; `shapes` is XML of what lies over its cells."""
    styles = (
        '<style:style style:name="ta2" style:family="table"><style:table-properties table:display="false"/>'
        "</style:style>"
        if hidden_sheet
        else ""
    )
    body = _sheet("Ark1", rows, shapes=shapes) + (_sheet("Skjult", [[hidden_sheet]], "ta2") if hidden_sheet else "")
    return _document("ods", f"<office:spreadsheet>{body}</office:spreadsheet>", styles, more)


def odp(
    slides: Sequence[str],
    *,
    notes: str = "",
    hidden: bool = False,
    shapes: Sequence[str] = (),
    more: Mapping[str, str | bytes] | None = None,
) -> bytes:
    """A presentation with a text on each slide; the last one is hidden where so asked, the first one has the notes.
    `shapes` are XML of a further shape for each slide, `more` other members."""
    styles = (
        '<style:style style:name="dp2" style:family="drawing-page"><style:drawing-page-properties'
        ' presentation:visibility="hidden"/></style:style>'
    )
    pages = ""
    for number, text in enumerate(slides, 1):
        style = ' draw:style-name="dp2"' if hidden and number == len(slides) else ""
        note = f"<presentation:notes>{_frame(notes)}</presentation:notes>" if notes and number == 1 else ""
        named = f'draw:name="side{number}" draw:master-page-name="Standard"{style}'
        shape = "".join(shapes[number - 1 : number])
        pages += f"<draw:page {named}>{_frame(text)}{shape}{note}</draw:page>"
    return _document("odp", f"<office:presentation>{pages}</office:presentation>", styles if hidden else "", more or {})


def dated_odp(source: str) -> bytes:
    """A presentation with one slide that bears a date: the day's (`current-date`), or one that stays (`fixed`)."""
    style = (
        '<style:style style:name="dp1" style:family="drawing-page"><style:drawing-page-properties'
        ' presentation:display-date-time="true"/></style:style>'
    )
    declared = f'<presentation:date-time-decl presentation:name="d1" presentation:source="{source}">3. mars 2009'
    page = (
        '<draw:page draw:name="side1" draw:style-name="dp1" draw:master-page-name="Standard"'
        f' presentation:use-date-time-name="d1">{_frame("Vedtak")}</draw:page>'
    )
    body = f"<office:presentation>{declared}</presentation:date-time-decl>{page}</office:presentation>"
    return _document("odp", body, style, {})


def odg(text: str) -> bytes:
    """A drawing with a text."""
    page = f'<draw:page draw:name="side1" draw:master-page-name="Standard">{_frame(text)}</draw:page>'
    return _document("odg", f"<office:drawing>{page}</office:drawing>", "", {})


def _sheet(name: str, rows: Sequence[Sequence[str]], style: str = "", *, shapes: str = "") -> str:
    lines = "".join(
        "<table:table-row>"
        + "".join(
            f'<table:table-cell table:formula="of:{escape(text)}" office:value-type="float" office:value="1"/>'
            if text.startswith("=")
            else f'<table:table-cell office:value-type="string">{paragraph(text)}</table:table-cell>'
            for text in cells
        )
        + "</table:table-row>"
        for cells in rows
    )
    named = f' table:style-name="{style}"' if style else ""
    over = f"<table:shapes>{shapes}</table:shapes>" if shapes else ""
    return f'<table:table table:name="{name}"{named}>{over}{lines}</table:table>'


def _frame(text: str) -> str:
    lines = "".join(paragraph(line) for line in text.splitlines())
    return (
        '<draw:frame svg:width="20cm" svg:height="5cm" svg:x="2cm" svg:y="2cm">'
        f"<draw:text-box>{lines}</draw:text-box></draw:frame>"
    )


def _document(kind: str, body: str, styles: str, more: Mapping[str, str | bytes]) -> bytes:
    # LibreOffice takes a package with a picture or object that its list does not name for damaged
    listed = [(name, "") for name in more if name.startswith(("Pictures/", "Object "))]
    listed += [(f"{folder}/", MATH) for folder in {name.partition("/")[0] for name, _ in listed} if " " in folder]
    manifest = "".join(
        f'<manifest:file-entry manifest:full-path="{place}" manifest:media-type="{media_type}"/>'
        for place, media_type in (("/", TYPES[kind]), ("content.xml", "text/xml"), ("styles.xml", "text/xml"), *listed)
    )
    members: dict[str, str | bytes] = {
        "mimetype": TYPES[kind],
        "content.xml": f"{HEAD}<office:document-content {_NAMESPACES}><office:automatic-styles>{styles}"
        f"</office:automatic-styles><office:body>{body}</office:body></office:document-content>",
        "styles.xml": STYLES,
        "META-INF/manifest.xml": f'{HEAD}<manifest:manifest xmlns:manifest="{_MANIFEST}" manifest:version="1.2">'
        f"{manifest}</manifest:manifest>",
    }
    members.update({name.replace("__", "/").replace("_xml", ".xml"): content for name, content in more.items()})
    return pack(members, stored=("mimetype",))


_MANIFEST = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
LOCKED_MANIFEST = (
    f'{HEAD}<manifest:manifest xmlns:manifest="{_MANIFEST}" manifest:version="1.2"><manifest:file-entry'
    f' manifest:full-path="/" manifest:media-type="{TYPES["odt"]}"/><manifest:file-entry'
    ' manifest:full-path="content.xml" manifest:media-type="text/xml" manifest:size="900"><manifest:encryption-data'
    ' manifest:checksum-type="SHA1/1K" manifest:checksum="AAAA"><manifest:algorithm'
    ' manifest:algorithm-name="Blowfish CFB" manifest:initialisation-vector="AAAA"/></manifest:encryption-data>'
    "</manifest:file-entry></manifest:manifest>"
)
