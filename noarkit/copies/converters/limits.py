"""How much a document may use of a machine, by its size and what is known of it."""

from __future__ import annotations

from noarkit.safe.sandbox import Limits

_START_S = 30.0
_PER_MEGABYTE_S = 1.0
_PER_PAGE_S = 0.1
_MOST_S = 15 * 60.0
_WALL_FACTOR = 4
"""Processors are shared: time that passes is a stop, time that is used is the limit."""


def limits_for(size_bytes: int, *, pages: int = 0, memory_bytes: int | None = None) -> Limits:
    """30 s of processor time, one more for each megabyte and for ten pages that are expected; 15 minutes at most."""
    cpu_s = min(_MOST_S, _START_S + size_bytes / 1_000_000 * _PER_MEGABYTE_S + pages * _PER_PAGE_S)
    limits = Limits(cpu_s=cpu_s, wall_s=cpu_s * _WALL_FACTOR)
    return limits if memory_bytes is None else Limits(limits.cpu_s, limits.wall_s, memory_bytes=memory_bytes)
