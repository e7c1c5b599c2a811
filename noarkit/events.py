"""What the core says while it works. Faces (terminal, JSON lines, log, HTML) are listeners; nothing below them prints.

Events carry ids, codes and counts; a title or a person's name is never in one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol


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
