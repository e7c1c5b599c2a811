"""One running archive: its settings, databases, files and clock, and its background work.

`start` begins the background work: sweeping files, writing logs, reading documents, bulk jobs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from noarkit.server.database import Database
from noarkit.server.files import Files
from noarkit.server.identity import Identity
from noarkit.server.read_log import ReadLog
from noarkit.server.settings import Settings
from noarkit.server.text_reader import TextReader
from noarkit.server.workers import Worker

_SWEEP_EVERY_S = 60.0
_CHECKPOINT_EVERY_S = 5.0
_FLUSH_EVERY_S = 0.5
_BULK_EVERY_S = 30.0
_TEXTS_EVERY_S = 2.0
_STRAYS_EVERY_S = 24 * 3600.0


@dataclass(slots=True)
class Service:
    """The state that every call can use."""

    data_dir: Path
    settings: Settings
    db: Database
    files: Files
    read_log: ReadLog
    now_s: Callable[[], float]
    identity: Identity
    next_job: Callable[[Service], bool]
    read_documents: Callable[[Service], None]
    texts: TextReader = field(default_factory=TextReader)
    workers: dict[str, Worker] = field(default_factory=dict)

    def now_ms(self) -> int:
        """Now, in milliseconds since 1970 UTC."""
        return int(self.now_s() * 1000)

    def start(self, *, after_crash: bool = False) -> None:
        """Begins the background work; close() ends it. After a crash, stray files are looked for once."""
        if after_crash:
            self.workers["strays"] = Worker("archive-strays", self.files.sweep_strays, _STRAYS_EVERY_S)
        self.workers["sweep"] = Worker("archive-sweep", self.files.sweep, _SWEEP_EVERY_S)
        self.workers["checkpoint"] = Worker("archive-checkpoint", self.files.checkpoint, _CHECKPOINT_EVERY_S)
        self.workers["read-log"] = Worker("archive-read-log", self.read_log.flush, _FLUSH_EVERY_S)
        if self.settings.index_documents:
            self.workers["texts"] = Worker("archive-texts", self._read_documents, _TEXTS_EVERY_S)
        self.workers["bulk"] = Worker("archive-bulk", self._run_bulk, _BULK_EVERY_S)
        for worker in self.workers.values():
            worker.start()

    @property
    def is_stopping(self) -> bool:
        """True once the service is to end; long background work looks at it and ends early."""
        return any(worker.is_stopping for worker in self.workers.values())

    def wake_bulk(self) -> None:
        """Says that a bulk job was queued."""
        if "bulk" in self.workers:
            self.workers["bulk"].wake()

    def _read_documents(self) -> None:
        self.read_documents(self)

    def _run_bulk(self) -> None:
        while not self.is_stopping and self.next_job(self):
            pass

    def stop(self) -> None:
        """Undoes the calls that are still at work, and lets background work end early."""
        for worker in self.workers.values():
            worker.request_stop()
        self.texts.stop()
        self.db.clock.stop()

    def close(self) -> None:
        """Ends the background work and the connections."""
        self.stop()
        for worker in self.workers.values():
            worker.stop()
        self.texts.close()
        self.read_log.close()
        self.files.close()
        self.db.close()
