"""The browser of the tests does what a reader does, and sees what a careless page would do."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.browser import SERIOUS, Browser, Page
from tests.devtools import BrowserError

pytestmark = pytest.mark.browser_tools

FORM = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Form</title><h1>Search</h1>
<form action="/answer"><label>Word <input name="q" id="q"></label><button>Go</button></form>
<details><summary>More</summary><p>Folded</p></details>
<script>document.addEventListener('keydown', e => { document.title = e.key + e.shiftKey })</script>"""
CARELESS = """<!doctype html><html><title></title><style>p { color: #bbb; background: #ccc; width: 600px }</style>
<p>Pale</p><img src="http://example.org/pixel.png">
<script>alert('hello'); console.log('said'); fetch('/other')</script>"""
STRICT = """<!doctype html><html lang="en"><meta http-equiv="Content-Security-Policy" content="default-src 'none'">
<title>Strict</title><main><h1>Strict</h1><img alt="" src="http://example.org/pixel.png"></main>"""
PAGES = {"/": FORM, "/careless": CARELESS, "/strict": STRICT, "/frame": '<iframe src="/strict" sandbox></iframe>'}


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        text = PAGES.get(path, f"<title>{self.path}</title>{self.headers['Accept-Language']}")
        self.send_response(200 if path in (*PAGES, "/answer", "/file") else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        if path == "/file":
            self.send_header("Content-Disposition", "attachment; filename=a.txt")
        self.send_header("Set-Cookie", "token=1; HttpOnly")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_form_is_filled_in_with_the_mouse_and_sent_with_a_key(page: Page, site: str) -> None:
    assert page.goto(site) == 200
    page.type("#q", "first")
    page.type("#q", "blå bok")
    with page.navigation():
        page.press("Enter")
    assert page.url == f"{site}/answer?q=bl%C3%A5+bok"
    assert page.cookies()[0]["httpOnly"]


def test_keys_move_the_focus_and_bring_their_modifiers(page: Page, site: str) -> None:
    page.goto(site)
    page.press("Tab", "Tab")
    assert page.focused() == "<button></button>"
    page.press("Shift+Tab")
    assert page.focused().startswith("<input")
    assert page.title == "Tabtrue"


def test_what_is_folded_is_read_once_it_is_opened(page: Page, site: str) -> None:
    page.goto(site)
    assert "Folded" not in page.text()
    page.click("summary")
    assert "Folded" in page.text()


def test_what_a_careless_page_does_is_seen(page: Page, site: str) -> None:
    page.set_viewport(375)
    page.goto(f"{site}/careless")
    page.wait_for("performance.getEntriesByName(location.origin + '/other').length")
    assert [one.url for one in page.outside_requests(site)] == ["http://example.org/pixel.png"]
    assert [one.url for one in page.requests] == [f"{site}/careless", "http://example.org/pixel.png", f"{site}/other"]
    assert page.dialogs == ("hello",)
    assert "log: said" in page.console
    assert len(page.sideways()) == 2
    assert {"color-contrast", "document-title", "html-has-lang", "image-alt"} <= {
        one.rule for one in page.axe(*SERIOUS)
    }


def test_what_a_policy_stops_is_no_request_that_left(page: Page, site: str) -> None:
    page.goto(f"{site}/strict")
    assert page.outside_requests(site) == []
    assert [one.blocked for one in page.requests if not one.url.startswith(site)] in ([], ["csp"])
    assert page.axe(*SERIOUS) == []


def test_a_sandboxed_frame_is_watched_and_can_be_asked(page: Page, site: str) -> None:
    page.goto(f"{site}/frame")
    inner = next(frame for frame in page.frames() if frame.url.endswith("/strict"))
    assert page.evaluate("document.title", inner) == "Strict"
    assert f"{site}/strict" in [one.url for one in page.requests]


def test_no_name_leaves_the_machine(page: Page) -> None:
    with pytest.raises(BrowserError, match="ERR_NAME_NOT_RESOLVED"):
        page.goto("http://example.org/")


def test_scheme_width_media_and_language_are_what_the_test_says(browser: Browser, site: str) -> None:
    with browser.new_page(width=375, scheme="dark", language="nb") as page:
        page.goto(f"{site}/answer")
        assert page.text().startswith("nb")
        asked = "[innerWidth, matchMedia('(prefers-color-scheme: dark)').matches, matchMedia('print').matches]"
        assert page.evaluate(asked) == [375, True, False]
        page.set_media("print")
        assert page.evaluate(asked) == [375, True, True]


def test_pictures_prints_and_downloads_are_files(browser: Browser, page: Page, site: str, tmp_path: Path) -> None:
    page.goto(site)
    page.screenshot(tmp_path / "a.png")
    page.pdf(tmp_path / "a.pdf")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    page.allow_downloads(tmp_path)
    page.evaluate("{ location.href = '/file' }")
    assert browser.take_download(tmp_path).read_text().startswith("<title>/file")


def test_a_click_on_what_lies_beneath_is_refused(page: Page, site: str) -> None:
    page.goto(site)
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<div style=\"position:fixed;inset:0\"></div>')")
    with pytest.raises(BrowserError, match="lies beneath"):
        page.click("button")
