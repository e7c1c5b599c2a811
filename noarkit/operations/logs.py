"""The logs of the system that lines go to, by their addresses in the settings; each may be away for a while."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from noarkit.errors import NoarkitError, NotTold
from noarkit.operations.journald import JOURNAL_SOCKET, entry
from noarkit.operations.log_lines import DatagramSender, LineSender, LogLine, local_socket, remote_socket
from noarkit.operations.syslog import LOCAL_SOCKET, StreamSender, datagram, tcp_connection, tls_connection
from noarkit.safe.tls import Trust, client_context, is_about_trust

_AGAIN_AFTER_S = 30.0


@dataclass(slots=True)
class LogTarget:
    """A log that may be away: what cannot be sent is counted, and it is tried again after a while."""

    where: str
    connect: Callable[[], LineSender]
    clock: Callable[[], float]
    _sender: LineSender | None = None
    _away_until_s: float = 0.0
    _lost_count: int = 0
    _told: bool = False
    faults: list[NoarkitError] = field(default_factory=list)

    def send(self, line: LogLine) -> None:
        """Sends a line; a log that is away costs no line more than its time-out, and most none."""
        if self.clock() < self._away_until_s:
            self._lost_count += 1
            return
        try:
            if self._sender is None:
                self._sender = self.connect()
            self._sender.send(line)
        except (OSError, UnicodeError) as error:  # a host that no name can be is away, too
            self._lost_count += 1
            self._away_until_s = self.clock() + _AGAIN_AFTER_S
            self._drop()
            if not self._told:
                self._told = True
                is_untrusted = isinstance(error, ssl.SSLError) and is_about_trust(error)
                self.faults.append(NotTold(where=self.where, why="log-untrusted" if is_untrusted else "log-away"))

    def close(self) -> None:
        """Ends the connection, and says how much was lost."""
        self._drop()
        if self._lost_count:
            self.faults.append(NotTold(where=self.where, why="events-lost", count=self._lost_count))

    def _drop(self) -> None:
        sender, self._sender = self._sender, None
        if sender is not None:
            sender.close()


def log_target(address: str, clock: Callable[[], float], ca_file: Path | None = None) -> LogTarget:
    """The log of an address as the settings have it. `ca_file` is who signs the certificate of a log over TLS; without
    it one of the usual authorities must have. Raises `ConfigFault` for a file that cannot be used."""
    kind, _, place = address.partition(":")
    if kind == "journald":
        return LogTarget(address, lambda: DatagramSender(local_socket(place or JOURNAL_SOCKET), entry), clock)
    if kind == "syslog":
        return LogTarget(address, lambda: DatagramSender(local_socket(place or LOCAL_SOCKET), datagram), clock)
    split = urlsplit(address)
    host, port = str(split.hostname), int(split.port or 0)
    if kind == "udp":
        return LogTarget(address, lambda: DatagramSender(remote_socket(host, port), datagram), clock)
    if kind == "tls":
        trust = client_context(Trust(ca_file))
        return LogTarget(address, lambda: StreamSender(tls_connection(host, port, trust)), clock)
    return LogTarget(address, lambda: StreamSender(tcp_connection(host, port)), clock)
