"""Asks a program of ours that runs in an interpreter of its own: a question is a line, and so is its answer.

For what no fork may serve (`worker_pool`): there are threads here, and a fork beside threads can inherit a lock that
nobody will ever release; or the program has a runtime, or reads documents, that must not share our process. It runs in
a session of its own, so that Ctrl-C reaches us alone, without our secrets, and takes no module from the folder that a
user happens to be in. It ends when its input is closed, thus with us, however we end. One question is asked at a time,
and nothing is queued; one that is not answered in time, or by a program that has ended, is told by `WorkerLost`.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Sequence
from typing import IO

from noarkit.safe.children import WorkerLost, interpreter_command, interpreter_environment
from noarkit.safe.pipes import PipeReader
from noarkit.safe.signals import own_session

_LOOK_S = 3600.0


class LineWorker:
    """A running program: `function` of `module`, which reads lines of stdin and answers each on stdout.

    `inherited_files` are descriptors that it shares with us. What it says on stderr is dropped where it is `quiet`.
    """

    def __init__(self, module: str, function: str, *, inherited_files: Sequence[int] = (), quiet: bool = False) -> None:
        self._process = subprocess.Popen(  # noqa: S603  # our own interpreter, our own module, nothing from outside
            interpreter_command("-c", f"from {module} import {function}; {function}()"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if quiet else None,
            pass_fds=inherited_files if sys.platform != "win32" else (),  # it can hand on none
            **own_session(),
            env=interpreter_environment(),
        )
        assert self._process.stdin is not None and self._process.stdout is not None  # noqa: S101  # both are pipes
        self._input: IO[bytes] = self._process.stdin
        self._output: IO[bytes] = self._process.stdout
        self._reader = PipeReader(self._output)
        self._answer = bytearray()

    @property
    def pid(self) -> int:
        """The id of its process."""
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        """True once the program is gone."""
        return self._process.poll() is not None

    def ask(self, question: bytes, patience_s: float | None = None) -> bytes:
        """The answer to a line. Raises `WorkerLost`, also where none begins within `patience_s`."""
        try:
            self._input.write(question + b"\n")
            self._input.flush()
        except OSError as error:
            raise WorkerLost from error
        if patience_s is not None and not self._reader.is_ready(patience_s):
            raise WorkerLost
        return self._next_line()

    def close_input(self) -> None:
        """Asks it to end; `close` waits for that."""
        with contextlib.suppress(BrokenPipeError):
            self._input.close()

    def close(self) -> None:
        """Ends it once it is idle, and waits for its end."""
        self.close_input()
        self._process.wait()
        self._output.close()

    def interrupt(self) -> None:
        """Ends it, whatever it does; from any thread. Who asks just now is told `WorkerLost`, and closes it."""
        self._process.kill()

    def kill(self) -> None:
        """Ends it, whatever it does, and waits for its end."""
        self._process.kill()
        self.close()

    def _next_line(self) -> bytes:
        answer, self._answer = self._answer, bytearray()
        while not answer.endswith(b"\n"):
            if not self._reader.is_ready(_LOOK_S):
                continue
            block = self._reader.read_ready()
            if not block:
                raise WorkerLost
            answer += block
        return bytes(answer)
