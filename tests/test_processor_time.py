"""A case that costs much and is not named as slow fails, and so does a run of all that costs more than its budget."""

from __future__ import annotations

import time

import pytest

from tests import processor_time
from tests.processor_time import SharedWork, slowness, spent_s

pytest_plugins = ["pytester"]

CONFTEST = """
from tests import processor_time
from tests.processor_time import ProcessorTime

def pytest_addoption(parser):
    parser.addoption("--all", action="store_true")

def pytest_configure(config):
    config.addinivalue_line("markers", "slow: slow")
    config.pluginmanager.register(ProcessorTime(config, **{limits}))
"""
CASES = """
import time, pytest

def work():
    began = time.process_time()
    while time.process_time() - began < 0.2:
        pass

@pytest.fixture
def dear():
    work()

@pytest.mark.slow
def test_named():
    work()

def test_dear():
    work()

def test_given(dear):
    pass

def test_waits():
    time.sleep(0.3)
"""


def run(pytester: pytest.Pytester, *words: str, **limits: float) -> pytest.RunResult:
    """Runs four cases with other limits."""
    pytester.makeconftest(CONFTEST.format(limits=limits))
    pytester.makeini("[pytest]\ntestpaths = .")
    pytester.makepyfile(CASES)
    return pytester.runpytest_inprocess("-p", "no:cacheprovider", *words)


@pytest.fixture(autouse=True)
def ordinary(monkeypatch: pytest.MonkeyPatch) -> None:
    """The inner runs are no deep ones."""
    monkeypatch.delenv("NOARKIT_DEEP", raising=False)


def test_a_dear_case_that_is_not_named_fails_and_one_that_waits_does_not(pytester: pytest.Pytester) -> None:
    done = run(pytester, case_s=0.02 / slowness())
    done.assert_outcomes(failed=1, passed=3)
    done.stdout.fnmatch_lines("It cost 0.* s of a processor: make it cheaper, or name it in tests/slow.toml.")


def test_where_all_are_taken_none_is_too_dear(pytester: pytest.Pytester) -> None:
    run(pytester, "--all", case_s=0.0, budget_s=0.0).assert_outcomes(passed=4)


@pytest.mark.parametrize(("budget_s", "words", "code"), [(0.1, (), 1), (1e9, (), 0), (0.1, (".",), 0)])
def test_a_whole_run_over_its_budget_fails(
    pytester: pytest.Pytester, budget_s: float, words: tuple[str, ...], code: int
) -> None:
    done = run(pytester, *words, budget_s=budget_s / slowness())
    assert done.ret == code
    assert ("may be 0 s of the latter: see tests/slow.toml" in done.stdout.str()) is bool(code)
    done.stdout.fnmatch_lines("processor time: * s*")


def test_a_machine_that_is_slow_while_tests_run_is_not_blamed_on_them(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processor_time, "_loop_s", lambda: 1.5)
    monkeypatch.setattr(processor_time, "slowness", lambda: 1.0)  # before and after it is quick
    assert run(pytester, budget_s=spent_s() / 10).ret == 0


def test_a_whole_run_names_the_dear_tests_that_are_not_listed(pytester: pytest.Pytester) -> None:
    told = run(pytester, test_s=0.1).stdout
    told.fnmatch_lines("*0.* s *::test_dear is dear and not named in tests/slow.toml")
    told.no_fnmatch_line("*test_named is dear*")


def test_a_machine_is_never_told_to_be_faster_than_it_is_and_children_are_counted() -> None:
    assert slowness() >= 1.0
    before_s = spent_s()
    began = time.process_time()
    while time.process_time() - began < 0.05:
        pass
    assert spent_s() - before_s >= 0.03


def test_work_that_is_shared_is_not_paid_by_the_first_test_that_wants_it() -> None:
    shared = SharedWork()
    before_s = spent_s()
    with shared.counted(), shared.counted():
        sum(range(3_000_000))
    cost_s = spent_s() - before_s
    assert 0 < shared.spent_s <= cost_s + 0.02, "work within such work is counted once"
