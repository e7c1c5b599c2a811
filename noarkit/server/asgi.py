"""The ASGI application of one archive: authentication, routing, and an answer to every request.

Areas are plain functions and run in threads, so that no call holds up another; uploads and downloads stream on the
event loop. A faulty request gets a 4xx; an unforeseen fault gets a 500 with an id and one line in the log that names
the id, the call and the place in the code, never the content of the request.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import errno
import logging
import sqlite3
import traceback
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import parse_qsl, unquote_plus

import orjson

from noarkit.server.calling import Call, Route
from noarkit.server.deadline import Deadline
from noarkit.server.exchange import BodyLimits, Disconnected, Exchange, Receive, Scope, Send
from noarkit.server.fair_queues import FairThreadPool
from noarkit.server.routing import NoRoute, RouteMatch, RouteTable
from noarkit.server.service import Service
from noarkit.server.wire import Answer, Caller, Refusal

LOGGER = logging.getLogger("noarkit.server")

_THREADS = 12
_THREADS_EACH = 8
# Bodies over this size count as large; an account has room for so many at a time.
_LARGE_BYTES = 256 * 1024
_LARGE_EACH = 4
# The account that token requests count under: their caller is not known yet.
_NO_ACCOUNT = ""
_FORM_LIMIT_BYTES = 64 * 1024
_TOKEN_PATHS = ("idp/oauth2/token", "oauth2/token")
_USERINFO_PATHS = ("idp/oauth2/userinfo", "oauth2/userinfo")
_CHALLENGE = {b"www-authenticate": b"Bearer"}


class Authenticator(Protocol):
    """Issues tokens and recognises callers by them."""

    def caller(self, token: str) -> Caller | None:
        """The caller that a token was issued to; None if it is unknown or has expired."""
        ...

    def token(self, form: Mapping[str, str], basic: tuple[str, str] | None) -> Answer:
        """The answer to a token request: a token with status 200, or the error object of the token service."""
        ...

    def userinfo(self, caller: Caller) -> Answer:
        """What the token service tells about a caller."""
        ...


Streaming = Callable[[Exchange, Caller, Mapping[str, str]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class _Target:
    """The target of a route: an area's handler, a streaming call, or a call of the token service."""

    route: Route | None = None
    stream: Streaming | None = None
    token_call: Callable[[Exchange], Awaitable[None]] | None = None


