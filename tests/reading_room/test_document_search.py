"""A word of a document's text leads to the document, once the room has read it; screened documents are not led to."""

from __future__ import annotations

import time
from pathlib import Path

from tests.reading_room.conftest import open_room
from tests.reading_room.town import Town
from tests.reading_room.wire import ask, enter
from tests.waiting import PATIENCE_S


def test_a_word_in_a_letter_leads_to_the_letter(tmp_path: Path) -> None:
    with open_room(Town(3), tmp_path / "town.noarkit-catalogue.db", reads_documents=True) as room:
        cookie = enter(room)
        deadline = time.monotonic() + PATIENCE_S
        while "<mark>utsatt</mark>" not in (page := ask(room.url, "/search?q=utsatt", cookie=cookie).body):
            assert time.monotonic() < deadline, page
            time.sleep(0.3)
    assert "/document/?veil=" in page and "Notat" in page
    assert "Nordmann" not in page and "secret-doc" not in page
