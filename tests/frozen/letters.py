"""What a frozen run was made of: letters that are the same on every machine, today and in ten years."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from noarkit.graph.entity import Content
from noarkit.records import Source, SourceRecord
from noarkit.sources.reader import from_reader

COUNT = 120


class Letters:
    """A reader of some letters, each with one document."""

    def records(self) -> Iterator[SourceRecord]:
        """The letters in their order."""
        for number in range(1, COUNT + 1):
            key = f"letter-{number:03}"
            text = text_of(key)
            content = Content(
                key, f"{key}.txt", len(text), None, hashlib.sha256(text).hexdigest(), "text/plain", "x-fmt/111"
            )
            yield SourceRecord("letter", key, {"title": f"Letter {number}"}, (content,))

    def open(self, locator: str) -> bytes:
        """The document of a letter."""
        return text_of(locator)


def text_of(key: str) -> bytes:
    """The document of a letter, by its key."""
    return f"This is {key}.\n".encode() * 20


def source() -> Source:
    """The source of the letters."""
    return from_reader(Letters(), "frozen-letters", "cupboard")
