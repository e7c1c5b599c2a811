"""Watermarks: how far each stream was read for one archive. They are a cache: without them everything is read again,
and nothing is archived twice.

A run that is still to be loaded holds the watermarks it would set (`marks.json`); they count only once it was archived
completely. Keys to read again (scans that had not ended, emails known by id) are stored with their stream. Beside them
are the fields of each stream, to detect schema drift, and the hints that a run counts on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from noarkit.errors import ConfigFault
from noarkit.safe.atomic import write_text

VERSION = 1


@dataclass(frozen=True, slots=True)
class Watermark:
    """The watermark of a stream: read up to `until`; `again` are keys to ask for again; `swept_at` is when the stream
    was last read completely, whether or not a change was reported."""

    until: datetime
    again: tuple[str, ...] = ()
    swept_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Hints:
    """The webhook messages that waited when a run was planned: the highest number, the earliest time, the count of each
    event, and the ids they named."""

    up_to: int
    since_s: float
    events: Mapping[str, int]
    ids: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """The number of messages."""
        return sum(self.events.values())


@dataclass(frozen=True, slots=True)
class Watermarks:
    """The watermarks of a connection for one archive. `archive` is the archive's identity, empty while unknown;
    `is_delivered` if a receipt proved delivery, so that the archive need not be reachable. `healed` counts by stream
    what a run took that is older than what the runs before it had read, and was not known."""

    tenant: str
    archive: str = ""
    streams: Mapping[str, Watermark] = field(default_factory=dict)
    shapes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    hints: Hints | None = None
    is_delivered: bool = False
    healed: Mapping[str, int] = field(default_factory=dict)

    def since(self, stream: str, look_back: timedelta) -> datetime | None:
        """Returns the time from when a stream is to be read; None for all of it."""
        mark = self.streams.get(stream)
        return None if mark is None else mark.until - look_back

    def age(self, stream: str, now: datetime) -> timedelta | None:
        """Returns how far a stream lags behind; None if it was never read."""
        mark = self.streams.get(stream)
        return None if mark is None else now - mark.until


def read_watermarks(path: Path) -> Watermarks | None:
    """Reads the watermarks from a file; None if there is none. Raises `ConfigFault` for an invalid file: delete it."""
    try:
        entry = json.loads(path.read_bytes())
        if entry["version"] != VERSION:
            return None
        return Watermarks(
            str(entry["tenant"]),
            str(entry["archive"]),
            {
                name: Watermark(
                    parse_time(mark["until"]), tuple(map(str, mark["again"])), parse_swept_at(mark.get("swept"))
                )
                for name, mark in entry["streams"].items()
            },
            {name: dict(shape) for name, shape in entry.get("shapes", {}).items()},
            _read_hints(entry.get("hints")),
            entry.get("delivered") is True,
            {str(name): int(count) for name, count in entry.get("healed", {}).items()},
        )
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigFault(where=str(path), why="not-marks") from error


def write_watermarks(path: Path, watermarks: Watermarks) -> None:
    """Replaces the watermarks in a file."""
    entry: dict[str, object] = {
        "version": VERSION,
        "tenant": watermarks.tenant,
        "archive": watermarks.archive,
        "streams": {
            name: {"until": mark.until.isoformat(), "again": list(mark.again)}
            | ({} if mark.swept_at is None else {"swept": mark.swept_at.isoformat()})
            for name, mark in sorted(watermarks.streams.items())
        },
        "shapes": {name: dict(shape) for name, shape in watermarks.shapes.items()},
    }
    if watermarks.is_delivered:
        entry["delivered"] = True
    if watermarks.healed:
        entry["healed"] = dict(watermarks.healed)
    if watermarks.hints is not None:
        hints = watermarks.hints
        entry["hints"] = {"up_to": hints.up_to, "since_s": hints.since_s, "events": dict(hints.events)}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps(entry, indent=1, sort_keys=True) + "\n", mode=0o600)


def parse_time(value: object) -> datetime:
    """Parses a time of a watermarks file."""
    return datetime.fromisoformat(str(value)).astimezone(UTC)


def parse_swept_at(value: object) -> datetime | None:
    """Parses when a stream was last swept; None if it never was."""
    return None if value is None else parse_time(value)


def _read_hints(entry: Mapping[str, object] | None) -> Hints | None:
    if entry is None:
        return None
    events = entry["events"]
    if not isinstance(events, Mapping):
        raise TypeError("events")
    return Hints(
        int(str(entry["up_to"])), float(str(entry["since_s"])), {str(name): int(n) for name, n in events.items()}
    )
