"""An archive may say anything of its types: what that costs is bounded by what it holds, not by what it says."""

from __future__ import annotations

import json
import os
import sqlite3
import time
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from noarkit.events import ignore_event
from noarkit.forms.finders import open_source
from noarkit.forms.recognition import detect_form
from noarkit.forms.siard.cells import cells_of, user_types
from noarkit.forms.siard.model import Attribute, Column, Schema, Table, UserType
from noarkit.forms.siard.read.rows import Nested
from noarkit.forms.siard.rules.run import validate_siard
from noarkit.forms.siard.sqlite.database import plain, sqlite_of
from noarkit.forms.siard.write.archive import SiardOrder, write_siard
from noarkit.records import SourceRecord
from noarkit.safe.digest import Readable
from tests.forms.siard.databases import Memory, archive_of
from tests.validation.siards import META, packed

DEEP = os.environ.get("NOARKIT_DEEP") == "1"
MOST = 2**31 - 1
MEGABYTE = bytes(1_000_000)


@dataclass
class Zeros:
    """A large value of so many megabytes, all of them zeros."""

    megabytes: int

    @contextmanager
    def open(self) -> Iterator[Readable]:
        """The bytes."""
        yield self

    def read(self, size: int = -1, /) -> bytes:
        """The next megabyte."""
        self.megabytes -= 1
        return MEGABYTE if self.megabytes >= 0 else b""


def made(place: Path, table: Table, rows: list[tuple[object, ...]]) -> dict[str, bytes]:
    write_siard(Memory(archive_of(table), {table.name: rows}), place, SiardOrder())
    with zipfile.ZipFile(place) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def quick(began: float) -> bool:
    return time.process_time() - began < 5


@pytest.mark.parametrize("schema", ["whole", "without elements"])
def test_an_array_may_say_that_it_has_thousands_of_millions_of_elements(tmp_path: Path, schema: str) -> None:
    words = Column("words", type="CHARACTER VARYING(20)", cardinality=0)
    table = Table("t", columns=(Column("id", type="INTEGER", nullable=False), words))
    path = tmp_path / "x.siard"
    files = made(path, table, [(1, ["a", "b"]), (2, [])])
    files[META] = files[META].replace(b"<cardinality>2<", b"<cardinality>%d<" % MOST)
    if schema == "without elements":
        name = "content/schema0/table0/table0.xsd"
        for number in (b"1", b"2"):
            element = b'<xs:element name="a%s" type="xs:string" minOccurs="0"/>' % number
            assert element in files[name]
            files[name] = files[name].replace(element, b"")
    path.write_bytes(packed(files))
    began = time.process_time()
    assert validate_siard(path).valid is (schema == "whole")
    sqlite_of(path, tmp_path / "x.db")
    records = [one for one in open_source(str(path)).records(ignore_event) if isinstance(one, SourceRecord)]
    assert len(records) == 2 and quick(began)
    with closing(sqlite3.connect(tmp_path / "x.db")) as db:
        assert db.execute("SELECT words FROM t ORDER BY id").fetchall() == [('["a", "b"]',), ("[]",)]


def test_an_array_whose_only_element_is_the_last_is_not_filled_with_nulls() -> None:
    column = Column("n", type="INTEGER", cardinality=MOST)
    (cell,) = cells_of(Table("t", columns=(column,)), "", {})
    assert plain(Nested(parts={"a1": "7", "a3": "9"}), cell) == [7, None, 9]
    assert plain(Nested(parts={f"a{MOST}": "7"}), cell) == {f"a{MOST}": 7}


def tree(depth: int, width: int = 10) -> tuple[UserType, ...]:
    """Types each of which has `width` parts of the next."""
    names = [Attribute(f"a{number}") for number in range(width)]
    return tuple(
        UserType(
            f"t{level}",
            "udt",
            attributes=tuple(
                Attribute(one.name, type="INTEGER")
                if level == depth
                else Attribute(one.name, type_schema="public", type_name=f"t{level + 1}")
                for one in names
            ),
        )
        for level in range(1, depth + 1)
    )


