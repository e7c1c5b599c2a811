"""The inbox endpoints of configured connections: the signature scheme of each kind of service, and the paths of its
messages."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from noarkit.errors import ConfigFault
from noarkit.secrets import Secret
from noarkit.services.inbox.receiver import InboxEndpoint
from noarkit.services.inbox.signatures import Scheme, Seal
from noarkit.services.inbox.webhooks import read_webhooks
from noarkit.services.settings import Connection

_SCHEMES: dict[str, tuple[Scheme, str, str]] = {
    "crm": ("token", "", ""),
    "spend": ("standard", "", ""),
    "appsec": ("body", "X-Webhook-Signature", ""),
    "features": ("stamped", "X-Service-Signature", "X-Service-Request-Timestamp"),
}

_MAY_BE_UNSIGNED = frozenset({"appsec"})


def inbox_endpoints(connections: Iterable[Connection]) -> dict[str, InboxEndpoint]:
    """Returns an endpoint for each path that messages of a connection come in at: the configured one, and those of
    webhooks that we subscribed to. Raises `ConfigFault` for a connection with neither, `SecretFault`."""
    doors_by_path: dict[str, InboxEndpoint] = {}
    for to in connections:
        paths = _paths(to)
        if not paths:
            raise ConfigFault(where=f"connections.{to.service}.{to.name}.webhook_secret", why="not-set")
        for path, secrets in paths.items():
            doors_by_path[path] = InboxEndpoint(to.full_name, path, _seal(to, path, secrets))
    return doors_by_path


def has_endpoints(connection: Connection) -> bool:
    """True for a connection whose messages can be verified."""
    return bool(_paths(connection))


def _paths(connection: Connection) -> Mapping[str, tuple[Secret, ...]]:
    """Returns the secrets that may prove messages, by path."""
    own_path = connection.text("webhook_path").rstrip("/")
    secrets_by_path: dict[str, tuple[Secret, ...]] = {}
    for webhook in read_webhooks(connection):
        path = own_path or webhook.path  # a proxy may send them on to another
        secrets_by_path[path] = (*secrets_by_path.get(path, ()), *webhook.secrets)
    configured = (connection.secret("webhook_secret"), connection.secret("webhook_secret_old"))
    secrets = tuple(secret for secret in configured if secret is not None)
    if secrets:
        path = own_path or _secret_path(connection, secrets[0])
        secrets_by_path[path] = (*secrets, *secrets_by_path.get(path, ()))
    return secrets_by_path


def _seal(connection: Connection, path: str, secrets: tuple[Secret, ...]) -> Seal:
    scheme, header, stamp = _SCHEMES[connection.service]
    if connection.service in _MAY_BE_UNSIGNED and path.rpartition("/")[2] in {secret.reveal() for secret in secrets}:
        return Seal("path", secrets)  # unsigned messages, at a path that cannot be guessed
    return Seal(
        scheme,
        secrets,
        connection.text("webhook_header", header).casefold(),
        connection.text("webhook_timestamp_header", stamp).casefold(),
    )


def _secret_path(connection: Connection, secret: Secret) -> str:
    """Returns the path of a configured webhook: if nothing is signed, part of the path is a secret."""
    is_unsigned = _SCHEMES[connection.service][0] == "token"
    guess = hashlib.sha256(secret.reveal().encode()).hexdigest()[:24] if is_unsigned else ""
    return "/".join(part for part in ("", connection.service, connection.name, guess) if part or part == "").rstrip("/")
