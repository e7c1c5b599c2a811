"""Scrubs texts of a service for display: short, on one line, and without our secrets, even if it echoes one."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from urllib.parse import quote, quote_plus

HIDDEN = "***"
MAX_LENGTH = 300
_SHORTEST = 6
_LOOKS_SECRET = re.compile(
    r"(?i)\b(?:bearer|basic|[a-z]+-oauthtoken)\s+[A-Za-z0-9._~+/=-]{8,}|whsec_[A-Za-z0-9+/=]+|"
    r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?"
)


class Scrubber:
    """Knows every secret that a connection used, and removes them from texts. Safe for threads."""

    def __init__(self) -> None:
        self._secrets: tuple[str, ...] = ()
        self._lock = threading.Lock()

    def learn(self, *secrets: str) -> None:
        """Adds secrets. One too short to be told from a common word is ignored."""
        spelt = {
            form
            for secret in secrets
            if len(secret) >= _SHORTEST
            for form in (secret, quote(secret, safe=""), quote_plus(secret), secret.replace("/", "\\/"))
        }
        with self._lock:
            self._secrets = tuple(sorted({*self._secrets, *spelt}, key=len, reverse=True))

    def hide(self, text: str) -> str:
        """Hides all known secrets in a text."""
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        return _LOOKS_SECRET.sub(HIDDEN, text)

    def hide_in(self, value: object) -> object:
        """Hides all known secrets in a JSON value, at any depth."""
        if isinstance(value, str):
            return self.hide(value)
        if isinstance(value, Mapping):
            return {self.hide(str(name)): self.hide_in(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [self.hide_in(inner) for inner in value]
        return value

    def clean(self, text: str) -> str:
        """Hides secrets and shortens the text to one readable line."""
        text = self.hide(text)
        line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
        return line if len(line) <= MAX_LENGTH else line[: MAX_LENGTH - 1] + "…"

    def has_secret(self, text: str) -> bool:
        """True if the text holds a known secret."""
        return any(secret in text for secret in self._secrets)
