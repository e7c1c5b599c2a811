"""Word, Excel and PowerPoint documents since 2007, a few KB each, as their programs would open them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import PurePosixPath

from tests.copies.corpus.zips import HEAD, pack

_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument."
_W = f'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="{_OFFICE}"'
_MC = (
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    ' xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
)
_S = f'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="{_OFFICE}"'
_XDR = (
    'xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing"'
    f' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="{_OFFICE}"'
)
_P = (
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
    f' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="{_OFFICE}"'
)
MAIN = {
    "docx": f"{_TYPE}wordprocessingml.document.main+xml",
    "docm": "application/vnd.ms-word.document.macroEnabled.main+xml",
    "xlsx": f"{_TYPE}spreadsheetml.sheet.main+xml",
    "xlsm": "application/vnd.ms-excel.sheet.macroEnabled.main+xml",
    "pptx": f"{_TYPE}presentationml.presentation.main+xml",
}
Relation = tuple[str, str, str, bool]
"""Its id, the last word of its type (or all of it), its target, and whether it lies outside of the document."""


def run(text: str, properties: str = "") -> str:
    """A run of text with the properties of its character."""
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def paragraph(*runs: str) -> str:
    """A paragraph; a bare text is a run of its own."""
    return "<w:p>" + "".join(part if part.startswith("<") else run(part) for part in runs) + "</w:p>"


def field(instruction: str, result: str) -> str:
    """A field as Word writes it: its code, and the result that was stored."""
    return field_of(code(f" {instruction} "), run(result))


def simple_field(instruction: str, result: str) -> str:
    """A field in the short form."""
    return f'<w:fldSimple w:instr=" {escape(instruction)} ">{run(result)}</w:fldSimple>'


def field_of(instruction: str, result: str) -> str:
    """A field whose code and stored result are runs, as when another field stands in them."""
    marks = (f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "separate", "end"))
    begin, separate, end = marks
    return begin + instruction + separate + result + end


def code(text: str) -> str:
    """A run of the code of a field."""
    return f'<w:r><w:instrText xml:space="preserve">{escape(text)}</w:instrText></w:r>'


def field_within(stored: str, *, in_result: bool = False) -> str:
    """A condition with a date in its code, and in its result too; all of it showed one date when it was stored."""
    date = field("DATE", stored)
    condition = code(' IF 1 = 1 "') + date + code('" "nei" ')
    return field_of(condition, date if in_result else run(stored))


def inserted(text: str) -> str:
    """Text that a tracked change put in."""
    return f'<w:ins w:id="1" w:author="Kari" w:date="2026-01-02T10:00:00Z">{run(text)}</w:ins>'


def deleted(text: str) -> str:
    """Text that a tracked change took out."""
    return (
        '<w:del w:id="2" w:author="Kari" w:date="2026-01-02T10:00:00Z"><w:r>'
        f"<w:delText>{escape(text)}</w:delText></w:r></w:del>"
    )


def moved_away(text: str) -> str:
    """Text at the place that a tracked change moved it from."""
    return f'<w:moveFrom w:id="3" w:author="Kari" w:date="2026-01-02T10:00:00Z">{run(text)}</w:moveFrom>'


def choice(text: str, fallback: str) -> str:
    """Text for programs that know a newer feature, and other text for those that do not."""
    return (
        f'<mc:AlternateContent {_MC}><mc:Choice Requires="wps">{run(text)}</mc:Choice>'
        f"<mc:Fallback>{run(fallback)}</mc:Fallback></mc:AlternateContent>"
    )


def table(rows: Sequence[Sequence[str]]) -> str:
    """A table of paragraphs."""
    lines = (
        "<w:tr>" + "".join(f"<w:tc><w:tcPr/>{paragraph(cell)}</w:tc>" for cell in cells) + "</w:tr>" for cells in rows
    )
    return f"<w:tbl><w:tblPr/><w:tblGrid/>{''.join(lines)}</w:tbl>"


def docx(
    *blocks: str,
    header: str = "",
    footer: str = "",
    comment: str = "",
    relations: Sequence[Relation] = (),
    extra: Mapping[str, str | bytes] | None = None,
    kind: str = "docx",
) -> bytes:
    """A Word document; a bare block is a paragraph. `header`, `footer` and `comment` are the content of those parts."""
    body = "".join(block if block.startswith("<") else paragraph(block) for block in blocks)
    parts: dict[str, str | bytes] = {}
    links = list(relations)
    section = ""
    for name, content in (("header", header), ("footer", footer)):
        if content:
            tag = {"header": "hdr", "footer": "ftr"}[name]
            inner = content if content.startswith("<") else paragraph(content)
            parts[f"word/{name}1.xml"] = f"{HEAD}<w:{tag} {_W}>{inner}</w:{tag}>"
            links.append((f"r{name}", name, f"{name}1.xml", False))
            section += f'<w:{name}Reference w:type="default" r:id="r{name}"/>'
    if comment:
        body += paragraph('<w:r><w:commentReference w:id="0"/></w:r>')
        links.append(("rcomments", "comments", "comments.xml", False))
        parts["word/comments.xml"] = (
            f'{HEAD}<w:comments {_W}><w:comment w:id="0" w:author="Kari" w:date="2026-01-02T10:00:00Z">'
            f"{paragraph(comment)}</w:comment></w:comments>"
        )
    parts["word/document.xml"] = (
        f"{HEAD}<w:document {_W}><w:body>{body}<w:sectPr>{section}</w:sectPr></w:body></w:document>"
    )
    return _package("word/document.xml", kind, {**parts, **(extra or {})}, {"word/document.xml": links})


def xlsx(
    rows: Sequence[Sequence[str]],
    *,
    hidden_sheet: str = "",
    hidden_row: bool = False,
    print_area: str = "",
    cell: str = "",
    drawing: str = "",
    drawn: Sequence[Relation] = (),
    relations: Sequence[Relation] = (),
    extra: Mapping[str, str | bytes] | None = None,
    kind: str = "xlsx",
) -> bytes:
    """A spreadsheet; a text that begins with `=` is a formula with the value 1. `cell` is XML of one more row,
    `drawing` what lies over the cells of the sheet, with its relations."""
    lines = []
    for number, cells in enumerate(rows, 1):
        inner = "".join(
            f"<c><f>{escape(text[1:])}</f><v>1</v></c>"
            if text.startswith("=")
            else f'<c t="inlineStr"><is><t>{escape(text)}</t></is></c>'
            for text in cells
        )
        lines.append(f'<row r="{number}"{" hidden=" + chr(34) + "1" + chr(34) if hidden_row else ""}>{inner}</row>')
    sheets = '<sheet name="Ark1" sheetId="1" r:id="r1"/>'
    over = '<drawing r:id="rd"/>' if drawing else ""
    parts: dict[str, str | bytes] = {
        "xl/worksheets/sheet1.xml": f"{HEAD}<worksheet {_S}><sheetData>{''.join(lines)}{cell}</sheetData>{over}"
        "</worksheet>"
    }
    links = [("r1", "worksheet", "worksheets/sheet1.xml", False), *relations]
    beside: dict[str, Sequence[Relation]] = {}
    if drawing:
        parts["xl/drawings/drawing1.xml"] = f"{HEAD}<xdr:wsDr {_XDR}>{drawing}</xdr:wsDr>"
        beside["xl/worksheets/sheet1.xml"] = [("rd", "drawing", "../drawings/drawing1.xml", False)]
        beside["xl/drawings/drawing1.xml"] = drawn
    if hidden_sheet:
        sheets += '<sheet name="Skjult" sheetId="2" state="hidden" r:id="r2"/>'
        links.append(("r2", "worksheet", "worksheets/sheet2.xml", False))
        parts["xl/worksheets/sheet2.xml"] = (
            f'{HEAD}<worksheet {_S}><sheetData><row r="1"><c t="inlineStr"><is><t>{escape(hidden_sheet)}</t></is></c>'
            "</row></sheetData></worksheet>"
        )
    names = (
        f'<definedNames><definedName name="_xlnm.Print_Area" localSheetId="0">{print_area}</definedName></definedNames>'
        if print_area
        else ""
    )
    parts["xl/workbook.xml"] = f"{HEAD}<workbook {_S}><sheets>{sheets}</sheets>{names}</workbook>"
    return _package("xl/workbook.xml", kind, {**parts, **(extra or {})}, {"xl/workbook.xml": links, **beside})


def pptx(
    slides: Sequence[str],
    *,
    notes: str = "",
    hidden: bool = False,
    relations: Sequence[Relation] = (),
    shapes: Sequence[str] = (),
    ground: str = "",
    after: str = "",
    extra: Mapping[str, str | bytes] | None = None,
) -> bytes:
    """A presentation with a text on each slide; the last one is hidden where so asked, the first one has the notes.
    `shapes` are XML of a further shape for each slide, `ground` of what each lies on, `after` of what follows on it."""
    parts: dict[str, str | bytes] = {}
    links: dict[str, list[Relation]] = {
        "ppt/presentation.xml": [("rm", "slideMaster", "slideMasters/slideMaster1.xml", False)]
    }
    numbers = ""
    for number, text in enumerate(slides, 1):
        place = f"ppt/slides/slide{number}.xml"
        shown = ' show="0"' if hidden and number == len(slides) else ""
        tree = _tree(text, more="".join(shapes[number - 1 : number]))
        parts[place] = f"{HEAD}<p:sld {_P}{shown}><p:cSld>{ground}{tree}</p:cSld>{after}</p:sld>"
        links["ppt/presentation.xml"].append((f"r{number}", "slide", f"slides/slide{number}.xml", False))
        links[place] = [("rl", "slideLayout", "../slideLayouts/slideLayout1.xml", False), *relations]
        numbers += f'<p:sldId id="{255 + number}" r:id="r{number}"/>'
    if notes:
        parts["ppt/notesSlides/notesSlide1.xml"] = (
            f"{HEAD}<p:notes {_P}><p:cSld>{_tree(notes, 'body')}</p:cSld></p:notes>"
        )
        links["ppt/slides/slide1.xml"].append(("rn", "notesSlide", "../notesSlides/notesSlide1.xml", False))
        links["ppt/notesSlides/notesSlide1.xml"] = [("rs", "slide", "../slides/slide1.xml", False)]
    layouts = '<p:sldLayoutIdLst><p:sldLayoutId id="2147483649" r:id="rl"/></p:sldLayoutIdLst>'
    colours = " ".join(
        f'{name}="{value}"'
        for name, value in (
            *(
                ("bg1", "lt1"),
                ("tx1", "dk1"),
                ("bg2", "lt2"),
                ("tx2", "dk2"),
                ("hlink", "hlink"),
                ("folHlink", "folHlink"),
            ),
            *((f"accent{number}", f"accent{number}") for number in range(1, 7)),
        )
    )
    parts["ppt/slideMasters/slideMaster1.xml"] = (
        f"{HEAD}<p:sldMaster {_P}><p:cSld>{_tree('')}</p:cSld><p:clrMap {colours}/>{layouts}</p:sldMaster>"
    )
    parts["ppt/slideLayouts/slideLayout1.xml"] = f"{HEAD}<p:sldLayout {_P}><p:cSld>{_tree('')}</p:cSld></p:sldLayout>"
    links["ppt/slideMasters/slideMaster1.xml"] = [("rl", "slideLayout", "../slideLayouts/slideLayout1.xml", False)]
    links["ppt/slideLayouts/slideLayout1.xml"] = [("rm", "slideMaster", "../slideMasters/slideMaster1.xml", False)]
    parts["ppt/presentation.xml"] = (
        f'{HEAD}<p:presentation {_P}><p:sldMasterIdLst><p:sldMasterId id="2147483648" r:id="rm"/></p:sldMasterIdLst>'
        f'<p:sldIdLst>{numbers}</p:sldIdLst><p:sldSz cx="9144000" cy="6858000"/><p:notesSz cx="6858000" cy="9144000"/>'
        "</p:presentation>"
    )
    return _package("ppt/presentation.xml", "pptx", {**parts, **(extra or {})}, links)


def _tree(text: str, placeholder: str = "", more: str = "") -> str:
    kind = f'<p:nvPr><p:ph type="{placeholder}"/></p:nvPr>' if placeholder else "<p:nvPr/>"
    shape = (
        f'<p:sp><p:nvSpPr><p:cNvPr id="2" name="Tekst"/><p:cNvSpPr/>{kind}</p:nvSpPr><p:spPr><a:xfrm><a:off x="500000"'
        ' y="500000"/><a:ext cx="8000000" cy="3000000"/></a:xfrm><a:prstGeom prst="rect"/></p:spPr><p:txBody>'
        "<a:bodyPr/>"
        + "".join(f"<a:p><a:r><a:t>{escape(line)}</a:t></a:r></a:p>" for line in text.splitlines())
        + "</p:txBody></p:sp>"
        if text
        else ""
    )
    return (
        '<p:spTree><p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>'
        f"{shape}{more}</p:spTree>"
    )


def _package(main: str, kind: str, parts: Mapping[str, str | bytes], links: Mapping[str, Sequence[Relation]]) -> bytes:
    types = {main: MAIN[kind]}
    noun = {"word": "wordprocessingml", "xl": "spreadsheetml", "ppt": "presentationml"}[main.partition("/")[0]]
    for name in parts:
        stem = name.rpartition("/")[2].removesuffix(".xml").rstrip("0123456789")
        if name != main and name.endswith(".xml") and name not in types:
            types[name] = f"{_TYPE}{noun}.{'worksheet' if stem == 'sheet' else stem}+xml"
    overrides = "".join(f'<Override PartName="/{name}" ContentType="{kind}"/>' for name, kind in types.items())
    content_types = (
        f'{HEAD}<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels"'
        ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml"'
        ' ContentType="application/xml"/><Default Extension="png" ContentType="image/png"/><Default Extension="bin"'
        f' ContentType="application/vnd.ms-office.vbaProject"/>{overrides}</Types>'
    )
    members: dict[str, str | bytes] = {
        "[Content_Types].xml": content_types,
        "_rels/.rels": _relations([("r0", "officeDocument", main, False)]),
        **parts,
    }
    for owner, relations in links.items():
        folder, _, name = owner.rpartition("/")
        members[f"{folder}/_rels/{name}.rels"] = _relations(relations)
    return pack(members)


def renamed(content: bytes, main: str, name: str) -> bytes:
    """A document whose main part has another name, as some programs give it; no other part may bear that name."""
    old, new = PurePosixPath(main), PurePosixPath(name)
    moved = {main: name, f"{old.parent}/_rels/{old.name}.rels": f"{new.parent}/_rels/{new.name}.rels"}
    members: dict[str, str | bytes] = {}
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        for member in package.namelist():
            text = package.read(member)
            if member in ("_rels/.rels", "[Content_Types].xml"):
                text = text.replace(main.encode(), name.encode())
            members[moved.get(member, member)] = text
    return pack(members)


def _relations(relations: Sequence[Relation]) -> str:
    lines = "".join(
        f'<Relationship Id="{name}" Type="{kind if ":" in kind else f"{_OFFICE}/{kind}"}" Target="{escape(target)}"'
        + (' TargetMode="External"/>' if outside else "/>")
        for name, kind, target, outside in relations
    )
    return f'{HEAD}<Relationships xmlns="{_PACKAGE}/relationships">{lines}</Relationships>'
