"""Rate limits around the archive port: the limits a user set, and longer pauses while the archive is slow or failing.

Each call waits its turn. 429, 503 and 409, and answers that take much longer than they used to, double a pause before
every call; good answers shorten it again until it is gone. Each worker has a governor with its own share of the rate.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from noarkit.archive.port import Archive
from noarkit.archive.values import (
    Action,
    Call,
    Downloaded,
    Json,
    Page,
    Query,
    Rendition,
    SavedObject,
    Upload,
    Uploaded,
)
from noarkit.errors import ArchiveBusy, ArchiveConflict, UsageFault

T = TypeVar("T")

_FIRST_PAUSE_S = 0.05
_MOST_PAUSE_S = 10.0
_LEAST_PAUSE_S = 0.01
_SLOWER = 2.0
_QUICKER = 0.8
# an answer is slow where it takes this many times what is usual, and long enough for a person to notice
_SLOW_TIMES = 4.0
_SLOW_S = 0.5
_USUAL_WEIGHT = 0.05
_RATE = re.compile(r"(\d+(?:[.,]\d+)?)\s*(k|M|G)?(B)?(?:/s)?\Z", re.IGNORECASE)
_FACTORS = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}


@dataclass(frozen=True, slots=True)
class Rate:
    """The rate limits: calls a second and uploaded bytes a second; None for no limit."""

    calls_per_s: float | None = None
    bytes_per_s: float | None = None

    def share(self, workers: int) -> Rate:
        """The share of the rate limits for each of so many workers."""
        parts = max(workers, 1)
        return Rate(
            self.calls_per_s / parts if self.calls_per_s else None,
            self.bytes_per_s / parts if self.bytes_per_s else None,
        )


def read_rate(text: str) -> Rate:
    """`20` or `20/s` are calls a second, `5MB` or `5MB/s` bytes a second. Raises `UsageFault`."""
    match = _RATE.match(text.strip())
    amount = float(match.group(1).replace(",", ".")) if match else 0.0
    if match is None or amount <= 0 or (match.group(2) and not match.group(3)):
        raise UsageFault(what="bad-rate", where=f"--max-rate {text}")
    if not match.group(3):
        return Rate(calls_per_s=amount)
    return Rate(bytes_per_s=amount * _FACTORS[(match.group(2) or "").lower()])


class GovernedArchive:
    """`Archive` around another one. Calls of several threads wait for each other's pauses."""

    def __init__(
        self,
        archive: Archive,
        rate: Rate,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        on_busy: Callable[[], None] = lambda: None,
    ) -> None:
        self._archive = archive
        self._rate = rate
        self._clock = clock
        self._sleep = sleep
        self._on_busy = on_busy
        self._lock = threading.Lock()
        self._next_s = clock()
        self._usual_s: dict[str, float] = {}
        self.pause_s = 0.0

    def set_rate(self, rate: Rate) -> None:
        """Goes on at another rate."""
        with self._lock:
            self._rate = rate

    def slow_down(self) -> None:
        """Doubles the pause before each call."""
        with self._lock:
            self.pause_s = min(max(self.pause_s * _SLOWER, _FIRST_PAUSE_S), _MOST_PAUSE_S)

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        """See `Archive.transaction`."""
        return self._with_limits("transaction", len(actions), lambda: self._archive.transaction(actions))

    def query(self, query: Query) -> Page:
        """See `Archive.query`."""
        return self._with_limits("query", 1, lambda: self._archive.query(query))

    def upload(self, content: Upload) -> Uploaded:
        """See `Archive.upload`. Bytes that were sent delay what comes next, so that the rate holds on the whole."""
        uploaded = self._with_limits("upload", 0, lambda: self._archive.upload(content))
        if self._rate.bytes_per_s:
            self._charge(uploaded.size_bytes / self._rate.bytes_per_s)
        return uploaded

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

        return self._with_limits("download", 0, once)

    def call(self, call: Call) -> Json:
        """See `Archive.call`."""
        return self._with_limits(call.name, 0, lambda: self._archive.call(call))

    def close(self) -> None:
        """See `Archive.close`."""
        self._archive.close()

    def _with_limits(self, name: str, weight: int, once: Callable[[], T]) -> T:
        """`weight` is how much was asked for at once, where time may be compared; 0 if it says nothing."""
        self._wait()
        began = self._clock()
        try:
            answer = once()
        except (ArchiveBusy, ArchiveConflict) as fault:
            self.slow_down()
            if isinstance(fault, ArchiveBusy):
                self._on_busy()
            raise
        if weight and self._is_slow(name, (self._clock() - began) / weight, self._clock() - began):
            self.slow_down()
        else:
            self._recover()
        return answer

    def _wait(self) -> None:
        """Takes the next turn and waits for it."""
        with self._lock:
            now = self._clock()
            turn = max(now, self._next_s) + self.pause_s
            self._next_s = turn + (1 / self._rate.calls_per_s if self._rate.calls_per_s else 0.0)
        if turn > now:
            self._sleep(turn - now)

    def _charge(self, seconds: float) -> None:
        with self._lock:
            self._next_s = max(self._next_s, self._clock()) + seconds

    def _is_slow(self, name: str, each_s: float, whole_s: float) -> bool:
        with self._lock:
            usual = self._usual_s.get(name)
            if usual is None:
                self._usual_s[name] = each_s
                return False
            slow = each_s > usual * _SLOW_TIMES and whole_s > _SLOW_S
            # what is slow for long becomes what is usual, so that a pause does not last for ever
            self._usual_s[name] = usual + (each_s - usual) * _USUAL_WEIGHT
            return slow

    def _recover(self) -> None:
        with self._lock:
            self.pause_s = self.pause_s * _QUICKER
            if self.pause_s < _LEAST_PAUSE_S:
                self.pause_s = 0.0
