"""The digest of a plan: one for what it says, whatever the file looks like."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from noarkit.errors import PlanChanged
from noarkit.graph.cut import cut
from noarkit.graph.entity import MappedRecord, Note, Skipped
from noarkit.graph.freeze import digest
from noarkit.graph.store import GraphStore
from tests.graph.growing import Item, folder, grown, record, whole


@pytest.fixture
def frozen(tmp_path: Path) -> Path:
    """A graph that holds a row of everything."""
    link = (("refKryssreferanseTilRegistrering", "a"),)
    noted = replace(whole("a", folder("f")), notes=(Note("W207"),))
    items: list[Item] = [noted, MappedRecord("b", (folder("g"), record("b", "g", link))), Skipped("c", "a rule")]
    store = grown(tmp_path / "graph.db", items)
    cut(store)
    store.remember("external_system", "shelf")
    store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.db.execute("PRAGMA journal_mode = DELETE")
    store.close()
    return tmp_path / "graph.db"


def digest_of(path: Path) -> str:
    store = GraphStore.open(path)
    try:
        return digest(store.db)
    finally:
        store.close()


CHANGES = [
    ("record", "key"),
    ("record", "state"),
    ("record", "code"),
    ("record", "data"),
    ("record", "root"),
    ("entity", "key"),
    ("entity", "type"),
    ("entity", "record"),
    ("entity", "parent"),
    ("entity", "parent_link"),
    ("entity", "fields"),
    ("entity", "target"),
    ("entity", "line"),
    ("entity", "unit"),
    ("entity", "bundle"),
    ("link", "name"),
    ("link", "other"),
    ("link", "late"),
    ("content", "locator"),
    ("content", "name"),
    ("content", "size"),
    ("content", "modified_ns"),
    ("content", "sha256"),
    ("content", "media_type"),
    ("content", "puid"),
    ("shard", "kind"),
    ("shard", "entities"),
    ("shard", "bytes"),
    *(("chunk", name) for name in ("key", "entities", "actions", "json_bytes", "bytes", "first_unit", "first_bundle")),
    *(("chunk", name) for name in ("first_n", "last_unit", "last_bundle", "last_n")),
    ("note", "code"),
    ("note", "data"),
    ("meta", "value"),
]


@pytest.mark.parametrize(("table", "column"), CHANGES)
def test_any_other_value_gives_another_digest(table: str, column: str, frozen: Path) -> None:
    before = digest_of(frozen)
    with closing(sqlite3.connect(frozen)) as db:
        row = "name = 'external_system'" if table == "meta" else f"{column} IS (SELECT max({column}) FROM {table})"
        changed = db.execute(f"UPDATE {table} SET {column} = coalesce({column}, 0) || '1' WHERE {row}").rowcount
        db.commit()
    assert changed >= 1
    assert digest_of(frozen) != before


@pytest.mark.parametrize("table", ["record", "entity", "link", "content", "note", "shard", "chunk", "meta"])
def test_a_row_more_or_less_gives_another_digest(table: str, frozen: Path) -> None:
    before = digest_of(frozen)
    with closing(sqlite3.connect(frozen)) as db:
        if table in ("chunk", "meta"):
            key = {"chunk": "key = (SELECT max(key) FROM chunk)", "meta": "name = 'external_system'"}[table]
            db.execute(f"DELETE FROM {table} WHERE {key}")
        else:
            db.execute(f"DELETE FROM {table} WHERE rowid = (SELECT max(rowid) FROM {table})")
        db.commit()
    assert digest_of(frozen) != before


def test_another_layout_of_the_same_file_gives_the_same_digest(frozen: Path, tmp_path: Path) -> None:
    before, bytes_before = digest_of(frozen), frozen.read_bytes()
    with closing(sqlite3.connect(frozen, isolation_level=None)) as db:
        db.execute("PRAGMA page_size = 16384")
        db.execute("VACUUM")
        db.execute("REINDEX")
        db.execute("INSERT OR REPLACE INTO meta VALUES ('frozen_at', '12')")
    assert frozen.read_bytes() != bytes_before
    assert digest_of(frozen) == before
    shutil.copy(frozen, tmp_path / "copy.db")
    assert digest_of(tmp_path / "copy.db") == before


def test_values_cannot_run_into_each_other(tmp_path: Path) -> None:
    digests = set()
    for number, (key, title) in enumerate([("ab", "c"), ("a", "bc"), ("a", "b"), ("b", "a")]):
        store = grown(tmp_path / f"{number}.db", [MappedRecord(key, (record(key, title=title),))])
        digests.add(digest(store.db))
        store.close()
    assert len(digests) == 4


def test_a_plan_that_is_not_what_was_frozen_is_refused(frozen: Path) -> None:
    expected = digest_of(frozen)
    with closing(sqlite3.connect(frozen)) as db:
        db.execute("UPDATE entity SET fields = '{}' WHERE key = 'a'")
        db.commit()
    store = GraphStore.open(frozen)
    with pytest.raises(PlanChanged) as told:
        store.check_frozen(expected)
    store.close()
    assert (told.value.data["frozen"], told.value.exit_code) == (expected, 2)
