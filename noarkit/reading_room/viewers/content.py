"""The raw bytes of documents from an origin of their own, under tokens that nobody can guess.

A token is good for one session and for some time, and names bytes that were laid out for it. Whatever the bytes are,
the headers let no script run and no other page take them: a strict policy, no sniffing, no storing, no referrer. Only
what a browser draws or plays by itself goes out under its own type; all else is an attachment of no type.
"""

from __future__ import annotations

import os
import re
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hmac import compare_digest
from pathlib import Path
from urllib.parse import quote

from noarkit.documents.detect import LONG_HEAD_BYTES
from noarkit.reading_room.viewers.detection import detect
from noarkit.reading_room.viewers.workroom import open_plain
from noarkit.safe.descriptors import read_at

LIFETIME_S = 3600.0
_MOST_TOKENS = 20_000
_BLOCK_BYTES = 256 * 1024
RAW_FORMATS: Mapping[str, str] = {
    "pdf": "application/pdf",
    "png": "image/png",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "mp3": "audio/mpeg",
    "wav": "audio/wav",
    "flac": "audio/flac",
    "ogg": "audio/ogg",
    "m4a": "audio/mp4",
    "mp4": "video/mp4",
    "webm": "video/webm",
}
"""What goes out under its own type, by our name of the format."""
_ANY_TYPE = "application/octet-stream"
_RANGE = re.compile(r"bytes=(\d{0,19})-(\d{0,19})\Z")
_NO_NAME = re.compile('[\x00-\x1f\x7f-\x9f/\\\\:*?"<>|\u200b-\u200f\u202a-\u202e\u2060-\u206f\ud800-\udfff\ufeff]+')
_SANDBOX = "sandbox; default-src 'none'; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True, slots=True)
class ContentFile:
    """Bytes to be handed out: where they lie, what they are called, and whether the browser may draw or play them."""

    path: Path
    name: str = ""
    is_download: bool = False


@dataclass(frozen=True, slots=True)
class _Ticket:
    file: ContentFile
    session: str
    until_s: float


@dataclass(frozen=True, slots=True)
class ContentRequest:
    """A request for bytes: by whom, with which method, which range of them; and the origin of the pages that may frame
    them."""

    session: str
    room_origin: str
    method: str = "GET"
    requested_range: str | None = None


@dataclass(frozen=True, slots=True)
class ContentResponse:
    """An answer: its status, all its headers, and its bytes in blocks, of which there may be none."""

    status: int
    headers: Mapping[str, str]
    blocks: _Blocks | None = None

    def close(self) -> None:
        """Lets the bytes go, read to their end or not."""
        if self.blocks is not None:
            self.blocks.close()

    def body(self) -> bytes:
        """All bytes at once, and lets them go."""
        try:
            return b"".join(self.blocks or ())
        finally:
            self.close()


class _Blocks:
    """A stretch of an open file in blocks."""

    def __init__(self, descriptor: int, first: int, length: int) -> None:
        self._descriptor = descriptor
        self._at = first
        self._left = length

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        block = read_at(self._descriptor, min(_BLOCK_BYTES, self._left), self._at) if self._left else b""
        if not block:
            self.close()
            raise StopIteration
        self._at += len(block)
        self._left -= len(block)
        return block

    def close(self) -> None:
        """Closes the file."""
        descriptor, self._descriptor, self._left = self._descriptor, -1, 0
        if descriptor >= 0:
            os.close(descriptor)


class Tickets:
    """Tokens and what they stand for. Serves many threads."""

    def __init__(self, lifetime_s: float = LIFETIME_S) -> None:
        self._lifetime_s = lifetime_s
        self._tickets: OrderedDict[str, _Ticket] = OrderedDict()
        self._lock = threading.Lock()

    def issue(self, file: ContentFile, session: str, lifetime_s: float | None = None) -> str:
        """A new token for a file, good for one session, and at the longest for `lifetime_s`."""
        token = secrets.token_urlsafe(32)
        good_for_s = self._lifetime_s if lifetime_s is None else min(lifetime_s, self._lifetime_s)
        with self._lock:
            self._tickets[token] = _Ticket(file, session, time.monotonic() + good_for_s)
            while len(self._tickets) > _MOST_TOKENS:
                self._tickets.popitem(last=False)
        return token

    def redeem(self, token: str, session: str) -> ContentFile | None:
        """The file that a token stands for in a session; None for any other token, and for one that is too old."""
        with self._lock:
            ticket = self._tickets.get(token)
            if ticket is not None and ticket.until_s < time.monotonic():
                del self._tickets[token]
                ticket = None
        if ticket is None or not compare_digest(ticket.session.encode(), session.encode()):
            return None
        return ticket.file


