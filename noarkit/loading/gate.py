"""Runs a command of the user's, for instance a virus scanner, on every content before it is uploaded.

It gets the bytes on its standard input. Exit code 0 lets the content pass; any other sets the item aside (F207). A
command that need not read to the end may stop; what it prints is thrown away, for it may name people.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO

from noarkit.errors import ItemRefused, UsageFault
from noarkit.graph.entity import Content
from noarkit.loading.contents import OpenContent
from noarkit.safe.children import child_environment
from noarkit.safe.digest import Readable

_BLOCK_BYTES = 256 * 1024
_PATIENCE_S = 600.0


@dataclass(frozen=True, slots=True)
class CommandGate:
    """A gate of `ContentUploader`: runs `command` once for each content. Make it with `command_gate`."""

    command: tuple[str, ...]
    patience_s: float = _PATIENCE_S

    def __call__(self, content: Content, open_content: OpenContent, /) -> None:
        """Passes a content that the command accepts; raises `ItemRefused`, and what opening the content raises."""
        with (
            open_content(content) as stream,
            subprocess.Popen(  # noqa: S603  # the site's own command, asked for by the one who runs us; no shell reads it
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=child_environment(),
            ) as running,
            # A scanner that hangs is killed, which ends the wait below with a negative code: refused, never let
            # through.
            _time_limit(self.patience_s, running),
        ):
            _feed(stream, running.stdin)
            # The exit code alone decides: a scanner that stops reading early may have found its virus in the first
            # block.
            code = running.wait()
        if code != 0:
            raise ItemRefused(key=content.locator, why="check-command", exit=code)


def command_gate(line: str) -> CommandGate:
    """Makes a gate of a command line, split as a shell would and run without one. Raises `UsageFault`."""
    try:
        command = tuple(shlex.split(line))
    except ValueError as error:
        raise UsageFault(what="bad-value", where=f"--check-command {line}") from error
    if not command or shutil.which(command[0]) is None:
        raise UsageFault(what="no-such-program", where=f"--check-command {line}")
    return CommandGate(command)


@contextmanager
def _time_limit(seconds: float, running: subprocess.Popen[bytes]) -> Iterator[None]:
    # A timer, for both writing to the pipe and waiting for the end may block; killing the command ends either.
    timer = threading.Timer(seconds, running.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _feed(stream: Readable, pipe: IO[bytes] | None) -> None:
    """Writes a stream to a pipe; stops quietly where the reader closes it early."""
    assert pipe is not None  # noqa: S101  # it was asked for
    try:
        while block := stream.read(_BLOCK_BYTES):
            pipe.write(block)
    except BrokenPipeError:
        pass
    finally:
        with suppress(BrokenPipeError):
            pipe.close()
