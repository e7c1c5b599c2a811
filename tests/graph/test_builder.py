"""Records go into the graph whole or not at all, whatever batch they fall into."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noarkit.graph.builder import GraphBuilder
from noarkit.graph.checks import EntityChecks
from noarkit.graph.entity import AlreadyThere, Entity, MappedRecord, Note, SetAside, Skipped
from noarkit.graph.store import GraphStore
from tests.graph.growing import SYSTEM, Item, folder, grown, keys, record, spine, states, whole

Grow = Callable[..., GraphStore]
BATCHES = [1, 2, 1000]


@pytest.fixture
def grow(tmp_path: Path) -> Iterator[Grow]:
    """Makes graphs, and closes them."""
    made: list[GraphStore] = []
    numbers = itertools.count()

    def growing(*items: Item, batch_records: int = 1000) -> GraphStore:
        made.append(grown(tmp_path / f"{next(numbers)}.db", items, batch_records))
        return made[-1]

    yield growing
    for store in made:
        store.close()


@pytest.mark.parametrize("batch", BATCHES)
def test_a_folder_that_several_records_name_is_taken_once(batch: int, grow: Grow) -> None:
    shared = folder("f")
    store = grow(whole("a", shared), whole("b", shared), whole("c", folder("g")), batch_records=batch)
    assert keys(store).count("f") == 1
    parents = {
        store.entity(entity.parent).key for entity in store.all_entities() if entity.key in ("a", "b") and entity.parent
    }
    assert parents == {"f"}
    assert [state for _, state, _ in states(store)] == ["mapped"] * 3


@pytest.mark.parametrize("batch", BATCHES)
def test_a_class_that_several_records_name_is_taken_once(batch: int, grow: Grow) -> None:
    system = Entity("ks", "Klassifikasjonssystem", {"tittel": "k"})
    klass = Entity("k1", "Klasse", {"klasseIdent": "1", "tittel": "one"}, "ks", "refKlassifikasjonssystem")
    items = [MappedRecord(key, (system, klass, record(key, links=(("refPrimaerKlasse", "k1"),)))) for key in "ab"]
    store = grow(*items, batch_records=batch)
    assert (keys(store).count("ks"), keys(store).count("k1")) == (1, 1)
    assert store.count("link", "other IS NOT NULL AND NOT late") == 2


@pytest.mark.parametrize("batch", BATCHES)
def test_a_record_whose_key_comes_twice_is_set_aside_and_keeps_its_place_in_the_sums(batch: int, grow: Grow) -> None:
    store = grow(whole("a"), whole("b"), whole("a"), batch_records=batch)
    assert [(state, code) for _, state, code in states(store)] == [
        ("mapped", None),
        ("mapped", None),
        ("set_aside", "F222"),
    ]
    assert keys(store).count("a") == 1


@pytest.mark.parametrize("batch", BATCHES)
def test_an_entity_whose_key_is_taken_by_another_record_sets_the_later_record_aside_whole(
    batch: int, grow: Grow
) -> None:
    late = MappedRecord(
        "b", (folder("only-b"), record("b", "only-b"), replace(record("a"), parent="b", parent_link="refMappe"))
    )
    store = grow(whole("a"), late, whole("c"), batch_records=batch)
    assert states(store)[1][1:] == ("set_aside", "F222")
    assert not {"only-b", "b"} & set(keys(store))
    assert "c" in keys(store)


@pytest.mark.parametrize("batch", BATCHES)
def test_a_bad_entity_takes_its_whole_record_back_but_not_the_folder_others_made(batch: int, grow: Grow) -> None:
    bad = MappedRecord(
        "b", (folder("f"), folder("g"), record("b", "g"), Entity("x", "Nothing", {}, "b", "refRegistrering"))
    )
    store = grow(whole("a", folder("f")), bad, whole("c", folder("g")), batch_records=batch)
    assert [state for _, state, _ in states(store)] == ["mapped", "set_aside", "mapped"]
    assert keys(store) == ["arkiv", "skaper", "del", "f", "a", "a#d0", "a#v0", "g", "c", "c#d0", "c#v0"]
    numbers = [entity.n for entity in store.all_entities()]
    assert sorted(numbers) == list(range(1, len(numbers) + 1))
    assert store.count("content") == 2


def test_a_parent_that_is_nowhere_sets_the_record_aside(grow: Grow) -> None:
    store = grow(MappedRecord("a", (record("a", "nowhere"),)))
    assert states(store) == [("a", "set_aside", "F223")]


def test_skipped_set_aside_and_known_records_are_counted(grow: Grow) -> None:
    store = grow(Skipped("a", "a rule"), SetAside("b", "F201", {"why": "x"}), AlreadyThere("c"), whole("d"))
    assert [state for _, state, _ in states(store)] == ["skipped", "set_aside", "already_there", "mapped"]


def test_every_folder_and_record_bears_its_key_as_an_external_id(grow: Grow) -> None:
    store = grow(whole("a", folder("f")))
    labels = [entity for entity in store.all_entities() if entity.type == "EksternId"]
    assert [label.fields for label in labels] == [{"eksternID": key, "eksterntSystem": SYSTEM} for key in ("f", "a")]
    assert [store.entity(label.parent or 0).key for label in labels] == ["f", "a"]
    assert {label.bundle for label in labels} == {label.parent for label in labels}


def test_notes_stay_with_their_record(grow: Grow) -> None:
    store = grow(replace(whole("a"), notes=(Note("W207"),)))
    assert store.db.execute("SELECT record, code FROM note").fetchall() == [(1, "W207")]


def test_the_root_of_a_record_is_its_record_unless_it_says_otherwise(grow: Grow) -> None:
    store = grow(whole("a", folder("f")), replace(whole("b", folder("f")), root="f"))
    roots = [store.entity(row[0]).key for row in store.db.execute("SELECT root FROM record ORDER BY n")]
    assert roots == ["a", "f"]


def test_links_forward_and_across_units_are_late_and_links_back_are_not(grow: Grow) -> None:
    def linked(key: str, other: str, parent: str) -> MappedRecord:
        return MappedRecord(key, (folder(parent), record(key, parent, (("refKryssreferanseTilRegistrering", other),))))

    store = grow(linked("a", "b", "f"), linked("b", "a", "f"), linked("c", "a", "g"))
    late = {(store.entity(link.entity).key, store.entity(link.target).key) for link in store.late_links()}
    assert late == {("a", "b"), ("c", "a")}


def test_parents_have_smaller_numbers_and_come_first_in_the_order(grow: Grow) -> None:
    store = grow(whole("a", folder("f")), whole("b"), whole("c", folder("f")))
    seen: set[int] = set()
    assert len(list(store.all_entities())) > 5
    for entity in store.all_entities():
        assert entity.parent is None or entity.parent in seen
        seen.add(entity.n)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from(["", "f", "g"]), st.booleans()), max_size=14))
def test_no_batch_size_changes_what_a_plan_says(rows: list[tuple[str, str, bool]]) -> None:
    def items() -> Iterator[Item]:
        for key, parent, good in rows:
            one = whole(key, folder(parent) if parent else None)
            yield one if good else replace(one, entities=(*one.entities, Entity("bad", "Nothing", {})))

    said = []
    for batch in BATCHES:
        store = GraphStore.create(_memory())
        builder = GraphBuilder(store, SYSTEM, EntityChecks(), batch)
        builder.targets(spine())
        for item in items():
            builder.add(item)
        builder.finish()
        said.append((states(store), keys(store), sorted(keys(store)) == sorted(set(keys(store)))))
        store.close()
    assert said[0] == said[1] == said[2]
    assert said[0][2]
    good = {key for key, _, fine in rows if fine}
    assert {key for key, state, _ in said[0][0] if state == "mapped"} <= good


def _memory() -> Path:
    import tempfile

    return Path(tempfile.mkdtemp()) / "graph.db"


def test_memory_does_not_grow_with_the_number_of_records(tmp_path: Path) -> None:
    peaks = []
    for count in (2_000, 8_000):
        store = GraphStore.create(tmp_path / f"{count}.db")
        builder = GraphBuilder(store, SYSTEM, EntityChecks(), 200)
        builder.targets(spine())
        tracemalloc.start()
        for number in range(count):
            builder.add(whole(f"{number}", folder(f"f{number // 10}"), (10, 10, 10)))
        builder.flush()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        store.close()
    # what stays is the last places, which are bounded
    assert peaks[1] < 25_000_000
    assert peaks[1] < peaks[0] * 2.5
