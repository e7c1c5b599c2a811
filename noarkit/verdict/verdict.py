"""A verdict on a delivery, its reasons, and what a person accepted of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from noarkit.results import HIDDEN, JsonObject, Result, json_value
from noarkit.verdict.reasons import REASONS, Grade, Origin, Owner

VerdictState = Literal["ready", "ready-with-remarks", "not-ready"]
NOT_READY_EXIT = 3
"""The exit code of a command that made or checked a package which is not ready."""


@dataclass(frozen=True, slots=True)
class Acceptance(JsonObject):
    """What a person took upon them: a reason by its code, up to `most` places, with name, day and note."""

    code: str = field(metadata=HIDDEN)
    most: int
    by: str
    on: str
    note: str = ""
    places: str = field(default="", metadata=HIDDEN)
    """A checksum of what was accepted, by which it is known again in the next package; empty where there is none."""

    def covers(self, reason: Reason) -> bool:
        """True if the reason is the one that was accepted, and has not grown since."""
        return self.code == reason.code and reason.count <= self.most and REASONS[reason.code].can_be_accepted


@dataclass(frozen=True, slots=True)
class Reason(JsonObject):
    """Something that keeps a delivery back, or is told with it: in how many places, and by which rules of the form."""

    code: str
    grade: Grade
    count: int
    rules: tuple[str, ...] = ()
    accepted: Acceptance | None = None
    units: str = ""
    """The first cases that it is said of, by their numbers."""

    @property
    @json_value()
    def origin(self) -> Origin:
        """Whether it lies in the records, or in how the package was made."""
        return REASONS[self.code].origin

    @property
    @json_value()
    def owner(self) -> Owner:
        """Whose task it is."""
        return REASONS[self.code].owner

    @property
    def stops(self) -> bool:
        """True if it keeps the delivery back, and nobody accepted it."""
        return self.grade == "stops" and self.accepted is None

    @property
    def can_be_accepted(self) -> bool:
        """True if a depot may agree to it."""
        return REASONS[self.code].can_be_accepted

    @property
    def needs_look(self) -> bool:
        """True if it is accepted by a command of its own, and by nobody who has not looked at each place."""
        return REASONS[self.code].needs_look


@dataclass(frozen=True, slots=True)
class Verdict(Result):
    """Whether a delivery is ready, and why not: what stops first, then the remarks."""

    EVENT: ClassVar = "verdict"

    reasons: tuple[Reason, ...]

    @property
    @json_value("verdict")
    def state(self) -> VerdictState:
        """The verdict in one word."""
        if any(reason.stops for reason in self.reasons):
            return "not-ready"
        return "ready-with-remarks" if self.reasons else "ready"

    @property
    def is_ready(self) -> bool:
        """True if nothing keeps the delivery back; there may be remarks."""
        return self.state != "not-ready"
