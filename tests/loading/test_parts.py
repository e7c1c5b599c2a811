"""Parts of a run that are loaded side by side and joined: as if one process had loaded it all, or refused untouched."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from noarkit.archive.values import Action, SavedObject
from noarkit.errors import JournalsClash, NoarkitError, OtherArchive, PartNotReady, PlanChanged, RunLocked, UsageFault
from noarkit.graph.cut import Limits
from noarkit.graph.store import GraphStore
from noarkit.loading.clocks import Clocks
from noarkit.loading.engines.assembly import reopen_items
from noarkit.loading.folder import RunFolder
from noarkit.loading.merge import check_before_load, merge_journals
from noarkit.loading.numbers import numbers
from noarkit.loading.part import Part, parse_part, part_journals, shards_of
from noarkit.loading.run import LoadResult
from noarkit.server.service import Service
from noarkit.server.settings import Settings
from tests.loading.conftest import Opened
from tests.loading.direct import DirectArchive
from tests.loading.journey import Journey, copied, record
from tests.loading.trouble import Killed, Schedule, TroubledArchive

CONTENTS = {f"{n}": f"content {n}".encode() * (n + 1) for n in range(18)}
RECORDS = [record(key, f"f{int(key) // 3}", content) for key, content in CONTENTS.items()]
LIMITS = Limits(chunk_actions=30, shard_entities=4)
COUNT = 3
Story = dict[str, list[tuple[object, ...]]]


@pytest.fixture
def journey(root: Path) -> Journey:
    """Eighteen records in six shards, planned."""
    made = Journey(root, dict(CONTENTS), limits=LIMITS)
    made.plan(RECORDS)
    return made


def part(journey: Journey, name: str) -> Journey:
    """The same run, of which a part is loaded."""
    return replace(journey, part=parse_part(name), told=[])


def load_part(journey: Journey, name: str, service: Service, *trouble: Schedule) -> LoadResult:
    one = part(journey, name)
    check_before_load(one.folder)
    return one.once(service, *trouble)


def load_parts(journey: Journey, service: Service, *, count: int = COUNT) -> None:
    """The spine, and then each part, the last first."""
    for name in ("spine", *(f"{number}/{count}" for number in range(count, 0, -1))):
        loaded = load_part(journey, name, service)
        assert (loaded.exit_code, loaded.state) == (0, "done"), name


def merged(journey: Journey, *paths: Path) -> object:
    return merge_journals(journey.folder, paths, journey.time.now)


def story(folder: RunFolder) -> Story:
    """What a journal says that does not depend on the archive's own ids, nor on who did it when."""
    with closing(sqlite3.connect(folder.journal)) as db:
        return {
            "entities": db.execute("SELECT n, state, sha256, bytes FROM entity ORDER BY n").fetchall(),
            "chunks": db.execute("SELECT key, shard, state FROM chunk ORDER BY key").fetchall(),
            "shards": db.execute("SELECT n, kind, state FROM shard ORDER BY n").fetchall(),
            "left out": db.execute("SELECT bundle, state, code FROM left_out ORDER BY bundle").fetchall(),
            "guards": db.execute("SELECT shard, version FROM guard ORDER BY shard").fetchall(),
        }


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "1/0", "a/b", "-1/3", "1/5000", "", "spine/2"])
def test_what_is_no_part_is_refused(text: str) -> None:
    with pytest.raises(UsageFault):
        parse_part(text)


def test_parts_share_the_shards_out_evenly_and_always_the_same(journey: Journey) -> None:
    assert str(parse_part("3/8")) == "3/8"
    assert parse_part(" Spine ") == Part("spine")
    with closing(GraphStore.open(journey.folder.graph)) as graph:
        units = {n: entities for n, kind, entities, _ in graph.shards() if kind == "unit"}
        for count in (1, 2, 3, 7):
            parts = [shards_of(Part("unit", number, count), graph) for number in range(1, count + 1)]
            assert sorted(n for shards in parts for n in shards) == sorted(units)
            weights = [sum(units[n] for n in shards) for shards in parts]
            assert max(weights) - min(weights) <= max(units.values())
            assert parts == [shards_of(Part("unit", number, count), graph) for number in range(1, count + 1)]


PROTECTIONS = {"guard and uuids": (True, "admin"), "settling alone": (False, "plain")}


