"""Runs an iterator in a forked child process, so that what makes its values and what uses them run side by side.

The values are plain (numbers, texts, lists, dicts, tuples); they come in their order, and a fault comes where it arose.
The child ends with the iterator, and never outlives this process. By fork, since `make` is a closure, which could
not be pickled; and by marshal, since pickle is slower for plain values.
"""

from __future__ import annotations

import ctypes
import fcntl
import gc
import marshal
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection

from noarkit.errors import PackageFault
from noarkit.safe.children import may_fork
from noarkit.safe.processors import usable_processors

_BATCH_SIZE = 100
_PIPE_BYTES = 1024 * 1024
_PR_SET_PDEATHSIG = 1


def can_use_child() -> bool:
    """True if a child starts in milliseconds and has a processor to run on."""
    return may_fork() and usable_processors() > 1


def detach_child(parent: int, own: int, *, at_once: bool = True) -> None:
    """What a forked child does first: it dies with its parent, leaves signals to it, and holds on to no file, socket
    or lock of it but its `own` descriptor and the standard ones.

    `at_once`: the system kills it when the thread that forked it ends; else it ends when its pipe breaks.
    """
    if at_once and sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # The parent may have died before prctl was called; then no signal will ever come.
    if os.getppid() != parent:
        os._exit(0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    gc.freeze()  # nothing of the parent is tidied up here: its descriptors may be others by then
    # A copy of a run's lock that lives on in a child would keep the run locked after its owner is gone, so everything
    # inherited is closed. /proc names what is open; closing all numbers up to the limit could take seconds.
    highest = max((int(name) for name in os.listdir("/proc/self/fd")), default=2)  # noqa: PTH208  # names alone
    os.closerange(3, own)
    os.closerange(max(3, own + 1), highest + 1)


def iterate_in_child(make: Callable[[], Iterator[tuple[object, ...]]], where: str) -> Iterator[tuple[object, ...]]:
    """What `make()` yields, made in a child. Raises what it raises, `PackageFault` where the child is gone."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    # the death signal fires when the forking thread ends, and another than the main one may end while the values are
    # still wanted
    at_once = threading.current_thread() is threading.main_thread()
    with suppress(OSError):  # more than this user may have: the usual size will do
        fcntl.fcntl(sender.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)  # room for some portions, so that neither waits
    child = context.Process(target=_run_child, args=(make, sender, (os.getpid(), at_once)), daemon=True)
    child.start()
    sender.close()
    try:
        while True:
            try:
                message = receiver.recv_bytes()
            # The end of the pipe without «e» or «f»: the child was killed. To take that for the end of the values would
            # lose the rest silently.
            except EOFError as error:
                raise PackageFault(where=where, why="lost-worker") from error
            kind, payload = message[:1], memoryview(message)[1:]
            if kind == b"e":
                return
            if kind == b"f":
                raise pickle.loads(payload)  # noqa: S301  # our own child sent it
            yield from marshal.loads(payload)  # noqa: S302  # our own child sent it
    finally:
        receiver.close()
        # Killed, not asked: it only reads, so nothing is left half done.
        child.kill()
        child.join()


def _run_child(make: Callable[[], Iterator[tuple[object, ...]]], sender: Connection, life: tuple[int, bool]) -> None:
    """The child: portions out, until all are told or nobody listens."""
    detach_child(life[0], sender.fileno(), at_once=life[1])
    try:
        try:
            _send_values(make(), sender)
            sender.send_bytes(b"e")
        except BrokenPipeError:
            raise
        except Exception as fault:  # noqa: BLE001  # whatever it is: the parent raises it
            sender.send_bytes(b"f" + pickle.dumps(fault))
    except BrokenPipeError:
        pass
    os._exit(0)  # nothing of the parent's is to be tidied up here


def _send_values(values: Iterator[tuple[object, ...]], sender: Connection) -> None:
    """All values, those before a fault too."""
    batch: list[tuple[object, ...]] = []
    try:
        for value in values:
            batch.append(tuple(value))
            if len(batch) == _BATCH_SIZE:
                sender.send_bytes(b"v" + marshal.dumps(batch))
                batch.clear()
    finally:
        if batch:
            sender.send_bytes(b"v" + marshal.dumps(batch))
