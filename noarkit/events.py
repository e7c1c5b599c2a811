"""What the core says while it works. Faces (terminal, JSON lines, log, HTML) are listeners; nothing below them prints.

Events carry ids, codes and counts; a title or a person's name is never in one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

Kind: TypeAlias = "str | tuple[str | int, ...] | Sequence[Mapping[str, Kind]]"
EventFields = Mapping[str, Mapping[str, Kind]]
"""What a module declares under the name `EVENTS`: of each event that it emits, or line that it writes, the fields.

A kind is "count" (a whole number from 0), "integer", "number", "text", "flag", "counts" (names with counts), "object",
"list" or "any", with a "?" where the field may be null or missing; a tuple has the values of a short list, a list the
fields of its rows. An event that several rooms
emit is declared here. Of results the fields are declared by their classes (`results.py`)."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened. `name` is a stable word of the contract; `data` is plain JSON."""

    name: str
    data: Mapping[str, object] = field(default_factory=dict)


class Listener(Protocol):
    """Anything that wants to hear events. It must be quick and must not raise."""

    def __call__(self, event: Event, /) -> None: ...


def ignore_event(event: Event, /) -> None:
    """A listener that ignores every event."""


def combine_listeners(*listeners: Listener) -> Callable[[Event], None]:
    """One listener that tells all of `listeners`, in order."""

    def emit_all(event: Event, /) -> None:
        for listener in listeners:
            listener(event)

    return emit_all


EVENTS: EventFields = {
    "target": {"archive": "text", "account": "text?"},
    "source_read": {"items": "count"},
    "remark": {"stream": "text", "why": "text", "days": "count?", "key": "text?", "count": "count?"},
    "fetched": {"type": "text", "count": "count"},
    "package_made": {"where": "text?", "files": "count", "units": "counts?", "bytes": "count?"},
}
