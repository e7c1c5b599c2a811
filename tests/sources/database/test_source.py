"""What a database promises as a source: rows and documents as they were planned, or a stated fate."""

from __future__ import annotations

import gc
import json
import os
import pickle
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from noarkit.cli.main import main
from noarkit.errors import (
    ItemChanged,
    ItemUnreadable,
    ItemVanished,
    PlanFault,
    SecretOnTheLine,
    SourceAway,
    SourceDenied,
    SourceGone,
    UsageFault,
)
from noarkit.events import ignore_event
from noarkit.forms.finders import open_source, reopen
from noarkit.graph.entity import Content, SetAside
from noarkit.recipes import read_recipe
from noarkit.records import SourceIdentity, SourceRecord
from noarkit.sources.database.source import DatabaseSource
from tests.sources.database.sample import NUMBER, Sample, engine, server_urls


def opened(sample: Sample) -> DatabaseSource:
    """The sample on the terms of its own proposal."""
    os.chdir(sample.place)
    source = open_source(sample.url)
    fitted = source.fitted(read_recipe(source.proposal(ignore_event), "r").data["source"])  # type: ignore[attr-defined]  # ours
    assert isinstance(fitted, DatabaseSource)
    return fitted


@pytest.fixture(autouse=True)
def where_we_were() -> Iterator[None]:
    """Tests that go to their sample's folder come back."""
    before = Path.cwd()
    yield
    os.chdir(before)


def rows(source: DatabaseSource) -> dict[str, SourceRecord]:
    """The records by key."""
    return {item.key: item for item in source.records(ignore_event) if isinstance(item, SourceRecord)}


def contents(source: DatabaseSource) -> dict[str, Content]:
    """The contents by row and column."""
    return {one.locator.rpartition("@")[0]: one for row in rows(source).values() for one in row.contents}


def read(source: DatabaseSource, content: Content) -> bytes:
    """All bytes, in small blocks."""
    with source.open(content) as stream:
        taken = b"".join(iter(lambda: stream.read(1000), b""))
        assert stream.still_the_same()
    return taken


def test_documents_are_those_that_were_put_there_null_is_none_and_nothing_is_an_empty_one(shared: Sample) -> None:
    source = opened(shared)
    found = contents(source)
    assert set(found) == set(shared.documents)
    for key, content in found.items():
        taken = read(source, content)
        assert taken == shared.documents[key], key
        assert content.size_bytes == len(taken)
        with source.open(content) as stream:
            assert stream.read() == taken
    assert shared.documents["brev:4#innhold"] == b"" and "brev:3#innhold" not in found
    assert found["brev:1#innhold"].name == "brev 1.pdf"
    assert found["brev:1#innhold"].media_type == "application/pdf"


def test_a_row_that_changed_or_went_and_a_size_other_than_planned_are_told(sample: Sample) -> None:
    source = opened(sample)
    found = contents(source)
    sample.run("UPDATE brev SET emne = 'annet' WHERE id = 1", "DELETE FROM brev WHERE id = 8")
    with pytest.raises(ItemChanged) as changed, source.open(found["brev:1#innhold"]):
        pass
    assert changed.value.data["why"] == "row"
    with pytest.raises(ItemVanished), source.open(found["brev:8#innhold"]):
        pass
    other = replace(found["brev:2#innhold"], size_bytes=7)
    with pytest.raises(ItemChanged), source.open(other):
        pass
    assert read(source, found["brev:2#innhold"]) == sample.documents["brev:2#innhold"]


def test_a_row_that_changes_while_it_is_read_gives_its_old_bytes_whole_and_is_told_after_the_last(
    server: Sample,
) -> None:
    source = opened(server)
    content = contents(source)["brev:5#innhold"]
    with source.open(content) as stream:
        first = stream.read(10)
        server.run("UPDATE brev SET innhold = NULL, emne = 'x' WHERE id = 5")
        rest = stream.read()
        assert first + rest == server.documents["brev:5#innhold"]
        assert not stream.still_the_same()


