"""The shortest way from a request to the socket: httpx's own connection pool, over streams that watch bytes move.

A request is cut when nothing moved for too long, in either direction; one that is merely long goes on. What breaks is
told as `Broken` with what is known about its fate; `answers` makes faults of that.
"""

from __future__ import annotations

import os
import select
import socket
import ssl
import struct
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, TypeVar

import httpcore

if sys.platform != "win32":
    import fcntl
    import termios

from noarkit.archive.trust import is_about_trust, why_not_trusted

_GATHER_BYTES = 64 * 1024
_TLS_SLICE_BYTES = 16 * 1024
_SO_NWRITE = 0x1024  # macOS: how many bytes wait to be sent

_Given = TypeVar("_Given")
_Moved = TypeVar("_Moved")
Reason = Literal["away", "lost", "stalled", "strange", "trust"]


class Broken(Exception):
    """An exchange that did not come to its end."""

    def __init__(self, reason: Reason, why: str, *, sent: bool) -> None:
        super().__init__(reason, why)
        self.reason = reason
        self.why = why
        self.sent = sent


@dataclass(frozen=True, slots=True)
class Patience:
    """How long nothing may move: while connecting, while bytes should flow, and while the archive thinks."""

    connect_s: float = 15.0
    stall_s: float = 60.0
    answer_s: float = 180.0


@dataclass(frozen=True, slots=True)
class Route:
    """How the archive is reached: whom TLS trusts, and through which proxy."""

    ssl_context: ssl.SSLContext | None = None
    proxy: httpcore.Proxy | None = None
    max_connections: int = 32
    # shorter than the five seconds after which common servers drop an idle connection, so that ours is gone first
    keepalive_s: float = 3.0


@dataclass(slots=True)
class Reply:
    """The head of an answer; its body is read by `read` or in pieces by `pieces`, while the exchange lasts."""

    status: int
    headers: list[tuple[bytes, bytes]]
    _stream: Iterable[bytes]

    def header(self, name: bytes) -> str | None:
        """The first header of that (lower-case) name."""
        return next((value.decode("latin-1") for key, value in self.headers if key.lower() == name), None)

    def pieces(self) -> Iterator[bytes]:
        """The body as it comes."""
        with _told(received=True):
            yield from self._stream

    def read(self, max_bytes: int) -> bytes:
        """The whole body; one over `max_bytes` is no answer of an archive."""
        parts: list[bytes] = []
        size = 0
        for part in self.pieces():
            size += len(part)
            if size > max_bytes:
                raise Broken("strange", "too-large", sent=True)
            parts.append(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)


class Transport:
    """Connections to one archive. Safe for threads; belongs to the process that made it."""

    def __init__(self, route: Route, patience: Patience, clock: Callable[[], float] = time.monotonic) -> None:
        self._pid = os.getpid()
        self._pool = httpcore.ConnectionPool(
            ssl_context=route.ssl_context,
            proxy=route.proxy,
            max_connections=route.max_connections,
            max_keepalive_connections=route.max_connections,
            keepalive_expiry=route.keepalive_s,
            network_backend=_Network(patience, clock, proxied=route.proxy is not None),
        )

    @contextmanager
    def exchange(self, request: httpcore.Request) -> Iterator[Reply]:
        """Sends `request` and yields the head of its answer; the connection is given back when the block ends.

        Faults that the request's body raises while it is read pass through. Everything else is `Broken`.
        """
        if os.getpid() != self._pid:
            raise RuntimeError("an archive session cannot be used in a process that did not open it")
        with _told(received=False):
            response = self._pool.handle_request(request)
        try:
            stream = response.stream
            if not isinstance(stream, Iterable):
                raise RuntimeError("the connection pool answers only in blocks that can be iterated")
            yield Reply(response.status, response.headers, stream)
        finally:
            response.close()

    def close(self) -> None:
        """Ends all connections."""
        self._pool.close()


@contextmanager
def _told(*, received: bool) -> Iterator[None]:
    """Tells the pool's own complaints in our words. Those of our streams are `Broken` already."""
    try:
        yield
    except httpcore.RemoteProtocolError as error:
        if "without" in str(error):  # «disconnected without …», «closed connection without …»
            raise Broken("lost", "half-answer", sent=True) from error
        raise Broken("strange", "not-http", sent=True) from error
    except httpcore.ProxyError as error:
        raise Broken("away", f"proxy-answered-{str(error).split(' ')[0]}", sent=False) from error
    except (httpcore.WriteError, httpcore.ReadError) as error:
        raise Broken("lost", "reset", sent=True) from error


class _Network(httpcore.NetworkBackend):
    """Opens watched streams."""

    def __init__(self, patience: Patience, clock: Callable[[], float], *, proxied: bool) -> None:
        self._patience = patience
        self._clock = clock
        self._proxied = proxied

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        try:
            plain = socket.create_connection((host, port), self._patience.connect_s)
        except OSError as error:
            raise Broken("away", _why_away(error), sent=False) from error
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        return _Stream(plain, self._patience, self._clock, to_proxy=self._proxied)


@dataclass(frozen=True, slots=True)
class _Limit:
    """How long nothing may move, and what to call it when it did not."""

    patience_s: float
    reason: Reason
    why: str


