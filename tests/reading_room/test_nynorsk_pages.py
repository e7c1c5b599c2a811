"""The reading room and the reading copy speak Nynorsk: no word of their pages is Bokmål's but data."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from html import unescape
from pathlib import Path

import pytest

import noarkit
from noarkit.api.browsing import open_catalogue
from noarkit.catalogue.catalogue import Catalogue
from noarkit.catalogue.store import write_catalogue
from noarkit.events import ignore_event
from noarkit.reading_room.pages import render_bare, render_login
from noarkit.reading_room.room import LOOK_COOKIE
from noarkit.reading_room.serve import OpenRoom
from noarkit.reading_room.static.writer import write_static_copy
from noarkit.words.texts import SPOKEN, texts
from tests.languages import page_text
from tests.reading_room.conftest import open_room, serve_catalogue
from tests.reading_room.test_pages import PAGES
from tests.reading_room.town import Town
from tests.reading_room.wire import ask, enter
from tests.test_nynorsk import bokmaal_in

VALUES = frozenset(texts("nb").tables["code_values"])
"""Values of code lists: data of an archive, whatever the language of the page."""
_MOST_PAGES = 80


def bokmaal_on(page: str, english: str) -> list[str]:
    """The words of a page that only Bokmål has, but for data: what the page in English says as well."""
    data = {line.strip() for line in page_text(english).split("\n")} | VALUES
    own = (line.strip() for line in page_text(page).split("\n"))
    return [f"{word}: {line}" for line in own if line not in data for word in bokmaal_in(line)]


def judge(pages: Mapping[str, Mapping[str, str]]) -> None:
    """Judges pages by language and name: none of those in Nynorsk has a word of Bokmål, and each of those in Bokmål has
    one that is seen, or a word of Bokmål would pass."""
    assert pages["nn"] and pages["nn"].keys() == pages["nb"].keys() == pages["en"].keys()
    for name, page in pages["nn"].items():
        assert '<html lang="nn"' in page, name
    found = {name: words for name, page in pages["nn"].items() if (words := bokmaal_on(page, pages["en"][name]))}
    assert found == {}
    assert [name for name, page in pages["nb"].items() if not bokmaal_on(page, pages["en"][name])] == []


def visit(room: OpenRoom, cookie: str, paths: list[str], *, follows: bool = False) -> dict[str, dict[str, str]]:
    """The pages of a room by language and address, and those that they lead to."""
    pages: dict[str, dict[str, str]] = {lang: {} for lang in SPOKEN}
    paths = list(paths)
    for path in paths:
        for lang in SPOKEN:
            reply = ask(room.url, path, cookie=f"{cookie}; {LOOK_COOKIE}={lang}.auto")
            assert reply.status in (200, 404), (path, reply)
            pages[lang][path] = reply.body
        if follows:
            links = re.findall(r'<a [^>]*?href="(/[^"#]*)', pages["nn"][path])
            inner = [unescape(link) for link in links if not link.startswith(("/list.csv", "/search.csv", "/content"))]
            paths += [link for link in dict.fromkeys(inner) if link not in paths][: _MOST_PAGES - len(paths)]
    return pages


def copies(catalogue: Catalogue, folder: Path) -> dict[str, dict[str, str]]:
    """The pages of reading copies by language and address."""
    pages: dict[str, dict[str, str]] = {}
    for lang in SPOKEN:
        copy = write_static_copy(catalogue, folder / lang, lang=lang, with_documents=True)
        found = (path for path in copy.path.rglob("*.html") if "files" not in path.parts)
        pages[lang] = {str(path.relative_to(copy.path)): path.read_text("utf-8") for path in found}
    return pages


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[OpenRoom, str]]:
    """A room with a little of everything that a card can show, and the cookie of who is in it."""
    with open_room(Town(5), tmp_path_factory.mktemp("town") / "town.db") as room:
        yield room, enter(room)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with records that were loaded, set aside and skipped, with warnings and duplicates."""
    folder = tmp_path_factory.mktemp("run")
    source = folder / "share"
    (source / "2019-0042 Xanthos").mkdir(parents=True)
    for name, content in (
        *(("01 Zeta.txt", b"zeta omega"), ("02 Kappa.txt", b"zeta omega"), ("03 01010150074.txt", b"x")),
        *(("04 Sigma.pdf", b"%PDF-1.4\n%"), (".hidden", b"x"), ("05 Tau.txt", b"")),
    ):
        (source / "2019-0042 Xanthos" / name).write_bytes(content)
    os.mkfifo(source / "2019-0042 Xanthos" / "06 Pi")
    noarkit.plan(source, folder / "run", archive=f"embedded:{folder / 'archive'}", hash_contents=True)
    return folder / "run"


