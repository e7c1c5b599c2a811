"""Which bytes of a part of an office document to take out or to replace, so that its fields stay as they were stored.

Each editor sees every element once, with the place where its tag begins; what it leaves alone stays byte for byte.
Nothing but places is kept, so a part may be large.
"""

from __future__ import annotations

import io
import mmap
import re
from array import array
from collections.abc import Iterator, Mapping
from typing import BinaryIO, cast
from xml.parsers import expat

from noarkit.safe.sax import event_parser, feed

Content = bytes | mmap.mmap

_TAG = re.compile(rb"<([^\s/>]+)(?:\s+[^\s=/>]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*\s*(/?)>")
_BLOCK_BYTES = 1024 * 1024


class UnfitPart(Exception):
    """A part in an encoding in which its places cannot be told."""


class Edits:
    """Ranges of bytes to take out, or to put something else for."""

    def __init__(self) -> None:
        self._starts, self._ends = array("Q"), array("Q")
        self._texts: dict[int, bytes] = {}

    def __bool__(self) -> bool:
        return bool(self._starts)

    def cut(self, start: int, end: int) -> int:
        """Takes a range out; the number given is for `restore`."""
        self._starts.append(start)
        self._ends.append(end)
        return len(self._starts) - 1

    def put(self, start: int, end: int, text: bytes) -> None:
        """Puts `text` for a range."""
        self._texts[start] = text
        self.cut(start, end)

    def restore(self, number: int) -> None:
        """Leaves a range alone after all."""
        self._ends[number] = self._starts[number]

    def apply(self, content: Content) -> Iterator[bytes]:
        """The content with all edits, in blocks. A range within another goes with it."""
        position = 0
        for start, end in sorted(zip(self._starts, self._ends, strict=True), key=lambda span: (span[0], -span[1])):
            if start < position or start == end:
                continue
            yield from _blocks(content, position, start)
            yield self._texts.get(start, b"")
            position = end
        yield from _blocks(content, position, len(content))


def _blocks(content: Content, start: int, end: int) -> Iterator[bytes]:
    for place in range(start, end, _BLOCK_BYTES):
        yield content[place : min(end, place + _BLOCK_BYTES)]


class Tag:
    """One element that is open: where its tag begins and ends, and what stands in it."""

    __slots__ = ("attributes", "closed", "content", "end", "name", "prefixed", "start", "text")

    def __init__(self, name: str, attributes: Mapping[str, str], start: int, content: Content) -> None:
        self.name, self.attributes, self.start, self.content = name, attributes, start, content
        self.end, self.closed, self.prefixed, self.text = -1, False, b"", ""

    def measure(self) -> None:
        """Finds where the tag ends."""
        match = _TAG.match(self.content, self.start)
        if match is None:
            raise UnfitPart
        self.end, self.closed, self.prefixed = match.end(), bool(match.group(2)), match.group(1)

    def span(self, end_event: int) -> tuple[int, int]:
        """The whole element, from its end event."""
        if self.end < 0:
            self.measure()
        return self.start, self.end if self.closed else self.content.find(b">", end_event) + 1


class PartEditor:
    """Reads one part and collects edits; each kind of document has its own."""

    def __init__(self, content: Content, where: str) -> None:
        self.content, self.where = content, where
        self.edits = Edits()
        self.frozen = 0
        self.unfrozen: list[str] = []
        self.prints_name = False
        self.names: list[str] = []
        self._tags: list[Tag | None] = []
        self._parser: expat.XMLParserType

    def read(self) -> None:
        """Goes through the part once. `UnfitPart` where places in it cannot be told."""
        parser = self._parser = event_parser(self.where)
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._characters
        source = self.content if isinstance(self.content, mmap.mmap) else io.BytesIO(self.content)
        for _ in feed(parser, cast(BinaryIO, source), self.where):  # a mapping reads as a file does
            pass
        self.content = b""

    def abandon(self) -> None:
        """Gives a part up that cannot be edited: it stays as it is, and that is said."""
        self.edits, self.frozen, self.unfrozen, self.content = Edits(), 0, ["encoding"], b""

    def watches(self, name: str, parent: str) -> bool:
        """Whether the editor wants to see elements of a local name within those of another."""
        raise NotImplementedError

    def opened(self, tag: Tag) -> None:
        """A watched element begins."""

    def closing(self, tag: Tag, at: int) -> None:
        """A watched element ends; its end tag begins at `at`."""

    def unwrap(self, tag: Tag, at: int) -> None:
        """Takes the tags of an element out, and leaves what is between them."""
        start, end = tag.span(at)
        self.edits.cut(start, tag.end)
        if not tag.closed:
            self.edits.cut(at, end)
        self.frozen += 1

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(" ")[2]
        tag = None
        if self.watches(local, self.names[-1] if self.names else ""):
            place = self._parser.CurrentByteIndex
            tag = Tag(local, {key.rpartition(" ")[2]: text for key, text in attributes.items()}, place, self.content)
        self.names.append(local)
        self._tags.append(tag)
        if tag is not None:
            self.opened(tag)

    def _end(self, name: str) -> None:
        self.names.pop()
        tag = self._tags.pop()
        if tag is not None:
            self.closing(tag, self._parser.CurrentByteIndex)

    def _characters(self, text: str) -> None:
        tag = self._tags[-1] if self._tags else None
        if tag is not None:
            tag.text += text
