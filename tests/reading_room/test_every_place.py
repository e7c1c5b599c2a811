"""Every kind of place is walked through in a real browser: overview, tree, card, journal, search, document."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue

import pytest
from lxml import html

import noarkit
from noarkit.api.browsing import open_catalogue
from noarkit.embedded import open_embedded
from noarkit.reading_room import facts
from noarkit.reading_room.links import ServedLinks, Span
from noarkit.reading_room.looks import Looks
from noarkit.reading_room.pages import View, render
from noarkit.reading_room.phrasing import OUTCOMES, phrases
from noarkit.reading_room.serve import OpenRoom, serve_room
from noarkit.words.texts import LANGUAGES
from tests.browser import Page
from tests.catalogue.looking import every_entry
from tests.reading_room.everyplace import WORD, make_places
from tests.waiting import PATIENCE_S

KINDS = (
    *("files", "run", "run of cases", "extract", "packed extract", "packed E-ARK AIP", "E-ARK SIP", "DIAS SIP", "bag"),
    *("packed bag", "SIARD", "database", "embedded archive"),
)
WITH_JOURNAL = ("run of cases", "extract", "packed extract", "packed E-ARK AIP", "DIAS SIP", "embedded archive")
WITHOUT_DOCUMENTS = ("SIARD", "database")
WALK = """(async () => {
  for (let step = 0; step < 400; step++) {
    const shut = [...document.querySelectorAll('.tree .toggle[aria-expanded="false"]')];
    if (!shut.length) return document.querySelectorAll('.tree a').length;
    shut[0].click();
    await new Promise(done => setTimeout(done, 30));
  }
  return -1;
})()"""


BARE = re.compile(r"\A[a-zæøå]|[a-zæøå](?<!\be)[A-ZÆØÅ]|_|/|\A\Z")
"""A name as programs write it; `eInnsyn` is the name of a service."""


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The places by their kinds."""
    return make_places(tmp_path_factory.mktemp("places"))


@contextmanager
def open_room(place: str, settings: noarkit.Settings | None = None) -> Iterator[OpenRoom]:
    """A room over a place, served from a thread."""
    rooms: Queue[OpenRoom] = Queue()
    stop = threading.Event()

    def serve() -> None:
        with open_catalogue(place, settings=settings) as catalogue:
            serve_room(catalogue, lang="en", ready=rooms.put, stop_event=stop, reads_documents=True)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield rooms.get(timeout=PATIENCE_S)
    finally:
        stop.set()
        thread.join(PATIENCE_S)


def walk(page: Page, room: OpenRoom, kind: str) -> None:
    """Goes through the room as a person does."""
    page.goto(room.link)
    assert page.count(".figures li") > 0
    in_tree = page.evaluate(WALK)
    with page.navigation():
        page.click(".tree ul ul li:last-child a" if in_tree > 3 else ".tree li:last-child a")
    assert page.text("h1") and page.count("article.card") == 1
    page.press("/")
    page.type("#q", WORD[:8])
    with page.navigation():
        page.press("Enter")
    search, deadline = page.url, time.monotonic() + PATIENCE_S
    while page.count(".results li a, .hits a") == 0:  # until the documents are read
        assert time.monotonic() < deadline, page.text("main")
        time.sleep(0.2)
        page.goto(search)
    assert ("Journal" in page.texts("header nav a")) == (kind in WITH_JOURNAL)
    if kind in WITH_JOURNAL:
        for journal in ("journal", "journal?public=1"):
            page.goto(f"{room.url}/{journal}")
            assert "Tilskudd, Fjord skolekorps" in page.text("main")
    assert page.console == ()
    assert page.outside_requests(room.url, room.content_url) == []


def show_documents(page: Page, room: OpenRoom, kind: str) -> None:
    """Opens the first documents, each on a page of its own."""
    addresses = _documents(page, room, 9 if kind == "files" else 3)
    assert len(addresses) >= 3
    for address in addresses:
        assert page.goto(address) == 200, address
        assert page.count("article.document") == 1
        assert page.count(".custody, .chain") > 0
    assert page.dialogs == () and page.title != "run"
    assert page.outside_requests(room.url, room.content_url) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_place_is_walked_through_and_its_documents_are_shown_or_offered(
    kind: str, places: dict[str, str], page: Page
) -> None:
    with open_room(places[kind]) as room:
        walk(page, room, kind)
        if kind not in WITHOUT_DOCUMENTS:
            show_documents(page, room, kind)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_label_of_every_card_is_in_words(kind: str, lang: str, places: dict[str, str]) -> None:
    labels: dict[str, str] = {}
    with open_catalogue(places[kind]) as catalogue:
        looks = Looks(catalogue)
        view = View(lang, ServedLinks(), looks.identity, zone=catalogue.zone)
        for entry in every_entry(catalogue):
            has_words = entry.state in (*OUTCOMES, "done", "") or phrases(lang).has(f"state.{entry.state}")
            assert has_words, entry.state
            assert phrases(lang).type_name(entry.type) != entry.type or entry.type[0].isupper(), entry.type
            if entry.type != "row":  # the columns of a table have the names that its owner gave them
                page = html.fromstring(render("item.html", view, facts.item_facts(looks, entry.ref, Span())))
                labels.update((label_of(term), entry.ref) for term in page.iter("dt"))
    assert labels
    assert {label: ref for label, ref in labels.items() if BARE.search(label)} == {}


def label_of(term: html.HtmlElement) -> str:
    """The words of a label, without the name that stands beside it in small letters."""
    for code in term.findall("code"):
        term.remove(code)
    return " ".join(term.text_content().split())


def test_an_archive_by_its_address_is_walked_through(places: dict[str, str], page: Page) -> None:
    folder = Path(places["embedded archive"].removeprefix("embedded:"))
    archive = open_embedded(folder)
    try:
        environment = {"NOARKIT_CLIENT_ID": archive.client_id, "NOARKIT_CLIENT_SECRET": archive.client_secret.reveal()}
        with open_room(archive.url, noarkit.read_settings(environment=environment)) as room:
            walk(page, room, "embedded archive")
    finally:
        archive.stop()


def _documents(page: Page, room: OpenRoom, most: int) -> list[str]:
    """The addresses of the first documents."""
    addresses: list[str] = []
    page.goto(f"{room.url}/")
    page.evaluate(WALK)
    items = page.evaluate("[...document.querySelectorAll('.tree a[href*=\"/item/\"]')].map(link => link.href)")
    for item in items:
        page.goto(item)
        addresses += page.evaluate("[...document.querySelectorAll('#files ~ * a, .file-title a')].map(a => a.href)")
        addresses = list(dict.fromkeys(address for address in addresses if "/document/" in address))
        if len(addresses) >= most:
            break
    return addresses[:most]
