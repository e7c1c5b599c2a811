"""Is a text the same text in another encoding? Written back as it was read, it must be the same bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from noarkit.copies.port import Failure, Finding, Product, Task
from noarkit.copies.reasons import Reason
from noarkit.copies.tokens import LOST
from noarkit.documents.encodings import MARKS, is_encoded_twice, likelier_readings

_CERTAIN = frozenset({"utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", *(name for _, name in MARKS)})
_MOST_SHOWN = 80


@dataclass(frozen=True, slots=True)
class TextGate:
    """The product is UTF-8, and its source byte for byte when it is written back."""

    name: str = "text"

    def check(self, task: Task, product: Product) -> Sequence[Finding] | Failure:
        """Fails where the product is no UTF-8, or another text than the original."""
        if task.target != "utf-8":
            return ()
        encoding = next((str(found.data["encoding"]) for found in product.findings if found.code == "decoded-as"), "")
        if not encoding:
            return Failure(Reason.WRONG_FORMAT, {"wanted": "utf-8", "is": "unknown"})
        source = task.source.read_bytes()
        try:
            text = product.path.read_bytes().decode("utf-8")
            same = text.encode(encoding) == source or ("\ufeff" + text).encode(encoding) == source
        except (UnicodeError, LookupError):
            return Failure(Reason.WRONG_FORMAT, {"wanted": "utf-8", "is": "unknown"})
        if not same or (LOST in text and LOST.encode() not in source):
            return Failure(Reason.TEXT_MISSING, {"encoding": encoding})
        return tuple(_doubts(source, text, encoding))


def _doubts(source: bytes, text: str, encoding: str) -> Iterator[Finding]:
    """What speaks against the encoding that a text was read in: many bytes make some text in any."""
    if is_encoded_twice(text):
        yield Finding("encoded-twice", {"line": _first_odd_line(text)})
    readings = {} if encoding in _CERTAIN else likelier_readings(source, encoding)
    if readings:
        lines = [f"{name}: {_first_odd_line(reading)}" for name, reading in readings.items()]
        yield Finding("encoding-doubtful", {"encoding": encoding, "line": _first_odd_line(text), "readings": lines})


def _first_odd_line(text: str) -> str:
    """The first line with a letter beyond ASCII, as far as anybody needs it to tell which reading is right."""
    return next((line.strip()[:_MOST_SHOWN] for line in text.splitlines() if not line.isascii()), "")
