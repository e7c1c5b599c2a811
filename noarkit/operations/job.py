"""What is said of a command to whoever watches it: its name, what it works on, and how it ended."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from noarkit.safe.clocks import utc_text
from noarkit.version import __version__

Moment = Literal["start", "success", "failure"]
RECORD_STATES = ("read", "archived", "already_there", "new_versions", "set_aside", "refused", "skipped", "open")
"""What may have become of records."""
NUMBERS = (*RECORD_STATES, "in_doubt", "bytes", "errors", "warnings")
"""What of a summary is a number that everybody may see."""


@dataclass(frozen=True, slots=True)
class Job:
    """One command: its name, the run, package or place it works on, when it began, and an id for this one time."""

    command: str
    place: str
    began_s: float
    id: str = field(default_factory=lambda: secrets.token_hex(8))

    def to_dict(self) -> dict[str, object]:
        """What every message says of it."""
        return {"command": self.command, "run": self.place, "id": self.id, "version": __version__}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended: whether that is a success, its exit code, its seconds and its numbers."""

    success: bool
    exit_code: int
    ended_s: float
    seconds: float
    state: str
    numbers: Mapping[str, int]
    faults: Mapping[str, int]

    @property
    def moment(self) -> Moment:
        """The hook that it calls for."""
        return "success" if self.success else "failure"

    def to_dict(self) -> dict[str, object]:
        """What a message says of it."""
        return {
            "state": self.state,
            "exit": self.exit_code,
            "seconds": round(self.seconds, 3),
            **self.numbers,
            "faults": dict(self.faults),
        }


def iso_time(moment_s: float) -> str:
    """A moment in UTC, to the millisecond, as RFC 3339 writes it."""
    return utc_text(datetime.fromtimestamp(moment_s, UTC))


def numbers_of(summary: Mapping[str, object]) -> dict[str, int]:
    """The numbers of a summary."""
    return {
        name: value
        for name in NUMBERS
        if isinstance(value := summary.get(name), int) and not isinstance(value, bool) and value >= 0
    }
