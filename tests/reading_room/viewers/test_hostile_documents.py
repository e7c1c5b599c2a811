"""Documents made to hurt are shown as text or refused with a code: nothing runs, no process stays."""

from __future__ import annotations

import os
import socket
import sys
import time
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest

from noarkit.reading_room.viewers.content import ContentRequest, Tickets, content_response
from noarkit.reading_room.viewers.port import DEEPEST, Lines, Piece, View, ViewRequest
from noarkit.reading_room.viewers.viewer import Viewer
from noarkit.reading_room.viewers.workroom import LIMITS, WorkroomLimits, open_plain, program_folders
from noarkit.safe.sandbox import Sandbox
from tests.browser import Page
from tests.reading_room.viewers.documents import DOCUMENTS, FAR
from tests.reading_room.viewers.rooms import CONTENT, codes_of, page_of, source_of, source_of_blocks, text_of_page
from tests.reading_room.viewers.serving import TITLE, serve_views

OURS = frozenset(
    {
        *(
            "section",
            "div",
            "p",
            "b",
            "span",
            "a",
            "nav",
            "ol",
            "ul",
            "li",
            "dl",
            "dt",
            "dd",
            "h3",
            "details",
            "summary",
        ),
        *("table", "thead", "tbody", "tr", "th", "td", "img", "iframe", "video", "audio"),
    }
)
ADDRESSES = ("/document/x", CONTENT)
LONGEST_S = 60.0
_VIEWS: dict[str, tuple[View, float]] = {}


def view_of(name: str, viewer: Viewer) -> tuple[View, float]:
    """The view of a document and how long it took; each is made once."""
    if name not in _VIEWS:
        source = source_of(DOCUMENTS[name].make(), name)
        began = time.monotonic()
        _VIEWS[name] = viewer.view(source), time.monotonic() - began
    return _VIEWS[name]


def children() -> set[str]:
    """The processes below this one."""
    return set(Path("/proc/thread-self/children").read_text("ascii").split())


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_hostile_document_is_shown_as_text_or_refused(name: str, viewer: Viewer) -> None:
    before = children()
    case = DOCUMENTS[name]
    view, took_s = view_of(name, viewer)
    assert view.kind in case.kinds, (view.kind, view.notes)
    if case.code:
        assert case.code in codes_of(view), view.notes
    assert took_s < LONGEST_S
    assert children() <= before
    assert "error" not in [key for note in view.notes for key in note.data], view.notes
    if case.seen:
        assert case.seen in text_of_page(view)
    assert bool(view.raw) == case.raw or name.startswith("copy-") or "facts" in case.kinds


@pytest.mark.parametrize("name", DOCUMENTS)
def test_nothing_of_a_document_becomes_markup_of_ours(name: str, viewer: Viewer) -> None:
    view, _ = view_of(name, viewer)
    page = page_of(view)
    assert {element.tag for element in page.iter()} <= OURS
    for element in page.iter():
        assert not [key for key in element.attrib if key.lower().startswith("on") or key in ("style", "srcdoc")]
        for key in ("href", "src", "action", "data", "poster"):
            address = element.get(key, "")
            assert not address or address.startswith(ADDRESSES), address
            assert FAR not in address


