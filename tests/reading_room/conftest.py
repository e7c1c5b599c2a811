"""A reading room over a town, on real sockets."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from noarkit.catalogue.catalogue import Catalogue
from noarkit.catalogue.port import Place
from noarkit.catalogue.store import write_catalogue
from noarkit.events import Event, ignore_event
from noarkit.reading_room.serve import OpenRoom, serve_room
from tests.reading_room.town import Town
from tests.waiting import PATIENCE_S


@contextmanager
def open_room(place: Place, path: Path, lang: str = "en", *, reads_documents: bool = False) -> Iterator[OpenRoom]:
    """A room over a place, in a thread of this process."""
    write_catalogue(path, place.identity, place.items(ignore_event))
    with Catalogue(path, place) as catalogue, serve_catalogue(catalogue, lang, reads_documents=reads_documents) as room:
        yield room


@contextmanager
def serve_catalogue(catalogue: Catalogue, lang: str = "en", *, reads_documents: bool = False) -> Iterator[OpenRoom]:
    """A room over what a catalogue lists."""
    opened, stop = threading.Event(), threading.Event()
    rooms: list[OpenRoom] = []
    events: list[Event] = []

    def ready(room: OpenRoom) -> None:
        rooms.append(room)
        opened.set()

    serving = threading.Thread(
        target=serve_room,
        args=(catalogue,),
        kwargs={
            **{"lang": lang, "ready": ready, "stop_event": stop, "emit": events.append},
            "reads_documents": reads_documents,
        },
    )
    serving.start()
    try:
        assert opened.wait(PATIENCE_S)
        yield rooms[0]
    finally:
        stop.set()
        serving.join(PATIENCE_S)
    assert not serving.is_alive()
    assert [event for event in events if event.name == "page_failed"] == []


@pytest.fixture
def room(tmp_path: Path) -> Iterator[OpenRoom]:
    """A room whose link is not used yet."""
    with open_room(Town(), tmp_path / "town.db") as opened:
        yield opened
