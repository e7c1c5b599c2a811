"""Fields that are others than they were: a stream's fields of one run beside those of the run before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

Shapes = Mapping[str, Mapping[str, str]]
ChangeKind = Literal["added", "removed", "retyped"]


@dataclass(frozen=True, slots=True)
class Change:
    """A field of a stream that is new, gone, or of another type."""

    stream: str
    field: str
    kind: ChangeKind


def drift(before: Shapes, now: Shapes) -> Iterator[Change]:
    """What changed in the streams that were read both times. One that is renamed is gone, and new.

    >>> [(one.field, one.how) for one in drift({"Deals": {"a": "text", "b": "text"}}, {"Deals": {"b": "date"}})]
    [('a', 'removed'), ('b', 'retyped')]
    """
    for stream in sorted(before.keys() & now.keys()):
        old, new = before[stream], now[stream]
        for field in sorted(old.keys() | new.keys()):
            if field not in new:
                yield Change(stream, field, "removed")
            elif field not in old:
                yield Change(stream, field, "added")
            elif old[field] != new[field]:
                yield Change(stream, field, "retyped")
