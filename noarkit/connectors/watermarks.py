"""How far each stream was read for one archive: a cache. Without it everything is read again, and nothing doubles.

A run that is to be loaded bears the marks it would leave (`marks.json`); they count only once it was archived whole.
What is read again each time beside the marks (scans that had not ended, emails known by id) stands with its stream.
Beside them stand the fields that each stream had, so that a change of them is seen, and the hints that a run counts on.
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
    """Where a stream stands: read up to `until`; `again` are keys of things to ask for anew; `swept` is when all that
    its records hold was last looked through, whether or not anything told of a change."""

    until: datetime
    again: tuple[str, ...] = ()
    swept_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Hints:
    """The messages that waited when a run was planned: up to which number, since when, how many of each event, and the
    ids that they named."""

    up_to: int
    since_s: float
    events: Mapping[str, int]
    ids: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many there were."""
        return sum(self.events.values())


@dataclass(frozen=True, slots=True)
class Watermarks:
    """The marks of a connection for one archive. `archive` is the archive's identity, empty while it is not known;
    `delivered` says that a receipt told of it, so that it need not stand where it can be asked."""

    tenant: str
    archive: str = ""
    streams: Mapping[str, Watermark] = field(default_factory=dict)
    shapes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    hints: Hints | None = None
    is_delivered: bool = False

    def since(self, stream: str, look_back: timedelta) -> datetime | None:
        """From when a stream is to be read; None for all of it."""
        mark = self.streams.get(stream)
        return None if mark is None else mark.until - look_back

    def age(self, stream: str, now: datetime) -> timedelta | None:
        """How far a stream lags behind; None where it was never read."""
        mark = self.streams.get(stream)
        return None if mark is None else now - mark.until


def read_watermarks(path: Path) -> Watermarks | None:
    """The marks in a file; None where there is none. Raises `ConfigFault` for a file that is none: delete it."""
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
        )
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigFault(where=str(path), why="not-marks") from error


def write_watermarks(path: Path, marks: Watermarks) -> None:
    """Replaces the marks in a file."""
    entry: dict[str, object] = {
        "version": VERSION,
        "tenant": marks.tenant,
        "archive": marks.archive,
        "streams": {
            name: {"until": mark.until.isoformat(), "again": list(mark.again)}
            | ({} if mark.swept_at is None else {"swept": mark.swept_at.isoformat()})
            for name, mark in sorted(marks.streams.items())
        },
        "shapes": {name: dict(shape) for name, shape in marks.shapes.items()},
    }
    if marks.is_delivered:
        entry["delivered"] = True
    if marks.hints is not None:
        hints = marks.hints
        entry["hints"] = {"up_to": hints.up_to, "since_s": hints.since_s, "events": dict(hints.events)}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps(entry, indent=1, sort_keys=True) + "\n", mode=0o600)


def parse_time(value: object) -> datetime:
    """A time as marks are written with."""
    return datetime.fromisoformat(str(value)).astimezone(UTC)


def parse_swept_at(value: object) -> datetime | None:
    """When a stream was last swept; None where it never was, or nobody kept it."""
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