@pytest.mark.parametrize("name", DOCUMENTS)
def test_its_bytes_come_out_locked_and_as_no_page(name: str, viewer: Viewer) -> None:
    view, _ = view_of(name, viewer)
    for token in filter(None, (view.raw, view.download, *(picture.token for picture in view.pictures))):
        request = ContentRequest("", "http://127.0.0.1:8", "HEAD")
        answer = content_response(viewer.tickets, token, request)
        media_type = answer.headers["Content-Type"]
        assert answer.status == 200
        assert answer.headers["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert media_type.startswith(("image/", "application/pdf", "audio/", "video/", "application/octet-stream"))
        assert media_type != "image/svg+xml"
        if token == view.download:
            assert answer.headers["Content-Disposition"].startswith("attachment;")
            assert media_type == "application/octet-stream"


def test_there_are_more_than_sixty_of_them() -> None:
    assert len(DOCUMENTS) > 60


def test_a_line_of_a_gigabyte_is_cut_and_costs_no_memory(viewer: Viewer) -> None:
    view = viewer.view(source_of_blocks("huge.txt", [b"begin of it " * 6000, *([bytes(1 << 20)] * 1024)]))
    assert (view.kind, view.size_bytes, view.pages) == ("text", (1 << 30) + 72_000, 1)
    assert "begin of it" in text_of_page(view)
    place = viewer.room.lay_out(source_of_blocks("huge.txt", [])).path
    assert place.stat().st_blocks * 512 < 1 << 20


def test_every_page_of_a_million_lines_can_be_had(viewer: Viewer) -> None:
    source = source_of(DOCUMENTS["lines.txt"].make(), "lines.txt")
    view = viewer.view(source, ViewRequest(page=2000))
    assert isinstance(view.body, Lines)
    assert (view.pages, view.more, view.body.first, len(view.body.lines)) == (2000, False, 999_501, 500)
    assert view.body.lines[-1] == (Piece("line 999999"),)
    assert codes_of(viewer.view(source, ViewRequest(page=2001))) == ["no-such-page"]


def test_documents_in_one_another_are_opened_only_so_deep(viewer: Viewer) -> None:
    source = source_of(DOCUMENTS["nested.eml"].make(), "nested.eml")
    deepest = viewer.view(source, ViewRequest(part=(1,) * DEEPEST))
    assert deepest.kind == "mail"
    assert f"level {199 - DEEPEST}" in text_of_page(deepest)
    further = f"part={'.'.join('1' * (DEEPEST + 1))}"
    assert not any(further in element.get("href", "") for element in page_of(deepest).iter("a"))
    assert codes_of(viewer.view(source, ViewRequest(part=(1,) * (DEEPEST + 1)))) == ["too-deep"]


def test_what_takes_too_long_or_too_much_is_stopped() -> None:
    hurried = WorkroomLimits(child=replace(LIMITS, cpu_s=0.5, wall_s=2.0))
    narrow = WorkroomLimits(child=replace(LIMITS, memory_bytes=200 * 1024 * 1024))
    content = b"[" + b"[1,2,3]," * 3_000_000 + b"1]"
    before = children()
    for limits, code in ((hurried, "timed-out"), (narrow, "memory")):
        with Viewer(Tickets(), limits=limits) as viewer:
            view = viewer.view(source_of(content, "large.json"))
            assert (view.kind, codes_of(view)) == ("facts", [code])
            assert view.download
    assert children() <= before


def test_the_child_has_no_network_and_sees_no_file_of_ours(tmp_path: Path) -> None:
    sandbox = Sandbox()
    if not sandbox.isolated:
        pytest.skip("this machine lets nobody make a sandbox")
    secret = tmp_path / "secret"
    secret.write_text("x", "utf-8")
    inputs, outputs = tmp_path / "in", tmp_path / "work" / "out"
    inputs.mkdir()
    outputs.mkdir(parents=True)
    program = (
        "import socket, pathlib, sys\n"
        f"assert not pathlib.Path({str(secret)!r}).exists()\n"
        "try: socket.create_connection(('127.0.0.1', int(sys.argv[1])), 2)\n"
        "except OSError: pathlib.Path(sys.argv[2], 'none').touch()\n"
    )
    with socket.create_server(("127.0.0.1", 0)) as listener:
        command = [sys.executable, "-P", "-c", program, str(listener.getsockname()[1]), str(outputs)]
        completed = sandbox.run(
            command, inputs=inputs, outputs=outputs, limits=LIMITS, readable=program_folders(), environment={}
        )
        listener.settimeout(0)
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert completed.exit_code == 0, completed.stderr
    assert (outputs / "none").exists()


def test_what_a_child_that_was_taken_over_leaves_behind_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe", "nothing"):
        with pytest.raises(OSError, match=name):
            open_plain(tmp_path / name)


def test_in_a_real_browser_nothing_runs_and_no_request_leaves(viewer: Viewer, page: Page) -> None:
    def view_by_name(name: str, request: ViewRequest) -> View:
        view = view_of(name, viewer)[0]
        return view if request == ViewRequest() else viewer.view(source_of(DOCUMENTS[name].make(), name), request)

    with serve_views(viewer.tickets, view_by_name) as origins:
        for name in filter(lambda name: not name.startswith("copy-"), DOCUMENTS):
            assert page.goto(f"{origins.pages}/document/{quote(name)}") == 200
            assert (name, page.title) == (name, TITLE)
            if name in ("script.html", "handlers.html", "tracking.eml"):
                page.goto(f"{origins.pages}/document/{quote(name)}?as=source")
            assert (name, page.dialogs) == (name, ())
            assert (name, page.outside_requests(origins.pages, origins.contents)) == (name, [])
            assert (name, [line for line in page.console if "404" not in line]) == (name, [])
