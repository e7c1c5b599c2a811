"""A source becomes a frozen plan: once, whole, and the same for the same source."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from noarkit.errors import JournalFault, PlanChanged, PlanFault, SourceGone, UsageFault
from noarkit.events import Event, Listener
from noarkit.graph.entity import Content, SetAside
from noarkit.graph.store import GraphStore
from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import numbers, outcomes
from noarkit.loading.plan import PlanResult, PlanSpec, make_plan
from noarkit.records import SourceItem, SourceRecord
from tests.loading.conftest import Opened
from tests.loading.journey import SYSTEM, Journey
from tests.loading.shelf import Mapper, Shelf


def planned(root: Path, shelf: Shelf, name: str = "run", **more: object) -> PlanResult:
    what = PlanSpec(shelf, Mapper(), "a recipe", SYSTEM, **more)  # type: ignore[arg-type]  # options by name
    return make_plan(what, RunFolder(root / name), lambda event: None, lambda: 1.0)


def test_a_plan_says_what_was_read_and_what_becomes_of_it(tmp_path: Path) -> None:
    shelf = Shelf({"a": b"1", "b": b"22", "no": b"", "bad": b""}, more=(SetAside("x", "F201"),))
    result = planned(tmp_path, shelf)
    assert result.records == {"mapped": 2, "set_aside": 2, "skipped": 1}
    assert (result.bytes, result.entities["Basisregistrering"], result.entities["Mappe"]) == (3, 2, 1)
    counted = numbers(result.folder)
    assert (counted.read, counted.open, counted.set_aside, counted.skipped) == (5, 2, 2, 1)
    assert counted.add_up
    assert [(one.key, one.code) for one in outcomes(result.folder, "set_aside")] == [("bad", "F220"), ("x", "F201")]


def test_the_same_source_gives_the_same_digest_and_another_another(tmp_path: Path) -> None:
    shelf = Shelf({"a": b"1", "b": b"22"})
    first, again = planned(tmp_path, shelf, "one"), planned(tmp_path, shelf, "two")
    other = planned(tmp_path, Shelf({"a": b"1", "b": b"23"}, {"b": 2}), "three")
    assert first.sha256 == again.sha256 != other.sha256


def test_a_plan_is_never_made_over_another(tmp_path: Path) -> None:
    planned(tmp_path, Shelf({"a": b"1"}))
    with pytest.raises(UsageFault):
        planned(tmp_path, Shelf({"a": b"1"}))


def test_what_a_killed_planner_left_is_no_plan_and_is_planned_anew(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    left = GraphStore.create(folder.graph)
    left.remember("external_system", "half")
    left.close()
    with pytest.raises(JournalFault):
        folder.plan()
    assert planned(tmp_path, Shelf({"a": b"1"})).records == {"mapped": 1}
    folder.open_graph().close()


@pytest.mark.skipif(sys.platform == "win32", reason="the system cannot sync a folder")
def test_the_graph_and_its_name_are_durable_before_plan_json_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[int | str] = []
    sync, replace = os.fsync, os.replace

    def noting_sync(descriptor: int) -> None:
        sync(descriptor)
        steps.append(os.fstat(descriptor).st_ino)

    def noting_replace(old: str, new: str) -> None:
        replace(old, new)
        steps.append(Path(new).name)

    monkeypatch.setattr(os, "fsync", noting_sync)
    monkeypatch.setattr(os, "replace", noting_replace)
    folder = planned(tmp_path, Shelf({"a": b"1"})).folder
    until_stands = steps[: steps.index("plan.json")]
    graph, name = folder.graph.stat().st_ino, folder.path.stat().st_ino
    assert name in until_stands[until_stands.index(graph) :]


def test_a_changed_plan_is_refused(tmp_path: Path) -> None:
    folder = planned(tmp_path, Shelf({"a": b"1"})).folder
    store = GraphStore.open(folder.graph, read_only=False)
    store.db.execute("UPDATE entity SET fields = replace(fields, 'record a', 'record b')")
    store.close()
    with pytest.raises(PlanChanged):
        folder.open_graph()


def test_a_plan_with_hashes_reads_every_content_and_keeps_its_checksum(tmp_path: Path) -> None:
    shelf = Shelf({"a": b"1", "b": b"22"})
    planned(tmp_path, shelf, "plain")
    assert shelf.opened == []
    folder = planned(tmp_path, shelf, "hashed", hash_contents=True).folder
    assert shelf.opened == ["a", "b"]
    graph = folder.open_graph()
    sums = [row[0] for row in graph.db.execute("SELECT sha256 FROM content ORDER BY entity")]
    graph.close()
    assert sums[0] == "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"
    assert None not in sums


def test_an_item_that_cannot_be_hashed_is_set_aside(tmp_path: Path) -> None:
    gone = SourceRecord("file", "gone", {}, (Content("gone", "gone.txt", 1),))
    result = planned(tmp_path, Shelf({"a": b"1"}, more=(gone,)), hash_contents=True)
    assert result.records == {"mapped": 1, "set_aside": 1}


def test_a_record_torn_from_its_class_is_set_aside_and_the_rest_planned(tmp_path: Path) -> None:
    result = planned(tmp_path, Shelf({"a": b"1", "torn": b"2"}))
    assert result.records == {"mapped": 1, "set_aside": 1}
    (told,) = outcomes(result.folder, "set_aside")
    assert (told.key, told.code, told.data["line"]) == ("torn", "F228", 12)


@pytest.mark.parametrize("key", ["torn", "bad"])
def test_a_strict_plan_stops_for_a_single_bad_record(key: str, tmp_path: Path) -> None:
    with pytest.raises(PlanFault):
        planned(tmp_path, Shelf({"a": b"1", key: b"2"}), strict=True)
    assert not (tmp_path / "run" / "plan.json").exists()


def test_a_source_that_is_gone_leaves_no_plan(tmp_path: Path) -> None:
    class Gone(Shelf):
        def records(self, tell: Listener) -> Iterator[SourceItem]:
            yield from super().records(tell)
            raise SourceGone(where="memory")

    with pytest.raises(SourceGone):
        planned(tmp_path, Gone({"a": b"1"}))
    assert not (tmp_path / "run" / "plan.json").exists()
    assert planned(tmp_path, Shelf({"a": b"1"})).records == {"mapped": 1}


def test_planning_tells_how_far_it_came(tmp_path: Path) -> None:
    told: list[Event] = []
    what = PlanSpec(Shelf({f"{n}": b"1" for n in range(4000)}), Mapper(), "a recipe", SYSTEM)
    make_plan(what, RunFolder(tmp_path / "run"), told.append, lambda: 1.0)
    assert [event.data["records"] for event in told if event.name == "read"] == [2000, 4000]
    assert told[-1].name == "planned"


def loaded(journey: Journey, service: object, shelf: Shelf, **more: object) -> PlanResult:
    result = planned(journey.root, shelf, journey.run_name, **more)
    done = journey.once(service, source=shelf.open)  # type: ignore[arg-type]  # the service that the journey opened
    assert (done.exit_code, done.state, done.numbers.add_up) == (0, "done", True)
    return result


def test_a_plan_since_an_earlier_run_leaves_out_what_has_not_changed_and_the_sums_still_add_up(
    root: Path, opened: Opened
) -> None:
    journey = Journey(root, {})
    service = opened(journey)
    loaded(journey, service, Shelf({"a": b"1", "b": b"2"}))
    second = journey.another("second")
    shelf = Shelf({"a": b"1", "b": b"3", "c": b"4"}, {"b": 2})
    result = loaded(second, service, shelf, since=journey.folder)
    assert result.records == {"already_there": 2, "mapped": 1}
    assert shelf.opened.count("a") == 0
    assert numbers(second.folder).already_there + numbers(second.folder).archived == 3
    assert set(journey.keys(service).values()) == {1}
    assert journey.count(service, "Dokumentversjon") == 4
    third = journey.another("third")
    assert loaded(third, service, shelf, since=second.folder).records == {"already_there": 3}


def test_since_a_run_that_set_an_item_aside_that_item_is_tried_again(root: Path, opened: Opened) -> None:
    journey = Journey(root, {})
    service = opened(journey)
    shelf = Shelf({"a": b"1", "b": b"2"})
    planned(root, shelf)
    del shelf.contents["b"]
    assert journey.once(service, source=shelf.open).numbers.set_aside == 1
    shelf.contents["b"] = b"2"
    second = journey.another("second")
    result = loaded(second, service, shelf, since=journey.folder)
    assert result.records == {"already_there": 1, "mapped": 1}
    assert numbers(second.folder).archived == 1
