"""Until when workers on other machines may still send for a run whose coordinator is gone.

The coordinator promises no lease beyond a time that the journal holds. Whoever takes up the run begins to wait for what
is in doubt at that time, not at the time it starts.
"""

from __future__ import annotations

from noarkit.loading.clocks import Clocks
from noarkit.loading.journal import Journal

_END, _LENGTH = "leases_end_s", "leases_last_s"


def promise_lease_end(journal: Journal, end_s: float | None, now_s: float) -> None:
    """Makes durable until when leases may last, by this boot's steady clock; None once none is given any more."""
    if end_s is None:
        journal.remember(**{_END: "", _LENGTH: ""})
    else:
        journal.remember(**{_END: str(end_s), _LENGTH: str(end_s - now_s)})


def latest_lease_end(journal: Journal, clocks: Clocks) -> float:
    """The time until which an earlier coordinator's workers may send, by this boot's steady clock; now if they have
    ended. Asked before the journal's times are converted to this boot."""
    now = clocks.steady_s()
    end, length = journal.meta(_END), journal.meta(_LENGTH)
    if not end or not length:
        return now
    if clocks.boot and journal.meta("boot") == clocks.boot:
        # No later than a whole lease from now: nobody can have promised more.
        return min(max(now, float(end)), now + float(length))
    return now + float(length)
