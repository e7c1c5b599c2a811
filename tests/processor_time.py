"""What tests cost, counted in processor time: how busy the machine is plays no part, and how fast it is, hardly.

A case that costs much and is not named in `slow.toml` fails, and so does an ordinary run of all tests that costs more
than its budget. Such a run ends by saying which tests are dear and not named there. How fast the machine is, is
measured again and again while tests run: a processor that two share is slower than it is before and after.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from statistics import median

import pytest

from tests.slow import takes_all

CASE_S = 10.0
"""What a case may cost that is not named as slow."""
BUDGET_S = 1_200.0
"""What an ordinary run may cost, all its processes taken together: ten minutes of two processors."""
TEST_S = 1.0
"""Tests are told as dear whose cases cost more, taken together."""
_TOLD = 30
_COST_S = "processor_s"
_SLOWNESS = "slowness"
_MEASURED_EVERY_S = 5.0
_LOOPS = 400_000
_REFERENCE_S = 0.015
"""What so many loops take on the machine that the limits are meant for."""


def spent_s() -> float:
    """The processor time of this process so far, and of its children that have ended and were waited for."""
    return sum(os.times()[:4])


class SharedWork:
    """What is done once for many tests, such as parsing the package: whichever comes first must not pay for it."""

    def __init__(self) -> None:
        self.spent_s = 0.0
        self._depth = 0

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Work within is counted as shared, once where it is done within other such work."""
        before_s, self._depth = spent_s(), self._depth + 1
        try:
            yield
        finally:
            self._depth -= 1
            if not self._depth:
                self.spent_s += spent_s() - before_s


SHARED = SharedWork()


def slowness() -> float:
    """How many times longer this machine takes than the one that the limits are meant for; never below 1."""
    return max(1.0, median(_loop_s() for _ in range(9)) / _REFERENCE_S)


def _loop_s() -> float:
    began = time.process_time()
    total = 0
    for number in range(_LOOPS):
        total += number & 7
    return time.process_time() - began


class ProcessorTime:
    """Holds each case to its limit, and all of them together to the budget."""

    def __init__(
        self, config: pytest.Config, case_s: float = CASE_S, test_s: float = TEST_S, budget_s: float = BUDGET_S
    ) -> None:
        self._case_s = case_s
        self._test_s = test_s
        self._budget_s = budget_s
        self._costs_s: defaultdict[str, float] = defaultdict(float)
        self._measured_s = 0.0
        self._slowness: list[float] = []
        self._is_limited = not takes_all(config)
        self._is_whole = self._is_limited and config.args_source is pytest.Config.ArgsSource.TESTPATHS

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None]:
        """Fails a dear case that is not named as slow. What it is given, and shares with others, is not counted."""
        before_s = spent_s() - SHARED.spent_s
        yield
        cost_s = spent_s() - SHARED.spent_s - before_s
        if time.monotonic() - self._measured_s > _MEASURED_EVERY_S:
            self._measured_s = time.monotonic()
            item.user_properties.append((_SLOWNESS, _loop_s() / _REFERENCE_S))
        if item.get_closest_marker("slow") is not None:
            return
        item.user_properties.append((_COST_S, cost_s))
        if self._is_limited and cost_s > self._case_s and cost_s > self._case_s * slowness():
            pytest.fail(
                f"It cost {cost_s:.1f} s of a processor: make it cheaper, or name it in tests/slow.toml.", False
            )

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Adds up what the cases of a test cost, and hears how slow the machine was then."""
        if report.when == "call":
            told = {name: value for name, value in report.user_properties if isinstance(value, float)}
            self._costs_s[report.nodeid.partition("[")[0]] += told.get(_COST_S, 0.0)
            if _SLOWNESS in told:
                self._slowness.append(told[_SLOWNESS])

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None]:
        """Fails a whole run that costs too much, when its processes have ended."""
        yield
        if session.exitstatus == pytest.ExitCode.OK and self._is_over_budget():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Says what the run cost, and what to do about it."""
        is_over = self._is_over_budget()
        most = f", and may be {self._budget_s:,.0f} s of the latter: see tests/slow.toml" if is_over else ""
        quick_s = spent_s() / self._slowness_of_run()
        terminalreporter.write_line(
            f"processor time: {spent_s():,.0f} s, {quick_s:,.0f} s on a quicker machine{most}", red=is_over
        )
        if not self._is_whole:
            return
        for name, cost_s in sorted(self._costs_s.items(), key=lambda cost: -cost[1])[:_TOLD]:
            if cost_s > self._test_s:
                terminalreporter.write_line(f"{cost_s:6.1f} s {name} is dear and not named in tests/slow.toml")

    def _is_over_budget(self) -> bool:
        return self._is_whole and spent_s() > self._budget_s * self._slowness_of_run()

    def _slowness_of_run(self) -> float:
        return max(1.0, median(self._slowness)) if self._slowness else slowness()
