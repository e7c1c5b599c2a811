"""Whatever a database holds comes out of its archive again: by every version, and wherever large values stand."""

from __future__ import annotations

import json
import os
import sqlite3
import string
import tempfile
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from noarkit.forms.siard.model import Column, Key, Schema, Table
from noarkit.forms.siard.read.archive import open_siard
from noarkit.forms.siard.read.rows import Nested
from noarkit.forms.siard.rules.run import validate_siard
from noarkit.forms.siard.spec import WRITTEN, Version
from noarkit.forms.siard.sqlite.database import names_of, sqlite_of
from noarkit.forms.siard.write.archive import SiardOrder, write_siard
from tests.forms.siard.databases import Memory, archive_of, sample

DEEP = os.environ.get("NOARKIT_DEEP") == "1"
Lobs = Literal["inside", "outside"]
LOBS: tuple[Lobs, ...] = ("inside", "outside")

texts = st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from(" \\\0\r\n\t<&>\"'\x1f\x7f\x85")))
names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12).filter(
    lambda name: name.strip() != "" and not name.lower().startswith(("sqlite_", "siard_"))
)
large = st.one_of(texts, texts.map(lambda text: text * 400))
moments = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31))

VALUES: dict[str, st.SearchStrategy[object]] = {
    "INTEGER": st.integers(-(2**40), 2**40),
    "BIGINT": st.integers(-(2**63), 2**63 - 1),
    "DECIMAL(38,10)": st.decimals(
        allow_nan=False, allow_infinity=False, places=10, min_value=-(10**27), max_value=10**27
    ),
    "DECIMAL(9,2)": st.decimals(allow_nan=False, allow_infinity=False, places=2, min_value=-(10**6), max_value=10**6),
    "DOUBLE PRECISION": st.floats(allow_nan=False),
    "REAL": st.floats(allow_nan=False, width=32),
    "BOOLEAN": st.booleans(),
    "CHARACTER VARYING(200)": texts,
    "CHARACTER LARGE OBJECT": large,
    "XML": st.just("<a/>"),
    "BINARY VARYING(200)": st.binary(max_size=40),
    "BINARY LARGE OBJECT": st.one_of(
        st.binary(max_size=40), st.binary(min_size=1, max_size=9).map(lambda some: some * 900)
    ),
    "DATE": st.dates(date(1, 1, 1), date(9999, 12, 31)),
    "TIME": st.times(),
    "TIMESTAMP": moments,
    "TIMESTAMP WITH TIME ZONE": moments.map(lambda moment: moment.replace(tzinfo=UTC)),
    "INTERVAL DAY TO SECOND": st.timedeltas(timedelta(days=-400), timedelta(days=400)),
}


@dataclass(frozen=True)
class Case:
    """A database and the way it is written."""

    memory: Memory
    version: Version
    lobs: Lobs
    level: int


@st.composite
def tables(draw: st.DrawFn, name: str) -> tuple[Table, list[tuple[object, ...]]]:
    kinds = draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=8))
    called = draw(st.lists(names, min_size=len(kinds), max_size=len(kinds), unique_by=str.lower))
    columns = tuple(Column(one, type=kind) for one, kind in zip(called, kinds, strict=True))
    row = st.tuples(*[st.one_of(st.none(), VALUES[kind]) for kind in kinds])
    return Table(name, columns=columns), draw(st.lists(row, max_size=12))


@st.composite
def databases(draw: st.DrawFn) -> Case:
    called = draw(st.lists(names, min_size=1, max_size=3, unique_by=str.lower))
    made = [draw(tables(name)) for name in called]
    memory = Memory(archive_of(*(table for table, _ in made)), {table.name: rows for table, rows in made})
    return Case(memory, draw(st.sampled_from(WRITTEN)), draw(st.sampled_from(LOBS)), draw(st.sampled_from((0, 1))))


