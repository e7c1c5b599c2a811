"""What handlers get and give: a request that has passed the gate, and an answer that has not been sent yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from http.cookies import CookieError, SimpleCookie

HTML = "text/html; charset=utf-8"
TEXT = "text/plain; charset=utf-8"

Chunks = AbstractContextManager[Iterator[bytes]]


@dataclass(frozen=True, slots=True)
class Request:
    """One request: its method, path as it was sent, query and form; header names are in lower case.

    `query` has the first value of each name, `pairs` all. `uid` is the user at the other end, None where the system
    does not say.
    """

    method: str
    path: bytes
    query: Mapping[str, str]
    headers: Mapping[str, str]
    cookies: tuple[tuple[str, str], ...] = ()
    form: Mapping[str, str] = field(default_factory=dict)
    uid: int | None = None
    pairs: tuple[tuple[str, str], ...] = ()
    client: str = ""
    """The address that it came from."""

    def cookie(self, name: str) -> str:
        """The first cookie of that name, or nothing."""
        return next((value for each, value in self.cookies if each == name), "")


@dataclass(frozen=True, slots=True)
class Answer:
    """What is sent back: a body, or `chunks` that are opened when it is sent, and sent `every_s` seconds where they are
    news."""

    status: int = 200
    body: bytes = b""
    media_type: str = HTML
    headers: tuple[tuple[str, str], ...] = ()
    chunks: Chunks | None = None
    every_s: float = 0.0

    def with_headers(self, *pairs: tuple[str, str]) -> Answer:
        """The same with more headers."""
        return replace(self, headers=(*self.headers, *pairs))


def text_answer(status: int, text: str) -> Answer:
    """A short answer for programs, and for those who shall learn no more."""
    return Answer(status, f"{text}\n".encode(), TEXT)


def redirect(address: str) -> Answer:
    """Sends the browser on to another address of ours, to be fetched by GET."""
    return Answer(303, b"", TEXT, (("location", address),))


def read_cookies(header: str) -> tuple[tuple[str, str], ...]:
    """The cookies of a request; one that cannot be read is none."""
    pairs: list[tuple[str, str]] = []
    for part in header.split(";"):
        try:
            jar = SimpleCookie(part.strip())
        except CookieError:
            continue
        pairs.extend((name, morsel.value) for name, morsel in jar.items())
    return tuple(pairs)
