"""Text stays text: decoded by its byte order mark, as UTF-8, or as the policy says, and written in UTF-8."""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Iterator, Sequence

import orjson

from noarkit.copies.port import Failure, Finding, Outcome, Product, Rule, Task
from noarkit.copies.reasons import Reason
from noarkit.version import __version__

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NO_TEXT = re.compile("[\x00-\x08\x0e-\x19\x1b\x1c-\x1f\x7f-\x9f\ufffd]")
"""What stands in no text: controls (but the end of a file of DOS), and the sign for what could not be read."""
_CERTAIN = frozenset({"utf-8", *(encoding for _, encoding in _MARKS)})
_REVISION = "2"
DECODE_AS = "decode-as"
"""The option of a rule that lists the encodings to try where a text is no UTF-8."""


class TextConverter:
    """Writes texts in UTF-8, with the line ends that they have."""

    name = "text"

    def version(self) -> str:
        """The version of noarkit: the work is our own."""
        return __version__

    def options_digest(self, rule: Rule, target: str) -> str:
        """What a rule says of encodings, and the revision of this module."""
        options = [_REVISION, target, rule.options.get(DECODE_AS)]
        return hashlib.sha256(orjson.dumps(options)).hexdigest()[:16]

    def batch_size(self, task: Task) -> int:
        """Many at once: there is no program to start."""
        del task
        return 50

    def convert(self, tasks: Sequence[Task]) -> Iterator[tuple[Task, Outcome]]:
        """Each task in its turn."""
        for task in tasks:
            yield task, _convert(task)


def decode(data: bytes, fallbacks: Sequence[str]) -> tuple[str, str] | None:
    """A text and the encoding that it was read in; None where none of them reads it without loss."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _strict(data, encoding)
    for encoding in ("utf-8", *fallbacks):
        decoded = _strict(data, encoding)
        if decoded is not None:
            return decoded
    return None


def _strict(data: bytes, encoding: str) -> tuple[str, str] | None:
    try:
        text = data.decode(encoding).removeprefix("\ufeff")
    except (UnicodeDecodeError, LookupError):
        return None
    # every byte is a sign in some encodings: what reads as controls is something else, UTF-16 without a mark as a rule
    return None if encoding not in _CERTAIN and _NO_TEXT.search(text) else (text, encoding)


def _convert(task: Task) -> Outcome:
    fallbacks = task.rule.options.get(DECODE_AS)
    names = [str(name) for name in fallbacks] if isinstance(fallbacks, list | tuple) else []
    decoded = decode(task.source.read_bytes(), names)
    if decoded is None:
        return Failure(Reason.CONTENT_REFUSED, {"why": "no-encoding", "tried": ["utf-8", *names]})
    text, encoding = decoded
    if "\0" in text:
        return Failure(Reason.CONTENT_REFUSED, {"why": "binary"})
    product = task.folder / f"copy.{task.identity.suffix or 'txt'}"
    product.write_bytes(text.encode("utf-8"))
    return Product(product, "noarkit", __version__, (Finding("decoded-as", {"encoding": encoding}),))
