"""What a run made is finalised bottom-up, and saying so twice changes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from noarkit.archive.values import Action, Save, SavedObject
from noarkit.errors import AnswerLost, ArchiveAway, ArchiveRefused
from noarkit.loading.close import CloseResult, close
from noarkit.loading.stopping import StopRequest
from noarkit.server.service import Service
from tests.loading.conftest import Opened
from tests.loading.direct import DirectArchive
from tests.loading.journey import Journey, record
from tests.loading.trouble import Killed

CONTENTS = {f"{n}": f"content {n}".encode() for n in range(5)}
RECORDS = [record(key, f"f{int(key) // 3}", content) for key, content in CONTENTS.items()]
ALL = {"Dokument": 5, "Basisregistrering": 5, "Mappe": 2, "Arkivdel": 1, "Arkiv": 1}


class Listening(DirectArchive):
    """Remembers which types were saved in which order; may refuse one object, or lose answers."""

    def __init__(self, service: Service, refused: str = "", losing: int = 0) -> None:
        super().__init__(service)
        self.order: list[str] = []
        self.refused = refused
        self.losing = losing

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        if any(action.id == self.refused and action.type == "Dokument" for action in actions):
            raise ArchiveRefused(call="transaction", status=400)
        saved = super().transaction(actions)
        if self.losing:
            self.losing -= 1
            raise AnswerLost(call="transaction")
        self.order += [action.type for action in actions if isinstance(action, Save)]
        return saved


@pytest.fixture
def journey(root: Path) -> Journey:
    made = Journey(root, dict(CONTENTS))
    made.plan(RECORDS)
    return made


def closed(journey: Journey, archive: DirectArchive, stopping: StopRequest | None = None) -> CloseResult:
    waiting = StopRequest() if stopping is None else stopping
    return close(
        journey.folder, archive, stop_request=waiting, emit=journey.told.append, now_s=lambda: journey.time.now
    )


def statuses(journey: Journey, service: Service) -> set[object]:
    return {one.fields.get("dokumentstatus") for one in journey.all(service, "Dokument")}


def test_everything_a_run_made_is_closed_from_the_bottom_up(journey: Journey, opened: Opened) -> None:
    service = opened(journey)
    journey.once(service)
    archive = Listening(service)
    done = closed(journey, archive)
    assert (done.closed, done.refused_count, done.is_complete) == (ALL, 0, True)
    assert list(dict.fromkeys(archive.order)) == list(ALL)
    assert statuses(journey, service) == {"F"}
    assert all(one.fields.get("avsluttetDato") for one in journey.all(service, "Mappe"))


def test_closing_again_after_lost_answers_changes_nothing(journey: Journey, opened: Opened) -> None:
    service = opened(journey)
    journey.once(service)
    closed(journey, Listening(service, losing=2))
    before = [one.fields for one in journey.all(service, "Basisregistrering")]
    assert closed(journey, Listening(service)).refused_count == 0
    assert [one.fields for one in journey.all(service, "Basisregistrering")] == before


def test_what_the_archive_will_not_close_is_told_and_the_rest_is_closed(journey: Journey, opened: Opened) -> None:
    service = opened(journey)
    journey.once(service)
    victim = journey.all(service, "Dokument")[1].id
    done = closed(journey, Listening(service, refused=victim))
    assert done.refused_count >= 1
    told = [event.data for event in journey.told if event.name == "not_closed"]
    assert {"type": "Dokument", "id": victim, "code": "F310"} in told
    assert len([one for one in journey.all(service, "Dokument") if one.fields.get("dokumentstatus") == "F"]) == 4


def test_an_archive_that_is_away_stops_the_closing(journey: Journey, opened: Opened) -> None:
    class Away(DirectArchive):
        def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
            raise ArchiveAway(call="transaction")

    service = opened(journey)
    journey.once(service)
    with pytest.raises(ArchiveAway):
        closed(journey, Away(service))


def test_a_run_that_is_to_stop_closes_no_more_and_says_so(journey: Journey, opened: Opened) -> None:
    service = opened(journey)
    journey.once(service)
    stopping = StopRequest()
    stopping.ask("SIGTERM")
    assert closed(journey, DirectArchive(service), stopping) == CloseResult({}, 0, is_complete=False)


def test_an_answer_that_names_nothing_closed_nothing_and_is_asked_for_again(journey: Journey, opened: Opened) -> None:
    class Mute(DirectArchive):
        calls = 0

        def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
            self.calls += 1
            return {} if self.calls == 2 else super().transaction(actions)

    service = opened(journey)
    journey.once(service)
    assert closed(journey, Mute(service)).is_complete
    assert all(one.fields.get("avsluttetDato") for one in journey.all(service, "Basisregistrering"))


def test_closing_again_sends_only_what_was_left(journey: Journey, opened: Opened) -> None:
    service = opened(journey)
    journey.once(service)
    victim = journey.all(service, "Dokument")[1].id
    left = closed(journey, Listening(service, refused=victim)).not_closed
    again = Listening(service)
    done = closed(journey, again)
    assert sorted(again.order) == sorted(one.key.partition(" ")[0] for one in left)
    assert (done.is_complete, done.not_closed, statuses(journey, service)) == (True, (), {"F"})


def test_closing_again_sends_nothing_and_dates_stay(journey: Journey, opened: Opened) -> None:
    service = opened(journey)
    journey.once(service)
    first = closed(journey, Listening(service))
    before = {kind: [one.fields for one in journey.all(service, kind)] for kind in ALL}
    journey.time.now += 86_400
    again = Listening(service)
    second = closed(journey, again)
    assert (again.order, second.was_closed, second.closed) == ([], True, first.closed)
    assert {kind: [one.fields for one in journey.all(service, kind)] for kind in ALL} == before


def test_a_closing_that_broke_off_goes_on_with_its_own_date(journey: Journey, opened: Opened) -> None:
    """The archive had closed them, and the process was gone before it wrote that down."""

    class CutOff(DirectArchive):
        def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
            saved = super().transaction(actions)
            if any(action.type == "Mappe" for action in actions):
                raise Killed()
            return saved

    service = opened(journey)
    journey.once(service)
    with pytest.raises(Killed):
        closed(journey, CutOff(service))
    dates = [one.fields["avsluttetDato"] for one in journey.all(service, "Mappe")]
    assert all(dates)
    journey.time.now += 86_400
    again = Listening(service)
    assert closed(journey, again).is_complete
    assert [one.fields["avsluttetDato"] for one in journey.all(service, "Mappe")] == dates
    assert "Dokument" not in again.order and "Arkiv" in again.order
