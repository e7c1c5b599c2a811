"""Another command of ours in front of this one: it writes to the same terminal, and whoever stops us stops it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from noarkit.safe.children import interpreter_command
from noarkit.safe.signals import own_session, stop_signals

_STOPPED = 128


WITHIN = "NOARKIT_WITHIN_PROJECT"
"""Set for a command that runs within another: what comes next is that one's to say."""


def run_in_front(words: Sequence[str]) -> int:
    """Runs `noarkit WORDS` to its end; its exit code. What asks us to stop is passed on, and we wait all the same."""
    sys.stdout.flush()
    sys.stderr.flush()
    command = interpreter_command("-m", "noarkit", *words)
    process = subprocess.Popen(command, env={**os.environ, WITHIN: "yes"}, **own_session())  # noqa: S603  # our own
    with _passing_on(process):
        code = process.wait()
    return code if code >= 0 else _STOPPED - code


@contextmanager
def _passing_on(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Passes the signals that ask us to end on to a process, as long as the block lasts."""

    def pass_on(number: int, _: FrameType | None) -> None:
        process.send_signal(number)

    former = {number: signal.signal(number, pass_on) for number in stop_signals()}
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
