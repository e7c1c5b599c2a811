"""Which tests a run takes. Those that `slow.toml` names are slow: a run of folders takes those of a sixteenth of files.

Which sixteenth is drawn by the commit: sixteen draws take every file once, and no two runs of a commit differ. The
slow tests of a file are taken together, or none of them: some go on where the one before them ended. Who names a file
or a test, or chooses with -k, -m or --lf, gets all that was chosen; --all and NOARKIT_DEEP=1 take all.
"""

from __future__ import annotations

import os
import subprocess
import tomllib
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController  # type: ignore[import-untyped]  # it tells no types

ROOT = Path(__file__).resolve().parent.parent
LIST = Path(__file__).with_name("slow.toml")
_LEFT_OUT = "left_out"
SHARE = 16
"""The slow tests of one of so many files are taken."""


def read_list(path: Path = LIST) -> Mapping[str, frozenset[str]]:
    """The names of the slow tests of each file, as `pytest` spells both, without what stands in brackets."""
    files = tomllib.loads(path.read_text("utf-8"))
    return {f"tests/{file}": frozenset(names) for file, names in files.items()}


def name_of(item: pytest.Item) -> str:
    """A test as the list names it: the function, with its class before it."""
    return item.nodeid.partition("[")[0].partition("::")[2]


def commit_of(checkout: Path) -> str:
    """The commit that is checked out; nothing where there is none, as in an unpacked archive."""
    with suppress(OSError):
        told = subprocess.run(["git", "rev-parse", "HEAD"], cwd=checkout, capture_output=True, text=True, check=False)
        return told.stdout.strip() if told.returncode == 0 else ""
    return ""


def drawn_by(commit: str) -> int:
    """Which sixteenth a commit draws."""
    return zlib.crc32(commit.encode()) % SHARE


def is_drawn(file: str, draw: int) -> bool:
    """True for a file whose slow tests a draw takes: one draw of sixteen."""
    return zlib.crc32(file.encode()) % SHARE == draw


@dataclass
class LeftOut:
    """A case that a process of the tests left out, as the process that counts them knows it."""

    nodeid: str


class SlowTests:
    """Marks what is slow, and leaves out what this run does not take."""

    def __init__(self, listed: Mapping[str, frozenset[str]], commit: str) -> None:
        self._listed = listed
        self._commit = commit

    def pytest_report_header(self, config: pytest.Config) -> str:
        """Says which of the slow tests are run, and how all of them are."""
        if takes_all(config):
            return "slow tests: all that are chosen"
        drawn = f"drawn by commit {self._commit[:8]}" if self._commit else "the same each time, for want of a commit"
        return f"slow tests: those of a sixteenth of the files, {drawn}; all with --all, some by their names"

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Before others choose among the cases of a file, so that it does not matter what they leave."""
        left_out = self._mark(items, named_files(config))
        if left_out and not takes_all(config):
            config.hook.pytest_deselected(items=left_out)
            if (output := getattr(config, "workeroutput", None)) is not None:
                output[_LEFT_OUT] = [item.nodeid for item in left_out]
            gone = set(left_out)
            items[:] = [item for item in items if item not in gone]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: WorkerController) -> None:
        """Counts what processes of the tests have left out: each of them the same."""
        left_out = getattr(node, "workeroutput", {}).get(_LEFT_OUT, ())
        reporter = node.config.pluginmanager.get_plugin("terminalreporter")
        if left_out and reporter is not None:
            reporter.stats["deselected"] = [LeftOut(nodeid) for nodeid in left_out]

    def _mark(self, items: Sequence[pytest.Item], named: frozenset[Path]) -> list[pytest.Item]:
        draw, left_out = drawn_by(self._commit), []
        for item in items:
            file = item.nodeid.partition("::")[0]
            if name_of(item) not in self._listed.get(file, ()):
                continue
            item.add_marker("slow")
            if not is_drawn(file, draw) and item.path not in named:
                left_out.append(item)
        return left_out


def takes_all(config: pytest.Config) -> bool:
    """True where all slow tests are wanted, or whoever started the run chose among the tests."""
    options = config.option
    chosen = (options.keyword, options.markexpr, getattr(options, "lf", False), getattr(options, "stepwise", False))
    return bool(options.all or os.environ.get("NOARKIT_DEEP") == "1" or any(chosen))


def named_files(config: pytest.Config) -> frozenset[Path]:
    """The files of which one, or a test in one, was asked for."""
    places = (config.invocation_params.dir / argument.partition("::")[0] for argument in config.args)
    return frozenset(place.resolve() for place in places if place.is_file())
