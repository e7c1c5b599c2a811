"""A SIARD archive is planned by the recipe of the database it came from; a live database becomes one, whole."""

from __future__ import annotations

import hashlib
import os
import pickle
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noarkit.errors import SourceAway, SourceGone, UsageFault
from noarkit.events import ignore_event
from noarkit.forms.finders import open_source, reopen
from noarkit.forms.siard.read.archive import open_siard
from noarkit.forms.siard.rules.run import validate_siard
from noarkit.forms.siard.source import find_siard
from noarkit.forms.siard.source.live import live_source
from noarkit.forms.siard.source.source import SiardArchiveSource
from noarkit.forms.siard.spec import WRITTEN, Version
from noarkit.forms.siard.sqlite.database import sqlite_of
from noarkit.forms.siard.write.archive import SiardOrder, write_siard
from noarkit.records import Source, SourceRecord
from tests.forms.siard.databases import sample as memory
from tests.sources.database.conftest import FAMILIES, made
from tests.sources.database.sample import Sample
from tests.sources.database.test_journey import noarkit

Told = dict[tuple[str, str], SourceRecord]
BEYOND = {("tall", "sqlite"), ("hva_som_helst", "sqlite"), ("kort", "sqlite")}
"""Columns of SQLite that hold what they do not say they would: bytes, for which a recipe decides."""
TEXTS = {"tall", "naar", "tekster", "tidsone", "tid", "id"}
"""Columns of the table of types that hold what SIARD's own types cannot, or not so: they come as the text of it."""


@pytest.fixture(params=FAMILIES)
def sample(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Sample]:
    """The sample database, on each server in turn."""
    yield from made(str(request.param), tmp_path)


def archived(sample: Sample, order: SiardOrder, name: str = "x.siard") -> Path:
    target = sample.place / name
    with live_source(sample.url, {"data_owner": "Byen", "data_origin_timespan": "2024"}) as source:
        write_siard(source, target, order)
    return target


def records(source: Source) -> Told:
    found = [item for item in source.records(ignore_event) if isinstance(item, SourceRecord)]
    return {(one.kind, one.key): one for one in found}


def digests(source: Source, record: SourceRecord) -> list[str]:
    made: list[str] = []
    for content in record.contents:
        with source.open(content) as stream:
            made.append(hashlib.sha256(stream.read()).hexdigest())
            assert stream.still_the_same()
    return made


@pytest.mark.parametrize("version", WRITTEN)
def test_a_live_database_becomes_a_valid_archive(version: Version, sample: Sample) -> None:
    lobs = SiardOrder(version, "outside" if version == "2.1" else "inside")
    target = archived(sample, lobs)
    report = validate_siard(target)
    assert report.codes == set(), report.outcomes
    with open_siard(target) as siard:
        assert siard.archive.data_owner == "Byen" and siard.archive.database_product
        tables = {table.name: table for _, table in siard.archive.tables()}
        assert len(tables) == 12
        assert {name: table.rows for name, table in tables.items() if name in sample.rows} == sample.rows
        assert tables["sak"].primary_key is not None and tables["sak"].primary_key.columns == ("aar", "nr")
        assert {pair.column for key in tables["brev"].foreign_keys for pair in key.references} >= {"sak_aar", "sak_nr"}
        assert tables["brev"].columns[0].type_original


def test_records_and_documents_are_those_of_the_live_database(sample: Sample) -> None:
    target = archived(sample, SiardOrder())
    live, kept = open_source(sample.url), open_source(str(target))
    assert isinstance(kept, SiardArchiveSource)
    ours, theirs = records(kept), records(live)
    assert ours.keys() == theirs.keys() and len(ours) == 54
    for key, record in theirs.items():
        other = ours[key]
        if key[0] != "typer":
            names = record.fields.keys() & other.fields.keys()
            assert {name: other.fields[name] for name in names} == {name: record.fields[name] for name in names}
            assert digests(kept, other) == digests(live, record)
        else:
            for name in record.fields.keys() - TEXTS:
                if (name, sample.family) not in BEYOND:
                    assert other.fields[name] == record.fields[name], name


