"""The ping of a health check: who watches for a job that stays away hears of its start, its success and its failure.

The address is a secret (whoever knows it can ping), so that only its host is ever told. The habits are those of health
checks by ping: `URL/start`, `URL` for a success, `URL/fail`, with the outcome as JSON in the body.
"""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from noarkit.errors import ConfigFault, NoarkitError, NotTold
from noarkit.operations.job import Moment
from noarkit.safe.children import OUR_THREADS
from noarkit.safe.tls import Trust, client_context
from noarkit.secrets import Secret, SecretSource

_SUFFIXES: Mapping[Moment, str] = {"start": "/start", "success": "", "failure": "/fail"}


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """A health check whose address is known."""

    url: Secret
    host: str
    trust: ssl.SSLContext
    timeout_s: float

    def ping(self, moment: Moment, payload: Mapping[str, object]) -> NoarkitError | None:
        """Tells a moment; what went wrong, if anything did. Never takes longer than `timeout_s`."""
        results: list[str] = []
        # in a thread: looking up a name has no time-out of its own, and an answer that trickles has none as a whole
        sender = threading.Thread(target=self._send, args=(moment, payload, results), name=f"{OUR_THREADS}ping")
        sender.daemon = True
        sender.start()
        sender.join(self.timeout_s)
        why = results[0] if results else "ping-too-slow"
        if not why:
            return None
        if why.isdecimal():
            return NotTold(where=f"ping {self.host}", why="ping-refused", status=int(why))
        return NotTold(where=f"ping {self.host}", why=why)

    def _send(self, moment: Moment, payload: Mapping[str, object], results: list[str]) -> None:
        import httpx

        split = urlsplit(self.url.reveal())
        url = urlunsplit(split._replace(path=split.path.rstrip("/") + _SUFFIXES[moment]))
        # a name of a folder need not be text: what stands for its bytes is escaped
        content = json.dumps(dict(payload), separators=(",", ":")).encode()
        headers = {"Content-Type": "application/json", "User-Agent": "noarkit"}
        try:
            with (
                httpx.Client(verify=self.trust, trust_env=False, timeout=self.timeout_s, headers=headers) as client,
                client.stream("POST", url, content=content) as reply,
            ):
                results.append("" if reply.is_success else str(reply.status_code))
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            results.append("ping-too-slow" if isinstance(error, httpx.TimeoutException) else "ping-unreachable")


def health_check(
    source: SecretSource, ca_file: Path | None, timeout_s: float, environment: Mapping[str, str]
) -> HealthCheck:
    """The health check of the settings. Raises `SecretFault` or `ConfigFault` where its address cannot be used."""
    url = source.read(environment)
    try:
        split = urlsplit(url.reveal())
        good = split.scheme in ("http", "https") and bool(split.hostname) and split.username is None
        _ = split.port
    except ValueError:
        good = False
    if not good:
        raise ConfigFault(where=source.description, why="not-an-address")
    return HealthCheck(url, str(split.hostname), client_context(Trust(ca_file)), timeout_s)
