"""A run that is held open: its lock, its plan and its journal, taken once and let go when the command ends.

It is the run folder itself to whoever is handed it: what opens the plan or the journal, or takes the lock, has them
already. So no other process can come in between two steps, and all steps read the same plan.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

from noarkit.graph.store import GraphStore
from noarkit.loading.folder import RunFolder
from noarkit.loading.journal import Journal


class _KeptGraph(GraphStore):
    def close(self) -> None:
        """It stays open until the run is let go."""


class _KeptJournal(Journal):
    def close(self) -> None:
        """It stays open until the run is let go."""


@dataclass(slots=True)
class _Connections:
    """What was opened so far, and whether the run is still held: afterwards it is a run folder as any."""

    is_held: bool = True
    plan: dict[str, object] | None = None
    graph: GraphStore | None = None
    is_proven: bool = False
    journal: Journal | None = None
    reader: sqlite3.Connection | None = None


@dataclass(frozen=True, slots=True)
class OpenRun(RunFolder):
    """A run folder whose lock this process holds; everything in it is opened once, when it is first asked for."""

    _kept: _Connections = field(default_factory=_Connections, compare=False, repr=False)

    @property
    def is_held(self) -> bool:
        """True until it is let go."""
        return self._kept.is_held

    def plan(self) -> dict[str, object]:
        """What plan.json says, read once: it never changes."""
        if not self.is_held:
            return RunFolder.plan(self)
        if self._kept.plan is None:
            self._kept.plan = RunFolder.plan(self)
        return self._kept.plan

    def graph_store(self) -> GraphStore:
        """The plan, as it lies there."""
        if not self.is_held:
            return RunFolder.graph_store(self)
        if self._kept.graph is None:
            opened = RunFolder.graph_store(self)
            self._kept.graph = _KeptGraph(opened.path, opened.db)
        return self._kept.graph

    def open_graph(self) -> GraphStore:
        """The plan, proven once to be what was frozen. Raises `PlanChanged`."""
        if not self.is_held:
            return RunFolder.open_graph(self)
        graph = self.graph_store()
        if not self._kept.is_proven:
            graph.check_frozen(str(self.plan()["sha256"]))
            self._kept.is_proven = True
        return graph

    def open_journal(self) -> Journal:
        """The journal, made where there is none yet."""
        if not self.is_held:
            return RunFolder.open_journal(self)
        if self._kept.journal is None:
            self._kept.journal = _KeptJournal(self.journal, is_shared=bool(self._suffix))
        return self._kept.journal

    def kept_reader(self) -> sqlite3.Connection | None:
        """The plan with the journal beside it, for reading alone, once somebody opened them so."""
        return self._kept.reader

    def keep_reader(self, db: sqlite3.Connection) -> bool:
        """Keeps a connection of that kind, for whoever asks next. True: the caller must not close it."""
        if self.is_held:
            self._kept.reader = db
        return self.is_held

    @contextmanager
    def locked(self) -> Iterator[None]:
        """The lock is held already."""
        with nullcontext() if self.is_held else RunFolder.locked(self):
            yield

    def release(self) -> None:
        """Lets go of all that was opened."""
        kept = self._kept
        kept.is_held = False
        if kept.reader is not None:
            kept.reader.close()
            kept.reader = None
        if kept.journal is not None:
            Journal.close(kept.journal)
        if kept.graph is not None:
            GraphStore.close(kept.graph)


@contextmanager
def open_run(folder: RunFolder) -> Iterator[RunFolder]:
    """Holds a run for as long as the block lasts. Raises `RunLocked`, and `JournalFault` where the folder holds no
    plan."""
    folder.plan()
    if isinstance(folder, OpenRun) and folder.is_held:
        yield folder
        return
    with folder.locked():
        run = OpenRun(folder.path, folder.part)
        try:
            yield run
        finally:
            run.release()
