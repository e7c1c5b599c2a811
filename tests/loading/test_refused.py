"""One bad record in a chunk: it is found, named by entity, record and recipe line, and the rest is loaded."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from noarkit.archive.values import Action, Save, SavedObject, Upload, Uploaded
from noarkit.errors import ArchiveConflict, ArchiveFault, ArchiveRefused, NoarkitError
from noarkit.graph.cut import Limits
from noarkit.graph.entity import Entity, MappedRecord
from noarkit.loading.engines.assembly import reopen_items
from noarkit.loading.journal import Journal
from noarkit.loading.numbers import outcomes
from noarkit.server.service import Service
from noarkit.server.settings import Settings
from tests.loading.conftest import Opened
from tests.loading.direct import DirectArchive
from tests.loading.journey import Journey, record
from tests.loading.trouble import Killed, Schedule

NUMBER = "01010750160"  # a national identity number by its check digits, of nobody
REFUSING = Settings(identity_numbers="refuse")
CONTENTS = {f"{n}": f"content {n}".encode() for n in range(9)}


def records(*bad: int) -> list[MappedRecord]:
    """Nine records in three folders; the bad ones have a title that the archive refuses."""
    return [
        record(key, f"f{int(key) // 3}", content, title=f"about {NUMBER}" if int(key) in bad else "")
        for key, content in CONTENTS.items()
    ]


def journey_of(root: Path, account: str = "admin") -> Journey:
    return Journey(root, dict(CONTENTS), REFUSING, account, limits=Limits())


@pytest.mark.parametrize("account", ["admin", "plain"])
@pytest.mark.parametrize("bad", [(0,), (4,), (8,), (0, 8), (3, 4, 5), tuple(range(9))])
def test_refused_records_are_named_and_the_rest_is_loaded(
    bad: tuple[int, ...], account: str, root: Path, opened: Opened
) -> None:
    journey = journey_of(root, account)
    journey.plan(records(*bad))
    service = opened(journey)
    loaded = journey.once(service)
    assert (loaded.numbers.refused, loaded.numbers.archived) == (len(bad), 9 - len(bad))
    assert loaded.numbers.add_up
    told = list(outcomes(journey.folder, "refused"))
    assert [one.key for one in told] == [str(n) for n in bad]
    for one in told:
        assert one.code == "F310"
        assert (one.data["type"], one.data["key"], one.data["line"]) == ("Basisregistrering", one.key, 12)
    keys = journey.keys(service)
    assert not keys.keys() & {str(n) for n in bad}
    assert set(keys.values()) == {1}


def test_a_refused_folder_takes_its_records_with_it(root: Path, opened: Opened) -> None:
    journey = journey_of(root)
    folder = "folder:f1"
    bad = [replace(one, entities=tuple(_titled(entity, folder) for entity in one.entities)) for one in records()]
    journey.plan(bad)
    loaded = journey.once(opened(journey))
    assert (loaded.numbers.refused, loaded.numbers.archived) == (3, 6)
    for one in outcomes(journey.folder, "refused"):
        assert (one.code, one.data["key"], one.data["line"]) == ("F332", one.key, 12)
    journal = Journal(journey.folder.journal)
    folders = [data for _, code, data in journal.left_out_bundles().values() if code == "F310"]
    journal.close()
    assert [(data["type"], data["key"], data["line"]) for data in folders] == [("Mappe", folder, 11)]


def _titled(entity: Entity, key: str) -> Entity:
    return replace(entity, fields={"tittel": f"about {NUMBER}"}) if entity.key == key else entity


@dataclass
class Picky:
    """An archive that refuses every transaction with a document called bad, and names the action."""

    real: DirectArchive

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        for place, action in enumerate(actions):
            if isinstance(action, Save) and action.fields.get("tittel") == "bad":
                raise ArchiveRefused(call="transaction", status=400, action=place, field="tittel")
        return self.real.transaction(actions)

    def __getattr__(self, name: str) -> object:
        return getattr(self.real, name)


@dataclass
class Choosy:
    """An archive that takes no upload of these names."""

    real: DirectArchive
    refused: frozenset[str]

    def upload(self, content: Upload) -> Uploaded:
        if content.name in self.refused:
            raise ArchiveRefused(call="upload", status=400)
        return self.real.upload(content)

    def __getattr__(self, name: str) -> object:
        return getattr(self.real, name)


def test_a_file_that_the_archive_takes_no_upload_of_is_refused_by_its_key_and_the_rest_is_loaded(
    root: Path, opened: Opened
) -> None:
    journey = journey_of(root)
    journey.plan(records())
    service = opened(journey)
    names = frozenset({content_name(journey, "4")})
    choosy = Choosy(DirectArchive(service), names)
    loaded = journey.once(service, archive=choosy)  # type: ignore[arg-type]  # the rest is the real one's
    assert (loaded.numbers.refused, loaded.numbers.archived) == (1, 8)
    (told,) = outcomes(journey.folder, "refused")
    assert (told.key, told.code, told.data["type"]) == ("4", "F310", "Dokumentversjon")


def content_name(journey: Journey, key: str) -> str:
    """The name that the file of a planned record is uploaded with."""
    graph = journey.folder.open_graph()
    names = {content.locator: content.name for content in graph.contents_between((0, 0, 0), (10**9,) * 3).values()}
    graph.close()
    return names[key]


def test_the_entity_that_the_archive_blames_is_the_one_named(root: Path, opened: Opened) -> None:
    journey = journey_of(root)
    bad = record("x", "f0", b"x")
    titled = tuple(
        replace(entity, fields={**entity.fields, "tittel": "bad"}) if entity.type == "Dokument" else entity
        for entity in bad.entities
    )
    journey.contents["x"] = b"x"
    journey.plan([*records(), replace(bad, entities=titled)])
    service = opened(journey)
    journey.once(service, archive=Picky(DirectArchive(service)))  # type: ignore[arg-type]  # the rest is the real one's
    (told,) = outcomes(journey.folder, "refused")
    assert (told.key, told.data["type"], told.data["key"], told.data["line"]) == ("x", "Dokument", "x#d1", 13)
    assert told.data["field"] == "tittel"


def test_what_was_refused_is_tried_again_when_asked_for_and_only_that(root: Path, opened: Opened) -> None:
    journey = journey_of(root)
    journey.plan(records(4))
    service = opened(journey)
    journey.once(service)
    journal = Journal(journey.folder.journal)
    assert reopen_items(journey.folder, "F201") == 0
    assert reopen_items(journey.folder, "F310") == 1
    journal.close()
    service.close()
    tolerant = replace(journey, settings=Settings())
    again = opened(tolerant)
    loaded = tolerant.once(again)
    assert (loaded.numbers.archived, loaded.numbers.refused) == (9, 0)
    assert set(journey.keys(again).values()) == {1}


@pytest.mark.parametrize("account", ["admin", "plain"])
@pytest.mark.parametrize("kind", ["transaction:lost:before", "transaction:lost:after", "transaction:kill:after"])
def test_a_second_try_whose_answer_is_lost_is_settled_by_itself(
    kind: str, account: str, root: Path, opened: Opened
) -> None:
    journey = journey_of(root, account)
    journey.plan(records())
    service = opened(journey)
    for step in range(1, 13):
        again = journey.another(f"run{step}")
        again.contents = {f"{step}/{key}": content for key, content in CONTENTS.items()}
        again.plan([record(key, f"{step}", content) for key, content in again.contents.items()])
        assert again.once(service, Schedule("source:vanished:before", 4)).numbers.set_aside == 1
        journal = Journal(again.folder.journal)
        assert reopen_items(again.folder, None) == 1
        journal.close()
        schedule = Schedule(kind, step)
        loaded = again.until_done(service, schedule)
        assert loaded.numbers.archived + loaded.numbers.already_there == 9
        assert set(again.keys(service).values()) == {1}
        if not schedule.struck:
            return
    raise AssertionError("every step was struck")


@pytest.mark.parametrize("kind", ["transaction:kill:after", "transaction:lost:after", "journal:kill:before"])
def test_a_split_chunk_survives_being_broken_at_any_step(kind: str, root: Path, opened: Opened) -> None:
    journey = journey_of(root, "plain")
    journey.plan(records(2, 6))
    service = opened(journey)
    schedule = Schedule(kind, 1)
    for step in itertools.count(3, 3):
        schedule = Schedule(kind, step)
        try:
            if journey.once(service, schedule).state == "done":
                break
        except (Killed, NoarkitError):
            continue
    loaded = journey.once(service)
    assert loaded.numbers.refused == 2
    assert loaded.numbers.archived + loaded.numbers.already_there == 7
    assert set(journey.keys(service).values()) == {1}
    assert journey.count(service, "Dokumentversjon") == 7


class AlwaysConflicting(DirectArchive):
    """An archive in which somebody else is always quicker."""

    def __init__(self, service: Service) -> None:
        super().__init__(service)
        self.tries = 0

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        if any(action.type == "Mappe" for action in actions):
            self.tries += 1
            raise ArchiveConflict(call="transaction", status=409)
        return super().transaction(actions)


def test_a_conflict_that_never_ends_stops_the_run_after_a_few_tries(root: Path, opened: Opened) -> None:
    journey = journey_of(root)
    journey.plan(records())
    service = opened(journey)
    archive = AlwaysConflicting(service)
    loaded = journey.once(service, archive=archive)
    assert (loaded.exit_code, archive.tries) == (5, 5)
    assert journey.once(service).numbers.archived == 9


class Belated(DirectArchive):
    """Refuses each chunk that holds a folder or a record, and commits it long after: so many of them."""

    refuses, commits = True, 99

    def __init__(self, service: Service, journey: Journey) -> None:
        super().__init__(service, journey.account)
        self._time = journey.time

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        if not self.refuses or not any(action.type in ("Mappe", "Basisregistrering") for action in actions):
            return super().transaction(actions)
        self.commits -= 1
        if self.commits >= 0:
            self._time.later(20.0, lambda: self._commit(actions))
        raise ArchiveRefused(call="transaction", status=400, description="")

    def _commit(self, actions: Sequence[Action]) -> None:
        with suppress(ArchiveFault):
            super().transaction(actions)


@pytest.mark.parametrize("account", ["admin", "plain"])
def test_what_stands_although_it_was_refused_is_ours_when_it_is_taken_up_again(
    account: str, root: Path, opened: Opened
) -> None:
    journey = Journey(root, dict(CONTENTS), account=account, limits=Limits(chunk_actions=12))
    journey.plan(records()[:3])
    service = opened(journey)
    archive = Belated(service, journey)
    assert journey.once(service, archive=archive).numbers.refused == 3
    journey.time.sleep(100)
    assert journey.count(service, "Basisregistrering") > 0
    archive.refuses = False
    reopen_items(journey.folder, None)
    loaded = journey.once(service, archive=archive)
    assert (loaded.numbers.archived, loaded.numbers.already_there) == (3, 0)
    assert set(journey.keys(service).values()) == {1}
    assert journey.count(service, "Basisregistrering") == 3


def test_halves_of_what_landed_whole_although_it_was_refused_are_ours_when_they_are_taken_up_again(
    root: Path, opened: Opened
) -> None:
    journey = Journey(root, dict(CONTENTS), limits=Limits(chunk_actions=12))
    journey.plan(records()[:3])
    service = opened(journey)
    archive = Belated(service, journey)
    archive.commits = 1
    assert journey.once(service, archive=archive).numbers.refused == 3
    journey.time.sleep(100)
    archive.refuses = False
    reopen_items(journey.folder, None)
    loaded = journey.once(service, archive=archive)
    assert (loaded.numbers.archived, loaded.numbers.already_there) == (3, 0)
    assert set(journey.keys(service).values()) == {1}
