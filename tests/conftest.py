"""What all tests share: the reference tables, where they are at hand, and no silent skip in CI."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from xdist.remote import Producer  # type: ignore[import-untyped]  # it tells no types
    from xdist.scheduler import Scheduling  # type: ignore[import-untyped]  # as above

# How long an example takes says how busy the machine is, nothing of what is tested.
settings.register_profile("noarkit", deadline=None)
settings.load_profile("noarkit")

ROOT = Path(__file__).resolve().parent.parent
SERVER = "tests/server"
MEMORY = Path("/dev/shm")
PLENTY_BYTES = 8 << 30


def pytest_configure(config: pytest.Config) -> None:
    """Before all tests: where their folders lie, and what Python compiles."""
    _use_memory(config)
    _share_bytecode(config)


def _use_memory(config: pytest.Config) -> None:
    """The folders of tests lie in memory where it is plenty: no test waits for a disk to keep what is deleted after it.

    --basetemp puts them elsewhere.
    """
    if config.option.basetemp is None and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= PLENTY_BYTES:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


def _share_bytecode(config: pytest.Config) -> None:
    """The processes of the tests share what Python compiles, also where the environment says that none may keep it.

    Else each compiles the package anew, which takes longer than what most of them do. Nothing is left behind, and
    nothing is written beside the sources.
    """
    if not sys.dont_write_bytecode or os.environ.get("PYTHONPYCACHEPREFIX"):
        return
    folder = tempfile.mkdtemp(prefix="noarkit-bytecode-")
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = folder
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
    if os.environ.get("NOARKIT_CI") != "1" or os.environ.get("NOARKIT_REFERENCE") or reference_folder() is not None:
        return
    asking = [item for item in items if "reference" in getattr(item, "fixturenames", ())]
    config.hook.pytest_deselected(items=asking)
    items[:] = [item for item in items if item not in asking]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling:
    """A file is run by one process, whole; the tests of the server share an archive, and one process runs them all."""
    from xdist.scheduler import LoadFileScheduling

    class ByArchive(LoadFileScheduling):  # type: ignore[misc]  # as above
        def _split_scope(self, nodeid: str) -> str:
            place = str(super()._split_scope(nodeid))
            return SERVER if place.startswith(f"{SERVER}/") else place

    return ByArchive(config, log)


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


@pytest.fixture
def one_archive(request: pytest.FixtureRequest) -> Generator[None]:
    """Keeps an embedded archive running between the steps of a test, unless the test moves it away."""
    if request.node.get_closest_marker("moves_archive") is not None:
        yield
        return
    from noarkit.embedded import keep_services

    with keep_services():
        yield