class ArchiveApp:
    """The ASGI application of one archive; close() ends its threads."""

    def __init__(
        self,
        service: Service,
        authenticator: Authenticator,
        routes: list[Route],
        streams: Mapping[tuple[str, str], Streaming],
    ) -> None:
        self._service = service
        self._authenticator = authenticator
        self._threads = FairThreadPool("archive-call", _THREADS, _THREADS_EACH)
        self._large_body_slots: dict[str, asyncio.Semaphore] = {}
        self._limit_s = service.settings.call_limit_s
        self._limits = BodyLimits(service.settings.max_json_bytes, service.settings.body_idle_timeout_s)
        self._routes: RouteTable[_Target] = RouteTable()
        for route in routes:
            self._routes.add(route.method, route.path, _Target(route=route))
        for (method, path), stream in streams.items():
            self._routes.add(method, path, _Target(stream=stream))
        self._add_token_service()

    def close(self) -> None:
        """Waits for the calls that are at work, then ends the threads."""
        self._threads.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _serve_lifespan(receive, send)
        elif scope["type"] == "http":
            await self._serve(Exchange(scope, receive, send))

    async def _serve(self, exchange: Exchange) -> None:
        raw_path: bytes = exchange.scope.get("raw_path") or b"/"
        route_match = self._routes.find(exchange.method, raw_path)
        if isinstance(route_match, NoRoute):
            await _answer_not_found(exchange, route_match)
            return
        try:
            await self._dispatch(exchange, route_match)
        except Refusal as refusal:
            await exchange.refuse(refusal, headers=_CHALLENGE if refusal.status == 401 else None)
        except Disconnected:
            LOGGER.debug("%s: the client left before its request was whole", route_match.name)
        except Exception as fault:  # noqa: BLE001  # the last door: whatever it is, the client gets an answer
            await self._answer_unforeseen(exchange, route_match.name, fault)

    async def _dispatch(self, exchange: Exchange, route_match: RouteMatch[_Target]) -> None:
        target = route_match.target
        if target.token_call is not None:
            await target.token_call(exchange)
            return
        caller = self._caller(exchange)
        if target.stream is not None:
            await target.stream(exchange, caller, _query(exchange))
        elif target.route is not None:
            await self._call(exchange, target.route, route_match.parts, caller)

    async def _call(self, exchange: Exchange, route: Route, parts: Mapping[str, str], caller: Caller) -> None:
        if not route.has_body:
            await self._work(exchange, route, parts, caller, b"")
            return
        _check_media_type(exchange)
        if exchange.declares_at_most(_LARGE_BYTES):
            await self._work(exchange, route, parts, caller, await exchange.body(self._limits))
            return
        # a large body is read only when there is room for it in memory, and the room is held until it is answered
        slot = self._large_body_slots.setdefault(caller.account, asyncio.Semaphore(_LARGE_EACH))
        async with slot:
            await self._work(exchange, route, parts, caller, await exchange.body(self._limits))

    async def _work(
        self, exchange: Exchange, route: Route, parts: Mapping[str, str], caller: Caller, content: bytes
    ) -> None:
        settings = self._service.settings

        def work() -> Answer:
            if exchange.is_abandoned:
                raise Disconnected
            body: object = None
            if route.has_body:
                body = read_object(content, max_values=settings.max_json_values, max_depth=settings.max_json_depth)
            answer = route.handler(Call(self._service, caller, parts, _query(exchange), body))
            return answer if answer.body is None else Answer(answer.status, raw=orjson.dumps(answer.body))

        await exchange.answer(await self._in_thread(caller.account, work))

    def _caller(self, exchange: Exchange) -> Caller:
        token = _bearer(exchange.header(b"authorization"))
        caller = self._authenticator.caller(token) if token else None
        if caller is None:
            raise Refusal(401, "the bearer token is missing, unknown or has expired")
        return caller

    async def _in_thread(self, account: str, work: Callable[[], Answer]) -> Answer:
        """Runs a call in a thread when the account's turn comes.

        Waiting and work together have one deadline. A client that has waited for longer therefore knows that nothing
        of its call can still be committed.
        """
        deadline = Deadline(self._limit_s, account)

        def limited() -> Answer:
            with self._service.db.clock.within(deadline):
                return work()

        return await self._threads.run(account, limited, deadline.remaining_s)

    def _add_token_service(self) -> None:
        for path in _TOKEN_PATHS:
            self._routes.add("POST", path, _Target(token_call=self._token), at_root=True)
        for path in _USERINFO_PATHS:
            for method in ("GET", "POST"):
                self._routes.add(method, path, _Target(token_call=self._userinfo), at_root=True)

    async def _token(self, exchange: Exchange) -> None:
        if exchange.media_type() not in ("application/x-www-form-urlencoded", ""):
            raise Refusal(415, "a token request is a form: application/x-www-form-urlencoded")
        content = await exchange.body(BodyLimits(_FORM_LIMIT_BYTES, self._limits.idle_s))
        form = _form(content)
        basic = _basic(exchange.header(b"authorization"))
        answer = await self._in_thread(_NO_ACCOUNT, lambda: self._authenticator.token(form, basic))
        challenge = {b"www-authenticate": b"Basic"} if answer.status == 401 else {}
        uncached = {b"cache-control": b"no-store", b"pragma": b"no-cache"}
        await exchange.send(answer.status, _json(answer), b"application/json", headers=challenge | uncached)

    async def _userinfo(self, exchange: Exchange) -> None:
        caller = self._caller(exchange)
        await exchange.answer(await self._in_thread(caller.account, lambda: self._authenticator.userinfo(caller)))

    async def _answer_unforeseen(self, exchange: Exchange, name: str, fault: Exception) -> None:
        refusal = _refusal_for(fault)
        if exchange.has_answered:
            LOGGER.error("%s: broke off its answer: %s", name, _describe_location(fault))
            raise fault
        error_id = await exchange.refuse(refusal)
        if refusal.status >= 500:
            LOGGER.error("%s %s: %s: %s", error_id, name, refusal.status, _describe_location(fault))


async def _serve_lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": message["type"] + ".complete"})
        if message["type"] == "lifespan.shutdown":
            return


async def _answer_not_found(exchange: Exchange, no_route: NoRoute) -> None:
    if no_route.allowed_methods:
        allow = ", ".join(no_route.allowed_methods)
        refusal = Refusal(405, f"this address takes {allow}")
        await exchange.refuse(refusal, headers={b"allow": allow.encode()})
    else:
        await exchange.refuse(Refusal(404, "no such call"))


