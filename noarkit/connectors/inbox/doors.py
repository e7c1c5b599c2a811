"""The doors of configured connections: which scheme a kind of service seals by, and where its messages come in."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from noarkit.connectors.inbox.receiver import Door
from noarkit.connectors.inbox.signatures import Scheme, Seal
from noarkit.connectors.settings import Connection
from noarkit.errors import ConfigFault

_SCHEMES: dict[str, tuple[Scheme, str, str]] = {
    "crm": ("token", "", ""),
    "spend": ("standard", "", ""),
    "appsec": ("body", "X-Webhook-Signature", ""),
    "features": ("stamped", "X-Service-Signature", "X-Service-Request-Timestamp"),
}


def doors(connections: Iterable[Connection]) -> dict[str, Door]:
    """A door for each connection, by its path. Raises `ConfigFault` for one without a secret, `SecretFault`."""
    found = {}
    for to in connections:
        door = _door(to)
        found[door.path] = door
    return found


def _door(to: Connection) -> Door:
    found = (to.secret("webhook_secret"), to.secret("webhook_secret_old"))
    secrets = tuple(secret for secret in found if secret is not None)
    if not secrets:
        raise ConfigFault(where=f"connections.{to.service}.{to.name}.webhook_secret", why="not-set")
    scheme, header, stamp = _SCHEMES[to.service]
    seal = Seal(
        scheme,
        secrets,
        to.text("webhook_header", header).casefold(),
        to.text("webhook_timestamp_header", stamp).casefold(),
    )
    # where nothing is signed, part of the path is a secret too
    guess = hashlib.sha256(secrets[0].reveal().encode()).hexdigest()[:24] if scheme == "token" else ""
    path = to.text("webhook_path") or "/".join(part for part in ("", to.service, to.name, guess) if part or part == "")
    return Door(to.where, path.rstrip("/") or "/", seal)