@pytest.mark.parametrize("protection", PROTECTIONS)
def test_parts_that_were_joined_equal_a_single_run(
    protection: str, archive_template: Path, tmp_path: Path, opened: Opened
) -> None:
    honours_versions, account = PROTECTIONS[protection]
    journeys = []
    for name in ("single", "parts"):
        copied(archive_template, tmp_path / name / "archive")
        made = Journey(tmp_path / name, dict(CONTENTS), Settings(honours_versions=honours_versions), account, LIMITS)
        made.plan(RECORDS)
        del made.contents["7"]  # gone since the plan
        made.contents["7"] = b"another content"
        journeys.append(made)
    single, parts = journeys
    assert single.once(opened(single)).numbers.archived == 17
    service = opened(parts)
    load_parts(parts, service)
    result = merged(parts)
    assert result.is_complete  # type: ignore[attr-defined]  # a MergeResult
    assert story(parts.folder) == story(single.folder)
    assert numbers(parts.folder) == numbers(single.folder)
    assert parts.once(service).state == "done"
    assert set(parts.keys(service).values()) == {1}
    for journey in journeys:
        journey.contents["7"] = CONTENTS["7"]
        assert reopen_items(journey.folder, None) == 1
    assert parts.once(service).numbers.archived == single.once(opened(single)).numbers.archived == 18


def test_no_part_takes_the_archive_for_fresh(journey: Journey, opened: Opened) -> None:
    """A journal that was lost may have loaded the same part: its keys are looked up, although nothing was there."""
    service = opened(journey)
    load_part(journey, "spine", service)
    one = part(journey, "3/3")
    one.once(service)
    assert [event.data["fresh"] for event in one.told if event.name == "preflight"] == [False]
    one.folder.journal.unlink()
    load_part(journey, "3/3", service)
    assert set(journey.keys(service).values()) == {1}


def test_each_machine_may_have_a_copy_of_the_plan(journey: Journey, opened: Opened) -> None:
    service = opened(journey)
    load_part(journey, "spine", service)
    copies = []
    for number in range(1, COUNT + 1):
        shutil.copytree(journey.folder.path, journey.root / f"copy{number}")
        machine = replace(journey, run_name=f"copy{number}")
        load_part(machine, f"{number}/{COUNT}", service)
        copies.append(machine.folder.path)
    result = merge_journals(journey.folder, [journey.folder.path, *copies], journey.time.now)
    assert (result.parts, result.missing) == (("spine", "1/3", "2/3", "3/3"), ())
    assert journey.once(service).numbers.archived == 18
    assert set(journey.keys(service).values()) == {1}


def test_parts_are_loaded_in_their_order_or_not_at_all(journey: Journey, opened: Opened) -> None:
    service = opened(journey)
    for name in ("1/3", "links"):
        with pytest.raises(PartNotReady):
            check_before_load(part(journey, name).folder)
    with pytest.raises(PartNotReady):
        merged(journey)
    with pytest.raises(Killed):
        load_part(journey, "spine", service, Schedule("transaction:kill:after", 5))
    with pytest.raises(PartNotReady) as told:
        check_before_load(part(journey, "1/3").folder)
    assert told.value.data["why"] == "spine-open"
    assert load_part(journey, "spine", service).state == "done"
    with pytest.raises(UsageFault):
        check_before_load(journey.folder)  # the whole run, beside its parts
    load_part(journey, "1/3", service)
    result = merged(journey)
    assert (result.missing, result.is_complete) == (("2/3", "3/3"), False)  # type: ignore[attr-defined]
    check_before_load(part(journey, "2/3").folder)  # not gone on yet
    with pytest.raises(PartNotReady):
        part(journey, "links").once(service)
    check_before_load(journey.folder)
    assert journey.once(service).numbers.archived == 18
    for too_late in ("2/3", "spine"):
        with pytest.raises(UsageFault):
            check_before_load(part(journey, too_late).folder)
    with pytest.raises(UsageFault):
        merged(journey)
    assert set(journey.keys(service).values()) == {1}


@pytest.mark.parametrize("kind", ["transaction:kill:before", "transaction:kill:late", "transaction:kill:after"])
def test_a_part_that_was_killed_is_in_doubt_after_joining_and_settled_by_the_run(
    kind: str, journey: Journey, opened: Opened
) -> None:
    service = opened(journey)
    load_part(journey, "spine", service)
    for name, step in (("1/3", 5), ("2/3", 6)):
        with pytest.raises(Killed):
            load_part(journey, name, service, Schedule(kind, step))
    load_part(journey, "3/3", service)
    result = merged(journey)
    assert set(result.open_shards) == {"1/3", "2/3"}  # type: ignore[attr-defined]
    began = journey.time.now
    loaded = journey.once(service)
    assert (loaded.exit_code, loaded.numbers.archived) == (0, 18)
    assert journey.time.now - began >= 60, "the deadline of what the parts had sent"
    assert set(journey.keys(service).values()) == {1}


