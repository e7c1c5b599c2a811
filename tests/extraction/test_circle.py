"""The hardest test: what is extracted, loaded into another archive and extracted again is the same, byte for byte."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import noarkit
from noarkit.extraction.run import ExtractSettings, extract, work_folder
from noarkit.forms.validation import validate
from tests.extraction.rich import fill
from tests.extraction.test_extract import contents
from tests.extraction.world import world
from tests.forked import DEVNULL, Forked


def test_extracted_loaded_elsewhere_and_extracted_again_it_is_the_same_byte_for_byte(tmp_path: Path) -> None:
    with world(tmp_path / "a") as live:
        fill(live.archive)
        first = extract(live.archive, tmp_path / "first", ExtractSettings(change_log="from-archive")).package
    assert validate(first).valid
    noarkit.plan(first, tmp_path / "run")
    other = f"embedded:{tmp_path / 'b'}"
    assert noarkit.ingest(tmp_path / "run", archive=other).state == "done"
    users = noarkit.ExtractOptions(change_log="from-archive")  # each archive logs that it was closed, at its own time
    second = noarkit.extract(tmp_path / "second", users, archive=other).package
    assert contents(second) == contents(first)


def test_killed_the_same_command_ends_in_the_same_bytes(tmp_path: Path) -> None:
    with world(tmp_path / "a") as live:
        fill(live.archive)
        whole = contents(extract(live.archive, tmp_path / "whole", ExtractSettings()).package)
    target = tmp_path / "killed"
    line = ["noarkit", "extract", "-o", target, "--archive", f"embedded:{tmp_path / 'a'}"]
    kills = 0
    for _ in range(20):
        process = Forked(line, stdout=DEVNULL, stderr=DEVNULL, cwd=tmp_path)
        if _came_further(process, target, kills):
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
            assert not target.exists() or contents(target) == whole
            continue
        assert process.returncode == 3, "made, and not depositable without the official schemas"
        break
    assert kills >= 2
    assert contents(target) == whole
    assert not work_folder(target).exists()


def _came_further(process: Forked, target: Path, kills: int) -> bool:
    """True once the run has made as much as it shall be killed at: its folder, its store, its first XML."""
    marks = ("extract.lock", "fetched.db", "package/arkivstruktur.xml")
    while process.poll() is None:
        if kills < len(marks) and (work_folder(target) / marks[kills]).exists():
            return True
        time.sleep(0.002)
    return False
