"""Hooks: commands of the site's own at the start, at a success, at a failure, and one that is given each event.

A hook gets one JSON object on its stdin. The hook for each event is one process for the whole command, which gets a
line for each; it is fed by a thread, so that a slow reader never makes the work wait.
"""

from __future__ import annotations

import json
import queue
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from noarkit.errors import HookPostponed, HookRefused, NoarkitError, NotTold
from noarkit.operations.job import Moment
from noarkit.safe.children import OUR_THREADS
from noarkit.safe.commands import close_input, end_command, run_command, split_command, start_command

TEMPORARY = 75
"""The exit code by which a hook says «not now» (EX_TEMPFAIL of sysexits)."""
_MAX_WAITING = 10_000


def run_hooks(
    moment: Moment, commands: Sequence[str], payload: Mapping[str, object], timeout_s: float
) -> list[NoarkitError]:
    """Runs the hooks of a moment, one after another, and returns what went wrong; at the start the first ends them."""
    faults: list[NoarkitError] = []
    content = (json.dumps(payload) + "\n").encode()
    for command in commands:
        fault = _run_hook(moment, command, content, timeout_s)
        if fault is not None:
            faults.append(fault)
            if moment == "start":
                break
    return faults


def _run_hook(moment: Moment, command: str, content: bytes, timeout_s: float) -> NoarkitError | None:
    kind: Callable[..., NoarkitError] = HookRefused if moment == "start" else NotTold
    location = hook_name(moment, command)
    try:
        status = run_command(command, content, timeout_s)
    except OSError as error:
        return kind(where=location, why=_why_not_started(error))
    if status is None:
        return kind(where=location, why="hook-too-slow", limit=timeout_s)
    if status == 0:
        return None
    if moment == "start" and status == TEMPORARY:
        return HookPostponed(where=location)
    return kind(where=location, why="hook-failed", status=status)


def hook_name(moment: str, command: str) -> str:
    """How a hook is told: its moment and its program, never its other words."""
    return f"{moment}: {split_command(command)[0]}"


class EventPipe:
    """A hook that is given each event, as a line of JSON on its stdin."""

    def __init__(self, command: str) -> None:
        self._name = hook_name("each", command)
        self._lines: queue.Queue[bytes | None] = queue.Queue(_MAX_WAITING)
        self._lost_count = 0
        self._process: subprocess.Popen[bytes] | None = None
        self.fault: NoarkitError | None = None
        try:
            self._process = start_command(command)
        except OSError as error:
            self.fault = NotTold(where=self._name, why=_why_not_started(error))
            return
        self._thread = threading.Thread(target=self._feed, name=f"{OUR_THREADS}hook", daemon=True)
        self._thread.start()

    def send(self, payload: Mapping[str, object]) -> None:
        """Hands over an event; where the hook reads too slowly, events are lost and counted."""
        if self._process is None:
            return
        try:
            self._lines.put_nowait((json.dumps(payload) + "\n").encode())
        except queue.Full:
            self._lost_count += 1

    def close(self, timeout_s: float) -> NoarkitError | None:
        """Ends the stream and waits for the hook, at most so long; what went wrong, if anything did.

        Whoever is interrupted while it waits calls `abandon`.
        """
        process = self._process
        if process is None:
            return self.fault
        ends_s = time.monotonic() + timeout_s
        try:
            self._lines.put(None, timeout=timeout_s)
            self._thread.join(max(ends_s - time.monotonic(), 0.0))
            status = process.wait(max(ends_s - time.monotonic(), 0.0))
            is_late = self._thread.is_alive()  # lines are unread: what the hook has left behind holds its stdin
        except (queue.Full, subprocess.TimeoutExpired):
            is_late = True
        if is_late:
            self.abandon()
            return NotTold(where=self._name, why="hook-too-slow", limit=timeout_s)
        if status != 0:
            return NotTold(where=self._name, why="hook-failed", status=status)
        if self._lost_count:
            return NotTold(where=self._name, why="events-lost", count=self._lost_count)
        return None

    def abandon(self) -> None:
        """Ends the hook at once, and the thread that feeds it as soon as nobody holds it any more."""
        if self._process is None:
            return
        end_command(self._process)
        with suppress(queue.Empty):
            while True:
                self._lines.get_nowait()
        self._lines.put_nowait(None)

    def _feed(self) -> None:
        """Writes what is handed over until the end; after a hook that reads no more, to nobody."""
        process = self._process
        assert process is not None and process.stdin is not None  # noqa: S101  # the thread of a started process
        readable = True
        while (line := self._lines.get()) is not None:
            if readable:
                try:
                    process.stdin.write(line)
                    process.stdin.flush()
                except OSError:
                    readable = False  # it ended: its exit code, asked for in the end, says how
        close_input(process.stdin)


def _why_not_started(error: OSError) -> str:
    return "hook-missing" if isinstance(error, FileNotFoundError) else "hook-not-started"
