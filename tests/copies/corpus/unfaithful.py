"""Documents of which an office program makes valid copies that lack what they hold, each beside its good twin."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Mapping, Sequence

from tests.copies.corpus.images import encoded
from tests.copies.corpus.odf import odp, ods, odt, paragraph
from tests.copies.corpus.office import docx, pptx
from tests.copies.corpus.zips import pack

_A = "http://schemas.openxmlformats.org/drawingml/2006/main"
_PIC = "http://schemas.openxmlformats.org/drawingml/2006/picture"
_WP = "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"
_M = "http://schemas.openxmlformats.org/officeDocument/2006/math"
_RECTANGLE = struct.pack("<IIiiii", 43, 24, 10, 10, 90, 90)


def emf(*records: bytes) -> bytes:
    """A metafile with these records."""
    body = b"".join(records) + struct.pack("<IIIII", 14, 20, 0, 16, 20)
    bounds = struct.pack("<8i", 0, 0, 100, 100, 0, 0, 2600, 2600)
    sizes = struct.pack("<IIIHHIII", 0x10000, 108 + len(body), len(records) + 2, 1, 0, 0, 0, 0)
    device = struct.pack("<iiii", 1024, 768, 320, 240) + bytes(12) + struct.pack("<ii", 320_000, 240_000)
    return struct.pack("<II", 1, 108) + bounds + b" EMF" + sizes + device + body


PICTURES: Mapping[str, bytes] = {
    "god.png": encoded("PNG", shade=10),
    "annen.jpg": encoded("JPEG", shade=60),
    "plan.tif": encoded("TIFF", shade=70),
    "strek.emf": emf(_RECTANGLE),
    "figur.svg": b'<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40"><path d="M5 5h40v30z"/></svg>',
    "skannet.jp2": encoded("JPEG2000", shade=80),
    "foto.jxr": b"II\xbc\x01" + bytes(range(200)),
    "tom.emf": emf(),
    "støy.png": bytes(range(256)) * 9,
    "kuttet.png": encoded("PNG", size=300)[:700],
    "side.svg": b'<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40"><foreignObject width="60" height="40">'
    b'<p xmlns="http://www.w3.org/1999/xhtml">Vedtaket</p></foreignObject></svg>',
}


def _picture(number: int, frame: str, prefix: str = "pic") -> str:
    """A picture of DrawingML as Word has it, or PowerPoint, which has names of its own for the same."""
    space, named = (f' xmlns:pic="{_PIC}"', "") if prefix == "pic" else ("", "<p:nvPr/>")
    return (
        f'<{prefix}:pic{space} xmlns:a="{_A}"><{prefix}:nvPicPr><{prefix}:cNvPr id="{number + 9}" name="Bilde"/>'
        f"<{prefix}:cNvPicPr/>{named}</{prefix}:nvPicPr>"
        f'<{prefix}:blipFill><a:blip r:embed="bilde{number}"/><a:stretch><a:fillRect/></a:stretch></{prefix}:blipFill>'
        f"<{prefix}:spPr>{frame}</{prefix}:spPr></{prefix}:pic>"
    )


def _frame(x: int = 0) -> str:
    return (
        f'<a:xfrm><a:off x="{x}" y="4000000"/><a:ext cx="1800000" cy="1200000"/></a:xfrm><a:prstGeom prst="rect">'
        "<a:avLst/></a:prstGeom>"
    )


def picture_in_line(number: int) -> str:
    """A paragraph with a picture of DrawingML, by the number in its relation."""
    return (
        f'<w:p><w:r><w:drawing><wp:inline xmlns:wp="{_WP}" xmlns:a="{_A}"><wp:extent cx="1800000" cy="1200000"/>'
        f'<wp:docPr id="{number}" name="Bilde"/><a:graphic><a:graphicData uri="{_PIC}">{_picture(number, _frame())}'
        "</a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>"
    )


def letter_with_pictures(*names: str, missing: Sequence[str] = (), blocks: Sequence[str] = ("Se bildene.",)) -> bytes:
    """A letter with these pictures; those that are missing are referred to only."""
    return docx(
        *blocks,
        *(picture_in_line(number) for number in range(len(names))),
        "Hilsen",
        relations=[(f"bilde{number}", "image", f"media/{name}", False) for number, name in enumerate(names)],
        extra={f"word/media/{name}": PICTURES[name] for name in names if name not in missing},
    )


def with_wrong_checksum(content: bytes, name: str) -> bytes:
    """A package in which a member is another than its checksum says: a bit of its bytes is turned."""
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        info = package.getinfo(name)
        members: dict[str, str | bytes] = {member: package.read(member) for member in package.namelist()}
    whole = pack(members, stored=tuple(members))
    with zipfile.ZipFile(io.BytesIO(whole)) as package:
        place = package.getinfo(name).header_offset + 30 + len(name.encode()) + info.file_size // 2
    changed = bytearray(whole)
    changed[place] ^= 0x10
    return bytes(changed)


def letter_with_chunk(name: str, text: str | bytes, *blocks: str) -> bytes:
    """A letter with a document of another kind within it, which Word takes in when it opens the letter."""
    return docx(
        *(blocks or ("Avtalen følger.",)),
        '<w:altChunk r:id="del"/>',
        relations=[("del", "aFChunk", name, False)],
        extra={f"word/{name}": text},
    )


def letter_with_new_chart(title: str, *blocks: str) -> bytes:
    """A letter with a chart of a kind that only newer programs draw."""
    space = "http://schemas.microsoft.com/office/drawing/2014/chartex"
    chart = f'<cx:chartSpace xmlns:cx="{space}" xmlns:a="{_A}"><a:p><a:r><a:t>{title}</a:t></a:r></a:p></cx:chartSpace>'
    frame = (
        f'<w:p><w:r><w:drawing><wp:inline xmlns:wp="{_WP}" xmlns:a="{_A}"><wp:extent cx="1800000" cy="1200000"/>'
        f'<wp:docPr id="5" name="Graf"/><a:graphic><a:graphicData uri="{space}"><cx:chart xmlns:cx="{space}"'
        ' r:id="graf"/></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>'
    )
    relation = ("graf", "chartEx", "charts/chartEx1.xml", False)
    return docx(*(blocks or ("Se grafen.",)), frame, relations=[relation], extra={"word/charts/chartEx1.xml": chart})


def slides_with_pictures(*names: str, texts: Sequence[str] = ()) -> bytes:
    """A presentation with one of these pictures on each slide."""
    shapes = [_picture(number, _frame(500_000), "p") for number in range(len(names))]
    return pptx(
        texts or [f"Lysbilde {number}" for number in range(1, len(names) + 1)],
        shapes=shapes,
        relations=[(f"bilde{number}", "image", f"../media/{name}", False) for number, name in enumerate(names)],
        extra={f"ppt/media/{name}": PICTURES[name] for name in names},
    )


def open_picture(name: str, at: str = 'text:anchor-type="as-char"') -> str:
    """A picture of OpenDocument in its frame."""
    return (
        f'<draw:frame {at} svg:width="5cm" svg:height="3cm"><draw:image xlink:type="simple" xlink:show="embed"'
        f' xlink:actuate="onLoad" xlink:href="Pictures/{name}"/></draw:frame>'
    )


def _members(names: Sequence[str]) -> dict[str, str | bytes]:
    return {f"Pictures/{name}": PICTURES[name] for name in names}


def text_with_pictures(*names: str, blocks: Sequence[str] = ("Se bildene.",)) -> bytes:
    """An OpenDocument text with these pictures."""
    return odt(*blocks, *(paragraph(open_picture(name)) for name in names), styles="", changes="", **_members(names))


def open_slides_with_pictures(*names: str, texts: Sequence[str]) -> bytes:
    """A presentation of OpenDocument with one of these pictures on each slide."""
    shapes = [open_picture(name, 'svg:x="3cm" svg:y="9cm"') for name in names]
    return odp(texts, shapes=shapes, more=_members(names))


def open_sheet_with_pictures(rows: Sequence[Sequence[str]], *names: str) -> bytes:
    """A spreadsheet of OpenDocument with these pictures over its cells."""
    shapes = "".join(open_picture(name, f'svg:x="1cm" svg:y="{3 + 4 * at}cm"') for at, name in enumerate(names))
    return ods(rows, hidden_sheet="", shapes=shapes, **_members(names))


def rich_text_with_pictures(*names: str, text: str = "Se bildene.") -> bytes:
    """An RTF document with these pictures, each of which says that it is a PNG."""
    groups = "".join(
        rf"{{\pict\pngblip\picw60\pich60\picwgoal1700\pichgoal1700 {PICTURES[name].hex()}}}\par " for name in names
    )
    return rf"{{\rtf1\ansi\ansicpg1252{{\fonttbl{{\f0 Arial;}}}}{_escaped(text)}\par {groups}}}".encode()


def _escaped(text: str) -> str:
    return "".join(letter if letter.isascii() else rf"\u{ord(letter)}?" for letter in text)


def equation(numerator: str, denominator: str) -> str:
    """A paragraph with a fraction of Word."""
    parts = "".join(
        f"<m:{name}><m:r><m:t>{text}</m:t></m:r></m:{name}>"
        for name, text in (("num", numerator), ("den", denominator))
    )
    return f'<w:p><m:oMath xmlns:m="{_M}"><m:f>{parts}</m:f></m:oMath></w:p>'


def formula_in_a_text(*letters: str, blocks: Sequence[str] = ("Formelen er",), is_there: bool = True) -> bytes:
    """An OpenDocument text with a formula object that has no picture of itself, or is only referred to."""
    frame = (
        '<draw:frame text:anchor-type="as-char" svg:width="3cm" svg:height="1cm"><draw:object xlink:type="simple"'
        ' xlink:show="embed" xlink:actuate="onLoad" xlink:href="./Object 1"/></draw:frame>'
    )
    inner = "".join(f"<mi>{letter}</mi>" for letter in letters)
    mathml = f'<math xmlns="http://www.w3.org/1998/Math/MathML"><mrow>{inner}</mrow></math>'
    members: dict[str, str | bytes] = {"Object 1/content.xml": mathml} if is_there else {}
    return odt(*blocks, paragraph(frame), styles="", changes="", **members)


TICKED = '<w:p><w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r></w:p>'
"""A paragraph with a box that is ticked, as Word writes it."""
UNDRAWN = "Navnet er \ua000\ua49a og 漢字"
"""Letters of Yi and Chinese, of which no font is installed beside LibreOffice."""
