"""Why a run is to stop before its end, and the fault that this comes to. Signals and limits ask; the coordinator, and
whatever works from one piece to the next, reads it between two of them."""

from __future__ import annotations

from dataclasses import dataclass

from noarkit.errors import LimitReached, NoarkitError, Paused, SourceGone, gravest


@dataclass(slots=True)
class StopRequest:
    """A request to stop a run before its end, with its reason: set by signals and limits, read after every outcome."""

    reason: str = ""

    def ask(self, reason: str) -> None:
        """Asks for a tidy stop; of several reasons the gravest is kept.

        A signal's name (`"SIGTERM"`), `"until"`, `"max-errors"` and `"source-changed"` have a meaning of their own; any
        other text is a limit of the caller's."""
        code = stop_fault(reason).exit_code
        if not self.reason or gravest(code, stop_fault(self.reason).exit_code) == code:
            self.reason = reason

    def __bool__(self) -> bool:
        return bool(self.reason)


def stop_fault(reason: str) -> NoarkitError:
    """The fault that stands for a reason to stop, as `extract` raises it."""
    if reason.startswith("SIG"):
        return Paused(signal=reason)
    if reason == "source-changed":
        return SourceGone(why=reason)
    return LimitReached(limit=reason)
