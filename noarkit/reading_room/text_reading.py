"""Reads the texts of documents while the room is open, so that a search finds words in them soon."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from noarkit.catalogue.catalogue import Catalogue
from noarkit.catalogue.text.collecting import ReadingOptions, collect_texts
from noarkit.errors import NoarkitError, RunLocked
from noarkit.events import Event, EventFields, Listener
from noarkit.safe.processors import usable_processors

EVENTS: EventFields = {"texts_stopped": {"code": "text"}}
_LAST_S = 10.0


@contextmanager
def reading_texts(catalogue: Catalogue, emit: Listener) -> Iterator[None]:
    """Reads in the background for as long as the block lasts; what is read by then is kept, and the rest is for later.

    A fault ends the reading and is told as `texts_stopped`, never the room. Where another process reads the same texts
    it does nothing.
    """
    stop = threading.Event()
    # one processor stays with the pages
    options = ReadingOptions(children=max(1, usable_processors() - 1), should_stop=stop.is_set)

    def read() -> None:
        try:
            collect_texts(catalogue.path, catalogue.place, emit, options)
        except RunLocked:
            return
        except NoarkitError as fault:
            emit(Event("texts_stopped", {"code": fault.code}))

    reading = threading.Thread(target=read, name="noarkit-texts", daemon=True)
    reading.start()
    try:
        yield
    finally:
        stop.set()
        reading.join(_LAST_S)
