"""What a section adds to the room: pages and forms of its own, for places of some kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from noarkit.reading_room.session import Session
from noarkit.reading_room.web import Answer, Request

Facts = Mapping[str, object]
Show = Callable[[str, Facts], Answer]
"""Makes a page of a template of the section and its facts, in the language and appearance of the visitor."""
Handler = Callable[[Request, Session, Show], Answer]


class Section(Protocol):
    """Pages and forms by the first step of their addresses; `name` is that of the page in the bar at the top."""

    @property
    def name(self) -> str: ...

    @property
    def pages(self) -> Mapping[str, Handler]: ...

    @property
    def forms(self) -> Mapping[str, Handler]: ...
