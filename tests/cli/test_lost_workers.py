"""Workers that a site's own check kills, on the command line: items are set aside, and a retry loads them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from noarkit.embedded import EmbeddedArchive, open_embedded
from tests.cli.elsewhere import environment
from tests.forked import run_forked
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.usefixtures("one_archive")


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[EmbeddedArchive]:
    """An archive that runs."""
    with open_embedded(tmp_path / "archive", client_id="admin") as running:
        yield running


def test_a_file_that_kills_its_worker_twice_sets_its_part_aside_and_is_loaded_by_a_retry(
    archive: EmbeddedArchive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b", "c"):
        path = Path("files") / name / f"{name}.txt"
        path.parent.mkdir(parents=True)
        path.write_text("POISON" if name == "b" else name)
        os.utime(path, (1_600_000_000, 1_600_000_000))
    Path("noarkit.toml").write_text("[archive]\ntransaction_deadline_s = 1\n")
    check = tmp_path / "check"
    check.write_text("#!/bin/sh\nif grep -q POISON; then kill -9 $PPID; sleep 5; fi\n")
    check.chmod(0o700)

    def call(*arguments: str) -> tuple[int, list[dict[str, object]]]:
        # a process of its own, without threads of a test runner: only there are workers children, which alone may die
        variables = {**environment(tmp_path), "NOARKIT_ARCHIVE": f"embedded:{archive.data_dir}"}
        done = run_forked(["noarkit", "--json", *arguments], env=variables, cwd=tmp_path, timeout=PATIENCE_S)
        return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]

    assert call("plan", "files", "-o", "run")[0] == 0
    code, lines = call("ingest", "run", "--workers", "1", "--check-command", str(check))
    names = [line["event"] for line in lines]
    assert (code, lines[-1]["state"], lines[-1]["set_aside"]) == (3, "done", 3), lines[-3:]
    assert (names.count("shard_handed_on"), names.count("shard_set_aside")) == (1, 1)
    fault = next(line for line in lines if line["event"] == "fault")
    assert (fault["code"], fault["exit"]) == ("F432", 3)
    status = next(line for line in call("status", "run")[1] if line["event"] == "status")
    assert status["losses"] == {"handed_on": 1, "set_aside": 1}
    assert json.loads(Path("run/report.json").read_text())["lost_workers"] == {"handed_on": 1, "set_aside": 1}
    assert "F432" in Path("run/set-aside.csv").read_text("utf-8")
    code, lines = call("retry", "run", "--fault", "F432", "--workers", "1")
    assert (code, lines[-1]["archived"], lines[-1]["set_aside"]) == (0, 3, 0)
    assert call("verify", "run", "--depth", "bytes")[0] == 0
