"""Two lines to a service: straight to its hosts, and through a proxy.

Reading a service is thousands of small calls, so that what a call takes of the processor bounds it wherever the service
does not. The straight line therefore writes its requests itself, on the connections that the archive's client is built
on, for a fraction of what httpx takes; what goes through a proxy is left to httpx.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import httpx

from noarkit.archive.connection import Reply
from noarkit.archive.stream import BrokenExchange, Patience
from noarkit.archive.transport import Origin, OutgoingRequest, Route, Transport, origin_of

_KEEPALIVE_S = 3.0
_PROXY_AUTH_REQUIRED = 407
_TIMEOUTS = frozenset({"timeout", "no-progress"})
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
# What httpx would send as it stands: anything else is left to httpx to spell.
_PLAIN_URL = re.compile(r"(https?://[a-z0-9.-]+(?::[0-9]+)?)(/(?:[A-Za-z0-9_~!$&()*+,;=:@/?.-]|%[0-9A-Fa-f]{2})*)")
_BREAKS_LINE = re.compile("[\r\n\0]")


@dataclass(frozen=True, slots=True)
class LineSettings:
    """How connections are made: whom TLS trusts, how long anything may take, and how many there are at most."""

    tls: ssl.SSLContext | None
    connect_timeout_s: float
    answer_timeout_s: float
    max_connections: int


class Line(Protocol):
    """Connections to the hosts of one service."""

    def exchange(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None
    ) -> AbstractContextManager[Reply]:
        """Sends a request and yields the head of its answer. Raises `BrokenExchange`, `httpx.HTTPError`."""
        ...

    def close(self) -> None:
        """Closes all connections."""
        ...


class DirectLine:
    """Kept connections straight to the hosts. Safe for threads; belongs to the process that made it."""

    def __init__(self, settings: LineSettings) -> None:
        patience = Patience(settings.connect_timeout_s, settings.answer_timeout_s, settings.answer_timeout_s)
        tls = settings.tls or ssl.create_default_context()
        route = Route(
            tls,
            max_connections=settings.max_connections,
            # a call within another would wait for ever
            wait_for_free_s=settings.answer_timeout_s,
            keepalive_s=_KEEPALIVE_S,
        )
        self._transport = Transport(route, patience)

    def exchange(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None
    ) -> AbstractContextManager[Reply]:
        """See `Line.exchange`."""
        origin, host, target = _target(url)
        lines = [f"Host: {host}\r\n"]
        for name, value in headers.items():
            if _BREAKS_LINE.search(value) or _BREAKS_LINE.search(name):
                raise httpx.LocalProtocolError(f"{name} is no header")
            lines.append(f"{name}: {value}\r\n")
        if body or method in _WITH_BODY:
            lines.append(f"Content-Length: {len(body or b'')}\r\n")
        head = "".join(lines).encode("ascii")
        return self._transport.exchange(OutgoingRequest(origin, method.encode("ascii"), target, head, body))

    def close(self) -> None:
        """See `Line.close`."""
        self._transport.close()


class ProxyLine:
    """Connections through a proxy. It uses httpx's transport, because its client would add cookies."""

    def __init__(self, settings: LineSettings, proxy: httpx.Proxy) -> None:
        timeout = httpx.Timeout(settings.answer_timeout_s, connect=settings.connect_timeout_s)
        self._extensions = {"timeout": timeout.as_dict()}
        self._transport = httpx.HTTPTransport(
            verify=settings.tls if settings.tls is not None else True,
            limits=httpx.Limits(max_connections=settings.max_connections, keepalive_expiry=_KEEPALIVE_S),
            proxy=proxy,
            trust_env=False,
        )

    @contextmanager
    def exchange(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Iterator[Reply]:
        """See `Line.exchange`."""
        request = httpx.Request(method, url, headers=headers, content=body, extensions=self._extensions)
        answer = self._transport.handle_request(request)
        try:
            if answer.status_code == _PROXY_AUTH_REQUIRED:
                raise httpx.ProxyError(str(_PROXY_AUTH_REQUIRED))
            yield Reply(answer.status_code, answer.headers.raw, answer.iter_raw())
        finally:
            answer.close()

    def close(self) -> None:
        """See `Line.close`."""
        self._transport.close()


def read_body(reply: Reply, max_bytes: int) -> bytes | None:
    """Reads the whole body of an answer; None if it is longer than that. Raises `BrokenExchange`, `httpx.HTTPError`."""
    body = bytearray()
    pieces = reply.pieces() if reply.header(b"content-encoding") is None else as_response(reply).iter_bytes()
    for piece in pieces:
        body += piece
        if len(body) > max_bytes:
            return None
    return bytes(body)


def as_response(reply: Reply) -> httpx.Response:
    """The answer as one of httpx, whose body is unpacked while it is read."""
    return httpx.Response(reply.status, headers=reply.headers, stream=_Pieces(reply))


def is_timeout(error: BrokenExchange) -> bool:
    """True if the service did not answer in time, or stopped in the middle."""
    return error.detail in _TIMEOUTS


class _Pieces(httpx.SyncByteStream):
    """The body of an answer, as httpx wants it."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._reply.pieces()
        except BrokenExchange as error:
            kind = httpx.ReadTimeout if is_timeout(error) else httpx.ReadError
            raise kind(error.detail) from error


def _target(url: str) -> tuple[Origin, str, bytes]:
    """Where a request goes, the name of the host in it, and path and query."""
    plain = _PLAIN_URL.fullmatch(url)
    if plain is not None and "/." not in plain[2]:
        return *_origin(plain[1]), plain[2].encode("ascii")
    spelt = httpx.URL(url)
    return origin_of(spelt), spelt.netloc.decode("ascii"), spelt.raw_path


@lru_cache(256)
def _origin(address: str) -> tuple[Origin, str]:
    spelt = httpx.URL(address)
    return origin_of(spelt), spelt.netloc.decode("ascii")
