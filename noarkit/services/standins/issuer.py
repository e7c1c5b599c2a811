"""An OAuth token service: authorisation codes with PKCE, refresh tokens that stay or rotate, expiry, and quotas."""

from __future__ import annotations

import base64
import hashlib
import secrets
import threading
import time
from dataclasses import dataclass, field


@dataclass(slots=True)
class TokenPolicy:
    """The policy of the token service."""

    client_id: str
    client_secret: str
    lifetime_s: float = 3_600.0
    rotates: bool = False
    most_live: int = 15
    needs_pkce: bool = False
    has_jwt_tokens: bool = False
    refreshes_in_ten_minutes: int = 10_000


@dataclass(slots=True)
class _Code:
    redirect_url: str
    challenge: str
    ends: float


class TokenRefusal(Exception):
    """An error of the token service."""

    def __init__(self, error: str, description: str = "", status: int = 400) -> None:
        super().__init__(error)
        self.error = error
        self.description = description
        self.status = status


@dataclass(slots=True)
class Issuer:
    """The tokens of one tenant. Safe for threads."""

    policy: TokenPolicy
    refresh_tokens: set[str] = field(default_factory=set)
    clients: set[str] = field(default_factory=set)  # those that registered themselves
    _codes: dict[str, _Code] = field(default_factory=dict)
    _live: dict[str, float] = field(default_factory=dict)
    _spent_tokens: set[str] = field(default_factory=set)
    _refreshed_at: dict[str, list[float]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    exchanges: int = 0

    def first_refresh_token(self) -> str:
        """Issues a refresh token, as a consent does."""
        token = f"1000.{secrets.token_hex(16)}.{secrets.token_hex(16)}"
        with self._lock:
            self.refresh_tokens.add(token)
        return token

    def code(self, client_id: str, redirect_url: str, challenge: str) -> str:
        """Issues a code for a person's consent, valid for three minutes and one use. Raises `TokenRefusal`."""
        if client_id != self.policy.client_id and client_id not in self.clients:
            raise TokenRefusal("invalid_client")
        if self.policy.needs_pkce and not challenge:
            raise TokenRefusal("invalid_request", "code_challenge is required")
        code = secrets.token_urlsafe(24)
        with self._lock:
            self._codes[code] = _Code(redirect_url, challenge, time.monotonic() + 180)
        return code

    def exchange(self, code: str, redirect_url: str, verifier: str) -> dict[str, object]:
        """Exchanges a code for tokens. Raises `TokenRefusal`."""
        with self._lock:
            issued_code = self._codes.pop(code, None)
        if issued_code is None or issued_code.ends < time.monotonic() or issued_code.redirect_url != redirect_url:
            raise TokenRefusal("invalid_code" if not self.policy.rotates else "invalid_grant")
        if issued_code.challenge:
            digest = hashlib.sha256(verifier.encode()).digest()
            if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != issued_code.challenge:
                raise TokenRefusal("invalid_grant", "code_verifier does not fit")
        return {**self._access(), "refresh_token": self.first_refresh_token()}

    def refresh(self, token: str) -> dict[str, object]:
        """Issues a new access token, and, if tokens rotate, a new refresh token. Raises `TokenRefusal`."""
        now = time.monotonic()
        with self._lock:
            if token in self._spent_tokens:
                self.refresh_tokens.clear()  # a token used twice may have been stolen: all of them die
            if token not in self.refresh_tokens:
                raise TokenRefusal("invalid_grant" if self.policy.rotates else "invalid_code")
            lately = [at for at in self._refreshed_at.get(token, ()) if at > now - 600]
            if len(lately) >= self.policy.refreshes_in_ten_minutes:
                raise TokenRefusal(
                    "Access Denied", "You have made too many requests continuously. Please try again later."
                )
            self._refreshed_at[token] = [*lately, now]
            if self.policy.rotates:
                self.refresh_tokens.discard(token)
                self._spent_tokens.add(token)
        more = {"refresh_token": self.first_refresh_token()} if self.policy.rotates else {}
        return {**self._access(), **more}

    def client_credentials(self, client_id: str, secret: str) -> dict[str, object]:
        """Issues an access token for a client itself. Raises `TokenRefusal`."""
        self.check_client(client_id, secret)
        return self._access()

    def check_client(self, client_id: str, secret: str) -> None:
        """Checks a client's credentials. Raises `TokenRefusal`."""
        if client_id != self.policy.client_id or not secrets.compare_digest(secret, self.policy.client_secret):
            raise TokenRefusal("invalid_client", status=401)

    def is_good(self, token: str) -> bool:
        """True for a valid access token."""
        with self._lock:
            return self._live.get(token, 0.0) > time.monotonic()

    def expire(self) -> None:
        """Ends every access token now."""
        with self._lock:
            self._live.clear()

    def revoke(self, token: str) -> bool:
        """Revokes a refresh token; False if it was unknown."""
        with self._lock:
            was = token in self.refresh_tokens
            self.refresh_tokens.discard(token)
            return was

    def _access(self) -> dict[str, object]:
        token = f"1000.{secrets.token_hex(16)}.{secrets.token_hex(16)}"
        if self.policy.has_jwt_tokens:  # looks like a JWT; its content is opaque to clients
            token = f"eyJhbGciOiJSUzI1NiJ9.{secrets.token_urlsafe(48)}.{secrets.token_urlsafe(64)}"
        with self._lock:
            self.exchanges += 1
            while len(self._live) >= self.policy.most_live:
                self._live.pop(next(iter(self._live)))
            self._live[token] = time.monotonic() + self.policy.lifetime_s
        return {"access_token": token, "token_type": "Bearer", "expires_in": int(self.policy.lifetime_s)}
