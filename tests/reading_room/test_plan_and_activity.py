"""A plan is approved in the room, and a load is followed there, in a real browser."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from subprocess import PIPE, Popen

import pytest

import noarkit
from noarkit.api.browsing import open_catalogue
from noarkit.loading.approval import FILE_NAME, approval_of, approvals
from noarkit.loading.folder import RunFolder
from noarkit.reading_room.serve import OpenRoom, serve_room
from tests.browser import SERIOUS, Browser, Page, looks_in
from tests.waiting import PATIENCE_S

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A plan of twenty-four files, with duplicates, an identity number, and a name that is markup."""
    monkeypatch.chdir(tmp_path)
    for folder in ("2011", "2012"):
        (tmp_path / "files" / folder).mkdir(parents=True)
        for number in range(10):
            (tmp_path / "files" / folder / f"letter {number}.txt").write_text(f"{folder} {number}")
    for name, text in ((f"{HOSTILE}.txt", "a"), ("about 01010150074.txt", "b"), ("c.txt", "same"), ("d.txt", "same")):
        (tmp_path / "files" / name).write_text(text)
    noarkit.plan("files", "run", hash_contents=True)
    return tmp_path / "run"


@contextmanager
def open_room(place: Path, lang: str = "en") -> Iterator[OpenRoom]:
    """A room over a place, served from a thread."""
    rooms: Queue[OpenRoom] = Queue()
    stop = threading.Event()

    def serve() -> None:
        with open_catalogue(str(place)) as catalogue:
            serve_room(catalogue, lang=lang, ready=rooms.put, stop_event=stop)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield rooms.get(timeout=PATIENCE_S)
    finally:
        stop.set()
        thread.join(PATIENCE_S)


def test_the_page_shows_each_record_beside_what_it_becomes(run: Path, page: Page) -> None:
    with open_room(run) as room:
        page.goto(room.link)
        page.goto(f"{room.url}/plan")
        assert page.count("article.pair") == 24
        first = page.text("article.pair")
        assert "In the source" in first and "Dokumentversjon" in first
        assert page.count("article.pair .from a") == 24
        page.goto(f"{room.url}/duplicates")
        assert page.texts("article.file li") == ["c.txt", "d.txt"]


def test_markup_of_names_stays_text_and_identity_numbers_are_masked(run: Path, page: Page) -> None:
    with open_room(run) as room:
        page.goto(room.link)
        page.goto(f"{room.url}/plan")
        text = page.text("main")
        assert HOSTILE in text
        assert "01010150074" not in page.evaluate("document.documentElement.outerHTML")
        assert page.dialogs == ()
        assert page.outside_requests(room.url) == []
        assert page.count("main img") == 0


def test_a_person_approves_withdraws_and_the_load_demands_it(run: Path, page: Page) -> None:
    folder = RunFolder(run)
    with open_room(run) as room:
        page.goto(room.link)
        page.goto(f"{room.url}/plan")
        page.type("#by", "Kari Nordmann")
        page.type("#note", "case 2026/118")
        with page.navigation():
            page.click(".approval button")
        assert "Approved by Kari Nordmann" in page.text(".approval")
        approval = approval_of(folder)
        assert approval is not None and (approval.by, approval.note) == ("Kari Nordmann", "case 2026/118")
        assert "Approved by Kari Nordmann" in (run / "plan.html").read_text("utf-8")
        assert page.evaluate("document.querySelector('#by').value") == "Kari Nordmann"
        with page.navigation():
            page.click(".approval button")
        assert approval_of(folder) is None
        lines = [(line.by, line.withdrawn) for line in approvals(folder)]
        assert lines == [("Kari Nordmann", False), ("Kari Nordmann", True)]


def test_the_room_withdraws_no_approval_of_somebody_else(run: Path, page: Page) -> None:
    noarkit.approve(run, by="Kari")
    with open_room(run) as room:
        page.goto(room.link)
        page.goto(f"{room.url}/plan")
        page.evaluate("document.querySelector('#by').value = 'Ola'")
        with page.navigation():
            page.click(".approval button")
        assert "no approval under that name" in page.text("main")
    assert approval_of(RunFolder(run)) is not None


