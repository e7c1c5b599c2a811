"""The gate: what a request must be before any page hears of it.

A browser is led to us by any page it has open. So the Host must be exactly ours (no name that an attacker lets point
here), nothing comes from another site or into a frame, and what changes anything is a POST of our own form.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable
from dataclasses import dataclass

from noarkit.reading_room.web import Answer, Request, text_answer

METHODS = ("GET", "HEAD", "POST")
_MOST_QUERY = 4_096
_MOST_PATH = 8_192
_PLAIN_PATH = re.compile(rb"/[A-Za-z0-9%._~!$&'()*+,;=:@/-]*")
_FRAMES = frozenset({"iframe", "frame", "embed", "object", "fencedframe"})


@dataclass(frozen=True, slots=True)
class Gate:
    """The checks of one origin. `host` is the only one it answers to, or what says of each whether it does.

    `from_siblings` is True for the origin of contents: pages of ours, which have another port, lead there.
    """

    host: str | Callable[[str], bool]
    from_siblings: bool = False
    scheme: str = "http"

    def refusal(self, request: Request, query: bytes, *, may_come_from_outside: bool = False) -> Answer | None:
        """What a request gets that must not come in; None for one that may."""
        if not self._is_served(request.headers.get("host", "")):
            return text_answer(421, "This address is not served here.")
        if request.method not in METHODS:
            return text_answer(405, "Method not allowed.").with_headers(("allow", ", ".join(METHODS)))
        if len(request.path) > _MOST_PATH or len(query) > _MOST_QUERY:
            return text_answer(414, "The address is too long.")
        if not _is_plain(request.path):
            return text_answer(400, "This is no address of ours.")
        if request.headers.get("sec-fetch-dest", "") in _FRAMES and not self.from_siblings:
            return text_answer(403, "No page of ours is shown in a frame.")
        allowed = {"", "none", "same-origin", *(("same-site",) if self.from_siblings else ())}
        if request.headers.get("sec-fetch-site", "") not in allowed and not may_come_from_outside:
            return text_answer(403, "No other site may lead here. Open the address from the address bar.")
        origin = request.headers.get("origin")
        if request.method == "POST" and origin is not None and origin != self._origin(request):
            return text_answer(403, "This form is not ours.")
        return None

    def _is_served(self, host: str) -> bool:
        return host == self.host if isinstance(self.host, str) else self.host(host)

    def _origin(self, request: Request) -> str:
        return f"{self.scheme}://{request.headers.get('host', '')}"


def is_our_form(request: Request, csrf: str) -> bool:
    """True if a form brings back the token that we put into it."""
    return bool(csrf) and hmac.compare_digest(request.form.get("csrf", "").encode(), csrf.encode())


def _is_plain(path: bytes) -> bool:
    """True for a path that is written as ours are: no empty or dotted steps, no backslashes, whole escapes."""
    if _PLAIN_PATH.fullmatch(path) is None or b"//" in path:
        return False
    if re.search(rb"%(?![0-9A-Fa-f]{2})", path) or b"%00" in path:
        return False
    return not any(step in (b".", b"..") for step in path.split(b"/"))
