"""Extracts the text of documents in a process with limited resources; what is read of them is told by `documents`.

`python -m noarkit.server.document_text` reads one JSON request a line (`{"path", "name", "media_type"}`) and answers
each with one line (`{"text"}` or `{"why"}`). It runs as a child process because parsers of untrusted documents may
loop, crash or eat memory: it limits its own memory and may not write files, and its parent kills it when an answer
takes too long. A document that cannot be parsed has no text; of what is attached to a mail there are only the names.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from noarkit.documents.detect import HEAD_BYTES, format_of
from noarkit.documents.reading import PLAIN_TEXTS, TextRequest, text_lines
from noarkit.documents.refusal import DocumentRefused
from noarkit.safe.limits import ProcessLimits, limit_process, yield_to_others

MOST_CHARACTERS = 1_000_000
MOST_BYTES = 64 * 1024 * 1024
_MOST_MEMORY_BYTES = 1024 * 1024 * 1024


class Unreadable(Exception):
    """The document has no words that can be read."""


def text_of(path: Path, name: str, media_type: str) -> str:
    """The text of a document, at most a million characters. Raises `Unreadable`."""
    if path.stat().st_size > MOST_BYTES:
        raise Unreadable("too-large")
    pieces, length = [], 0
    try:
        for line in text_lines(path, name, media_type, TextRequest(has_attachments=False)):
            pieces.append(line.text)
            length += len(line.text)
            if length >= MOST_CHARACTERS:
                break
    except DocumentRefused as refused:
        if not length:
            raise Unreadable(str(refused.reason)) from refused
    return "".join(pieces)[:MOST_CHARACTERS].replace("\x00", " ")


def is_plain(path: Path, name: str, media_type: str) -> bool:
    """True for plain text in a file, which only has to be decoded. Raises `OSError`."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return format_of(file.read(HEAD_BYTES), name, media_type) in PLAIN_TEXTS


def _limit_resources() -> None:
    """Limits the memory and the file size of this process; elsewhere the parent's time-out is the only limit."""
    yield_to_others()
    limit_process(ProcessLimits(memory_bytes=_MOST_MEMORY_BYTES, file_bytes=0))


def _answer(question: str) -> dict[str, str]:
    try:
        request = json.loads(question)
        return {"text": text_of(Path(request["path"]), str(request["name"]), str(request["media_type"]))}
    except Unreadable as fault:
        return {"why": str(fault)}
    except Exception as fault:  # noqa: BLE001  # a document may break its reader in any way; it then has no words
        return {"why": type(fault).__name__}


def main() -> None:
    """Answers until its questions end."""
    import logging

    logging.disable(logging.CRITICAL)
    _limit_resources()
    for question in sys.stdin:
        sys.stdout.write(json.dumps(_answer(question)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