def test_the_recipe_of_the_database_plans_the_archive_the_same(sample: Sample) -> None:
    if sample.family == "mysql" and os.environ.get("NOARKIT_DEEP") != "1":
        return  # its records are those of the others, as the test before this shows
    target = archived(sample, SiardOrder())
    for arguments in (
        ("recipe", "new", sample.url, "-o", "recipe.toml"),
        ("recipe", "check", "recipe.toml", str(target)),
        ("plan", sample.url, "--recipe", "recipe.toml", "-o", "live"),
        ("plan", str(target), "--recipe", "recipe.toml", "-o", "kept"),
    ):
        assert noarkit(sample.place, *arguments) == 0, arguments
    entities = []
    for run in ("live", "kept"):
        with closing(sqlite3.connect(sample.place / run / "graph.db")) as db:
            entities.append(db.execute("SELECT type, count(*) FROM entity GROUP BY type ORDER BY type").fetchall())
    assert entities[0] == entities[1] and sum(count for _, count in entities[0]) > 100


def test_a_planned_archive_is_ingested_and_verified(tmp_path: Path) -> None:
    write_siard(memory(), tmp_path / "x.siard", SiardOrder())
    for arguments in (
        ("ingest", "x.siard", "-o", "run", "--archive", "embedded:arkiv"),
        ("verify", "run", "--depth", "bytes"),
    ):
        assert noarkit(tmp_path, *arguments) == 0, arguments
    copies = list((tmp_path / "run").rglob("x.db"))
    assert len(copies) == 1  # one for all who read it


def test_an_archive_that_was_replaced_is_not_what_was_planned(tmp_path: Path) -> None:
    path = tmp_path / "x.siard"
    write_siard(memory(), path, SiardOrder())
    source = open_source(str(path))
    identity = source.identity
    assert records(reopen(identity)).keys() == records(source).keys()
    os.utime(path, ns=(1, 1))
    with pytest.raises(SourceGone) as caught:
        reopen(identity)
    assert caught.value.data["why"] == "archive-replaced"
    path.unlink()
    with pytest.raises(SourceGone):
        reopen(identity)


def test_a_copy_that_was_made_before_the_run_is_moved_there(tmp_path: Path) -> None:
    path = tmp_path / "x.siard"
    write_siard(memory(), path, SiardOrder())
    source = SiardArchiveSource(path)
    recipe = source.default_recipe()
    assert 'kind = "database"' in recipe
    fitted = source.fitted({"kind": "database", "tables": ["cases"]})
    del source
    fitted.settle(tmp_path / "run")
    (copy,) = (tmp_path / "run").rglob("*.db")
    before = copy.stat().st_ino
    found = records(fitted)
    assert {kind for kind, _ in found} == {"cases"} and copy.stat().st_ino == before
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301  # ours, as workers are given it
    assert records(again).keys() == found.keys()
    assert list((tmp_path / "run").rglob("*.db")) == [copy]


def test_an_archive_that_changes_while_it_is_read_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.siard"
    write_siard(memory(), path, SiardOrder())
    source = SiardArchiveSource(path)
    source.settle(tmp_path / "run")
    with pytest.raises(SourceAway) as caught:
        next(source.records(lambda event: os.utime(path, ns=(1, 1))))
    assert caught.value.data["why"] == "changed-while-read"
    assert list((tmp_path / "run").rglob("*.db")) == []


def test_what_is_no_archive_is_not_found_as_one(tmp_path: Path) -> None:
    (tmp_path / "x.siard").write_bytes(b"no")
    assert find_siard(str(tmp_path / "x.siard")) is None
    assert find_siard(str(tmp_path / "gone.siard")) is None
    with pytest.raises(UsageFault):
        live_source("nothing")


LARGE = "æøå" * 700_000


