"""Documents made to hurt: what unpacks to too much, nests too deep, fetches, lies about its size or breaks off."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

from tests.copies.corpus import binary, images, odf, office, pdf
from tests.copies.corpus.zips import HEAD, pack

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_LAUGHS = "".join(
    f'<!ENTITY l{n} "{"&l" + str(n - 1) + ";" if n else "lo"}{"&l" + str(n - 1) + ";" if n else ""}">'
    for n in range(40)
)
_DOCTYPE = f"<!DOCTYPE x [{_LAUGHS}]>"
_OFFICE = 'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" office:version="1.2"'
_LAUGHING_ODT = f"{HEAD}{_DOCTYPE}<office:document-styles {_OFFICE}>&l39;</office:document-styles>"
SECRET = "file:///etc/passwd"
FAR = "http://127.0.0.1:9/spor.png"
Letters = Callable[[], bytes]


def _text(document: str) -> bytes:
    """A Word document whose main part is this."""
    return office.docx("x", extra={"word/document.xml": document})


def _body(inner: str) -> str:
    return f"{HEAD}<w:document {_W}><w:body>{inner}</w:body></w:document>"


def nested_tables(depth: int = 3_000) -> bytes:
    """Tables in tables."""
    begin, end = "<w:tbl><w:tr><w:tc>" * depth, "<w:p/></w:tc></w:tr></w:tbl>" * depth
    return _text(_body(begin + end))


def paragraphs(count: int = 2_000_000) -> bytes:
    """A Word document of nothing but paragraphs."""
    return _text(_body("<w:p><w:r><w:t>a</w:t></w:r></w:p>" * count))


def empty_paragraphs(count: int = 2_000_000) -> bytes:
    """The same, so short that no ratio tells."""
    return _text(_body("<w:p/>" * count))


def _noise(length: int, seed: int) -> bytes:
    return random.Random(seed).randbytes(length)


def _many_members(count: int = 25_000) -> bytes:
    return pack({f"{number}": b"" for number in range(count)})


def _nested_zip() -> bytes:
    inner = pack({"0": bytes(60_000_000)})
    return pack({str(number): inner for number in range(30)})


def _understated() -> bytes:
    """A member whose size is more than its head says."""
    whole = office.docx("x" * 100_000)
    place = whole.index(b"word/document.xml") - 46 + 46  # in the first head of the member
    size = place - 30 + 22
    broken = whole[:size] + (50).to_bytes(4, "little") + whole[size + 4 :]
    central = broken.rindex(b"word/document.xml") - 46 + 24
    return broken[:central] + (50).to_bytes(4, "little") + broken[central + 4 :]


def _picture_of(place: str) -> bytes:
    return office.docx("Bilde", relations=[("rp", "image", place, True)])


def _rtf(inner: str) -> bytes:
    return ("{\\rtf1\\ansi\\ansicpg1252 Hei " + inner + "}").encode("latin-1")


def _svg(inner: str, before: str = "") -> bytes:
    spaces = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return f'{HEAD}{before}<svg {spaces} width="90" height="90">{inner}</svg>'.encode()


def _html(inner: str) -> bytes:
    return f"<!DOCTYPE html><html><head><title>Hei</title></head><body>{inner}</body></html>".encode()


def _linked_section(place: str) -> bytes:
    return odf.odt(
        f'<text:section text:name="a"><text:section-source xlink:href="{place}"/><text:p>x</text:p></text:section>'
    )


WHOLE: dict[str, Letters] = {
    "docx": lambda: office.docx("Vedtak " * 400),
    "xlsx": lambda: office.xlsx([["Vedtak", str(number)] for number in range(200)]),
    "odt": lambda: odf.odt("Vedtak " * 400),
    "pdf": lambda: pdf.pdf(["Vedtak " * 40]),
    "doc": binary.doc,
    "png": lambda: images.encoded("PNG"),
}
"""A document of each kind, to be broken."""


def half_written(whole: bytes) -> bytes:
    """A document whose room was kept on the disk before all of it was written."""
    half = len(whole) // 2
    return whole[:half] + bytes(max(len(whole) - half, 2_000))


def cut_off(whole: bytes) -> bytes:
    """A document whose end did not arrive."""
    return whole[: len(whole) // 2]


def wrong_start(whole: bytes) -> bytes:
    """A document whose first bytes were written over."""
    return b"\x01\x07\x02" * 40 + whole[120:]


HOSTILE: dict[str, Letters] = {
    "bombe-ratio.docx": lambda: _text(_body("<w:p><w:r><w:t>" + "a" * 20_000_000 + "</w:t></w:r></w:p>")),
    "bombe-lang-tekst.docx": lambda: _text(_body("<w:p><w:r><w:t>" + "a" * 14_000_000 + "</w:t></w:r></w:p>")),
    "bombe-avsnitt.docx": paragraphs,
    "bombe-tomme-avsnitt.docx": empty_paragraphs,
    "bombe-tabeller.docx": nested_tables,
    "bombe-medlemmer.zip": _many_members,
    "bombe-nøstet.zip": _nested_zip,
    "bombe-ratio.zip": lambda: pack({"0": bytes(200_000_000)}),
    "bombe-ratio.xlsx": lambda: office.xlsx([["x"]], extra={"xl/media/a.bmp": bytes(100_000_000)}),
    "bombe-ratio.odt": lambda: odf.odt("x", Pictures__a=bytes(100_000_000)),
    "bombe-entiteter.docx": lambda: _text(f"{HEAD}{_DOCTYPE}<w:document {_W}><w:body>&l39;</w:body></w:document>"),
    "bombe-entiteter.xlsx": lambda: office.xlsx(
        [["x"]], extra={"xl/worksheets/sheet1.xml": f"{HEAD}{_DOCTYPE}<worksheet>&l39;</worksheet>"}
    ),
    "bombe-entiteter.odt": lambda: odf.odt("x", styles_xml=_LAUGHING_ODT),
    "bombe-entiteter.svg": lambda: _svg("<text>&l39;</text>", _DOCTYPE.replace("DOCTYPE x", "DOCTYPE svg")),
    "lang-celle.xlsx": lambda: office.xlsx(
        [["x"]], cell='<row r="1048576"><c r="XFD1048576" t="inlineStr"><is><t>y</t></is></c></row>'
    ),
    "løgn-om-størrelse.docx": _understated,
    "støy.docx": lambda: b"PK\x03\x04" + _noise(5000, 1),
    "støy.doc": lambda: binary.doc()[:512] + _noise(9000, 2),
    "uten-hoveddel.docx": lambda: office.docx("x")[:0] + pack({"[Content_Types].xml": "<Types/>"}),
    "låst.docx": binary.locked_ooxml,
    "låst.doc": lambda: binary.doc(flags=0x0100),
    "låst.xls": lambda: binary.xls(binary.record(0x2F, bytes(6))),
    "låst.odt": lambda: odf.odt("x", content_xml=_noise(900, 4), **{"META-INF__manifest_xml": odf.LOCKED_MANIFEST}),
    "låst.pdf": lambda: pdf.pdf(["Vedtak"], lock="hemmelig"),
    "nettbilde.docx": lambda: _picture_of(FAR),
    "filbilde.docx": lambda: _picture_of(SECRET),
    "fillenke.odt": lambda: _linked_section(SECRET),
    "fillenke-uten-skjema.odt": lambda: _linked_section("/etc/passwd"),
    "fillenke-relativ.odt": lambda: _linked_section("../../../../etc/passwd"),
    "nettbilde.rtf": lambda: _rtf('{\\field{\\*\\fldinst INCLUDEPICTURE "' + FAR + '"}{\\fldrslt }}'),
    "dyp.rtf": lambda: _rtf("{" * 100_000),
    "nettbilde.html": lambda: _html(f'<img src="{FAR}"><link rel=stylesheet href="{FAR}">'),
    "filbilde.html": lambda: _html(f'<img src="{SECRET}"><iframe src="{SECRET}"></iframe>'),
    "lenker-uten-slutt.html": lambda: _html("<link " * 300_000),
    "dyp.html": lambda: _html("<div>" * 200_000),
    "filbilde.svg": lambda: _svg(f'<image xlink:href="{SECRET}"/>'),
    "nettbilde.svg": lambda: _svg(f'<image href="{FAR}"/><style>@import "{FAR}";</style>'),
    "kjempe.png": lambda: images.png_header(30_000, 30_000),
    "kjempe-liten-fil.png": lambda: images.png_header(2**31 - 1, 2**31 - 1),
    "avkortet.tif": lambda: images.encoded("TIFF")[:100],
    "ring.pdf": pdf.cyclic,
    "endeløst-skjema.pdf": lambda: pdf.pdf(["Vedtak"], pdf.with_endless_form),
    "støy.pdf": lambda: b"%PDF-1.7\n" + _noise(5000, 3),
    "rot-uten-sider.pdf": lambda: (
        b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n"
    ),
    "makro.docm": lambda: office.docx(
        "x", kind="docm", extra={"word/vbaProject.bin": binary.container({"VBA/dir": b"x"})}
    ),
    **{
        f"{name}.{suffix}": partial(lambda break_, whole: break_(whole()), break_, whole)
        for name, break_ in (("halvskrevet", half_written), ("avkortet", cut_off), ("feil-start", wrong_start))
        for suffix, whole in WHOLE.items()
    },
}
