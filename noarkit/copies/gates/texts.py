"""Is a text the same text in another encoding? Written back as it was read, it must be the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from noarkit.copies.port import Failure, Finding, Product, Task
from noarkit.copies.reasons import Reason
from noarkit.copies.tokens import LOST


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
        return ()
