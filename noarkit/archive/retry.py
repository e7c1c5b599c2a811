"""Retries calls of the archive: a wrapper of the port.

Elsewhere, `http` makes a call again after a refused token, and `loading.chunk_loader` makes uploads and transactions
again, once it has asked what became of them.

Reads are repeated after any fault that may pass. A change is repeated only where it is known not to have taken effect;
one whose fate is unknown is raised at once, for those who can ask the archive what became of it.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from noarkit.archive.optional import is_newer, is_not_offered
from noarkit.archive.port import Archive
from noarkit.archive.values import (
    Action,
    Call,
    Delete,
    Downloaded,
    Json,
    Page,
    Query,
    Rendition,
    Save,
    SavedObject,
    Upload,
    Uploaded,
)
from noarkit.errors import ArchiveAway, ArchiveBusy, ArchiveConflict, ArchiveFault, ArchiveStrange, NotLetIn
from noarkit.events import Event, EventFields, Listener, ignore_event

EVENTS: EventFields = {"archive_retry": {"call": "text", "code": "text", "wait_s": "number"}}
T = TypeVar("T")
Effect = Literal["none", "orphan", "change", "versioned-change"]
"""What a call may leave behind when no answer came. "orphan": a file that nothing refers to, which the archive sweeps,
so the call may always be repeated."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How patient we are with one call: waits double from `first_s` to `most_s`, and are `patience_s` long in all; a
    conflict is tried again `conflicts` times at most, an answer that is none `strange` times.

    `resends` says that a transaction that the archive did not take is sent again. Those who ask what became of it first
    turn that off: then it is repeated only where nothing of it was sent.
    """

    first_s: float = 0.5
    most_s: float = 30.0
    patience_s: float = 300.0
    conflicts: int = 4
    strange: int = 6
    resends: bool = True


@dataclass(frozen=True, slots=True)
class RetryClock:
    """The clock, sleep and randomness of retries, which tests replace."""

    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    chance: Callable[[], float] = random.random


class RetryingArchive:
    """`Archive` around another one. When the archive names a time to come back, all threads wait for it."""

    def __init__(
        self,
        archive: Archive,
        policy: RetryPolicy | None = None,
        *,
        outside: RetryClock | None = None,
        emit: Listener = ignore_event,
    ) -> None:
        self._archive = archive
        self._policy = policy or RetryPolicy()
        self._outside = outside or RetryClock()
        self._tell = emit
        self._lock = threading.Lock()
        self._not_before_s = 0.0

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        """See `Archive.transaction`. Actions that carry versions are not sent again after a conflict: the same versions
        would meet it again."""
        # A repeat with the same versions either meets the same conflict or, after a lost commit, its own work: the
        # guard of a shard must be read anew before anything is sent again (invariant 3).
        versioned = any(isinstance(action, Save | Delete) and action.version is not None for action in actions)
        effect: Effect = "versioned-change" if versioned else "change"
        return self._with_retries("transaction", effect, lambda: self._archive.transaction(actions))

    def query(self, query: Query) -> Page:
        """See `Archive.query`."""
        return self._with_retries(
            "query", "none", lambda: self._archive.query(query), query.optional or is_newer(query.type)
        )

    def upload(self, content: Upload) -> Uploaded:
        """See `Archive.upload`. Bytes that cannot be read twice are sent once."""
        # A pipe, say: its bytes are gone after the first attempt, and a second one would upload an empty file.
        if not content.reopenable:
            return self._archive.upload(content)
        return self._with_retries("upload", "orphan", lambda: self._archive.upload(content))

    def download(
        self,
        file_id: str,
        target: Path,
        *,
        rendition: Rendition = "original",
        expected_sha256: str | None = None,
        durable: bool = True,
    ) -> Downloaded:
        """See `Archive.download`."""

        def once() -> Downloaded:
            return self._archive.download(
                file_id, target, rendition=rendition, expected_sha256=expected_sha256, durable=durable
            )

        return self._with_retries("download", "none", once)

    def call(self, call: Call) -> Json:
        """See `Archive.call`."""
        effect: Effect = "change" if call.changes else "none"
        return self._with_retries(call.name, effect, lambda: self._archive.call(call), call.optional)

    def close(self) -> None:
        """See `Archive.close`."""
        self._archive.close()

    def _with_retries(self, name: str, effect: Effect, once: Callable[[], T], optional: bool = False) -> T:
        waited_s, attempt, faults = 0.0, 0, Counter[str]()
        while True:
            # Asked anew before each attempt: another thread may have been told to come back later meanwhile.
            waited_s += self._wait_for_all(self._policy.patience_s - waited_s)
            try:
                return once()
            except ArchiveFault as fault:
                faults[fault.code] += 1
                wait_s = self._wait_s(fault, attempt)
                # Also where this call gives up: the others should still not knock.
                self._pause_all_threads(fault, wait_s)
                if (
                    not self._may_repeat(fault, effect, faults[fault.code])
                    # heard twice, it is believed that an archive does not offer what it need not
                    or (optional and faults[fault.code] > 1 and is_not_offered(fault, own_address=True))
                    or waited_s + wait_s > self._policy.patience_s
                ):
                    raise
                self._tell(Event("archive_retry", {"call": name, "code": fault.code, "wait_s": round(wait_s, 3)}))
            self._outside.sleep(wait_s)
            waited_s += wait_s
            attempt += 1

    def _may_repeat(self, fault: ArchiveFault, effect: Effect, times: int) -> bool:
        policy = self._policy
        # From here on the order of the questions decides: first what must never be repeated, then what the caller
        # settles by itself, then how often.
        if effect == "versioned-change" and isinstance(fault, ArchiveConflict):
            return False
        # ArchiveAway means that not a byte was sent, so a repeat is safe even for those who settle doubts themselves
        # (invariant 5).
        if effect not in ("none", "orphan") and not isinstance(fault, ArchiveAway) and not policy.resends:
            return False
        if isinstance(fault, NotLetIn):
            # One repeat with a new token; a second refusal is about the account, and no token will help.
            return bool(fault.data.get("renewed")) and times == 1
        most = {ArchiveConflict.code: policy.conflicts, ArchiveStrange.code: policy.strange}.get(fault.code, times)
        # A read or an orphaned upload (swept by the archive after an hour) may be repeated whatever became of it; a
        # change only if it is known to have had no effect.
        return fault.transient and times <= most and (effect in ("none", "orphan") or not fault.fate_unknown)

    def _wait_s(self, fault: ArchiveFault, attempt: int) -> float:
        """Returns the wait that the archive asked for, else exponential backoff with half of it random (jitter)."""
        retry_after_s = fault.data.get("retry_after_s")
        full_s = min(self._policy.most_s, self._policy.first_s * 2.0 ** min(attempt, 32))
        if isinstance(retry_after_s, int | float):
            # Never earlier than asked for; the bit of chance keeps many workers from coming back in the same second.
            return float(retry_after_s) + self._outside.chance() * min(full_s, 1.0)
        return full_s * (0.5 + self._outside.chance() / 2)

    def _pause_all_threads(self, fault: ArchiveFault, wait_s: float) -> None:
        if isinstance(fault, ArchiveBusy) and "retry_after_s" in fault.data:
            with self._lock:
                # Only ever later: a thread that was told «2 s» must not shorten another's «30 s».
                self._not_before_s = max(self._not_before_s, self._outside.clock() + wait_s)

    def _wait_for_all(self, patience_s: float) -> float:
        """Waits where another thread was told to come back later; says how long."""
        wait_s = min(self._not_before_s - self._outside.clock(), patience_s)
        if wait_s <= 0:
            return 0.0
        self._outside.sleep(wait_s)
        return wait_s
