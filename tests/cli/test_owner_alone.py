"""What the command line writes is its owner's alone, whatever the umask of the caller."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from noarkit.cli.main import main

JOURNEY = (
    ("init",),
    ("plan", "mapper", "-o", "run"),
    ("ingest", "run"),
    ("verify", "run"),
    ("extract", "-o", "uttrekk"),
    ("extract", "-o", "uttrekk.zip"),
    ("convert", "mapper", "--as", "bagit", "-o", "bag"),
    ("convert", "mapper", "--as", "eark-sip", "-o", "sip.tar"),
    ("convert", "mapper", "--as", "dias-sip", "-o", "dias"),
)


def _ends(command: tuple[str, ...]) -> set[int]:
    return {3} if command[0] == "extract" else {0}  # without the official schemas it is not depositable


@pytest.fixture
def caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder to work in, and a caller whose umask hides nothing."""
    monkeypatch.chdir(tmp_path)
    Path("mapper/sak 1").mkdir(parents=True)
    Path("mapper/sak 1/brev.txt").write_text("Hei")
    old = os.umask(0)
    yield tmp_path
    os.umask(old)


def shared(place: Path) -> set[str]:
    """Files and folders that others than their owner may use."""
    return {
        str(path.relative_to(place))
        for path in place.rglob("*")
        if not path.is_relative_to(place / "mapper") and stat.S_IMODE(path.lstat().st_mode) & 0o077
    }


def test_a_journey_leaves_nothing_that_others_may_read(caller: Path) -> None:
    for command in JOURNEY:
        assert main([*command], {}) in _ends(command), command
    assert shared(caller) == set()
    assert os.umask(0) == 0, "the caller's own umask is as it was"


def test_a_mode_opens_packages_and_no_more(caller: Path) -> None:
    for command in (*JOURNEY[:3], *JOURNEY[4:]):
        assert main([*command, "--mode", "0640"], {}) in _ends(command), command
    opened = shared(caller)
    tops = {name.split("/")[0] for name in opened}
    assert {"uttrekk", "uttrekk.zip", "bag", "sip.tar", "dias"} <= tops
    assert tops.isdisjoint({"run"})
    for name in opened:
        assert stat.S_IMODE((caller / name).lstat().st_mode) & 0o027 == 0, name


def test_an_archive_that_was_open_to_others_is_closed_to_them_when_it_is_served(caller: Path) -> None:
    Path("noarkit-archive").mkdir(mode=0o755)
    assert main(["plan", "mapper", "-o", "run"], {}) == 0
    assert main(["ingest", "run"], {}) == 0
    assert stat.S_IMODE(Path("noarkit-archive").stat().st_mode) == 0o700