def test_the_same_length_with_other_bytes_is_noticed_in_postgresql(server: Sample) -> None:
    source = opened(server)
    content = contents(source)["brev:5#innhold"]
    if server.family == "mysql":  # there the beginning of the document is compared
        server.run("UPDATE brev SET innhold = CONCAT('X', SUBSTR(innhold, 2)) WHERE id = 5")
    else:
        server.run(
            "UPDATE brev SET innhold = overlay(innhold placing '\\x00'::bytea from octet_length(innhold)) WHERE id = 5"
        )
    with pytest.raises(ItemChanged), source.open(content):
        pass


def test_what_lies_behind_a_foreign_key_is_asked_for_once_a_batch(shared: Sample) -> None:
    source = opened(shared)
    asked: list[str] = []
    for item in source.records(ignore_event):
        if isinstance(item, SourceRecord) and item.kind == "sak":
            person = item.fields["soker"]
            handler = item.fields["saksbehandler"]
            assert isinstance(person, dict) and isinstance(handler, dict)
            assert handler["avdeling"]["navn"] in ("Plan", "Skole")
            asked.append(person["navn"])
            words = [link["emneord"]["verdi"] for link in item.fields["sak_emneord"]]  # type: ignore[attr-defined]  # a list of rows
            assert words == ["garasje", "nabovarsel"]
    assert sorted(set(asked)) == ["Kari Æ. Nordmann", "Ola"]


def test_values_are_plain_and_lose_nothing(shared: Sample) -> None:
    found = rows(opened(shared))
    one = next(row.fields for key, row in found.items() if key.startswith("typer:1"))
    if shared.family == "sqlite":
        assert (one["kort"], one["hva_som_helst"], one["flagg"]) == ("00ff", "0102", True)
        assert one["naar"] == "2024-01-02T03:04:05.6"
        return
    assert str(one["tall"]) == "12345678901234567890.0123456789"
    assert (one["dag"], one["kort"], one["biter"], one["farge"]) == ("2024-02-29", "00ff", "10101", "rød")
    assert one["json"] == {"a": [1, 2.5, None]}
    if shared.family == "postgresql":
        assert one["naarsone"] == "2024-01-01T21:34:05+00:00"
        assert (one["liste"], one["tekster"]) == ([1, None, 3], [["a", "b"], ["c", "d"]])
        assert (one["varighet"], one["punkt"], one["flyt"]) == ("P1Y2DT3H", "(1,2)", "NaN")
        assert (found["typer:2"].fields["dag"], found["typer:2"].fields["naar"]) == (
            "infinity",
            "0044-03-15 00:00:00 BC",
        )
    else:
        assert one["naarsone"] == "2024-01-02T03:04:05+00:00"
        assert (one["tid"], one["punkt"], one["id"]) == ("PT100H37M0.5S", "POINT(1 2)", 18446744073709551615)


def test_a_table_that_was_altered_since_the_plan_stops_the_work_and_names_it(sample: Sample) -> None:
    source = opened(sample)
    content = contents(source)["brev:1#innhold"]
    again = reopen(source.identity)
    sample.run("ALTER TABLE brev ADD COLUMN ny integer")
    with pytest.raises(SourceGone) as altered, again.open(content):
        pass
    assert (altered.value.data["why"], altered.value.data["what"]) == ("table-altered", "brev")
    with pytest.raises(SourceGone):
        list(reopen(source.identity).records(ignore_event))


def test_a_recipe_that_names_what_is_not_there_is_told_with_what_was_meant(shared: Sample) -> None:
    source = open_source(shared.url)
    assert isinstance(source, DatabaseSource)
    with pytest.raises(PlanFault) as fault:
        list(source.fitted({"kind": "database", "tables": ["brevv"]}).records(ignore_event))
    assert (fault.value.data["name"], fault.value.data["near"]) == ("brevv", "brev")
    with pytest.raises(PlanFault) as fault:
        terms = {"documents": {"brev": [{"column": "inhold", "as": "bytes"}]}}
        list(source.fitted(terms).records(ignore_event))
    assert (fault.value.data["name"], fault.value.data["near"]) == ("inhold", "innhold")
    with pytest.raises(PlanFault):
        source.fitted({"documents": {"brev": [{"column": "innhold", "as": "papir"}]}})


