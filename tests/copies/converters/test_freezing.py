"""What a field showed when it was stored is there after freezing, and the rest is there byte for byte."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import pytest
from lxml import etree

from noarkit.copies.converters import freezing_codes
from noarkit.copies.converters.freezing import FreezeReport, freeze_fields
from noarkit.errors import PackageFault, UnsafeXml
from tests.copies.converters.documents import docx, odf, paragraph, pptx, rtf, word_field, write_zip, xlsx
from tests.copies.corpus import office

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def freeze(source: Path, *, only_volatile: bool = False) -> tuple[FreezeReport, Path]:
    """The report, and the frozen copy where there is one."""
    target = source.with_name(f"frozen-{source.name}")
    return freeze_fields(source, target, only_volatile=only_volatile), target


def part(path: Path, name: str) -> str:
    """A part of a package, read by the standard library and parsed whole by lxml: it must be well-formed."""
    with zipfile.ZipFile(path) as package:
        assert package.testzip() is None
        text = package.read(name)
    etree.fromstring(text)
    return text.decode()


def texts(path: Path, name: str = "word/document.xml") -> str:
    """What stands in the texts of Word."""
    return "".join(node.text or "" for node in etree.fromstring(part(path, name).encode()).iter(f"{W}t"))


def test_results_stay_and_codes_go(tmp_path: Path) -> None:
    body = paragraph("før") + word_field('DATE \\@ "d. MMMM"', "3. mars 2009") + word_field("REF x", "fire")
    report, frozen = freeze(
        docx(
            tmp_path / "a.docx",
            body + '<w:p><w:fldSimple w:instr="TIME"><w:r><w:t>09:17</w:t></w:r></w:fldSimple></w:p>',
        )
    )
    assert report == FreezeReport(frozen=3)
    assert texts(frozen) == "førFelt: 3. mars 2009Felt: fire09:17"
    assert not any(sign in part(frozen, "word/document.xml") for sign in ("fldChar", "instrText", "fldSimple", "DATE"))


def test_numbers_of_pages_links_and_form_fields_live_on(tmp_path: Path) -> None:
    box = (
        '<w:p><w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox/></w:ffData>'
        "</w:fldChar></w:r><w:r><w:instrText> FORMCHECKBOX </w:instrText></w:r>"
        '<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
    )
    living = word_field("PAGE", "4") + word_field(" numpages ", "9") + word_field('HYPERLINK "x"', "lenke") + box
    source = docx(tmp_path / "a.docx", living)
    report, frozen = freeze(source)
    assert report == FreezeReport()
    assert not frozen.exists()
    _, frozen = freeze(docx(tmp_path / "b.docx", living + word_field("DATE", "i går")))
    assert living in part(frozen, "word/document.xml")


def test_what_stands_in_an_instruction_does_not_become_text(tmp_path: Path) -> None:
    run = "<w:r>{}</w:r>".format
    mark = '<w:fldChar w:fldCharType="{}"/>'.format
    inner = run(mark("begin")) + run("<w:instrText>MERGEFIELD kjonn</w:instrText>") + run(mark("separate"))
    inner += run("<w:t>K</w:t>") + run(mark("end"))
    outer = (
        run(mark("begin")) + run("<w:instrText>IF </w:instrText>") + inner + run('<w:instrText> = "K"</w:instrText>')
    )
    outer += run(mark("separate")) + run("<w:rPr><w:b/></w:rPr><w:t>fru</w:t>") + run(mark("end"))
    report, frozen = freeze(docx(tmp_path / "a.docx", f"<w:p>{outer}</w:p>"))
    assert texts(frozen) == "fru"
    assert "<w:b/>" in part(frozen, "word/document.xml")
    assert report.frozen == 2


@pytest.mark.parametrize("in_result", [False, True])
def test_a_date_within_a_condition_keeps_what_it_showed(in_result: bool, tmp_path: Path) -> None:
    source = tmp_path / "a.docx"
    source.write_bytes(office.docx(office.paragraph(office.field_within("3. mars 2009", in_result=in_result))))
    report, frozen = freeze(source)
    assert texts(frozen) == "3. mars 2009"
    assert report == FreezeReport(frozen=3 if in_result else 2)


def test_a_sum_of_page_numbers_cannot_be_frozen_and_that_is_said(tmp_path: Path) -> None:
    page = word_field("PAGE", "3").removeprefix('<w:p><w:r><w:t xml:space="preserve">Felt: </w:t></w:r>')
    instruction = page.removesuffix("</w:p>")
    field = (
        '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>= </w:instrText></w:r>'
        + instruction
        + '<w:r><w:instrText> - 1</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>2</w:t>'
        '</w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
    )
    report, frozen = freeze(docx(tmp_path / "a.docx", field))
    assert texts(frozen) == "2"
    assert report.unfrozen == ("=",)
    assert report.findings[0].code == "fields"


def test_headers_notes_and_bound_contents_are_frozen_too(tmp_path: Path) -> None:
    root = '<w:hdr xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">{}</w:hdr>'
    bound = '<w:p><w:sdt><w:sdtPr><w:dataBinding w:xpath="/a"/></w:sdtPr><w:sdtContent/></w:sdt></w:p>'
    more: dict[str, str | bytes] = {
        "word/header1.xml": root.format(word_field("DATE", "i fjor")),
        "word/media/x.png": b"\x89PNG bytes",
    }
    _, frozen = freeze(docx(tmp_path / "a.docx", bound, more=more))
    assert texts(frozen, "word/header1.xml") == "Felt: i fjor"
    assert "dataBinding" not in part(frozen, "word/document.xml")
    with zipfile.ZipFile(frozen) as package:
        assert package.read("word/media/x.png") == b"\x89PNG bytes"


def test_everything_else_is_there_byte_for_byte(tmp_path: Path) -> None:
    odd = '<w:p  w:rsidR = "0" ><!-- a > b --><w:r><w:t>&#229; &amp; <![CDATA[<f/>]]></w:t></w:r ></w:p >'
    date = '<w:fldSimple w:instr="DATE \\@ &quot;d>M&quot;"><w:r><w:t>x</w:t></w:r></w:fldSimple >'
    source = docx(tmp_path / "a.docx", odd + f"<w:p>{date}</w:p>" + odd)
    _, frozen = freeze(source)
    expected = part(source, "word/document.xml").replace(date, "<w:r><w:t>x</w:t></w:r>")
    assert part(frozen, "word/document.xml") == expected


def test_a_large_part_is_edited_without_being_held(tmp_path: Path) -> None:
    body = "".join(word_field("DATE", f"dag {number}") for number in range(60_000))
    source = docx(tmp_path / "a.docx", body)
    assert len(body) > 16 * 1024 * 1024
    report, frozen = freeze(source)
    assert report.frozen == 60_000
    assert texts(frozen).endswith("dag 59999")


def test_another_encoding_is_not_frozen_and_that_is_said(tmp_path: Path) -> None:
    source = docx(tmp_path / "a.docx", word_field("DATE", "x"))
    with zipfile.ZipFile(source) as package:
        parts = {name: package.read(name) for name in package.namelist()}
    text = parts["word/document.xml"].decode().replace("UTF-8", "UTF-16")
    parts["word/document.xml"] = text.encode("utf-16")
    report, frozen = freeze(write_zip(tmp_path / "b.docx", parts))
    assert report.unfrozen == ("encoding",)
    assert not frozen.exists()


def test_hostile_xml_is_refused(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "fldChar">]><x>&a;</x>'
    with pytest.raises(UnsafeXml):
        freeze(write_zip(tmp_path / "a.docx", {"word/document.xml": bomb}))
    with pytest.raises(PackageFault):
        freeze(write_zip(tmp_path / "b.docx", {"word/document.xml": "<fldChar><open>"}))


def test_cells_keep_their_value_and_lose_their_formula(tmp_path: Path) -> None:
    cells = (
        '<row r="1"><c r="A1"><f>TODAY()</f><v>39875</v></c><c r="B1" t="str"><f>A1&amp;"x"</f><v>39875x</v></c>'
        '<c r="C1"><f t="shared" ref="C1:C2" si="0">A1*2</f><v>4</v></c><c r="D1"><f>NOW()</f></c>'
        '<c r="E1"><v>7</v></c></row><row r="2"><c r="C2"><f t="shared" si="0"/><v>6</v></c></row>'
    )
    header = "<headerFooter><oddHeader>&amp;L&amp;F &amp;D R&amp;&amp;D</oddHeader></headerFooter>"
    source = xlsx(tmp_path / "a.xlsx", cells, after=header)
    report, frozen = freeze(source)
    sheet = part(frozen, "xl/worksheets/sheet1.xml")
    assert report == FreezeReport(4, ("NOW", "&D"), prints_name=True)
    assert '<c r="A1"><v>39875</v></c><c r="B1" t="str"><v>39875x</v></c><c r="C1"><v>4</v></c>' in sheet
    assert '<c r="C2"><v>6</v></c>' in sheet and "<f>NOW()</f>" in sheet
    report, frozen = freeze(source, only_volatile=True)
    sheet = part(frozen, "xl/worksheets/sheet1.xml")
    assert "TODAY" not in sheet and "<f>A1&amp;" in sheet and 'si="0">A1*2</f>' in sheet


def test_a_formula_that_others_share_stays_where_one_of_them_has_no_value(tmp_path: Path) -> None:
    cells = (
        '<row r="1"><c r="A1"><f t="shared" ref="A1:A3" si="3">B1+1</f><v>4</v></c>'
        '<c r="A2"><f t="shared" si="3"/></c><c r="A3"><f t="shared" si="3"/><v>6</v></c></row>'
    )
    _, frozen = freeze(xlsx(tmp_path / "a.xlsx", cells))
    sheet = part(frozen, "xl/worksheets/sheet1.xml")
    assert 'si="3">B1+1</f><v>4</v>' in sheet
    assert '<c r="A2"><f t="shared" si="3"/></c>' in sheet
    assert '<c r="A3"><v>6</v></c>' in sheet


def test_dates_of_slides_become_text(tmp_path: Path) -> None:
    field = '<a:fld id="{1}" type="datetime1"><a:rPr lang="nb-NO"/><a:pPr/><a:t>1.2.2003</a:t></a:fld>'
    number = '<a:fld id="{2}" type="slidenum"><a:t>2</a:t></a:fld>'
    report, frozen = freeze(pptx(tmp_path / "a.pptx", field + number))
    slide = part(frozen, "ppt/slides/slide1.xml")
    assert report.frozen == 1
    assert '<a:r><a:rPr lang="nb-NO"/><a:t>1.2.2003</a:t></a:r>' in slide
    assert number in slide


def test_fields_and_cells_of_opendocument_are_frozen(tmp_path: Path) -> None:
    text = odf(
        tmp_path / "a.odt",
        "text",
        '<text:p><text:date text:date-value="2009-03-03">3. mars</text:date> <text:page-number>2</text:page-number> '
        "<text:file-name>brev.odt</text:file-name><text:bookmark-ref>fire</text:bookmark-ref></text:p>",
    )
    report, frozen = freeze(text)
    assert report == FreezeReport(3)
    assert "<text:p>3. mars <text:page-number>2</text:page-number> brev.odtfire</text:p>" in part(frozen, "content.xml")
    with zipfile.ZipFile(frozen) as package:
        assert package.infolist()[0].filename == "mimetype"
        assert package.infolist()[0].compress_type == zipfile.ZIP_STORED
    cell = '<table:table-cell{} office:value-type="float" office:value="4"/>'
    sheet = cell.format(' table:formula="of:=TODAY()"') + cell.format(' table:formula="of:=[.A1]"')
    report, frozen = freeze(odf(tmp_path / "a.ods", "spreadsheet", f"<table:table>{sheet}</table:table>"))
    assert cell.format("") * 2 in part(frozen, "content.xml")
    report, frozen = freeze(tmp_path / "a.ods", only_volatile=True)
    assert cell.format("") + cell.format(' table:formula="of:=[.A1]"') in part(frozen, "content.xml")


def test_fields_of_rtf_are_found(tmp_path: Path) -> None:
    path = rtf(tmp_path / "a.rtf", "x")
    field = b"{\\field{\\*\\fldinst {\\rtlch\\fs22  %s }}{\\fldrslt 3. mars}}"
    path.write_bytes(path.read_bytes() + field % b'DATE \\\\@ "d"' + field % b"PAGE" + field % b"FILENAME")
    report, frozen = freeze(path)
    assert report == FreezeReport(unfrozen=("DATE", "FILENAME"), prints_name=True)
    assert not frozen.exists()


def test_functions_of_the_clock_are_found_in_old_workbooks(tmp_path: Path) -> None:
    class Stream:
        def __init__(self, data: bytes) -> None:
            self.data = data

        def read(self, length: int) -> bytes:
            block, self.data = self.data[:length], self.data[length:]
            return block

    def formula(tokens: bytes) -> bytes:
        body = bytes(20) + struct.pack("<H", len(tokens)) + tokens
        return struct.pack("<HH", 6, len(body)) + body

    bare = struct.pack("<HH", 9, 4) + b"\x21\xdd\x00\x00"
    records = bare + formula(b"\x1e\x01\x00") + formula(b"\x19\x01\x00\x00\x21\xdd\x00")
    assert list(freezing_codes._of_sheets(Stream(records))) == ["TODAY"]  # type: ignore[arg-type]  # it reads
