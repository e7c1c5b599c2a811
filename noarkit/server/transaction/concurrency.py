"""Detects concurrent transactions that add records to the same case file; the second one is refused, if so configured.

Real archives number records within a case file and answer such a conflict with 409; a client must then try again.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from noarkit.server.transaction.request import Action
from noarkit.server.wire import Refusal


class CaseFileGuard:
    """The case files that records are being added to right now."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._busy: set[int] = set()

    @contextmanager
    def hold(self, case_files: set[int]) -> Iterator[None]:
        """Holds these case files for the block. Raises Refusal (409) where another call holds one of them."""
        with self._lock:
            # All or none in one step, and never a wait: two calls that hold one case file each and want the other's
            # would wait for ever.
            contested = self._busy & case_files
            if contested:
                raise Refusal(409, f"Records are being added to case file {min(contested)} by another call; try again.")
            self._busy |= case_files
        try:
            yield
        finally:
            with self._lock:
                self._busy -= case_files


def case_files_added_to(actions: Iterable[Action]) -> set[int]:
    """The permanent ids of folders that these actions link records to."""
    folder_ids: set[int] = set()
    for action in actions:
        if action.verb != "link" or action.link is None:
            continue
        # The link can be made from either side. A case file made in this very call has no permanent id yet and cannot
        # be contested.
        if action.plan.family == "AbstraktRegistrering" and action.link.name == "refMappe":
            folder_ids.update(key for key in action.other_keys if isinstance(key, int))
        elif action.plan.family == "AbstraktMappe" and action.link.name == "refRegistrering":
            folder_ids.update(key for key in (action.key,) if isinstance(key, int))
    return folder_ids
