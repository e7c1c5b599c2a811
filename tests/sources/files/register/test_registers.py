"""Registers beside files and registers that lead, in the forms and dialects people send."""

from __future__ import annotations

import json
import os
import tempfile
import unicodedata
import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noarkit.documents import sheets
from noarkit.errors import ItemMalformed, ItemVanished
from noarkit.events import ignore_event
from noarkit.graph.entity import SetAside, Skipped
from noarkit.records import SourceItem, SourceRecord
from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.register import tables
from noarkit.sources.files.register.rows import read_register
from noarkit.sources.files.source import FileTree

PLAIN = FilePolicy(media_types=False)

BOOK = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def lay_out(root: Path, held: Mapping[str, bytes]) -> None:
    """Files with contents."""
    for name, content in held.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)


def read(root: Path, policy: FilePolicy = PLAIN) -> list[SourceItem]:
    """All that a tree yields."""
    return list(FileTree(root, policy).records(ignore_event))


def told(root: Path, policy: FilePolicy = PLAIN) -> dict[str, object]:
    """What the register says, by key."""
    return {item.key: item.fields["register"] for item in read(root, policy) if isinstance(item, SourceRecord)}


def noted(root: Path, policy: FilePolicy = PLAIN) -> dict[str, list[str]]:
    """Codes of notes, by key, where there are any."""
    records = [item for item in read(root, policy) if isinstance(item, SourceRecord) and item.notes]
    return {record.key: [note.code for note in record.notes] for record in records}


def workbook(rows: str, *, strings: str = "", styles: str = "", settings: str = "") -> bytes:
    """A small workbook around the given rows."""
    target = BytesIO()
    with zipfile.ZipFile(target, "w") as book:
        sheet = '<sheets><sheet name="A" sheetId="1" r:id="r7"/></sheets>'
        book.writestr("xl/workbook.xml", f'<workbook xmlns="{BOOK}" xmlns:r="{RELATION}">{settings}{sheet}</workbook>')
        relation = '<Relationship Id="r7" Target="worksheets/ark.xml" Type="t"/>'
        book.writestr("xl/_rels/workbook.xml.rels", f'<Relationships xmlns="x">{relation}</Relationships>')
        sheet_data = f'<worksheet xmlns="{BOOK}"><sheetData>{rows}</sheetData></worksheet>'
        book.writestr("xl/worksheets/ark.xml", sheet_data)
        if strings:
            book.writestr("xl/sharedStrings.xml", f'<sst xmlns="{BOOK}">{strings}</sst>')
        if styles:
            book.writestr("xl/styles.xml", f'<styleSheet xmlns="{BOOK}">{styles}</styleSheet>')
    return target.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b'path,tittel\na.txt,"Bl\xc3\xa5, b\xc3\xa6r"\n',
        b"\xef\xbb\xbfpath;tittel\r\na.txt;Bl\xc3\xa5, b\xc3\xa6r\r\n",
        b"path;tittel\r\na.txt;Bl\xe5, b\xe6r",
        b"sep=|\npath|tittel\na.txt|Bl\xe5, b\xe6r\n",
        "path\ttittel\n.\\a.txt\tBlå, bær\n".encode("utf-16"),
        b'"path";"tittel"\n\n"a.txt";"Bl\xc3\xa5, b\xc3\xa6r"\n;;\n',
    ],
)
def test_csv_is_read_in_the_dialect_and_encoding_it_has(tmp_path: Path, content: bytes) -> None:
    lay_out(tmp_path, {"a.txt": b"", "metadata.csv": content})
    row = told(tmp_path)["a.txt"]
    assert isinstance(row, dict)
    assert row["tittel"] == "Blå, bær"


@pytest.mark.parametrize(
    "content",
    [
        b'[{"fil": "a.txt", "emner": ["x", "y"], "n": 1}]',
        b'\xef\xbb\xbf {"rader": [{"fil": "a.txt", "emner": ["x", "y"], "n": 1}]}',
    ],
)
def test_json_keeps_its_values_as_they_are(tmp_path: Path, content: bytes) -> None:
    lay_out(tmp_path, {"a.txt": b"", "metadata.json": content})
    assert told(tmp_path)["a.txt"] == {"fil": "a.txt", "emner": ["x", "y"], "n": 1}


def test_json_may_have_the_files_as_its_names(tmp_path: Path) -> None:
    lay_out(tmp_path, {"a.txt": b"", "metadata.json": b'{"a.txt": {"tittel": "A"}, "b.txt": {}}'})
    assert told(tmp_path)["a.txt"] == {"path": "a.txt", "tittel": "A"}


