"""One HTTP exchange: request headers, the body within limits, and the answer in the client's error format.

A body that stalls is refused, a body over the limit is never held in memory, and the rest of a request that is answered
early is drained for a while: a client that is still sending would otherwise get a reset instead of the answer.
"""

from __future__ import annotations

import asyncio
import re
import time
import uuid
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

import orjson

from noarkit.safe.connections import Message as Message
from noarkit.safe.connections import Receive as Receive
from noarkit.safe.connections import Send as Send
from noarkit.safe.connections import has_arrived, send_whole
from noarkit.server.wire import Answer, Refusal

Scope = MutableMapping[str, Any]  # Any: as the ASGI specification has it

# Where the connection hands on its transport, in the extensions of a scope.
TRANSPORT = "noarkit.transport"

_ERROR_FORMAT = re.compile(rb"x-[\x21-\x7e]+-error-response-type\Z")
_JSON = b"application/json"
_TEXT = b"text/plain; charset=utf-8"
# The slowest body that is still believed to be on its way, once its first idle time-out has passed.
_SLOWEST_BYTES_PER_S = 1024
_DRAIN_BYTES = 128 * 1024 * 1024
_DRAIN_S = 5.0


class Disconnected(Exception):
    """The client disconnected before its request was complete."""


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """The largest body that is accepted (0 = no limit), and how long to wait for its next piece."""

    max_bytes: int
    idle_s: float


