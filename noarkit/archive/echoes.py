"""Removes our secrets from the answers of an archive that refuses a call: some give back all they got."""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

HIDDEN = b"***"
_SHORTEST = 6


class EchoScrubber:
    """Hides secrets in answers, in every form in which they were sent. Safe for threads."""

    def __init__(self) -> None:
        self._known: tuple[bytes, ...] = ()
        self._lock = threading.Lock()

    def learn(self, secret: str, account: str = "") -> None:
        """A secret or token from now on, and the two together as an authorization. One too short to be told from a
        common word is not taken."""
        if len(secret) < _SHORTEST:
            return
        with self._lock:
            self._known = tuple(sorted({*self._known, *_forms(secret, account)}, key=len, reverse=True))

    def hide(self, answer: bytes) -> bytes:
        """The answer without any of them."""
        for secret in self._known:
            answer = answer.replace(secret, HIDDEN)
        return answer


def _forms(secret: str, account: str) -> Iterator[bytes]:
    for form in (secret, quote(secret, safe=""), quote_plus(secret), secret.replace("/", "\\/")):
        yield form.encode()
        pair = base64.b64encode(f"{account}:{form}".encode())
        yield from (pair, quote(pair, safe="").encode())
