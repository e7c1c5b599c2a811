"""Ordinary documents in forms that are rarely thought of, each beside its twin in the form that everybody expects."""

from __future__ import annotations

import io
import zipfile

from PIL import Image

from tests.copies.corpus.office import docx, paragraph, run
from tests.copies.corpus.zips import pack

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_USUAL, _STRICT = b"http://schemas.openxmlformats.org/", b"http://purl.oclc.org/ooxml/"
_SPACES = (b"wordprocessingml", b"spreadsheetml", b"presentationml", b"drawingml")
_ROOTS = ((b"<w:document ", b"w:"), (b"<workbook ", b""), (b"<p:presentation ", b""))
DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" width="99" height="80"><text y="40">Kart over tomten</text></svg>'
DECLARED = f'<?xml version="1.0" encoding="UTF-8"?>\n{DRAWING}'


def with_note(kind: str, *blocks: str, is_there: bool = True) -> bytes:
    """A letter with a `footnote` or an `endnote`, whose text may be missing."""
    marks = "".join(
        f'<w:{kind} w:id="{number}" w:type="{mark}"><w:p><w:r><w:{mark}/></w:r></w:p></w:{kind}>'
        for number, mark in enumerate(("separator", "continuationSeparator"))
    )
    own = f'<w:{kind} w:id="2"><w:p><w:r><w:{kind}Ref/></w:r>{run(" Se forskriften paragraf fire.")}</w:p></w:{kind}>'
    return docx(
        *blocks,
        paragraph(run("Vedtaket er fattet"), f'<w:r><w:{kind}Reference w:id="2"/></w:r>', run(" i dag.")),
        relations=[("noter", f"{kind}s", f"{kind}s.xml", False)],
        extra={f"word/{kind}s.xml": f'<w:{kind}s xmlns:w="{_W}">{marks}{own}</w:{kind}s>'} if is_there else {},
    )


def in_strict_form(content: bytes) -> bytes:
    """A document of Office Open XML in the strict form of the standard, with the names that this one has."""
    members: dict[str, str | bytes] = {}
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        for name in package.namelist():
            part = package.read(name)
            members[name] = part if name == "[Content_Types].xml" else _renamed(part)
    return pack(members)


def _renamed(part: bytes) -> bytes:
    relations = b"officeDocument/2006/relationships"
    part = part.replace(_USUAL + relations, _STRICT + relations.replace(b"/2006", b""))
    for space in _SPACES:
        part = part.replace(_USUAL + space + b"/2006/main", _STRICT + space + b"/main")
    for root, prefix in _ROOTS:
        part = part.replace(root, root + prefix + b'conformance="strict" ')
    return part


def moving(*colours: str) -> bytes:
    """A moving picture, each of whose frames is all of one colour."""
    frames = [Image.new("RGB", (60, 40), colour) for colour in colours]
    target = io.BytesIO()
    frames[0].save(target, "GIF", save_all=True, append_images=frames[1:], duration=100)
    return target.getvalue()
