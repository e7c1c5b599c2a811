"""A run folder: what lies in it, and the lock that lets one process at a time work on it.

plan.json   what was frozen, with the sha256 of graph.db's content      graph.db   the plan itself
run.db      the journal                                                 run.lock   who holds the run
run-3-of-8.db, run-3-of-8.lock, run-3-of-8.log: the same of a part of the run that is loaded by itself
run.log  plan.html  report.html  faults.csv  set-aside.csv  ids.csv  verify-*.html: for people
"""

from __future__ import annotations

import json
import os
import re
import socket
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from noarkit.errors import JournalFault
from noarkit.graph.store import GraphStore
from noarkit.loading.journal import Journal
from noarkit.loading.part import SPINE, Part
from noarkit.results import json_field
from noarkit.safe import atomic
from noarkit.safe.descriptors import open_descriptor
from noarkit.safe.locks import claimed, try_lock
from noarkit.safe.paths import has_file
from noarkit.safe.signals import is_running

_NOTE = re.compile(r"process (\d+) on (.*)\Z")


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The paths of one run, or of a part of it: then journal, lock and log are the part's own."""

    path: Path
    part: Part | None = None
    PLAN: ClassVar[str] = "plan.json"

    @property
    def is_planned(self) -> bool:
        """True once the folder holds a plan."""
        return has_file(self.path, self.PLAN)

    @property
    def has_frozen_plan(self) -> bool:
        """True if the plan can be read."""
        try:
            self.plan()
        except JournalFault:
            return False
        return True

    @property
    def name(self) -> str:
        """The name of the run."""
        return self.path.resolve().name

    @property
    def graph(self) -> Path:
        """The path of the plan: `graph.db`."""
        return self.path / "graph.db"

    @property
    def journal(self) -> Path:
        """The path of the journal: `run.db`."""
        return self.path / f"run{self._suffix}.db"

    @property
    def lock(self) -> Path:
        """The path of the lock: `run.lock`."""
        return self.path / f"run{self._suffix}.lock"

    @property
    def log(self) -> Path:
        """The path of the log of events: `run.log`."""
        return self.path / f"run{self._suffix}.log"

    @property
    def _suffix(self) -> str:
        return self.part.suffix if self.part is not None else ""

    def plan(self) -> dict[str, object]:
        """Reads plan.json. Raises `JournalFault` if the folder holds no plan."""
        try:
            plan = json.loads((self.path / self.PLAN).read_text("utf-8"))
        except OSError as cause:
            raise JournalFault(where=str(self.path / self.PLAN), why="missing") from cause
        except ValueError as cause:
            raise JournalFault(where=str(self.path / self.PLAN), why="unreadable") from cause
        if not isinstance(plan, dict) or "sha256" not in plan:
            raise JournalFault(where=str(self.path / self.PLAN), why="no-plan")
        return plan

    def certificates(self, plan_sha256: str, kind: str = "verify") -> Iterator[tuple[Path, dict[str, object]]]:
        """The certificates of a plan with their facts, the newest first; one that cannot be read says nothing."""
        for path in sorted(self.path.glob(f"{kind}-*.json"), reverse=True):
            with suppress(OSError, ValueError, KeyError, TypeError):
                facts = json.loads(path.read_text("utf-8"))
                if facts["plan_sha256"] == plan_sha256 and facts["ended"]:
                    yield path, facts

    def write_plan(self, plan: dict[str, object]) -> None:
        """Writes plan.json, whole or not at all."""
        atomic.write_text(self.path / self.PLAN, json.dumps(plan, indent=1, ensure_ascii=False) + "\n", mode=0o600)

    def graph_store(self) -> GraphStore:
        """The plan, as it lies there. Raises `JournalFault` where there is none."""
        return GraphStore.open(self.graph)

    def open_graph(self) -> GraphStore:
        """The plan, proven to be what was frozen. Raises PlanChanged."""
        graph = self.graph_store()
        try:
            graph.check_frozen(str(self.plan()["sha256"]))
        except BaseException:
            graph.close()
            raise
        return graph

    def open_journal(self) -> Journal:
        """The journal, made where there is none yet."""
        return Journal(self.journal, is_shared=bool(self._suffix))

    def kept_reader(self) -> sqlite3.Connection | None:
        """A connection to the plan with the journal beside it, where one is kept open."""
        return None

    def keep_reader(self, db: sqlite3.Connection) -> bool:
        """Keeps such a connection for whoever asks next; False where nobody does."""
        return False

    def archive_name(self) -> str | None:
        """The archive that the run was begun with, by the name it was given then. A part follows the spine."""
        if not self.journal.exists():
            is_after_spine = self.part is not None and self.part.kind != SPINE
            return RunFolder(self.path, Part(SPINE)).archive_name() if is_after_spine else None
        with closing(self.open_journal()) as journal:
            return journal.meta("where")

    def planned_archive(self) -> str | None:
        """The archive that the plan was made for, where its maker named one. Raises as `plan`."""
        name = self.plan().get("archive")
        return name if isinstance(name, str) else None

    def remembered_archive(self) -> str | None:
        """The archive of the run: the one it was begun with, before that the one its plan was made for."""
        return self.archive_name() or (self.planned_archive() if self.is_planned else None)

    def owner(self) -> str | None:
        """The process that works on the run now, None if none does. Asking never blocks a process that starts."""
        path = self.lock
        try:
            note = path.read_text("utf-8", "replace").strip()
        except OSError:
            return None
        if _has_ended(note):
            return None
        handle = open_descriptor(path)
        try:
            return None if try_lock(handle, shared=True) else note
        finally:
            os.close(handle)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Holds the run for this process; the lock dies with it. RunLocked tells who holds it."""
        with claimed(self.lock, str(self.path)):
            yield


@dataclass(frozen=True, slots=True)
class DraftRun(RunFolder):
    """A run folder whose plan is frozen and does not stand yet: `plan` returns what plan.json will say."""

    planned: Mapping[str, object] = field(default_factory=dict, compare=False)

    def plan(self) -> dict[str, object]:
        """What plan.json will say."""
        return dict(self.planned)


def _has_ended(note: str) -> bool:
    """True if the note names a process of this machine that is no longer there."""
    match = _NOTE.match(note)
    if match is None:
        return not note
    if match[2] != socket.gethostname():
        return False
    return not is_running(int(match[1]))


def _name_of(folder: RunFolder) -> str:
    return folder.name


AS_RUN = json_field("run", _name_of)
"""How a result tells the run that it is of."""


def runs_in(folder: Path) -> list[Path]:
    """The run folders right here, or one level below, or below `runs`; the oldest plan first."""
    places = {
        plan.parent for pattern in ("plan.json", "*/plan.json", "runs/*/plan.json") for plan in folder.glob(pattern)
    }
    return sorted(places, key=lambda place: ((place / "plan.json").stat().st_mtime_ns, str(place)))