def test_a_file_outside_the_base_folder_or_not_there_sets_its_row_aside(sample: Sample) -> None:
    source = opened(sample)
    (sample.place / "hemmelig.txt").write_text("x")
    sample.run(
        "UPDATE vedlegg SET filsti = '../hemmelig.txt' WHERE brev_id = 1",
        "UPDATE vedlegg SET filsti = '2024/borte.txt' WHERE brev_id = 2",
    )
    aside = {item.record_key: item for item in source.records(ignore_event) if isinstance(item, SetAside)}
    assert {key: item.code for key, item in aside.items()} == {
        "vedlegg:1,1": ItemUnreadable.code,
        "vedlegg:2,1": ItemVanished.code,
    }


def test_a_column_that_tells_of_changes_is_gone_by_alone_where_the_recipe_names_it(sample: Sample) -> None:
    source = opened(sample)
    terms = {**source.settings.settings(), "changed": {"brev": "mottatt"}}
    marked = source.fitted(terms)
    content = contents(marked)["brev:2#innhold"]
    sample.run("UPDATE brev SET emne = 'annet' WHERE id = 2")
    assert read(marked, content) == sample.documents["brev:2#innhold"]
    sample.run("UPDATE brev SET mottatt = '2030-01-01 00:00:00' WHERE id = 2")
    with pytest.raises(ItemChanged), marked.open(content):
        pass


