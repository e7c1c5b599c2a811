"""The lines that a benchmark spends its time at are those at which its threads are."""

from __future__ import annotations

import threading
import time

from scripts.benchmarks.profiles import LineProfile


def _work(seconds: float) -> int:
    ends, count = time.perf_counter() + seconds, 0
    while time.perf_counter() < ends:
        count += sum(range(2_000))  # here most of the time goes
    return count


def test_the_costliest_line_comes_first_and_what_waits_is_counted_apart() -> None:
    profile, done = LineProfile(), threading.Event()
    waiting = threading.Thread(target=done.wait)
    waiting.start()
    _work(0.3)
    assert next(profile.rows()).startswith("0 looks"), "it is not watched yet"
    with profile.watching():
        _work(0.6)
    done.set()
    waiting.join()
    head, _, _, *lines = profile.rows()
    first = next(line for line in lines if "test_profiles.py" in line)  # other threads are those of whoever runs tests
    at_work, waits = (int(part.split()[0].replace(",", "")) for part in head.split(" looks at work, "))
    assert "count += sum(range(2_000))" in first
    assert at_work > 10
    assert waits > 10