def test_a_workbook_gives_texts_numbers_dates_and_truths(tmp_path: Path) -> None:
    strings = "<si><t>fil</t></si><si><r><t>To</t></r><r><t> biter</t></r><rPh><t>x</t></rPh></si>"
    styles = (
        '<numFmts><numFmt numFmtId="170" formatCode="dd/mm/yyyy"/>'
        '<numFmt numFmtId="171" formatCode="0 &quot;dager&quot;"/></numFmts><cellXfs>'
        '<xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="170"/><xf numFmtId="171"/></cellXfs>'
    )
    names = "".join(f'<c r="{one}1" t="inlineStr"><is><t>{one}</t></is></c>' for one in "BCDEFGH")
    row = (
        '<c r="A2" t="inlineStr"><is><t>a.txt</t></is></c><c r="B2" t="s"><v>1</v></c><c r="C2"><v>42</v></c>'
        '<c r="D2"><v>2.5</v></c><c r="E2" s="1"><v>45293</v></c><c r="F2" s="2"><v>45293.5</v></c>'
        '<c r="G2" t="b"><v>1</v></c><c r="H2" s="3"><v>7</v></c>'
    )
    rows = f'<row r="1"><c r="A1" t="s"><v>0</v></c>{names}</row><row r="2">{row}</row>'
    lay_out(tmp_path, {"a.txt": b"", "metadata.xlsx": workbook(rows, strings=strings, styles=styles)})
    assert told(tmp_path)["a.txt"] == {
        **{"fil": "a.txt", "B": "To biter", "C": "42", "D": "2.5"},
        **{"E": "2024-01-02", "F": "2024-01-02T12:00:00", "G": "true", "H": "7"},
    }


def test_a_workbook_of_the_other_epoch_has_other_days() -> None:
    rows = '<row><c r="A1" s="0"><v>43831</v></c></row>'
    styles = '<cellXfs><xf numFmtId="14"/></cellXfs>'
    book = workbook(rows, styles=styles, settings='<workbookPr date1904="1"/>')
    assert list(sheets.rows(BytesIO(book))) == [["2024-01-02"]]


def test_the_nearest_register_that_knows_a_file_speaks(tmp_path: Path) -> None:
    held = {
        "metadata.csv": b"path;t\na.txt;ytre\nd/b.txt;ytre\nd/c.txt;ytre\n",
        "d/metadata.csv": b"path;t\nb.txt;indre\n",
        **dict.fromkeys(("a.txt", "d/b.txt", "d/c.txt", "d/e/a.txt", "f/x.txt"), b""),
    }
    lay_out(tmp_path, held)
    rows = {key: row.get("t") for key, row in told(tmp_path).items() if isinstance(row, dict) and row}
    assert rows == {"a.txt": "ytre", "d/b.txt": "indre", "d/c.txt": "ytre", "d/e/a.txt": "ytre"}


def test_another_writing_of_a_name_is_found_and_noted(tmp_path: Path) -> None:
    loose = unicodedata.normalize("NFD", "blå.txt")
    lay_out(tmp_path, {loose: b"x", "Stor.TXT": b"x", "metadata.csv": "path;t\nblå.txt;1\nstor.txt;2\n".encode()})
    assert noted(tmp_path) == {"Stor.TXT": ["W213"], loose: ["W213"]}


def test_a_register_that_names_a_file_twice_is_noted(tmp_path: Path) -> None:
    lay_out(tmp_path, {"a.txt": b"x", "metadata.csv": b"path;t\na.txt;1\na.txt;2\n"})
    assert noted(tmp_path) == {"a.txt": ["W215"]}
    assert told(tmp_path)["a.txt"] == {"path": "a.txt", "t": "1"}


BROKEN = {
    "metadata.csv": b"ingen;slik\n1;2\n",
    "metadata.json": b'[{"path": "a"}, 7]',
    "metadata.xlsx": b"PK\x03\x04 nei",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_register_that_cannot_be_read_is_noted_and_the_files_are_taken(tmp_path: Path, name: str) -> None:
    lay_out(tmp_path, {"a.txt": b"x", name: BROKEN[name]})
    assert noted(tmp_path) == {name: ["W214"]}
    assert set(told(tmp_path)) == {"a.txt", name}


def test_registers_are_left_alone_when_told_so(tmp_path: Path) -> None:
    lay_out(tmp_path, {"a.txt": b"x", "metadata.csv": b"path;t\na.txt;1\n"})
    assert told(tmp_path, FilePolicy(media_types=False, registers=False))["a.txt"] == {}


def test_a_leading_register_gives_the_records_in_its_own_order(tmp_path: Path) -> None:
    lay_out(
        tmp_path,
        {
            "filer/b.txt": b"b",
            "filer/å.txt": b"a",
            "filer/uten.txt": b"",
            "r/liste.csv": "FIL;Tittel\nb.txt;B\nå.txt;A\nborte.txt;C\n;tom\n../x;ut\nb.txt;B2\n".encode(),
        },
    )
    (tmp_path / "r/liste.csv").rename(tmp_path / "filer/liste.csv")
    (tmp_path / "r").rmdir()
    items = read(tmp_path, FilePolicy(lead="filer/liste.csv"))
    rows = [(item.key, item.fields["register"]) for item in items if isinstance(item, SourceRecord)]
    assert rows == [
        ("filer/b.txt", {"FIL": "b.txt", "Tittel": "B"}),
        ("filer/å.txt", {"FIL": "å.txt", "Tittel": "A"}),
        ("filer/b.txt//2", {"FIL": "b.txt", "Tittel": "B2"}),
    ]
    assert [(item.record_key, item.code) for item in items if isinstance(item, SetAside)] == [
        ("filer/liste.csv//row/3", "F202"),
        ("filer/liste.csv//row/4", "F206"),
        ("filer/liste.csv//row/5", "F206"),
    ]
    assert {item.record_key: item.reason for item in items if isinstance(item, Skipped)} == {
        "filer/liste.csv": "the register itself",
        "filer/uten.txt": "not named by the register",
    }


def test_what_a_leading_register_does_not_name_may_be_taken_too(tmp_path: Path) -> None:
    lay_out(tmp_path, {"a": b"", "b": b"", "l.csv": b"path\nb\n"})
    items = read(tmp_path, FilePolicy(lead="l.csv", unnamed="take"))
    assert [item.key for item in items if isinstance(item, SourceRecord)] == ["b", "a"]


def test_what_a_row_names_is_judged_like_any_file_and_told_once(tmp_path: Path) -> None:
    lay_out(tmp_path, {"a": b"", "l.csv": b"path\nfifo\nlink\nfolder\n"})
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "folder").mkdir()
    items = read(tmp_path, FilePolicy(lead="l.csv"))
    assert [(type(item).__name__, getattr(item, "record_key", "")) for item in items] == [
        ("SetAside", "fifo"),
        ("Skipped", "link"),
        ("SetAside", "folder"),
        ("Skipped", "a"),
        ("Skipped", "l.csv"),
    ]


