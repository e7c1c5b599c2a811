"""What all tests share: the reference tables, where they are at hand, and no silent skip in CI."""

from __future__ import annotations

import gc
import os
import shutil
import sys
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.ordering import DurationRecorder, shuffle_files
from tests.processor_time import ProcessorTime
from tests.slow import SlowTests, commit_of, read_list

if TYPE_CHECKING:
    from xdist.remote import Producer  # type: ignore[import-untyped]  # it tells no types
    from xdist.scheduler import Scheduling  # type: ignore[import-untyped]  # as above

    from tests.browser import Browser, Page

# How long an example takes says how busy the machine is, nothing of what is tested.
settings.register_profile("noarkit", deadline=None)
settings.load_profile("noarkit")

ROOT = Path(__file__).resolve().parent.parent
MEMORY = Path("/dev/shm")
PLENTY_BYTES = 8 << 30


def pytest_addoption(parser: pytest.Parser) -> None:
    """An order of files that nobody chose, and all tests."""
    parser.addoption("--shuffle", type=int, metavar="SEED", help="take the files in an order drawn by this seed")
    parser.addoption("--all", action="store_true", help="take all slow tests, and not a sixteenth of them")


def pytest_configure(config: pytest.Config) -> None:
    """Before all tests: where their folders lie, what Python compiles, and how long they take."""
    _use_memory(config)
    _keep_bytecode()
    config.pluginmanager.register(SlowTests(read_list(), commit_of(ROOT)))
    config.pluginmanager.register(ProcessorTime(config))
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(DurationRecorder(config))


def _use_memory(config: pytest.Config) -> None:
    """The folders of tests lie in memory where it is plenty: no test waits for a disk to keep what is deleted after it.

    --basetemp puts them elsewhere.
    """
    if config.option.basetemp is None and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= PLENTY_BYTES:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


def _keep_bytecode() -> None:
    """The processes of the tests keep what Python compiles, also where the environment says that none may.

    Else each compiles the package anew, which takes longer than what most of them do. It lies where Python looks for
    it: libraries, which were compiled when they were installed, need no more, and children in sandboxes find it too.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False


def reference_folder() -> Path | None:
    """Where the tables lie that others read out of the standard; NOARKIT_REFERENCE names them."""
    named = Path(os.environ.get("NOARKIT_REFERENCE") or ROOT.parent / "shared")
    place = named / "reference" if (named / "reference").is_dir() else named
    return place if (place / "archive-object-types.json").is_file() else None


@pytest.fixture(scope="session")
def reference() -> Path:
    """The folder of reference tables; a test that asks for it is left out where there is none."""
    place = reference_folder()
    if place is None:
        pytest.skip("no reference tables: NOARKIT_REFERENCE names no folder that holds them")
    return place


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """CI has no reference tables unless it names them: tests against them are deselected there, and counted as that."""
    if config.option.shuffle is not None:
        shuffle_files(items, config.option.shuffle)
    if os.environ.get("NOARKIT_CI") != "1" or os.environ.get("NOARKIT_REFERENCE") or reference_folder() is not None:
        return
    asking = [item for item in items if "reference" in getattr(item, "fixturenames", ())]
    config.hook.pytest_deselected(items=asking)
    items[:] = [item for item in items if item not in asking]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Modules and tests are there until the end, so no garbage is looked for among them, now or later: to look through
    all of them again and again took a third of the time of collecting and a sixth of that of the tests."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling:
    """The longest files first; tests/ordering.py says which are run by one process."""
    from tests.ordering import LongestFirst

    return LongestFirst(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In CI a test that was not run proves nothing: a skip is a failure."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("NOARKIT_CI") == "1":
        report.outcome = "failed"
        report.longrepr = f"skipped, which NOARKIT_CI=1 forbids: {report.longrepr}"
    return report


_WRITTEN_WRONG: list[str] = []


@pytest.fixture(scope="session", autouse=True)
def events_are_declared() -> Generator[None]:
    """Each line that a command writes here with --json holds what its event declares, and no more."""
    from tests.closed_events import held_lines

    with held_lines(_WRITTEN_WRONG):
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """A test during which, or to prepare which, a line was written that its event does not declare, fails."""
    try:
        yield
    finally:
        flaws = [_WRITTEN_WRONG.pop() for _ in range(len(_WRITTEN_WRONG))][::-1]
    if flaws:
        from tests.closed_events import describe

        pytest.fail(f"{item.nodeid}: {describe(flaws)}", pytrace=False)


@pytest.fixture(scope="session", autouse=True)
def archives_begin_at_once() -> Generator[None]:
    """Embedded archives are forked where everything is imported already; tests/test_embedded.py starts real ones."""
    from tests.forked import forked_archives

    with forked_archives():
        yield


@pytest.fixture
def one_archive(request: pytest.FixtureRequest) -> Generator[None]:
    """Keeps an embedded archive running between the steps of a test, unless the test moves it away."""
    if request.node.get_closest_marker("moves_archive") is not None:
        yield
        return
    from noarkit.embedded import keep_services

    with keep_services():
        yield


@pytest.fixture(scope="session")
def browser() -> Generator[Browser]:
    """A Chromium for all tests of this process; left out, with what to do, where there is none or no axe-core."""
    from tests.browser import AXE, Browser, find_chromium

    if find_chromium() is None or not AXE.is_file():
        pytest.skip("no Chromium or no axe-core here: scripts/browser-tools installs both")
    with Browser() as started:
        yield started


@pytest.fixture
def page(browser: Browser) -> Generator[Page]:
    """An empty page in a window of its own, 1280 pixels wide and light."""
    with browser.new_page() as opened:
        yield opened
