"""What is gone from a service for good, and was accepted so by a person: its record is archived without it.

It lies beside the state of the connection as lines of JSON, which are only added. It is no cache: a decision is not
made again by reading the service again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

import orjson

from noarkit.errors import JournalFault
from noarkit.safe.atomic import append_line
from noarkit.services.settings import Connection

ACCEPTED_AS_GONE = "accepted-as-gone"
"""The reason under which a plan lists what was accepted."""


@dataclass(frozen=True, slots=True)
class AcceptedLoss:
    """One thing that was accepted as gone: its `key` (that of an item, or the locator of one of its documents), the key
    of its record, who accepted it, when in UTC, and the run that met it."""

    key: str
    record_key: str
    by: str
    at: str
    run: str


def accepted_losses(to: Connection, until: datetime) -> dict[str, AcceptedLoss]:
    """Reads by key what was accepted of a connection before a time. Raises `JournalFault` for a damaged file."""
    path = _place(to)
    try:
        losses = [AcceptedLoss(**orjson.loads(line)) for line in _lines(path)]
        return {loss.key: loss for loss in losses if datetime.fromisoformat(loss.at) < until}
    except (ValueError, TypeError) as error:
        raise JournalFault(where=str(path), why="not-accepted-losses") from error


def add_accepted_losses(to: Connection, losses: Iterable[AcceptedLoss]) -> None:
    """Writes down what was accepted. Raises `DiskFull`, `JournalFault`."""
    for loss in losses:
        append_line(_place(to), orjson.dumps(asdict(loss)))


def _place(to: Connection) -> Path:
    return to.state_file("accepted.jsonl")


def _lines(path: Path) -> list[bytes]:
    try:
        return path.read_bytes().splitlines()
    except FileNotFoundError:
        return []
