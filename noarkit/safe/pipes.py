"""Pipes to and from a program, read and written without waiting for ever.

Where the system can say which pipes are ready, it is asked. Windows cannot say it of a pipe: there a thread reads each
one ahead, and what is written to a program that does not read is given up with the program itself.
"""

from __future__ import annotations

import os
import queue
import select
import sys
import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import IO

from noarkit.safe.children import OUR_THREADS

_BLOCK_BYTES = 64 * 1024
_MOST_AHEAD = 16
_NAP_S = 0.005


class PipeReader:
    """Our end of a pipe that a program writes to. It is closed by whoever has opened it."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._blocks: queue.Queue[bytes] = queue.Queue(_MOST_AHEAD)
        self._has_ended = False
        if sys.platform == "win32":
            threading.Thread(target=self._read_ahead, name=f"{OUR_THREADS}pipe", daemon=True).start()

    def fileno(self) -> int:
        """The descriptor of the pipe."""
        return self._pipe.fileno()

    def is_ready(self, patience_s: float = 0.0) -> bool:
        """True where `read_ready` has something to return, or the end has come; waits at most so long for it."""
        return bool(ready_readers([self], patience_s))

    def read_ready(self) -> bytes | None:
        """What has come; empty at the end, None where nothing has come yet."""
        if not self.is_ready():
            return None
        if sys.platform != "win32":
            return os.read(self.fileno(), _BLOCK_BYTES)
        if self._has_ended:
            return b""
        block = self._blocks.get()
        self._has_ended = not block
        return block

    def _has_block(self) -> bool:
        return self._has_ended or not self._blocks.empty()

    def _read_ahead(self) -> None:
        with suppress(OSError, ValueError):  # closed, as at the end
            while block := os.read(self._pipe.fileno(), _BLOCK_BYTES):
                self._blocks.put(block)
        self._blocks.put(b"")


def ready_readers(readers: Collection[PipeReader], patience_s: float) -> list[PipeReader]:
    """Those that have something to read, or have ended; waits until there is one, at most so long."""
    if sys.platform != "win32":
        poll = select.poll()  # `select` takes no descriptor above 1,023
        by_number = {reader.fileno(): reader for reader in readers}
        for number in by_number:
            poll.register(number, select.POLLIN)
        return [by_number[number] for number, _ in poll.poll(max(0.0, patience_s) * 1000)]
    deadline = time.monotonic() + patience_s
    while True:
        ready = [reader for reader in readers if reader._has_block()]
        if ready or time.monotonic() >= deadline:
            return ready
        time.sleep(_NAP_S)


class PipeWriter:
    """Our end of a pipe that a program reads from; `end_program` ends the program where nothing else frees a writer."""

    def __init__(self, pipe: IO[bytes], end_program: Callable[[], object]) -> None:
        self._pipe = pipe
        self._end_program = end_program
        if sys.platform != "win32":
            os.set_blocking(pipe.fileno(), False)

    def write(self, content: bytes, deadline_s: float) -> bool:
        """Writes as fast as it is read; False where the program is gone, or has not read it all by then."""
        view, descriptor = memoryview(content), self._pipe.fileno()
        if sys.platform == "win32":
            timer = threading.Timer(max(0.0, deadline_s - time.monotonic()), self._end_program)
            timer.start()
            try:
                while view:
                    view = view[os.write(descriptor, view[:_BLOCK_BYTES]) :]
            except OSError:
                return False
            finally:
                timer.cancel()
            return True
        poll = select.poll()
        poll.register(descriptor, select.POLLOUT)
        while view:
            if not poll.poll(max(0.0, deadline_s - time.monotonic()) * 1000):
                return False
            try:
                view = view[os.write(descriptor, view) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                return False
        return True
