"""The ASGI application of the room: reads requests, has them answered in a bounded number of threads, sends answers.

Pages and contents come in here. What needs the bytes of documents has threads of its own, so that a slow place keeps no
page waiting. Every answer has the headers that keep it from being framed, guessed at, or kept.
"""

from __future__ import annotations

import asyncio
import secrets
import traceback
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol
from urllib.parse import parse_qsl

from noarkit.events import Event, EventFields, Listener, ignore_event
from noarkit.reading_room.web import HTML, Answer, Request, read_cookies, text_answer
from noarkit.safe.peers import PEER

EVENTS: EventFields = {"page_failed": {"error_id": "text", "error": "text", "where": "text"}}
Scope = MutableMapping[str, Any]  # Any: as ASGI has it
Message = MutableMapping[str, Any]  # Any: as ASGI has it
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_THREADS = 6
_MOST_WAITING = 48
_MOST_WAITING_FOR_DOCUMENTS = 24
_OF_DOCUMENTS = frozenset({b"document", b"reveal-document", b"thumbnail"})
"""The first steps of the addresses whose answers need the bytes of a document."""
_MOST_FORM_BYTES = 16 * 1024
_FORM_S = 20.0
_FIXED_HEADERS = (
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "same-origin"),
    ("cache-control", "no-store"),
    ("cross-origin-opener-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
)


class Lobby(Protocol):
    """Who decides who may see what: every request goes through it."""

    def is_content(self, port: int, path: bytes) -> bool:
        """True where the bytes of a document are asked for, and no page of ours."""
        ...

    def answer_page(self, request: Request, query: bytes) -> Answer:
        """The answer of a page; `query` is as it was sent."""
        ...

    def answer_content(self, request: Request, query: bytes) -> Answer:
        """The bytes of a document."""
        ...

    def content_headers(self) -> tuple[tuple[str, str], ...]:
        """The headers of what is refused where contents are asked for."""
        ...


class _TooLarge(Exception):
    """A body over the limit, or one that does not come."""


class _BoundedPool:
    """Some threads, and how many requests wait for them or are at work."""

    def __init__(self, name: str, most_waiting: int) -> None:
        self.threads = ThreadPoolExecutor(_THREADS, thread_name_prefix=name)
        self.most_waiting = most_waiting
        self.waiting = 0


