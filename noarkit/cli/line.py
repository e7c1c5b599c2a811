"""The line to an archive, looked at before anything is said on it: does it answer, who signed for it, when."""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from noarkit.errors import ArchiveAway, TrustFault
from noarkit.safe.tls import Trust, context, told, why_not_trusted


@dataclass(frozen=True, slots=True)
class Reached:
    """What was seen of the other end; `skew_s` is how far its clock is ahead of ours."""

    tls_version: str | None = None
    issuer: str | None = None
    certificate_ends: datetime | None = None
    skew_s: float | None = None


def reach(host: str, port: int, trust: Trust | None, timeout_s: float) -> Reached:
    """Connects, with TLS where there is `trust`, and asks the time. Raises `ArchiveAway` or `TrustFault`."""
    try:
        with socket.create_connection((host, port), timeout=timeout_s) as plain:
            if trust is None:
                return Reached(skew_s=_skew(plain, host))
            with context(trust).wrap_socket(plain, server_hostname=host) as line:
                return _look(line, host)
    except ssl.SSLError as error:
        raise TrustFault(host=host, **told(why_not_trusted(error))) from error
    except socket.gaierror as error:
        raise ArchiveAway(call="connect", host=host, why="unknown-host") from error
    except OSError as error:
        raise ArchiveAway(call="connect", host=f"{host}:{port}", why=error.strerror or "no-answer") from error


def _look(line: ssl.SSLSocket, host: str) -> Reached:
    certificate: Mapping[str, object] = line.getpeercert() or {}
    ends = certificate.get("notAfter")
    moment = datetime.fromtimestamp(ssl.cert_time_to_seconds(ends), UTC) if isinstance(ends, str) else None
    return Reached(line.version(), _name(certificate.get("issuer")), moment, _skew(line, host))


def _name(issuer: object) -> str | None:
    """The common name, or the organisation, of whoever signed."""
    parts = dict(part[0] for part in issuer) if isinstance(issuer, tuple) else {}
    found = parts.get("commonName") or parts.get("organizationName")
    return str(found) if found else None


def _skew(line: socket.socket, host: str) -> float | None:
    asked = http.client.HTTPConnection(host)
    asked.sock = line
    try:
        asked.request("HEAD", "/")
        told = asked.getresponse().getheader("Date")
        return (parsedate_to_datetime(told) - datetime.now(UTC)).total_seconds() if told else None
    except (OSError, http.client.HTTPException, ValueError, TypeError):
        return None  # a clock that is not told is no fault
