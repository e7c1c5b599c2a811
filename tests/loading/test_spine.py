"""What every record hangs under is found, made, or missed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from noarkit.archive.values import Page, Query, SavedObject
from noarkit.graph.entity import CreationMode, Entity
from tests.loading.conftest import Opened
from tests.loading.direct import DirectArchive
from tests.loading.journey import Journey, record, spine
from tests.loading.trouble import Schedule


def targets(target: CreationMode) -> tuple[Entity, ...]:
    return tuple(replace(entity, target=target, recipe_line=5) for entity in spine())


def journey_of(root: Path, account: str = "admin") -> Journey:
    return Journey(root, {"a": b"1", "b": b"2"}, account=account)


RECORD = [record("a", "f", b"1")]


def test_a_target_to_be_found_that_is_not_there_stops_the_run_and_names_its_line(root: Path, opened: Opened) -> None:
    journey = journey_of(root)
    journey.plan(RECORD, targets(CreationMode.FIND))
    service = opened(journey)
    loaded = journey.once(service)
    assert (loaded.exit_code, loaded.numbers.open) == (4, 1)
    stopped = next(event for event in journey.told if event.name == "shard_stopped")
    assert (stopped.data["code"], stopped.data["where"]) == ("F410", "Arkiv, recipe line 5")
    assert journey.count(service, "Arkiv") == 0


@pytest.mark.parametrize("target", [CreationMode.FIND, CreationMode.FIND_OR_CREATE])
def test_a_target_that_is_there_is_taken(target: CreationMode, root: Path, opened: Opened) -> None:
    journey = journey_of(root)
    journey.plan(RECORD, targets(CreationMode.FIND_OR_CREATE))
    service = opened(journey)
    journey.once(service)
    second = journey.another("second")
    second.plan([record("b", "g", b"2")], targets(target))
    assert second.once(service).numbers.archived == 1
    assert [journey.count(service, kind) for kind in ("Arkiv", "Arkivskaper", "Arkivdel")] == [1, 1, 1]
    assert len({one.links["refArkivdel"] for one in journey.all(service, "Mappe")}) == 1


def test_a_target_to_be_created_is_created_beside_one_of_the_same_name(root: Path, opened: Opened) -> None:
    journey = journey_of(root, "plain")
    journey.plan(RECORD, targets(CreationMode.CREATE))
    service = opened(journey)
    journey.once(service)
    second = journey.another("second")
    second.plan([record("b", "g", b"2")], targets(CreationMode.CREATE))
    assert second.once(service).numbers.archived == 1
    assert journey.count(service, "Arkivdel") == 2
    assert len({one.links["refArkivdel"] for one in journey.all(service, "Mappe")}) == 2


def test_the_parts_of_a_target_are_told_apart_by_their_parents(root: Path, opened: Opened) -> None:
    journey = journey_of(root)
    two = tuple(
        replace(
            entity,
            key=entity.key + "2",
            parent=None if entity.parent is None else entity.parent + "2",
            fields={**entity.fields, **({"tittel": "Other fonds"} if entity.type == "Arkiv" else {})},
        )
        for entity in spine()
    )
    journey.plan(RECORD, (*spine(), *two))
    service = opened(journey)
    assert journey.once(service).exit_code == 0
    series = journey.all(service, "Arkivdel")
    assert len({one.links["refArkiv"] for one in series}) == len(series) == 2


@pytest.mark.parametrize("account", ["admin", "plain"])
@pytest.mark.parametrize("kind", ["transaction:lost:after", "transaction:kill:after", "transaction:lost:late"])
def test_a_target_to_be_created_whose_answer_was_lost_is_created_once(
    kind: str, account: str, root: Path, opened: Opened
) -> None:
    for step in (5, 6):
        journey = journey_of(root, account).another(f"run{step}")
        journey.plan([record(f"{step}", "f", b"1")], targets(CreationMode.CREATE))
        journey.contents[f"{step}"] = b"1"
        service = opened(journey)
        before = journey.count(service, "Arkivdel")
        journey.until_done(service, Schedule(kind, step))
        assert journey.count(service, "Arkivdel") == (before + 1 if account == "plain" else 1)
        service.close()


def test_a_target_that_an_earlier_plan_of_the_same_source_created_is_known_by_its_uuid(
    root: Path, opened: Opened
) -> None:
    journey = journey_of(root)
    journey.plan(RECORD, targets(CreationMode.CREATE))
    service = opened(journey)
    journey.once(service)
    second = journey.another("second")
    second.plan([record("b", "g", b"2")], targets(CreationMode.CREATE))
    assert second.once(service).numbers.archived == 1
    assert journey.count(service, "Arkivdel") == 1


class Mistaken(DirectArchive):
    """Answers the first question about a fonds with another one."""

    asked = 0

    def query(self, query: Query) -> Page:
        found = super().query(query)
        self.asked += query.type == "Arkiv"
        other = SavedObject("Arkiv", "999999", "1", {"tittel": "Another fonds"}, {})
        return replace(found, objects=(other,)) if query.type == "Arkiv" and self.asked == 1 else found


def test_an_answer_about_another_fonds_is_never_taken_for_the_one_asked_for(root: Path, opened: Opened) -> None:
    journey = Journey(root, {"a": b"1"})
    journey.plan([record("a", "f", b"1")])
    service = opened(journey)
    assert journey.once(service, archive=Mistaken(service)).numbers.archived == 1
