"""Stores OAuth grants between runs: a file only its owner may read, replaced atomically, locked while a token is
renewed.

A refresh token that is used up by each renewal would be lost if the machine stopped between the service's answer and
our disk. So the new pair is on disk before it is used, and one process at a time renews.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from noarkit.errors import SecretFault
from noarkit.safe.atomic import write_bytes
from noarkit.safe.locks import held_lock

_MODE = 0o600
_MOST_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True, repr=False)
class Grant:
    """An access token with its end, the time from when it should be renewed, and what came with it.

    `origin` identifies the configuration that the grant belongs to.
    """

    access_token: str
    ends_at_s: float
    renew_at_s: float
    refresh_token: str = ""
    api_domain: str = ""
    scope: str = ""
    origin: str = ""

    def __repr__(self) -> str:
        return f"Grant(ends_at_s={self.ends_at_s})"


class GrantStore:
    """Stores the grant of one connection on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> Grant | None:
        """Reads the stored grant; None if there is none. Raises `SecretFault` if others could read it, or it is no
        grant."""
        try:
            with self.path.open("rb") as file:
                mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
                if mode & (stat.S_IRWXG | stat.S_IRWXO):
                    raise SecretFault(where=str(self.path), why="secret-open", mode=f"{mode:04o}")
                content = file.read(_MOST_BYTES)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise SecretFault(where=str(self.path), why="unreadable") from error
        return _read_grant(content, str(self.path))

    def save(self, grant: Grant) -> None:
        """Replaces the stored grant; it is on disk when this returns."""
        entry = {
            "access_token": grant.access_token,
            "ends_at": grant.ends_at_s,
            "renew_at": grant.renew_at_s,
            "refresh_token": grant.refresh_token,
            "api_domain": grant.api_domain,
            "scope": grant.scope,
            "origin": grant.origin,
        }
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_bytes(self.path, json.dumps(entry).encode(), mode=_MODE)

    def forget(self) -> bool:
        """Deletes the stored grant; False if there was none."""
        was = self.path.exists()
        self.path.unlink(missing_ok=True)
        return was

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Holds the file lock, so that no other process renews meanwhile."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with held_lock(self.path.with_suffix(".lock")):
            yield


def _read_grant(content: bytes, location: str) -> Grant:
    try:
        entry = json.loads(content)
        if not isinstance(entry, Mapping):
            raise ValueError
        return Grant(
            str(entry["access_token"]),
            float(entry["ends_at"]),
            float(entry["renew_at"]),
            str(entry.get("refresh_token", "")),
            str(entry.get("api_domain", "")),
            str(entry.get("scope", "")),
            str(entry.get("origin", "")),
        )
    except (ValueError, KeyError, TypeError):
        # not chained: the fault would repeat the content
        raise SecretFault(where=location, why="not-a-grant") from None
