"""What all readers of a package's XML do: they hear of elements, keep the text at hand, and give what they found."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import BinaryIO, Generic, TypeVar, cast
from xml.parsers.expat import XMLParserType

from noarkit.errors import UnsafeXml
from noarkit.safe.digest import Readable
from noarkit.safe.sax import check_text, event_parser, feed

Found = TypeVar("Found")


class XmlReader(ABC, Generic[Found]):
    """The state between two events. `_text` is None if no text is wanted."""

    def __init__(self, parser: XMLParserType, where: str, max_depth: int) -> None:
        self._parser = parser
        self._where = where
        self._max_depth = max_depth
        self._items: list[Found] = []
        self._text: list[str] | None = None

    def drain(self) -> list[Found]:
        """What was found since the last call. Raises `UnsafeXml` for a text without end."""
        items, self._items = self._items, []
        if self._text is not None:
            check_text(self._text, self._parser, self._where)
        return items

    @abstractmethod
    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""

    @abstractmethod
    def end(self, name: str) -> None:
        """It ends."""

    def data(self, text: str) -> None:
        """Some of its text."""
        if self._text is not None:
            self._text.append(text)

    def _check_depth(self, depth: int) -> None:
        if depth > self._max_depth:
            raise UnsafeXml(where=self._where, why="depth", line=self._parser.CurrentLineNumber)


def read_items(source: Readable, where: str, begin: Callable[[XMLParserType], XmlReader[Found]]) -> Iterator[Found]:
    """Everything that a reading finds, as it comes. Raises `PackageFault`, `UnsafeXml`."""
    parser = event_parser(where)
    reader = begin(parser)
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.CharacterDataHandler = reader.data
    for _ in feed(parser, cast(BinaryIO, source), where):  # only read() is asked
        yield from reader.drain()
    yield from reader.drain()
