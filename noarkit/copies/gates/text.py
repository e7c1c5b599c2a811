"""The gate of texts: the copy is UTF-8, and says character for character what the document says."""

from __future__ import annotations

from collections.abc import Sequence

from noarkit.copies.port import Failure, Finding, Product, Task
from noarkit.copies.reasons import Reason


class TextGate:
    """Compares the characters of a document with those of its copy, decoded as the converter says."""

    name = "text"

    def check(self, task: Task, product: Product) -> Sequence[Finding] | Failure:
        """Nothing to tell, or why this is no copy."""
        encodings = [finding.data.get("encoding") for finding in product.findings if finding.code == "decoded-as"]
        encoding = str(encodings[0]) if encodings else "utf-8-sig"
        try:
            copy = product.path.read_bytes().decode("utf-8", "strict")
        except UnicodeDecodeError as error:
            return Failure(Reason.NOT_VALID, {"byte": error.start})
        try:
            text = task.source.read_bytes().decode(encoding, "strict")
        except (UnicodeDecodeError, LookupError):
            return Failure(Reason.TEXT_MISSING, {"encoding": encoding})
        if copy != text:
            return Failure(Reason.TEXT_MISSING, {"characters": len(text), "found": len(copy)})
        if "\N{REPLACEMENT CHARACTER}" in text:
            return [Finding("replacement-characters", {"count": text.count("\N{REPLACEMENT CHARACTER}")})]
        return []
