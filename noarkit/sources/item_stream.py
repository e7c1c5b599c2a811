"""What every source does with its items on their way: tells how many were read, and looks at the first of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

from noarkit.events import Event, Listener
from noarkit.records import SourceItem, SourceRecord

_T = TypeVar("_T")
_TELL_EVERY = 10_000
_LOOKED_AT = 20_000
_LONGEST_PLACE = 200


def with_progress(items: Iterable[_T], emit: Listener) -> Iterator[_T]:
    """The items as they come; an event says how many were read, every ten thousand."""
    for count, item in enumerate(items, start=1):
        yield item
        if count % _TELL_EVERY == 0:
            emit(Event("source_read", {"items": count}))


def sample_records(items: Iterator[SourceItem]) -> Iterator[SourceRecord]:
    """The records among the first items, ten thousands of them: what a recipe is proposed by."""
    return (item for item in islice(items, _LOOKED_AT) if isinstance(item, SourceRecord))


def system_name(kind: str, where: str) -> str:
    """What a source at a place is called in an archive: kind and place, which is cut where it is long."""
    if len(where) > _LONGEST_PLACE:
        where = f"…{where[-80:]} {hashlib.sha256(where.encode()).hexdigest()[:32]}"
    return f"{kind}:{where}"
