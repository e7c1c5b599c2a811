"""Runs of a connection over time: a service that is a file, changed between one run and the next."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import noarkit
from noarkit.config import Sources, load
from noarkit.events import Event
from noarkit.loading.plan import PlanResult
from noarkit.loading.verification import VerifyResult
from noarkit.settings import Settings
from tests.forked import run_forked
from tests.waiting import PATIENCE_S

_PACKAGE = Path(__file__).parent / "worldservice"
_ROOT = Path(__file__).parents[2]
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass
class Rig:
    """A world, a connection to it, an archive, and a clock that a test sets."""

    folder: Path
    now: datetime = NOW
    told: list[Event] = field(default_factory=list)

    @property
    def site(self) -> Path:
        """Where the service is installed."""
        return self.folder / "site"

    @property
    def archive(self) -> str:
        """The archive of all runs."""
        return f"embedded:{self.folder / 'archive'}"

    def set(self, things: Sequence[Mapping[str, object]], tenant: str = "11") -> None:
        """Changes the world."""
        (self.folder / "world.json").write_text(json.dumps({"tenant": tenant, "things": list(things)}), "utf-8")

    @property
    def settings(self) -> Settings:
        """The settings of a caller who has this connection configured."""
        environment = {"HOME": str(self.folder)}
        config = load(Sources(flags={"archive.url": self.archive}, environment=environment, file=self._config))
        return Settings(config, environment, now_s=self.now.timestamp)

    @property
    def _config(self) -> Path:
        return self.folder / "noarkit.toml"

    def plan(self, run: str, recipe: Path | None = None) -> PlanResult:
        """Plans a run from where the one before it ended."""
        self.told.clear()
        return noarkit.plan(
            "world:main",
            self.folder / run,
            recipe=recipe,
            archive=self.archive,
            settings=self.settings,
            listener=self.told.append,
        )

    def ingest(self, run: str) -> noarkit.IngestResult:
        """Loads a run in this process."""
        return noarkit.ingest(
            self.folder / run, archive=self.archive, workers=0, settings=self.settings, listener=self.told.append
        )

    def load(self, run: str) -> noarkit.IngestResult:
        """Plans a run and loads it, an hour after the one before it."""
        self.now += timedelta(hours=1)
        self.plan(run)
        return self.ingest(run)

    def verify(self, run: str, *, whole: bool = False) -> VerifyResult:
        """Verifies a run."""
        return noarkit.verify(
            self.folder / run, archive=self.archive, whole=whole, settings=self.settings, listener=self.told.append
        )

    def run(self, *words: str) -> tuple[int, str, str]:
        """A command as a person gives it: its exit code, and what it says to either side."""
        path = f"{_ROOT}{os.pathsep}{self.site}"
        environment = {"HOME": str(self.folder), "PATH": os.environ["PATH"], "PYTHONPATH": path}
        environment["NOARKIT_ARCHIVE"] = self.archive
        done = run_forked(["noarkit", *words], cwd=self.folder, env=environment, timeout=PATIENCE_S)
        return done.returncode, done.stdout, done.stderr

    def events(self, name: str) -> list[dict[str, object]]:
        """What was told under a name since the last plan began."""
        return [dict(event.data) for event in self.told if event.name == name]


def thing(number: int, modified: datetime, **more: object) -> dict[str, object]:
    """A letter with one paper."""
    papers = {"letter.txt": f"text {number}"}
    return {"id": str(number), "title": f"Letter {number}", "modified": modified.isoformat(), "papers": papers, **more}


def make_rig(folder: Path, monkeypatch: pytest.MonkeyPatch, **values: object) -> Rig:
    """A rig in an empty folder; `values` are settings of the connection."""
    rig = Rig(folder)
    info = rig.site / "worldservice-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: worldservice\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text("[noarkit.services]\nworld = worldservice.kind:WORLD\n", "utf-8")
    shutil.copytree(_PACKAGE, rig.site / "worldservice", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("worldservice", "worldservice.kind", "worldservice.client"):  # of the test before
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(str(rig.site))
    lines = [f"{name} = {json.dumps(value)}" for name, value in {"world": str(folder / "world.json"), **values}.items()]
    (folder / "noarkit.toml").write_text("\n".join(["[connections.world.main]", *lines, ""]), "utf-8")
    return rig
