"""What stands between here and there in a closed network: a proxy that may want a password, a front that speaks TLS.

Both pass on what they are given, and remember what they were asked.
"""

from __future__ import annotations

import base64
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

HOST = "127.0.0.1"


@dataclass
class Proxy:
    """A forward proxy: CONNECT, and plain addresses. `names` are the hosts that it alone can find, as local ports."""

    names: Mapping[str, int] = field(default_factory=dict)
    account: tuple[str, str] | None = None
    forbids: str = ""
    asked: list[str] = field(default_factory=list)

    def answer_to(self, head: str) -> bytes:
        """What is said before anything is passed on; nothing where all is well."""
        wanted = "Basic " + base64.b64encode(":".join(self.account).encode()).decode() if self.account else ""
        if wanted and f"proxy-authorization: {wanted}".casefold() not in head.casefold():
            return (
                b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n"
            )
        place = _place(head)
        if place.rpartition(":")[0] == self.forbids:
            return b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"
        if place not in self.names and not place.startswith(HOST):
            return b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"
        return b""

    def serve(self, connection: socket.socket) -> None:
        """One connection, from its head to its end."""
        head = _head(connection)
        self.asked.append(head.partition("\r\n")[0])
        refusal = self.answer_to(head) if head else b""
        if refusal or not head:
            connection.sendall(refusal)
            return
        place = _place(head)
        port = self.names.get(place) or int(place.rpartition(":")[2])
        with socket.create_connection((HOST, port)) as onward:
            if head.startswith("CONNECT "):
                connection.sendall(b"HTTP/1.1 200 Go\r\n\r\n")
            else:
                onward.sendall(head.encode("latin-1"))
            both_ways(connection, onward)


@dataclass
class Front:
    """Speaks TLS, and passes on to a port that does not. `refused` are the handshakes that came to nothing."""

    port: int
    context: ssl.SSLContext
    refused: list[str] = field(default_factory=list)
    let_in: list[str] = field(default_factory=list)

    def serve(self, connection: socket.socket) -> None:
        """One connection, from its handshake to its end."""
        try:
            secured = self.context.wrap_socket(connection, server_side=True)
        except (ssl.SSLError, OSError) as error:
            self.refused.append(str(error))
            return
        with secured, socket.create_connection((HOST, self.port)) as onward:
            subject = dict(part[0] for part in (secured.getpeercert() or {}).get("subject", ()))  # type: ignore[misc]  # as ssl gives it
            self.let_in.append(str(subject.get("commonName", "")))
            both_ways(secured, onward)


@contextmanager
def listening(one: Proxy | Front) -> Iterator[int]:
    """The port it listens on, for the length of a block."""
    listener = socket.create_server((HOST, 0))
    threading.Thread(target=_accept, args=(listener, one), daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        # closing alone leaves the thread in accept()
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def both_ways(one: socket.socket, other: socket.socket) -> None:
    """Passes bytes on in both directions until both sides have ended."""
    back = threading.Thread(target=_pump, args=(other, one), daemon=True)
    back.start()
    _pump(one, other)
    back.join()


def _accept(listener: socket.socket, one: Proxy | Front) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=_served, args=(connection, one), daemon=True).start()


def _served(connection: socket.socket, one: Proxy | Front) -> None:
    with connection, suppress(OSError):
        one.serve(connection)


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while received := source.recv(65536):
            target.sendall(received)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
    with suppress(OSError):
        source.shutdown(socket.SHUT_RD)


def _head(connection: socket.socket) -> str:
    top = b""
    while b"\r\n\r\n" not in top:
        received = connection.recv(65536)
        if not received:
            return ""
        top += received
    return top.decode("latin-1")


def _place(head: str) -> str:
    """Host and port that a request is for."""
    method, target = head.split(" ", 2)[:2]
    place = target if method == "CONNECT" else target.split("/")[2]
    return place if ":" in place else f"{place}:80"
