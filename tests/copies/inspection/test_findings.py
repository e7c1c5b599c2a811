"""What a copy would lose, invent or fetch is told before any converter opens the document, and so is why none may."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noarkit.copies.identity import Identifier
from noarkit.copies.inspection import inspect, words_of
from noarkit.copies.port import Failure, Identity
from noarkit.copies.reasons import Reason
from tests.copies.corpus import binary, images, odf, office, pdf
from tests.copies.corpus.hostile import FAR, HOSTILE, SECRET
from tests.copies.corpus.zips import pack

HIDDEN = "<w:vanish/>"
PRIVATE = "\uf0fe"


def _svg(inner: str) -> bytes:
    return f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">{inner}</svg>'.encode()


def _rtf(inner: str) -> bytes:
    return ("{\\rtf1\\ansi\\ansicpg1252 Vedtak " + inner + "}").encode("latin-1")


_TRACKED = (
    '<text:tracked-changes><text:changed-region text:id="c1"><text:deletion><text:p>bort</text:p></text:deletion>'
    "</text:changed-region></text:tracked-changes>"
)
_HIDDEN_STYLE = (
    '<style:style style:name="T1" style:family="text"><style:text-properties text:display="none"/></style:style>'
)
_BOUNDSHEET = binary.record(0x85, b"\0\0\0\0\1\0\3\0Ark")
CASES: tuple[tuple[str, bytes, dict[str, object]], ...] = (
    ("brev.docx", office.docx("Vedtak"), {}),
    ("dato.docx", office.docx(office.paragraph(office.field('DATE \\@ "d.M"', "1.1"))), {"fields": ["DATE"]}),
    ("tid.docx", office.docx(office.paragraph(office.simple_field("TIME", "10:00"))), {"fields": ["TIME"]}),
    (
        "felter.docx",
        office.docx(
            *(office.paragraph(office.field(code, "x")) for code in ("PRINTDATE", "IF 1 = 1 a b", "REF x", "FILENAME"))
        ),
        {"fields": ["FILENAME", "IF", "PRINTDATE", "REF"]},
    ),
    ("side.docx", office.docx("x", footer=office.paragraph(office.field("PAGE", "1"))), {}),
    (
        "datofot.docx",
        office.docx("x", footer=office.paragraph(office.field("SAVEDATE", "1"))),
        {"fields": ["SAVEDATE"]},
    ),
    (
        "endringer.docx",
        office.docx(office.paragraph(office.inserted("a"), office.deleted("b"))),
        {"tracked-changes": 2},
    ),
    ("merknad.docx", office.docx("x", comment="Er dette rett?"), {"comments": 1}),
    ("skjult.docx", office.docx(office.paragraph(office.run("hemmelig", HIDDEN))), {"hidden-text": 1}),
    ("synlig.docx", office.docx(office.paragraph(office.run("åpent", '<w:vanish w:val="0"/>'))), {}),
    ("kryss.docx", office.docx(f"{PRIVATE} ja"), {"private-characters": 1}),
    ("bilde.docx", office.docx("x", relations=[("r1", "image", FAR, True)]), {"external-content": 1}),
    ("lenke.docx", office.docx("x", relations=[("r1", "hyperlink", FAR, True)]), {}),
    ("mal.docx", office.docx("x", relations=[("r1", "attachedTemplate", "file:///C:/Normal.dotm", True)]), {}),
    ("nettmal.docx", office.docx("x", relations=[("r1", "attachedTemplate", FAR, True)]), {"external-content": 1}),
    ("objekt.docx", office.docx("x", extra={"word/embeddings/ark.xlsx": b"PK"}), {"embedded-objects": 1}),
    ("makro.docm", HOSTILE["makro.docm"](), {"macros": 1}),
    ("ark.xlsx", office.xlsx([["a"]]), {}),
    ("idag.xlsx", office.xlsx([["=TODAY()", "=NOW()+1", "=SUM(A1:A2)"]]), {"fields": ["NOW", "TODAY"]}),
    ("område.xlsx", office.xlsx([["a"]], print_area="Ark1!$A$1"), {"print-area": 1}),
    ("skjultark.xlsx", office.xlsx([["a"]], hidden_sheet="b"), {"hidden-sheets": 1}),
    ("skjultrad.xlsx", office.xlsx([["a"]], hidden_row=True), {"hidden-rows": 1}),
    ("merknad.xlsx", office.xlsx([["a"]], extra={"xl/comments1.xml": "<comments/>"}), {"comments": 1}),
    ("lang.xlsx", HOSTILE["lang-celle.xlsx"](), {}),
    ("notat.pptx", office.pptx(["a", "b"], notes="husk"), {"notes": 1}),
    ("skjult.pptx", office.pptx(["a", "b"], hidden=True), {"hidden-slides": 1}),
    ("brev.odt", odf.odt("Vedtak"), {}),
    ("dato.odt", odf.odt("<text:p><text:date>1.1</text:date></text:p>"), {"fields": ["DATE"]}),
    ("fastdato.odt", odf.odt('<text:p><text:date text:fixed="true">1.1</text:date></text:p>'), {}),
    ("endringer.odt", odf.odt("x", changes=_TRACKED), {"tracked-changes": 1}),
    (
        "merknad.odt",
        odf.odt("<text:p>x<office:annotation><text:p>?</text:p></office:annotation></text:p>"),
        {"comments": 1},
    ),
    (
        "skjult.odt",
        odf.odt('<text:p><text:span text:style-name="T1">x</text:span></text:p>', styles=_HIDDEN_STYLE),
        {"hidden-text": 1},
    ),
    ("fil.odt", HOSTILE["fillenke.odt"](), {"external-content": 1}),
    ("rot.odt", HOSTILE["fillenke-uten-skjema.odt"](), {"external-content": 1}),
    ("opp.odt", HOSTILE["fillenke-relativ.odt"](), {"external-content": 1}),
    ("lenke.odt", odf.odt(f'<text:p><text:a xlink:href="{FAR}">x</text:a></text:p>'), {}),
    ("makro.odt", odf.odt("x", Basic__Standard__M_xml="<m/>"), {"macros": 1}),
    ("skjult.ods", odf.ods([["a"]], hidden_sheet="b"), {"hidden-sheets": 1}),
    ("skjult.odp", odf.odp(["a", "b"], hidden=True, notes="husk"), {"hidden-slides": 1, "notes": 1}),
    ("brev.doc", binary.doc(), {}),
    ("endringer.doc", binary.doc(b"x" * 20 + b"\x01\x08\x01"), {"tracked-changes": 1}),
    ("skjult.doc", binary.doc(b"x" * 20 + b"\x3c\x08\x01"), {"hidden-text": 1}),
    ("dato.doc", binary.doc(b"a \x13 DATE \\@ d \x14 1.1 \x15"), {"fields": ["DATE"]}),
    ("bredt.doc", binary.doc("a \x13 FILENAME  \x14 b \x15".encode("utf-16-le")), {"fields": ["FILENAME"]}),
    ("merknader.doc", binary.doc(comments=2), {"comments": 2}),
    ("makro.doc", binary.doc(Macros__VBA__dir=b"x"), {"macros": 1}),
    ("ark.xls", binary.xls(), {}),
    ("idag.xls", binary.xls(binary.formula(b"\x19\x01\0\0\x41\xdd\x00")), {"fields": ["TODAY"]}),
    ("skjult.xls", binary.xls(_BOUNDSHEET), {"hidden-sheets": 1}),
    ("merknad.xls", binary.xls(binary.record(0x1C, bytes(8))), {"comments": 1}),
    ("fot.ppt", binary.ppt(binary.headers_of_slide(0x23)), {"fields": ["DATE"]}),
    ("tekstdato.ppt", binary.ppt(binary.atom(0xFF7, bytes(8))), {"fields": ["DATE"]}),
    ("formdato.ppt", binary.ppt(binary.atom(0x1015, bytes(0x84))), {"fields": ["DATE"]}),
    ("fast.ppt", binary.ppt(binary.headers_of_slide(0x25), binary.atom(0xFF8, bytes(4))), {}),
    ("utendato.ppt", binary.ppt(binary.headers_of_slide(0x22)), {}),
    ("itekst.ppt", binary.ppt(binary.atom(0xFA8, binary.atom(0xFF7, bytes(8)))), {}),
    ("bilde.rtf", HOSTILE["nettbilde.rtf"](), {"external-content": 1, "fields": ["INCLUDEPICTURE"]}),
    ("dato.rtf", _rtf("{\\field{\\*\\fldinst {\\rtlch\\af0 DATE \\\\@ d}}{\\fldrslt 1.1}}"), {"fields": ["DATE"]}),
    ("side.rtf", _rtf("{\\field{\\*\\fldinst PAGE}{\\fldrslt 1}}"), {}),
    ("skjult.rtf", _rtf("{\\v hemmelig}"), {"hidden-text": 1}),
    ("endringer.rtf", _rtf("{\\revised inn}{\\deleted ut}"), {"tracked-changes": 2}),
    ("merknad.rtf", _rtf("{\\*\\annotation hei}"), {"comments": 1}),
    ("rent.pdf", pdf.pdf(["Vedtak"]), {}),
    ("sperret.pdf", pdf.pdf(["Vedtak"], lock=""), {"restricted": None}),
    ("signert.pdf", pdf.pdf(["Vedtak"], pdf.signed), {"signed": 1}),
    ("vedlegg.pdf", pdf.pdf(["Vedtak"], pdf.with_attachment), {"attachments": 1}),
    ("skript.pdf", pdf.pdf(["Vedtak"], pdf.with_script), {"scripts": None}),
    ("navnskript.pdf", pdf.pdf(["Vedtak"], pdf.with_named_script), {"scripts": None}),
    ("skjema.pdf", pdf.pdf(["Vedtak"], pdf.with_form), {"form": 2}),
    ("endeløst.pdf", pdf.pdf(["Vedtak"], pdf.with_endless_form), {"form": 1}),
    ("lag.pdf", pdf.pdf(["Vedtak"], pdf.with_layers), {"layers": None}),
    ("nett.html", HOSTILE["nettbilde.html"](), {"external-content": 2}),
    ("fil.html", HOSTILE["filbilde.html"](), {"external-content": 2}),
    (
        "hel.html",
        b'<!DOCTYPE html><html><body><img src="data:image/png;base64,AA"><a href="http://a.no">x</a></body></html>',
        {},
    ),
    ("fil.svg", _svg(f'<image xlink:href="{SECRET}"/>'), {"external-content": 1}),
    ("ny.svg", _svg(f'<image href="{FAR}"/><use href="#a"/>'), {"external-content": 1}),
    ("skript.svg", _svg("<script>1</script>"), {"scripts": 1}),
    ("film.gif", images.frames("GIF"), {"frames": 3}),
    ("bilde.png", images.encoded("PNG"), {}),
)
REFUSED = {
    "bombe-ratio.docx": Reason.BOMB,
    "bombe-lang-tekst.docx": Reason.BOMB,
    "bombe-avsnitt.docx": Reason.BOMB,
    "bombe-tabeller.docx": Reason.BOMB,
    "bombe-medlemmer.zip": Reason.BOMB,
    "bombe-ratio.odt": Reason.BOMB,
    "bombe-entiteter.docx": Reason.BOMB,
    "bombe-entiteter.xlsx": Reason.BOMB,
    "bombe-entiteter.odt": Reason.BOMB,
    "bombe-entiteter.svg": Reason.BOMB,
    "dyp.rtf": Reason.BOMB,
    "løgn-om-størrelse.docx": Reason.DAMAGED,
    "avkortet.docx": Reason.DAMAGED,
    "avkortet.odt": Reason.DAMAGED,
    "avkortet.doc": Reason.DAMAGED,
    "ring.pdf": Reason.DAMAGED,
    "støy.pdf": Reason.DAMAGED,
    "rot-uten-sider.pdf": Reason.DAMAGED,
    "låst.docx": Reason.PASSWORD,
    "låst.doc": Reason.PASSWORD,
    "låst.xls": Reason.PASSWORD,
    "låst.odt": Reason.PASSWORD,
    "låst.pdf": Reason.PASSWORD,
    "kjempe.png": Reason.TOO_LARGE,
    "kjempe-liten-fil.png": Reason.TOO_LARGE,
}


@pytest.fixture(scope="module")
def identifier() -> Iterator[Identifier]:
    with Identifier() as identifier:
        yield identifier


@pytest.mark.parametrize(("name", "content", "expected"), CASES, ids=[case[0] for case in CASES])
def test_what_a_person_should_know_is_found(
    identifier: Identifier, tmp_path: Path, name: str, content: bytes, expected: dict[str, object]
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    found = inspect(path, identifier.identify(path, name))
    assert not isinstance(found, Failure), found
    assert {each.code: each.data.get("kinds", each.data.get("count")) for each in found} == expected


@pytest.mark.parametrize(("name", "reason"), REFUSED.items(), ids=list(REFUSED))
def test_what_no_converter_may_be_given_is_refused(
    identifier: Identifier, tmp_path: Path, name: str, reason: Reason
) -> None:
    path = tmp_path / name
    path.write_bytes(HOSTILE[name]())
    found = inspect(path, identifier.identify(path, name))
    assert isinstance(found, Failure)
    assert found.reason is reason
    assert not words_of(path, identifier.identify(path, name)) or name == "bombe-entiteter.odt"  # not where words are


def test_a_sheet_may_have_more_paragraphs_than_any_letter(
    identifier: Identifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("noarkit.documents.zipped.MOST_PARAGRAPHS", 50)
    for name, content, refused in (
        ("a.ods", odf.ods([["x"] * 10] * 10), False),
        ("a.odt", odf.odt(*["x"] * 100), True),
        ("a.docx", office.docx(*["x"] * 100), True),
    ):
        path = tmp_path / name
        path.write_bytes(content)
        found = inspect(path, identifier.identify(path, name))
        assert isinstance(found, Failure) == refused, name
        if isinstance(found, Failure):
            assert (found.reason, found.data) == (Reason.TOO_LARGE, {"paragraphs": 51})


_KINDS = {
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "odt": "application/vnd.oasis.opendocument.text",
    "doc": "application/msword",
    "xls": "application/vnd.ms-excel",
    "rtf": "application/rtf",
    "pdf": "application/pdf",
    "html": "text/html",
    "png": "image/png",
    "zip": "application/zip",
}
_SEEDS = {
    "docx": office.docx("Vedtak", comment="a", footer=office.paragraph(office.field("PAGE", "1"))),
    "odt": odf.odt("Vedtak"),
    "doc": binary.doc(Macros__VBA__dir=b"x"),
    "xls": binary.xls(binary.formula(b"\x41\xdd\x00"), _BOUNDSHEET),
    "rtf": _rtf("{\\v a}{\\field{\\*\\fldinst DATE}{\\fldrslt 1}}\\u248 ?"),
    "pdf": pdf.pdf(["Vedtak"], pdf.with_form, pdf.with_attachment, pdf.with_layers),
    "html": HOSTILE["nettbilde.html"](),
    "png": images.encoded("PNG"),
    "zip": pack({"a": b"a" * 100, "META-INF/manifest.xml": odf.LOCKED_MANIFEST}),
}


@pytest.mark.parametrize("kind", ["docx", "odt", "zip"])
def test_a_list_of_members_that_leads_before_the_file_is_damage(tmp_path: Path, kind: str) -> None:
    content = bytearray(_SEEDS[kind])
    end = content.rindex(b"PK\x05\x06")
    size, offset = struct.unpack("<2L", content[end + 12 : end + 20])
    # zipfile adds to every place what the list lies too early by, and here that is less than nothing
    content[end + 12 : end + 20] = struct.pack("<2L", size, offset + size)
    path = tmp_path / f"broken.{kind}"
    path.write_bytes(content)
    outcome = inspect(path, Identity(None, _KINDS[kind], kind, "signature"))
    assert isinstance(outcome, Failure) and outcome.reason == Reason.DAMAGED, outcome


@settings(max_examples=150, deadline=None)
@given(kind=st.sampled_from(sorted(_SEEDS)), data=st.data())
def test_no_bytes_make_the_inspection_raise(
    tmp_path_factory: pytest.TempPathFactory, kind: str, data: st.DataObject
) -> None:
    content = bytearray(_SEEDS[kind])
    for place, byte in data.draw(
        st.lists(st.tuples(st.integers(0, len(content) - 1), st.integers(0, 255)), max_size=30)
    ):
        content[place] = byte
    cut = data.draw(st.integers(0, len(content)))
    path = tmp_path_factory.getbasetemp() / f"{os.getpid()}-broken"
    path.write_bytes(content[:cut] if data.draw(st.booleans()) else content)
    identity = Identity(None, _KINDS[kind], kind, "signature")
    assert isinstance(inspect(path, identity), tuple | Failure)
    words_of(path, identity)
