"""A file-like reader over blocks of bytes."""

from __future__ import annotations

from collections.abc import Iterator


class Blocks:
    """Reads any number of bytes from an iterator of blocks."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._buffer = b""

    def read(self, size: int = -1, /) -> bytes:
        """Returns the next bytes, at most `size` of them."""
        while not self._buffer:
            block = next(self._blocks, None)
            if block is None:
                return b""
            self._buffer = block
        if size < 0:
            content, self._buffer = self._buffer + b"".join(self._blocks), b""
            return content
        data, self._buffer = self._buffer[:size], self._buffer[size:]
        return data
