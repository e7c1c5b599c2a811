"""The governor keeps the pace that was asked for, and slows down while the archive is in trouble."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from noarkit.archive.values import (
    Call,
    Query,
    bytes_to_upload,
)
from noarkit.errors import ArchiveBusy, ArchiveConflict, ArchiveRefused, NoarkitError, UsageFault
from noarkit.loading.governor import GovernedArchive, Rate, read_rate
from tests.archive.fakes import FakeArchive


@dataclass
class Slow(FakeArchive):
    """An archive whose answers take as long as `takes_s` says, or fail with `fault`; it is its own clock."""

    now: float = 0.0
    takes_s: float = 0.1
    fault: NoarkitError | None = None
    began: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def _act(self, name: str) -> None:
        self.began.append(self.now)
        self.now += self.takes_s
        if self.fault is not None:
            raise self.fault


def governed(archive: Slow, rate: Rate | None = None) -> GovernedArchive:
    return GovernedArchive(archive, rate or Rate(), clock=lambda: archive.now, sleep=archive.sleep)


def ask(archive: GovernedArchive, times: int = 1) -> None:
    for _ in range(times):
        archive.query(Query("Mappe"))


def test_nothing_is_slowed_where_nobody_asked_and_all_is_well() -> None:
    slow = Slow()
    ask(governed(slow), 50)
    assert slow.now == pytest.approx(5.0)


def test_calls_keep_the_rate() -> None:
    slow = Slow(takes_s=0.0)
    ask(governed(slow, Rate(calls_per_s=10)), 21)
    assert slow.began[-1] == pytest.approx(2.0)


def test_a_slow_archive_is_not_asked_in_a_burst_afterwards() -> None:
    slow = Slow(takes_s=3.0)
    archive = governed(slow, Rate(calls_per_s=1))
    ask(archive, 2)
    slow.takes_s = 0.0
    ask(archive, 3)
    gaps = [later - earlier for earlier, later in zip(slow.began[2:], slow.began[3:], strict=False)]
    assert min(gaps) >= 1.0


def test_bytes_keep_the_rate_over_all() -> None:
    slow = Slow(takes_s=0.0)
    archive = governed(slow, Rate(bytes_per_s=1000))
    for _ in range(5):
        archive.upload(bytes_to_upload(b"x" * 2000, "a"))
    assert slow.began[-1] == pytest.approx(8.0)


@pytest.mark.parametrize("fault", [ArchiveBusy(status=429), ArchiveBusy(status=503), ArchiveConflict()])
def test_trouble_doubles_the_pause_and_good_answers_end_it(fault: NoarkitError) -> None:
    slow = Slow(fault=fault)
    archive = governed(slow)
    pauses = []
    for _ in range(3):
        with pytest.raises(type(fault)):
            ask(archive)
        pauses.append(archive.pause_s)
    assert pauses == [0.05, 0.1, 0.2]
    slow.fault = None
    ask(archive, 40)
    assert archive.pause_s == 0.0


def test_the_pause_has_a_most() -> None:
    slow = Slow(fault=ArchiveBusy(status=429))
    archive = governed(slow)
    for _ in range(30):
        with pytest.raises(ArchiveBusy):
            ask(archive)
    assert archive.pause_s == 10.0


def test_a_refusal_is_no_reason_to_slow_down() -> None:
    slow = Slow(fault=ArchiveRefused())
    archive = governed(slow)
    with pytest.raises(ArchiveRefused):
        ask(archive)
    assert archive.pause_s == 0.0


def test_answers_that_take_much_longer_than_they_used_to_slow_it_down() -> None:
    slow = Slow(takes_s=0.2)
    archive = governed(slow)
    ask(archive, 10)
    slow.takes_s = 2.0
    ask(archive)
    assert archive.pause_s > 0
    slow.takes_s = 0.2
    ask(archive, 40)
    assert archive.pause_s == 0.0


def test_an_archive_that_stays_slow_is_not_held_back_for_ever() -> None:
    slow = Slow(takes_s=0.2)
    archive = governed(slow)
    ask(archive, 5)
    slow.takes_s = 2.0
    ask(archive, 200)
    assert archive.pause_s == 0.0


def test_every_call_of_the_port_is_governed(tmp_path: Path) -> None:
    slow = Slow(takes_s=0.0)
    archive = governed(slow, Rate(calls_per_s=1))
    archive.transaction(())
    archive.query(Query("Mappe"))
    archive.upload(bytes_to_upload(b"", "a"))
    archive.download("1", tmp_path / "a")
    archive.call(Call("me", "GET", ("info", "me")))
    archive.close()
    assert (slow.began, slow.closed) == ([0.0, 1.0, 2.0, 3.0, 4.0], True)


def test_workers_share_a_rate() -> None:
    assert Rate(calls_per_s=20).share(4) == Rate(calls_per_s=5)
    assert Rate(bytes_per_s=8.0).share(2) == Rate(bytes_per_s=4.0)
    assert Rate().share(3) == Rate()
    assert Rate(calls_per_s=2).share(0) == Rate(calls_per_s=2)


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("20", Rate(calls_per_s=20)),
        ("2.5/s", Rate(calls_per_s=2.5)),
        ("5MB/s", Rate(bytes_per_s=5_000_000)),
        ("500 kB", Rate(bytes_per_s=500_000)),
        ("1,5GB/s", Rate(bytes_per_s=1_500_000_000)),
        ("800B", Rate(bytes_per_s=800)),
    ],
)
def test_rates_are_read_as_people_write_them(text: str, rate: Rate) -> None:
    assert read_rate(text) == rate


@pytest.mark.parametrize("text", ["", "0", "fast", "5M", "-3", "5 parsec"])
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(UsageFault):
        read_rate(text)
