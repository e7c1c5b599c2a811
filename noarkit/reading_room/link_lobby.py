"""The lobby of a room on one's own machine: who has the one-time link is let in, in one browser, and nobody else."""

from __future__ import annotations

from dataclasses import dataclass

from noarkit.reading_room.content import Contents
from noarkit.reading_room.gate import Gate
from noarkit.reading_room.pages import render_bare
from noarkit.reading_room.room import Room, asset
from noarkit.reading_room.session import Doorkeeper
from noarkit.reading_room.web import Answer, Request, redirect, text_answer

_OPEN = b"/open/"


@dataclass(frozen=True, slots=True)
class Doors:
    """The two gates, and the port at which contents come in."""

    pages: Gate
    contents: Gate
    content_port: int


class LinkLobby:
    """Exchanges the link for a cookie, and lets pages and contents be had by who has it."""

    def __init__(self, room: Room, contents: Contents, doorkeeper: Doorkeeper, doors: Doors, *, lang: str) -> None:
        self._room = room
        self._contents = contents
        self._doorkeeper = doorkeeper
        self._doors = doors
        self._lang = lang

    def is_content(self, port: int, path: bytes) -> bool:
        """The port tells."""
        return port == self._doors.content_port

    def answer_content(self, request: Request, query: bytes) -> Answer:
        """The bytes that a token is good for."""
        return self._doors.contents.refusal(request, query) or self._contents.answer(request)

    def content_headers(self) -> tuple[tuple[str, str], ...]:
        """The headers of what is refused there."""
        return self._contents.headers()

    def answer_page(self, request: Request, query: bytes) -> Answer:
        """A page for a session; for others the page that says how to come in."""
        opens = request.path.startswith(_OPEN)
        refusal = self._doors.pages.refusal(request, query, may_come_from_outside=opens and request.method == "GET")
        if refusal is not None:
            return refusal
        if opens:
            return self._open(request)
        if request.path.startswith(b"/assets/"):
            return asset(request)
        session = self._doorkeeper.find(request.cookies, request.uid)
        if session is None:
            return self._bare(403, "closed")
        return self._room.answer(request, session)

    def _open(self, request: Request) -> Answer:
        """Exchanges the one-time link for a cookie, and sends the browser to an address without it."""
        if request.method != "GET" or "prefetch" in request.headers.get("sec-purpose", ""):
            return text_answer(405, "Method not allowed.")
        cookie = self._doorkeeper.redeem(request.path.removeprefix(_OPEN).decode("ascii"), request.uid)
        if cookie is None:
            return self._bare(403, "used")
        header = f"{self._doorkeeper.cookie_name}={cookie}; Path=/; HttpOnly; SameSite=Strict"
        if request.headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
            return redirect("/").with_headers(("set-cookie", header))
        # a browser that was led here from elsewhere sends such a cookie only with what a page of ours asks for
        return self._bare(200, "opened", next_address="/").with_headers(("set-cookie", header))

    def _bare(self, status: int, name: str, next_address: str = "") -> Answer:
        return Answer(status, render_bare(name, self._lang, next_address).encode())
