"""The doors of configured connections: which scheme a kind of service seals by, and where its messages come in."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from noarkit.connectors.inbox.agreed import agreed
from noarkit.connectors.inbox.receiver import Door
from noarkit.connectors.inbox.signatures import Scheme, Seal
from noarkit.connectors.settings import Connection
from noarkit.errors import ConfigFault
from noarkit.secrets import Secret

_SCHEMES: dict[str, tuple[Scheme, str, str]] = {
    "crm": ("token", "", ""),
    "spend": ("standard", "", ""),
    "appsec": ("body", "X-Webhook-Signature", ""),
    "features": ("stamped", "X-Service-Signature", "X-Service-Request-Timestamp"),
}

_MAY_BE_UNSIGNED = frozenset({"appsec"})


def doors(connections: Iterable[Connection]) -> dict[str, Door]:
    """A door for each place where messages of a connection come in: the one that is configured, and those of webhooks
    that we asked for ourselves. Raises `ConfigFault` for a connection that has neither, `SecretFault`."""
    found: dict[str, Door] = {}
    for to in connections:
        paths = _paths(to)
        if not paths:
            raise ConfigFault(where=f"connections.{to.service}.{to.name}.webhook_secret", why="not-set")
        for path, secrets in paths.items():
            found[path] = Door(to.where, path, _seal(to, path, secrets))
    return found


def has_doors(to: Connection) -> bool:
    """True for a connection whose messages can be proven."""
    return bool(_paths(to))


def _paths(to: Connection) -> Mapping[str, tuple[Secret, ...]]:
    """What may prove messages, by the path that they come in at."""
    own = to.text("webhook_path").rstrip("/")
    found: dict[str, tuple[Secret, ...]] = {}
    for one in agreed(to):
        path = own or one.path  # a proxy may send them on to another
        found[path] = (*found.get(path, ()), *one.secrets)
    configured = (to.secret("webhook_secret"), to.secret("webhook_secret_old"))
    secrets = tuple(secret for secret in configured if secret is not None)
    if secrets:
        path = own or _guessless(to, secrets[0])
        found[path] = (*secrets, *found.get(path, ()))
    return found


def _seal(to: Connection, path: str, secrets: tuple[Secret, ...]) -> Seal:
    scheme, header, stamp = _SCHEMES[to.service]
    if to.service in _MAY_BE_UNSIGNED and path.rpartition("/")[2] in {secret.reveal() for secret in secrets}:
        return Seal("path", secrets)  # we asked for messages without a signature, at a path that nobody guesses
    return Seal(
        scheme,
        secrets,
        to.text("webhook_header", header).casefold(),
        to.text("webhook_timestamp_header", stamp).casefold(),
    )


def _guessless(to: Connection, secret: Secret) -> str:
    """The path of a configured webhook: where nothing is signed, part of it is a secret too."""
    unsigned = _SCHEMES[to.service][0] == "token"
    guess = hashlib.sha256(secret.reveal().encode()).hexdigest()[:24] if unsigned else ""
    return "/".join(part for part in ("", to.service, to.name, guess) if part or part == "").rstrip("/")
