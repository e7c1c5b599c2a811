"""The share of samples/deposit is what its list says, and its walk-through runs as its README has it."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from noarkit.cli.main import main
from samples.deposit.make import MAILBOX, YEARS, make
from tests.walks import SAMPLES, commands


def listed(root: Path) -> dict[str, tuple[int, int]]:
    """Size and time of everything below a folder that is no folder itself; links and pipes have the time of today."""
    paths = [path for path in root.rglob("*") if path.is_symlink() or not path.is_dir()]
    states = {os.fspath(path.relative_to(root)): path.lstat() for path in paths}
    return {name: (state.st_size, state.st_mtime_ns * stat.S_ISREG(state.st_mode)) for name, state in states.items()}


def test_the_share_has_the_entries_of_its_list_and_is_the_same_each_time(tmp_path: Path) -> None:
    share, again = make(tmp_path / "a"), make(tmp_path / "b")
    assert listed(share.root) == listed(again.root)
    assert {*listed(share.root)} == {*share.files, *share.left_out}
    assert all((share.root / path).read_bytes() == (again.root / path).read_bytes() for path in share.files)
    assert (share.entries, len(share.files), len(share.left_out)) == (612, 604, 8)
    assert (share.records, share.documents) == (803, 853)
    assert (len(share.cases), len(share.register), len(share.screened)) == (60, 60, 6)
    assert (share.mails.total(), share.mails["I"] + share.mails["U"]) == (122, 61)
    assert sum(number is not None for number, _ in share.messages) == 187
    years = share.records_by_year(MAILBOX)
    assert {*years} == {*YEARS}
    assert years.total() == share.records


def test_the_commands_of_the_walk_through_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (make_words, *others) = commands("deposit")
    subprocess.run(
        [sys.executable, *make_words[1:-1], str(tmp_path / make_words[-1])],
        check=True,
        capture_output=True,
        cwd=SAMPLES.parent,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        for words in others:
            assert main([*words[1:], "--progress", "none"], {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}) == 0
    assert "recipe" in capsys.readouterr().out