def test_each_page_of_a_room_is_in_nynorsk(town: tuple[OpenRoom, str]) -> None:
    judge(visit(*town, list(PAGES.values())))


def test_what_is_screened_is_shown_in_nynorsk(town: tuple[OpenRoom, str]) -> None:
    room, cookie = town
    shown: dict[str, dict[str, str]] = {}
    for lang in SPOKEN:
        look = f"{cookie}; {LOOK_COOKIE}={lang}.auto"
        form = {"csrf": ask(room.url, "/help", cookie=look).csrf, "reason": "12/2024"}
        for ref in ("reveal/secret-letter", "reveal-document/secret-doc"):
            reply = ask(room.url, f"/{ref}", method="POST", form=form, cookie=look)
            assert reply.status == 200
            shown.setdefault(lang, {})[ref] = reply.body
    assert "Åpent i et kvarter" in shown["nb"]["reveal-document/secret-doc"]
    judge(shown)


def test_the_pages_of_a_plan_and_of_a_load_are_in_nynorsk(run: Path, tmp_path: Path) -> None:
    with open_catalogue(str(run)) as catalogue, serve_catalogue(catalogue) as room:
        before = visit(
            room,
            enter(room),
            ["/plan", "/plan?state=set_aside", "/plan?state=skipped", "/duplicates", "/activity", "/"],
        )
    judge(before)
    assert noarkit.ingest(run, workers=0).state == "done"
    with open_catalogue(str(run)) as catalogue:
        with serve_catalogue(catalogue) as room:
            after = visit(room, enter(room), ["/", "/search?q=zeta"], follows=True)
        copied = copies(catalogue, tmp_path)
    assert len(after["nn"]) > 20
    judge(after)
    judge(copied)


def test_each_page_of_a_copy_is_in_nynorsk(tmp_path: Path) -> None:
    town = Town(2)
    write_catalogue(tmp_path / "town.db", town.identity, town.items(ignore_event))
    with Catalogue(tmp_path / "town.db", town) as catalogue:
        judge(copies(catalogue, tmp_path))


def test_the_door_speaks_nynorsk() -> None:
    names = ("used", "closed", "opened", "being-read", "not-read")
    pages = {
        lang: {name: render_bare(name, lang, "/", count=2) for name in names}
        | {problem: render_login(lang, "auto", csrf="", here="/", problem=problem) for problem in ("", "wrong", "wait")}
        for lang in SPOKEN
    }
    judge(pages)


def test_a_reader_chooses_nynorsk_on_the_page(town: tuple[OpenRoom, str]) -> None:
    room, cookie = town
    page = ask(room.url, "/help", cookie=cookie)
    assert re.findall(r'name="lang" value="(\w+)" lang="\1">(\w+)<', page.body) == [("nb", "Bokmål"), ("nn", "Nynorsk")]
    form = {"csrf": page.csrf, "lang": "nn", "here": "/help"}
    chosen = ask(room.url, "/preferences", method="POST", form=form, cookie=cookie)
    assert chosen.status == 303
    look = chosen.headers["set-cookie"].partition(";")[0]
    page = ask(room.url, "/help", cookie=f"{cookie}; {look}")
    assert '<html lang="nn"' in page.body and "Slik bruker du lesesalen" in page.body
    assert "Kven som kan sjå lesesalen" in page.body