def test_an_approval_of_a_plan_that_was_replaced_meanwhile_is_refused(run: Path, page: Page) -> None:
    with open_room(run) as room:
        page.goto(room.link)
        page.goto(f"{room.url}/plan")
        page.evaluate("document.querySelector('[name=sha256]').value = '0'.repeat(64)")
        page.type("#by", "Kari")
        with page.navigation():
            page.click(".approval button")
        assert "The plan is not the one that the page showed" in page.text("main")
    assert not (run / FILE_NAME).exists()


def test_an_approval_without_the_token_of_the_page_is_refused(run: Path, page: Page) -> None:
    with open_room(run) as room:
        page.goto(room.link)
        page.goto(f"{room.url}/plan")
        page.evaluate("document.querySelector('.approval [name=csrf]').value = 'x'")
        page.type("#by", "Kari")
        with page.navigation():
            page.click(".approval button")
        assert "not ours" in page.text()
    assert not (run / FILE_NAME).exists()


def test_a_load_is_followed_in_the_page_as_it_goes_on(run: Path, tmp_path: Path, page: Page) -> None:
    with open_room(run) as room:
        page.goto(room.link)
        page.goto(f"{room.url}/activity")
        assert "planning" in page.text("#activity")
        command = [sys.executable, "-m", "noarkit", "ingest", "run", "--archive", "embedded:archive"]
        with Popen([*command, "--max-rate", "10/s"], cwd=tmp_path, stdout=PIPE, stderr=PIPE) as process:
            page.wait_for("document.querySelector('#activity .running') !== null")
            assert "Running now: ingest" in page.text("#activity")
            page.wait_for("document.querySelectorAll('.shards progress').length > 1")
            process.wait(PATIENCE_S)
        page.wait_for("document.querySelector('#activity .running') === null")
        assert "24 archived" in " ".join(page.text("#numbers ~ ul").split())
        assert page.console == ()


def test_streams_of_events_leave_room_for_pages(run: Path, browser: Browser) -> None:
    """More live pages than threads: none of them keeps another page waiting."""
    with open_room(run) as room, browser.new_page() as page:
        page.goto(room.link)
        page.goto(f"{room.url}/help")
        page.evaluate(
            "window.kept = Array.from({length: 5}, () => new EventSource('/activity-now'));"
            "window.news = 0; for (const source of kept) source.addEventListener('activity', () => window.news++); 0"
        )
        page.wait_for("window.news >= 5")
        began = time.monotonic()
        assert page.evaluate("fetch('/plan').then(answer => answer.status)") == 200
        assert time.monotonic() - began < PATIENCE_S / 10


def test_nothing_serious_is_found_on_the_pages(run: Path, browser: Browser) -> None:
    noarkit.approve(run, by="Kari")
    noarkit.ingest(run, archive="embedded:archive", workers=0)
    for lang in ("en", "nb"):
        with open_room(run, lang) as room, browser.new_page() as page:
            page.goto(room.link)
            for name in ("plan", "activity", "duplicates"):
                for width, scheme in looks_in(lang):
                    page.set_viewport(width)
                    page.set_scheme(scheme)
                    page.goto(f"{room.url}/{name}")
                    assert page.evaluate("document.documentElement.lang") == lang
                    assert page.sideways() == [], (name, lang, width, scheme)
                    assert page.axe(*SERIOUS) == [], (name, lang, width, scheme)


def test_no_address_tells_of_a_person(run: Path, page: Page) -> None:
    """An identity number in the name of a file is in no address; the address leads to the file all the same."""
    with open_room(run) as room:
        page.goto(room.link)
        page.goto(f"{room.url}/plan")
        address = page.evaluate(
            "[...document.querySelectorAll('.from a')].find(a => a.textContent.includes('about')).href"
        )
        assert "01010150074" not in address and "veil=" in address
        assert page.goto(address) == 200
        assert "010101 *****" in page.text("main")
        assert page.goto(address[:-1] + ("0" if address[-1] != "0" else "1")) == 404
