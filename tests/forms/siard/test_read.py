"""Archives of other versions and writers are read, wherever they put their large values; what they lack is told."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noarkit.errors import PackageFault, UnsafePath
from noarkit.forms.siard.escapes import escaped, escaped_attribute, text_of
from noarkit.forms.siard.read.archive import looks_like_siard, open_siard
from noarkit.forms.siard.rules.run import validate_siard
from noarkit.forms.siard.sqlite.database import sqlite_of
from noarkit.forms.siard.types import sql_type

NS = "http://www.bar.admin.ch/xmlns/siard/2/metadata.xsd"
OLD = "http://www.bar.admin.ch/xmlns/siard/1.0/metadata.xsd"
TABLE = "content/schema1/table1/table1.xml"


@given(st.text(st.characters()))
def test_every_text_is_escaped_and_comes_back(text: str) -> None:
    told = escaped(text)
    assert text_of(told.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")) == text
    assert not any(sign in told for sign in "\x00\x0b\r\x1f\x7f\x9f<>")
    assert "  " not in told and '"' not in escaped_attribute(text)


def test_a_backslash_that_begins_no_escape_is_itself() -> None:
    assert text_of("C:\\users \\u00e5 \\u12") == "C:\\users å \\u12"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("INTEGER", "integer"),
        ("NATIONAL CHARACTER VARYING(3)", "text"),
        ("TIMESTAMP(6) WITH TIME ZONE", "timestamp"),
        ("TIME(3)", "time"),
        ("BIT VARYING(8)", "hex"),
        ("varchar(20)", "text"),
        ("BLOB(2 G)", "blob"),
        ("NUMBER", None),
    ],
)
def test_types_of_every_version_are_known(name: str, kind: str | None) -> None:
    found = sql_type(name)
    assert (found.kind if found else None) == kind


def metadata(version: str, columns: str, *, more: str = "", namespace: str = NS) -> bytes:
    return (
        f'<siardArchive xmlns="{namespace}" version="{version}"><dbname>d</dbname><dataOwner>o</dataOwner>'
        f"<dataOriginTimespan>t</dataOriginTimespan>{more}<archivalDate>2020-01-01</archivalDate>"
        "<schemas><schema><name>s</name><folder>schema1</folder><tables><table><name>t</name><folder>table1</folder>"
        f"<columns>{columns}</columns><rows>1</rows></table></tables></schema></schemas><users/></siardArchive>"
    ).encode()


def written(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def table(cell: str) -> bytes:
    return f'<table xmlns="http://x/{TABLE}"><row>{cell}</row></table>'.encode()


BLOB = "<column><name>b</name>{folder}<type>BLOB</type></column>"
CELL = '<c1 file="{file}" length="3"/>'
PLACES = [
    # what the cell says, the folder of the column, the folder of the archive, and where the file is
    ("content/schema1/table1/lob1/record0.bin", "", "", "content/schema1/table1/lob1/record0.bin"),
    ("record0.bin", "", "", "content/schema1/table1/lob1/record0.bin"),
    ("lob1/record0.bin", "", "", "content/schema1/table1/lob1/record0.bin"),
    ("record0.bin", "lob1", "", "content/schema1/table1/lob1/record0.bin"),
    ("record0.bin", "schema1/table1/lob1", "content", "content/schema1/table1/lob1/record0.bin"),
    ("record0.bin", "content/schema1/table1/lob1", "", "content/schema1/table1/lob1/record0.bin"),
    ("record0.bin", "", "", "content/schema1/table1/record0.bin"),
    ("record0.bin", "c1", "../beside/", "outside:beside/c1/record0.bin"),
    ("record0.bin", "c1", "beside", "outside:beside/c1/record0.bin"),
    ("record0.bin", "./c1/", "../", "outside:c1/record0.bin"),
    ("record%200.bin", "", "../beside", "outside:beside/record 0.bin"),
    ("record0.bin", "../beside/c1", "", "outside:beside/c1/record0.bin"),
]


@pytest.mark.parametrize(("file", "folder", "above", "place"), PLACES)
def test_large_values_are_found_wherever_writers_put_them(
    file: str, folder: str, above: str, place: str, tmp_path: Path
) -> None:
    column = BLOB.format(folder=f"<lobFolder>{folder}</lobFolder>" if folder else "")
    more = f"<lobFolder>{above}</lobFolder>" if above else ""
    files = {TABLE: table(CELL.format(file=file)), "header/metadata.xml": metadata("2.1", column, more=more)}
    if place.startswith("outside:"):
        target = tmp_path / place.removeprefix("outside:")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(b"abc")
    else:
        files[place] = b"abc"
    sqlite_of(written(tmp_path / "x.siard", files), tmp_path / "x.db")
    assert b"abc" in (tmp_path / "x.db").read_bytes()


@pytest.mark.parametrize("file", ["../../x", "/etc/passwd", "a/../../../x", "file:///etc/passwd", "..\\..\\x"])
def test_a_large_value_may_not_lead_out(file: str, tmp_path: Path) -> None:
    column = BLOB.format(folder="<lobFolder>../..</lobFolder>" if file == "../../x" else "")
    files = {TABLE: table(CELL.format(file=file)), "header/metadata.xml": metadata("2.1", column)}
    with pytest.raises(UnsafePath):
        sqlite_of(written(tmp_path / "x.siard", files), tmp_path / "x.db")
    assert not (tmp_path / "x.db").exists()


def test_a_link_beside_the_archive_is_not_followed_out(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "secret").write_bytes(b"abc")
    (home / "record0.bin").symlink_to(tmp_path / "secret")
    files = {
        TABLE: table(CELL.format(file="record0.bin")),
        "header/metadata.xml": metadata("2.1", BLOB.format(folder="")),
    }
    with pytest.raises(UnsafePath):
        sqlite_of(written(home / "x.siard", files), home / "x.db")


def test_version_1_0_is_read(tmp_path: Path) -> None:
    columns = (
        "<column><name>a</name><type>INTEGER</type><typeOriginal>int</typeOriginal></column>"
        "<column><name>b</name><folder>lob2</folder><type>CLOB</type></column>"
    )
    more = "<messageDigest>MD5d41d8cd98f00b204e9800998ecf8427e</messageDigest>"
    cells = '<c1>7</c1><c2 file="content/schema1/table1/lob2/record0.txt" length="3"/>'
    files = {
        TABLE: table(cells),
        "content/schema1/table1/lob2/record0.txt": "æøå".encode(),
        "header/metadata.xml": metadata("1.0", columns, more=more, namespace=OLD),
    }
    path = written(tmp_path / "x.siard", files)
    with open_siard(path) as siard:
        assert (siard.archive.version, siard.archive.digests[0].algorithm) == ("1.0", "MD5")
        assert siard.archive.tables()[0][1].columns[1].lob_folder == "lob2"
    sqlite_of(path, tmp_path / "x.db")
    assert "æøå".encode() in (tmp_path / "x.db").read_bytes()


DK = """<siardDiark xmlns="http://www.sa.dk/xmlns/diark/1.0"><version>1.0</version><dbName>sager</dbName>
<tables><table><name>SAG</name><folder>table1</folder><description>d</description><columns>
<column><name>ID</name><columnID>c1</columnID><type>INTEGER</type><nullable>false</nullable></column>
<column><name>TITEL</name><columnID>c2</columnID><type>VARCHAR (20)</type><nullable>true</nullable></column>
</columns><primaryKey><name>PK</name><column>ID</column></primaryKey><rows>2</rows></table></tables></siardDiark>"""


def test_the_tables_of_the_danish_variant_are_read(tmp_path: Path) -> None:
    home = tmp_path / "AVID.SA.12345.1"
    (home / "Indices").mkdir(parents=True)
    (home / "Tables" / "table1").mkdir(parents=True)
    (home / "Indices" / "tableIndex.xml").write_text(DK)
    (home / "Tables" / "table1" / "table1.xml").write_text(
        '<table xmlns="http://www.sa.dk/xmlns/siard/1.0/schema0/table1.xsd" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><row><c1>1</c1><c2>Sag</c2></row>'
        '<row><c1>2</c1><c2 xsi:nil="true"/></row></table>'
    )
    assert looks_like_siard(home)
    assert validate_siard(home).codes == {"SIARDDK-1"}, "it has one index of four"
    with open_siard(home) as siard:
        ((schema, found),) = siard.archive.tables()
        assert list(siard.rows(schema, found)) == [[["1", "Sag"], ["2", None]]]
        assert found.primary_key is not None and found.primary_key.columns == ("ID",)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (metadata("3.0", ""), "siard-version"),
        (b"<other/>", "no-siard-metadata"),
    ],
)
def test_what_is_not_known_is_a_fault(content: bytes, why: str, tmp_path: Path) -> None:
    path = written(tmp_path / "x.siard", {"header/metadata.xml": content, TABLE: table("<c1>1</c1>")})
    with pytest.raises(PackageFault) as caught:
        sqlite_of(path, tmp_path / "x.db")
    assert caught.value.data["why"] == why
    assert [one.name for one in tmp_path.iterdir()] == ["x.siard"]


def test_an_archive_is_known_by_what_lies_in_it(tmp_path: Path) -> None:
    path = written(tmp_path / "x.bin", {"header/metadata.xml": b"<x/>"})
    assert looks_like_siard(path)
    assert not looks_like_siard(written(tmp_path / "y.siard", {"a.txt": b""}))
    (tmp_path / "z.siard").write_bytes(b"no zip")
    assert not looks_like_siard(tmp_path / "z.siard")
    assert not looks_like_siard(tmp_path)


def test_types_that_hold_themselves_are_a_fault(tmp_path: Path) -> None:
    text = metadata("2.1", "<column><name>a</name><typeName>loop</typeName></column>").decode()
    types = (
        "<types><type><name>loop</name><category>udt</category><instantiable>true</instantiable><final>false</final>"
        "<attributes><attribute><name>x</name><typeName>loop</typeName></attribute></attributes></type></types>"
    )
    changed = text.replace("<tables>", f"{types}<tables>").encode()
    path = written(tmp_path / "x.siard", {"header/metadata.xml": changed, TABLE: table("<c1/>")})
    with pytest.raises(PackageFault) as caught:
        sqlite_of(path, tmp_path / "x.db")
    assert caught.value.data["why"] == "type-without-end"


def test_a_stray_element_is_a_fault_where_nobody_hears_of_it(tmp_path: Path) -> None:
    column = "<column><name>a</name><type>INTEGER</type></column>"
    path = written(tmp_path / "x.siard", {"header/metadata.xml": metadata("2.1", column), TABLE: table("<c9>1</c9>")})
    with open_siard(path) as siard, pytest.raises(PackageFault) as caught:
        list(siard.rows(*siard.archive.tables()[0]))
    assert caught.value.data["why"] == "stray-element"
