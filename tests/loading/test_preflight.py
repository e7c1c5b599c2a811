"""What is proven before anything of the plan is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from noarkit.archive.values import Action, Delete, Page, Query, Save, SavedObject
from noarkit.errors import (
    AnswerLost,
    ArchiveConflict,
    ArchiveRefused,
    ArchiveStrange,
    NoarkitError,
    NotAllowed,
    OtherArchive,
)
from noarkit.loading import preflight
from noarkit.server.service import Service
from noarkit.server.settings import Settings
from tests.loading.conftest import Opened
from tests.loading.direct import DirectArchive
from tests.loading.journey import SYSTEM, Journey, copied, record
from tests.loading.trouble import Killed, Schedule, TroubledArchive

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
    proven = preflight.prove_abilities(DirectArchive(opened(journey_of(root))), SYSTEM, "probe 1")
    assert (proven.finds_what_it_writes, proven.honours_versions, proven.sets_system_fields) == (True, True, True)
    assert not proven.knows_system


def test_an_archive_that_ignores_versions_is_known_as_one_and_the_run_says_so(root: Path, opened: Opened) -> None:
    journey = journey_of(root, Settings(honours_versions=False))
    service = opened(journey)
    assert not preflight.prove_abilities(DirectArchive(service), SYSTEM, "probe 1").honours_versions
    assert journey.once(service).numbers.archived == 1
    told = next(event for event in journey.told if event.name == "preflight")
    assert told.data["honours_versions"] is False


def test_an_account_that_may_not_write_uuids_is_known_as_one(root: Path, opened: Opened) -> None:
    proven = preflight.prove_abilities(DirectArchive(opened(journey_of(root)), "plain"), SYSTEM, "probe 1")
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
    moved = replace(journey, terms=replace(journey.terms, archive_name="another address"))
    assert moved.once(service).numbers.archived == 1


def test_two_preflights_leave_one_marker_that_belongs_to_no_series(root: Path, opened: Opened) -> None:
    service = opened(journey_of(root))
    for number in range(2):
        preflight.prove_abilities(DirectArchive(service), SYSTEM, f"probe {number}")
    (marker,) = journey_of_all(root, service)
    assert "refArkivdel" not in marker


def journey_of_all(root: Path, service: Service) -> list[dict[str, str]]:
    return [dict(one.links) for one in Journey(root, {}).all(service, "Klassifikasjonssystem")]


def test_a_guard_is_made_once_for_a_shard(root: Path, opened: Opened) -> None:
    service = opened(journey_of(root))
    archive = DirectArchive(service)
    marker = preflight.prove_abilities(archive, SYSTEM, "probe 1").marker
    assert marker is not None
    first, again = (preflight.guard_for(archive, marker, "plan", 1) for _ in range(2))
    assert first == again != preflight.guard_for(archive, marker, "plan", 2)


class Mistaken(DirectArchive):
    """Answers one of its queries for classes with a class that nobody asked for."""

    at = 0

    def query(self, query: Query) -> Page:
        found = super().query(query)
        if query.type != "Klasse":
            return found
        self.at -= 1
        other = SavedObject("Klasse", "999999", "1", {"klasseIdent": "other"}, {})
        return found if self.at else replace(found, objects=(other,))


@pytest.mark.parametrize("at", [1, 2, 3])
def test_an_answer_about_another_class_is_never_taken_for_a_guard(at: int, root: Path, opened: Opened) -> None:
    journey = journey_of(root)
    service = opened(journey)
    archive = Mistaken(service)
    archive.at = at
    with suppress(NoarkitError):
        journey.once(service, archive=archive)
    assert journey.until_done(service, Schedule()).numbers.archived == 1


class Mute(DirectArchive):
    """Says of its third transaction that it saved nothing, and of those after it too where it goes on so."""

    sent, last = 0, 3

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        saved = super().transaction(actions)
        self.sent += 1
        return {} if 3 <= self.sent <= self.last else saved


def test_a_probe_that_no_answer_names_is_tried_again_and_strange_the_second_time(root: Path, opened: Opened) -> None:
    archive = Mute(opened(journey_of(root)))
    assert preflight.prove_abilities(archive, SYSTEM, "probe 1").honours_versions
    archive.sent, archive.last = 1, 9
    with pytest.raises(ArchiveStrange):
        preflight.prove_abilities(archive, SYSTEM, "probe 2")


class Wrong(DirectArchive):
    """The `nth` transaction of all is answered, whatever became of it, with what is about nothing that was asked."""

    def __init__(self, service: Service, account: str, nth: int) -> None:
        super().__init__(service, account)
        self.left = nth

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        self.left -= 1
        if self.left:
            return super().transaction(actions)
        with suppress(ArchiveConflict):
            super().transaction(actions)
        return {}


@pytest.mark.parametrize("account", ["admin", "plain"])
@pytest.mark.parametrize("nth", range(1, 7))
def test_no_answer_about_something_else_takes_a_protection_away(
    nth: int, account: str, root: Path, opened: Opened
) -> None:
    service = opened(journey_of(root))
    sure = preflight.prove_abilities(DirectArchive(service, account), SYSTEM, "probe 1")
    proven = preflight.prove_abilities(Wrong(service, account, nth), SYSTEM, "probe 2")
    assert (proven.honours_versions, proven.sets_system_fields) == (True, sure.sets_system_fields)


class Unwilling(DirectArchive):
    """Refuses what an account may well do: its first transactions, after it has or has not made them."""

    refusals, makes_it = 1, False

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        if any("uuid" in action.fields for action in actions if isinstance(action, Save)) and self.refusals:
            self.refusals -= 1
            if self.makes_it:
                super().transaction(actions)
            raise ArchiveRefused(call="transaction", status=400)
        return super().transaction(actions)


@pytest.mark.parametrize("makes_it", [False, True])
def test_one_refusal_of_a_uuid_is_not_believed(makes_it: bool, root: Path, opened: Opened) -> None:
    archive = Unwilling(opened(journey_of(root)))
    archive.makes_it = makes_it
    proven = preflight.prove_abilities(archive, SYSTEM, "probe 1")
    # of a probe that is found nobody knows in which order it was taken
    assert proven.sets_system_fields and proven.writes_after_link is makes_it


def test_a_run_that_began_without_uuids_goes_on_without(root: Path, opened: Opened) -> None:
    journey = journey_of(root)
    service = opened(journey)
    archive = Unwilling(service)
    archive.refusals = 4
    with pytest.raises(Killed):
        journey.once(service, Schedule("source:kill:before", 1), archive=archive)
    assert journey.until_done(service, Schedule()).numbers.archived == 1
    with closing(journey.folder.open_journal()) as journal:
        assert journal.meta("sets_system_fields") == "False"


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("what", ["lost", "500", "503"])
@pytest.mark.parametrize("step", range(1, 5))
def test_one_answer_of_unknown_fate_is_asked_for_again_and_leaves_nothing_twice(
    step: int, what: str, when: str, root: Path, opened: Opened
) -> None:
    journey = journey_of(root)
    service = opened(journey)
    schedule = Schedule(f"transaction:{what}:{when}", step)
    proven = preflight.prove_abilities(
        TroubledArchive(DirectArchive(service), schedule, journey.time), SYSTEM, "probe 1"
    )
    assert schedule.struck
    assert (proven.finds_what_it_writes, proven.honours_versions, proven.sets_system_fields) == (True, True, True)
    assert (journey.count(service, "Klassifikasjonssystem"), journey.count(service, "Klasse")) == (1, 1)


def test_a_guard_that_was_deleted_in_the_archive_is_made_again_when_the_run_goes_on(root: Path, opened: Opened) -> None:
    journey = journey_of(root)
    service = opened(journey)
    with pytest.raises(Killed):
        journey.once(service, Schedule("transaction:kill:after", 8))
    for guard in journey.all(service, "Klasse"):
        if not str(guard.fields["klasseIdent"]).startswith("probe"):
            DirectArchive(service).transaction((Delete("Klasse", guard.id),))
    first = journey.once(service)
    assert (first.exit_code, first.state) == (5, "paused")
    assert journey.once(service).exit_code == 0
    assert journey.keys(service)["a"] == 1
