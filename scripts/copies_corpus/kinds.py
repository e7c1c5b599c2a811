"""Every kind of document in the corpus: how one is written, and what the policy `no-raf-2022` makes of it.

`made`, `kept`, `held` and `failed` are what becomes of a document where every tool is there; `converter` is what makes
the copy. A kind whose state rests on a tool that may be of another version says so by more than one state.
"""

from __future__ import annotations

import json
from html import escape
from typing import Any

from scripts.copies_corpus import office_kinds, pdf_kinds, text_kinds
from scripts.copies_corpus.kind import Kind, Write
from scripts.copies_corpus.letters import Letter
from tests.copies.corpus import binary, hostile, images, odf, office
from tests.copies.corpus.mail import mail
from tests.copies.corpus.zips import pack


def _blocks(letter: Letter) -> list[str]:
    return [letter.subject, *letter.paragraphs, office.table(letter.rows), f"Med hilsen {letter.writer}"]


def _docx(letter: Letter) -> bytes:
    footer = office.paragraph("Side ", office.field("PAGE", "1"))
    return office.docx(*_blocks(letter), header="Kommunen", footer=footer)


def _docx_picture(letter: Letter) -> bytes:
    drawing = (
        '<w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing">'
        '<wp:extent cx="900000" cy="900000"/><wp:docPr id="1" name="Bilde"/><a:graphic'
        ' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData'
        ' uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic'
        ' xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:nvPicPr>'
        '<pic:cNvPr id="1" name="b"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:embed="rp"/>'
        "<a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr>"
        '<a:xfrm><a:off x="0" y="0"/><a:ext cx="900000" cy="900000"/></a:xfrm><a:prstGeom'
        ' prst="rect"/></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>'
    )
    picture = images.encoded("PNG", shade=letter.number % 250)
    relation = ("rp", "image", "media/bilde.png", False)
    return office.docx(
        *_blocks(letter), office.paragraph(drawing), relations=[relation], extra={"word/media/bilde.png": picture}
    )


def _docx_fields(letter: Letter) -> bytes:
    fields = office.paragraph(
        *("Dato: ", office.field('DATE \\@ "d.M.yyyy"', "03.02.2019"), " kl. ", office.simple_field("TIME", "10:15")),
        *(" i ", office.field("FILENAME", "vedtaket"), ", ", office.field('IF 1 = 1 "ja" "nei"', "ja")),
    )
    return office.docx(*_blocks(letter), fields)


def _docx_form(letter: Letter) -> bytes:
    box = (
        '<w:sdt><w:sdtPr><w:alias w:val="Navn"/><w:text/></w:sdtPr><w:sdtContent>'
        f"{office.run(letter.writer)}</w:sdtContent></w:sdt>"
    )
    return office.docx("Skjema", f"<w:p>{office.run('Navn: ')}{box}</w:p>", office.table(letter.rows))


def _docx_changes(letter: Letter) -> bytes:
    return office.docx(*_blocks(letter), office.paragraph(office.inserted("innvilget"), office.deleted("avslått")))


def _docx_hidden(letter: Letter) -> bytes:
    return office.docx(*_blocks(letter), office.paragraph("synlig ", office.run("internt notat", "<w:vanish/>")))


def _docx_far(letter: Letter) -> bytes:
    return office.docx(*_blocks(letter), relations=[("r1", "image", hostile.FAR, True)])


def _docm(letter: Letter) -> bytes:
    macro = binary.container({"VBA/dir": b"x"})
    return office.docx(*_blocks(letter), kind="docm", extra={"word/vbaProject.bin": macro})


def _rtf(letter: Letter) -> bytes:
    signs = "".join(c if c.isascii() else f"\\u{ord(c)}?" for c in letter.text).replace("\n", "\\par ")
    return f"{{\\rtf1\\ansi\\ansicpg1252\\uc1 {{\\fonttbl{{\\f0 Arial;}}}}\\f0 {signs}}}".encode("ascii")


def _odt_changes(letter: Letter) -> bytes:
    changes = (
        '<text:tracked-changes><text:changed-region text:id="c1"><text:deletion><office:change-info><dc:creator>Kari'
        "</dc:creator><dc:date>2026-01-02T10:00:00</dc:date></office:change-info><text:p>avslått</text:p></text:deletion>"
        "</text:changed-region></text:tracked-changes>"
    )
    return odf.odt(*letter.paragraphs, '<text:p>a<text:change text:change-id="c1"/>b</text:p>', changes=changes)


def _odt_date(letter: Letter) -> bytes:
    date = '<text:date text:date-value="2019-02-03">03.02.2019</text:date>'
    return odf.odt(*letter.paragraphs, f"<text:p>Dato: {date}</text:p>")


def _html(letter: Letter, inner: str = "") -> bytes:
    lines = "".join(f"<p>{escape(line)}</p>" for line in letter.text.splitlines())
    return (
        f'<!DOCTYPE html><html lang="nb"><head><meta charset="utf-8"><title>{escape(letter.subject)}</title></head>'
        f"<body>{inner}{lines}</body></html>"
    ).encode()