def test_a_part_that_was_killed_is_run_again(journey: Journey, opened: Opened) -> None:
    service = opened(journey)
    load_part(journey, "spine", service)
    for step in (5, 5):
        with pytest.raises(Killed):
            load_part(journey, "1/2", service, Schedule("transaction:kill:late", step))
    load_part(journey, "1/2", service)
    load_part(journey, "2/2", service)
    merged(journey)
    assert journey.once(service).numbers.archived == 18
    assert set(journey.keys(service).values()) == {1}


def test_what_a_missing_part_has_loaded_is_found(journey: Journey, opened: Opened) -> None:
    service = opened(journey)
    load_parts(journey, service)
    (journey.folder.path / "run-2-of-3.db").unlink()
    result = merged(journey)
    assert result.missing == ("2/3",)  # type: ignore[attr-defined]
    assert numbers(journey.folder).in_doubt > 0
    loaded = journey.once(service)
    assert (loaded.numbers.archived, loaded.numbers.already_there) == (18, 0)
    assert set(journey.keys(service).values()) == {1}


@pytest.mark.parametrize(("ahead", "expected"), [("1000", 800.0), ("", 5000.0)])
def test_times_of_sending_are_carried_over_by_the_clock_of_the_archive(
    ahead: str, expected: float, journey: Journey, opened: Opened
) -> None:
    """Sent at 100 of that machine, when the archive's clock was 1000 ahead; here it is 300 ahead: 800. Else: now."""
    service = opened(journey)
    load_part(journey, "spine", service)
    load_part(journey, "1/2", service)
    path = journey.folder.path / "run-1-of-2.db"
    change(path, "UPDATE chunk SET state = 'in_doubt', sent_at = 100 WHERE shard != 0")
    change(path, "UPDATE shard SET state = 'open' WHERE n != 0")
    change(path, f"INSERT OR REPLACE INTO meta VALUES ('archive_ahead_s', '{ahead}')")
    own = [n for n in _shards(path) if n]
    merged(journey)
    with closing(journey.folder.open_journal()) as journal:
        journal.keep_time(Clocks(lambda: 5000.0, "this boot", lambda: 5300.0))
        assert {task.sent_at for n in own for task in journal.tasks(n)} == {expected}


def _shards(path: Path) -> list[int]:
    with closing(sqlite3.connect(path)) as db:
        return [n for (n,) in db.execute("SELECT n FROM shard ORDER BY n")]


class _Meanwhile(TroubledArchive):
    """Before its n-th transaction something else happens."""

    def __init__(self, service: Service, journey: Journey, nth: int, act: Callable[[], object]) -> None:
        super().__init__(DirectArchive(service, journey.account), Schedule(), journey.time)
        self._left = nth
        self._act = act

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        self._left -= 1
        if self._left == 0:
            self._act()
        return super().transaction(actions)


@pytest.mark.parametrize("nth", range(4, 10))
def test_a_part_that_two_machines_load_at_once_doubles_nothing_and_is_told(
    nth: int, journey: Journey, opened: Opened
) -> None:
    service = opened(journey)
    load_part(journey, "spine", service)
    shutil.copytree(journey.folder.path, journey.root / "copy")
    there = replace(journey, run_name="copy")
    here = part(journey, "1/2")
    archive = _Meanwhile(service, journey, nth, lambda: load_part(there, "1/2", service))
    loaded = here.once(service, archive=archive)
    assert (loaded.exit_code, loaded.state) == (0, "done")
    load_part(journey, "2/2", service)
    assert set(journey.keys(service).values()) == {1}
    journals = [folder.path / "run-1-of-2.db" for folder in (journey.folder, there.folder)]
    if all(path.exists() for path in journals):
        with pytest.raises(JournalsClash) as told:
            merged(journey, journey.folder.path, there.folder.path)
        assert (told.value.data["why"], told.value.data["key"]) == ("clash-part", "1/2")
    assert not journey.folder.journal.exists()
    assert merged(journey).is_complete  # type: ignore[attr-defined]
    assert journey.once(service).numbers.archived == 18


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute(statement)
        db.commit()