def test_case_files_come_before_what_hangs_under_them_also_where_keys_lead_in_circles(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as db:
        db.execute("CREATE TABLE a_sak (id INTEGER PRIMARY KEY, tittel TEXT, siste_id INTEGER REFERENCES brev (id))")
        db.execute("CREATE TABLE brev (id INTEGER PRIMARY KEY, a_sak_id INTEGER REFERENCES a_sak (id), innhold BLOB)")
        db.execute("INSERT INTO a_sak VALUES (1, 'Sak', 7)")
        db.execute("INSERT INTO brev VALUES (7, 1, ?)", (b"x" * 500,))
        db.commit()
    source = open_source(f"sqlite:///{tmp_path / 'a.db'}")
    assert isinstance(source, DatabaseSource)
    terms = read_recipe(source.proposal(ignore_event), "r").data["source"]
    assert [*rows(source.fitted(terms))] == ["a_sak:1", "brev:7"]  # type: ignore[arg-type]  # as the proposal has it


def test_a_file_that_is_replaced_under_its_name_while_it_is_read_is_told(sample: Sample) -> None:
    source = opened(sample)
    content = contents(source)["vedlegg:1,1#filsti"]
    path = sample.place / "filer" / "2024" / "vedlegg-1.txt"
    twin = path.with_name("twin")
    shutil.copy2(path, twin)
    with source.open(content) as stream:
        assert stream.read() == sample.documents["vedlegg:1,1#filsti"]
        twin.replace(path)
        assert not stream.still_the_same()
    path.write_bytes(b"kortere")
    with pytest.raises(ItemChanged), source.open(content):
        pass
    path.unlink()
    with pytest.raises(ItemVanished), source.open(content):
        pass


def test_a_scan_shows_keys_relations_documents_and_what_may_be_personal_data(
    shared: Sample, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["scan", shared.url, "--json", "--progress", "none"], {"HOME": str(shared.place)}) == 0
    told = next(json.loads(line) for line in capsys.readouterr().out.splitlines() if '"tables"' in line)
    tables = {table["name"]: table for table in told["tables"]}
    assert (
        told["records"] == sum(shared.rows.values()) and {name: tables[name]["rows"] for name in tables} == shared.rows
    )
    assert tables["sak"]["key"] == ["aar", "nr"]
    assert {one["name"] for one in tables["brev"]["relations"]} == {"sak", "mottaker"}
    assert {one["name"] for one in tables["brev"]["columns"] if one["document"]} >= {"innhold"}
    personal = {one["name"]: one["personal"] for one in tables["person"]["columns"]}
    assert (personal["fodselsnummer"], personal["epost"], personal["navn"], personal["id"]) == (
        "identity-number",
        "email",
        "name",
        "",
    )
    assert main(["scan", shared.url, "--progress", "none"], {"HOME": str(shared.place)}) == 0
    shown = capsys.readouterr().out
    assert "national identity numbers" in shown and NUMBER not in shown and "Nordmann" not in shown


def test_a_source_can_be_sent_to_another_process_and_found_again_by_what_a_plan_keeps(shared: Sample) -> None:
    source = opened(shared)
    content = contents(source)["brev:2#innhold"]
    twin = pickle.loads(pickle.dumps(source))  # noqa: S301  # as processes do it
    assert read(twin, content) == shared.documents["brev:2#innhold"]
    assert source.identity.where == reopen(source.identity).identity.where
    assert read(reopen(source.identity), content) == shared.documents["brev:2#innhold"]  # type: ignore[arg-type]  # ours


def test_several_threads_open_documents_at_once(shared: Sample) -> None:
    source = opened(shared)
    found = contents(source)
    wrong: list[str] = []

    def work(key: str) -> None:
        if read(source, found[key]) != shared.documents[key]:
            wrong.append(key)

    threads = [threading.Thread(target=work, args=(key,)) for key in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_connections_that_the_server_ended_are_replaced_and_one_that_ends_at_work_is_told_as_away(
    server: Sample,
) -> None:
    source = opened(server)
    content = contents(source)["brev:5#innhold"]
    assert read(source, content)
    end_all(server)
    assert read(source, content) == server.documents["brev:5#innhold"]
    walk = source.records(ignore_event)
    next(walk)
    end_all(server)
    with pytest.raises(SourceAway):
        list(walk)
    with pytest.raises(SourceAway), source.open(content) as stream:
        end_all(server)
        stream.read()


def end_all(server: Sample) -> None:
    """Ends every connection to the sample but our own, as a restart or an impatient administrator would."""
    with engine(server.url).connect() as db:
        if server.family == "postgresql":
            db.exec_driver_sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            return
        mine = db.exec_driver_sql("SELECT connection_id()").scalar()
        name = db.exec_driver_sql("SELECT database()").scalar()
        for number, of in db.exec_driver_sql("SELECT id, db FROM information_schema.processlist").fetchall():
            if of == name and number != mine:
                db.exec_driver_sql(f"KILL {number}")


def test_nothing_is_left_open_that_others_would_wait_for(server: Sample) -> None:
    source = opened(server)
    assert read(source, contents(source)["brev:2#innhold"])
    server.run(
        "SET lock_wait_timeout = 3" if server.family == "mysql" else "SET lock_timeout = '3s'",
        "ALTER TABLE brev ADD COLUMN ny integer",
    )
    del source
    gc.collect()


def test_who_is_not_let_in_or_asks_for_what_is_not_there_is_told(server: Sample) -> None:
    base = server.url.rpartition("/")[0]
    with pytest.raises(SourceGone):
        list(open_source(f"{base}/finnes_ikke_{os.getpid()}").records(ignore_event))
    url = server.url.replace("//root@", "//").replace("//", "//finnes_ikke@")
    with pytest.raises(SourceDenied):
        list(open_source(url).records(ignore_event))
    away = "postgresql://127.0.0.1:1/x" if server.family == "postgresql" else "mysql://127.0.0.1:1/x"
    with pytest.raises(SourceAway):
        list(open_source(away).records(ignore_event))


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://leser:hemmelig@db/sak",
        "mysql://leser:@db/sak",
        "postgresql://db/sak?password=hemmelig",
        "mysql://db/sak?passwd=hemmelig",
    ],
)
def test_a_password_in_a_url_is_refused_and_never_repeated(url: str) -> None:
    with pytest.raises(SecretOnTheLine) as fault:
        open_source(url)
    assert "hemmelig" not in str(fault.value)


