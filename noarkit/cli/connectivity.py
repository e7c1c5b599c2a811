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
from noarkit.safe.tls import Trust, client_context, fault_details, why_not_trusted


@dataclass(frozen=True, slots=True)
class PeerInfo:
    """What was seen of the other end; `skew_s` is how far its clock is ahead of ours."""

    tls_version: str | None = None
    issuer: str | None = None
    certificate_ends: datetime | None = None
    skew_s: float | None = None


def reach(host: str, port: int, trust: Trust | None, timeout_s: float) -> PeerInfo:
    """Connects, with TLS where there is `trust`, and asks the time. Raises `ArchiveAway` or `TrustFault`."""
    try:
        with socket.create_connection((host, port), timeout=timeout_s) as plain:
            if trust is None:
                return PeerInfo(skew_s=_skew(plain, host))
            with client_context(trust).wrap_socket(plain, server_hostname=host) as line:
                return _inspect_peer(line, host)
    except ssl.SSLError as error:
        raise TrustFault(host=host, **fault_details(why_not_trusted(error))) from error
    except socket.gaierror as error:
        raise ArchiveAway(call="connect", host=host, why="unknown-host") from error
    except OSError as error:
        raise ArchiveAway(call="connect", host=f"{host}:{port}", why=error.strerror or "no-answer") from error


def _inspect_peer(tls_socket: ssl.SSLSocket, host: str) -> PeerInfo:
    certificate: Mapping[str, object] = tls_socket.getpeercert() or {}
    ends = certificate.get("notAfter")
    moment = datetime.fromtimestamp(ssl.cert_time_to_seconds(ends), UTC) if isinstance(ends, str) else None
    return PeerInfo(tls_socket.version(), _issuer_name(certificate.get("issuer")), moment, _skew(tls_socket, host))


def _issuer_name(issuer: object) -> str | None:
    """The common name, or the organisation, of whoever signed."""
    parts = dict(part[0] for part in issuer) if isinstance(issuer, tuple) else {}
    name = parts.get("commonName") or parts.get("organizationName")
    return str(name) if name else None


def _skew(channel: socket.socket, host: str) -> float | None:
    request = http.client.HTTPConnection(host)
    request.sock = channel
    try:
        request.request("HEAD", "/")
        date_header = request.getresponse().getheader("Date")
        return (parsedate_to_datetime(date_header) - datetime.now(UTC)).total_seconds() if date_header else None
    except (OSError, http.client.HTTPException, ValueError, TypeError):
        return None  # a clock that is not told is no fault