def content_response(tickets: Tickets, token: str, request: ContentRequest) -> ContentResponse:
    """The answer to a request for `/content/TOKEN`: the bytes, a range of them, or 404.

    Only GET and HEAD are answered. Whoever sends the answer closes it.
    """
    origin = request.room_origin
    if request.method not in ("GET", "HEAD"):
        return ContentResponse(405, {**_headers(_SANDBOX, origin), "Allow": "GET, HEAD"})
    file = tickets.redeem(token, request.session)
    try:
        descriptor = -1 if file is None else open_plain(file.path)
    except OSError:
        descriptor = -1
    if file is None or descriptor < 0:
        return ContentResponse(404, _headers(_SANDBOX, origin))
    size = os.fstat(descriptor).st_size
    headers = _headers_of(file, detect(read_at(descriptor, LONG_HEAD_BYTES, 0)).format, origin)
    span = _span(request.requested_range, size)
    if span is None:
        os.close(descriptor)
        return ContentResponse(416, {**headers, "Content-Range": f"bytes */{size}", "Content-Length": "0"})
    first, length = span
    headers |= {"Content-Length": str(length), "Accept-Ranges": "bytes"}
    if length != size:
        headers["Content-Range"] = f"bytes {first}-{first + length - 1}/{size}"
    status = 206 if length != size else 200
    if request.method == "HEAD":
        os.close(descriptor)
        return ContentResponse(status, headers)
    return ContentResponse(status, headers, _Blocks(descriptor, first, length))


def attachment_header(name: str) -> str:
    """`Content-Disposition` for a document that is saved: its name without what a system or a reader stumbles over."""
    plain = _NO_NAME.sub("_", name).strip(" ._")[:150] or "document"
    simple = re.sub(r"[^A-Za-z0-9 ._()+-]", "_", plain)
    return f"attachment; filename=\"{simple}\"; filename*=UTF-8''{quote(plain, safe='')}"


def _headers_of(file: ContentFile, format_name: str, room_origin: str) -> dict[str, str]:
    media_type = None if file.is_download else RAW_FORMATS.get(format_name)
    if media_type is None:
        headers = _headers(_SANDBOX, room_origin)
        return {**headers, "Content-Type": _ANY_TYPE, "Content-Disposition": attachment_header(file.name)}
    headers = _headers(_SANDBOX, room_origin)
    if media_type != "application/pdf":
        # for elements of a page: Chromium holds no two ports of an address without a name for one site
        headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return {**headers, "Content-Type": media_type, "Content-Disposition": "inline"}


def _headers(policy: str, room_origin: str) -> dict[str, str]:
    return {
        "Content-Security-Policy": f"{policy}; frame-ancestors {room_origin}",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
        "Cross-Origin-Resource-Policy": "same-site",
        "Referrer-Policy": "no-referrer",
        "X-Robots-Tag": "noindex",
        "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    }


def _span(requested: str | None, size: int) -> tuple[int, int] | None:
    """First byte and number of bytes that are asked for; all of them where the request makes no sense, as HTTP has it;
    None where it lies beyond the end."""
    match = _RANGE.match(requested or "")
    if match is None or match[0] == "bytes=-":
        return 0, size
    if not match[1]:
        length = min(int(match[2]), size)
        return (size - length, length) if length else None
    first = int(match[1])
    last = min(int(match[2]), size - 1) if match[2] else size - 1
    if match[2] and int(match[2]) < first:
        return 0, size
    return (first, last - first + 1) if first < size else None
