"""An ingest of a security service, killed without warning at a call it makes there: the same command again ends with
what one comes to that is left alone, reports that are made anew with each order included, and a run after it finds
nothing to do.

The ordinary suite kills at two calls; NOARKIT_DEEP=1 at every one.
"""

from __future__ import annotations

import csv
import json
import os
import signal
from collections import Counter
from contextlib import suppress
from pathlib import Path

import httpx

from noarkit.services.standins.server import StandinSpec
from tests.faults.world import DEEP
from tests.forked import Forked
from tests.services.scripted import Asked, ScriptedService, Told
from tests.services.standing import Standing, standing
from tests.waiting import PATIENCE_S

# one scan that ended and one that runs, with a few findings, each decided about, and a day of the audit trail
SMALL = {"scans": "2", "decided": "100", "audit-days": "2", "audit-a-day": "1", "job-polls": "1"}


class Door:
    """The service behind a door that counts its calls: who asks is killed before it has the answer to a chosen one."""

    def __init__(self, held: Standing, folder: Path) -> None:
        self.calls = 0
        self._held = held
        self._folder = folder
        self._kill_at = 0
        self._running: Forked | None = None
        self.service = ScriptedService(self._passed_on)
        self._config = folder / "noarkit.toml"
        self._config.write_text(held.config.read_text("utf-8").replace(held.url, self.service.url))

    def ingest(self, home: Path, run: str, kill_at: int = 0) -> int:
        """The command, in a home of its own; its exit code."""
        self.calls, self._kill_at = 0, kill_at
        line = ["noarkit", "ingest", "appsec:standin", "-o", str(home / run), "--workers", "1"]
        line += ["--archive", f"embedded:{home / 'archive'}", "--config", str(self._config), "--progress", "none"]
        environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
        with (self._folder / "log").open("ab") as log:
            self._running = Forked(line, cwd=home.parent, env=environment, stdout=log, stderr=log, new_session=True)
        try:
            return self._running.wait(PATIENCE_S)
        finally:
            self._kill()

    def log(self) -> str:
        """What the commands wrote."""
        return (self._folder / "log").read_text()[-3_000:]

    def _kill(self) -> None:
        if self._running is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._running.pid, signal.SIGKILL)

    def _passed_on(self, asked: Asked) -> Told:
        self.calls += 1
        if self.calls == self._kill_at:
            self._kill()
        headers = {name: text for name, text in asked.headers.items() if name not in ("host", "content-length")}
        answer = httpx.request(
            asked.method, self._held.url + asked.path, params=dict(asked.query), headers=headers, content=asked.body,
            trust_env=False, timeout=PATIENCE_S,
        )  # fmt: skip
        return Told(answer.status_code, answer.content, {"Content-Type": "application/json"})


def come_to(run: Path) -> tuple[Counter[str], dict[str, int]]:
    """What a run archived, by key, and its numbers."""
    with (run / "ids.csv").open(encoding="utf-8-sig", newline="") as file:
        keys = Counter(row["key"] for row in csv.DictReader(file, delimiter=";"))
    numbers = json.loads((run / "report.json").read_text("utf-8"))["numbers"]
    return keys, {name: numbers[name] for name in ("read", "archived", "new_versions", "set_aside", "skipped")}


def test_killed_at_a_call_the_same_command_again_gives_the_same_archive(tmp_path: Path) -> None:
    with standing("appsec", tmp_path / "standin", StandinSpec(6, limits=(), options=SMALL)) as held:
        door = Door(held, tmp_path)
        try:
            assert door.ingest(tmp_path / "alone", "run") == 0, door.log()
            wanted = come_to(tmp_path / "alone" / "run")
            assert {key.split(":")[1] for key in wanted[0]} == {"project", "scan", "triage", "audit"}
            assert set(wanted[0].values()) == {1}
            # what the service worked out for the first it knows by now: the next makes as many calls as those killed
            assert door.ingest(tmp_path / "next", "run") == 0, door.log()
            assert come_to(tmp_path / "next" / "run") == wanted
            calls = door.calls
            for at in range(1, calls + 1) if DEEP else (calls // 2, calls):
                home = tmp_path / f"{at:03}"
                assert door.ingest(home, "run", at) == -signal.SIGKILL, (at, door.log())
                assert door.ingest(home, "run") == 0, (at, door.log())
                assert come_to(home / "run") == wanted, at
                assert door.ingest(home, "after") == 0, (at, door.log())
                numbers = come_to(home / "after")[1]
                assert (numbers["archived"], numbers["new_versions"], numbers["set_aside"]) == (0, 0, 0), at
        finally:
            door.service.close()