def _svg(letter: Letter) -> bytes:
    return (
        '<?xml version="1.0" encoding="UTF-8"?><svg xmlns="http://www.w3.org/2000/svg" width="400" height="90">'
        f'<text x="9" y="40">{escape(letter.writer)}</text></svg>'
    ).encode()


def _mail(letter: Letter) -> bytes:
    return mail(letter.subject, letter.text, number=letter.number)


def _mail_with_files(letter: Letter) -> bytes:
    files = (
        ("vedtak.docx", "application/octet-stream", _docx(letter)),
        ("bilde.png", "image/png", images.encoded("PNG")),
    )
    page = f"<p>{escape(letter.paragraphs[0])}</p>"
    return mail(letter.subject, letter.text, html=page, attachments=files, number=letter.number)


def _csv(letter: Letter) -> str:
    return "gnr;verdi\r\n" + "".join(f"{name};{value}\r\n" for name, value in letter.rows)


def _picture(kind: str, mode: str = "RGB", **options: Any) -> Write:  # Any: the library's own words
    return lambda letter: images.encoded(kind, mode, shade=letter.number % 250, **options)


def _avi(letter: Letter) -> bytes:
    head = b"hdrlavih" + (56).to_bytes(4, "little") + letter.number.to_bytes(56, "little")
    body = b"AVI LIST" + len(head).to_bytes(4, "little") + head
    return b"RIFF" + len(body).to_bytes(4, "little") + body


def _mov(letter: Letter) -> bytes:
    return (
        bytes.fromhex("00000014")
        + b"ftypqt  "
        + bytes(8)
        + bytes.fromhex("00000010")
        + b"mdat"
        + letter.number.to_bytes(8, "big")
    )


def _hostile(name: str, state: str, reason: str = "", converter: str = "", held: tuple[str, ...] = ()) -> Kind:
    stem, _, suffix = name.rpartition(".")
    write = hostile.HOSTILE[name]
    return Kind(f"fiendtlig-{stem}", suffix, lambda _: write(), state, reason, converter, 1, held=held)


