"""Shards and chunks: every entity once, no unit in two shards, no record in two chunks but the too large."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noarkit.graph.cut import Limits, cut
from noarkit.graph.entity import MappedRecord
from noarkit.graph.store import Chunk, GraphStore, PlannedEntity
from tests.graph.growing import folder, grown, record, whole


@dataclass(frozen=True)
class Cut:
    """A graph and how it was cut."""

    store: GraphStore
    chunks: list[Chunk]

    def entities(self, chunk: Chunk) -> list[PlannedEntity]:
        return list(self.store.between(chunk.first, chunk.last))


@contextmanager
def cut_up(items: list[MappedRecord], limits: Limits) -> Iterator[Cut]:
    with tempfile.TemporaryDirectory() as home:
        store = grown(Path(home) / "graph.db", items)
        cut(store, limits)
        yield Cut(store, list(store.chunks()))
        store.close()


def hold(done: Cut, limits: Limits) -> None:
    """All that must hold of any cut."""
    everything = [entity.n for entity in done.store.all_entities()]
    held = [entity.n for chunk in done.chunks for entity in done.entities(chunk)]
    assert held == everything, "each entity in exactly one chunk, in the order of loading"
    units: dict[int, int] = {}
    places: dict[int, list[tuple[int, int]]] = {}
    for chunk in done.chunks:
        entities = done.entities(chunk)
        assert chunk.entities == len(entities) > 0
        _within(done, chunk, limits)
        for entity in entities:
            assert (entity.unit == 0) == (chunk.shard == 0)
            assert units.setdefault(entity.unit, chunk.shard) == chunk.shard, "a unit in two shards"
            place = places.setdefault(entity.bundle, [])
            if (chunk.shard, chunk.n) not in place:
                place.append((chunk.shard, chunk.n))
    for bundle, chunks in places.items():
        if bundle and len(chunks) > 1:
            assert _too_large(done, bundle, limits), "a record in two chunks that would have fitted into one"
    assert len({chunk.key for chunk in done.chunks}) == len(done.chunks)
    shards = {number: (entities, size) for number, _, entities, size in done.store.shards()}
    for number, sums in shards.items():
        mine = [chunk for chunk in done.chunks if chunk.shard == number]
        assert sums == (sum(one.entities for one in mine), sum(one.bytes for one in mine))


def _within(done: Cut, chunk: Chunk, limits: Limits) -> None:
    entities = done.entities(chunk)
    if len({entity.bundle for entity in entities}) == 1 and not _can_be_cut(entities):
        return
    assert chunk.actions <= limits.chunk_actions
    assert chunk.json_bytes <= limits.chunk_json_bytes
    assert chunk.bytes <= limits.chunk_upload_bytes or chunk.entities == 1


def _can_be_cut(entities: list[PlannedEntity]) -> bool:
    return any(entity.type in ("Dokument", "Dokumentversjon") for entity in entities[1:])


def _too_large(done: Cut, bundle: int, limits: Limits) -> bool:
    mine = [chunk for chunk in done.chunks if any(entity.bundle == bundle for entity in done.entities(chunk))]
    return (
        sum(chunk.actions for chunk in mine) > limits.chunk_actions
        or sum(chunk.json_bytes for chunk in mine) > limits.chunk_json_bytes
        or sum(chunk.bytes for chunk in mine) > limits.chunk_upload_bytes
    )


SIZES = st.lists(st.integers(0, 400), max_size=6)
TREES = st.lists(
    st.tuples(st.sampled_from(["", "f", "g", "h", "i", "j"]), SIZES, st.integers(1, 60)), min_size=0, max_size=25
)
LIMITS = st.builds(
    Limits,
    chunk_actions=st.integers(8, 80),
    chunk_json_bytes=st.integers(1500, 20_000),
    chunk_upload_bytes=st.integers(50, 2000),
    shard_entities=st.integers(1, 60),
    shard_bytes=st.integers(1, 4000),
)


@settings(max_examples=120, deadline=None)
@given(TREES, LIMITS)
def test_any_tree_is_cut_so_that_all_promises_hold(trees: list[tuple[str, list[int], int]], limits: Limits) -> None:
    items = [
        whole(f"r{number}", folder(parent) if parent else None, sizes, "t" * title)
        for number, (parent, sizes, title) in enumerate(trees)
    ]
    with cut_up(items, limits) as done:
        hold(done, limits)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 5), max_size=20), LIMITS)
def test_folders_in_folders_stay_in_one_shard(depths: list[int], limits: Limits) -> None:
    items = []
    for number, depth in enumerate(depths):
        names = [f"top{number % 3}", *(f"top{number % 3}/{level}" for level in range(depth))]
        folders = tuple(folder(name, parent=above) for above, name in itertools.pairwise(["del", *names]))
        items.append(MappedRecord(f"r{number}", (*folders, record(f"r{number}", names[-1]))))
    with cut_up(items, limits) as done:
        hold(done, limits)
        shards = {entity.n: chunk.shard for chunk in done.chunks for entity in done.entities(chunk)}
        assert len(shards) == len(list(done.store.all_entities())) > len(depths)
        for entity in done.store.all_entities():
            if entity.parent is not None and shards[entity.parent] != 0:
                assert shards[entity.n] == shards[entity.parent], "a folder in another shard than what it is in"


def test_a_record_of_many_versions_is_cut_before_a_document_or_version() -> None:
    limits = Limits(chunk_upload_bytes=100)
    with cut_up([whole("a", None, [60] * 5)], limits) as done:
        hold(done, limits)
        firsts = [done.entities(chunk)[0].type for chunk in done.chunks if chunk.shard]
        assert len(firsts) > 1
        assert set(firsts[1:]) <= {"Dokument", "Dokumentversjon"}


def test_a_single_file_over_the_limit_goes_alone() -> None:
    with cut_up([whole("a", None, [5000])], Limits(chunk_upload_bytes=100)) as done:
        assert [(chunk.entities, chunk.bytes) for chunk in done.chunks if chunk.bytes] == [(1, 5000)]


def test_the_spine_is_the_first_shard_and_late_links_the_last() -> None:
    link = (("refKryssreferanseTilRegistrering", "b"),)
    items = [
        MappedRecord("a", (folder("f"), record("a", "f", link))),
        MappedRecord("b", (folder("g"), record("b", "g"))),
    ]
    with cut_up(items, Limits(shard_entities=1)) as done:
        assert [(number, kind) for number, kind, _, _ in done.store.shards()] == [
            (0, "spine"),
            (1, "unit"),
            (2, "unit"),
            (3, "links"),
        ]


def test_an_empty_source_gives_a_spine_and_nothing_else() -> None:
    with cut_up([], Limits()) as done:
        assert [kind for _, kind, _, _ in done.store.shards()] == ["spine"]


def test_cutting_again_gives_the_same_cut() -> None:
    with cut_up([whole(f"{n}", folder(f"f{n // 3}")) for n in range(20)], Limits(chunk_actions=20)) as done:
        cut(done.store, Limits(chunk_actions=20))
        assert list(done.store.chunks()) == done.chunks


@pytest.mark.parametrize("shard", [1, 2])
def test_a_shard_knows_whose_ids_it_needs(shard: int) -> None:
    items = [whole(f"{n}", folder(f"f{n}")) for n in range(2)]
    with cut_up(items, Limits(shard_entities=1)) as done:
        needed = {done.store.entity(n).key for n in done.store.needed_ids(shard)}
        assert {"del", f"f{shard - 1}", f"{shard - 1}"} <= needed
        assert f"f{2 - shard}" not in needed
