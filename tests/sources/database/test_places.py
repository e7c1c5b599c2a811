"""Passwords, schemas, views, snapshots and sizes: what differs from server to server and from house to house."""

from __future__ import annotations

import os
import pickle
import sqlite3
import tracemalloc
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from noarkit.api.origins import source_at
from noarkit.cli.main import main
from noarkit.errors import SecretFault, SourceDenied
from noarkit.events import ignore_event
from noarkit.forms.finders import open_source
from noarkit.records import SourceRecord
from noarkit.settings import read_settings
from noarkit.sources.database.address import password_of, read_address
from noarkit.sources.database.local import LocalCopy
from noarkit.sources.database.schema import reflect
from noarkit.sources.database.session import connect
from noarkit.sources.database.source import DatabaseSource
from tests.sources.database.conftest import made
from tests.sources.database.sample import Sample

PASSWORD = "hemmelig-ord"
MB = 1024 * 1024


@pytest.fixture
def mariadb(tmp_path: Path) -> Iterator[Sample]:
    """A server whose accounts have passwords."""
    yield from made("mysql", tmp_path)


@pytest.fixture
def postgresql(tmp_path: Path) -> Iterator[Sample]:
    """A server with schemas, and snapshots that can be shared."""
    yield from made("postgresql", tmp_path)


def keys(source: object) -> list[str]:
    """The keys of a source's records."""
    assert isinstance(source, DatabaseSource)
    return [item.key for item in source.records(ignore_event) if isinstance(item, SourceRecord)]


