"""The road of a connection by the command line alone: planned, loaded, verified, closed, extracted, found valid. What
each command told and took is kept."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.processes import all_processes

DEEP = os.environ.get("NOARKIT_DEEP") == "1"
DELIVERY = """
[creator]
name = "Fjellvik kommune"
identification = "987"
[system]
name = "Tjenesten"
[agreement]
number = "2026/1042"
[delivery]
description = "From the service of 2026"
"""
NO_SCHEMAS = frozenset({"schemas"})
"""Why a package is not ready for deposit of which everything is stated: the official schemas are not at hand."""

Told = Mapping[str, Mapping[str, object]]
"""What a command told: the last line of each event."""


@dataclass
class Road:
    """Commands, one after another: `took` says how many seconds and MiB each needed, by its name."""

    service: str
    config: Path
    folder: Path
    took: dict[str, tuple[float, float]] = field(default_factory=dict)

    def go(self, name: str, *words: str, code: int = 0) -> Told:
        """One command, to the end that it should come to."""
        line = [sys.executable, "-m", "noarkit", *words, "--config", str(self.config), "--json"]
        line += ["--archive", f"embedded:{self.folder / 'archive'}"] if words[0] != "validate" else []
        environment = {"HOME": str(self.folder), "PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}
        said, errors = (self.folder / f"{name}.{end}" for end in ("json", "err"))
        began, most = time.monotonic(), 0.0
        with said.open("wb") as out, errors.open("wb") as err:
            process = subprocess.Popen(line, env=environment, stdout=out, stderr=err, start_new_session=True)
            while process.poll() is None:
                session = [each.pid for each in all_processes() if each.session == process.pid]
                most = max(most, *map(mebibytes, session), 0.0)
                time.sleep(0.1)
        self.took[name] = (time.monotonic() - began, most)
        print(f"{self.service}, {name}: {self.took[name][0]:.0f} s, {most:.0f} MiB", flush=True)
        told = said.read_text("utf-8")
        assert process.returncode == code, errors.read_text("utf-8")[-3_000:] + told[-3_000:]
        return {str(each["event"]): each for each in map(json.loads, told.splitlines())}

    def load(self, run: str) -> Mapping[str, int]:
        """A plan, loaded; the numbers it came to."""
        self.go(f"plan {run}", "plan", f"{self.service}:standin", "-o", str(self.folder / run))
        self.go(f"ingest {run}", "ingest", str(self.folder / run))
        numbers: Mapping[str, int] = json.loads((self.folder / run / "report.json").read_text("utf-8"))["numbers"]
        return numbers

    def verify(self, run: str, *, changed: int = 0) -> None:
        """Every byte is compared, and all of it agrees, but for so many fields of earlier records that the service has
        changed since."""
        place = str(self.folder / run)
        told = self.go(f"verify {run}", "verify", place, "--depth", "bytes", code=3 if changed else 0)
        missing = {"source_changed": changed} if changed else {}
        assert (told["verified"]["differences"], told["verified"]["missing"]) == (0, missing), told["verified"]

    def finish(self, *runs: str, stopped_by: Set[str] = NO_SCHEMAS) -> None:
        """Closed, extracted, and found to be a valid package, that is not ready for deposit for these reasons alone."""
        for run in runs:
            self.go(f"close {run}", "close", str(self.folder / run))
        (self.folder / "package.toml").write_text(DELIVERY, "utf-8")
        facts, package = str(self.folder / "package.toml"), str(self.folder / "package")
        extracted = self.go("extract", "extract", "-o", package, "--package", facts, code=3)["extracted"]
        validated = self.go("validate", "validate", package, code=3)
        assert validated["summary"]["errors"] == 0
        assert reasons_in(extracted) == reasons_in(validated["verdict"]) == stopped_by


def reasons_in(verdict: Mapping[str, object]) -> set[str]:
    """The reasons why a package is not ready, without what is only remarked."""
    reasons = verdict["reasons"]
    assert isinstance(reasons, list)
    return {str(reason["code"]) for reason in reasons if reason["grade"] == "stops"}


def mebibytes(pid: int) -> float:
    """The most that a process ever had in memory."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1_024
    return 0.0
