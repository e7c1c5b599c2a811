"""Shakes hands with the scheduler once, before anything else: why it cannot be reached is known in a word then."""

from __future__ import annotations

import socket
import ssl
from typing import Any

from noarkit.errors import EngineAway, EngineTrust
from noarkit.safe.tls import fault_details, why_not_trusted

_PATIENCE_S = 10.0


def check_scheduler(security: Any, role: str, host: str, port: int) -> str:  # the library tells no types
    """Our own address on the way to the scheduler. Raises `EngineAway` where nobody answers, `EngineTrust` where one
    side does not trust the other."""
    where = f"{host}:{port}"
    context: ssl.SSLContext = security.get_connection_args(role)["ssl_context"]
    try:
        with socket.create_connection((host, port), _PATIENCE_S) as connection, context.wrap_socket(connection) as line:
            # A server that refuses our certificate says so after its own handshake: with the first bytes that it sends.
            line.recv(1)
            return str(connection.getsockname()[0] if connection.fileno() >= 0 else line.getsockname()[0])
    except ssl.SSLError as error:
        about = fault_details(why_not_trusted(error))
        raise EngineTrust(where=where, **about) from error
    except TimeoutError as error:
        raise EngineAway(where=where, why="no-answer") from error
    except OSError as error:
        why = "refused" if isinstance(error, ConnectionRefusedError) else "not-reached"
        raise EngineAway(where=where, why=why) from error
