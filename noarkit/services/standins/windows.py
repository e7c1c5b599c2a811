"""Rate limits that are enforced and counted: several sliding windows at once, with the peak of each."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence


class Windows:
    """Counts the calls of one tenant. `most` is the peak of calls within each window, refused ones too."""

    def __init__(self, windows: Sequence[tuple[int, float]]) -> None:
        self._windows = tuple(windows)
        self._let_in_at: list[deque[float]] = [deque() for _ in self._windows]
        self._asked_at: list[deque[float]] = [deque() for _ in self._windows]
        self._lock = threading.Lock()
        self.refused = 0
        self.calls = 0
        self.most = [0] * len(self._windows)

    def enter(self) -> float:
        """Counts a call, and returns 0.0 if it may go on, or else in how many seconds there is room again."""
        with self._lock:
            now = time.monotonic()
            self.calls += 1
            wait = 0.0
            for place, (calls, span) in enumerate(self._windows):
                asked_at, let_in = self._asked_at[place], self._let_in_at[place]
                asked_at.append(now)
                for times in (asked_at, let_in):
                    while times and times[0] <= now - span:
                        times.popleft()
                self.most[place] = max(self.most[place], len(asked_at))
                if len(let_in) >= calls:
                    wait = max(wait, let_in[len(let_in) - calls] + span - now)
            if wait > 0:
                self.refused += 1
                return wait
            for let_in in self._let_in_at:
                let_in.append(now)
            return 0.0

    def summary(self) -> dict[str, object]:
        """Returns the counts."""
        return {"calls": self.calls, "refused": self.refused, "most": self.most, "windows": list(self._windows)}
