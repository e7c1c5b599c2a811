"""A full disk is found behind whatever was raised for it, however the exceptions hang together."""

from __future__ import annotations

import errno

from noarkit.errors import ArchiveAway, DiskFull, causes
from noarkit.safe.disk import fault_of_disk


def circle(*chain: BaseException) -> BaseException:
    """Exceptions of which each was raised from the next, and the last from the first."""
    for error, cause in zip(chain, (*chain[1:], chain[0]), strict=True):
        error.__cause__ = cause
    return chain[0]


def test_faults_that_were_raised_from_each_other_are_looked_through_once() -> None:
    chain = (ArchiveAway(call="query"), ConnectionRefusedError("x"), ValueError("y"))
    assert list(causes(circle(*chain))) == list(chain)
    assert fault_of_disk(circle(*chain)) is None


def test_want_of_room_is_found_anywhere_in_a_circle() -> None:
    full = OSError(errno.ENOSPC, "No space left on device", "/srv/run/run.db")
    found = fault_of_disk(circle(ArchiveAway(call="query"), ValueError("y"), full))
    assert isinstance(found, DiskFull)
    assert found.data["where"] == "/srv/run"