def test_a_leading_register_that_is_not_there_or_unreadable_stops_the_source(tmp_path: Path) -> None:
    lay_out(tmp_path, {"a.txt": b"x", "l.csv": b"x;y\n1;2\n"})
    with pytest.raises(ItemVanished):
        read(tmp_path, FilePolicy(lead="borte.csv"))
    with pytest.raises(ItemMalformed):
        read(tmp_path, FilePolicy(lead="l.csv"))


def test_the_column_that_names_the_file_may_be_told(tmp_path: Path) -> None:
    lay_out(tmp_path, {"a.txt": b"x", "l.csv": b"Objekt;path\na.txt;feil\n"})
    policy = FilePolicy(lead="l.csv", register_column="objekt")
    assert list(told(tmp_path, policy)) == ["a.txt"]


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(cells, cells), max_size=8), st.sampled_from(";,\t|"))
def test_what_was_written_as_csv_is_read_again(rows: list[tuple[str, str]], delimiter: str) -> None:
    quoted = ['"' + cell.replace('"', '""') + '"' for row in rows for cell in row]
    text = f"en{delimiter}to\n" + "".join(
        f"{one}{delimiter}{other}\r\n" for one, other in zip(quoted[::2], quoted[1::2], strict=True)
    )
    expected = [{"en": one, "to": other} for one, other in rows if one.strip() or other.strip()]
    with tables.text_of(BytesIO(text.encode())) as file:
        assert list(tables.mapping_rows(tables.csv_rows(file))) == expected


@settings(max_examples=100, deadline=None)
@given(st.lists(st.dictionaries(st.text(max_size=5), st.one_of(st.integers(), st.text(max_size=20)), max_size=3)))
def test_a_json_list_is_read_item_by_item(rows: list[dict[str, object]]) -> None:
    for indent in (None, 2):
        content = json.dumps(rows, indent=indent, ensure_ascii=False).encode("utf-8", "surrogatepass")
        try:
            content.decode()
        except UnicodeDecodeError:
            return
        with tables.text_of(BytesIO(content), "utf-8") as file:
            assert list(tables.json_rows(file)) == rows


def test_a_json_list_longer_than_a_block_is_read_whole() -> None:
    rows = [{"path": f"{number}.txt", "n": number} for number in range(60_000)]
    with tables.text_of(BytesIO(json.dumps(rows).encode()), "utf-8") as file:
        assert list(tables.json_rows(file)) == rows


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200), st.sampled_from(["r.csv", "r.json", "r.xlsx"]))
def test_no_bytes_make_the_reader_of_registers_stumble(content: bytes, name: str) -> None:
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.seek(0)
        try:
            read_register(file, where=name).close()
        except ItemMalformed as fault:
            assert fault.data["key"] == name


@pytest.mark.parametrize(
    "rows",
    [
        "<row><c r='A1' t='s'><v>x</v></c></row>",
        "<row><c r='A1' s='x'><v>1</v></c></row>",
        "<row><c r='A1'><v>ett</v></c></row>",
        "<row><c r='ZZZ1'><v>1</v></c></row>",
        "<row>",
    ],
)
def test_a_workbook_that_breaks_its_form_is_malformed(rows: str) -> None:
    with pytest.raises(ItemMalformed):
        read_register(BytesIO(workbook(rows)), where="m.xlsx")


def test_a_workbook_that_grows_beyond_measure_is_refused() -> None:
    target = BytesIO(workbook("<row/>"))
    with zipfile.ZipFile(target, "a", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/sharedStrings.xml", f'<sst xmlns="{BOOK}">' + " " * 8_000_000 + "</sst>")
    with pytest.raises(ItemMalformed, match="ratio"):
        read_register(target, where="m.xlsx")
