"""Waits for export jobs. The bookkeeping starts and finishes them; here they are only read."""

from __future__ import annotations

from noarkit.errors import ServiceBusy
from noarkit.services.paging import Row
from noarkit.services.spend.calls import Calls

# Any other state is waited for, but not for ever: a job ends as failed an hour after its last step.
ENDED = frozenset({"completed", "completed_with_errors", "failed"})
LONGEST_S = 3_900.0
_WAITS_S = (1.0, 2.0, 5.0, 10.0, 15.0)


def wait_for(calls: Calls, version: int, job: str) -> Row:
    """Polls a job until it has ended. Raises `ServiceBusy` for one that does not end."""
    clock = calls.client.clock
    started_s, polls = clock.now_s(), 0
    while True:
        state = calls.job(version, job)
        if str(state.get("status")) in ENDED:
            return state
        wait_s = _WAITS_S[min(polls, len(_WAITS_S) - 1)]
        if clock.now_s() - started_s + wait_s > LONGEST_S:
            raise ServiceBusy(where=f"export job {job}")
        calls.client.pause(wait_s, "job")
        polls += 1
