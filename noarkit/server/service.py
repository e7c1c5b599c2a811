"""One running archive: its settings, databases, files and clock, and its background work.

`start` begins the background work: sweeping files, writing logs, reading documents, bulk jobs.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from noarkit.safe.children import WorkerLost
from noarkit.safe.line_worker import LineWorker
from noarkit.server import document_text
from noarkit.server.database import Database
from noarkit.server.document_text import Unreadable
from noarkit.server.files import Files
from noarkit.server.identity import Identity
from noarkit.server.read_log import ReadLog
from noarkit.server.settings import Settings

_TIME_LIMIT_S = 20.0
# A process that has read so many documents gives back what its libraries have kept.
_MOST_DOCUMENTS = 200


class TextReader:
    """Reads documents one after the other; for one thread. close() ends the process."""

    def __init__(self, time_limit_s: float = _TIME_LIMIT_S) -> None:
        self._time_limit_s = time_limit_s
        self._child: LineWorker | None = None
        self._documents_read = 0
        self._stopped = False

    def read(self, path: Path, name: str, media_type: str) -> str:
        """The words of a document. Raises `Unreadable`, FileNotFoundError."""
        if document_text.is_plain(path, name, media_type):  # to decode it is safe in any process
            return document_text.text_of(path, name, media_type)
        answer = self._ask({"path": str(path), "name": name, "media_type": media_type})
        if "text" not in answer:
            raise Unreadable(answer.get("why", ""))
        return answer["text"]

    def stop(self) -> None:
        """Ends what is being read, from another thread; nothing is read any more."""
        self._stopped = True
        child = self._child
        if child is not None:
            child.interrupt()

    def close(self) -> None:
        """Ends the process."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()

    def _ask(self, question: dict[str, str]) -> dict[str, str]:
        if self._stopped:
            raise Unreadable("stopped")
        child = self._ensure_child()
        self._documents_read += 1
        try:
            line = child.ask(json.dumps(question).encode(), self._time_limit_s)
        except WorkerLost as error:
            self.close()
            raise Unreadable("ended") from error
        if self._documents_read >= _MOST_DOCUMENTS:
            self.close()
        answer: dict[str, str] = json.loads(line)
        return answer

    def _ensure_child(self) -> LineWorker:
        if self._child is None or self._child.has_ended:
            self.close()
            self._documents_read = 0
            self._child = LineWorker("noarkit.server.document_text", "main", quiet=True)
        return self._child


_SWEEP_EVERY_S = 60.0
_CHECKPOINT_EVERY_S = 1.0
_FLUSH_EVERY_S = 0.5
_BULK_EVERY_S = 30.0
_TEXTS_EVERY_S = 2.0
_STRAYS_EVERY_S = 24 * 3600.0
# The archive is in bulk use until so long after the last upload, download or transaction.
_QUIET_AFTER_S = 2.0
# Documents that wait longer than this are read, a few at a time, even while it is.
_PATIENCE_S = 300.0


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
    _last_bulk_call_s: float = field(default=float("-inf"), init=False)
    _in_bulk_use_since_s: float | None = field(default=None, init=False)

    def now_ms(self) -> int:
        """Now, in milliseconds since 1970 UTC."""
        return int(self.now_s() * 1000)

    def start(self, *, after_crash: bool = False) -> None:
        """Begins the background work; close() ends it. After a crash, stray files are looked for once."""
        if after_crash:
            self.workers["strays"] = Worker("archive-strays", self.files.sweep_strays, _STRAYS_EVERY_S)
        self.workers["sweep"] = Worker("archive-sweep", self.files.sweep, _SWEEP_EVERY_S)
        self.workers["checkpoint"] = Worker("archive-checkpoint", self._checkpoint, _CHECKPOINT_EVERY_S)
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

    def note_bulk_call(self) -> None:
        """Says that an upload, a download or a transaction came."""
        self._last_bulk_call_s = self.now_s()

    @property
    def is_in_bulk_use(self) -> bool:
        """True while one upload, download or transaction follows the other: work that can wait leaves them the
        processor."""
        return self.now_s() - self._last_bulk_call_s < _QUIET_AFTER_S

    def wake_bulk(self) -> None:
        """Says that a bulk job was queued."""
        if "bulk" in self.workers:
            self.workers["bulk"].wake()

    def _checkpoint(self) -> None:
        self.db.checkpoint()
        self.files.checkpoint()

    def _read_documents(self) -> None:
        """Reads documents while nobody loads or fetches any: that takes the archive longer than to take them in or give
        them out. Those that have waited for long are read by and by all the same."""
        now_s = self.now_s()
        if not self.is_in_bulk_use:
            self._in_bulk_use_since_s = None
        elif self._in_bulk_use_since_s is None:
            self._in_bulk_use_since_s = now_s
        if self._in_bulk_use_since_s is None or now_s - self._in_bulk_use_since_s > _PATIENCE_S:
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


LOGGER = logging.getLogger("noarkit.server")


class Worker:
    """Runs `step` again and again until stop(); wake() makes it run at once. A failing step is logged."""

    def __init__(self, name: str, step: Callable[[], None], every_s: float) -> None:
        self._step = step
        self._every_s = every_s
        self._woken = threading.Event()
        self._is_stopping = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    @property
    def is_stopping(self) -> bool:
        """True once stop() was called; a long step should look at it and end early."""
        return self._is_stopping

    def start(self) -> None:
        """Begins; the first step runs at once."""
        self._woken.set()
        self._thread.start()

    def wake(self) -> None:
        """Lets the next step run at once."""
        self._woken.set()

    def request_stop(self) -> None:
        """Lets the thread end after the step at work, without waiting for it."""
        self._is_stopping = True
        self._woken.set()

    def stop(self) -> None:
        """Ends after the step at work, and waits for it."""
        self.request_stop()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._is_stopping:
            self._woken.wait(self._every_s)
            self._woken.clear()
            if self._is_stopping:
                return
            try:
                self._step()
            except Exception as fault:  # noqa: BLE001  # a background thread must outlive whatever one step met
                LOGGER.error("%s: %s", self._thread.name, type(fault).__name__)
