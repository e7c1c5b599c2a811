"""The bytes of documents come by tokens that are good for one session and for a while, in a sandbox and in ranges."""

from __future__ import annotations

import email.policy
import re
import time
from email.message import EmailMessage
from email.parser import HeaderParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from noarkit.reading_room.content import Contents
from noarkit.reading_room.looks import Looks
from noarkit.reading_room.room import Room
from noarkit.reading_room.session import Session
from noarkit.reading_room.viewers.content import (
    ContentFile,
    ContentRequest,
    ContentResponse,
    Tickets,
    attachment_header,
    content_response,
)
from noarkit.reading_room.viewers.viewer import Viewer
from noarkit.reading_room.web import Request
from tests.catalogue.shelves import Shelf, catalogue_of

ROOM = "http://127.0.0.1:8001"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 10


def ask(tickets: Tickets, token: str, session: str = "me", **more: str) -> ContentResponse:
    return content_response(tickets, token, ContentRequest(session, ROOM, **more))


@pytest.fixture
def picture(tmp_path: Path) -> ContentFile:
    path = tmp_path / "document"
    path.write_bytes(PNG)
    return ContentFile(path, "picture.png")


def test_a_token_is_good_for_its_session_alone_and_for_a_while(picture: ContentFile) -> None:
    tickets = Tickets()
    token = tickets.issue(picture, "me")
    assert len(token) >= 40
    assert ask(tickets, token).body() == PNG
    assert ask(tickets, token, "somebody").status == 404
    assert ask(tickets, token[:-1]).status == 404
    assert ask(tickets, "").status == 404
    brief = Tickets(lifetime_s=-1)
    assert ask(brief, brief.issue(picture, "me")).status == 404


def test_no_two_tokens_are_alike(picture: ContentFile) -> None:
    tickets = Tickets()
    assert len({tickets.issue(picture, "me") for _ in range(100)}) == 100


def test_bytes_come_locked(picture: ContentFile) -> None:
    tickets = Tickets()
    answer = ask(tickets, tickets.issue(picture, "me"))
    answer.close()
    assert answer.status == 200
    assert dict(answer.headers) == {
        "Content-Security-Policy": "sandbox; default-src 'none'; base-uri 'none'; form-action 'none';"
        f" frame-ancestors {ROOM}",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
        "Cross-Origin-Resource-Policy": "cross-origin",
        "Referrer-Policy": "no-referrer",
        "X-Robots-Tag": "noindex",
        "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
        "Content-Type": "image/png",
        "Content-Disposition": "inline",
        "Content-Length": str(len(PNG)),
        "Accept-Ranges": "bytes",
    }


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (b"<html><script>alert(1)</script>", "application/octet-stream"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "application/octet-stream"),
        (b"%PDF-1.7\n", "application/pdf"),
        (b"GIF89a;<script>", "image/gif"),
        (b"text", "application/octet-stream"),
        (b"", "application/octet-stream"),
    ],
)
def test_the_type_is_what_the_bytes_say(content: bytes, media_type: str, tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    path.write_bytes(content)
    tickets = Tickets()
    answer = ask(tickets, tickets.issue(ContentFile(path, "x.html"), "me"), method="HEAD")
    assert answer.headers["Content-Type"] == media_type
    assert answer.headers["Content-Disposition"].startswith("attachment" if "octet" in media_type else "inline")


def test_a_download_has_no_type_and_a_name_that_harms_nobody(picture: ContentFile) -> None:
    tickets = Tickets()
    file = ContentFile(picture.path, '../a"\r\nX-Evil: 1\u202egpj.exe', is_download=True)
    answer = ask(tickets, tickets.issue(file, "me"), method="HEAD")
    assert answer.headers["Content-Type"] == "application/octet-stream"
    header = answer.headers["Content-Disposition"]
    assert header.isascii()
    assert header.isprintable()
    parsed = HeaderParser(policy=email.policy.default).parsestr(f"Content-Disposition: {header}\n\n")
    assert isinstance(parsed, EmailMessage)
    assert re.fullmatch(r"[^/\\\"\r\n\u202e]+", parsed.get_filename() or "")


@pytest.mark.parametrize("name", ["søknad 1.pdf", "日本.txt", "a" * 500, "...", "", "con\x00"])
def test_a_name_is_kept_as_far_as_a_system_bears_it(name: str) -> None:
    expected = {"...": "document", "": "document", "con\x00": "con", "a" * 500: "a" * 150}
    encoded = attachment_header(name).partition("filename*=UTF-8''")[2]
    assert unquote(encoded) == expected.get(name, name)


@pytest.mark.parametrize(
    ("requested", "status", "span"),
    [
        ("bytes=0-9", 206, (0, 10)),
        ("bytes=10-", 206, (10, len(PNG))),
        ("bytes=-5", 206, (len(PNG) - 5, len(PNG))),
        (f"bytes=5-{10**18}", 206, (5, len(PNG))),
        ("bytes=9-3", 200, (0, len(PNG))),
        ("bytes=0-1,5-6", 200, (0, len(PNG))),
        ("bytes=-", 200, (0, len(PNG))),
        ("lines=1-2", 200, (0, len(PNG))),
        (f"bytes={len(PNG)}-", 416, None),
        ("bytes=-0", 416, None),
    ],
)
def test_ranges_are_served_as_http_has_them(
    requested: str, status: int, span: tuple[int, int] | None, picture: ContentFile
) -> None:
    tickets = Tickets()
    answer = ask(tickets, tickets.issue(picture, "me"), requested_range=requested)
    assert answer.status == status
    if span is None:
        assert answer.headers["Content-Range"] == f"bytes */{len(PNG)}"
        return
    assert answer.body() == PNG[slice(*span)]
    assert int(answer.headers["Content-Length"]) == span[1] - span[0]
    if status == 206:
        assert answer.headers["Content-Range"] == f"bytes {span[0]}-{span[1] - 1}/{len(PNG)}"


def test_only_reading_is_answered_and_links_are_not_followed(picture: ContentFile, tmp_path: Path) -> None:
    tickets = Tickets()
    token = tickets.issue(picture, "me")
    assert ask(tickets, token, method="POST").status == 405
    assert ask(tickets, token, method="HEAD").body() == b""
    (tmp_path / "link").symlink_to("/etc/passwd")
    assert ask(tickets, tickets.issue(ContentFile(tmp_path / "link"), "me")).status == 404


def test_the_bytes_of_a_screened_document_are_to_be_had_no_longer_than_its_page(tmp_path: Path) -> None:
    shelf = Shelf({"letter.txt": b"a letter"}, screened=frozenset({"letter.txt"}))
    session = Session(None, "csrf", last_seen=100.0, opened_until={"letter.txt#1": 101.5})
    with catalogue_of(shelf, tmp_path) as catalogue, Viewer(Tickets()) as viewer:
        contents = Contents(catalogue, viewer, "", ROOM)
        room = Room(Looks(catalogue), contents, lang="en")
        asked = time.monotonic()
        page = room.answer(Request("GET", b"/document/letter.txt%231", {}, {}), session)
        address = re.search(rb"/content/[A-Za-z0-9_-]+", page.body)
        assert address is not None
        answer = contents.answer(Request("HEAD", address[0], {}, {}))
        assert answer.status == 200 or time.monotonic() - asked > 1.4  # a busy machine draws the page for longer
        time.sleep(1.6)
        assert contents.answer(Request("HEAD", address[0], {}, {})).status == 404
