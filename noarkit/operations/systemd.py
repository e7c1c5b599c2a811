"""What the service manager is told: that we are ready, what we do, that we are alive, that we stop (sd_notify).

The protocol is one datagram of `NAME=value` lines to the socket that `NOTIFY_SOCKET` names. Nothing is told where no
service manager asks, and a socket that nobody reads never stops the work.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from noarkit.safe.sockets import message_socket

_MAX_STATUS = 200


class ServiceManager:
    """The socket of a service manager that waits to be told."""

    def __init__(self, address: str, environment: Mapping[str, str]) -> None:
        self._address = "\0" + address[1:] if address.startswith("@") else address
        self.watchdog_s = _watchdog_s(environment)
        self.is_main_process = environment.get("SYSTEMD_EXEC_PID", str(os.getpid())) == str(os.getpid())
        """False below a script: the end of one command is then not the end of the service."""

    def notify(self, **state: str) -> bool:
        """Sends one message; False where it could not be sent. May be called in a signal handler: it takes no lock."""
        message = "\n".join(f"{name}={_one_line(value)}" for name, value in state.items())
        try:
            with message_socket() as sender:
                sender.setblocking(False)
                sender.sendto(message.encode(), self._address)
        except OSError:
            return False
        return True


def service_manager(environment: Mapping[str, str]) -> ServiceManager | None:
    """The service manager that started us and waits to be told; None where there is none."""
    address = environment.get("NOTIFY_SOCKET", "")
    if sys.platform == "win32" or not address.startswith(("/", "@")) or len(address) < 2:
        return None
    return ServiceManager(address, environment)


def _watchdog_s(environment: Mapping[str, str]) -> float | None:
    """How often a sign of life is wanted at least; None where nobody waits for one of this process."""
    if environment.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return None
    limit = environment.get("WATCHDOG_USEC", "")
    return int(limit) / 1e6 if limit.isascii() and limit.isdecimal() and int(limit) > 0 else None


def _one_line(value: str) -> str:
    return " ".join(value.split())[:_MAX_STATUS]