_KINDS: tuple[Kind, ...] = (
    # Word and its kin
    Kind("brev", "docx", _docx, "made", converter="office", count=24, is_ordinary=True),
    Kind("brev-bilde", "docx", _docx_picture, "made", converter="office", is_ordinary=True),
    Kind("brev-felt", "docx", _docx_fields, "made", converter="office", is_ordinary=True),
    Kind("skjema", "docx", _docx_form, "made", converter="office", is_ordinary=True),
    Kind("brev-endringer", "docx", _docx_changes, "held", "held", "office", held=("tracked-changes",)),
    Kind("brev-skjult", "docx", _docx_hidden, "held", "held", "office", held=("hidden-text",)),
    Kind("brev-nettbilde", "docx", _docx_far, "made", converter="office"),
    Kind("brev-makro", "docm", _docm, "made", converter="office"),
    Kind(
        "brev", "odt", lambda x: odf.odt(*x.text.splitlines()), "made", converter="office", count=12, is_ordinary=True
    ),
    Kind("brev-dato", "odt", _odt_date, "made", converter="office", is_ordinary=True),
    Kind("brev-endringer", "odt", _odt_changes, "held", "held", "office", held=("tracked-changes",)),
    Kind("brev", "rtf", _rtf, "made", converter="office", is_ordinary=True),
    Kind("brev", "doc", _docx, "made", converter="office", old="doc:MS Word 97", is_ordinary=True),
    Kind("tegning", "odg", lambda x: odf.odg(x.subject), "made", converter="office"),
    # spreadsheets and presentations
    Kind("ark", "xlsx", lambda x: office.xlsx(x.rows), "kept", count=10, is_ordinary=True),
    Kind("ark-idag", "xlsx", lambda x: office.xlsx([["=TODAY()", x.writer]]), "kept"),
    Kind("ark-skjult", "xlsx", lambda x: office.xlsx(x.rows, hidden_sheet=x.writer), "kept"),
    Kind("ark", "ods", lambda x: odf.ods(x.rows), "kept", is_ordinary=True),
    Kind(
        "ark", "xls", lambda x: office.xlsx(x.rows), "made", converter="office", old="xls:MS Excel 97", is_ordinary=True
    ),
    Kind(
        "framlegg",
        "pptx",
        lambda x: office.pptx(x.paragraphs[:3]),
        "made",
        converter="office",
        count=10,
        is_ordinary=True,
    ),
    Kind(
        "framlegg-notat",
        "pptx",
        lambda x: office.pptx(x.paragraphs[:3], notes=x.subject, hidden=True),
        "made",
        "",
        "office",
    ),
    Kind("framlegg", "odp", lambda x: odf.odp(x.paragraphs[:2]), "made", converter="office", is_ordinary=True),
    Kind(
        "framlegg",
        "ppt",
        lambda x: office.pptx(x.paragraphs[:3]),
        "made",
        "",
        "office",
        old="ppt:MS PowerPoint 97",
        is_ordinary=True,
    ),
    # text and data
    Kind("notat", "txt", lambda x: x.text.encode(), "kept", is_ordinary=True),
    Kind("notat-windows", "txt", lambda x: x.text.encode("cp1252"), "made", converter="text", is_ordinary=True),
    Kind("tabell", "csv", lambda x: _csv(x).encode(), "kept", is_ordinary=True),
    Kind("tabell-windows", "csv", lambda x: (_csv(x) + "sum;Åsgård\r\n").encode("cp1252"), "made", converter="text"),
    Kind("data", "json", lambda x: json.dumps({"sak": x.subject, "rader": x.rows}).encode(), "kept"),
    Kind("data", "xml", lambda x: f'<?xml version="1.0"?><sak>{escape(x.subject)}</sak>'.encode(), "kept"),
    Kind("pakke", "zip", lambda x: pack({"a.txt": x.text}), "kept"),
    # pages and mail
    Kind("side", "html", _html, "kept"),
    Kind("side-nett", "html", lambda x: _html(x, f'<img src="{hostile.FAR}">'), "made", converter="page"),
    Kind("tegning", "svg", _svg, "made", converter="page"),
    Kind("epost", "eml", _mail, "made", converter="mail", is_ordinary=True),
    Kind("epost-vedlegg", "eml", _mail_with_files, "made", converter="mail", is_ordinary=True),
    # pictures
    Kind("foto", "jpg", _picture("JPEG"), "kept", is_ordinary=True),
    Kind("foto", "png", _picture("PNG"), "kept", is_ordinary=True),
    Kind("foto-palett", "png", _picture("PNG", "P"), "kept"),
    Kind("foto", "jp2", _picture("JPEG2000"), "kept"),
    Kind("skann", "tif", _picture("TIFF", "1", compression="group4"), "kept", is_ordinary=True),
    Kind("skann-lzw", "tif", _picture("TIFF", compression="tiff_lzw"), "kept"),
    Kind("skann-lzma", "tif", _picture("TIFF", compression="lzma"), "made", converter="image"),
    Kind("bilde", "gif", _picture("GIF", "P"), "made", converter="image"),
    Kind("bilde", "bmp", _picture("BMP"), "made", converter="image"),
    Kind("bilde", "webp", _picture("WEBP", lossless=True), "made", converter="image"),
    # sound and video
    Kind("lyd", "wav", lambda x: images.wav(16, pitch=200 + x.number % 400), "kept"),
    Kind("lyd", "aiff", lambda x: images.aiff(pitch=200 + x.number % 400), "made", converter="sound"),
    Kind("film", "avi", _avi, "failed", "manual"),
    Kind("film", "mov", _mov, "failed", "manual"),
    # names that lie
    Kind("feil-navn", "doc", pdf_kinds.scan, "failed", "format-mismatch"),
    # empty and damaged
    *(Kind("tom", suffix, lambda _: b"", "failed", "empty", count=1) for suffix in ("docx", "pdf", "txt")),
    *(
        _hostile(f"{name}.{suffix}", "failed", reason)
        for name, reason in (("halvskrevet", "half-written"), ("avkortet", "cut-off"), ("feil-start", "wrong-start"))
        for suffix in ("docx", "odt", "xlsx", "pdf", "doc", "png")
    ),
    # made to hurt
    *(
        _hostile(name, "failed", "bomb", "office")
        for name in ("bombe-ratio.docx", "bombe-avsnitt.docx", "bombe-tabeller.docx", "bombe-entiteter.docx", "dyp.rtf")
    ),
    _hostile("bombe-tomme-avsnitt.docx", "failed", "too-large", "office"),
    _hostile("bombe-medlemmer.zip", "failed", "bomb"),
    _hostile("bombe-nøstet.zip", "kept"),
    _hostile("bombe-ratio.xlsx", "failed", "bomb"),
    _hostile("bombe-entiteter.xlsx", "failed", "bomb"),
    _hostile("lang-celle.xlsx", "kept"),
    _hostile("løgn-om-størrelse.docx", "failed", "damaged", "office"),
    _hostile("støy.docx", "failed", "cut-off"),
    _hostile("låst.docx", "failed", "manual"),
    _hostile("låst.doc", "failed", "password", "office"),
    _hostile("låst.xls", "failed", "password", "office"),
    _hostile("filbilde.docx", "made", "", "office"),
    _hostile("filbilde.html", "made", "", "page"),
    _hostile("filbilde.svg", "failed", "blank", "page"),  # nothing is on it but the picture that is not fetched
    _hostile("nettbilde.svg", "failed", "blank", "page"),
    _hostile("nettbilde.rtf", "held", "held", "office", ("fields",)),
    _hostile("kjempe.png", "failed", "too-large"),
    _hostile("ring.pdf", "failed", "damaged", "pdf-declare"),
)

KINDS: tuple[Kind, ...] = (*_KINDS, *office_kinds.KINDS, *pdf_kinds.KINDS, *text_kinds.KINDS)
__all__ = ["KINDS", "Kind"]
