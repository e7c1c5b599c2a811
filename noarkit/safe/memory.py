"""How the interpreter tidies up its memory, for work that makes very many objects."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_NEW_OBJECTS = 50_000
"""How many more objects than before there are when cycles are looked for."""


@contextmanager
def rare_collections() -> Iterator[None]:
    """Has Python look for cycles seldom, for the whole process: of the many objects of a plan, a load or a call, none
    that matters is in one, and looking through a batch of them again and again took a tenth of the time."""
    thresholds = gc.get_threshold()
    gc.set_threshold(max(_NEW_OBJECTS, thresholds[0]) if thresholds[0] else 0, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
