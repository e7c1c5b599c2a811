"""Limits that are enforced and counted: several sliding windows at once, and what was the most in each."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence


class Windows:
    """Calls of one tenant. `most` tells the most that were ever asked for within each window, refused ones too."""

    def __init__(self, windows: Sequence[tuple[int, float]]) -> None:
        self._windows = tuple(windows)
        self._let_in: deque[float] = deque()
        self._asked: deque[float] = deque()
        self._lock = threading.Lock()
        self.refused = 0
        self.calls = 0
        self.most = [0] * len(self._windows)

    def enter(self) -> float:
        """Counts a call, and answers 0.0 where it may go on, else after how many seconds there is room again."""
        now = time.monotonic()
        with self._lock:
            self.calls += 1
            if not self._windows:
                return 0.0
            self._asked.append(now)
            longest = max(span for _, span in self._windows)
            for sent in (self._asked, self._let_in):
                while sent and sent[0] <= now - longest:
                    sent.popleft()
            wait = 0.0
            for place, (calls, span) in enumerate(self._windows):
                self.most[place] = max(self.most[place], sum(at > now - span for at in self._asked))
                inside = [at for at in self._let_in if at > now - span]
                if len(inside) >= calls:
                    wait = max(wait, inside[len(inside) - calls] + span - now)
            if wait > 0:
                self.refused += 1
                return wait
            self._let_in.append(now)
            return 0.0

    def told(self) -> dict[str, object]:
        """What was counted."""
        return {"calls": self.calls, "refused": self.refused, "most": self.most, "windows": list(self._windows)}
