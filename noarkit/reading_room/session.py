"""Who may look: the one-time link, the sessions that it opens, and what was unmasked for them.

Tokens are 256 random bits and are kept as hashes. A session belongs to the user of this machine who opened it, and
answers nobody else, cookie or not. Nothing of this outlives the process.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

_TOKEN_BYTES = 32
IDLE_S = 12 * 3600.0
GRANTED_S = 15 * 60.0


@dataclass(slots=True)
class Session:
    """A browser that was let in. `uid` is its user, None where the system does not say."""

    uid: int | None
    csrf: str
    last_seen: float = 0.0
    account: str = ""
    mark: str = ""
    """What the account was when it logged in; where it is another now, the session is over."""
    opened_until: dict[str, float] = field(default_factory=dict)
    """The screened documents that this browser may leaf through, and until when."""

    def may_leaf_through(self, ref: str) -> bool:
        """True for a screened document that was asked for with a reason a short while ago."""
        return self.opened_until.get(ref, 0.0) > self.last_seen

    def left_s(self, ref: str) -> float:
        """For how long a screened document may still be leafed through."""
        return max(self.opened_until.get(ref, 0.0) - self.last_seen, 0.0)

    def open(self, ref: str) -> None:
        """Lets a screened document be leafed through for a while, once the access log has it."""
        self.opened_until[ref] = self.last_seen + GRANTED_S


@dataclass(slots=True)
class Doorkeeper:
    """Gives out the one-time link and knows the sessions. The name of the cookie is this room's own."""

    clock: Callable[[], float]
    cookie_name: str = field(default_factory=lambda: f"noarkit-room-{secrets.token_hex(6)}")
    _link: str | None = None
    _sessions: dict[str, Session] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def new_link(self) -> str:
        """A token that opens the room once; the one before is worth nothing any more."""
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        with self._lock:
            self._link = _hash(token)
        return token

    def redeem(self, token: str, uid: int | None) -> str | None:
        """The cookie that a link is exchanged for; None for a link that was used, or never was one."""
        with self._lock:
            if self._link is None or not hmac.compare_digest(self._link, _hash(token)):
                return None
            self._link = None
        return self.admit(uid)

    def admit(self, uid: int | None, account: str = "", mark: str = "") -> str:
        """Opens a session and gives its cookie."""
        cookie = secrets.token_urlsafe(_TOKEN_BYTES)
        now = self.clock()
        with self._lock:
            for key in [key for key, session in self._sessions.items() if now - session.last_seen > IDLE_S]:
                del self._sessions[key]
            self._sessions[_hash(cookie)] = Session(uid, secrets.token_urlsafe(_TOKEN_BYTES), now, account, mark)
        return cookie

    def find(self, cookies: tuple[tuple[str, str], ...], uid: int | None) -> Session | None:
        """The session of whoever asks: by cookie, and only for the user that it belongs to."""
        now = self.clock()
        for name, value in cookies:
            session = self._sessions.get(_hash(value)) if name == self.cookie_name else None
            if session is not None and session.uid == uid and now - session.last_seen <= IDLE_S:
                session.last_seen = now
                return session
        return None

    def dismiss(self, session: Session) -> None:
        """Ends a session."""
        with self._lock:
            for key in [key for key, known in self._sessions.items() if known is session]:
                del self._sessions[key]


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
