"""Ports for what is told its port before it listens.

They lie below those that the system gives to whoever asks for any, so that no connection of another process takes one
meanwhile, and none is connected with itself. Each is claimed for as long as this process lives: no other of the tests,
of this run or another on this machine, is given the same.
"""

from __future__ import annotations

import atexit
import random
import socket
import sys
from contextlib import ExitStack

_LEAST, _MOST = 20_000, 32_000
_CLAIMS = ExitStack()
atexit.register(_CLAIMS.close)


def free_port() -> int:
    """A port of this machine on which nobody listens, and on which nobody else will."""
    for port in random.sample(range(_LEAST, _MOST), 500):
        with ExitStack() as claim:
            if _is_free(port, claim):
                _CLAIMS.push(claim.pop_all())
                return port
    raise OSError(f"There is no free port from {_LEAST} to {_MOST}.")


def _is_free(port: int, claim: ExitStack) -> bool:
    try:
        if sys.platform.startswith("linux"):  # elsewhere there are no names that end with who bears them
            claim.enter_context(socket.socket(socket.AF_UNIX)).bind(f"\0noarkit-tests-port-{port}")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
    except OSError:
        return False
    return True
