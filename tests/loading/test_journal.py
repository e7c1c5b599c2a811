"""run.db: what it says is true, whenever the power goes."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from noarkit.errors import JournalFault
from noarkit.graph.store import GraphStore
from noarkit.loading.engines.assembly import reopen_items
from noarkit.loading.journal import Journal
from noarkit.loading.journal_tables import JOURNAL_VERSION
from noarkit.loading.lease import (
    BundleLeftOut,
    ChunkDone,
    ChunkInDoubt,
    ChunkSent,
    ChunkSplit,
    ChunkTask,
    Guard,
    LinksMade,
)
from noarkit.loading.tables import change_tables
from tests.loading.conftest import Opened
from tests.loading.journey import Journey, record
from tests.loading.trouble import Killed, Schedule

CONTENTS = {f"{n}": f"content {n}".encode() * 20 for n in range(9)}
RECORDS = [record(key, f"f{int(key) // 4}", content) for key, content in CONTENTS.items()]
CUTS = 60


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    """A journal that has taken over a plan of nine records."""
    journey = Journey(tmp_path, CONTENTS)
    journey.plan(RECORDS)
    made = journey.folder.open_journal()
    graph = journey.folder.open_graph()
    made.adopt(graph)
    made.adopt(graph)
    graph.close()
    with closing(made):
        yield made


def test_every_change_is_durable_when_its_method_returns(journal: Journal) -> None:
    with closing(sqlite3.connect(journal.path)) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    with change_tables(journal._db, journal.path) as db:
        assert db.execute("PRAGMA synchronous").fetchone() == (2,)


def test_a_plan_is_taken_over_once(journal: Journal) -> None:
    assert journal.chunk_counts() == {"planned": sum(len(journal.tasks(n)) for n, _ in journal.open_shards())}
    assert journal.entity_counts() == {}


def test_intents_stand_before_a_lease_is_given(journal: Journal) -> None:
    assert [journal.lease(1), journal.lease(1)] == [1, 2]
    with closing(sqlite3.connect(journal.path)) as other:
        states = {row[0] for row in other.execute("SELECT DISTINCT state FROM chunk WHERE shard = 1")}
    assert states == {"intent"}


def test_a_shard_that_was_leased_when_the_run_died_is_in_doubt_from_now_on(journal: Journal) -> None:
    journal.lease(1)
    count = len(journal.tasks(1))
    assert journal.mark_all_in_doubt(500.0) == count
    assert {task.sent_at for task in journal.tasks(1)} == {500.0}
    assert {task.sent_at for task in journal.tasks(2)} == {None}


def test_a_shard_that_was_given_back_in_order_is_not_in_doubt(journal: Journal) -> None:
    journal.lease(1)
    journal.release(1, is_done=False)
    assert journal.mark_all_in_doubt(500.0) == 0
    assert {task.sent_at for task in journal.tasks(1)} == {None}


def test_what_was_ever_sent_without_an_outcome_is_settled_however_its_shard_was_given_back(journal: Journal) -> None:
    journal.lease(1)
    first, *rest = journal.tasks(1)
    journal.record(1, [ChunkSent(first.key, 100.0)])
    journal.release(1, is_done=False)
    assert journal.mark_all_in_doubt(500.0) == 0
    assert journal.tasks(1) == (replace(first, sent_at=100.0), *rest)


def test_what_a_lost_worker_sent_is_told_from_what_it_may_have_sent(journal: Journal) -> None:
    journal.lease(1)
    first, *_ = journal.tasks(1)
    journal.record(1, [ChunkSent(first.key, 100.0)])
    journal.mark_in_doubt(1, 500.0)
    assert [task.surely_sent for task in journal.tasks(1)] == [True, *[False] * (len(journal.tasks(1)) - 1)]


def test_a_chunk_in_doubt_remembers_when_it_was_sent(journal: Journal) -> None:
    journal.lease(1)
    first, *rest = journal.tasks(1)
    journal.record(1, [ChunkInDoubt(first.key, "F302", 100.0)])
    journal.release(1, is_done=False)
    assert [task.sent_at for task in journal.tasks(1)] == [100.0, *(None for _ in rest)]


def test_halves_stand_in_the_place_of_their_chunk(journal: Journal) -> None:
    journal.lease(1)
    first, *rest = journal.tasks(1)
    halves = (ChunkTask("1/0.0", first.first, first.first), ChunkTask("1/0.1", first.last, first.last))
    journal.record(1, [ChunkSplit(first.key, halves)])
    assert [task.key for task in journal.tasks(1)] == ["1/0.0", "1/0.1", *(task.key for task in rest)]


def test_ids_of_what_is_already_there_count_as_known_only_where_they_are_known(journal: Journal) -> None:
    journal.record(1, [ChunkDone("1/0", {5: "50"}, {6: "60", 7: ""}, {5: ("9", "sum", 3)}, "2")])
    assert journal.ids([5, 6, 7, 8]) == {5: "50", 6: "60"}
    assert journal.already_there([5, 6, 7, 8]) == {6, 7}
    assert (journal.uploaded_bytes(), journal.entity_counts()) == (3, {"done": 1, "already_there": 2})


def test_the_guard_moves_on_with_its_chunks(journal: Journal) -> None:
    journal.keep_guard(1, Guard("7", "1"))
    journal.record(1, [ChunkDone("1/0", {}, guard_version="2")])
    assert (journal.guard(1), journal.guard(2)) == (Guard("7", "2"), None)


def test_what_is_left_out_opens_its_chunk_when_taken_up_again(journal: Journal) -> None:
    journal.lease(1)
    first = journal.tasks(1)[0]
    bundle = first.first[1]
    journal.record(1, [BundleLeftOut(bundle, "refused", "F310", {"line": 3}), ChunkDone(first.key, {})])
    assert journal.left_out_bundles() == {bundle: ("refused", "F310", {"line": 3})}
    with closing(GraphStore.open(journal.path.parent / "graph.db")) as graph:
        assert journal.reopen(graph, "F999") == 0
        assert journal.reopen(graph, "F310") == 1
    again = journal.tasks(1)[0]
    assert (again.first, again.last) == (first.first, first.last)
    assert again.key != first.key, "the anchor of the first time would answer for the second"


def test_made_links_are_open_no_more(journal: Journal) -> None:
    with change_tables(journal._db, journal.path) as db:
        db.execute("INSERT INTO late_link VALUES (1, 'refX', 2, 'planned'), (1, 'refX', 3, 'planned')")
    journal.record(9, [LinksMade(((1, "refX", 2),))])
    assert list(journal.late_links()) == [(1, "refX", 3)]


def test_a_journal_of_a_later_version_is_not_opened(journal: Journal) -> None:
    journal.remember(version=str(JOURNAL_VERSION + 1))
    journal.close()
    with pytest.raises(JournalFault):
        Journal(journal.path)


def test_a_file_that_is_no_journal_is_a_journal_fault(tmp_path: Path) -> None:
    (tmp_path / "run.db").write_bytes(b"no database at all, and longer than a header" * 20)
    with pytest.raises(JournalFault):
        Journal(tmp_path / "run.db")


def test_events_are_kept_as_the_story_of_the_run(journal: Journal) -> None:
    journal.add_note(1.5, "started", {"n": 1})
    with closing(sqlite3.connect(journal.path)) as db:
        assert db.execute("SELECT at, name, data FROM event").fetchall() == [(1.5, "started", '{"n":1}')]


def test_a_journal_cut_off_at_any_byte_opens_and_nothing_is_done_without_its_ids(root: Path, opened: Opened) -> None:
    journey = Journey(root, CONTENTS)
    journey.plan(RECORDS)
    service = opened(journey)
    open_elsewhere = Journal(journey.folder.journal)  # a log stands beside its database while anyone has it open
    with pytest.raises(Killed):
        journey.once(service, Schedule("journal:kill:before", 26))
    path = journey.folder.journal
    wal = path.with_name("run.db-wal")
    whole, log = path.read_bytes(), wal.read_bytes()
    open_elsewhere.close()
    assert len(log) > 10_000
    chance = random.Random(20260303)
    lengths = [0, 1, 31, 32, 33, len(log), *(chance.randrange(len(log)) for _ in range(CUTS))]
    done = set()
    for number, length in enumerate(lengths):
        folder = root / f"cut{number}"
        folder.mkdir()
        (folder / "run.db").write_bytes(whole)
        (folder / "run.db-wal").write_bytes(log[:length])
        done.add(_consistent(folder / "run.db", journey))
        shutil.rmtree(folder)
    assert len(done) > 2, "every cut left the same journal"


def _consistent(path: Path, journey: Journey) -> int:
    """Opens a cut journal as a resume does; says how many chunks are done."""
    cut = Journal(path)
    graph = journey.folder.open_graph()
    cut.adopt(graph)
    done = 0
    with change_tables(cut._db, cut.path) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        finished = [
            tuple(row)
            for row in db.execute(
                "SELECT first_unit, first_bundle, first_n, last_unit, last_bundle,"
                " last_n FROM chunk WHERE state = 'done'"
            )
        ]
    for ends in finished:
        numbers = [entity.n for entity in graph.between(ends[:3], ends[3:])]
        assert cut.ids(numbers).keys() == set(numbers)
        done += 1
    graph.close()
    cut.close()
    return done


def test_a_record_whose_folder_came_back_later_in_the_source_is_taken_up_again(root: Path, opened: Opened) -> None:
    """Numbers follow the source and chunks the folders, so that its number is above that of its chunk's last record."""
    journey = Journey(root, CONTENTS)
    journey.plan([record(key, f"f{int(key) % 2}", CONTENTS[key]) for key in ("0", "1", "2", "3")])
    service = opened(journey)
    loaded = journey.once(service, Schedule("source:vanished:before", 2))
    assert (loaded.numbers.archived, loaded.numbers.set_aside) == (3, 1)
    assert reopen_items(journey.folder, None) == 1
    assert journey.once(service).numbers.archived == 4


def test_what_a_crash_left_is_in_doubt_although_something_of_its_shard_was_taken_up_again_first(
    root: Path, opened: Opened
) -> None:
    journey = Journey(root, CONTENTS)
    journey.plan(RECORDS)
    with closing(journey.folder.open_journal()) as journal, closing(journey.folder.open_graph()) as graph:
        journal.adopt(graph)
        journal.lease(1)
        first, *rest = journal.tasks(1)
        bundle = first.last[1]
        journal.record(1, [BundleLeftOut(bundle, "set_aside", "F202", {}), ChunkDone(first.key, {})])
    assert rest
    assert reopen_items(journey.folder, None) == 1
    with closing(journey.folder.open_journal()) as journal:
        assert journal.mark_all_in_doubt(500.0) >= len(rest)
        in_doubt = {task.key: task.sent_at for task in journal.tasks(1)}
        assert {task.key: 500.0 for task in rest}.items() <= in_doubt.items()
