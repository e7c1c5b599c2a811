"""What goes to the log of the system: ids, codes and counts of what happened, never titles, names or paths."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from noarkit.operations.tally import COUNTED
from noarkit.safe.sockets import message_socket

ERROR, WARNING, NOTICE, INFO = 3, 4, 5, 6
UNLOGGED = frozenset({*COUNTED, "bytes", "fetched", "files_fetched", "package_files"})
"""Events that only say how far something is: too many for a log, and the summary says what came of it."""
SEND_TIMEOUT_S = 2.0


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line: when, how grave, which event, and what may be said of it."""

    time: str
    severity: int
    name: str
    data: Mapping[str, object]

    def text(self) -> str:
        """The data as one line of JSON in plain ASCII."""
        return json.dumps({"event": self.name, **self.data})


class LineSender(Protocol):
    """A connection to a log that takes lines."""

    def send(self, line: LogLine) -> None:
        """Sends a line, or raises `OSError`."""

    def close(self) -> None:
        """Ends the connection."""


def severity_of(name: str, data: Mapping[str, object]) -> int:
    """How grave an event is."""
    if name == "fault":
        return WARNING if data.get("transient") or data.get("exit") in (0, 3) else ERROR
    if name == "summary":
        return NOTICE if data.get("success") else ERROR
    return NOTICE if name in ("start", "target", "other_archive") else INFO


class DatagramSender:
    """Lines as datagrams, each in the form that the log wants; whether one arrives nobody says."""

    def __init__(self, connected: socket.socket, encode: Callable[[LogLine], bytes]) -> None:
        self._socket = connected
        self._encode = encode

    def send(self, line: LogLine) -> None:
        """Sends a datagram."""
        self._socket.send(self._encode(line))

    def close(self) -> None:
        """Closes the socket."""
        self._socket.close()


def local_socket(path: str) -> socket.socket:
    """A socket for datagrams to a log of this machine. Raises `OSError` where nobody listens."""
    return _connected(message_socket(), path)


def remote_socket(host: str, port: int) -> socket.socket:
    """A socket for datagrams to another machine. Raises `OSError`, or `UnicodeError` for what is no name of a host."""
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
    return _connected(socket.socket(family, kind, protocol), address)


def _connected(connection: socket.socket, address: str | tuple[object, ...]) -> socket.socket:
    connection.settimeout(SEND_TIMEOUT_S)
    try:
        connection.connect(address)
    except OSError:
        connection.close()
        raise
    return connection