def _refusal_for(fault: Exception) -> Refusal:
    """The refusal for a fault that no area handled."""
    if isinstance(fault, OverflowError):
        return Refusal(400, "a number is out of range")
    full = isinstance(fault, OSError) and fault.errno in (errno.ENOSPC, errno.EDQUOT)
    if full or (isinstance(fault, sqlite3.OperationalError) and fault.sqlite_errorname == "SQLITE_FULL"):
        return Refusal(507, "the archive's disk is full")
    if isinstance(fault, sqlite3.OperationalError) and fault.sqlite_errorname.startswith("SQLITE_BUSY"):
        return Refusal(503, "the archive is busy")
    return Refusal(500, "unforeseen fault in the archive service")


def _describe_location(fault: Exception) -> str:
    frames = traceback.extract_tb(fault.__traceback__)
    places = " < ".join(f"{frame.name}:{frame.lineno}" for frame in reversed(frames[-4:]))
    return f"{type(fault).__name__} at {places}"


def _check_media_type(exchange: Exchange) -> None:
    media_type = exchange.media_type()
    if media_type not in ("application/json", ""):
        raise Refusal(415, f"the body must be application/json, not {media_type}")
    exchange.refuse_encoded()


def _query(exchange: Exchange) -> dict[str, str]:
    raw: bytes = exchange.scope.get("query_string", b"")
    if not raw:
        return {}
    return dict(parse_qsl(raw.decode("latin-1"), keep_blank_values=True, encoding="utf-8", errors="replace"))


def _form(content: bytes) -> dict[str, str]:
    try:
        return dict(parse_qsl(content.decode("utf-8"), keep_blank_values=True, max_num_fields=100))
    except ValueError:
        raise Refusal(400, "the body is not a form in UTF-8") from None


def _bearer(header: bytes | None) -> str:
    if header is None or header[:7].lower() != b"bearer ":
        return ""
    return header[7:].strip().decode("latin-1")


def _basic(header: bytes | None) -> tuple[str, str] | None:
    if header is None or header[:6].lower() != b"basic ":
        return None
    try:
        name, _, secret = base64.b64decode(header[6:].strip(), validate=True).decode("utf-8").partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return unquote_plus(name), unquote_plus(secret)


def _json(answer: Answer) -> bytes:
    return answer.raw if answer.raw is not None else orjson.dumps(answer.body)


_QUOTE = b'"'


def read_object(content: bytes, *, max_values: int, max_depth: int) -> dict[str, object]:
    """The JSON object in a body. Refuses with 413 what holds too many values, with 400 what is no such object."""
    if (
        _count_separators(content) > max_values
        and _count_separators(_outside_strings(content, max_values)) > max_values
    ):
        raise _too_many(max_values)
    try:
        body: object = orjson.loads(content)
    except orjson.JSONDecodeError as fault:
        raise Refusal(400, f"the body is not JSON in UTF-8 (line {fault.lineno}, column {fault.colno})") from None
    if not isinstance(body, dict):
        raise Refusal(400, "the body must be a JSON object")
    if _is_deeper_than(body, max_depth):
        raise Refusal(400, f"the body is nested deeper than {max_depth} levels")
    return body


def _count_separators(content: bytes) -> int:
    """Counts commas, brackets and braces: each value but the first follows one of them."""
    return content.count(b",") + content.count(b"[") + content.count(b"{")


def _outside_strings(content: bytes, max_values: int) -> bytes:
    """The content without its strings, so that the commas of a long text do not count."""
    plain = content.replace(b"\\\\", b"").replace(b'\\"', b"")
    # a value of an object has two strings, its name and itself, and each has two quotation marks
    if plain.count(_QUOTE) > 4 * max_values:
        raise _too_many(max_values)
    return b"".join(plain.split(_QUOTE)[::2])


def _too_many(max_values: int) -> Refusal:
    return Refusal(413, f"the body holds more than {max_values} values; send less at once")


_HOLDERS = frozenset({dict, list})


def _is_deeper_than(body: dict[str, object], levels: int) -> bool:
    # as orjson makes them: of no other types, and no subclasses
    level: list[Any] = [body]  # Any: dicts and lists, which mypy does not tell apart by type()
    for _ in range(levels):
        level = [
            value
            for holder in level
            for value in (holder.values() if type(holder) is dict else holder)
            if type(value) in _HOLDERS
        ]
        if not level:
            return False
    return True
