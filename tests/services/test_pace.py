"""No window is ever passed: on a virtual clock, by threads, by processes that share a count, and after a penalty."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noarkit.errors import AllowanceSpent, ConfigFault, ServiceBusy
from noarkit.services.pace import Allowance, Clock, MemoryLog, Pace, Rate, SharedLog
from tests.services.scripted import VirtualClock
from tests.waiting import PATIENCE_S


def go(pace: Pace) -> None:
    """One call that takes no time."""
    with pace.call("features:test"):
        pass


TWO = (Rate(100, 10), Rate(900, 900))


def most_within(sent: list[float], seconds: float) -> int:
    """The most calls in any span of that length."""
    most, begin = 0, 0
    for end, at in enumerate(sent):
        while at - sent[begin] >= seconds - 1e-6:  # what a float cannot tell
            begin += 1
        most = max(most, end - begin + 1)
    return most


def greedy(pace: Pace, clock: VirtualClock, calls: int) -> list[float]:
    """When each of so many calls could go."""
    sent = []
    for _ in range(calls):
        go(pace)
        sent.append(clock.now_s())
    return sent


def test_two_thousand_five_hundred_calls_never_pass_either_window() -> None:
    clock = VirtualClock(0.0)
    sent = greedy(Pace(TWO, clock=Clock(clock.now_s, clock.sleep_s)), clock, 2_500)
    assert most_within(sent, 10) == 100
    assert most_within(sent, 900) == 900
    assert sent[99] == 0.0
    assert sent[100] == pytest.approx(10.0, abs=0.01)
    assert sent[899] == pytest.approx(80.0, abs=0.1)
    assert sent[900] == pytest.approx(900.0, abs=0.1)
    assert sent[2_499] == pytest.approx(1_860.0, abs=0.5)


@given(
    rates=st.lists(
        st.builds(Rate, st.integers(1, 6), st.floats(0.5, 20).map(lambda x: round(x, 2))), min_size=1, max_size=3
    ),
    gaps=st.lists(st.floats(0, 3).map(lambda x: round(x, 2)), min_size=1, max_size=60),
)
def test_no_rates_and_no_arrivals_pass_a_window(rates: list[Rate], gaps: list[float]) -> None:
    clock = VirtualClock(0.0)
    pace = Pace(rates, clock=Clock(clock.now_s, clock.sleep_s))
    sent = []
    for gap in gaps:
        clock.now += gap
        go(pace)
        sent.append(clock.now_s())
    for rate in rates:
        assert most_within(sent, rate.seconds) <= rate.calls


@settings(max_examples=60, deadline=None)
@given(
    rates=st.lists(st.builds(Rate, st.integers(1, 5), st.sampled_from((0.5, 2.0, 7.25, 30.0))), min_size=1, max_size=3),
    calls=st.lists(
        st.tuples(st.sampled_from((0.0, 0.1, 0.7, 3.0)), st.sampled_from((0.0, 0.2, 1.5, 9.0))), min_size=1, max_size=40
    ),
    shared=st.booleans(),
)
def test_calls_that_overlap_and_take_their_time_pass_no_window_and_wait_no_longer_than_they_must(
    rates: list[Rate], calls: list[tuple[float, float]], shared: bool
) -> None:
    """A service may have counted a call at any moment until its answer came."""
    with tempfile.TemporaryDirectory() as folder:
        log = SharedLog(Path(folder) / "pace.db") if shared else MemoryLog()
        now, ends, known = 1_000.0, dict[int, float](), list[float]()

        def pass_to(moment: float) -> float:
            for ticket, end in sorted(ends.items(), key=lambda one: one[1]):
                if end <= moment:
                    log.finish(ticket, ends.pop(ticket))
            return moment

        for gap, length in calls:
            now = pass_to(now + gap)
            while (told := log.take(rates, now)).wait_s > 0:
                # some window is full, but for the moment by which clocks may differ
                assert any(sum(end > now - rate.seconds - 0.002 for end in known) >= rate.calls for rate in rates)
                now = pass_to(min([now + told.wait_s, *ends.values()]))
            for rate in rates:
                assert sum(end > now - rate.seconds for end in known) < rate.calls
            known.append(now + length)
            ends[told.ticket] = now + length
            pass_to(now)


def test_a_log_that_is_deleted_is_begun_anew_by_whoever_asks_next(tmp_path: Path) -> None:
    clock = VirtualClock()
    first, second = (
        Pace((Rate(1, 100),), SharedLog(tmp_path / "p.db"), Clock(clock.now_s, clock.sleep_s)) for _ in range(2)
    )
    second.hold_back(0.0)
    go(first)
    for path in tmp_path.glob("p.db*"):
        path.unlink()
    clock.now += 200
    go(first)
    assert clock.slept == []
    go(second)  # both count in the file that lies there now
    assert sum(clock.slept) == pytest.approx(100, abs=0.1)


def test_a_window_of_many_calls_is_judged_by_one_look(tmp_path: Path) -> None:
    for log in (MemoryLog(), SharedLog(tmp_path / "pace.db")):
        clock = VirtualClock()
        pace = Pace((Rate(3_000, 60), Rate(10_000, 900)), log, Clock(clock.now_s, clock.sleep_s))
        begun = clock.now_s()
        sent = [at - begun for at in greedy(pace, clock, 3_100)]
        assert sent[2_999] == 0.0
        assert sent[3_000] == pytest.approx(60.0, abs=0.01)


def test_threads_share_the_windows_in_real_time() -> None:
    pace = Pace((Rate(10, 0.2), Rate(25, 1.0)))
    sent: list[float] = []

    def work() -> None:
        for _ in range(10):
            with pace.call("x"):
                sent.append(time.time())  # within the call: before and after it, a busy machine lets time pass

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sent.sort()
    assert most_within(sent, 0.15) <= 10
    assert most_within(sent, 0.9) <= 25


WORKER = """
import sys, time
from pathlib import Path
from noarkit.services.pace import Pace, Rate, SharedLog
pace = Pace((Rate(8, 0.5),), SharedLog(Path(sys.argv[1])))
for _ in range(8):
    with pace.call("x"):
        print(time.time(), flush=True)
