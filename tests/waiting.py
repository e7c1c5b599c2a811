"""How long tests wait for what must come: so long that only what stands still takes longer on a busy machine.

Who waits for a process, a thread or an answer waits up to `PATIENCE_S`; tests/test_waiting.py finds shorter waits.
"""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_S = 600.0
_PAUSE_S = 0.02


def quickest(call: Callable[[], object], wanted_s: float, attempts: int = 5) -> float:
    """The shortest time that a call took; no more attempts than it takes to be quicker than wanted.

    A busy machine keeps a call waiting now and then; what is wrong does so each time.
    """
    shortest = float("inf")
    for _ in range(attempts):
        began = time.monotonic()
        call()
        shortest = min(shortest, time.monotonic() - began)
        if shortest < wanted_s:
            break
    return shortest


def came(condition: Callable[[], object], within_s: float = PATIENCE_S, pause_s: float = _PAUSE_S) -> bool:
    """Waits until a condition holds; False where it does not within the time. It is asked at least once."""
    ends = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > ends:
            return False
        time.sleep(pause_s)
    return True