def test_a_tree_of_types_is_read_once_for_each_type(tmp_path: Path) -> None:
    table = Table("t", columns=(Column("id", type="INTEGER", nullable=False), Column("x", type="INTEGER")))
    path = tmp_path / "x.siard"
    files = made(path, table, [(1, None), (2, 3)])
    rows = "content/schema0/table0/table0.xml"
    inner = "<u1>" * 12 + "<u2>5</u2>" + "</u1>" * 12
    files[rows] = files[rows].replace(b"<c2>3</c2>", f"<c2>{inner}</c2>".encode())
    types = "".join(
        f"<type><name>{one.name}</name><category>udt</category><instantiable>true</instantiable><final>true</final>"
        "<attributes>"
        + "".join(
            f"<attribute><name>{part.name}</name>"
            + (f"<type>{part.type}</type>" if part.type else f"<typeName>{part.type_name}</typeName>")
            + "</attribute>"
            for part in one.attributes
        )
        + "</attributes></type>"
        for one in tree(13)
    )
    text = files[META].decode().replace("<tables>", f"<types>{types}</types><tables>", 1)
    at = text.index("<type>INTEGER</type>", text.index("<name>x</name>"))
    files[META] = (text[:at] + "<typeName>t1</typeName>" + text[at + len("<type>INTEGER</type>") :]).encode()
    path.write_bytes(packed(files))
    began = time.process_time()
    assert "SIARD-P_4.3-9" in validate_siard(path).codes
    sqlite_of(path, tmp_path / "x.db")
    records = [one for one in open_source(str(path)).records(ignore_event) if isinstance(one, SourceRecord)]
    assert len(records) == 2 and quick(began)
    with closing(sqlite3.connect(tmp_path / "x.db")) as db:
        value = json.loads(db.execute("SELECT x FROM t WHERE id = 2").fetchone()[0])
    for _ in range(12):
        assert len(value) == 10 and value[1:] == [None] * 9
        value = value[0]
    assert value == [None, 5, *[None] * 8]


def test_parts_of_parts_are_those_of_their_own_type() -> None:
    kinds = user_types(archive_of())
    assert kinds == {}
    archive = archive_of(Table("t", columns=(Column("x", type_schema="public", type_name="t1"),)))
    (schema,) = archive.schemas
    typed = Schema(schema.name, types=tree(3, 2), tables=schema.tables)
    known = {("public", one.name): one for one in typed.types}
    (cell,) = cells_of(typed.tables[0], "public", known)
    assert [part.tag for part in cell.parts] == ["u1", "u2"]
    assert cell.parts[1].parts[0].parts[1].type is not None


def test_a_table_wider_than_sqlite_is_whole_all_the_same(tmp_path: Path) -> None:
    count = 2_100
    names = ["id", *(f"c{number}" for number in range(count - 2)), "mark"]
    kinds = ["INTEGER", *["CHARACTER VARYING(9)"] * (count - 2), "BINARY VARYING(4)"]
    table = Table("wide", columns=tuple(Column(*pair[:1], type=pair[1]) for pair in zip(names, kinds, strict=True)))
    full = (1, *(f"v{number}" for number in range(count - 2)), b"\x00\xff")
    path = tmp_path / "x.siard"
    made(path, table, [full, (2, *[None] * (count - 1))])
    assert validate_siard(path).valid
    sqlite_of(path, tmp_path / "x.db")
    with closing(sqlite3.connect(tmp_path / "x.db")) as db:
        db.row_factory = sqlite3.Row
        first, second = db.execute("SELECT * FROM wide ORDER BY id").fetchall()
    here = {name: first[name] for name in first.keys() if name != "siard_more"}  # noqa: SIM118  # a row, no mapping
    beyond = json.loads(first["siard_more"])
    assert {**here, **beyond} == dict(zip(names, (*full[:-1], "00ff"), strict=True))
    assert json.loads(second["siard_more"]) == {} and second["c0"] is None
    source = open_source(str(path))
    (record, _) = [one for one in source.records(ignore_event) if isinstance(one, SourceRecord)]
    more = record.fields["siard_more"]
    assert isinstance(more, dict) and more["c2097"] == "v2097"
    assert "wide" in source.default_recipe()


def test_a_large_value_of_zeros_is_no_bomb(tmp_path: Path) -> None:
    size = 600 if DEEP else 100
    table = Table("t", columns=(Column("id", type="INTEGER"), Column("scan", type="BINARY LARGE OBJECT")))
    path = tmp_path / "x.siard"
    write_siard(Memory(archive_of(table), {"t": [(1, Zeros(size))]}), path, SiardOrder(level=9))
    assert path.stat().st_size < size * 1_500  # it packs as zeros do
    assert detect_form(path).form == "siard"
    assert validate_siard(path).valid
    sqlite_of(path, tmp_path / "x.db")
    with closing(sqlite3.connect(tmp_path / "x.db")) as db:
        assert db.execute("SELECT length(scan) FROM t").fetchone() == (size * 1_000_000,)
