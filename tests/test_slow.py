"""A run takes a sixteenth of the slow tests, another one with each commit; and all that whoever starts it asks for."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.services.mutants import MUTANTS
from tests.slow import ROOT, SHARE, commit_of, drawn_by, is_drawn, read_list

pytest_plugins = ["pytester"]

CONFTEST = """
from tests.slow import SlowTests

def pytest_addoption(parser):
    parser.addoption("--all", action="store_true")

def pytest_configure(config):
    config.addinivalue_line("markers", "slow: slow")
    names = {"test_step", "TestLong::test_other"}
    config.pluginmanager.register(SlowTests({"test_sweep.py": names, "test_DRAWN.py": {"test_drawn"}}, "a commit"))
"""
DRAWN = next(f"{number}" for number in range(99) if is_drawn(f"test_{number}.py", drawn_by("a commit")))
assert not is_drawn("test_sweep.py", drawn_by("a commit"))
SWEEP = """
import pytest

@pytest.mark.parametrize("step", range(16))
def test_step(step):
    pass

class TestLong:
    def test_other(self):
        pass

def test_quick():
    pass
"""


@pytest.fixture
def folder(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Seventeen slow cases of a file that is not drawn, one that is not slow, and two slow ones of a file that is."""
    monkeypatch.delenv("NOARKIT_DEEP", raising=False)
    pytester.makeconftest(CONFTEST.replace("DRAWN", DRAWN))
    drawn = "import pytest\n\n@pytest.mark.parametrize('n', range(2))\ndef test_drawn(n):\n    pass\n"
    pytester.makepyfile(**{"test_sweep": SWEEP, f"test_{DRAWN}": drawn})
    return pytester


@pytest.mark.parametrize(
    ("words", "taken", "left_out"),
    [
        ((), 3, 17),
        (("test_sweep.py",), 18, 0),
        (("test_sweep.py::test_step[7]",), 1, 0),
        (("-n", "1"), 3, 17),
        (("-n", "1", "--all"), 20, 0),
        (("--all",), 20, 0),
        (("-k", "step"), 16, 4),
        (("-m", "slow"), 19, 1),
    ],
)
def test_a_folder_is_run_by_a_sixteenth_and_what_is_asked_for_is_run_whole(
    folder: pytest.Pytester, words: tuple[str, ...], taken: int, left_out: int
) -> None:
    folder.runpytest_inprocess("-p", "no:cacheprovider", *words).assert_outcomes(passed=taken, deselected=left_out)


def test_the_deep_run_takes_all(folder: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOARKIT_DEEP", "1")
    folder.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=20)


def test_the_first_lines_say_what_is_left_out_and_how_it_is_run(folder: pytest.Pytester) -> None:
    told = folder.runpytest_inprocess("-p", "no:cacheprovider")
    told.stdout.fnmatch_lines("slow tests: those of a sixteenth of the files, drawn by commit a commit*")


def test_sixteen_draws_take_each_file_once() -> None:
    files = list(read_list())
    assert Counter(file for draw in range(SHARE) for file in files if is_drawn(file, draw)) == dict.fromkeys(files, 1)
    assert min(sum(is_drawn(file, draw) for file in files) for draw in range(SHARE)) > len(files) / SHARE / 2
    assert {drawn_by(f"{number:040x}") for number in range(200)} == set(range(SHARE))


def test_where_there_is_no_checkout_the_draw_is_the_same_each_time(tmp_path: Path) -> None:
    assert commit_of(tmp_path / "nowhere") == ""


def test_each_slow_test_exists() -> None:
    gone = [f"{file}::{name}" for file, names in read_list().items() for name in sorted(names - _tests_in(ROOT / file))]
    assert gone == [], "tests/slow.toml names what is not there"


def _tests_in(file: Path) -> set[str]:
    if not file.is_file():
        return set()
    found: set[str] = set()
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{inner.name}" for inner in node.body if isinstance(inner, ast.FunctionDef)}
    return found


def test_no_mutant_is_found_by_a_slow_test_alone() -> None:
    slow = {f"{file}::{name}" for file, names in read_list().items() for name in names}
    found_by = {mutant.found_by.partition("[")[0]: name for name, mutant in MUTANTS.items()}
    assert {test: found_by[test] for test in slow & found_by.keys()} == {}, "write a smaller one, or leave it quick"
