"""Retry: what is tried again, how long it waits, and that a change of unknown fate is never sent twice."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from noarkit.archive.retry import RetryClock, RetryingArchive, RetryPolicy
from noarkit.archive.values import Action, Call, Delete, Query, Save, bytes_to_upload, stream_to_upload
from noarkit.errors import (
    AnswerLost,
    ArchiveAway,
    ArchiveBroken,
    ArchiveBusy,
    ArchiveConflict,
    ArchiveFault,
    ArchiveMediaType,
    ArchiveNotFound,
    ArchiveRefused,
    ArchiveStrange,
    ItemChanged,
    NotAllowed,
    NotLetIn,
    TransferStalled,
    TrustFault,
)
from noarkit.events import Event
from tests.archive.fakes import FakeArchive

AWAY, LOST, STALLED, BROKEN = ArchiveAway(call="x"), AnswerLost(call="x"), TransferStalled(), ArchiveBroken(status=500)
BUSY_429, BUSY_503, CONFLICT = ArchiveBusy(status=429), ArchiveBusy(status=503), ArchiveConflict(status=409)
STRANGE, STRANGE_COMMIT = ArchiveStrange(why="html"), ArchiveStrange(why="html", fate="unknown")
TRANSIENT = [AWAY, LOST, STALLED, BROKEN, BUSY_429, BUSY_503, CONFLICT, STRANGE]
UNKNOWN_FATE = [LOST, STALLED, BROKEN, BUSY_503, STRANGE_COMMIT]
TERMINAL = [
    ArchiveRefused(),
    ArchiveNotFound(),
    ArchiveMediaType(),
    NotLetIn(),
    NotAllowed(),
    TrustFault(),
]


@dataclass
class Time:
    """Time that passes only by sleeping."""

    now_s: float = 0.0
    slept: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        """Lets it pass."""
        self.slept.append(round(seconds, 3))
        self.now_s += seconds

    def clock(self) -> float:
        """What time it is."""
        return self.now_s


def retrying(
    archive: FakeArchive, time: Time, policy: RetryPolicy | None = None, chance: float = 1.0
) -> RetryingArchive:
    """Around `archive`, with time and chance at hand."""
    return RetryingArchive(archive, policy, outside=RetryClock(time.sleep, time.clock, lambda: chance))


def query(archive: RetryingArchive) -> object:
    return archive.query(Query("Mappe"))


def download(archive: RetryingArchive) -> object:
    return archive.download("1", Path("nowhere"))


def asking_call(archive: RetryingArchive) -> object:
    return archive.call(Call("me", "GET", ("info", "me")))


def upload(archive: RetryingArchive) -> object:
    return archive.upload(bytes_to_upload(b"x", "x"))


def transaction(archive: RetryingArchive) -> object:
    return archive.transaction([Save("Mappe", "x")])


def changing_call(archive: RetryingArchive) -> object:
    return archive.call(Call("put_code", "PUT", ("x",), changes=True))


Does = Callable[[RetryingArchive], object]


@pytest.mark.parametrize("fault", TRANSIENT, ids=lambda fault: str(fault))
@pytest.mark.parametrize("does", [query, download, asking_call, upload])
def test_what_leaves_nothing_behind_is_tried_again_after_any_fault_that_may_pass(
    does: Does, fault: ArchiveFault
) -> None:
    archive = FakeArchive(acts=[fault, fault])
    does(retrying(archive, Time()))
    assert len(archive.asked) == 3


@pytest.mark.parametrize("fault", UNKNOWN_FATE, ids=lambda fault: str(fault))
@pytest.mark.parametrize("does", [transaction, changing_call])
def test_a_change_of_unknown_fate_is_never_sent_twice(does: Does, fault: ArchiveFault) -> None:
    archive, time = FakeArchive(acts=[fault]), Time()
    with pytest.raises(type(fault)) as caught:
        does(retrying(archive, time))
    assert caught.value.fate_unknown
    assert len(archive.asked) == 1
    assert time.slept == []


@pytest.mark.parametrize("fault", [AWAY, BUSY_429, CONFLICT], ids=lambda fault: str(fault))
@pytest.mark.parametrize("does", [transaction, changing_call])
def test_a_change_that_took_no_effect_is_sent_again(does: Does, fault: ArchiveFault) -> None:
    archive = FakeArchive(acts=[fault, fault])
    does(retrying(archive, Time()))
    assert len(archive.asked) == 3


def test_a_token_that_was_renewed_is_used_once() -> None:
    renewed = NotLetIn(status=401, renewed=True)
    archive = FakeArchive(acts=[renewed])
    transaction(retrying(archive, Time()))
    assert len(archive.asked) == 2
    archive = FakeArchive(acts=[renewed, renewed])
    with pytest.raises(NotLetIn):
        transaction(retrying(archive, Time()))
    assert len(archive.asked) == 2


def test_a_page_that_is_no_answer_is_not_asked_for_as_long_as_an_archive_that_is_away() -> None:
    archive = FakeArchive(acts=[STRANGE] * 50)
    with pytest.raises(ArchiveStrange):
        query(retrying(archive, Time()))
    assert len(archive.asked) == RetryPolicy().strange + 1


@pytest.mark.parametrize(
    "fault", [BUSY_429, CONFLICT, NotLetIn(status=401, renewed=True)], ids=lambda fault: str(fault)
)
def test_those_who_ask_before_they_send_again_are_told_at_once(fault: ArchiveFault) -> None:
    archive = FakeArchive(acts=[fault])
    with pytest.raises(type(fault)):
        transaction(retrying(archive, Time(), RetryPolicy(resends=False)))
    assert len(archive.asked) == 1
    archive = FakeArchive(acts=[AWAY])
    transaction(retrying(archive, Time(), RetryPolicy(resends=False)))
    assert len(archive.asked) == 2


@pytest.mark.parametrize("fault", [*TERMINAL, ItemChanged()], ids=lambda fault: str(fault))
@pytest.mark.parametrize("does", [query, upload, transaction])
def test_what_the_same_again_cannot_help_is_raised_at_once(does: Does, fault: Exception) -> None:
    archive, time = FakeArchive(acts=[fault]), Time()
    with pytest.raises(type(fault)):
        does(retrying(archive, time))
    assert (len(archive.asked), time.slept) == (1, [])


def test_waits_double_up_to_a_limit_and_half_of_each_is_chance() -> None:
    policy = RetryPolicy(first_s=1.0, most_s=8.0, patience_s=1000.0)
    for chance, waits in [(1.0, [1, 2, 4, 8, 8, 8]), (0.0, [0.5, 1, 2, 4, 4, 4])]:
        time = Time()
        query(retrying(FakeArchive(acts=[AWAY] * 6), time, policy, chance))
        assert time.slept == waits


def test_patience_ends() -> None:
    time = Time()
    archive = FakeArchive(acts=[AWAY] * 100)
    with pytest.raises(ArchiveAway):
        query(retrying(archive, time, RetryPolicy(first_s=1.0, most_s=10.0, patience_s=60.0)))
    assert 45.0 < sum(time.slept) <= 60.0


def test_conflicts_are_tried_again_a_few_times_only() -> None:
    archive = FakeArchive(acts=[CONFLICT] * 100)
    with pytest.raises(ArchiveConflict):
        transaction(retrying(archive, Time(), RetryPolicy(conflicts=3)))
    assert len(archive.asked) == 4


@pytest.mark.parametrize("action", [Save("Mappe", "1", version="7"), Delete("Mappe", "1", "7")])
def test_a_version_that_met_a_conflict_is_not_sent_again(action: Action) -> None:
    archive, time = FakeArchive(acts=[CONFLICT]), Time()
    with pytest.raises(ArchiveConflict):
        retrying(archive, time).transaction([Save("Mappe", "x"), action])
    assert (len(archive.asked), time.slept) == (1, [])


@pytest.mark.parametrize("status", [429, 503])
def test_the_archive_says_when_to_come_back(status: int) -> None:
    time = Time()
    query(retrying(FakeArchive(acts=[ArchiveBusy(status=status, retry_after_s=42.0)]), time, chance=0.0))
    assert time.slept == [42.0]


def test_a_time_beyond_all_patience_is_not_waited_for() -> None:
    time = Time()
    with pytest.raises(ArchiveBusy):
        query(retrying(FakeArchive(acts=[ArchiveBusy(status=429, retry_after_s=3600.0)]), time))
    assert time.slept == []


def test_all_calls_wait_when_one_was_told_to_come_back_later() -> None:
    time = Time()
    archive = FakeArchive(acts=[ArchiveBusy(status=429, retry_after_s=1000.0)])
    seen: list[float] = []

    def another_thread(seconds: float) -> None:
        time.slept.append(seconds)
        if len(time.slept) == 1:  # while the first waits, a second call begins
            patient.query(Query("Mappe"))
            seen.append(time.slept[1])
        time.now_s += seconds

    patient = RetryingArchive(
        archive, RetryPolicy(patience_s=2000.0), outside=RetryClock(another_thread, time.clock, lambda: 0.0)
    )
    patient.query(Query("Mappe"))
    assert seen == [1000.0]


def test_bytes_that_cannot_be_read_twice_are_sent_once() -> None:
    archive = FakeArchive(acts=[AWAY])
    with pytest.raises(ArchiveAway):
        retrying(archive, Time()).upload(stream_to_upload(io.BytesIO(b"x"), "x"))
    assert archive.asked == ["upload"]


def test_each_wait_is_told_without_names_or_titles() -> None:
    told: list[Event] = []
    time = Time()
    patient = RetryingArchive(
        FakeArchive(acts=[AWAY]), outside=RetryClock(time.sleep, time.clock, lambda: 1.0), emit=told.append
    )
    transaction(patient)
    assert told == [Event("archive_retry", {"call": "transaction", "code": "F301", "wait_s": 0.5})]


def test_everything_else_passes_through() -> None:
    archive = FakeArchive(answers=["x"])
    patient = retrying(archive, Time())
    assert asking_call(patient) == "x"
    found = patient.download("1", Path("a"), rendition="lightpdf", expected_sha256="ab", durable=False)
    assert (found.sha256, found.name, found.media_type) == ("ab", "lightpdf", "False")
    patient.close()
    assert archive.closed
