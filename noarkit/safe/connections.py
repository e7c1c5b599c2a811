"""HTTP connections of the services that we run: uvicorn's own, strict where RFC 9110 and 9112 are.

An offer to speak another protocol (`Connection: Upgrade`, as some clients send with every request) is ignored and the
request read as it stands, body and all. A request of HTTP/1.1 without exactly one Host is 400, and one in a transfer
coding that we do not know is 501; the client gets to read that before the connection is closed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, ClassVar

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

Message = MutableMapping[str, Any]  # Any: as the ASGI specification has it
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

# What `uvicorn.Config(loop=...)` takes for `loop_with_short_handshakes`.
LOOP = "noarkit.safe.connections:loop_with_short_handshakes"

# How long a client that was refused may go on sending, so that it comes to reading the answer.
_LAST_WORDS_S = 2.0
# A TLS handshake that has not come to its end by then is no handshake.
_HANDSHAKE_S = 4.0
_STATUS_LINES = {400: b"HTTP/1.1 400 Bad Request\r\n", 501: b"HTTP/1.1 501 Not Implemented\r\n"}


class RefusedHead(ValueError):
    """The request line and headers are not what they must be."""


class StrictConnection(HttpToolsProtocol):
    """One connection of a service."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn narrows it
        """Begins."""
        self._refusal = 400, "Invalid HTTP request received."
        self._is_over = False
        super().connection_made(transport)

    def data_received(self, data: bytes) -> None:
        """Takes what came; what a client offers to speak instead is not taken up."""
        if self._is_over:
            return
        self._unset_keepalive_if_required()
        try:
            self._feed(data)
        except httptools.HttpParserError:
            self._refuse(*self._refusal)

    def _feed(self, data: bytes) -> None:
        while data:
            try:
                self.parser.feed_data(data)
            except httptools.HttpParserUpgrade as upgrade:
                # the parser takes what follows the head for another protocol: a new one reads the same head without it
                data = self._head_without_upgrade() + data[upgrade.args[0] :]
                self.parser = httptools.HttpRequestParser(self)
                self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
                continue
            return

    def on_headers_complete(self) -> None:
        """The head has come."""
        if self.parser.get_method() == b"CONNECT":
            self._refused_head(400, "This is no proxy.")
        if self.parser.should_upgrade():
            return
        hosts = sum(name == b"host" for name, _ in self.headers)
        if hosts > 1 or (not hosts and self.parser.get_http_version() == "1.1"):
            self._refused_head(400, "A request names one Host.")
        for name, value in self.headers:
            if name == b"transfer-encoding" and value.strip().lower() != b"chunked":
                self._refused_head(501, "The only transfer coding here is chunked.")
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A piece of the body has come."""
        if not self.parser.should_upgrade():
            super().on_body(body)

    def on_message_complete(self) -> None:
        """The request has come whole."""
        if not self.parser.should_upgrade():
            super().on_message_complete()

    def _head_without_upgrade(self) -> bytes:
        version = self.parser.get_http_version()
        lines = [b"%s %s HTTP/%s" % (self.parser.get_method(), self.url, version.encode())]
        lines += [b"%s: %s" % header for header in self.headers if header[0] != b"upgrade"]
        return b"\r\n".join([*lines, b"", b""])

    def _refused_head(self, status: int, reason: str) -> None:
        self._refusal = status, reason
        raise RefusedHead(reason)

    def _refuse(self, status: int, reason: str) -> None:
        """Answers, then reads away what still comes for a moment: a connection closed too early loses its answer."""
        self._is_over = True
        content = reason.encode("ascii")
        self.transport.write(
            _STATUS_LINES[status]
            + b"content-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\nconnection: close\r\n\r\n"
            % len(content)
            + content
        )
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(_LAST_WORDS_S, self.transport.close)


class _Gathering:
    """Stands in for the transport of a connection while an answer is composed."""

    __slots__ = ("closes", "parts")

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.closes = False

    def write(self, part: bytes) -> None:
        """Keeps a part."""
        self.parts.append(part)

    def close(self) -> None:
        """The connection is to be closed once all is written."""
        self.closes = True


async def send_whole(send: Send, start: Message, body: Message) -> None:
    """Sends a whole answer, head and body, in one write where uvicorn takes it directly: in two it costs the client a
    second turn at the processor for every small answer."""
    cycle = getattr(send, "__self__", None)
    if not isinstance(cycle, RequestResponseCycle) or cycle.flow.write_paused or cycle.disconnected:
        await send(start)
        await send(body)
        return
    transport, gathering = cycle.transport, _Gathering()
    cycle.transport = gathering  # type: ignore[assignment]  # all that uvicorn asks of it while it sends
    try:
        await send(start)
        await send(body)
    finally:
        cycle.transport = transport
        transport.writelines(gathering.parts)
        if gathering.closes:
            transport.close()


def has_arrived(receive: Receive) -> bool:
    """True if the next message of a request is there, so that `receive` does not wait, as far as uvicorn shows it."""
    cycle = getattr(receive, "__self__", None)
    return isinstance(cycle, RequestResponseCycle) and cycle.message_event.is_set()


class HeadTooLarge(RefusedHead):
    """The request line and headers are over the limit."""


class BoundedConnection(StrictConnection):
    """One connection; `idle_s` limits how long it may be idle, and how long a request head may take, `max_head_bytes`
    how large a head may be."""

    idle_s: ClassVar[float] = 75.0
    max_head_bytes: ClassVar[int] = 64 * 1024

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
        if self._head_bytes > self.max_head_bytes:
            raise HeadTooLarge

    def _await_head(self) -> None:
        self._head_timer = self.loop.call_later(self.idle_s, self.transport.close)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


def loop_with_short_handshakes() -> asyncio.AbstractEventLoop:
    """An event loop whose servers end a TLS handshake that does not come to its end, as of a client without TLS."""
    try:
        from uvloop import Loop
    except ImportError:
        kind: type[asyncio.AbstractEventLoop] = type(asyncio.new_event_loop())
    else:
        kind = Loop

    async def create_server(loop: Any, *arguments: Any, **options: Any) -> Any:  # Any: as asyncio has it
        if options.get("ssl") is not None:
            options.setdefault("ssl_handshake_timeout", _HANDSHAKE_S)
        return await kind.create_server(loop, *arguments, **options)

    strict: type[asyncio.AbstractEventLoop] = type("StrictLoop", (kind,), {"create_server": create_server})
    return strict()