class RoomApp:
    """The application. `close` ends its threads."""

    def __init__(self, lobby: Lobby, *, content_origin: str, emit: Listener = ignore_event) -> None:
        self._lobby = lobby
        self._emit = emit
        self._pages = _BoundedPool("noarkit-room", _MOST_WAITING)
        self._documents = _BoundedPool("noarkit-room-documents", _MOST_WAITING_FOR_DOCUMENTS)
        self._policy = (
            "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self';"
            f" img-src 'self' data: {content_origin}; media-src {content_origin}; frame-src {content_origin};"
            " frame-ancestors 'none'; base-uri 'none'"
        )

    def close(self) -> None:
        """Waits for the pages that are being made."""
        self._pages.threads.shutdown()
        self._documents.threads.shutdown()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        is_content = self._lobby.is_content(scope["server"][1], scope.get("raw_path") or b"/")
        try:
            request, query = await _read_request(scope, receive)
        except _TooLarge:
            answer = text_answer(413, "The form is too large.").with_headers(("connection", "close"))
        else:
            answer = await self._answer(request, query, is_content=is_content)
        await self._send(scope["method"], answer, receive, send, is_content=is_content)

    async def _answer(self, request: Request, query: bytes, *, is_content: bool) -> Answer:
        needs_bytes = is_content or request.path.removeprefix(b"/").partition(b"/")[0] in _OF_DOCUMENTS
        pool = self._documents if needs_bytes else self._pages
        if pool.waiting >= pool.most_waiting:
            return text_answer(503, "Too much at once.").with_headers(("retry-after", "1"))
        pool.waiting += 1
        try:
            work = self._lobby.answer_content if is_content else self._lobby.answer_page
            return await asyncio.get_running_loop().run_in_executor(pool.threads, work, request, query)
        except Exception as fault:  # noqa: BLE001  # the last door: whatever it is, the browser gets an answer
            error_id = secrets.token_hex(4)
            frames = traceback.extract_tb(fault.__traceback__)[-3:]
            places = [f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in frames]
            data = {"error_id": error_id, "error": type(fault).__name__, "where": " < ".join(reversed(places))}
            self._emit(Event("page_failed", data))
            return text_answer(500, f"Something went wrong here ({error_id}).")
        finally:
            pool.waiting -= 1

    async def _send(self, method: str, answer: Answer, receive: Receive, send: Send, *, is_content: bool) -> None:
        headers = [("content-type", answer.media_type), *answer.headers]
        if is_content and not any(name == "content-security-policy" for name, _ in answer.headers):
            headers += [*_FIXED_HEADERS, *self._lobby.content_headers()]
        elif not is_content:
            headers += [*_FIXED_HEADERS, *self._page_headers(answer)]
        if answer.chunks is None and not any(name == "content-length" for name, _ in answer.headers):
            headers.append(("content-length", str(len(answer.body))))
        start = {"type": "http.response.start", "status": answer.status}
        encoded = [(name.encode("ascii"), value.encode("latin-1")) for name, value in headers]
        if answer.chunks is None or method == "HEAD":
            await send({**start, "headers": encoded})
            await send({"type": "http.response.body", "body": b"" if method == "HEAD" else answer.body})
            return
        await self._send_chunks(answer, {**start, "headers": encoded}, receive, send)

    async def _send_chunks(self, answer: Answer, start: Message, receive: Receive, send: Send) -> None:
        """Sends a document piece by piece, until its end or until the browser leaves."""
        loop, chunks, threads = asyncio.get_running_loop(), answer.chunks, self._documents.threads
        assert chunks is not None  # noqa: S101  # as the caller saw
        leaving = asyncio.ensure_future(_wait_until_gone(receive))
        pieces: Iterator[bytes] = await loop.run_in_executor(threads, chunks.__enter__)
        try:
            await send(start)
            while not leaving.done():
                piece = await loop.run_in_executor(threads, next, pieces, b"")
                await send({"type": "http.response.body", "body": piece, "more_body": bool(piece)})
                if not piece:
                    break
                if answer.every_s:
                    await asyncio.wait([leaving], timeout=answer.every_s)
        finally:
            leaving.cancel()
            await loop.run_in_executor(threads, chunks.__exit__, None, None, None)

    def _page_headers(self, answer: Answer) -> tuple[tuple[str, str], ...]:
        policy = self._policy if answer.media_type == HTML else "default-src 'none'; frame-ancestors 'none'"
        return (
            ("content-security-policy", policy),
            ("x-frame-options", "DENY"),
            ("cross-origin-resource-policy", "same-origin"),
        )


async def _read_request(scope: Scope, receive: Receive) -> tuple[Request, bytes]:
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    cookies = "; ".join(value.decode("latin-1") for name, value in scope["headers"] if name == b"cookie")
    query: bytes = scope.get("query_string", b"")
    form: dict[str, str] = {}
    if scope["method"] == "POST":
        body = await _read_body(receive)
        if headers.get("content-type", "").partition(";")[0].strip().lower() == "application/x-www-form-urlencoded":
            form = _first_of_each(_pairs(body))
    pairs = _pairs(query)
    request = Request(
        *(scope["method"], scope.get("raw_path") or b"/", _first_of_each(pairs), headers, read_cookies(cookies), form),
        (scope.get("extensions") or {}).get(PEER),
        pairs,
        (scope.get("client") or ("",))[0],
    )
    return request, query


async def _wait_until_gone(receive: Receive) -> None:
    """Waits until the browser has left; the first message is but the end of its request."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _read_body(receive: Receive) -> bytes:
    body = b""
    try:
        async with asyncio.timeout(_FORM_S):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    raise _TooLarge
                body += bytes(message.get("body", b""))
                if len(body) > _MOST_FORM_BYTES:
                    raise _TooLarge
                if not message.get("more_body", False):
                    return body
    except TimeoutError:
        raise _TooLarge from None


def _pairs(encoded: bytes) -> tuple[tuple[str, str], ...]:
    """The pairs of a query or a form; none where there is no end of them."""
    try:
        return tuple(parse_qsl(encoded.decode("ascii"), keep_blank_values=True, errors="replace", max_num_fields=50))
    except ValueError:
        return ()


def _first_of_each(pairs: tuple[tuple[str, str], ...]) -> dict[str, str]:
    return dict(reversed(pairs))