@pytest.mark.parametrize("url", ["postgresql://db", "sqlite://", "sqlite:///:memory:", "postgresql+pg8000://db/sak"])
def test_a_url_that_names_no_database_is_a_fault_of_use(url: str) -> None:
    with pytest.raises(UsageFault):
        open_source(url)


def test_a_plan_of_no_database_is_not_reopened_as_one() -> None:
    with pytest.raises(UsageFault):
        reopen(SourceIdentity("database", "/srv/filer", {}))


def _tree(place: Path) -> dict[str, tuple[int, int]]:
    return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in sorted(place.rglob("*"))}


def test_an_sqlite_file_is_read_without_a_trace_and_one_in_use_from_a_copy(tmp_path: Path) -> None:
    path = tmp_path / "kilde" / "a.db"
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, b BLOB)")
        db.execute("INSERT INTO t VALUES (1, x'0102')")
        db.commit()
    before = _tree(path.parent)
    source = open_source(f"sqlite:///{path}")
    assert [item.key for item in source.records(ignore_event) if isinstance(item, SourceRecord)] == ["t:1"]
    assert _tree(path.parent) == before
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("INSERT INTO t VALUES (2, x'03')")
        db.commit()
        before = _tree(path.parent)
        source = open_source(f"sqlite:///{path}")
        assert isinstance(source, DatabaseSource)
        source.settle(tmp_path / "run")
        found = rows(source)
        assert list(found) == ["t:1", "t:2"]
        assert read(source, found["t:2"].contents[0]) == b"\x03"
        assert _tree(path.parent) == before
        assert list((tmp_path / "run").iterdir())
    del source, found
    gc.collect()
    assert list((tmp_path / "run").iterdir()) == []


def test_an_sqlite_file_that_is_written_to_while_it_is_read_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE t (id INTEGER PRIMARY KEY)")
        db.executemany("INSERT INTO t VALUES (?)", [(n,) for n in range(10)])
        db.commit()
        walk = open_source(f"sqlite:///{path}").records(ignore_event)
        next(walk)
        db.execute("INSERT INTO t VALUES (11)")
        db.commit()
    with pytest.raises(SourceAway):
        list(walk)


def test_what_is_no_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"x" * 5000)
    with pytest.raises(SourceGone) as fault:
        list(open_source(f"sqlite:///{tmp_path / 'a.db'}").records(ignore_event))
    assert fault.value.data["why"] == "not-a-database"
    with pytest.raises(SourceGone):
        list(open_source(f"sqlite:///{tmp_path / 'borte.db'}").records(ignore_event))


def test_rows_without_a_key_have_keys_of_their_own_and_their_documents_are_found(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE t (navn TEXT, b BLOB)")
        db.executemany("INSERT INTO t VALUES (?, ?)", [("lik", b"en"), ("lik", b"en"), ("ulik", b"to")])
        db.commit()
    source = open_source(f"sqlite:///{path}")
    assert isinstance(source, DatabaseSource)
    found = rows(source)
    assert len(found) == 3
    assert [read(source, row.contents[0]) for row in found.values()] == [b"en", b"en", b"to"]


def test_a_key_with_any_signs_leads_back_to_its_row(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    keys = ["a,b", "50%", "x#y@z", "æ:ø", "", " "]
    with closing(sqlite3.connect(path)) as db:
        db.execute('CREATE TABLE "t:1" (a TEXT NOT NULL, n INTEGER, "b#@%" BLOB, PRIMARY KEY (a, n))')
        db.executemany('INSERT INTO "t:1" VALUES (?, 1, ?)', [(key, key.encode()) for key in keys])
        db.commit()
    source = open_source(f"sqlite:///{path}")
    assert isinstance(source, DatabaseSource)
    found = rows(source)
    assert sorted(read(source, row.contents[0]).decode() for row in found.values()) == sorted(keys)


def test_the_servers_under_test_are_named_by_the_environment() -> None:
    assert set(server_urls()) == {"postgresql", "mysql"}
