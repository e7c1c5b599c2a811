"""A chunk without an answer is never sent again before the archive was given its time and was asked."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from noarkit.archive.values import Action, SavedObject
from noarkit.errors import AnswerLost, ArchiveFault, ArchiveNotFound
from noarkit.graph.cut import Limits
from noarkit.loading.journal import Journal
from noarkit.server.service import Service
from noarkit.server.settings import Settings
from tests.loading.conftest import Opened
from tests.loading.direct import DirectArchive
from tests.loading.journey import DEADLINE_S, Journey, record
from tests.loading.trouble import Killed, Schedule, Time

CONTENTS = {f"{n}": f"content {n}".encode() for n in range(6)}
RECORDS = [record(key, f"f{int(key) // 3}", content) for key, content in CONTENTS.items()]
SETTLING_ALONE = Settings(honours_versions=False)
EVERYTHING = [("admin", True), ("plain", True), ("plain", False)]


def journey_of(root: Path, account: str = "plain", *, honours_versions: bool = False) -> Journey:
    """No uuids and no versions by default: nothing but settling keeps doubles out."""
    journey = Journey(root, dict(CONTENTS), Settings(honours_versions=honours_versions), account, limits=Limits())
    journey.plan(RECORDS)
    return journey


class Odd(DirectArchive):
    """Does something odd with the first chunk that holds documents."""

    def __init__(self, service: Service, time: Time, account: str = "plain", late_s: float = 20.0) -> None:
        super().__init__(service, account)
        self.time = time
        self.late_s = late_s
        self.sent_at: list[float] = []

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        if not any(action.type == "Dokument" for action in actions):
            return super().transaction(actions)
        self.sent_at.append(self.time.now)
        if len(self.sent_at) > 1:
            return super().transaction(actions)
        return self.first(actions)

    def first(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        """The odd thing."""
        self.time.later(self.late_s, lambda: self._commit(actions))
        raise AnswerLost(call="transaction")

    def _commit(self, actions: Sequence[Action]) -> None:
        try:
            super().transaction(actions)
        except ArchiveFault:
            return


class RefusedAndLate(Odd):
    """Refuses the first chunk and commits it later; the half that is sent meanwhile never arrives."""

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        if len(self.sent_at) == 1 and any(action.type == "Dokument" for action in actions):
            self.sent_at.append(self.time.now)
            raise AnswerLost(call="transaction")
        return super().transaction(actions)

    def first(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        self.time.later(self.late_s, lambda: self._commit(actions))
        raise ArchiveNotFound(call="transaction", status=404)


@pytest.mark.parametrize("account", ["admin", "plain"])
def test_a_half_does_not_stand_beside_its_whole_that_was_committed_late(
    account: str, root: Path, opened: Opened
) -> None:
    journey = journey_of(root, account, honours_versions=True)
    service = opened(journey)
    archive = RefusedAndLate(service, journey.time, account)
    assert journey.once(service, archive=archive).numbers.archived == 6
    assert len(archive.sent_at) == 2, "the whole and its first half: what they hold is there, and is not sent again"
    once_each(journey, service)


def once_each(journey: Journey, service: Service) -> None:
    journey.time.sleep(1000)
    keys = journey.keys(service)
    assert {key: count for key, count in keys.items() if count != 1} == {}
    assert len(keys) == len(CONTENTS) + 2
    assert journey.count(service, "Dokumentversjon") == len(CONTENTS)


def test_a_commit_that_comes_after_we_gave_up_is_waited_for(root: Path, opened: Opened) -> None:
    journey = journey_of(root)
    service = opened(journey)
    archive = Odd(service, journey.time)
    assert journey.once(service, archive=archive).numbers.archived == 6
    assert len(archive.sent_at) == 1
    once_each(journey, service)


def test_a_commit_that_comes_after_we_were_killed_is_waited_for(root: Path, opened: Opened) -> None:
    class KilledMeanwhile(Odd):
        def first(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
            self.time.later(self.late_s, lambda: self._commit(actions))
            raise Killed

    journey = journey_of(root)
    service = opened(journey)
    archive = KilledMeanwhile(service, journey.time)
    with pytest.raises(Killed):
        journey.once(service, archive=archive)
    loaded = journey.once(service, archive=archive)
    assert (loaded.numbers.archived, len(archive.sent_at)) == (6, 1)
    once_each(journey, service)


def test_the_wait_is_counted_from_the_sending_by_a_clock_that_survives_a_restart(root: Path, opened: Opened) -> None:
    journey = journey_of(root)
    service = opened(journey)
    archive = Odd(service, journey.time, late_s=10_000)
    with pytest.raises(Killed):
        journey.once(service, Schedule("transaction:kill:before", 9))
    began = journey.time.now
    assert journey.once(service, archive=archive).exit_code == 0
    assert archive.sent_at[0] - began >= DEADLINE_S
    assert archive.sent_at[1] - archive.sent_at[0] >= DEADLINE_S


def test_doubt_of_several_chunks_is_waited_out_once(root: Path, opened: Opened) -> None:
    journey = replace(journey_of(root), limits=Limits(chunk_actions=12), run_name="small")
    journey.plan(RECORDS)
    service = opened(journey)
    with pytest.raises(Killed):
        journey.once(service, Schedule("transaction:kill:after", 7))
    journal = Journal(journey.folder.journal)
    assert sum(len(journal.tasks(number)) for number, _ in journal.open_shards()) > 3
    journal.close()
    began = journey.time.now
    journey.once(service)
    assert journey.time.now - began < 2 * DEADLINE_S
    once_each(journey, service)


@pytest.mark.parametrize(("account", "honours_versions"), EVERYTHING)
def test_a_chunk_that_landed_without_an_answer_is_learned_and_not_sent_again(
    account: str, honours_versions: bool, root: Path, opened: Opened
) -> None:
    class Landed(Odd):
        def first(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
            self._commit(actions)
            raise AnswerLost(call="transaction")

    journey = journey_of(root, account, honours_versions=honours_versions)
    service = opened(journey)
    archive = Landed(service, journey.time, account)
    loaded = journey.once(service, archive=archive)
    assert (loaded.numbers.archived, len(archive.sent_at)) == (6, 1)
    assert loaded.numbers.bytes == sum(map(len, CONTENTS.values())), "what was learned has its files in the journal"
    once_each(journey, service)


@pytest.mark.parametrize("account", ["admin", "plain"])
def test_a_commit_later_than_the_archive_promised_cannot_land_beside_the_second_send(
    account: str, root: Path, opened: Opened
) -> None:
    journey = journey_of(root, account, honours_versions=True)
    service = opened(journey)
    archive = Odd(service, journey.time, account, late_s=DEADLINE_S + 30)
    assert journey.once(service, archive=archive).numbers.archived == 6
    assert len(archive.sent_at) == 2
    once_each(journey, service)


def test_uploads_of_a_chunk_in_doubt_are_never_linked_by_its_second_send(root: Path, opened: Opened) -> None:
    journey = journey_of(root)
    service = opened(journey)

    class Listening(Odd):
        files: list[set[object]] = []  # noqa: RUF012  # of one test

        def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
            sent = {getattr(action, "fields", {}).get("referanseDokumentfil") for action in actions} - {None}
            if sent:
                self.files.append(sent)
            return super().transaction(actions)

    journey.once(service, archive=Listening(service, journey.time, late_s=10_000))
    first, second = Listening.files
    assert not first & second


class OtherBytes(DirectArchive):
    """Says another checksum for one version than was sent."""

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        return {name: self._flipped(one) for name, one in super().transaction(actions).items()}

    def _flipped(self, one: SavedObject) -> SavedObject:
        if one.type != "Dokumentversjon" or one.fields["filstoerrelse"] != len(CONTENTS["3"]):
            return one
        return replace(one, fields={**one.fields, "sjekksum": "0" * 64})


def test_a_checksum_that_is_not_ours_stops_the_run_and_names_the_version(root: Path, opened: Opened) -> None:
    journey = journey_of(root)
    service = opened(journey)
    loaded = journey.once(service, archive=OtherBytes(service, "plain"))
    (stopped,) = [event.data for event in journey.told if event.name == "shard_stopped"]
    assert (loaded.exit_code, stopped["code"], stopped["key"]) == (7, "F314", "0#d1v1")
    assert stopped["theirs"] == "0" * 64
    # what stands is known as standing: the next call does not send it again
    journey.once(service)
    once_each(journey, service)


class GoneMeanwhile(DirectArchive):
    """Answers that something the chunk refers to is not there."""

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        if any(action.type == "Dokument" for action in actions):
            raise ArchiveNotFound(call="transaction", status=404)
        return super().transaction(actions)


def test_records_of_which_the_archive_says_not_found_are_refused_one_by_one(root: Path, opened: Opened) -> None:
    journey = journey_of(root)
    service = opened(journey)
    loaded = journey.once(service, archive=GoneMeanwhile(service, "plain"))
    assert (loaded.numbers.refused, loaded.numbers.archived) == (6, 0)


def test_what_was_in_doubt_when_everything_ended_is_settled_whatever_order_it_ended_in(
    root: Path, archive_template: Path, opened: Opened
) -> None:
    journey = journey_of(root)
    service = opened(journey)
    killed_at = []
    for step in itertools.count(5):
        try:
            journey.once(service, Schedule("transaction:kill:late", step))
        except Killed:
            killed_at.append(step)
            continue
        break
    assert killed_at
    once_each(journey, service)


class LostTwice(Odd):
    """Loses two answers in a row, and commits the first chunk after it was sent a second time."""

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        if len(self.sent_at) == 1 and any(action.type == "Dokument" for action in actions):
            self.sent_at.append(self.time.now)
            raise AnswerLost(call="transaction")
        return super().transaction(actions)


def test_the_journal_names_the_file_that_landed_not_the_one_that_was_sent_last(root: Path, opened: Opened) -> None:
    journey = journey_of(root, "admin", honours_versions=True)
    service = opened(journey)
    archive = LostTwice(service, journey.time, "admin", late_s=90)
    assert journey.once(service, archive=archive).exit_code == 0
    with closing(sqlite3.connect(journey.folder.journal)) as db:
        known = dict(db.execute("SELECT id, file FROM entity WHERE file IS NOT NULL"))
    there = {one.id: str(one.fields["referanseDokumentfil"]) for one in journey.all(service, "Dokumentversjon")}
    assert known == there
