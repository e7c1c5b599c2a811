"""Runs a function in child processes that talk with this one through pipes: start, messages, faults, death and end.

By fork where the system has it: a child starts in milliseconds, shares what is loaded, and needs no pickled secret. It
is right only where no thread of others runs (`may_fork`); macOS has fork, but its system libraries do not survive it,
so there and on Windows a child is spawned, and what it is given is pickled. Where threads are at work, or a library
must not share our process, a program of our own is asked instead: see `line_worker`.

Messages of one worker come in the order in which it sent them; those of several come as they are ready. The pipe is the
queue and its bound: a worker that is ahead waits while it is full, so memory stays flat whatever is sent.

A fault in a worker is raised where its messages are received, after those that it had sent; the trace of the worker is
its cause. A worker that is ended from outside is `WorkerLost`, never the end of its messages. The parent cancels by
closing the pool: a worker meets `ParentLost` at its next message, and is killed after some patience. None outlives its
parent: Linux kills it with the thread that forked it, elsewhere its pipe breaks; signals of a terminal are the
parent's. A pool that is left open is closed when it is collected, or when the interpreter ends.
"""

from __future__ import annotations

import gc
import marshal
import multiprocessing
import os
import pickle
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import connection
from multiprocessing.context import SpawnContext, get_spawning_popen, set_spawning_popen
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from multiprocessing.util import Finalize
from typing import Any, Final, Self, TypeAlias

from noarkit.safe.children import WorkerLost, close_inherited_files, die_with_parent, may_fork
from noarkit.safe.descriptors import widen_pipe
from noarkit.safe.processors import usable_processors
from noarkit.safe.signals import ignore_stop_signals

if sys.platform == "win32":
    from multiprocessing.connection import PipeConnection

    ProcessContext: TypeAlias = SpawnContext
    PipeEnd: TypeAlias = PipeConnection
else:
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkContext

    ProcessContext: TypeAlias = ForkContext | SpawnContext
    PipeEnd: TypeAlias = Connection

# The first byte says what a frame is; a pickle begins with the byte 0x80.
_PLAIN = b"v"
_FAULT = b"f"
_END = b"e"
_FIRST_NAP_S, _LONGEST_NAP_S = 0.0005, 0.02

END: Final = object()
"""What a worker's last message is once its function has returned."""


class ParentLost(Exception):
    """Raised in a worker whose parent is gone, or has closed the pool. (No OSError: nobody takes it for one.)"""


class WorkerTrace(Exception):
    """The trace of a fault in a worker, as text; and the fault itself, where it cannot be pickled."""


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """How workers of a pool live.

    `takes_orders`: the parent sends messages too. `keeps_files`: a fork keeps the files that the parent has open, as a
    source may need. `tells_faults`: a fault is raised in the parent; else the worker prints it and is lost.
    `outlives_thread`: it may be wanted longer than the thread that starts it, so that its pipe alone ends it.
    `pipe_bytes`: room for messages that wait, where the system gives it.
    """

    takes_orders: bool = True
    keeps_files: bool = False
    tells_faults: bool = True
    outlives_thread: bool = False
    pipe_bytes: int | None = None


class ParentPipe:
    """A worker's end of its pipe. All it does raises `ParentLost` once nobody is at the other."""

    def __init__(self, pipe: PipeEnd) -> None:
        self._pipe = pipe

    def send(self, message: object) -> None:
        """Sends a message, pickled; waits while the pipe is full."""
        self._send_frame(pickle.dumps(message))

    def send_plain(self, message: Any) -> None:
        """Sends numbers, texts, lists, dicts and tuples by marshal, which is faster than pickle."""
        self._send_frame(_PLAIN + marshal.dumps(message))

    def receive(self) -> Any:
        """The parent's next message."""
        try:
            frame = self._pipe.recv_bytes()
        except (EOFError, OSError) as error:
            raise ParentLost from error
        return pickle.loads(frame)  # noqa: S301  # our own parent sent it

    def send_end(self) -> None:
        """Says that no message follows."""
        self._send_frame(_END)

    def send_fault(self, fault: Exception) -> None:
        """Sends a fault with its trace, to be raised in the parent."""
        trace = "".join(traceback.format_exception(fault))
        try:
            frame = pickle.dumps((fault, trace))
            pickle.loads(frame)  # noqa: S301  # our own: some faults are pickled well and cannot be read again
        except Exception:  # noqa: BLE001  # whatever hinders it: the fault is told as text
            frame = pickle.dumps((WorkerTrace(trace), trace))
        self._send_frame(_FAULT + frame)

    def _send_frame(self, frame: bytes) -> None:
        try:
            self._pipe.send_bytes(frame)
        except OSError as error:
            raise ParentLost from error