class _Stream(httpcore.NetworkStream):
    """A socket whose small writes leave together, and whose waits are cut when nothing moves."""

    def __init__(
        self, connected: socket.socket, patience: Patience, clock: Callable[[], float], *, to_proxy: bool
    ) -> None:
        self._socket = connected
        self._patience = patience
        self._clock = clock
        self._to_proxy = to_proxy
        self._flowing = _Limit(patience.stall_s, "stalled", "no-progress")
        self._thinking = _Limit(patience.answer_s, "lost", "timeout")
        self._is_tls = isinstance(connected, ssl.SSLSocket)
        self._gathered: list[bytes] = []
        self._gathered_bytes = 0
        self._opening_tunnel = False
        self._sent = False  # whether a byte of the request now under way may have left
        self._answered = False  # whether a byte of its answer came
        # waits are cut into ticks, so that what moves unseen in the system's buffers can be looked at in between
        self._tick_s = max(0.01, min(patience.stall_s, patience.answer_s, 20.0) / 4)
        connected.settimeout(self._tick_s)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if self._answered:
            self._sent = self._answered = False
        if not buffer:
            return
        if self._to_proxy and not self._gathered:
            self._opening_tunnel = buffer.startswith(b"CONNECT ")
        self._gathered.append(buffer)
        self._gathered_bytes += len(buffer)
        if self._gathered_bytes > _GATHER_BYTES:
            self._flush()
            if not self._is_tls and _is_readable(self._socket):
                raise httpcore.WriteError("an answer came before the request ended")

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._gathered:
            self._flush()
        limit = self._flowing if self._answered else self._thinking
        try:
            received = self._patiently(self._socket.recv, max_bytes, limit)
        except OSError as error:
            raise self._broke_by(error) from error
        if received:
            self._answered = True
        elif not self._answered:
            raise self._broke("lost", "closed")
        return received

    def close(self) -> None:
        self._socket.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        self._socket.settimeout(self._patience.connect_s)
        try:
            wrapped = ssl_context.wrap_socket(self._socket, server_hostname=server_hostname)
        except ssl.SSLError as error:
            self.close()
            raise Broken("trust", why_not_trusted(error), sent=False) from error
        except OSError as error:
            self.close()
            raise Broken("away", _why_away(error), sent=False) from error
        return _Stream(wrapped, self._patience, self._clock, to_proxy=False)

    def get_extra_info(self, info: str) -> object:
        if info == "is_readable":
            return _is_readable(self._socket)
        if info == "ssl_object":
            return self._socket if self._is_tls else None
        return None

    def _flush(self) -> None:
        block = self._gathered[0] if len(self._gathered) == 1 else b"".join(self._gathered)
        self._gathered.clear()
        self._gathered_bytes = 0
        rest = memoryview(block)
        try:
            while rest:
                piece = rest[:_TLS_SLICE_BYTES] if self._is_tls else rest
                rest = rest[self._patiently(self._socket.send, piece, self._flowing) :]
                self._sent = True
        except OSError as error:
            if not self._sent or isinstance(error, ssl.SSLError):
                raise self._broke_by(error) from error
            # the pool then reads what the archive may have said before it closed
            raise httpcore.WriteError(str(error)) from error

    def _patiently(self, move: Callable[[_Given], _Moved], given: _Given, limit: _Limit) -> _Moved:
        """Moves bytes; waits on as long as some still leave the system's buffers, or patience lasts."""
        quiet_since_s: float | None = None
        unsent = 0
        while True:
            try:
                return move(given)
            except TimeoutError as error:
                if error.errno is not None:
                    raise  # the system gave the connection up
            now_s, before, unsent = self._clock(), unsent, _unsent_bytes(self._socket)
            if quiet_since_s is None:
                quiet_since_s = now_s - self._tick_s
            elif unsent != before:
                quiet_since_s = now_s
            if now_s - quiet_since_s >= limit.patience_s:
                raise self._broke(limit.reason, limit.why)

    def _broke_by(self, error: OSError) -> Broken:
        if isinstance(error, ssl.SSLError) and is_about_trust(error):
            return Broken("trust", why_not_trusted(error), sent=False)
        return self._broke("lost", "reset")

    def _broke(self, reason: Reason, why: str) -> Broken:
        if self._opening_tunnel:
            return Broken("away", f"proxy-{why}", sent=False)
        if not self._sent and reason == "lost":
            return Broken("away", why, sent=False)
        return Broken(reason, why, sent=self._sent)


def _why_away(error: OSError) -> str:
    if isinstance(error, socket.gaierror):
        return "no-such-host"
    if isinstance(error, ConnectionRefusedError):
        return "refused"
    if isinstance(error, TimeoutError):
        return "no-answer"
    return "reset" if isinstance(error, ConnectionError) else "unreachable"


def _is_readable(connected: socket.socket) -> bool:
    """True where bytes, or the end, wait to be read."""
    descriptor = connected.fileno()
    if descriptor < 0:
        return True
    if not hasattr(select, "poll"):
        return bool(select.select([descriptor], [], [], 0)[0])
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    return bool(poller.poll(0))


def _unsent_bytes(connected: socket.socket) -> int:
    """How many bytes the system has taken from us that the other side has not; 0 where the system does not tell."""
    try:
        if sys.platform == "linux":
            return int(struct.unpack("i", fcntl.ioctl(connected.fileno(), termios.TIOCOUTQ, b"\0\0\0\0"))[0])
        if sys.platform == "darwin":
            return connected.getsockopt(socket.SOL_SOCKET, _SO_NWRITE)
    except OSError:
        return 0
    return 0