def test_values_beyond_a_megabyte_come_in_pieces_and_whole(sample: Sample) -> None:
    if sample.family == "mysql":
        sample.run("SET GLOBAL max_allowed_packet = 67108864")
    blob = {"sqlite": "BLOB", "postgresql": "bytea", "mysql": "LONGBLOB"}[sample.family]
    text = {"sqlite": "TEXT", "postgresql": "text", "mysql": "LONGTEXT"}[sample.family]
    sample.run(f"CREATE TABLE stort (id INTEGER PRIMARY KEY, bilde {blob}, skrift {text})")
    with sample.owner() as db:
        mark = "?" if sample.family == "sqlite" else "%s"
        content = bytes(range(256)) * 12_000
        for number, row in enumerate([(content, LARGE), (b"", ""), (None, None), (b"x", "y")]):
            db.exec_driver_sql(f"INSERT INTO stort VALUES ({number}, {mark}, {mark})", row)
    target = archived(sample, SiardOrder())
    assert validate_siard(target).codes == set()
    sqlite_of(target, sample.place / "out.db")
    with closing(sqlite3.connect(sample.place / "out.db")) as out:
        rows = out.execute("SELECT bilde, skrift FROM stort ORDER BY id").fetchall()
    assert rows == [(content, LARGE), (b"", ""), (None, None), (b"x", "y")]


def test_an_sqlite_file_holds_whatever_it_holds(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "s.db")) as db:
        db.executescript(
            "CREATE TABLE odd (d DATE, ts TIMESTAMP, b BOOLEAN, n INTEGER, x);"
            "CREATE TABLE fine (d DATE, ts TIMESTAMP, b BOOLEAN, n INTEGER, x);"
            "CREATE TABLE 'none at all' (d DATE, n INTEGER, r REAL, raw BLOB)"
        )
        db.execute("INSERT INTO odd VALUES ('2021-02-30', 'noon', 5, 'text', ?)", (b"\xff",))
        db.execute("INSERT INTO odd VALUES (NULL, NULL, NULL, 3, 'a')")
        db.execute("INSERT INTO fine VALUES ('2021-02-28', '2021-02-28 03:04:05.25', 1, 7, 2.5)")
        db.commit()
    target = tmp_path / "x.siard"
    with live_source(f"sqlite:///{tmp_path / 's.db'}") as source:
        assert source.stamp
        write_siard(source, target, SiardOrder())
    assert validate_siard(target).codes == set()
    with open_siard(target) as siard:
        types = {table.name: [column.type for column in table.columns] for _, table in siard.archive.tables()}
    large, raw = "CHARACTER LARGE OBJECT", "BINARY LARGE OBJECT"
    assert types == {
        "odd": [large, large, "BIGINT", large, raw],
        "fine": ["DATE", "TIMESTAMP", "BOOLEAN", "BIGINT", "DOUBLE PRECISION"],
        "none at all": ["DATE", "BIGINT", "DOUBLE PRECISION", raw],
    }
    sqlite_of(target, tmp_path / "out.db")
    with closing(sqlite3.connect(tmp_path / "out.db")) as out:
        assert out.execute("SELECT * FROM odd").fetchall() == [
            ("2021-02-30", "noon", 5, "text", b"\xff"),
            (None, None, None, "3", b"a"),
        ]
        assert out.execute("SELECT * FROM fine").fetchall() == [("2021-02-28", "2021-02-28 03:04:05.25", 1, 7, 2.5)]


def test_an_sqlite_file_that_is_written_to_cannot_be_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("CREATE TABLE t (a)")
        db.execute("INSERT INTO t VALUES (1)")
        db.commit()
        with live_source(f"sqlite:///{path}") as source:
            assert source.stamp == ""
            write_siard(source, tmp_path / "x.siard", SiardOrder())
    assert validate_siard(tmp_path / "x.siard").summary["rows"] == ("1",)


CODE = {
    "sqlite": (
        "CREATE TABLE kode (a INTEGER CONSTRAINT liten CHECK (a < 100))",
        "CREATE TRIGGER ved_ny AFTER INSERT ON kode BEGIN DELETE FROM kode WHERE a IS NULL; END",
    ),
    "postgresql": (
        "CREATE TABLE kode (a integer CONSTRAINT liten CHECK (a < 100))",
        "CREATE FUNCTION gjor() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$",
        "CREATE TRIGGER ved_ny AFTER INSERT OR UPDATE ON kode FOR EACH ROW EXECUTE FUNCTION gjor()",
        "CREATE VIEW utsyn AS SELECT a FROM kode",
    ),
    "mysql": (
        "CREATE TABLE kode (a integer, CONSTRAINT liten CHECK (a < 100))",
        "CREATE FUNCTION gjor() RETURNS integer DETERMINISTIC RETURN 1",
        "CREATE TRIGGER ved_ny BEFORE INSERT ON kode FOR EACH ROW SET NEW.a = 1",
        "CREATE VIEW utsyn AS SELECT a FROM kode",
    ),
}


