"""Where very much leads to one item, its card says how much more there is, and a list shows all of it page by page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lxml import html

from noarkit.catalogue.port import Item
from noarkit.catalogue.veil import address_ref
from noarkit.events import Listener
from noarkit.reading_room.serve import OpenRoom
from tests.reading_room.conftest import open_room
from tests.reading_room.town import Town
from tests.reading_room.wire import ask, enter

MANY = 430


class Hub(Town):
    """A case that so many letters refer to; one of them is screened."""

    def items(self, emit: Listener) -> Iterator[Item]:
        """The case first."""
        yield Item("hub", None, "Saksmappe", "Midten")
        for number in range(MANY):
            yield Item(
                *(f"letter-{number}", None, "Journalpost", f"Brev {number}"),
                screened=number == 300,
                links=(("referanseTil", "hub"),),
            )


def leaf_through(room: OpenRoom, cookie: str, ref: str, count: str, piece: str) -> list[str]:
    """The texts of a list of links, from the card of an item that says `count` more are there, page by page."""
    card = html.fromstring(ask(room.url, f"/item/{ref}", cookie=cookie).body)
    (more,) = [link for link in card.iterfind(".//a") if "more link" in text_of(link)]
    assert count in text_of(more)
    address: str | None = more.get("href")
    texts: list[str] = []
    while address:
        page = html.fromstring(ask(room.url, address, cookie=cookie).body)
        texts += [text_of(entry) for entry in page.iterfind(f".//main//ul[@class='links']/li{piece}")]
        following = page.find(".//a[@rel='next']")
        address = None if following is None else following.get("href")
    return texts


def text_of(element: html.HtmlElement) -> str:
    """All text in an element."""
    return "".join(map(str, element.itertext())).strip()


def test_a_list_shows_all_that_leads_to_an_item(tmp_path: Path) -> None:
    with open_room(Hub(), tmp_path / "hub.db") as room:
        cookie = enter(room)
        titles = leaf_through(room, cookie, "hub", "230", "/a")
    assert len(titles) == MANY and titles[300] == "*****"
    assert [title for title in titles if re.fullmatch(r"Brev \d+", title)] == [
        f"Brev {number}" for number in range(MANY) if number != 300
    ]


class Index(Town):
    """A case that refers to so many letters, and to one that is not there; one of them is screened."""

    def items(self, emit: Listener) -> Iterator[Item]:
        """The letters first."""
        for number in range(MANY):
            yield Item(f"letter-{number}", None, "Journalpost", f"Brev {number}", screened=number == 300)
        letters = [("referanseTil", f"letter-{number}") for number in range(MANY)]
        yield Item("index", None, "Saksmappe", "Registeret", links=(*letters, ("referanseTil", "gone")))


def test_a_list_shows_all_that_an_item_refers_to_in_its_own_order(tmp_path: Path) -> None:
    with open_room(Index(), tmp_path / "index.db") as room:
        cookie = enter(room)
        lines = leaf_through(room, cookie, "index", "231", "")
    assert len(lines) == MANY + 1 and "*****" in lines[300]
    assert [line.split()[1] for line in lines[:300]] == [str(number) for number in range(300)]
    assert address_ref("gone") in lines[-1] and "not here" in lines[-1]
