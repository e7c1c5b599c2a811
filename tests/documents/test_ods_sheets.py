"""Sheets of OpenDocument: what another program writes is read as its own workbook of the same table is, and what it
repeats, hides or leaves empty is told as often as it is there."""

from __future__ import annotations

import subprocess
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from noarkit.documents import sheets
from noarkit.documents.ods_sheets import ods_rows
from noarkit.errors import PackageFault
from noarkit.sources.files.register.tables import sheet_rows

TABLE = 'Tittel;Dato;Antall;Beløp;Ja\n"Høring  om ""veg""";2014-03-12;5;2.5;TRUE\n;;;;\nÅ;2015-01-01;-3;1000000;FALSE\n'
NAMES = " ".join(
    f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for short, name in (("office", "office"), ("table", "table"), ("text", "text"), ("style", "style"))
)


def workbook(body: str, styles: str = "") -> BytesIO:
    """A spreadsheet around the tables."""
    target = BytesIO()
    with zipfile.ZipFile(target, "w") as book:
        book.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        content = f"<office:automatic-styles>{styles}</office:automatic-styles><office:body>{body}</office:body>"
        book.writestr("content.xml", f"<office:document-content {NAMES}>{content}</office:document-content>")
    target.seek(0)
    return target


def cell(text: str, times: int = 1) -> str:
    repeated = f' table:number-columns-repeated="{times}"' if times > 1 else ""
    return f'<table:table-cell office:value-type="string"{repeated}><text:p>{text}</text:p></table:table-cell>'


def test_what_another_program_writes_is_read_as_its_workbook_is(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE, "utf-8")
    for extension in ("ods", "xlsx"):
        command = ["soffice", "--headless", "--convert-to", extension, "--infilter=CSV:59,34,76,1,,1033,false,true"]
        subprocess.run([*command, "--outdir", str(tmp_path), str(tmp_path / "t.csv")], check=True, capture_output=True)
    with (tmp_path / "t.ods").open("rb") as ods, (tmp_path / "t.xlsx").open("rb") as xlsx:
        rows = [row for _, row in ods_rows(ods)]
        others = [cells for _, cells in sheet_rows(xlsx, "xlsx")]
    assert len(rows) == len(others)
    assert rows[0] == ["Tittel", "Dato", "Antall", "Beløp", "Ja"]
    assert rows[1] == ['Høring  om "veg"', "2014-03-12", "5", "2.5", "true"]
    assert [row for row in rows if row] == [row for row in others if any(row)]


def test_repeated_cells_and_rows_are_told_as_often_and_empty_ones_at_the_end_are_not() -> None:
    body = (
        '<table:table table:name="A"><table:table-row table:number-rows-repeated="2">'
        f'{cell("x", 2)}{cell("", 3)}{cell("y")}<table:table-cell table:number-columns-repeated="16000"/>'
        '</table:table-row><table:table-row table:number-rows-repeated="2"><table:table-cell/></table:table-row>'
        f"<table:table-row>{cell('z')}</table:table-row>"
        '<table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row></table:table>'
    )
    row = ["x", "x", "", "", "", "y"]
    assert list(ods_rows(workbook(body))) == [("A", one) for one in (row, row, [], [], ["z"])]


def test_a_hidden_sheet_is_not_told() -> None:
    hidden = '<style:style style:name="h"><style:table-properties table:display="false"/></style:style>'
    shown = '<style:style style:name="s"><style:table-properties table:display="true"/></style:style>'
    row = f"<table:table-row>{cell('x')}</table:table-row>"
    sheets_ = "".join(
        f'<table:table table:name="{name}" table:style-name="{name}">{row}</table:table>' for name in ("s", "h")
    )
    assert list(ods_rows(workbook(sheets_, hidden + shown))) == [("s", ["x"])]


def test_texts_of_several_paragraphs_tabs_and_remarks() -> None:
    text = 'a<text:s text:c="2"/>b<text:tab/>c<text:span>d</text:span>'
    remark = "<office:annotation><text:p>a remark</text:p></office:annotation>"
    body = (
        '<table:table table:name="A"><table:table-row><table:table-cell office:value-type="string">'
        f"{remark}<text:p>{text}</text:p><text:p>e</text:p></table:table-cell></table:table-row></table:table>"
    )
    assert list(ods_rows(workbook(body))) == [("A", ["a  b cd\ne"])]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"no zip at all"])
def test_what_is_no_spreadsheet_is_refused(content: bytes) -> None:
    with pytest.raises(PackageFault):
        list(ods_rows(BytesIO(content)))


def test_a_hidden_sheet_of_a_workbook_is_not_told_either_and_rows_keep_their_numbers() -> None:
    book = BytesIO()
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    with zipfile.ZipFile(book, "w") as archive:
        names = "".join(
            f'<sheet name="{name}" sheetId="{n}" {state} r:id="r{n}"/>'
            for n, name, state in ((1, "A", 'state="hidden"'), (2, "B", ""))
        )
        archive.writestr(
            "xl/workbook.xml", f'<workbook {space} xmlns:r="{relations}"><sheets>{names}</sheets></workbook>'
        )
        targets = "".join(f'<Relationship Id="r{n}" Target="worksheets/sheet{n}.xml" Type="t"/>' for n in (1, 2))
        archive.writestr("xl/_rels/workbook.xml.rels", f'<Relationships xmlns="x">{targets}</Relationships>')
        for n in (1, 2):
            row = f'<row r="2"><c r="A2" t="inlineStr"><is><t>{n}</t></is></c></row>'
            archive.writestr(
                f"xl/worksheets/sheet{n}.xml", f"<worksheet {space}><sheetData>{row}</sheetData></worksheet>"
            )
    assert [(name, row.cells[0].value) for name, row in sheets.rows_of_all(book)] == [("A", "1"), ("B", "2")]
    assert list(sheet_rows(book, "xlsx")) == [("B", []), ("B", ["2"])]
