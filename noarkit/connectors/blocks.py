"""Bytes of an answer, read in whatever sizes are asked for."""

from __future__ import annotations

from collections.abc import Iterator


class Blocks:
    """Bytes that come in blocks of their own size."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._held = b""

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""
        while not self._held:
            block = next(self._blocks, None)
            if block is None:
                return b""
            self._held = block
        if size < 0:
            whole, self._held = self._held + b"".join(self._blocks), b""
            return whole
        data, self._held = self._held[:size], self._held[size:]
        return data
