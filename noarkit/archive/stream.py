"""A socket with timeouts for lack of progress in either direction; a transfer that moves may take any time.

An ordinary socket timeout is for one call: it breaks off an upload of hours over a slow line, or lets one hang that
trickles. Here only the time without any progress counts. What breaks is raised as `BrokenExchange`, which says whether
a byte may have reached the archive; `answers` makes faults of that.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

from noarkit.safe.sockets import SocketReader, drop_at_end, unsent_bytes
from noarkit.safe.tls import is_about_trust, why_not_trusted

_TLS_SLICE_BYTES = 16 * 1024
_USER_TIMEOUT: int | None = getattr(socket, "TCP_USER_TIMEOUT", None)

_Argument = TypeVar("_Argument")
_Result = TypeVar("_Result")
Reason = Literal["away", "denied", "lost", "stalled", "strange", "trust"]


class BrokenExchange(Exception):
    """An exchange that did not come to its end. `was_sent`: a byte of the request may have reached the archive."""

    def __init__(self, reason: Reason, detail: str, *, was_sent: bool) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail
        self.sent = was_sent


class SendingStopped(Exception):
    """The other side takes no more of the request; it may have said why before it closed."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long nothing may move: while connecting, while bytes should flow, and while the archive thinks."""

    connect_s: float = 15.0
    stall_s: float = 60.0
    answer_s: float = 180.0


@dataclass(frozen=True, slots=True)
class _Limit:
    """A timeout for lack of progress, and the reason and detail of its fault."""

    patience_s: float
    reason: Reason
    detail: str


