"""Lines of JSON in a sealed package: written while they are made, read while they are proven."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

import orjson

from noarkit.errors import SealBroken
from noarkit.forms.container.building import File
from noarkit.forms.sealed.read import SealedPackage
from noarkit.safe.digest import BLOCK_BYTES, Readable


def lines_file(name: str, values: Iterable[Mapping[str, object]]) -> File:
    """Describes a file with a line for each value to the packager."""

    @contextmanager
    def open_lines() -> Iterator[Readable]:
        yield _Lines(orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE) for value in values)

    return name, open_lines, None, ""


def read_lines(sealed: SealedPackage, name: str) -> Iterator[Mapping[str, object]]:
    """Yields the values of a file of a sealed package. Raises `SealBroken`."""
    remainder = b""
    with sealed.open(name) as content:
        while block := content.read(BLOCK_BYTES):
            *lines, remainder = (remainder + block).split(b"\n")
            for line in lines:
                yield _parse_line(line, sealed.where, name)
    if remainder:
        raise SealBroken(where=sealed.where, why="seal-unreadable", name=name)


def _parse_line(line: bytes, where: str, name: str) -> Mapping[str, object]:
    try:
        value = orjson.loads(line)
    except ValueError as error:
        raise SealBroken(where=where, why="seal-unreadable", name=name) from error
    if not isinstance(value, dict):
        raise SealBroken(where=where, why="seal-unreadable", name=name)
    return value


class _Lines:
    """Lines of bytes as something to read."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = iter(lines)
        self._buffer = bytearray()

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""
        wanted_bytes = BLOCK_BYTES if size < 0 else size
        while len(self._buffer) < wanted_bytes:
            line = next(self._lines, None)
            if line is None:
                break
            self._buffer += line
        block = bytes(self._buffer[:wanted_bytes])
        del self._buffer[:wanted_bytes]
        return block
