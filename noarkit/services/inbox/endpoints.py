"""The inbox endpoints of configured connections: the signature scheme of each kind of service, and the paths of its
messages."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from noarkit.errors import ConfigFault
from noarkit.secrets import Secret
from noarkit.services.inbox.receiver import InboxEndpoint
from noarkit.services.inbox.signatures import Seal
from noarkit.services.inbox.webhooks import read_webhooks
from noarkit.services.kind import WebhookKind
from noarkit.services.registry import find_kind
from noarkit.services.settings import Connection


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
    if find_kind(connection.service).webhooks is None:
        return {}
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
    kind = _webhook_kind(connection)
    if kind.may_be_unsigned and path.rpartition("/")[2] in {secret.reveal() for secret in secrets}:
        return Seal("path", secrets)  # unsigned messages, at a path that cannot be guessed
    return Seal(
        kind.scheme,
        secrets,
        connection.text("webhook_header", kind.header).casefold(),
        connection.text("webhook_timestamp_header", kind.timestamp_header).casefold(),
    )


def _secret_path(connection: Connection, secret: Secret) -> str:
    """Returns the path of a configured webhook: if nothing is signed, part of the path is a secret."""
    is_unsigned = _webhook_kind(connection).scheme == "token"
    guess = hashlib.sha256(secret.reveal().encode()).hexdigest()[:24] if is_unsigned else ""
    return "/".join(part for part in ("", connection.service, connection.name, guess) if part or part == "").rstrip("/")


def _webhook_kind(connection: Connection) -> WebhookKind:
    """Returns how the service of a connection signs. Raises `ConfigFault` for one that sends no webhooks."""
    kind = find_kind(connection.service).webhooks
    if kind is None:
        raise ConfigFault(where=f"connections.{connection.service}.{connection.name}.webhook_secret", why="not-set")
    return kind
