"""Two transactions that add records to one case file at the same time: where the settings say so, the second conflicts.

Real archives number records within a case file and answer such a meeting with 409; a client must then try again.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from noarkit.server.transaction.request import Action
from noarkit.server.wire import Refusal


class InFlight:
    """The case files that records are being added to right now."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._busy: set[int] = set()

    @contextmanager
    def holding(self, case_files: set[int]) -> Iterator[None]:
        """Holds these case files for the block. Raises Refusal (409) where another call holds one of them."""
        with self._lock:
            met = self._busy & case_files
            if met:
                raise Refusal(409, f"Records are being added to case file {min(met)} by another call; try again.")
            self._busy |= case_files
        try:
            yield
        finally:
            with self._lock:
                self._busy -= case_files


def case_files_added_to(actions: Iterable[Action]) -> set[int]:
    """The permanent ids of folders that these actions link records to."""
    found: set[int] = set()
    for action in actions:
        if action.verb != "link" or action.link is None:
            continue
        if action.plan.family == "AbstraktRegistrering" and action.link.name == "refMappe":
            found.update(key for key in action.others if isinstance(key, int))
        elif action.plan.family == "AbstraktMappe" and action.link.name == "refRegistrering":
            found.update(key for key in (action.key,) if isinstance(key, int))
    return found
