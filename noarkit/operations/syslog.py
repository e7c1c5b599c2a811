"""Syslog as RFC 5424 has it: to the socket of this machine, by UDP (RFC 5426), by TCP (RFC 6587, counted octets), or by
TLS (RFC 5425), where nothing is sent before the certificate of the other side is proven."""

from __future__ import annotations

import os
import socket
import ssl
import sys
from contextlib import suppress

from noarkit.operations.log_lines import SEND_TIMEOUT_S, LogLine
from noarkit.version import __version__

LOCAL_SOCKET = "/var/run/syslog" if sys.platform == "darwin" else "/dev/log"
FACILITY = 3
"""daemon: what runs in the background."""
MAX_DATAGRAM_BYTES = 2048
"""What every receiver should take; a longer line goes without its data."""


class StreamSender:
    """Lines over a connection to another machine, each with its length before it."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection

    def send(self, line: LogLine) -> None:
        """Sends a line; after a time-out the connection is of no use any more."""
        content = message(line)
        self._socket.sendall(str(len(content)).encode() + b" " + content)

    def close(self) -> None:
        """Closes the connection. Over TLS it says so first, and reads what the other side had to say: unread, that
        would reset the connection, and lines under way would be lost."""
        if isinstance(self._socket, ssl.SSLSocket):
            with suppress(OSError):
                self._socket.unwrap()
        self._socket.close()


def tcp_connection(host: str, port: int) -> socket.socket:
    """A connection to another machine. Raises `OSError`, or `UnicodeError` for what is no name of a host."""
    return socket.create_connection((host, port), SEND_TIMEOUT_S)


def tls_connection(host: str, port: int, trust: ssl.SSLContext) -> socket.socket:
    """The same over TLS, to a machine that proves to be `host`. Raises as `tcp_connection`, and `ssl.SSLError`."""
    connection = tcp_connection(host, port)
    try:
        return trust.wrap_socket(connection, server_hostname=host)
    except BaseException:
        connection.close()
        raise


def datagram(line: LogLine) -> bytes:
    """One message that a datagram has room for."""
    return message(line, MAX_DATAGRAM_BYTES)


def message(line: LogLine, max_bytes: int | None = None) -> bytes:
    """One message: its header, who we are in the element that IANA has registered for that, and the line as JSON."""
    priority = FACILITY * 8 + line.severity
    header = (
        f"<{priority}>1 {line.time} {_word(socket.gethostname(), 255)} noarkit {os.getpid()} {_word(line.name, 32)}"
    )
    element = f'[origin software="noarkit" swVersion="{__version__}"]'
    content = f"{header} {element} {line.text()}".encode("ascii", "replace")
    if max_bytes is None or len(content) <= max_bytes:
        return content
    shortened = LogLine(line.time, line.severity, line.name, {"id": line.data.get("id"), "cut": True})
    return f"{header} {element} {shortened.text()}".encode("ascii", "replace")


def _word(text: str, limit: int) -> str:
    """A field of the header: printable ASCII without spaces."""
    return "".join(sign if "!" <= sign <= "~" else "_" for sign in text)[:limit] or "-"
