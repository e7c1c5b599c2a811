"""The certificates of a cluster: an authority of its own, and one certificate for each role, all in one folder.

Every connection shows a certificate and demands one, both ways; without them nothing starts.
"""

from __future__ import annotations

import re
import ssl
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from noarkit.errors import ConfigFault, SecretFault, SecretOnTheLine, UsageFault
from noarkit.loading.engines.cluster.library import distributed
from noarkit.safe import atomic
from noarkit.safe.authority import CertificateAuthority, CertifiedKey
from noarkit.safe.certificates import certificates_end
from noarkit.safe.owners import is_open_to_others
from noarkit.safe.tls import Trust, client_context

Role = Literal["scheduler", "worker", "coordinator"]
ROLES: tuple[Role, ...] = ("scheduler", "worker", "coordinator")
AUTHORITY = "ca"
DAYS = 825
_THEIR_ROLES = {"scheduler": "scheduler", "worker": "worker", "coordinator": "client"}
_ADDRESS = re.compile(r"(?:dask|tls)://(\[[0-9a-fA-F:]+\]|[^\s:/\[\]]+):(\d{1,5})/?\Z")


def write_certificates(folder: Path, hosts: tuple[str, ...], now: datetime, days: int = DAYS) -> tuple[Path, ...]:
    """Makes the authority and a certificate for each role in a new folder; keys are for their owner alone.

    Raises `UsageFault` where the folder holds any of it already.
    """
    authority = CertificateAuthority("noarkit cluster", now, timedelta(days=days))
    pairs: dict[str, CertifiedKey] = {AUTHORITY: authority.pair}
    for role in ROLES:
        # A coordinator only calls: its certificate is good for no server, so that it cannot play the scheduler.
        pairs[role] = authority.issue(f"noarkit {role}", hosts, serves=role != "coordinator")
    paths = [folder / f"{name}{ending}" for name in pairs for ending in (".pem", ".key")]
    for path in paths:
        if path.exists():
            raise UsageFault(what="exists", where=str(path))
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name, pair in pairs.items():
        atomic.write_bytes(folder / f"{name}.key", pair.key, mode=0o600, replace=False)
        atomic.write_bytes(folder / f"{name}.pem", pair.certificate, mode=0o644, replace=False)
    return tuple(sorted(paths))


def security(folder: Path | None, role: Role, now: datetime | None = None) -> Any:  # the library tells no types
    """The library's settings of TLS for a role. Raises `UsageFault`, `ConfigFault`, `SecretFault` for what cannot be
    used: files that are missing, open to others, expired, or no pair."""
    if folder is None:
        raise UsageFault(what="no-cluster-tls", where=f"noarkit ({role})", fix="--tls", own="folder")
    authority, certificate, key = (folder / name for name in (f"{AUTHORITY}.pem", f"{role}.pem", f"{role}.key"))
    for path in (authority, certificate, key):
        if not path.is_file():
            raise ConfigFault(where=str(path), why="not-there")
    status = key.stat()
    if is_open_to_others(status):
        raise SecretFault(where=str(key), why="secret-open", mode=f"{stat.S_IMODE(status.st_mode):04o}")
    for path in (authority, certificate):
        _check_valid(path, now or datetime.now(UTC))
    client_context(Trust(authority, certificate, key))  # says which file cannot be used, and why
    theirs = _THEIR_ROLES[role]
    return distributed().Security(
        require_encryption=True,
        tls_ca_file=str(authority),
        tls_min_version=ssl.TLSVersion.TLSv1_3,
        **{f"tls_{theirs}_cert": str(certificate), f"tls_{theirs}_key": str(key)},
    )


def read_address(address: str, where: str) -> tuple[str, str, int]:
    """`dask://HOST:PORT` as the library writes it, with host and port. Raises `UsageFault`, and
    `SecretOnTheLine` for one with a password."""
    if "@" in address:
        raise SecretOnTheLine(where=where)
    match = _ADDRESS.match(address)
    if match is None or int(match[2]) > 65535:
        raise UsageFault(
            what="bad-engine", where=f"{where} {address}", fix=where if where.startswith("-") else "", own="scheduler"
        )
    return f"tls://{match[1]}:{int(match[2])}", match[1].strip("[]"), int(match[2])


def _check_valid(path: Path, now: datetime) -> None:
    try:
        end = certificates_end(path)
    except ValueError:
        end = None
    if end is None:
        raise ConfigFault(where=str(path), why="not-a-pem-file")
    if end <= now:
        raise ConfigFault(where=str(path), why="expired")
