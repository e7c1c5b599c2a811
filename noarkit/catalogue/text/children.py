"""Children that read documents, as whoever starts them sees them: a document goes in, its text or a reason comes out.

A child that dies, hangs or says too much costs the document that it was reading, and nothing else: it is ended with all
below it, and the next document gets a new one. None outlives us: its input closes with us, and its walls fall.
"""

from __future__ import annotations

import struct
import subprocess
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

import orjson

from noarkit.catalogue.text.decoding import DocumentText, stretches_from
from noarkit.documents.layers import MOST_CHARACTERS
from noarkit.safe.children import interpreter_command, interpreter_environment, interpreter_folders
from noarkit.safe.pipes import PipeReader, PipeWriter
from noarkit.safe.process_tree import descendants
from noarkit.safe.sandbox import Stopped, walls_around
from noarkit.safe.signals import kill_tree, own_session, was_killed

LENGTH = struct.Struct("<I")
BROKEN_OFF = 0xFFFFFFFF
"""Instead of a length: the rest of the document could not be had."""
_PROGRAM = "from noarkit.catalogue.text.child import main; main()"
_BLOCK_BYTES = 64 * 1024
_MOST_ANSWER_BYTES = 4 * MOST_CHARACTERS + 64 * 1024
_MOST_DOCUMENTS = 500
"""One child reads no more, so that what leaks goes back."""
_OF_PYTHON = ("PYTHONPATH", "LD_LIBRARY_PATH")


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a document may take: so many seconds, and more for each megabyte."""

    least_s: float = 60.0
    per_megabyte_s: float = 1.0
    most_s: float = 600.0

    def for_size(self, size_bytes: int) -> float:
        """The seconds for a document of this size."""
        return min(self.most_s, self.least_s + size_bytes / 1_000_000 * self.per_megabyte_s)


class TextChild:
    """One child. It is started when it gets its first document, and again after a death."""

    def __init__(self, patience: Patience | None = None) -> None:
        self._patience = patience or Patience()
        self._process: subprocess.Popen[bytes] | None = None
        self._writer: PipeWriter | None = None
        self.reader: PipeReader | None = None
        """What has something to read when it answers or ends."""
        self._documents = 0
        self._answer = bytearray()
        self._deadline = 0.0

    @property
    def is_isolated(self) -> bool:
        """True where it has no network and sees no other file."""
        return _command()[1]

    @property
    def pid(self) -> int | None:
        """The id of its process, where there is one."""
        return self._process.pid if self._process is not None else None

    @property
    def deadline(self) -> float:
        """When its answer is overdue, by the monotonic clock."""
        return self._deadline

    def ask(self, name: str, media_type: str, blocks: Iterable[bytes]) -> None:
        """Gives it a document to read. What reading the document raises passes through, and the child forgets it.

        One that dies meanwhile is told by its answer.
        """
        self._start()
        self._answer.clear()
        self._documents += 1
        self._deadline = time.monotonic() + self._patience.least_s
        size = 0
        try:
            self._send_frame(orjson.dumps({"name": name, "media_type": media_type}))
            for block in blocks:
                if block:
                    self._send_frame(block)
                    size += len(block)
        except BaseException:
            self._send(LENGTH.pack(BROKEN_OFF))
            raise
        self._send(LENGTH.pack(0))
        self._deadline = time.monotonic() + self._patience.for_size(size)

    def collect(self) -> DocumentText | None:
        """Its answer, as far as it has come: None where more is to come. An overdue or broken child is ended."""
        if time.monotonic() > self._deadline:
            self.kill()
            return DocumentText("", Stopped.TIMED_OUT)
        assert self.reader is not None  # noqa: S101  # it was asked
        block = self.reader.read_ready()
        if block is None:
            return None
        self._answer += block
        if not block or len(self._answer) > _MOST_ANSWER_BYTES:
            reason = Stopped.TOO_LARGE if block else self._cause()
            self.kill()
            return DocumentText("", reason)
        answer = _whole_answer(self._answer)
        if answer is not None and (answer.reason == Stopped.MEMORY or self._documents >= _MOST_DOCUMENTS):
            self.kill()
        return answer

    def kill(self) -> None:
        """Ends it, with all below it."""
        process, self._process, self._documents = self._process, None, 0
        if process is None:
            return
        # what is within walls has a session of its own, and dies with what built them only once it is under way
        for below in (*descendants(process.pid), process.pid):
            kill_tree(below)
        for pipe in (process.stdin, process.stdout):
            _close(pipe)
        process.wait()

    def _start(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        self.kill()
        command, _ = _command()
        self._process = subprocess.Popen(  # noqa: S603  # our own interpreter, our own module, nothing from outside
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=interpreter_environment(),
            **own_session(),
        )
        assert self._process.stdin is not None and self._process.stdout is not None  # noqa: S101  # pipes
        self.reader = PipeReader(self._process.stdout)
        self._writer = PipeWriter(self._process.stdin, self._process.kill)

    def _cause(self) -> Stopped:
        """Why it ended without an answer."""
        assert self._process is not None  # noqa: S101  # it was asked
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        return Stopped.MEMORY if was_killed(self._process.returncode) else Stopped.CRASHED

    def _send_frame(self, content: bytes) -> None:
        self._send(LENGTH.pack(len(content)))
        self._send(content)

    def _send(self, content: bytes) -> None:
        """Sends as fast as it takes; gives up, without a word, on one that is dead or has stopped reading."""
        assert self._writer is not None  # noqa: S101  # it was started
        self._writer.write(content, self._deadline)


def _close(pipe: IO[bytes] | None) -> None:
    if pipe is not None:
        with suppress(OSError):
            pipe.close()


def _whole_answer(answer: bytearray) -> DocumentText | None:
    """The answer, where all of it is there."""
    if len(answer) < LENGTH.size:
        return None
    (facts_size,) = LENGTH.unpack_from(answer)
    begin = LENGTH.size + facts_size
    if len(answer) < begin + LENGTH.size:
        return None
    (text_size,) = LENGTH.unpack_from(answer, begin)
    begin += LENGTH.size
    if len(answer) < begin + text_size:
        return None
    try:
        facts = orjson.loads(answer[LENGTH.size : LENGTH.size + facts_size])
        text = answer[begin : begin + text_size].decode("utf-8", "replace")
        stretches = stretches_from(facts["stretches"], len(text))
        return DocumentText(text, str(facts["reason"]), bool(facts["is_cut"]), bool(facts["has_gaps"]), stretches)
    except (ValueError, KeyError, TypeError):
        return DocumentText("", Stopped.CRASHED)


def _command() -> tuple[Sequence[str], bool]:
    """How a child is started, and whether that is within walls."""
    environment = interpreter_environment()
    variables = {name: environment[name] for name in _OF_PYTHON if name in environment}
    walls = walls_around(interpreter_folders(), {**variables, "PYTHONDONTWRITEBYTECODE": "1"})
    if walls is None:
        return interpreter_command("-c", _PROGRAM), False
    return [*walls, *interpreter_command("-c", _PROGRAM, "--in-walls")], True