class Exchange:
    """One request and its answer; made anew for each request."""

    __slots__ = (
        "_answered",
        "_body_ended",
        "_head",
        "_receive",
        "_received_bytes",
        "_send",
        "_stopped_waiting",
        "_waited_s",
        "headers",
        "method",
        "scope",
    )

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope = scope
        self.method: str = scope["method"]
        self.headers: list[tuple[bytes, bytes]] = scope["headers"]
        self._receive = receive
        self._send = send
        self._body_ended = False
        self._stopped_waiting = False
        self._answered = False
        self._head: Message | None = None
        self._received_bytes = 0
        self._waited_s = 0.0

    @property
    def has_answered(self) -> bool:
        """True once an answer has begun."""
        return self._answered

    @property
    def is_abandoned(self) -> bool:
        """True once the client has gone, so that nobody waits for an answer."""
        transport = self.scope.get("extensions", {}).get(TRANSPORT)
        return transport is not None and bool(transport.is_closing())

    def header(self, name: bytes) -> bytes | None:
        """The first header of that lower-case name."""
        for key, value in self.headers:
            if key == name:
                return value
        return None

    def declares_at_most(self, size_bytes: int) -> bool:
        """True if the head says that no more than so many bytes follow."""
        content_length = self.header(b"content-length")
        if content_length is None:
            return self.header(b"transfer-encoding") is None
        return content_length.isdigit() and int(content_length) <= size_bytes

    def media_type(self) -> str:
        """The request's media type without parameters, lower-case; empty if it names none."""
        value = self.header(b"content-type") or b""
        return value.split(b";", 1)[0].strip().lower().decode("latin-1")

    def wants_json_errors(self) -> bool:
        """True if the client chose JSON errors by the vendor's header, whoever the vendor is."""
        return any(
            value.split(b";", 1)[0].strip().lower() == _JSON
            for name, value in self.headers
            if name[:2] == b"x-" and _ERROR_FORMAT.match(name)
        )

    async def next_piece(self, limits: BodyLimits) -> bytes:
        """The next piece of the body, empty at its end. Refuses with 408 what stops coming, or only drips."""
        if self._body_ended:
            return b""
        message = await self._receive() if has_arrived(self._receive) else await self._wait_for_message(limits)
        if message["type"] == "http.disconnect":
            raise Disconnected
        if not message.get("more_body", False):
            self._body_ended = True
        piece: bytes = message.get("body", b"")
        self._received_bytes += len(piece)
        if self._body_ended:
            self._check_length()
        return piece

    async def _wait_for_message(self, limits: BodyLimits) -> Message:
        allowed_s = limits.idle_s + self._received_bytes / _SLOWEST_BYTES_PER_S - self._waited_s
        began_s = time.monotonic()
        try:
            async with asyncio.timeout(max(0.0, min(limits.idle_s, allowed_s))):
                message = await self._receive()
        except TimeoutError:
            self._stopped_waiting = True
            raise Refusal(408, "the body of the request was not finished in time") from None
        self._waited_s += time.monotonic() - began_s
        return message

    def refuse_encoded(self) -> None:
        """Refuses a compressed body with 415: its bytes would be stored as if they were the content."""
        encoding = (self.header(b"content-encoding") or b"identity").strip().lower()
        if encoding != b"identity":
            raise Refusal(415, f"the content encoding {encoding.decode('latin-1')} is not supported")

    def _check_length(self) -> None:
        """Refuses a body that is not as long as its head says, whoever lost the rest."""
        content_length = self.header(b"content-length")
        if (
            content_length is not None
            and self.header(b"transfer-encoding") is None
            and int(content_length) != self._received_bytes
        ):
            declared_text = content_length.decode("latin-1")
            raise Refusal(400, f"the body has {self._received_bytes} bytes, and Content-Length says {declared_text}")

    @property
    def body_ended(self) -> bool:
        """True once the whole body has been read."""
        return self._body_ended

    async def body(self, limits: BodyLimits) -> bytes:
        """The whole body. Refuses with 413 what is too large and with 408 what never ends."""
        content_length = self.header(b"content-length")
        if content_length and content_length.isdigit() and 0 < limits.max_bytes < int(content_length):
            raise _too_large(limits)
        first = await self.next_piece(limits)
        if self._body_ended:
            return _within(first, limits)
        pieces = [first]
        while not self._body_ended:
            pieces.append(await self.next_piece(limits))
            if 0 < limits.max_bytes < self._received_bytes:
                raise _too_large(limits)
        return b"".join(pieces)

    async def answer(self, answer: Answer) -> None:
        """Sends a good answer as JSON."""
        if answer.raw is not None:
            content = answer.raw
        elif answer.body is None:
            content = b""
        else:
            content = orjson.dumps(answer.body)
        await self.send(answer.status, content, _JSON)

    async def refuse(self, refusal: Refusal, *, headers: Mapping[bytes, bytes] | None = None) -> str:
        """Sends a refusal in the error format that the client chose; returns the id of this error."""
        error_id = str(uuid.uuid4())
        if self.wants_json_errors():
            payload = {"errorId": error_id, "description": refusal.description, "status": refusal.status}
            await self.send(refusal.status, orjson.dumps(payload), _JSON, headers=headers)
        else:
            content = refusal.description.encode("utf-8", "replace")
            await self.send(refusal.status, content, _TEXT, headers=headers)
        return error_id

    async def send(
        self, status: int, content: bytes, media_type: bytes, *, headers: Mapping[bytes, bytes] | None = None
    ) -> None:
        """Sends one whole answer, after the rest of the request was read away."""
        extra = list((headers or {}).items())
        if not self._body_ended and not await self._drain():
            extra.append((b"connection", b"close"))
        header_list = [(b"content-length", str(len(content)).encode())] if status != 204 else []
        if content:
            header_list.append((b"content-type", media_type))
        self._answered = True
        await send_whole(
            self._send,
            {"type": "http.response.start", "status": status, "headers": header_list + extra},
            {"type": "http.response.body", "body": content, "more_body": False},
        )

    async def begin_answer(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        """Begins an answer whose body follows in pieces; its head goes with the first of them."""
        if not self._body_ended and not await self._drain():
            headers = [*headers, (b"connection", b"close")]
        self._answered = True
        self._head = {"type": "http.response.start", "status": status, "headers": headers}

    async def send_piece(self, content: bytes, *, more: bool, idle_s: float) -> None:
        """Sends a piece of the answer's body; the last has `more=False`. A client that stops taking is let go."""
        try:
            async with asyncio.timeout(idle_s):
                head, self._head = self._head, None
                body: Message = {"type": "http.response.body", "body": content, "more_body": more}
                await (self._send(body) if head is None else send_whole(self._send, head, body))
        except TimeoutError:
            transport = self.scope.get("extensions", {}).get(TRANSPORT)
            if transport is not None:
                transport.abort()
            raise Disconnected from None

    async def _drain(self) -> bool:
        """Reads and discards the rest of the request, for a while; True if it ended and the connection can stay."""
        if not self._may_have_body():
            return True
        if self._stopped_waiting or self.header(b"expect"):
            return False
        ends, length = time.monotonic() + _DRAIN_S, 0
        while not self._body_ended and length < _DRAIN_BYTES and time.monotonic() < ends:
            try:
                length += len(await self.next_piece(BodyLimits(0, 1.0)))
            except (Refusal, Disconnected):
                return False
        return self._body_ended

    def _may_have_body(self) -> bool:
        length = self.header(b"content-length")
        return (length is not None and length != b"0") or self.header(b"transfer-encoding") is not None


def _within(content: bytes, limits: BodyLimits) -> bytes:
    if 0 < limits.max_bytes < len(content):
        raise _too_large(limits)
    return content


def _too_large(limits: BodyLimits) -> Refusal:
    return Refusal(413, f"the body of the request is over the limit of {limits.max_bytes} bytes")