def files_of(journey: Journey) -> list[str]:
    """The names of what lies in the run folder, but for what SQLite keeps beside a file that was read."""
    return sorted(path.name for path in journey.folder.path.iterdir() if not path.name.endswith(("-wal", "-shm")))


CLASHES: Mapping[str, tuple[str, str, type[NoarkitError]]] = {
    "another plan": ("run-2-of-3.db", "UPDATE meta SET value = 'f' WHERE name = 'plan'", PlanChanged),
    "another start": ("run-2-of-3.db", "UPDATE meta SET value = 'f' WHERE name = 'mark'", JournalsClash),
    "another archive": ("run-2-of-3.db", "UPDATE meta SET value = 'f' WHERE name = 'archive'", OtherArchive),
    "another id": ("run-2-of-3.db", "UPDATE entity SET id = 'x' WHERE n = 1", JournalsClash),
    "a shard of another": (
        "run-2-of-3.db",
        "INSERT INTO shard SELECT max(n) + 1, kind, state, attempt FROM shard",
        JournalsClash,
    ),
}


@pytest.mark.parametrize("what", CLASHES)
def test_what_clashes_is_told_and_nothing_is_written(what: str, journey: Journey, opened: Opened) -> None:
    name, statement, fault = CLASHES[what]
    load_parts(journey, opened(journey))
    merged(journey)
    before = journey.folder.journal.read_bytes()
    change(journey.folder.path / name, statement)
    files = files_of(journey)
    with pytest.raises(fault):
        merged(journey)
    assert journey.folder.journal.read_bytes() == before
    assert files_of(journey) == files


def test_parts_of_two_divisions_clash(journey: Journey, opened: Opened) -> None:
    service = opened(journey)
    load_parts(journey, service)
    load_part(journey, "1/2", service)
    with pytest.raises(JournalsClash) as told:
        merged(journey)
    assert told.value.data["why"] == "clash-count"


def test_a_part_that_is_being_loaded_is_not_joined(journey: Journey, opened: Opened) -> None:
    service = opened(journey)
    load_parts(journey, service)
    with part(journey, "2/3").folder.locked(), pytest.raises(RunLocked):
        merged(journey)
    with part(journey, "2/3").folder.locked():
        load_part(journey, "1/3", service)  # each has a lock of its own


def test_a_file_that_is_no_journal_of_a_part_is_refused(journey: Journey, opened: Opened) -> None:
    journey.once(opened(journey))
    with pytest.raises(UsageFault):
        merged(journey, journey.folder.journal)
    with pytest.raises(UsageFault):
        merged(journey, journey.root / "run-1-of-3.db")


def test_joining_again_does_the_same(journey: Journey, opened: Opened) -> None:
    load_parts(journey, opened(journey))
    merged(journey)
    first = story(journey.folder)
    journey.time.sleep(5)
    merged(journey)
    assert story(journey.folder) == first


def test_joining_killed_at_any_step_leaves_the_old_journal_or_the_new_one(journey: Journey, opened: Opened) -> None:
    """A fork of this process does it, and kills itself before the n-th file that it opens, moves or removes."""
    load_parts(journey, opened(journey))
    (journey.folder.path / "run-3-of-3.db").rename(journey.root / "run-3-of-3.db")
    merged(journey)
    old = story(journey.folder)
    (journey.root / "run-3-of-3.db").rename(journey.folder.path / "run-3-of-3.db")
    new: Story | None = None
    for step in range(1, 200, 3):
        if not _killed_while_joining(journey, step):
            break
        seen = story(journey.folder)
        new = seen if new is None and seen != old else new
        assert seen in (old, new)
        assert numbers(journey.folder).add_up
    else:
        raise AssertionError("never done")
    assert step > 10
    merged(journey)
    assert story(journey.folder)["entities"] != old["entities"]
    assert part_journals(journey.folder.path)


def _killed_while_joining(journey: Journey, step: int) -> bool:
    child = os.fork()
    if child == 0:
        left = step

        def heard(event: str, arguments: tuple[object, ...]) -> None:
            nonlocal left
            if event in ("open", "os.rename", "os.remove", "sqlite3.connect", "fcntl.flock"):
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        try:
            sys.addaudithook(heard)
            merged(journey)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == -signal.SIGKILL
