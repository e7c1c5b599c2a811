"""Who is at the other end of a connection on this machine, as the system knows it.

On a machine that several people share, a port of 127.0.0.1 is open to all of them. The system's table of sockets says
which user each end belongs to; where there is no such table, nothing is said.
"""

from __future__ import annotations

import socket
import struct
from pathlib import Path

_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_LOCAL, _REMOTE, _UID = 1, 2, 7
Endpoint = tuple[str, int]
PEER = "noarkit.peer"
"""The extension of a request that says which user is at the other end."""


def peer_uid(client: Endpoint, server: Endpoint, tables: tuple[Path, ...] = _TABLES) -> int | None:
    """The user whose socket is connected from `client` to `server`; None where the system does not say."""
    for table in tables:
        try:
            lines = table.read_text("ascii").splitlines()[1:]
        except OSError:
            continue
        ends = [(_table_form(*client, mapped=mapped), _table_form(*server, mapped=mapped)) for mapped in (False, True)]
        for line in lines:
            columns = line.split()
            if len(columns) > _UID and (columns[_LOCAL], columns[_REMOTE]) in ends:
                return int(columns[_UID])
    return None


def _table_form(host: str, port: int, *, mapped: bool) -> str:
    """An address as the tables write it: words of the machine's own byte order, also where IPv6 carries IPv4."""
    try:
        packed = socket.inet_pton(socket.AF_INET6 if ":" in host else socket.AF_INET, host)
    except OSError:
        return ""
    if mapped and len(packed) == 4:
        packed = bytes(10) + b"\xff\xff" + packed
    words = struct.unpack(f"={len(packed) // 4}I", packed)
    return "".join(f"{word:08X}" for word in words) + f":{port:04X}"
