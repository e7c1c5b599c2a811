"""What a socket tells beside its bytes, asked in the best way that the system has."""

from __future__ import annotations

import select
import socket
import struct
import sys
from contextlib import suppress

if sys.platform != "win32":
    import fcntl
    import termios

_SO_NWRITE = 0x1024  # macOS: how many bytes wait to be sent


class SocketReader:
    """Says whether a socket has something to read, at the cost of one call of the system."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        if sys.platform != "win32":
            # `select` takes no descriptor above 1,023 there
            self._poll = select.poll()
            self._poll.register(connected, select.POLLIN)

    def is_readable(self) -> bool:
        """True if bytes, or the end, wait to be read."""
        if sys.platform != "win32":
            return bool(self._poll.poll(0))
        return bool(select.select([self._socket], [], [], 0)[0])


def message_socket() -> socket.socket:
    """A socket for messages to another process of this machine. Raises `OSError` where the system has none."""
    if sys.platform != "win32":
        return socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    raise OSError("there are no such sockets on this system")


def claim_address(listener: socket.socket) -> None:
    """Before it is bound: it may take a port that another process has just left, and shares it with nobody."""
    if sys.platform == "win32":
        # the option of the other systems would let any process take a port that is in use there
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
    else:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)


def unsent_bytes(connected: socket.socket) -> int:
    """How many bytes the system has taken from us that the other side has not; 0 if the system does not tell."""
    try:
        if sys.platform == "linux":
            return int(struct.unpack("i", fcntl.ioctl(connected.fileno(), termios.TIOCOUTQ, b"\0\0\0\0"))[0])
        if sys.platform == "darwin":
            return connected.getsockopt(socket.SOL_SOCKET, _SO_NWRITE)
    except OSError:
        return 0
    return 0


def drop_at_end(connected: socket.socket, *, drops: bool) -> None:
    """Whether the system drops what is unsent when the connection ends, or still tries to deliver it."""
    if sys.platform != "win32":
        with suppress(OSError):  # one that is closed has nothing to send
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", drops, 0))
