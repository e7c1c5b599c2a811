"""A pool of kept HTTP connections to one archive, through a proxy or not, shared by threads.

It is a transport of httpx, for calls that may go through all of httpx, and is asked directly by the hot calls, which
save httpx's share of the time.
"""

from __future__ import annotations

import os
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx

from noarkit.archive.connection import Connection, Reply
from noarkit.archive.stream import BrokenExchange, Patience, open_stream
from noarkit.safe.urls import bypasses_proxy


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a connection leads: its two ends cannot be other than these."""

    host: str
    port: int
    is_tls: bool


@dataclass(frozen=True, slots=True)
class ProxyRoute:
    """A proxy, and the header that says who we are to it."""

    host: str
    port: int
    authorization: bytes | None = None


@dataclass(frozen=True, slots=True)
class Route:
    """How the archive is reached: whom TLS trusts, through which proxy, on how many connections.

    What `no_proxy` names is reached without the proxy. Where all connections are in use, one is waited for so long;
    None waits until there is one.
    """

    ssl_context: ssl.SSLContext | None = None
    proxy: ProxyRoute | None = None
    no_proxy: tuple[str, ...] = ()
    max_connections: int = 32
    wait_for_free_s: float | None = None
    # shorter than the five seconds after which common servers drop an idle connection, so that ours is gone first
    keepalive_s: float = 3.0
    max_answer_bytes: int = 512 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class OutgoingRequest:
    """A request ready to be written; `headers` are lines with their ends, without an empty one."""

    origin: Origin
    method: bytes
    target: bytes
    headers: bytes
    body: bytes | Iterable[bytes] | None = None
    chunked: bool = False


class Transport(httpx.BaseTransport):
    """Connections to one archive. Safe for threads; belongs to the process that made it."""

    def __init__(self, route: Route, patience: Patience, clock: Callable[[], float] = time.monotonic) -> None:
        self._pid = os.getpid()
        self._route = route
        self._patience = patience
        self._clock = clock
        self._lock = threading.Lock()
        self._places = threading.BoundedSemaphore(route.max_connections)
        self._idle: dict[Origin, list[Connection]] = {}

    @contextmanager
    def exchange(self, request: OutgoingRequest) -> Iterator[Reply]:
        """Sends `request` and yields the head of its answer; the connection is given back when the block ends.

        Raises `BrokenExchange`. Faults that the request's body raises while it is read pass through.
        """
        # After a fork parent and child would share sockets and TLS state; answers would reach the wrong one of them.
        if os.getpid() != self._pid:
            raise RuntimeError("an archive session cannot be used in a process that did not open it")
        # Waits for one of `max_connections` before it connects, so that a flood of threads queues here and not at the
        # archive.
        if not self._places.acquire(timeout=self._route.wait_for_free_s):
            raise BrokenExchange("away", "timeout", was_sent=False)
        try:
            connection = self._connection(request.origin)
            try:
                yield connection.ask(self._head(request), request.body, chunked=request.chunked)
            finally:
                self._give_back(connection, request.origin)
        finally:
            self._places.release()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request of httpx. The answer is read whole, within the route's limit. Raises `BrokenExchange`."""
        body = request.read()
        headers = b"".join(b"%b: %b\r\n" % pair for pair in request.headers.raw)
        outgoing = OutgoingRequest(origin_of(request.url), request.method.encode(), request.url.raw_path, headers, body)
        with self.exchange(outgoing) as reply:
            return httpx.Response(reply.status, headers=reply.headers, content=reply.read(self._route.max_answer_bytes))

    def close(self) -> None:
        """Ends all connections that are idle; those at work end with their exchange."""
        with self._lock:
            idle_connections = [connection for connections in self._idle.values() for connection in connections]
            self._idle.clear()
        for connection in idle_connections:
            connection.close()

    def _head(self, request: OutgoingRequest) -> bytes:
        target, more = request.target, b""
        proxy = self._proxy(request.origin)
        if proxy is not None and not request.origin.is_tls:
            # Without TLS a proxy is asked for the whole address; with TLS it only opens a tunnel, and sees neither path
            # nor token.
            target = b"http://%b%b" % (_authority(request.origin), target)
            more = _proxy_header(proxy)
        return b"%b %b HTTP/1.1\r\n%b%b\r\n" % (request.method, target, request.headers, more)

    def _connection(self, origin: Origin) -> Connection:
        while True:
            with self._lock:
                # The newest first: it is the least likely to have been dropped by the other side. Stale ones come up
                # when the newest are in use.
                connections = self._idle.get(origin)
                connection = connections.pop() if connections else None
            if connection is None:
                return self._open_connection(origin)
            # Checked before anything is sent: on a connection the server has closed, a request would be lost with its
            # fate unknown, and a transaction would have to be settled for nothing.
            if connection.is_fresh(self._clock(), self._route.keepalive_s):
                return connection
            connection.close()

    def _give_back(self, connection: Connection, origin: Origin) -> None:
        # After a fault, or an answer that was not read to its end, the next request would read the remains of this one.
        if not connection.reusable:
            connection.close()
            return
        connection.idle_since_s = self._clock()
        with self._lock:
            self._idle.setdefault(origin, []).append(connection)

    def _proxy(self, origin: Origin) -> ProxyRoute | None:
        return None if bypasses_proxy(origin.host, self._route.no_proxy) else self._route.proxy

    def _open_connection(self, origin: Origin) -> Connection:
        proxy = self._proxy(origin)
        first = proxy or origin
        try:
            stream = open_stream(first.host, first.port, self._patience, self._clock)
        except BrokenExchange as error:
            raise error if proxy is None else BrokenExchange("away", f"proxy-{error.detail}", was_sent=False) from error
        if not origin.is_tls:
            return Connection(stream)
        if self._route.ssl_context is None:
            stream.close()
            raise BrokenExchange("trust", "no-trust-given", was_sent=False)
        if proxy is not None:
            _open_tunnel(Connection(stream), origin, proxy)
        return Connection(stream.start_tls(self._route.ssl_context, origin.host))


def origin_of(url: httpx.URL) -> Origin:
    """Splits an address into the origin that a connection needs."""
    is_tls = url.scheme == "https"
    return Origin(url.raw_host.decode("ascii").strip("[]"), url.port or (443 if is_tls else 80), is_tls)


def _authority(origin: Origin) -> bytes:
    host = f"[{origin.host}]" if ":" in origin.host else origin.host
    return f"{host}:{origin.port}".encode("ascii")


def _proxy_header(proxy: ProxyRoute) -> bytes:
    return b"" if proxy.authorization is None else b"Proxy-Authorization: %b\r\n" % proxy.authorization


def _open_tunnel(connection: Connection, origin: Origin, proxy: ProxyRoute) -> None:
    """Asks the proxy for a way through. Whatever goes wrong here, nothing was sent to the archive."""
    place = _authority(origin)
    head = b"CONNECT %b HTTP/1.1\r\nHost: %b\r\n%b\r\n" % (place, place, _proxy_header(proxy))
    try:
        status = connection.ask(head, None).status
    except BrokenExchange as error:
        connection.close()
        raise BrokenExchange("away", f"proxy-{error.detail}", was_sent=False) from error
    if not 200 <= status < 300:
        connection.close()
        if status == 407:
            raise BrokenExchange(
                "denied", "proxy-refuses-name" if proxy.authorization else "proxy-wants-name", was_sent=False
            )
        if status < 500:
            raise BrokenExchange("denied", "proxy-forbids", was_sent=False)
        raise BrokenExchange("away", "proxy-cannot-reach", was_sent=False)
