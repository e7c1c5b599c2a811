"""Limits are read as people write them, and stop a run when they are reached, not before."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from noarkit.errors import UsageFault
from noarkit.events import Event
from noarkit.loading.engines.limits import ErrorLimit, RunLimits, parse_error_limit, parse_until
from noarkit.loading.stopping import StopRequest

OSLO = ZoneInfo("Europe/Oslo")
EVENING = datetime(2026, 11, 20, 21, 0, tzinfo=UTC)  # 22:00 in Oslo


def left_out(limits: RunLimits, count: int, code: str = "F207") -> None:
    for _ in range(count):
        limits.count_fault(Event("set_aside", {"code": code}))
    limits()


def test_a_clock_time_is_the_next_one_in_the_zone_of_the_run() -> None:
    assert parse_until("06:00", EVENING, OSLO) == datetime(2026, 11, 21, 6, 0, tzinfo=OSLO)
    assert parse_until("23:30", EVENING, OSLO) == datetime(2026, 11, 20, 23, 30, tzinfo=OSLO)
    assert parse_until("22:00", EVENING, OSLO) == datetime(2026, 11, 21, 22, 0, tzinfo=OSLO)


def test_a_moment_without_zone_is_one_of_the_zone() -> None:
    assert parse_until("2026-11-23T06:00", EVENING, OSLO) == datetime(2026, 11, 23, 6, 0, tzinfo=OSLO)
    assert parse_until("2026-11-23T06:00+00:00", EVENING, OSLO) == datetime(2026, 11, 23, 6, 0, tzinfo=UTC)


@pytest.mark.parametrize("text", ["25:00", "half past six", "", "06:61"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(UsageFault):
        parse_until(text, EVENING, OSLO)


@pytest.mark.parametrize("text", ["-1", "101%", "many", "%", "", "1.5"])
def test_what_is_no_limit_is_refused(text: str) -> None:
    with pytest.raises(UsageFault):
        parse_error_limit(text)


def test_a_number_and_a_share_are_limits() -> None:
    assert parse_error_limit("50") == ErrorLimit(number=50)
    assert parse_error_limit(" 2,5 % ") == ErrorLimit(share=0.025)


@pytest.mark.parametrize("most", [ErrorLimit(number=3), ErrorLimit(share=0.03)])
def test_a_run_stops_at_one_error_more_than_it_may_have(most: ErrorLimit) -> None:
    stopping = StopRequest()
    limits = RunLimits(stopping, 100, lambda: 0.0, most_errors=most)
    left_out(limits, 3)
    assert not stopping
    left_out(limits, 1)
    assert stopping.reason == "max-errors"


def test_a_run_stops_when_its_time_has_come() -> None:
    now, stopping = [0.0], StopRequest()
    limits = RunLimits(stopping, 1, lambda: now[0], until=datetime.fromtimestamp(60, UTC))
    now[0] = 59.9
    limits()
    assert not stopping
    now[0] = 60.0
    limits()
    assert stopping.reason == "until"


def test_a_source_of_which_more_than_a_tenth_moved_is_not_loaded_on() -> None:
    stopping = StopRequest()
    limits = RunLimits(stopping, 200, lambda: 0.0)
    left_out(limits, 50, "F207")  # refused by the site's own check: no change of the source
    left_out(limits, 20, "F203")
    assert not stopping
    left_out(limits, 1, "F202")
    assert stopping.reason == "source-changed"


def test_a_few_changed_files_of_a_small_source_are_only_set_aside() -> None:
    stopping = StopRequest()
    left_out(RunLimits(stopping, 12, lambda: 0.0), 9, "F203")
    assert not stopping
