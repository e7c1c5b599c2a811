"""Processes and the signals between them, in the same way on every system.

Windows has no signals between processes: there a process is ended at once or not at all, and asking with the number 0
whether one is there would end it. What Ctrl-Break is there, SIGTERM is elsewhere.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    import asyncio

_TIMED_OUT = 258  # what a wait says of a process that runs
_SYNCHRONIZE = 0x00100000
_NOT_ALLOWED = 5
_KILLED_BY_SHELL = 128


class SessionOptions(TypedDict, total=False):
    """What a program is started with so that keys pressed at our terminal reach us alone."""

    start_new_session: bool
    creationflags: int


def own_session() -> SessionOptions:
    """The options for `subprocess.Popen`."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
    return {"start_new_session": True}


def stop_signals() -> tuple[signal.Signals, ...]:
    """The signals that ask a process to end: of a terminal, of a service manager, and of a console of Windows."""
    if sys.platform == "win32":
        return signal.SIGINT, signal.SIGTERM, signal.SIGBREAK
    return signal.SIGINT, signal.SIGTERM


def status_signal() -> signal.Signals | None:
    """The signal that asks how far the work is; None where there is none."""
    if sys.platform == "win32":
        return None
    return signal.SIGUSR1


def ignore_stop_signals() -> None:
    """For a child whose parent decides when to stop."""
    for number in stop_signals():
        signal.signal(number, signal.SIG_IGN)


def call_at_stop(loop: asyncio.AbstractEventLoop, call: Callable[[str], object]) -> None:
    """Calls a function of a loop, with the name of the signal, when this process is asked to end."""

    def call_in_loop(number: int, _: FrameType | None) -> None:
        loop.call_soon_threadsafe(call, signal.Signals(number).name)

    for number in stop_signals():
        # a loop of Windows takes no signals itself
        signal.signal(number, call_in_loop)


def is_running(process: int) -> bool:
    """True if there is a process of this number, whoever's it is."""
    if process <= 0:
        return False
    if sys.platform == "win32":
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel.OpenProcess.restype = ctypes.c_void_p
        handle = kernel.OpenProcess(_SYNCHRONIZE, False, process)
        if not handle:
            return ctypes.get_last_error() == _NOT_ALLOWED
        try:
            return bool(kernel.WaitForSingleObject(ctypes.c_void_p(handle), 0) == _TIMED_OUT)
        finally:
            kernel.CloseHandle(ctypes.c_void_p(handle))
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def wait_for_end_of(child: int, patience_s: float) -> None:
    """Waits at most so long for the end of a child, on Linux; elsewhere it returns at once."""
    if sys.platform == "linux":
        # `wait` with a time-out looks, sleeps up to 50 ms and looks again; a descriptor wakes us at once.
        # Where a program that imports us ignores SIGCHLD, the system may have reaped it by now.
        with suppress(ProcessLookupError):
            descriptor = os.pidfd_open(child)
            try:
                end = select.poll()  # `select` takes no descriptor above 1,023
                end.register(descriptor, select.POLLIN)
                end.poll(patience_s * 1000)
            finally:
                os.close(descriptor)


def kill(process: int) -> None:
    """Ends a process at once; nothing happens where it is gone, or not ours."""
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            with suppress(OSError):  # a number that nobody has is a wrong parameter there
                os.kill(process, signal.SIGTERM)  # which ends it at once, there
        else:
            os.kill(process, signal.SIGKILL)


def kill_tree(process: int) -> None:
    """Ends a process with all below it, on Windows; elsewhere it alone."""
    if sys.platform == "win32":
        with suppress(OSError, subprocess.SubprocessError):
            command = ["taskkill", "/F", "/T", "/PID", str(process)]
            subprocess.run(command, capture_output=True, timeout=30, check=False)  # noqa: S603  # nothing from outside
    kill(process)


def suspend(process: int) -> None:
    """Stops a process for now, where the system can, so that it starts nothing while what it started is ended."""
    if sys.platform != "win32":
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGSTOP)


def reap_children() -> None:
    """Takes leave of the children of this process that have ended."""
    if sys.platform != "win32":
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def end_by(number: int) -> None:
    """Ends this process as the signal would have, had nobody caught it."""
    signal.signal(number, signal.SIG_DFL)
    if sys.platform == "win32":
        signal.raise_signal(number)
    else:
        os.kill(os.getpid(), number)


def set_alarm(seconds: int) -> None:
    """Lets the system end this process after so many seconds, where it can; 0 takes that back."""
    if sys.platform != "win32":
        if seconds:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(seconds)


def was_killed(exit_code: int | None) -> bool:
    """True for the exit code of a process that was ended at once, also where a shell tells of it."""
    if sys.platform == "win32":
        return False  # there nothing tells it from any other end
    return exit_code in (-signal.SIGKILL, _KILLED_BY_SHELL + signal.SIGKILL)


def ran_out_of_time(exit_code: int) -> bool:
    """True where the system ended a process for its limit of processor time."""
    return sys.platform != "win32" and exit_code == -signal.SIGXCPU


def wrote_too_much(exit_code: int) -> bool:
    """True where the system ended a process for its limit of file size."""
    return sys.platform != "win32" and exit_code == -signal.SIGXFSZ
