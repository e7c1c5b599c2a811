"""Webhooks that we asked a service for: where its messages come in, what proves them, and when it stops sending them.

They are kept with the connection's own state, in a file that only its owner may read, so that `noarkit listen` knows
them without a line of config. While one secret replaces another both are good.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from noarkit.connectors.settings import Connection
from noarkit.errors import SecretFault
from noarkit.safe.atomic import write_bytes
from noarkit.secrets import Secret

_MODE = 0o600
_MOST_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Agreed:
    """One webhook: its id at the service, whereto it sends, what it tells of (and which fields it watches, by kind),
    what proves its messages, and when it ends, if it does."""

    id: str
    url: str
    events: tuple[str, ...]
    secret: Secret
    secret_before: Secret | None = None
    ends: datetime | None = None
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """Where its messages come in."""
        return urlsplit(self.url).path.rstrip("/") or "/"

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """What may prove a message now."""
        return (self.secret,) if self.secret_before is None else (self.secret, self.secret_before)


def agreed(to: Connection) -> tuple[Agreed, ...]:
    """The webhooks of a connection. Raises `SecretFault` for a file that others may read, or that is no such file."""
    path = _place(to)
    try:
        with path.open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            if mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise SecretFault(where=str(path), why="secret-open", mode=f"{mode:04o}")
            content = file.read(_MOST_BYTES)
    except FileNotFoundError:
        return ()
    try:
        return tuple(_read(one) for one in json.loads(content))
    except (ValueError, KeyError, TypeError, AttributeError):
        # not chained: the fault would repeat what stands there
        raise SecretFault(where=str(path), why="not-a-grant") from None


def agree(to: Connection, one: Agreed) -> None:
    """Keeps a webhook, in place of the one with its id; it is on disk when this returns."""
    with _alone(to):
        _write(to, [*(other for other in agreed(to) if other.id != one.id), one])


def forget(to: Connection, ids: Iterable[str]) -> None:
    """Keeps them no longer."""
    gone = frozenset(ids)
    with _alone(to):
        known = agreed(to)
        if gone & {one.id for one in known}:
            _write(to, [one for one in known if one.id not in gone])


def _place(to: Connection) -> Path:
    return to.state_file("webhooks.json")


@contextmanager
def _alone(to: Connection) -> Iterator[None]:
    lock = os.open(to.state_file("webhooks.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _MODE)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _write(to: Connection, found: Iterable[Agreed]) -> None:
    told = [
        {
            "id": one.id,
            "url": one.url,
            "events": list(one.events),
            "secret": one.secret.reveal(),
            "secret_before": one.secret_before.reveal() if one.secret_before is not None else None,
            "ends": one.ends.isoformat() if one.ends is not None else None,
            "fields": {kind: list(names) for kind, names in one.fields.items()},
        }
        for one in found
    ]
    write_bytes(_place(to), json.dumps(told).encode(), mode=_MODE)


def _read(told: Mapping[str, object]) -> Agreed:
    before, ends = told["secret_before"], told["ends"]
    fields = told["fields"]
    if not isinstance(fields, Mapping) or not isinstance(told["events"], list):
        raise TypeError("webhook")
    return Agreed(
        str(told["id"]),
        str(told["url"]),
        tuple(str(event) for event in told["events"]),
        Secret(str(told["secret"])),
        None if before is None else Secret(str(before)),
        None if ends is None else datetime.fromisoformat(str(ends)).astimezone(UTC),
        {str(kind): tuple(str(name) for name in names) for kind, names in fields.items()},
    )
