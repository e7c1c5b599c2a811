"""A run folder: what lies in it, and the lock that lets one process at a time work on it.

plan.json   what was frozen, with the sha256 of graph.db's content      graph.db   the plan itself
run.db      the journal                                                 run.lock   who holds the run
run.log  plan.html  report.html  faults.csv  set-aside.csv  ids.csv  verify-*.html: for people
"""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from noarkit.errors import JournalFault
from noarkit.graph.store import GraphStore
from noarkit.loading.journal import Journal
from noarkit.safe import atomic
from noarkit.safe.locks import claimed, try_lock

_NOTE = re.compile(r"process (\d+) on (.*)\Z")


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The paths of one run."""

    path: Path

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
        return self.path / "run.db"

    def plan(self) -> dict[str, object]:
        """Reads plan.json. Raises `JournalFault` if the folder holds no plan."""
        try:
            plan = json.loads((self.path / "plan.json").read_text("utf-8"))
        except (OSError, ValueError) as cause:
            raise JournalFault(where=str(self.path / "plan.json"), why="missing") from cause
        if not isinstance(plan, dict) or "sha256" not in plan:
            raise JournalFault(where=str(self.path / "plan.json"), why="no-plan")
        return plan

    def write_plan(self, plan: dict[str, object]) -> None:
        """Writes plan.json, whole or not at all."""
        atomic.write_text(self.path / "plan.json", json.dumps(plan, indent=1, ensure_ascii=False) + "\n", mode=0o600)

    def open_graph(self) -> GraphStore:
        """The plan, proven to be what was frozen. Raises PlanChanged."""
        graph = GraphStore.open(self.graph)
        try:
            graph.check_frozen(str(self.plan()["sha256"]))
        except BaseException:
            graph.close()
            raise
        return graph

    def open_journal(self) -> Journal:
        """The journal, made where there is none yet."""
        return Journal(self.journal)

    def archive_name(self) -> str | None:
        """The archive that the run was begun with, by the name it was given then."""
        if not self.journal.exists():
            return None
        with closing(self.open_journal()) as journal:
            return journal.meta("where")

    def owner(self) -> str | None:
        """The process that works on the run now, None if none does. Asking never blocks a process that starts."""
        path = self.path / "run.lock"
        try:
            note = path.read_text("utf-8", "replace").strip()
        except OSError:
            return None
        if _has_ended(note):
            return None
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return None if try_lock(handle, shared=True) else note
        finally:
            os.close(handle)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Holds the run for this process; the lock dies with it. RunLocked tells who holds it."""
        path = self.path / "run.lock"
        with claimed(path, str(self.path)):
            yield


def _has_ended(note: str) -> bool:
    """True if the note names a process of this machine that is no longer there."""
    match = _NOTE.match(note)
    if match is None:
        return not note
    if match[2] != socket.gethostname():
        return False
    try:
        os.kill(int(match[1]), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
