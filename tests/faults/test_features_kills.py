"""A run of a feature-management service, killed without warning at a call it makes there and once more while the
archive is loaded: the same command again comes to what one comes to that is left alone, deletions told and all."""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from noarkit.services.standins.server import StandinSpec
from tests.forked import Forked
from tests.services.scripted import Asked, ScriptedService, Told
from tests.services.standing import Standing, standing
from tests.waiting import PATIENCE_S

DEEP = os.environ.get("NOARKIT_DEEP") == "1"
WISH = StandinSpec(20, limits=(), options={"audit": "12"})


@dataclass
class World:
    """A service behind a door that counts its calls, a state and an archive after the first run, and news since."""

    folder: Path
    held: Standing
    calls: int = 0
    kill_at: int = 0
    running: Forked | None = None
    door: ScriptedService = field(init=False)

    def __post_init__(self) -> None:
        self.door = ScriptedService(self.passed_on)
        config = self.held.config.read_text("utf-8").replace(self.held.url, self.door.url)
        (self.folder / "noarkit.toml").write_text(config)

    def passed_on(self, asked: Asked) -> Told:
        """The service's own answer; the program that asked is killed before it has the one that was chosen."""
        self.calls += 1
        if self.calls == self.kill_at:
            self.kill()
        headers = {name: text for name, text in asked.headers.items() if name not in ("host", "content-length")}
        answer = httpx.request(
            asked.method, self.held.url + asked.path, params=dict(asked.query), headers=headers, content=asked.body,
            trust_env=False, timeout=PATIENCE_S,
        )  # fmt: skip
        return Told(answer.status_code, answer.content, {"Content-Type": "application/json"})

    def begin(self, run: str) -> Forked:
        """The command that plans and loads, or goes on where it stopped."""
        command = ["noarkit", "ingest", "features:standin", "-o", str(self.work / run)]
        command += ["--workers", "1", "--archive", f"embedded:{self.work / 'archive'}", "--progress", "none"]
        command += ["--config", str(self.folder / "noarkit.toml")]
        environment = {"HOME": str(self.work / "home"), "PATH": os.environ["PATH"]}
        with (self.folder / "log").open("ab") as log:
            self.running = Forked(command, cwd=self.folder, env=environment, stdout=log, stderr=log, new_session=True)
        return self.running

    def kill(self) -> None:
        """Without warning, with all that it started."""
        if self.running is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.running.pid, signal.SIGKILL)

    def end(self, run: str) -> None:
        """The same command again, to its end."""
        self.kill_at = 0
        assert self.begin(run).wait(PATIENCE_S) in (0, 3), (self.folder / "log").read_text()

    @property
    def work(self) -> Path:
        """State, archive and runs; the same place each time, for marks go by the archive's address."""
        return self.folder / "work"

    def restore(self) -> None:
        """All as it was after the first run."""
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(self.folder / "after-first", self.work)
        self.calls = 0


def come_to(run: Path) -> tuple[list[str], dict[str, int]]:
    """What a run archived, by key, and its numbers."""
    with (run / "ids.csv").open(encoding="utf-8-sig", newline="") as file:
        keys = sorted(row["key"] for row in csv.DictReader(file, delimiter=";"))
    numbers = json.loads((run / "report.json").read_text("utf-8"))["numbers"]
    return keys, {name: numbers[name] for name in ("read", "archived", "new_versions", "set_aside", "skipped")}


def news(held: Standing) -> None:
    """A gate is made and changed, a segment deleted, a layer hidden, a review concluded."""
    change = [{"kind": "gates", "id": "nytt", "members": {"isEnabled": True}}] * 2
    layer, segment = (first_of(held, kind) for kind in ("layers", "segments"))
    held.control("change", definitions=[*change, {"kind": "layers", "id": layer, "members": {"description": "Skjult"}}])
    held.control("change", unlisted=[{"kind": "layers", "id": layer}], gone=[{"kind": "segments", "id": segment}])
    review = {"review_id": "r-1", "status": "committed", "author": {"email": "kari@etaten.example"}, "created_at": 1}
    held.control("change", reviews=[{"kind": "gates", "id": "nytt", "reviews": [review]}])


def first_of(held: Standing, kind: str) -> str:
    """The id of a definition."""
    key = next(path.read_text().strip() for path in held.home.glob("*-api_key.secret"))
    found = httpx.get(f"{held.url}/console/v1/{kind}", headers={"SERVICE-API-KEY": key}, trust_env=False).json()
    return str(found["data"][0]["id"])


@contextmanager
def world(folder: Path) -> Iterator[World]:
    """The world after the first run, with news."""
    with standing("features", folder, WISH) as held:
        made = World(folder, held)
        try:
            made.work.mkdir()
            made.end("first")
            news(held)
            shutil.copytree(made.work, folder / "after-first")
            yield made
        finally:
            made.kill()
            made.door.close()


def archived(run: Path) -> int:
    """How much of a run the archive has taken, as its journal knows."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"{(run / 'run.db').as_uri()}?mode=ro", uri=True)) as db:
        return int(db.execute("SELECT count(*) FROM entity WHERE state = 'done'").fetchone()[0])
    return 0


def killed_with(made: World, most: int) -> None:
    """The run, killed once the archive has taken more than so many; where it was quicker, it ended well."""
    process = made.begin("second")
    until = time.monotonic() + PATIENCE_S
    while process.poll() is None and archived(made.work / "second") <= most and time.monotonic() < until:
        time.sleep(0.005)
    made.kill()
    assert process.wait(PATIENCE_S) in (-signal.SIGKILL, 0, 3), (made.folder / "log").read_text()


def test_killed_at_a_call_and_again_while_loading_the_same_command_comes_to_the_same(tmp_path: Path) -> None:
    with world(tmp_path) as made:
        made.restore()
        made.end("second")
        whole, calls, loaded = come_to(made.work / "second"), made.calls, archived(made.work / "second")
        assert whole[1]["skipped"] == 1  # the segment is told to be deleted
        assert whole[1]["archived"] >= 6
        assert calls > 15
        for at in range(1, calls + 1) if DEEP else (calls // 2,):
            made.restore()
            made.kill_at = at
            assert made.begin("second").wait(PATIENCE_S) == -signal.SIGKILL, f"call {at}"
            made.kill_at = 0
            most = at % loaded
            killed_with(made, most)
            made.end("second")
            assert come_to(made.work / "second") == whole, f"killed at call {at}, and with {most} archived"