class WorkerProcess:
    """One worker, as its parent sees it."""

    def __init__(self, process: BaseProcess, pipe: PipeEnd) -> None:
        self._process = process
        self._pipe = pipe

    @property
    def pid(self) -> int:
        """The id of its process."""
        return self._process.pid or 0

    def send(self, message: object) -> None:
        """Sends a message, pickled; waits while the pipe is full. Raises `WorkerLost`."""
        frame = pickle.dumps(message)
        try:
            self._pipe.send_bytes(frame)
        except OSError as error:
            raise WorkerLost from error

    def has_message(self, patience_s: float = 0.0) -> bool:
        """True where `receive` would not wait. Raises `WorkerLost`."""
        try:
            return self._pipe.poll(patience_s)
        except OSError as error:
            raise WorkerLost from error

    def receive(self) -> Any:
        """The next message, `END` once its function has returned; raises what that raised, or `WorkerLost`."""
        try:
            frame = self._pipe.recv_bytes()
        except (EOFError, OSError) as error:
            raise WorkerLost from error
        kind = frame[:1]
        if kind == _PLAIN:
            return marshal.loads(memoryview(frame)[1:])  # noqa: S302  # our own child sent it
        if kind == _END:
            return END
        if kind == _FAULT:
            fault, trace = pickle.loads(memoryview(frame)[1:])  # noqa: S301  # our own child sent it
            raise fault from WorkerTrace(trace)
        return pickle.loads(frame)  # noqa: S301  # our own child sent it

    def let_go(self) -> None:
        """Closes the pipe, which tells the worker to end."""
        self._pipe.close()

    def kill(self) -> None:
        """Ends it, whatever it does; `wait` follows."""
        self._process.kill()

    def wait(self) -> int:
        """Waits for its end, and returns its exit code: below 0 it is the signal that ended it."""
        self._process.join()
        return self._process.exitcode or 0

    def has_ended(self, patience_s: float) -> bool:
        """Waits at most so long for its end, and says whether it came."""
        # `join` with a time-out waits for a descriptor that a worker without our files has closed at its start
        deadline, nap_s = time.monotonic() + patience_s, _FIRST_NAP_S
        while self._process.exitcode is None:
            if time.monotonic() >= deadline:
                return False
            time.sleep(nap_s)
            nap_s = min(2 * nap_s, _LONGEST_NAP_S)
        return True