"""


def test_processes_share_the_windows(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WORKER, str(tmp_path / "pace.db")]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    sent = sorted(float(line) for one in started for line in one.communicate(timeout=PATIENCE_S)[0].split())
    assert len(sent) == 24
    assert most_within(sent, 0.45) <= 8


def test_a_penalty_holds_everybody_back(tmp_path: Path) -> None:
    for log in (MemoryLog(), SharedLog(tmp_path / "pace.db")):
        clock = VirtualClock()
        pace = Pace((), log, Clock(clock.now_s, clock.sleep_s))
        begun = clock.now_s()
        pace.hold_back(30.0)
        go(pace)
        assert clock.now_s() - begun == pytest.approx(30.0, abs=0.01)
        go(pace)
        assert clock.now_s() - begun == pytest.approx(30.0, abs=0.01)


def test_a_wait_that_is_too_long_is_told_instead_of_slept() -> None:
    clock = VirtualClock()
    pace = Pace((Rate(1, 3_600),), clock=Clock(clock.now_s, clock.sleep_s), longest_wait_s=60)
    go(pace)
    with pytest.raises(ServiceBusy) as caught:
        go(pace)
    assert caught.value.retry_after_s == 3_600
    assert clock.slept == []


def test_a_count_survives_its_process_and_a_clock_put_back(tmp_path: Path) -> None:
    clock = VirtualClock()
    first = Pace((Rate(2, 100),), SharedLog(tmp_path / "p.db"), Clock(clock.now_s, clock.sleep_s))
    go(first)
    go(first)
    again = Pace((Rate(2, 100),), SharedLog(tmp_path / "p.db"), Clock(clock.now_s, clock.sleep_s))
    go(again)
    assert sum(clock.slept) == pytest.approx(100, abs=0.1)
    clock.now -= 10_000
    clock.slept.clear()
    go(again)
    assert clock.slept == []


def test_a_call_counts_until_its_answer_came(tmp_path: Path) -> None:
    for log in (MemoryLog(), SharedLog(tmp_path / "pace.db")):
        clock = VirtualClock()
        pace = Pace((Rate(1, 10),), log, Clock(clock.now_s, clock.sleep_s))
        begun = clock.now_s()
        with pace.call("x"):
            clock.now += 4
        go(pace)
        assert clock.now_s() - begun == pytest.approx(14, abs=0.01)


def test_a_call_of_a_process_that_died_does_not_hold_us_for_ever(tmp_path: Path) -> None:
    clock = VirtualClock()
    SharedLog(tmp_path / "p.db").take((Rate(1, 1),), clock.now_s())
    clock.now += 301
    go(Pace((Rate(1, 1),), SharedLog(tmp_path / "p.db"), Clock(clock.now_s, clock.sleep_s)))
    assert clock.slept == []


def test_rates_nobody_can_keep_are_refused() -> None:
    for rate in (Rate(0, 1), Rate(1, 0)):
        with pytest.raises(ConfigFault):
            Pace((rate,))


def test_an_allowance_stops_before_it_is_passed() -> None:
    mine = Allowance(most=10)
    mine.spend("crm:x", 9)
    with pytest.raises(AllowanceSpent):
        mine.spend("crm:x", 2)
    assert mine.spent == 9
    theirs = Allowance(floor=100)
    theirs.spend("crm:x", 5)
    theirs.update(103)
    theirs.spend("crm:x", 3)
    with pytest.raises(AllowanceSpent):
        theirs.spend("crm:x", 4)
