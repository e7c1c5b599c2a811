"""What is proven before anything of the plan is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from noarkit.archive.values import Action, Page, Query, SavedObject
from noarkit.errors import AnswerLost, NotAllowed, OtherArchive
from noarkit.load import preflight
from noarkit.server.service import Service
from noarkit.server.settings import Settings
from tests.load.conftest import Opened
from tests.load.direct import DirectArchive
from tests.load.journey import SYSTEM, Journey, copied, record

RECORDS = [record("a", "f", b"1")]


def journey_of(root: Path, settings: Settings | None = None, account: str = "admin") -> Journey:
    journey = Journey(root, {"a": b"1"}, settings or Settings(), account)
    journey.plan(RECORDS)
    return journey


class Blind(DirectArchive):
    """Takes everything and never shows objects of some types to the account."""

    def __init__(self, service: Service, account: str, *hidden: str) -> None:
        super().__init__(service, account)
        self._hidden = hidden

    def query(self, query: Query) -> Page:
        found = super().query(query)
        return replace(found, objects=()) if query.type in self._hidden or not self._hidden else found


def test_an_archive_that_honours_versions_and_takes_uuids_is_known_as_one(root: Path, opened: Opened) -> None:
    proven = preflight.prove(DirectArchive(opened(journey_of(root))), SYSTEM, "probe 1")
    assert (proven.finds_what_it_writes, proven.honours_versions, proven.sets_system_fields) == (True, True, True)
    assert not proven.knows_system


def test_an_archive_that_ignores_versions_is_known_as_one_and_the_run_says_so(root: Path, opened: Opened) -> None:
    journey = journey_of(root, Settings(honours_versions=False))
    service = opened(journey)
    assert not preflight.prove(DirectArchive(service), SYSTEM, "probe 1").honours_versions
    assert journey.once(service).numbers.archived == 1
    told = next(event for event in journey.told if event.name == "preflight")
    assert told.data["honours_versions"] is False


def test_an_account_that_may_not_write_uuids_is_known_as_one(root: Path, opened: Opened) -> None:
    proven = preflight.prove(DirectArchive(opened(journey_of(root)), "plain"), SYSTEM, "probe 1")
    assert (proven.finds_what_it_writes, proven.sets_system_fields) == (True, False)


@pytest.mark.parametrize("hidden", [(), ("Klasse",)], ids=["everything", "guards"])
def test_an_account_that_may_write_but_not_find_is_refused_before_anything_is_loaded(
    hidden: tuple[str, ...], root: Path, opened: Opened
) -> None:
    journey = journey_of(root)
    service = opened(journey)
    with pytest.raises(NotAllowed) as told:
        journey.once(service, archive=Blind(service, "admin", *hidden))
    assert told.value.exit_code == 6
    assert [journey.count(service, kind) for kind in ("Arkiv", "Mappe", "EksternId")] == [0, 0, 0]


@pytest.mark.parametrize("account", ["admin", "plain"])
@pytest.mark.parametrize("honours_versions", [True, False])
def test_an_account_that_does_not_find_external_ids_is_stopped_after_its_first_chunk(
    honours_versions: bool, account: str, root: Path, opened: Opened
) -> None:
    journey = journey_of(root, Settings(honours_versions=honours_versions), account)
    service = opened(journey)
    blind = Blind(service, account, "EksternId")
    assert journey.once(service, archive=blind).exit_code == 6
    assert journey.once(service).numbers.archived == 1
    assert set(journey.keys(service).values()) == {1}


class LosesAnswers(Blind):
    """Blind, and the answer to the first chunk with documents is lost."""

    lost = False

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        saved = super().transaction(actions)
        if not self.lost and any(action.type == "Dokument" for action in actions):
            self.lost = True
            raise AnswerLost(call="transaction")
        return saved


@pytest.mark.parametrize("account", ["admin", "plain"])
def test_a_chunk_that_stands_but_of_which_nothing_is_found_is_never_sent_again(
    account: str, root: Path, opened: Opened
) -> None:
    journey = journey_of(root, account=account)
    service = opened(journey)
    everything = ("EksternId", "Mappe", "Basisregistrering", "Dokument", "Dokumentversjon")
    for _ in range(2):
        assert journey.once(service, archive=LosesAnswers(service, account, *everything)).exit_code == 6
    assert journey.once(service).state == "done"
    assert set(journey.keys(service).values()) == {1}
    assert journey.count(service, "Dokumentversjon") == 1


def test_a_run_refuses_another_archive_than_the_one_it_began_with(
    root: Path, archive_template: Path, opened: Opened
) -> None:
    journey = journey_of(root)
    assert journey.once(opened(journey)).numbers.archived == 1
    other = copied(archive_template, root / "other" / "archive").parent
    elsewhere = replace(journey, root=other)
    (other / "run").symlink_to(root / "run")
    service = opened(elsewhere)
    with pytest.raises(OtherArchive) as told:
        elsewhere.once(service)
    assert told.value.data["expected"] != told.value.data["found"]
    assert journey.count(service, "Mappe") == 0


def test_the_same_archive_is_known_again_under_another_address(root: Path, opened: Opened) -> None:
    journey = journey_of(root)
    service = opened(journey)
    journey.once(service)
    moved = replace(journey, terms=replace(journey.terms, where="another address"))
    assert moved.once(service).numbers.archived == 1


def test_two_preflights_leave_one_marker_that_belongs_to_no_series(root: Path, opened: Opened) -> None:
    service = opened(journey_of(root))
    for number in range(2):
        preflight.prove(DirectArchive(service), SYSTEM, f"probe {number}")
    (marker,) = journey_of_all(root, service)
    assert "refArkivdel" not in marker


def journey_of_all(root: Path, service: Service) -> list[dict[str, str]]:
    return [dict(one.links) for one in Journey(root, {}).all(service, "Klassifikasjonssystem")]


def test_a_guard_is_made_once_for_a_shard(root: Path, opened: Opened) -> None:
    service = opened(journey_of(root))
    archive = DirectArchive(service)
    marker = preflight.prove(archive, SYSTEM, "probe 1").marker
    assert marker is not None
    first, again = (preflight.guard_for(archive, marker, "plan", 1) for _ in range(2))
    assert first == again != preflight.guard_for(archive, marker, "plan", 2)
