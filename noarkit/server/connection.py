"""The HTTP connection class of the archive, with limits on request heads that uvicorn does not set.

A connection is closed when its request head is too large or is not finished in time. The transport is put into the
scope for the fault script, which breaks connections on purpose.
"""

from __future__ import annotations

import asyncio
from typing import ClassVar

from noarkit.safe.connections import RefusedHead, StrictConnection
from noarkit.server.exchange import TRANSPORT

_MAX_HEAD_BYTES = 64 * 1024


class HeadTooLarge(RefusedHead):
    """The request line and headers are over the limit."""


class ArchiveConnection(StrictConnection):
    """One connection; `idle_s` limits how long it may be idle, and how long a request head may take."""

    idle_s: ClassVar[float] = 75.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn narrows it
        """Begins to wait for the first request."""
        self._head_bytes = 0
        self._head_timer: asyncio.TimerHandle | None = None
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stops waiting."""
        self._stop_head_timer()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """A head begins; it must end in time."""
        super().on_message_begin()
        self._head_bytes = 0
        if self._head_timer is None:
            self._await_head()
        self.scope["extensions"] = {TRANSPORT: self.transport}  # type: ignore[dict-item]  # an extension of our own

    def on_url(self, url: bytes) -> None:
        """Counts the request line."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Counts a header."""
        self._count(len(name) + len(value))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head has come."""
        self._stop_head_timer()
        super().on_headers_complete()

    def _count(self, size_bytes: int) -> None:
        self._head_bytes += size_bytes
        if self._head_bytes > _MAX_HEAD_BYTES:
            raise HeadTooLarge

    def _await_head(self) -> None:
        self._head_timer = self.loop.call_later(self.idle_s, self.transport.close)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
