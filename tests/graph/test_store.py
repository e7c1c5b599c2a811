"""graph.db as a file: made once, read by cursors, refused where it is not ours."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from noarkit.errors import JournalFault
from noarkit.graph.cut import Limits, cut
from noarkit.graph.store import GraphStore, fields_json
from tests.graph.growing import folder, grown, whole


def test_a_new_graph_is_for_its_owner_alone(tmp_path: Path) -> None:
    store = GraphStore.create(tmp_path / "run" / "graph.db")
    store.close()
    assert stat.S_IMODE((tmp_path / "run" / "graph.db").stat().st_mode) == 0o600


def test_a_graph_is_never_made_over_another(tmp_path: Path) -> None:
    GraphStore.create(tmp_path / "graph.db").close()
    with pytest.raises(FileExistsError):
        GraphStore.create(tmp_path / "graph.db")


def test_what_is_not_there_or_no_database_or_of_a_later_version_is_a_journal_fault(tmp_path: Path) -> None:
    with pytest.raises(JournalFault):
        GraphStore.open(tmp_path / "none.db")
    (tmp_path / "text.db").write_text("no database " * 100)
    with pytest.raises(JournalFault):
        GraphStore.open(tmp_path / "text.db")
    later = GraphStore.create(tmp_path / "later.db")
    later.remember("version", "2")
    later.close()
    with pytest.raises(JournalFault):
        GraphStore.open(tmp_path / "later.db")


def test_an_opened_graph_cannot_be_changed(tmp_path: Path) -> None:
    GraphStore.create(tmp_path / "graph.db").close()
    store = GraphStore.open(tmp_path / "graph.db")
    with pytest.raises(Exception, match="readonly"):
        store.remember("a", "b")
    store.close()


def test_ranges_give_entities_links_and_contents_of_a_chunk(tmp_path: Path) -> None:
    store = grown(tmp_path / "graph.db", [whole("a", folder("f"), (1, 2)), whole("b", folder("g"), (3,))])
    cut(store, Limits(shard_entities=1))
    first = next(chunk for chunk in store.chunks(1))
    sizes = [content.size_bytes for content in store.contents_between(first.first, first.last).values()]
    assert sizes == [1, 2]
    versions = [entity.n for entity in store.between(first.first, first.last) if entity.type == "Dokumentversjon"]
    content = store.content(versions[0])
    assert content is not None
    assert content.size_bytes == 1
    assert store.content(versions[0] - 1) is None
    assert store.children(store.entity(versions[0] - 1).parent or 0, "Dokument") == [one - 1 for one in versions]
    store.close()


def test_a_record_that_is_left_out_takes_its_entities_along(tmp_path: Path) -> None:
    store = grown(tmp_path / "graph.db", [whole("a", folder("f")), whole("b", folder("f"))])
    victim = next(entity for entity in store.all_entities() if entity.key == "a")
    store.leave_out(1, victim.bundle, "F226", "{}")
    left = [entity.key for entity in store.all_entities()]
    assert {"f", "b"} <= set(left)
    assert not [key for key in left if key.startswith("a") and key != "arkiv"]
    assert store.db.execute("SELECT state, code FROM record WHERE n = 1").fetchone() == ("set_aside", "F226")
    assert store.count("content") == 1
    store.close()


def test_the_same_fields_are_the_same_text() -> None:
    assert fields_json({"b": 1, "a": "å"}) == fields_json({"a": "å", "b": 1}) == '{"a":"å","b":1}'


def test_a_draft_is_one_durable_file_once_it_is_settled(tmp_path: Path) -> None:
    store = GraphStore.create(tmp_path / "graph.db", draft=True)
    modes = [store.db.execute("PRAGMA journal_mode").fetchone()[0]]
    store.remember("a", "b")
    store.end_batches()
    modes.append(store.db.execute("PRAGMA journal_mode").fetchone()[0])
    store.settle()
    assert [*modes, store.db.execute("PRAGMA journal_mode").fetchone()[0]] == ["memory", "off", "delete"]
    assert [path.name for path in tmp_path.iterdir()] == ["graph.db"]
    store.close()
    assert GraphStore.open(tmp_path / "graph.db").meta("a") == "b"


def test_what_was_no_draft_keeps_its_journal_to_the_end(tmp_path: Path) -> None:
    store = GraphStore.create(tmp_path / "graph.db")
    store.end_batches()
    assert store.db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    store.close()
