"""What a column of PostgreSQL holds and its SIARD type cannot stands as text, and is told; nothing of it is lost."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from noarkit.extraction.convert import ConvertOptions
from noarkit.extraction.databases import convert_database
from noarkit.forms.siard.rules.run import validate_siard
from noarkit.forms.siard.sqlite.database import sqlite_of
from tests.sources.database import sample as samples
from tests.sources.database.conftest import made
from tests.sources.database.sample import Sample

ARRAYS = {
    "text[]": "ARRAY['a','b c',NULL,'\"']",
    "varchar(9)[]": "ARRAY['a']",
    "date[]": "ARRAY['2024-02-29'::date,'infinity']",
    "timestamp[]": "ARRAY['2024-02-29 12:00'::timestamp]",
    "timestamptz[]": "ARRAY['2024-02-29 12:00+01'::timestamptz]",
    "time[]": "ARRAY['12:00'::time]",
    "interval[]": "ARRAY['1 month -3 days'::interval]",
    "uuid[]": "ARRAY['00000000-0000-0000-0000-00000000000a'::uuid]",
    "inet[]": "ARRAY['10.0.0.1'::inet]",
    "json[]": """ARRAY['{"a": [1]}'::json]""",
    "bytea[]": "ARRAY['\\\\x00ff'::bytea]",
    "int4range[]": "ARRAY['[1,5)'::int4range]",
    "shade[]": "ARRAY['dark'::shade]",
    "numeric[]": "ARRAY['NaN'::numeric, 1.5]",
    "integer[]": "'[2:3]={1,2}'",
    "double precision[]": "ARRAY['NaN'::float8, 'Infinity', 0.1]",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sample]:
    yield from made("postgresql", tmp_path_factory.mktemp("server"), "f")


def test_arrays_of_any_type_are_archived_and_told(server: Sample, tmp_path: Path) -> None:
    names = [f"c{number}" for number in range(len(ARRAYS))]
    with samples.engine(server.url).begin() as db:
        db.exec_driver_sql("CREATE TYPE shade AS ENUM ('dark', 'light')")
        columns = ", ".join(f"{name} {kind}" for name, kind in zip(names, ARRAYS, strict=True))
        db.exec_driver_sql(f"CREATE TABLE arrays ({columns})")
        told = ", ".join(value.replace("%", "%%") for value in ARRAYS.values())
        db.exec_driver_sql(f"INSERT INTO arrays VALUES ({told})")
        texts = ", ".join(f"CAST({name} AS text)" for name in names)
        db.exec_driver_sql("SET intervalstyle = 'iso_8601'")
        put = db.exec_driver_sql(f"SELECT {texts} FROM arrays").fetchone()
    assert put is not None
    made = convert_database(server.url, tmp_path / "x.siard", ConvertOptions("siard"))
    assert validate_siard(tmp_path / "x.siard").valid
    fallen = [one.rpartition(".")[2] for one in made.as_text if one.startswith("arrays.")]
    assert fallen == names[:-1]
    sqlite_of(tmp_path / "x.siard", tmp_path / "x.db")
    with closing(sqlite3.connect(tmp_path / "x.db")) as back:
        assert back.execute(f"SELECT {', '.join(names[:-1])} FROM arrays").fetchone() == tuple(put)[:-1]


@pytest.mark.parametrize("held", ["objects", "numbers", "both"])
def test_an_oid_is_a_large_object_or_a_number_and_neither_is_lost(held: str, server: Sample, tmp_path: Path) -> None:
    content = b"large \x00\xff" * 300_000
    with samples.engine(server.url).begin() as db:
        db.exec_driver_sql("DROP TABLE IF EXISTS papers")
        db.exec_driver_sql('CREATE TABLE papers (id integer PRIMARY KEY, "oid" oid)')
        if held != "numbers":
            db.exec_driver_sql("INSERT INTO papers VALUES (1, lo_from_bytea(0, %s))", (content,))
        if held != "objects":
            db.exec_driver_sql("INSERT INTO papers VALUES (2, 4294967295)")
        db.exec_driver_sql("INSERT INTO papers VALUES (3, NULL)")
    made = convert_database(server.url, tmp_path / "x.siard", ConvertOptions("siard"))
    assert ("papers.oid" in made.as_text) is (held != "objects")
    assert validate_siard(tmp_path / "x.siard").valid
    sqlite_of(tmp_path / "x.siard", tmp_path / "x.db")
    with closing(sqlite3.connect(tmp_path / "x.db")) as back:
        found = dict(back.execute("SELECT id, oid FROM papers"))
    assert found[3] is None
    if held != "numbers":
        assert hashlib.sha256(found[1]).digest() == hashlib.sha256(content).digest()
    if held != "objects":
        assert found[2] == (4294967295 if held == "numbers" else b"4294967295")