def test_routines_triggers_conditions_and_views_are_kept_as_they_stand(sample: Sample) -> None:
    sample.run(*CODE[sample.family])
    target = archived(sample, SiardOrder())
    assert validate_siard(target).codes == set()
    with open_siard(target) as siard:
        (table,) = [table for _, table in siard.archive.tables() if table.name == "kode"]
        views = {view.name: view for schema in siard.archive.schemas for view in schema.views}
        found = {routine.name: routine for schema in siard.archive.schemas for routine in schema.routines}
    assert [(one.name, "100" in one.condition) for one in table.checks] == [("liten", True)]
    (trigger,) = table.triggers
    assert (trigger.name, trigger.action_time) == ("ved_ny", "BEFORE" if sample.family == "mysql" else "AFTER")
    if sample.family != "sqlite":
        assert "RETURN" in found["gjor"].source.upper() and found["gjor"].return_type
        assert "kode" in views["utsyn"].query_original and views["utsyn"].columns[0].name == "a"


DECLARED = ("", "INTEGER", "REAL", "TEXT", "BLOB", "BOOLEAN", "NUMERIC", "VARCHAR(9)", "DATE")
cells = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=9),
    st.binary(max_size=9),
)


def kept(value: object, held: set[type]) -> object:
    """What a value is after all, by the classes of values that its column holds."""
    if value is None or len(held) == 1:
        return value
    text = repr(value) if isinstance(value, (int, float)) else value
    return text.encode() if bytes in held and isinstance(text, str) else text


@given(st.lists(st.sampled_from(DECLARED), min_size=1, max_size=5), st.data())
@settings(max_examples=300 if os.environ.get("NOARKIT_DEEP") == "1" else 10, deadline=None)
def test_whatever_stands_in_an_sqlite_file_comes_back_by_the_rules_of_types(
    kinds: list[str], data: st.DataObject
) -> None:
    rows = data.draw(st.lists(st.tuples(*[cells] * len(kinds)), max_size=8))
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        with closing(sqlite3.connect(home / "s.db")) as db:
            db.execute(f"CREATE TABLE t ({', '.join(f'c{number} {kind}' for number, kind in enumerate(kinds))})")
            db.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(kinds))})", rows)
            db.commit()
            stored = db.execute("SELECT * FROM t").fetchall()
        with live_source(f"sqlite:///{home / 's.db'}") as source:
            write_siard(source, home / "x.siard", SiardOrder())
        assert validate_siard(home / "x.siard").codes == set()
        sqlite_of(home / "x.siard", home / "out.db")
        with closing(sqlite3.connect(home / "out.db")) as out:
            got = out.execute("SELECT * FROM t").fetchall()
    held = [{type(row[at]) for row in stored if row[at] is not None} for at in range(len(kinds))]
    assert len(got) == len(stored)
    for row, before in zip(got, stored, strict=True):
        for at, (one, value) in enumerate(zip(row, before, strict=True)):
            if value is not None and held[at] == {int, float}:
                assert one == value or float(one) == float(value)  # exactly, or as the float that is nearest
            else:
                assert one == kept(value, held[at])


def test_the_least_and_the_greatest_integer_of_sqlite_come_back(tmp_path: Path) -> None:
    numbers = [(-(2**63),), (2**63 - 1,), (0,)]
    with closing(sqlite3.connect(tmp_path / "s.db")) as db:
        db.execute("CREATE TABLE t (n)")
        db.executemany("INSERT INTO t VALUES (?)", numbers)
        db.commit()
    with live_source(f"sqlite:///{tmp_path / 's.db'}") as source:
        write_siard(source, tmp_path / "x.siard", SiardOrder())
    sqlite_of(tmp_path / "x.siard", tmp_path / "out.db")
    with closing(sqlite3.connect(tmp_path / "out.db")) as out:
        assert out.execute("SELECT * FROM t").fetchall() == numbers
