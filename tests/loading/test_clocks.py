"""A wall clock that somebody sets changes nothing: waits are counted by clocks that only go forward, and are told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from noarkit.loading.clocks import ArchiveClock, Clocks, system_clocks
from noarkit.loading.journal import Journal
from noarkit.loading.lease import ChunkSent
from tests.loading.conftest import Opened
from tests.loading.journey import DEADLINE_S, Journey, record
from tests.loading.trouble import Killed, Schedule


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    """A journal in which one chunk was sent when the steady clock showed 100, and the archive's 1100."""
    journey = Journey(tmp_path, {"a": b"1"})
    journey.plan([record("a", "f", b"1")])
    with closing(Journal(journey.folder.journal)) as journal, closing(journey.folder.open_graph()) as graph:
        journal.adopt(graph)
        journal.keep_time(clocks(50.0, "one", 1050.0))
        journal.record(1, [ChunkSent(journal.tasks(1)[0].key, 100.0)])
        yield journal


def clocks(steady_s: float, boot: str, archive_s: float | None) -> Clocks:
    return Clocks(lambda: steady_s, boot, lambda: archive_s)


@pytest.mark.parametrize(
    ("now", "boot", "archive", "sent"),
    [
        (130.0, "one", 1130.0, 100.0),
        (130.0, "one", None, 100.0),
        (20.0, "two", 1130.0, -10.0),
        (20.0, "two", 900.0, 20.0),
        (20.0, "two", None, 20.0),
        (20.0, "", 1130.0, -10.0),
        (90.0, "one", 1090.0, 90.0),
    ],
    ids=["same boot", "silent archive", "another boot", "their clock set back", "nobody knows", "no boot id", "back"],
)
def test_a_time_of_sending_is_carried_over_and_never_lies_ahead(
    journal: Journal, now: float, boot: str, archive: float | None, sent: float
) -> None:
    journal.keep_time(clocks(now, boot, archive))
    assert journal.tasks(1)[0].sent_at == pytest.approx(sent)


def test_times_of_a_journal_that_knew_no_boot_count_from_now(journal: Journal) -> None:
    journal.remember(boot="", archive_ahead_s="")
    journal.keep_time(clocks(7.0, "one", 1130.0))
    assert journal.tasks(1)[0].sent_at == 7.0


def test_a_clock_set_back_two_hours_between_two_calls_lets_a_run_wait_no_longer_than_the_deadline(
    root: Path, opened: Opened
) -> None:
    contents = {f"{n}": b"x" for n in range(4)}
    journey = Journey(root, contents)
    journey.plan([record(key, "f", content) for key, content in contents.items()])
    service = opened(journey)
    with pytest.raises(Killed):
        journey.once(service, Schedule("transaction:kill:after", 6))
    steady = journey.time.now
    journey.told.clear()
    assert journey.once(service, wall_s=lambda: journey.time.now - 7200).state == "done"
    assert journey.time.now - steady <= DEADLINE_S + 5
    (waiting,) = [event.data for event in journey.told if event.name == "waiting"]
    assert waiting["wait_s"] == DEADLINE_S


def test_the_archives_clock_goes_on_between_its_answers() -> None:
    steady = [10.0]
    theirs = ArchiveClock(lambda: steady[0])
    assert theirs.now_s() is None
    theirs.set_from_date(5000.0)
    steady[0] = 13.5
    assert theirs.now_s() == 5003.5


def test_the_clock_of_this_machine_is_steady_and_names_its_boot() -> None:
    first, second = system_clocks(), system_clocks()
    assert first.boot == second.boot
    before = first.steady_s()
    assert second.steady_s() >= before
    assert first.archive_s() is None
