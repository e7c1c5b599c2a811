"""Scan states, retention times, timestamps and keys of an application security service."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Protocol
from urllib.parse import quote

from noarkit.services.paging import Row

ENDED_STATES = frozenset({"completed", "failed", "canceled"})
WITH_FINDINGS = frozenset({"completed", "partial"})
UNDER_WAY = frozenset({"queued", "running"})
FORGOTTEN_AFTER = timedelta(days=90)
LATE_AFTER = timedelta(days=30)


class Key(Protocol):
    """Builds a key from the service's own ids."""

    def __call__(self, *parts: object) -> str: ...


def key_in(tenant: str) -> Key:
    """Returns the key builder of a tenant: two tenants never share a key."""

    def key(*parts: object) -> str:
        return ":".join(quote(str(part), safe="") for part in (tenant, *parts))

    return key


def has_ended(scan: Row) -> bool:
    """True for a scan that will not change any more: one whose scanners have partly failed may still run."""
    status = str(scan.get("status")).casefold()
    if status != "partial":
        return status in ENDED_STATES
    details = scan.get("statusDetails")
    parts = [part for part in details if isinstance(part, Mapping)] if isinstance(details, list) else []
    return all(str(part.get("status")).casefold() not in UNDER_WAY for part in parts)


def moment(value: object) -> datetime | None:
    """Parses a timestamp of the service."""
    try:
        return datetime.fromisoformat(str(value).replace("Z", "+00:00")).astimezone(UTC)
    except ValueError:
        return None
