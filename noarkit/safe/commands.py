"""Commands of the site's own: split into words without a shell, bounded in time, with none of our secrets.

What such a command prints goes to stderr, so that stdout stays ours. Where its time is up it is killed with everything
that it has started.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess  # the one door through which a site's own commands are started
import sys
from contextlib import suppress
from typing import IO

from noarkit.safe.children import child_environment
from noarkit.safe.signals import kill_tree, own_session

_REAP_S = 5.0


def split_command(command: str) -> list[str]:
    """The words of a command line; no shell ever sees it. Raises `ValueError` where it names no program."""
    splitter = shlex.shlex(command, posix=True)
    splitter.whitespace_split, splitter.commenters = True, ""
    if sys.platform == "win32":
        splitter.escape = ""  # there a backslash stands between folders
    words = list(splitter)
    if not words or not words[0] or "\0" in command:
        raise ValueError("no program")
    return words


def start_command(command: str) -> subprocess.Popen[bytes]:
    """Starts a command that reads what we write to its stdin. Raises `OSError` where it cannot be started."""
    return subprocess.Popen(  # noqa: S603  # the command stands in the site's own config or on its command line
        split_command(command),
        stdin=subprocess.PIPE,
        stdout=_stderr(),
        stderr=_stderr(),
        env=child_environment(),
        **own_session(),
    )


def run_command(command: str, content: bytes, timeout_s: float) -> int | None:
    """Runs a command with `content` on its stdin; its exit code, or None where it was killed because its time was up.

    Raises `OSError` where it cannot be started.
    """
    process = start_command(command)
    try:
        process.communicate(content, timeout=timeout_s)
    except subprocess.TimeoutExpired:
        end_command(process)
        close_input(process.stdin)
        return None
    except BaseException:  # a signal: what we started does not outlive us
        end_command(process)
        close_input(process.stdin)
        raise
    return process.returncode


def end_command(process: subprocess.Popen[bytes]) -> None:
    """Kills a command with everything that it has started; one that runs as somebody else is left to itself.

    Its stdin stays open: closing it would wait for a thread that writes to it.
    """
    if sys.platform == "win32":
        kill_tree(process.pid)
    else:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            with suppress(PermissionError):
                process.kill()  # it is gone already, has made itself a group of its own, or is not ours to kill
    with suppress(subprocess.TimeoutExpired):
        process.wait(_REAP_S)


def close_input(stream: IO[bytes] | None) -> None:
    """Closes the stdin of a command, whether anybody still reads it or not."""
    if stream is not None:
        with suppress(OSError):  # what was not read any more is nobody's
            stream.close()


def _stderr() -> int:
    """Where a command may print: our stderr, as a descriptor."""
    try:
        os.fstat(2)
    except OSError:
        return subprocess.DEVNULL
    return 2
