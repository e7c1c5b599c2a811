"""Requests to a reading room as bytes on a socket: nothing tidies them up on the way."""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from lxml import html

from noarkit.reading_room.serve import OpenRoom
from tests.waiting import PATIENCE_S


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: status, headers in lower case (the last of each name), and the body."""

    status: int
    headers: Mapping[str, str]
    body: str
    cookies: tuple[str, ...] = ()

    @property
    def csrf(self) -> str:
        """The token that the forms of a page carry."""
        match = re.search(r'name="csrf" value="([^"]+)"', self.body)
        assert match is not None
        return match[1]


def send(url: str, request: bytes) -> Reply:
    """What the server of an address answers to some bytes; status 0 where it answers nothing."""
    where = urlsplit(url)
    assert where.hostname and where.port
    with socket.create_connection((where.hostname, where.port), PATIENCE_S) as connection:
        connection.sendall(request)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
            if _is_whole(answer):
                break
    return _read(answer)


def ask(
    url: str,
    path: str,
    *,
    method: str = "GET",
    host: str | None = None,
    cookie: str = "",
    form: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Reply:
    """One request, with a Host that fits unless another is named."""
    body = urlencode(form).encode() if form is not None else b""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host if host is not None else urlsplit(url).netloc}"]
    lines += [f"Cookie: {cookie}"] if cookie else []
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    if form is not None:
        lines += ["Content-Type: application/x-www-form-urlencoded", f"Content-Length: {len(body)}"]
    return send(url, "\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1") + body)


def enter(room: OpenRoom) -> str:
    """The cookie that the link of a room is exchanged for."""
    reply = ask(room.url, urlsplit(room.link).path)
    assert reply.status == 303, reply
    return reply.headers["set-cookie"].partition(";")[0]


def _is_whole(answer: bytes) -> bool:
    head, end, body = answer.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
    return bool(end) and length is not None and len(body) >= int(length[1])


def _read(answer: bytes) -> Reply:
    if not answer:
        return Reply(0, {}, "")
    head, _, body = answer.decode("utf-8", "replace").partition("\r\n\r\n")
    status, *lines = head.split("\r\n")
    pairs = [(name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    cookies = tuple(value for name, value in pairs if name == "set-cookie")
    return Reply(int(status.split()[1]), dict(pairs), body, cookies)


def nodes(page: html.HtmlElement, path: str, **names: str) -> list[html.HtmlElement]:
    """The elements of a page that an XPath names."""
    found = page.xpath(path, **names)
    assert isinstance(found, list)
    return [node for node in found if isinstance(node, html.HtmlElement)]
