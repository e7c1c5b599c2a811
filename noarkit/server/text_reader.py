"""Reads the text of documents through a child process, which is replaced when it dies or takes too long.

The parsers run in another process because a hostile document may crash them or make them hang: the archive then loses
one child and one document's text, not its own process.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

from noarkit.safe.children import child_environment
from noarkit.server import document_text
from noarkit.server.document_text import Unreadable

_TIME_LIMIT_S = 20.0
# A process that has read so many documents gives back what its libraries have kept.
_MOST_DOCUMENTS = 200


class TextReader:
    """Reads documents one after the other; for one thread. close() ends the process."""

    def __init__(self, time_limit_s: float = _TIME_LIMIT_S) -> None:
        self._time_limit_s = time_limit_s
        self._child: subprocess.Popen[bytes] | None = None
        self._documents_read = 0
        self._stopped = False

    def read(self, path: Path, name: str, media_type: str) -> str:
        """The words of a document. Raises `Unreadable`, FileNotFoundError."""
        if document_text.is_plain(name, media_type):  # to decode it is safe in any process
            return document_text.text_of(path, name, media_type)
        answer = self._ask({"path": str(path), "name": name, "media_type": media_type})
        if "text" not in answer:
            raise Unreadable(answer.get("why", ""))
        return answer["text"]

    def stop(self) -> None:
        """Ends what is being read, from another thread; nothing is read any more."""
        self._stopped = True
        child = self._child
        if child is not None:
            child.kill()

    def close(self) -> None:
        """Ends the process."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.communicate()

    def _ask(self, question: dict[str, str]) -> dict[str, str]:
        if self._stopped:
            raise Unreadable("stopped")
        child = self._ensure_child()
        if child.stdin is None or child.stdout is None:
            raise Unreadable("no-process")
        timer = threading.Timer(self._time_limit_s, child.kill)
        timer.start()
        try:
            child.stdin.write(json.dumps(question).encode() + b"\n")
            child.stdin.flush()
            line = child.stdout.readline()
        except BrokenPipeError:
            line = b""
        finally:
            timer.cancel()
        self._documents_read += 1
        if not line.endswith(b"\n") or self._documents_read >= _MOST_DOCUMENTS:
            self.close()
        if not line.endswith(b"\n"):
            raise Unreadable("ended")
        answer: dict[str, str] = json.loads(line)
        return answer

    def _ensure_child(self) -> subprocess.Popen[bytes]:
        if self._child is None or self._child.poll() is not None:
            self.close()
            self._documents_read = 0
            self._child = subprocess.Popen(
                [sys.executable, "-m", "noarkit.server.document_text"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                env=child_environment(),
            )
        return self._child
