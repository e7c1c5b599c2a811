"""The process that converts: it reads batches from its input and writes what became of each task to its output.

It ends with whoever started it, and ends what its tools left behind after every batch.
"""

from __future__ import annotations

import os
import pickle
import queue
import struct
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from noarkit.copies.conversion import Batch, convert_batch
from noarkit.copies.toolbox import ToolboxFactory
from noarkit.safe.children import OUR_THREADS
from noarkit.safe.limits import ProcessLimits, limit_process
from noarkit.safe.process_tree import adopt_orphans, end_descendants

_LENGTH = struct.Struct("<Q")
_MEMORY_BYTES = 4 * 1024**3
_FILE_BYTES = 2 * 1024**3


@dataclass(frozen=True, slots=True)
class Ready:
    """A worker has its tools."""


@dataclass(frozen=True, slots=True)
class BatchEnd:
    """A worker is free again."""


def send(pipe: BinaryIO, message: object) -> None:
    """Writes one message."""
    data = pickle.dumps(message)
    pipe.write(_LENGTH.pack(len(data)) + data)
    pipe.flush()


def receive(pipe: BinaryIO) -> object:
    """Reads one message; None at the end, also in the middle of one."""
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    data = pipe.read(length)
    return pickle.loads(data) if len(data) == length else None  # noqa: S301  # our own process wrote it


def main() -> None:
    """Converts until its input ends."""
    adopt_orphans()
    _set_limits()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not come between the messages
    requests = os.fdopen(os.dup(0), "rb")
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123  # its descriptor is what is wanted
        os.dup2(nothing.fileno(), 0)
    factory = cast("ToolboxFactory", receive(requests))  # as its starter sends it
    batches: queue.SimpleQueue[Batch] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests, batches), name=f"{OUR_THREADS}batches", daemon=True).start()
    with factory() as toolbox:
        send(answers, Ready())
        while True:
            for settlement in convert_batch(batches.get(), toolbox):
                send(answers, settlement)
            end_descendants(os.getpid(), identifies_formats)
            send(answers, BatchEnd())


def _listen(requests: BinaryIO, batches: queue.SimpleQueue[Batch]) -> None:
    """Hands batches on. At the end of the input nobody waits for an answer any more: all work ends at once."""
    while isinstance(batch := receive(requests), Batch):
        batches.put(batch)
    end_descendants(os.getpid())
    os._exit(0)


def _set_limits() -> None:
    limit_process(ProcessLimits(memory_bytes=_MEMORY_BYTES, file_bytes=_FILE_BYTES), may_rise=True)


if __name__ == "__main__":
    main()


def identifies_formats(process: int) -> bool:
    """True for the process of ours that tells PRONOM identifiers: it serves as long as its starter."""
    try:
        return b"noarkit.sources.files.puids" in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False
