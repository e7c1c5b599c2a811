"""One HTTP/1.1 connection: a request is written, its answer is parsed by llhttp (through httptools), then the next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

import httptools

from noarkit.archive.stream import BrokenExchange, SendingStopped, Stream

_HEAD_AND_BODY_BYTES = 64 * 1024
_RECEIVE_BYTES = 256 * 1024
_MAX_HEAD_BYTES = 256 * 1024

Headers = list[tuple[bytes, bytes]]


@dataclass(slots=True)
class Reply:
    """The response to a request: its head was read; `read` reads its body whole, `pieces` piece by piece."""

    status: int
    headers: Headers
    _body: Iterable[bytes]

    def header(self, name: bytes) -> str | None:
        """The first header of that (lower-case) name."""
        return next((value.decode("latin-1") for key, value in self.headers if key.lower() == name), None)

    def pieces(self) -> Iterator[bytes]:
        """The body as it comes. Raises `BrokenExchange`."""
        return iter(self._body)

    def read(self, max_bytes: int) -> bytes:
        """Reads the whole body. Raises `BrokenExchange` if it is compressed or larger than `max_bytes`."""
        if (self.header(b"content-encoding") or "identity").lower() != "identity":
            raise BrokenExchange("strange", "encoded", was_sent=True)
        parts: list[bytes] = []
        size = 0
        for part in self.pieces():
            size += len(part)
            if size > max_bytes:
                raise BrokenExchange("strange", "too-large", was_sent=True)
            parts.append(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)


class Connection:
    """A keep-alive connection: one request at a time. Ask `reusable` before sending the next."""

    __slots__ = ("_stream", "_whole_request", "answer", "idle_since_s")

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._whole_request = True
        self.answer = _Answer()
        self.idle_since_s = 0.0

    def ask(self, head: bytes, body: bytes | Iterable[bytes] | None, *, chunked: bool = False) -> Reply:
        """Sends a request, reads the head of the response. Raises `BrokenExchange`, and what reading `body` raises."""
        self._stream.begin()
        self.answer = _Answer()
        self._whole_request = False
        with suppress(SendingStopped):  # it may have answered before it closed
            self._whole_request = self._write(head, body, chunked=chunked)
        while not self.answer.has_head:
            self._receive()
        return Reply(self.answer.status, self.answer.headers, self._pieces())

    @property
    def reusable(self) -> bool:
        """True if the last request was sent and its response read to the end, and the server stays connected."""
        return self._whole_request and self.answer.is_whole and self.answer.stays_open

    def is_fresh(self, now_s: float, keepalive_s: float) -> bool:
        """True if it was idle for less than `keepalive_s` and the server has not closed it meanwhile."""
        return now_s - self.idle_since_s < keepalive_s and not self._stream.is_readable()

    def close(self) -> None:
        """Closes the connection."""
        self._stream.close()

    def _write(self, head: bytes, body: bytes | Iterable[bytes] | None, *, chunked: bool) -> bool:
        """Sends a request. Stops and returns False as soon as the server responds before all of the body was sent."""
        if body is None or isinstance(body, bytes):
            message = head + body if body else head
            self._stream.send(message)
            return True
        unsent = head
        for block in body:
            framed = b"%x\r\n%b\r\n" % (len(block), block) if chunked else block
            if unsent and len(framed) > _HEAD_AND_BODY_BYTES:
                self._stream.send(unsent)
                unsent = b""
            self._stream.send(unsent + framed if unsent else framed)
            unsent = b""
            if not self._stream.is_tls and self._stream.is_readable():
                return False
        self._stream.send(unsent + b"0\r\n\r\n" if chunked else unsent)
        return True

    def _pieces(self) -> Iterator[bytes]:
        answer = self.answer
        while True:
            if answer.body:
                arrived, answer.body = answer.body, []
                yield from arrived
            if answer.is_whole:
                return
            self._receive()

    def _receive(self) -> None:
        received = self._stream.receive(_RECEIVE_BYTES)
        try:
            self.answer.feed(received)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            if not self.answer.is_whole:
                raise BrokenExchange("strange", "not-http", was_sent=True) from error
            self.answer.stays_open = False  # the response is whole: what follows belongs to no request of ours


class _Answer:
    """A response while it is received; the parser calls the methods whose names begin with `"on_"`."""

    __slots__ = ("_head_bytes", "_parser", "body", "has_head", "headers", "is_whole", "status", "stays_open")

    def __init__(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._head_bytes = 0
        self.status = 0
        self.headers: Headers = []
        self.body: list[bytes] = []
        self.has_head = False
        self.is_whole = False
        self.stays_open = False

    def feed(self, received: bytes) -> None:
        """Parses received bytes; an empty block means that the server closed the connection."""
        if not received:
            self._end()
            return
        if not self.has_head:
            self._head_bytes += len(received)
        self._parser.feed_data(received)
        if not self.has_head and self._head_bytes > _MAX_HEAD_BYTES:
            raise BrokenExchange("strange", "too-large", was_sent=True)

    def on_message_begin(self) -> None:
        """A response begins, perhaps only an interim one (1xx). One that follows a final response is ignored."""
        if self.is_whole:
            self.stays_open = False
        else:
            self.headers = []

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keeps a header."""
        if not self.is_whole:
            self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        """The head was read."""
        if not self.is_whole:
            self.status = self._parser.get_status_code()
            self.has_head = self.status >= 200

    def on_body(self, body: bytes) -> None:
        """Keeps a piece of the body."""
        if self.has_head and not self.is_whole:
            self.body.append(body)

    def on_message_complete(self) -> None:
        """The response was read whole."""
        if self.has_head and not self.is_whole:
            self.is_whole = True
            self.stays_open = self._parser.should_keep_alive()

    def _end(self) -> None:
        names = {name.lower() for name, _ in self.headers}
        if not self.has_head or names & {b"content-length", b"transfer-encoding"}:
            raise BrokenExchange("lost", "half-answer", was_sent=True)
        self.is_whole = True
