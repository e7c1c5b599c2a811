"""Schema drift: compares the fields of a stream between two runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

Shapes = Mapping[str, Mapping[str, str]]
ChangeKind = Literal["added", "removed", "retyped"]


@dataclass(frozen=True, slots=True)
class Change:
    """A field of a stream that was added, removed, or changed its type."""

    stream: str
    field: str
    kind: ChangeKind


def drift(before: Shapes, now: Shapes) -> Iterator[Change]:
    """Yields the changes in streams that both runs read. A renamed field is one removed and one added.

    >>> [(one.field, one.kind) for one in drift({"Deals": {"a": "text", "b": "text"}}, {"Deals": {"b": "date"}})]
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
