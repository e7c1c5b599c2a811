"""Links between units are made when both ends stand, each once."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from noarkit.archive.values import Action, Link, Query, SavedObject
from noarkit.errors import AnswerLost, ArchiveRefused
from noarkit.graph.entity import MappedRecord
from noarkit.graph.store import GraphStore
from noarkit.loading.engines.assembly import reopen_items
from noarkit.loading.journal import Journal
from noarkit.loading.lookup import owners_of_keys
from noarkit.loading.numbers import outcomes
from noarkit.server.service import Service
from noarkit.server.settings import Settings
from tests.loading.conftest import Opened
from tests.loading.direct import DirectArchive
from tests.loading.journey import SYSTEM, Journey, copied, record
from tests.loading.trouble import Schedule

LINK = "refKryssreferanseTilRegistrering"
CONTENTS = {f"{n}": f"content {n}".encode() for n in range(6)}


class Listening(DirectArchive):
    """Remembers every link between records that was carried out."""

    def __init__(self, service: Service, account: str = "admin") -> None:
        super().__init__(service, account)
        self.made: list[Link] = []

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        saved = super().transaction(actions)
        self.made += [action for action in actions if isinstance(action, Link) and action.reference == LINK]
        return saved


def crossing() -> list[MappedRecord]:
    """Six records in three folders; each refers to the next, the last to the first."""
    made = []
    for key, content in CONTENTS.items():
        one = record(key, f"f{int(key) // 2}", content)
        other = f"{(int(key) + 1) % 6}"
        linked = tuple(
            replace(entity, links=((LINK, other),)) if entity.type == "Basisregistrering" else entity
            for entity in one.entities
        )
        made.append(replace(one, entities=linked))
    return made


def journey_of(root: Path, settings: Settings | None = None, account: str = "admin") -> Journey:
    journey = Journey(root, CONTENTS, settings or Settings(), account)
    journey.plan(crossing())
    return journey


def links(journey: Journey, service: Service) -> int:
    """How many links between records the archive holds."""
    ids = [one.id for one in journey.all(service, "Basisregistrering")]
    archive = DirectArchive(service)
    return sum(len(archive.query(Query("Basisregistrering", f"{LINK}.id = @b", {"@b": one})).objects) for one in ids)


def test_links_whose_other_end_comes_later_are_planned_late_and_the_others_are_not(root: Path) -> None:
    journey = journey_of(root)
    graph = GraphStore.open(journey.folder.graph)
    late = [(graph.entity(link.entity).key, graph.entity(link.target).key) for link in graph.late_links()]
    graph.close()
    # within one folder a record that refers back needs no waiting; here each refers on, the last one to the first
    assert late == [(f"{n}", f"{(n + 1) % 6}") for n in range(6)]


def test_every_late_link_is_made_once(root: Path, opened: Opened) -> None:
    journey = journey_of(root)
    service = opened(journey)
    archive = Listening(service)
    loaded = journey.once(service, archive=archive)
    assert (loaded.exit_code, loaded.state) == (0, "done")
    assert len(archive.made) == 6
    again = Listening(service)
    journey.once(service, archive=again)
    assert again.made == []


class LosesTheAnswer(Listening):
    """Makes the links, and loses the answer to the first time."""

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        before = len(self.made)
        saved = super().transaction(actions)
        if before == 0 < len(self.made):
            raise AnswerLost(call="transaction")
        return saved


def test_a_late_link_is_asked_for_before_it_is_sent_again(root: Path, opened: Opened) -> None:
    journey = journey_of(root)
    service = opened(journey)
    archive = LosesTheAnswer(service)
    assert journey.once(service, archive=archive).exit_code == 0
    assert len(archive.made) == 6


@pytest.mark.parametrize("kind", ["transaction:lost:after", "transaction:lost:late", "transaction:kill:after"])
def test_a_late_link_whose_answer_was_lost_stands_once(kind: str, archive_template: Path, tmp_path: Path) -> None:
    struck = 0
    for step in itertools.count(6):
        root = tmp_path / str(step)
        copied(archive_template, root / "archive")
        journey = journey_of(root, account="plain")
        schedule = Schedule(kind, step)
        service = journey.service()
        loaded = journey.until_done(service, schedule)
        journey.time.sleep(200)
        assert loaded.numbers.archived + loaded.numbers.already_there == 6
        assert links(journey, service) == 6
        journal = Journal(journey.folder.journal)
        assert list(journal.late_links()) == []
        journal.close()
        service.close()
        if not schedule.struck:
            break
        struck += 1
    assert struck


def test_a_link_to_a_record_that_was_set_aside_waits_until_that_one_is_loaded(root: Path, opened: Opened) -> None:
    journey = journey_of(root)
    service = opened(journey)
    first = journey.once(service, Schedule("source:vanished:before", 3))
    assert (first.numbers.set_aside, first.numbers.archived) == (1, 5)
    journal = Journal(journey.folder.journal)
    assert len(list(journal.late_links())) == 2
    assert reopen_items(journey.folder, None) == 1
    journal.close()
    archive = Listening(service)
    second = journey.once(service, archive=archive)
    assert (second.numbers.set_aside, second.numbers.archived) == (0, 6)
    assert len(archive.made) == 2


class RefusesOne(Listening):
    """Refuses every transaction that links the record of one key."""

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        linked = {action.id for action in actions if isinstance(action, Link) and action.reference == LINK}
        if linked and owners_of_keys(self, SYSTEM, ["2"])["2"].id in linked:
            raise ArchiveRefused(call="transaction", status=400)
        return super().transaction(actions)


def test_a_link_that_the_archive_refuses_is_told_and_the_others_are_made(root: Path, opened: Opened) -> None:
    journey = journey_of(root)
    service = opened(journey)
    archive = RefusesOne(service)
    loaded = journey.once(service, archive=archive)
    assert (len(archive.made), loaded.numbers.refused, loaded.numbers.add_up) == (5, 1, True)
    (told,) = outcomes(journey.folder, "refused")
    assert (told.key, told.code, told.data["link"]) == ("2", "F310", LINK)
