"""Views on two origins of this machine, as the room serves them: pages under its policy, contents as they come."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from urllib.parse import parse_qsl, unquote, urlsplit

from noarkit.reading_room.viewers.content import ContentRequest, Tickets, content_response
from noarkit.reading_room.viewers.pages import ViewAddresses, read_request, render_view
from noarkit.reading_room.viewers.port import View, ViewRequest

TITLE = "A page of ours"
_BASE = b"body { margin: 0; font: 15px/1.5 sans-serif; background: #fff; color: #1b2430; } main { padding: 1rem; }"
_DARK = b"@media (prefers-color-scheme: dark) { body { background: #161c24; color: #e4e9ef; } }"


@dataclass(frozen=True, slots=True)
class Origins:
    """Where pages and contents are."""

    pages: str
    contents: str


@contextmanager
def serve_views(tickets: Tickets, view_of: Callable[[str, ViewRequest], View], lang: str = "en") -> Iterator[Origins]:
    """Serves `/document/NAME` for as long as a block lasts."""
    pages = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    contents = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    origins = Origins(*(f"http://127.0.0.1:{server.server_port}" for server in (pages, contents)))
    styles = files("noarkit.reading_room").joinpath("assets/viewers.css").read_bytes()
    policy = (
        f"default-src 'none'; style-src 'self'; img-src 'self' data: {origins.contents}; media-src {origins.contents};"
        f" script-src 'self'; connect-src 'self'; frame-src {origins.contents}; form-action 'self';"
        " frame-ancestors 'none'; base-uri 'none'"
    )

    def page(handler: _Handler) -> None:
        address = urlsplit(handler.path)
        if address.path.endswith(".css"):
            handler.answer(200, {"Content-Type": "text/css"}, [_BASE + _DARK if "base" in address.path else styles])
            return
        name = unquote(address.path.removeprefix("/document/"))
        view = view_of(name, read_request(dict(parse_qsl(address.query))))
        piece = render_view(view, lang, ViewAddresses(address.path, f"{origins.contents}/content/"))
        text = (
            f'<!doctype html><html lang="{lang}"><head><meta charset="utf-8"><title>{TITLE}</title>'
            '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
            '<link rel="stylesheet" href="/base.css"><link rel="stylesheet" href="/viewers.css"></head>'
            f"<body><main><h1>{TITLE}</h1>{piece}</main></body></html>"
        )
        headers = {"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy}
        handler.answer(200, headers, [text.encode()])

    def content(handler: _Handler) -> None:
        token = handler.path.removeprefix("/content/")
        request = ContentRequest("", origins.pages, handler.command, handler.headers.get("Range"))
        response = content_response(tickets, token, request)
        handler.answer(response.status, dict(response.headers), response.blocks or ())
        response.close()

    pages.RequestHandlerClass = type("Pages", (_Handler,), {"work": staticmethod(page)})
    contents.RequestHandlerClass = type("Contents", (_Handler,), {"work": staticmethod(content)})
    servers = [threading.Thread(target=server.serve_forever, args=(0.05,)) for server in (pages, contents)]
    for server in servers:
        server.start()
    try:
        yield origins
    finally:
        for listener in (pages, contents):
            listener.shutdown()
            listener.server_close()
        for server in servers:
            server.join()


class _Handler(BaseHTTPRequestHandler):
    work: Callable[[_Handler], None]

    def do_GET(self) -> None:
        self.work(self)

    def answer(self, status: int, headers: dict[str, str], blocks: object) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        try:
            for block in blocks:  # type: ignore[attr-defined]  # blocks of bytes
                self.wfile.write(block)
        except (BrokenPipeError, ConnectionResetError):
            return

    def log_message(self, *_: object) -> None:
        """Nothing."""
