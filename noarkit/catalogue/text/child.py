"""The program that reads documents: each comes through its input, and its text goes out at once.

It runs without network where the system has walls for it, and everywhere within limits on memory and file size that it
sets itself before it has seen a document; a document can do no more than end it. Its bytes lie in one private folder.

A question is a frame with JSON (`name`, `media_type`), frames with the bytes of the document, and an empty one. An
answer is a frame with JSON (`reason`, `is_cut`, `has_gaps`,
`stretches`), and a frame with the text.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import orjson

from noarkit.catalogue.text.children import BROKEN_OFF, LENGTH
from noarkit.catalogue.text.decoding import MOST_BYTES, DocumentText
from noarkit.catalogue.text.reading import read_document
from noarkit.documents.refusal import Refusal
from noarkit.safe.children import die_with_parent
from noarkit.safe.limits import ProcessLimits, go_first, limit_process
from noarkit.safe.sandbox import Stopped
from noarkit.safe.workplace import temporary_folder

MEMORY_BYTES = 1536 * 1024 * 1024
_FORBIDDEN = ("socket.", "subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.system", "os.spawn", "pty.")


def main() -> None:
    """Reads documents until its input ends."""
    if "--in-walls" not in sys.argv:  # within them, the walls end with whoever built them
        die_with_parent()
    questions = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "r+b") as null:  # noqa: PTH123  # its descriptor is what is wanted
        os.dup2(null.fileno(), 0)
        os.dup2(null.fileno(), 1)
        os.dup2(null.fileno(), 2)
    _load_readers()
    _limit()
    sys.addaudithook(_refuse_other_doors)
    with temporary_folder("text") as folder:
        while (question := _receive(questions)) is not None:
            path = folder / "document"
            if _take_document(questions, path):
                _answer(answers, _read(path, orjson.loads(question)))
            path.unlink(missing_ok=True)


def _load_readers() -> None:
    """Loads what reads PDF, before there are limits on memory."""
    with suppress(ImportError):
        import pypdfium2  # noqa: F401  # an extra


def _limit() -> None:
    limit_process(ProcessLimits(memory_bytes=MEMORY_BYTES, file_bytes=MOST_BYTES + 1, files=128))
    go_first()


def _refuse_other_doors(event: str, _: tuple[object, ...]) -> None:
    if event.startswith(_FORBIDDEN):
        raise PermissionError(event)


def _read(path: Path, question: dict[str, str]) -> DocumentText:
    try:
        return read_document(path, question["name"], question["media_type"])
    except MemoryError:
        return DocumentText("", Stopped.MEMORY)
    except Exception:  # noqa: BLE001  # a document that is not what it seems makes its library raise anything
        return DocumentText("", Refusal.DAMAGED)


def _take_document(questions: BinaryIO, path: Path) -> bool:
    """Takes the bytes of a document; false where they broke off."""
    size = 0
    with path.open("wb") as file:
        while True:
            head = _exactly(questions, LENGTH.size)
            (length,) = LENGTH.unpack(head) if head is not None else (BROKEN_OFF,)
            if length == BROKEN_OFF:
                return False
            if not length:
                return True
            block = _exactly(questions, length)
            if block is None:
                return False
            size += length
            if size <= MOST_BYTES + 1:
                file.write(block)


def _receive(pipe: BinaryIO) -> bytes | None:
    head = _exactly(pipe, LENGTH.size)
    return None if head is None else _exactly(pipe, LENGTH.unpack(head)[0])


def _exactly(pipe: BinaryIO, size: int) -> bytes | None:
    content = pipe.read(size)
    return content if len(content) == size else None


def _answer(answers: BinaryIO, document: DocumentText) -> None:
    stretches = [[stretch.begin, stretch.end, stretch.layer] for stretch in document.stretches]
    told_of_it = {"reason": document.reason, "is_cut": document.is_cut, "has_gaps": document.has_gaps}
    facts = orjson.dumps({**told_of_it, "stretches": stretches})
    text = document.text.encode("utf-8", "replace")
    answers.write(LENGTH.pack(len(facts)) + facts + LENGTH.pack(len(text)) + text)
    answers.flush()
