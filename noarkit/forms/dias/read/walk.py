"""What the readers of METS and PREMIS do alike: they know which elements are open, their text and line, and what is
ready to be told."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import BinaryIO, Generic, TypeVar, cast

from noarkit.safe.digest import Readable
from noarkit.safe.xml import read

Told = TypeVar("Told")


class XmlHandler(ABC, Generic[Told]):
    """A document that is being read; `_ready` is what was read whole since the last block."""

    def __init__(self) -> None:
        self._line: Callable[[], int] = int
        self._open: list[str] = []
        self._text: list[str] = []
        self._ready: list[Told] = []

    def items(self, source: Readable) -> Iterator[Told]:
        """Everything, in order. Raises `PackageFault` and `UnsafeXml` where it cannot be read."""
        for _ in read(cast(BinaryIO, source), self):  # nothing but `read` is ever asked of it
            ready, self._ready = self._ready, []
            yield from ready

    def place(self, line: Callable[[], int], /) -> None:
        """How to ask for the line."""
        self._line = line

    @property
    def depth(self) -> int:
        """How many elements are open."""
        return len(self._open)

    @abstractmethod
    def start(self, name: str, attributes: dict[str, str], /) -> None:
        """An element begins."""

    @abstractmethod
    def end(self, name: str, /) -> None:
        """It ends."""

    def data(self, text: str, /) -> None:
        """Some of its text."""
        self._text.append(text)
