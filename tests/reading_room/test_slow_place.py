"""A place that gives its documents slowly keeps no page waiting."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from noarkit.records import ContentStream
from tests.catalogue.shelves import Shelf
from tests.reading_room.conftest import open_room
from tests.reading_room.wire import ask, enter
from tests.waiting import PATIENCE_S


@dataclass
class SlowShelf(Shelf):
    """Gives no document before it may."""

    may_give: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def open(self, locator: str) -> Iterator[ContentStream]:
        assert self.may_give.wait(PATIENCE_S)
        with super().open(locator) as stream:
            yield stream


def test_documents_that_do_not_come_keep_no_page_waiting(tmp_path: Path) -> None:
    shelf = SlowShelf({f"{number}.txt": b"a letter" for number in range(40)})
    with open_room(shelf, tmp_path / "shelf.db") as room, ThreadPoolExecutor(40) as threads:
        cookie = enter(room)

        def ask_document(number: int) -> int:
            reply = ask(room.url, f"/document/{number}.txt%231", cookie=cookie)
            assert reply.status == 200 or "retry-after" in reply.headers
            return reply.status

        asked = [threads.submit(ask_document, number) for number in range(40)]
        try:
            time.sleep(0.5)
            began = time.monotonic()
            assert ask(room.url, "/help", cookie=cookie).status == 200
            assert time.monotonic() - began < PATIENCE_S / 10
        finally:
            shelf.may_give.set()
        statuses = [each.result() for each in asked]
    assert set(statuses) == {200, 503}
    assert statuses.count(200) >= 24
