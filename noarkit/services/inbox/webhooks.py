"""Stores the webhooks that we subscribed to: the path of their messages, the secret that proves them, and when they
end.

They are stored with the connection's own state, in a file that only its owner may read, so that `noarkit listen` needs
no configuration for them. While one secret replaces another, both are valid.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from noarkit.errors import SecretFault
from noarkit.safe.atomic import write_bytes
from noarkit.safe.locks import held_lock
from noarkit.secrets import Secret
from noarkit.services.settings import Connection

_MODE = 0o600
_MOST_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Webhook:
    """One webhook: its id at the service, its address, its events (and watched fields, by kind), the secret that proves
    its messages, and its end, if it has one."""

    id: str
    url: str
    events: tuple[str, ...]
    secret: Secret
    secret_before: Secret | None = None
    ends: datetime | None = None
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """The path that its messages come in at."""
        return urlsplit(self.url).path.rstrip("/") or "/"

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """The secrets that may prove a message now."""
        return (self.secret,) if self.secret_before is None else (self.secret, self.secret_before)


def read_webhooks(connection: Connection) -> tuple[Webhook, ...]:
    """Reads the webhooks of a connection. Raises `SecretFault` for a file that others may read, or that is no such
    file."""
    path = _place(connection)
    try:
        with path.open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            if mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise SecretFault(where=str(path), why="secret-open", mode=f"{mode:04o}")
            content = file.read(_MOST_BYTES)
    except FileNotFoundError:
        return ()
    try:
        return tuple(_read(entry) for entry in json.loads(content))
    except (ValueError, KeyError, TypeError, AttributeError):
        # not chained: the fault would repeat the content
        raise SecretFault(where=str(path), why="not-a-grant") from None


def save_webhook(connection: Connection, webhook: Webhook) -> None:
    """Stores a webhook, replacing the one with its id; it is on disk when this returns."""
    with _lock(connection):
        _write(connection, [*(item for item in read_webhooks(connection) if item.id != webhook.id), webhook])


def forget_webhooks(connection: Connection, ids: Iterable[str]) -> None:
    """Deletes stored webhooks by id."""
    forgotten = frozenset(ids)
    with _lock(connection):
        webhooks = read_webhooks(connection)
        if forgotten & {webhook.id for webhook in webhooks}:
            _write(connection, [webhook for webhook in webhooks if webhook.id not in forgotten])


def _place(connection: Connection) -> Path:
    return connection.state_file("webhooks.json")


def _lock(connection: Connection) -> AbstractContextManager[None]:
    return held_lock(connection.state_file("webhooks.lock"))


def _write(connection: Connection, webhooks: Iterable[Webhook]) -> None:
    entries = [
        {
            "id": webhook.id,
            "url": webhook.url,
            "events": list(webhook.events),
            "secret": webhook.secret.reveal(),
            "secret_before": webhook.secret_before.reveal() if webhook.secret_before is not None else None,
            "ends": webhook.ends.isoformat() if webhook.ends is not None else None,
            "fields": {kind: list(names) for kind, names in webhook.fields.items()},
        }
        for webhook in webhooks
    ]
    write_bytes(_place(connection), json.dumps(entries).encode(), mode=_MODE)


def _read(entry: Mapping[str, object]) -> Webhook:
    before, ends = entry["secret_before"], entry["ends"]
    fields = entry["fields"]
    if not isinstance(fields, Mapping) or not isinstance(entry["events"], list):
        raise TypeError("webhook")
    return Webhook(
        str(entry["id"]),
        str(entry["url"]),
        tuple(str(event) for event in entry["events"]),
        Secret(str(entry["secret"])),
        None if before is None else Secret(str(before)),
        None if ends is None else datetime.fromisoformat(str(ends)).astimezone(UTC),
        {str(kind): tuple(str(name) for name in names) for kind, names in fields.items()},
    )
