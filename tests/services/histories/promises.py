"""What a verification says of the next plan, held against that plan: between the two nothing happens.

`source_new` counts records that no run archived and the next plan takes. What the verified run itself set aside or was
refused is no part of it, since the run names that already. `source_late` counts what is older than what the next plan
reads; for a sweep nothing is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import outcomes


@dataclass(frozen=True, slots=True)
class Promise:
    """The numbers of a verification, and the keys that the next plan then archived for the first time."""

    run: str
    is_sweep: bool
    new_count: int
    late_count: int
    archived_keys: frozenset[str]


def newly_archived(verified: Path, following: Path) -> frozenset[str]:
    """The keys that a run archived, without those that the verified run had named as set aside or refused."""
    left_out = {outcome.key for outcome in outcomes(RunFolder(verified), "set_aside", "refused")}
    archived = {outcome.key for outcome in outcomes(RunFolder(following), "archived")}
    return frozenset(archived - left_out)


def broken_promises(promises: Iterable[Promise]) -> Iterator[str]:
    """What was promised and not done, or done and not promised, one line each."""
    for promise in promises:
        count = len(promise.archived_keys)
        if promise.new_count != count:
            keys = ", ".join(sorted(promise.archived_keys)[:10])
            yield f"{promise.run}: verify promised {promise.new_count} new records, the next plan took {count}: {keys}"
        if promise.is_sweep and promise.late_count:
            yield f"{promise.run}: verify called {promise.late_count} records late, and the next plan swept"
