"""What a file is, by its first bytes: the media type, with a rule for mail that the signatures miss."""

from __future__ import annotations

import importlib
import re
import sys
import threading
from contextlib import suppress
from typing import Any, Protocol

from noarkit.documents.signatures import SignatureTable
from noarkit.events import Event, Listener

FEW_TYPES = "few-media-types"
HEAD_BYTES = 4096
MAIL = "message/rfc822"
MAIL_FILES = frozenset({"eml", "msg"})
SAVED_PAGES = frozenset({"mht", "mhtml"})

_HEADER_LINE = re.compile(rb"[!-9;-~]{1,76}:[ \t\r\n]")
_MAIL_HEADER = re.compile(rb"^(?:from|to|cc|date|subject|message-id|received|return-path|mime-version):", re.I | re.M)
_FROM_LINE = re.compile(rb"From [^\n]{0,500}\d\d:\d\d[^\n]{0,200}\d{4}[^\n]{0,40}\n[!-9;-~]{1,76}:")
_MAIL_EXTENSIONS = SAVED_PAGES | {"eml"}


class _Handle(Protocol):
    def from_buffer(self, buffer: bytes, /) -> str: ...


def knows_few_types() -> bool:
    """True where the system has no libmagic and nothing brings one, so that our own small table tells media types."""
    return isinstance(_signatures(), SignatureTable)


def emit_few_types(emit: Listener) -> None:
    """Remarks it, once for a source, where our own small table tells media types. Windows has no libmagic by itself,
    and the manual says what that means."""
    if sys.platform != "win32" and knows_few_types():
        emit(Event("remark", {"stream": "files", "why": FEW_TYPES}))


class MediaTypes:
    """Tells media types. Each thread that asks gets a signature handle of its own, since one cannot be shared."""

    def __init__(self) -> None:
        self._own = threading.local()

    def of(self, head: bytes, ext: str) -> str:
        """The media type of a file that begins with `head` and whose name ends with `ext`."""
        media_type = self._handle().from_buffer(head)
        if media_type != MAIL and media_type.startswith("text/") and looks_like_mail(head, ext):
            return MAIL
        return media_type

    def _handle(self) -> _Handle:
        handle: _Handle | None = getattr(self._own, "handle", None)
        if handle is None:
            handle = self._own.handle = _signatures()
        return handle


def looks_like_mail(head: bytes, ext: str) -> bool:
    """True for a mail by its header lines: one known is enough where the name says so too, else three are wanted."""
    if _HEADER_LINE.match(head) is None:
        return False
    top = head.replace(b"\r\n", b"\n").partition(b"\n\n")[0]
    header_names = {match[0].lower() for match in _MAIL_HEADER.finditer(top)}
    return len(header_names) >= (1 if ext in _MAIL_EXTENSIONS else 3)


def looks_like_mailbox(head: bytes) -> bool:
    """True if the bytes begin as a mailbox does: a dated `From ` line, then a header."""
    return _FROM_LINE.match(head.replace(b"\r\n", b"\n")) is not None


def _signatures() -> _Handle:
    """libmagic's own, those of the package that brings it, or where it runs on no such system (Windows) ours."""
    with suppress(ImportError):
        return _libmagic()
    # only where the system has no libmagic: its presence would point a system's own at signatures of another age
    with suppress(ImportError):
        importlib.import_module("pylibmagic")
        return _libmagic()
    return SignatureTable()


def _libmagic() -> _Handle:
    library: Any = importlib.import_module("magic")  # Any: it tells no types
    handle: _Handle = library.Magic(mime=True)
    return handle