class ProcessPool:
    """Workers that run one function, each with its end of a pipe; none is started before `start` is called.

    As a context it kills them at its end. `run` returns when it is done or meets `ParentLost`, which it need not catch.
    """

    def __init__(self, run: Callable[[ParentPipe], None], options: WorkerOptions | None = None) -> None:
        self._run = run
        self._options = options or WorkerOptions()
        self.workers: list[WorkerProcess] = []
        # The interpreter's own way is to ask children to end and to wait for them: they leave such signals to us, and
        # one that waits for room in its pipe would never end.
        Finalize(self, _close_all, args=(self.workers, 0.0), exitpriority=0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> WorkerProcess:
        """One more worker."""
        context = process_context()
        receiver, sender = context.Pipe(duplex=self._options.takes_orders)
        if self._options.pipe_bytes is not None:
            widen_pipe(sender.fileno(), self._options.pipe_bytes)
        # A forked child has copies of our ends of all pipes. While one copy is open, a sibling never sees its own end.
        forks = context.get_start_method() == "fork"
        inherited = [*(worker._pipe for worker in self.workers), receiver] if forks else []
        life = (self._run, sender, inherited, self._options, os.getpid())
        process = context.Process(target=_run_child, args=life, daemon=True)
        try:
            process.start()
        except OSError:
            receiver.close()
            raise
        finally:
            sender.close()  # else we would hold both ends, and never see that the child is gone
        worker = WorkerProcess(process, receiver)
        self.workers.append(worker)
        return worker

    def reap(self, worker: WorkerProcess) -> int:
        """Takes a lost worker out of the pool, and returns its exit code."""
        self.workers.remove(worker)
        worker.let_go()
        return worker.wait()

    def close(self, patience_s: float = 0.0) -> None:
        """Ends all workers: each may take so long to end by itself, and is killed then."""
        _close_all(self.workers, patience_s)


def can_use_workers() -> bool:
    """True where a worker starts in milliseconds and has a processor to run on."""
    return may_fork() and process_context().get_start_method() == "fork" and usable_processors() > 1


def process_context() -> ProcessContext:
    """How children are made here; counters and events that they share are made with it.

    By fork on Linux, unless the program that imports us has chosen to spawn (`multiprocessing.set_start_method`).
    """
    if sys.platform == "linux" and multiprocessing.get_start_method(allow_none=True) != "spawn":
        return multiprocessing.get_context("fork")
    return multiprocessing.get_context("spawn")


def can_be_given(function: object) -> bool:
    """True if a child can be given this to run: all of it where it is forked, what can be pickled where it is spawned.

    What it depends on may hold what belongs to this process alone: the connection of a database, a function within
    another.
    """
    if process_context().get_start_method() == "fork":
        return True
    before = get_spawning_popen()
    asked: Any = function  # any value will do: that there is one says that a child is being spawned
    set_spawning_popen(asked)
    try:
        ForkingPickler.dumps(function)
    except (TypeError, AttributeError, pickle.PicklingError, ValueError):
        return False
    finally:
        set_spawning_popen(before)
    return True


def ready_workers(workers: Iterable[WorkerProcess], patience_s: float | None) -> list[WorkerProcess]:
    """Those with a message, or an end to tell; waits until there is one, at most so long. None waits for ever."""
    by_pipe: dict[object, WorkerProcess] = {worker._pipe: worker for worker in workers}
    pipes = [worker._pipe for worker in by_pipe.values()]
    return [by_pipe[pipe] for pipe in connection.wait(pipes, patience_s)]


def _close_all(workers: list[WorkerProcess], patience_s: float) -> None:
    # all are told first, so that they end side by side
    for worker in workers:
        worker.let_go()
    for worker in workers:
        if patience_s <= 0 or not worker.has_ended(patience_s):
            worker.kill()
    for worker in workers:
        worker.wait()
    workers.clear()


def _run_child(
    run: Callable[[ParentPipe], None],
    pipe: PipeEnd,
    inherited: Sequence[PipeEnd],
    options: WorkerOptions,
    parent: int,
) -> None:
    """Runs in the child."""
    if not options.outlives_thread:
        die_with_parent()
    # The parent may have died before; then no signal will ever come.
    if os.getppid() != parent:
        os._exit(0)
    for ours in inherited:
        ours.close()
    ignore_stop_signals()  # the parent decides when to stop
    gc.freeze()  # nothing of the parent is tidied up here: its descriptors may be others by then
    if sys.platform.startswith("linux") and not options.keeps_files:
        close_inherited_files(pipe.fileno())
    parent_pipe = ParentPipe(pipe)
    with suppress(ParentLost):
        try:
            run(parent_pipe)
            parent_pipe.send_end()
        except ParentLost:
            raise
        except Exception as fault:
            if not options.tells_faults:
                raise
            parent_pipe.send_fault(fault)
    if not options.keeps_files:
        os._exit(0)  # nor at the end