class Stream:
    """A connected socket, plain or TLS. `begin` starts counting for the next request."""

    __slots__ = (
        "_answered",
        "_clock",
        "_coming",
        "_leaving",
        "_patience",
        "_reader",
        "_sent",
        "_socket",
        "_thinking",
        "_tick_s",
        "is_tls",
    )

    def __init__(self, connected: socket.socket, patience: Patience, clock: Callable[[], float]) -> None:
        self._socket = connected
        self._patience = patience
        self._clock = clock
        self._leaving = _Limit(patience.stall_s, "stalled", "no-progress")
        self._coming = _Limit(patience.stall_s, "stalled", "no-progress")
        self._thinking = _Limit(patience.answer_s, "lost", "timeout")
        self.is_tls = isinstance(connected, ssl.SSLSocket)
        self._sent = False
        self._answered = False
        self._reader = SocketReader(connected)
        # waits are cut into ticks, so that what moves unseen in the system's buffers can be looked at in between
        self._tick_s = max(0.01, min(patience.stall_s, patience.answer_s, 20.0) / 4)
        connected.settimeout(self._tick_s)

    def begin(self) -> None:
        """A new request begins: nothing of it was sent, nothing was answered."""
        self._sent = self._answered = False
        # Over a line that is broken the system goes on sending for minutes, after a close and after the end of this
        # process too. What is taken for lost, and perhaps sent again, must not arrive then.
        drop_at_end(self._socket, drops=True)

    def send(self, block: bytes) -> None:
        """Sends all of `block`. Raises `BrokenExchange`, or `SendingStopped` where an answer may still be read."""
        remaining = memoryview(block)
        try:
            while remaining:
                # OpenSSL wants the same buffer again after a timeout; a slice of one record at most keeps what would be
                # repeated small.
                piece = remaining[:_TLS_SLICE_BYTES] if self.is_tls else remaining
                remaining = remaining[self._with_timeout(self._socket.send, piece, self._leaving) :]
                # From here on the fate is unknown: bytes the system took may arrive even if the next call fails.
                self._sent = True
        except OSError as error:
            # Once bytes went out, a broken pipe may mean that the archive answered early (too large, not allowed) and
            # closed; its answer may still wait to be read.
            if not self._sent or isinstance(error, ssl.SSLError):
                raise self._fault_of_error(error) from error
            raise SendingStopped from error

    def receive(self, max_bytes: int) -> bytes:
        """Receives bytes, empty at the end. Raises `BrokenExchange` if that comes before any byte of the answer."""
        # Before its first byte the archive may be working: much patience, and then «lost». After it, silence is a
        # stall.
        limit = self._coming if self._answered else self._thinking
        try:
            received = self._with_timeout(self._socket.recv, max_bytes, limit)
        except OSError as error:
            raise self._fault_of_error(error) from error
        if received:
            self._answered = True
        elif not self._answered:
            raise self._fault_of("lost", "closed")
        return received

    def is_readable(self) -> bool:
        """True if bytes, or the end, wait to be read."""
        return self._reader.is_readable()

    def start_tls(self, context: ssl.SSLContext, host: str) -> Stream:
        """The same connection under TLS, once the other side has shown that it is `host`."""
        self._socket.settimeout(self._patience.connect_s)
        try:
            tls_socket = context.wrap_socket(self._socket, server_hostname=host)
        except ssl.SSLError as error:
            self.close()
            raise BrokenExchange("trust", why_not_trusted(error), was_sent=False) from error
        except OSError as error:
            self.close()
            raise BrokenExchange("away", connection_failure(error), was_sent=False) from error
        return Stream(tls_socket, self._patience, self._clock)

    def close(self) -> None:
        """Ends it. What the archive has not taken of a request is dropped, and does not reach it afterwards."""
        if self._socket.fileno() >= 0 and not unsent_bytes(self._socket):
            drop_at_end(self._socket, drops=False)
        self._socket.close()

    def _with_timeout(self, move: Callable[[_Argument], _Result], argument: _Argument, limit: _Limit) -> _Result:
        """Moves bytes; waits on as long as some still leave the system's buffers, or patience lasts."""
        quiet_since_s: float | None = None
        unsent = 0
        while True:
            try:
                return move(argument)
            except TimeoutError as error:
                # Python's own timeout has no errno; ETIMEDOUT is the system's, after which the connection is gone.
                if error.errno is not None:
                    raise  # the system gave the connection up
            now_s, before, unsent = self._clock(), unsent, unsent_bytes(self._socket)
            if quiet_since_s is None:
                # The first timeout comes a tick after the last progress.
                quiet_since_s = now_s - self._tick_s
            elif unsent != before:
                quiet_since_s = now_s
            is_stalled = now_s - quiet_since_s >= limit.patience_s
            # under TLS what came may be no answer but the protocol's own talk: only looked at when all else ends
            if limit is self._leaving and (is_stalled or not self.is_tls) and self.is_readable():
                raise SendingStopped
            if is_stalled:
                raise self._fault_of(limit.reason, limit.detail)

    def _fault_of_error(self, error: OSError) -> BrokenExchange:
        if isinstance(error, ssl.SSLError) and is_about_trust(error):
            return BrokenExchange("trust", why_not_trusted(error), was_sent=False)
        return self._fault_of("lost", "reset")

    def _fault_of(self, reason: Reason, detail: str) -> BrokenExchange:
        # Nothing was sent: «away», which may be repeated, instead of «lost», which must be settled first.
        if not self._sent and reason == "lost":
            return BrokenExchange("away", detail, was_sent=False)
        return BrokenExchange(reason, detail, was_sent=self._sent)


def open_stream(host: str, port: int, patience: Patience, clock: Callable[[], float]) -> Stream:
    """A plain connection. Raises `BrokenExchange`."""
    try:
        plain = socket.create_connection((host, port), patience.connect_s)
    except UnicodeError as error:
        raise BrokenExchange("away", "no-such-host", was_sent=False) from error  # no name that could be looked up
    except OSError as error:
        raise BrokenExchange("away", connection_failure(error), was_sent=False) from error
    # NODELAY: small requests must not wait for an acknowledgement. KEEPALIVE: a peer that vanished while the archive
    # thinks is noticed by the system.
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    # USER_TIMEOUT: what the archive does not take is given up by the system too, even while this process is stopped.
    if _USER_TIMEOUT is not None:
        plain.setsockopt(socket.IPPROTO_TCP, _USER_TIMEOUT, max(1, int(patience.stall_s * 1000)))
    return Stream(plain, patience, clock)


def connection_failure(error: OSError) -> str:
    """The reason, in one word, why a connection failed."""
    if isinstance(error, socket.gaierror):
        return "no-such-host"
    if isinstance(error, ConnectionRefusedError):
        return "refused"
    if isinstance(error, TimeoutError):
        return "no-answer"
    return "reset" if isinstance(error, ConnectionError) else "unreachable"