def as_in_sqlite(value: object, kind: str) -> object:
    """What a value is by the rules of types."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, datetime):
        return value.isoformat() if value.tzinfo else value.isoformat().replace("T", " ")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return float(value) if kind == "DECIMAL(9,2)" else format(value, "f")
    return value


def as_timedelta(text: str) -> timedelta:
    sign = -1 if text.startswith("-") else 1
    days, _, clock = text.removeprefix("-").removeprefix("P").partition("DT")
    hours, _, rest = clock.partition("H")
    minutes, _, seconds = rest.partition("M")
    whole, _, part = seconds.removesuffix("S").partition(".")
    micro = int(part.ljust(6, "0")) if part else 0
    return sign * timedelta(int(days), int(whole), micro, minutes=int(minutes), hours=int(hours))


@given(databases())
@settings(max_examples=400 if DEEP else 30, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_database_comes_back_equal_and_its_archive_is_valid(case: Case) -> None:
    with tempfile.TemporaryDirectory() as folder:
        target, out = Path(folder, "x.siard"), Path(folder, "x.db")
        write_siard(case.memory, target, SiardOrder(case.version, case.lobs, level=case.level))
        report = validate_siard(target)
        assert report.codes == set(), report.outcomes
        sqlite_of(target, out)
        with open_siard(target) as siard:
            called = names_of(siard.archive)
            every = siard.archive.tables()
        with closing(sqlite3.connect(out)) as db:
            for schema, table in every:
                quoted = called[schema.folder, table.folder].replace('"', '""')
                got = db.execute(f'SELECT * FROM "{quoted}"').fetchall()
                kinds = [column.type for column in table.columns]
                kept = case.memory.held[table.name]
                assert len(got) == len(kept) == table.rows
                for row, wanted in zip(got, kept, strict=True):
                    for value, one, kind in zip(row, wanted, kinds, strict=True):
                        if isinstance(one, timedelta):
                            assert as_timedelta(value) == one
                        else:
                            assert value == as_in_sqlite(one, kind) and (value is None) == (one is None)


@pytest.mark.parametrize("version", WRITTEN)
@pytest.mark.parametrize("lobs", LOBS)
def test_the_sample_comes_back_whole(version: Version, lobs: Lobs, tmp_path: Path) -> None:
    write_siard(sample(), tmp_path / "x.siard", SiardOrder(version, lobs))
    sqlite_of(tmp_path / "x.siard", tmp_path / "x.db")
    with closing(sqlite3.connect(tmp_path / "x.db")) as db:
        rows = db.execute("SELECT id, title, scan, note FROM cases").fetchall()
        assert rows[0][1] == "Case 1 \\ <&>  two spaces\r\nå \x00\x1f\x7f\x85"
        assert rows[2][2:] == (bytes(range(256)) * 40, "Long ø \\ text\n" * 900)
        assert rows[3][2:] == (b"stream" * 300_000, "strøm " * 2_000)
        assert rows[1] == (2, None, None, None) and rows[4][1:] == ("", b"", "")
        assert db.execute("SELECT line FROM notes").fetchall() == [("first",), ("",), (None,)]
        assert db.execute("PRAGMA foreign_key_list(notes)").fetchone()[2:5] == ("cases", "case_id", "id")
        assert db.execute("SELECT name, query FROM siard_views").fetchall() == [("all_cases", "SELECT 1")]
    assert (tmp_path / "x_lobs").is_dir() == (lobs == "outside")


def test_arrays_come_back_with_their_nulls_and_as_long_as_the_longest(tmp_path: Path) -> None:
    table = Table(
        "t", columns=(Column("words", type="CHARACTER VARYING(20)", cardinality=0), Column("n", type="INTEGER"))
    )
    rows = [(["a", None, "\\<c>"], 1), ([], 2), (None, 3), (["x"], 4)]
    write_siard(Memory(archive_of(table), {"t": rows}), tmp_path / "x.siard", SiardOrder())
    with open_siard(tmp_path / "x.siard") as siard:
        ((schema, found),) = siard.archive.tables()
        assert found.columns[0].cardinality == 3
        (batch,) = siard.rows(schema, found)
        assert isinstance(batch[0][0], Nested) and batch[0][0].parts == {"a1": "a", "a3": "\\<c>"}
    assert validate_siard(tmp_path / "x.siard").codes == set()
    sqlite_of(tmp_path / "x.siard", tmp_path / "x.db")
    with closing(sqlite3.connect(tmp_path / "x.db")) as db:
        got = [None if row[0] is None else json.loads(row[0]) for row in db.execute("SELECT words FROM t ORDER BY n")]
    assert got == [["a", None, "\\<c>"], [], None, ["x"]]


def test_a_text_that_unicode_cannot_hold_comes_back(tmp_path: Path) -> None:
    odd = "a\ud800b\udcff" + string.ascii_letters * 200
    table = Table("t", columns=(Column("x", type="CHARACTER LARGE OBJECT"),))
    write_siard(Memory(archive_of(table), {"t": [(odd,)]}), tmp_path / "x.siard", SiardOrder())
    with open_siard(tmp_path / "x.siard") as siard:
        ((schema, found),) = siard.archive.tables()
        assert list(siard.rows(schema, found)) == [[[odd]]]
    assert validate_siard(tmp_path / "x.siard").codes == set()


def test_tables_of_two_schemas_that_are_called_the_same_stay_two(tmp_path: Path) -> None:
    first = archive_of(Table("t", columns=(Column("a", type="INTEGER"),)))
    table = Table("T", columns=(Column("b", type="INTEGER"),), primary_key=Key("k", ("b",)))
    both = replace(first, schemas=(*first.schemas, Schema("other", tables=(table,))))
    write_siard(Memory(both, {"t": [(1,)], "T": [(2,)]}), tmp_path / "x.siard", SiardOrder())
    sqlite_of(tmp_path / "x.siard", tmp_path / "x.db")
    with closing(sqlite3.connect(tmp_path / "x.db")) as db:
        assert db.execute("SELECT a FROM t").fetchall() == [(1,)]
        assert db.execute('SELECT b FROM "other.T"').fetchall() == [(2,)]
