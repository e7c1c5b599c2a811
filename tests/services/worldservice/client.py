"""The connector of the world: what changed within a window, what is asked for again, and in a sweep all of it."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from pathlib import Path

from noarkit.errors import ServiceDenied, ServiceRefused
from noarkit.events import Listener
from noarkit.graph.entity import Content
from noarkit.safe.digest import Readable
from noarkit.services.port import (
    DELETION_KEY_END,
    Deletion,
    FetchFailure,
    Introduction,
    Item,
    ServiceItem,
    Stream,
    Window,
)
from noarkit.services.settings import Connection
from noarkit.services.waiting import Wait

KEYS = frozenset({"world", "sweep_days"})
_DENIED = 403


class World:
    """One connection to the world."""

    look_back = timedelta(minutes=5)

    def __init__(self, connection: Connection) -> None:
        connection.refuse_unknown(KEYS)
        self._path = Path(connection.required_text("world"))
        self._name = connection.full_name
        self._on_wait = connection.on_wait

    @property
    def tenant(self) -> str:
        """Who the world belongs to, as it says when it is asked."""
        return str(self._state()["tenant"])

    def introduce(self) -> Introduction:
        """Tries the connection."""
        return Introduction(self.tenant, "the world")

    def streams(self) -> tuple[Stream, ...]:
        """Letters, which can be asked for by id, and slips, which cannot."""
        return (Stream("letters", "letters"), Stream("slips", "slips"))

    def items(self, stream: Stream, window: Window, emit: Listener) -> Iterator[ServiceItem]:
        """The things of a stream: those changed within the window, those asked for again, all in a sweep."""
        again = set(window.again) if stream.name == "letters" else set[str]()
        for thing in self._things(stream.name):
            modified = datetime.fromisoformat(str(thing["modified"]))
            is_fresh = window.since is None or window.sweep or modified >= window.since
            if modified >= window.until or not (is_fresh or str(thing["id"]) in again):
                continue
            key = f"{self.tenant}:{stream.name}:{thing['id']}"
            if "refused" in thing:
                yield FetchFailure(stream.name, key, "world-says-no", {"status": thing["refused"]})
                continue
            papers = thing.get("papers", {})
            assert isinstance(papers, Mapping)
            contents = tuple(
                Content(f"paper:{stream.name}/{thing['id']}/{name}", str(name), len(str(text)), media_type="text/plain")
                for name, text in papers.items()
            )
            yield Item(stream.name, key, {"title": thing["title"]}, modified, contents=contents)
        listed_keys = {f"{self.tenant}:{stream.name}:{thing['id']}" for thing in self._things(stream.name)}
        for key in window.known_keys.under(f"{self.tenant}:{stream.name}:"):
            if key not in listed_keys:
                yield Deletion(stream.name, f"{key}{DELETION_KEY_END}", None)

    def open(self, content: Content) -> AbstractContextManager[Readable]:
        """Opens a paper, unless it is gone."""
        stream, thing_id, name = content.locator.removeprefix("paper:").split("/")
        (thing,) = (thing for thing in self._things(stream) if str(thing["id"]) == thing_id)
        papers, troubles = thing["papers"], thing.get("troubles", {})
        assert isinstance(papers, Mapping) and isinstance(troubles, Mapping)
        if thing.get("waits"):
            self._on_wait(Wait(self._name, "asked", 1_767_225_600.0, 90.0))
        status = troubles.get(name)
        if status is not None:
            kind = ServiceDenied if status == _DENIED else ServiceRefused
            raise kind(where=self._name, status=status, why="world-says-no")
        return io.BytesIO(str(papers[name]).encode())

    def close(self) -> None:
        """Nothing is open."""

    def _things(self, stream: str) -> list[Mapping[str, object]]:
        things = self._state()["things"]
        assert isinstance(things, list)
        return [thing for thing in things if thing.get("stream", "letters") == stream]

    def _state(self) -> Mapping[str, object]:
        state: Mapping[str, object] = json.loads(self._path.read_text("utf-8"))
        return state