def test_a_password_lies_in_an_option_file_or_in_the_config_and_nowhere_in_the_plan(
    mariadb: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = mariadb.url.rpartition("/")[2]
    who = f"passord_{os.getpid()}"
    mariadb.run(
        f"CREATE USER '{who}'@'127.0.0.1' IDENTIFIED BY '{PASSWORD}'",
        f"GRANT SELECT ON {name}.* TO '{who}'@'127.0.0.1'",
    )
    try:
        url = mariadb.url.replace("root@", f"{who}@")
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("HOME", str(tmp_path))
        with pytest.raises(SourceDenied) as denied:
            keys(open_source(url))
        assert denied.value.exit_code == 6
        option_file = tmp_path / "min.cnf"
        option_file.write_text(f"[client]\npassword = {PASSWORD}\n")
        assert len(keys(open_source(f"{url}?option_file={option_file}"))) == sum(mariadb.rows.values())
        secret = tmp_path / "passord"
        secret.write_text(f"{PASSWORD}\n")
        secret.chmod(0o600)
        (tmp_path / "noarkit.toml").write_text(
            f'[connections.sak]\nurl = "{url}"\npassword = {{ file = "{secret}" }}\n'
        )
        source = open_source(url)
        assert len(keys(source)) == sum(mariadb.rows.values())
        assert PASSWORD not in repr(source.identity)
        (tmp_path / "noarkit.toml").rename(tmp_path / "annen.toml")
        line = ["scan", url, "--json", "--config"]
        assert main([*line, str(tmp_path / "annen.toml")], dict(os.environ)) == 0
        (tmp_path / "tom.toml").write_text("")
        assert main([*line, str(tmp_path / "tom.toml")], dict(os.environ)) == 6
        (tmp_path / "annen.toml").rename(tmp_path / "noarkit.toml")
        assert main([*line, str(tmp_path / "tom.toml")], dict(os.environ)) == 6, "the config that was named holds alone"
        secret.chmod(0o644)
        address = read_address(url)
        assert address is not None
        with pytest.raises(SecretFault):
            password_of(address, os.environ)
    finally:
        mariadb.run(f"DROP USER '{who}'@'127.0.0.1'")


def test_the_config_that_was_given_says_where_a_password_lies_and_no_other_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "postgresql://leser@127.0.0.1:1/sak"
    kept = tmp_path / "passord"
    kept.write_text(f"{PASSWORD}\n")
    kept.chmod(0o600)
    told = f'[connections.sak]\nurl = "{url}"\npassword = {{ file = "{kept}" }}\n'
    monkeypatch.chdir(tmp_path)

    def passwords(usual: str, given: str) -> set[str | None]:
        (tmp_path / "noarkit.toml").write_text(usual)
        (tmp_path / "annen.toml").write_text(given)
        environment = {"HOME": str(tmp_path)}
        source = source_at(url, read_settings(tmp_path / "annen.toml", environment=environment))
        assert isinstance(source, DatabaseSource)
        alike = (source, source.fitted({}), pickle.loads(pickle.dumps(source)))  # noqa: S301  # dumped here
        assert not [one for one in alike if PASSWORD in repr(one.address) + repr(one.identity)]
        found = [password_of(one.address, environment) for one in alike]
        return {secret.reveal() if secret else None for secret in found}

    assert passwords(usual="", given=told) == {PASSWORD}
    assert passwords(usual=told, given="") == {None}


def test_a_table_in_another_schema_is_named_by_it_and_a_view_is_read_where_it_is_named(postgresql: Sample) -> None:
    postgresql.run(
        "CREATE SCHEMA annet",
        'CREATE TABLE annet."Ting, med mer" (a integer, b text, brev bigint REFERENCES brev (id), PRIMARY KEY (a, b))',
        """INSERT INTO annet."Ting, med mer" VALUES (1, 'x,y', 1), (1, 'x', NULL)""",
        "CREATE VIEW oversikt AS SELECT aar, nr, tittel FROM sak",
    )
    source = open_source(postgresql.url)
    assert isinstance(source, DatabaseSource)
    found = {item.key: item for item in source.records(ignore_event) if isinstance(item, SourceRecord)}
    assert {key for key in found if key.startswith("annet")} == {
        "annet.Ting, med mer:1,x",
        "annet.Ting, med mer:1,x%2Cy",
    }
    assert not [key for key in found if key.startswith("oversikt")]
    terms = {"tables": [], "views": ["oversikt"], "keys": {"oversikt": ["aar", "nr"]}, "schemas": ["public"]}
    only = [key for key in keys(source.fitted(terms)) if key.startswith(("oversikt", "annet"))]
    assert only == [f"oversikt:2024,{number}" for number in range(1, 6)]


def test_readers_that_share_a_snapshot_see_the_same_rows_whatever_happens_meanwhile(postgresql: Sample) -> None:
    address = read_address(postgresql.url)
    assert address is not None
    with connect(address) as first:
        name = first.export_snapshot()
        postgresql.run("DELETE FROM merknad")
        with connect(address, snapshot=name) as second, connect(address) as third:
            counts = [one.first_row("SELECT count(*) FROM merknad") for one in (first, second, third)]
    assert [row and row[0] for row in counts] == [5, 5, 0]


def test_a_large_document_is_never_held_whole(shared: Sample, tmp_path: Path) -> None:
    size = 12 * MB if shared.family == "mysql" else 48 * MB
    if shared.family == "sqlite":
        url = f"sqlite:///{tmp_path / 'stor.db'}"
        with closing(sqlite3.connect(tmp_path / "stor.db")) as db:
            db.execute("CREATE TABLE stor (id INTEGER PRIMARY KEY, b BLOB)")
            db.execute("INSERT INTO stor VALUES (1, zeroblob(?))", (size,))
            db.commit()
    else:
        url = shared.url
        kind = "bytea" if shared.family == "postgresql" else "longblob"
        content = f"decode(repeat('00', {size}), 'hex')" if kind == "bytea" else f"REPEAT(CHAR(0), {size})"
        shared.run(
            "DROP TABLE IF EXISTS stor",
            f"CREATE TABLE stor (id integer PRIMARY KEY, b {kind})",
            f"INSERT INTO stor VALUES (1, {content})",
        )
    try:
        source = open_source(url)
        assert isinstance(source, DatabaseSource)
        fitted = source.fitted({"tables": ["stor"], "documents": {"stor": [{"column": "b", "as": "bytes"}]}})
        tracemalloc.start()
        (record,) = (item for item in fitted.records(ignore_event) if isinstance(item, SourceRecord))
        read = 0
        with fitted.open(record.contents[0]) as stream:
            while block := stream.read(MB):
                read += len(block)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert (read, record.contents[0].size_bytes) == (size, size)
        assert peak < 40 * MB
    finally:
        if shared.family != "sqlite":
            shared.run("DROP TABLE stor")


def test_a_value_longer_than_any_field_sets_its_row_aside_with_a_reason_and_costs_no_memory(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as db:
        db.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, tekst TEXT)")
        db.execute("INSERT INTO t VALUES (1, ?)", ("x" * 3_000_000,))
        db.commit()
    source = open_source(f"sqlite:///{tmp_path / 'a.db'}")
    assert isinstance(source, DatabaseSource)
    (record,) = (
        item for item in source.fitted({"documents": {}}).records(ignore_event) if isinstance(item, SourceRecord)
    )
    assert len(str(record.fields["tekst"])) == 1_000_001  # one more than an expression takes


def test_the_catalogue_tells_keys_relations_and_types_alike(shared: Sample) -> None:
    address = read_address(shared.url)
    assert address is not None
    with connect(address) as session:
        schema = reflect(session)
    assert schema.tables["sak"].key == ("aar", "nr")
    assert {one.name: (one.columns, one.table.name) for one in schema.tables["brev"].relations} == {
        "sak": (("sak_aar", "sak_nr"), "sak"),
        "mottaker": (("mottaker_id",), "person"),
    }
    labels = list(schema.tables)
    assert labels.index("person") < labels.index("sak") < labels.index("brev") < labels.index("vedlegg")
    kinds = {column.name: str(column.kind) for column in schema.tables["typer"].columns}
    assert (kinds["tall"], kinds["flyt"], kinds["dag"], kinds["naar"]) == ("decimal", "float", "date", "timestamp")
    if shared.family != "sqlite":
        assert (kinds["json"], kinds["punkt"], kinds["farge"], kinds["biter"]) == ("json", "geometry", "choice", "bits")


def test_a_copy_that_a_process_left_behind_is_removed_by_the_next(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"x")
    (tmp_path / "run" / "sqlite-999999999-old").mkdir(parents=True)
    copy = LocalCopy(tmp_path / "a.db", tmp_path / "run")
    assert copy.path.read_bytes() == b"x"
    assert [path.name.startswith(f"sqlite-{os.getpid()}-") for path in (tmp_path / "run").iterdir()] == [True]
    copy.close()
    assert list((tmp_path / "run").iterdir()) == []
