"""A plan and an ingest of a connection, killed without warning at sampled steps: the same command again ends with the
same archive as one that was left alone."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

import noarkit
from noarkit.standins.serving import Wish
from tests.connectors.standing import Standing, standing

Reached = Callable[[Standing, Path], bool]


def calls(held: Standing) -> int:
    """How many calls the stand-in answered."""
    limits = held.control("counts")["limits"]
    assert isinstance(limits, dict)
    return int(limits["calls"])


POINTS: dict[str, Reached] = {
    "while the service is listed": lambda held, run: calls(held) >= 12,
    "when the plan stands": lambda held, run: (run / "plan.json").exists(),
    "while the archive is loaded": lambda held, run: (run / "run.db").exists() and calls(held) >= 38,
}


def begun(held: Standing, folder: Path) -> subprocess.Popen[bytes]:
    """The command that plans, loads, and goes on where it stopped."""
    command = [sys.executable, "-m", "noarkit", "ingest", "crm:standin", "-o", str(folder / "run"), "--workers", "1"]
    command += ["--archive", f"embedded:{folder / 'archive'}", "--config", str(held.config), "--progress", "none"]
    environment = {**held.environment, "PATH": os.environ["PATH"]}
    log = (folder / "log").open("ab")
    with log:
        return subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)


def keys(run: Path) -> list[str]:
    """What the archive holds, as the run knows it."""
    with (run / "ids.csv").open(encoding="utf-8-sig", newline="") as file:
        return sorted(row["key"] for row in csv.DictReader(file, delimiter=";"))


@pytest.mark.parametrize("point", POINTS)
def test_killed_at_a_step_the_same_command_again_gives_the_same_archive(tmp_path: Path, point: str) -> None:
    with standing("crm", tmp_path, Wish(4)) as held:
        process = begun(held, tmp_path)
        until = time.monotonic() + 60
        while process.poll() is None and not POINTS[point](held, tmp_path / "run") and time.monotonic() < until:
            time.sleep(0.02)
        with suppress(ProcessLookupError):  # it may have been quicker
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(30)
        assert process.returncode in (-signal.SIGKILL, 0), (tmp_path / "log").read_text()

        again = begun(held, tmp_path)
        assert again.wait(90) == 0, (tmp_path / "log").read_text()
        archive = f"embedded:{tmp_path / 'archive'}"
        assert noarkit.verify(tmp_path / "run", depth="bytes", settings=held.site(archive)).good
        alone = tmp_path / "alone"
        noarkit.plan("crm:standin", alone, archive=f"embedded:{tmp_path / 'other'}", settings=held.site())
        whole = noarkit.ingest(alone, archive=f"embedded:{tmp_path / 'other'}", workers=1, settings=held.site())
        assert keys(tmp_path / "run") == keys(alone)
        assert len(keys(alone)) == whole.numbers.archived
