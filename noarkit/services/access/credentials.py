"""Credentials for requests: a fixed API key, or a token that is renewed once for all threads and processes that use
it."""

from __future__ import annotations

import base64
import hashlib
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from noarkit.errors import ConsentNeeded, ServiceAway, ServiceBroken
from noarkit.secrets import Secret
from noarkit.services.access.grant_store import Grant, GrantStore
from noarkit.services.scrub import Scrubber


@dataclass(frozen=True, slots=True)
class Style:
    """The header a token is sent in: `Authorization: Bearer …`, unless the service uses another prefix or header."""

    prefix: str = "Bearer"
    header: str = "Authorization"

    def headers(self, token: str) -> dict[str, str]:
        """Builds the header with the token."""
        return {self.header: f"{self.prefix} {token}".strip()}


class KeyCredential:
    """A fixed API key: in a header of its own, or as the user name of Basic authentication with an empty password."""

    def __init__(self, key: Secret, scrubber: Scrubber, style: Style, *, basic: bool = False) -> None:
        value = key.reveal()
        scrubber.learn(value)
        if basic:
            pair = base64.b64encode(f"{value}:".encode()).decode("ascii")
            scrubber.learn(pair)
            self._headers = Style("Basic", style.header).headers(pair)
        else:
            self._headers = style.headers(value)

    def headers(self) -> Mapping[str, str]:
        """Returns the header with the key."""
        return self._headers

    def after_refusal(self, refused_headers: Mapping[str, str]) -> Mapping[str, str] | None:
        """Returns None: there is no other key."""
        return None


@dataclass(frozen=True, slots=True)
class Renewal:
    """How a new grant is requested. `renew` gets the last grant, or None at first. Raises a ServiceFault.

    `origin` identifies the configuration: a stored grant from another configuration is not used.
    """

    renew: Callable[[Grant | None], Grant]
    now_s: Callable[[], float]
    origin: str = ""


class TokenCredential:
    """The current token of a connection. Safe for threads, and for processes that share its grant store."""

    def __init__(self, renewal: Renewal, keep: GrantStore | None, scrubber: Scrubber, style: Style) -> None:
        self._renewal = renewal
        self._keep = keep
        self._scrubber = scrubber
        self._style = style
        self._lock = threading.Lock()
        self._current: Grant | None = None

    def with_style(self, style: Style) -> TokenCredential:
        """Returns the same credential with another header or prefix."""
        return TokenCredential(self._renewal, self._keep, self._scrubber, style)

    def headers(self) -> Mapping[str, str]:
        """Returns the header with a valid token."""
        return self._style.headers(self.grant().access_token)

    def grant(self) -> Grant:
        """Returns the current grant, renewed a minute before its end."""
        current = self._current
        if current is not None and self._is_good(current):
            return current
        return self._renew("")

    def after_refusal(self, refused_headers: Mapping[str, str]) -> Mapping[str, str] | None:
        """Returns another token than the refused one: the one another process fetched meanwhile, or a new one."""
        refused_value = refused_headers.get(self._style.header, "")
        token = refused_value.removeprefix(self._style.prefix).strip()
        return self._style.headers(self._renew(token).access_token)

    def _renew(self, refused_token: str) -> Grant:
        with self._lock:
            current = self._current
            if current is not None and current.access_token != refused_token and self._is_good(current):
                return current
            if self._keep is None:
                self._current = self._request_grant(current)
                return self._current
            with self._keep.locked():
                saved_grant = self._keep.read()
                if saved_grant is not None and saved_grant.origin != self._renewal.origin:
                    saved_grant = None
                if saved_grant is not None and saved_grant.access_token != refused_token and self._is_good(saved_grant):
                    self._scrubber.learn(saved_grant.access_token, saved_grant.refresh_token)
                    self._current = saved_grant
                    return saved_grant
                if saved_grant is not None:
                    # a pair that rotates is used up by the answer: that the next can be kept is proven before it is
                    # asked for
                    self._keep.save(saved_grant)
                grant = self._request_grant(saved_grant or current)
                self._keep.save(grant)
            self._current = grant
            return grant

    def _request_grant(self, last: Grant | None) -> Grant:
        if last is not None:
            self._scrubber.learn(last.access_token, last.refresh_token)
        try:
            grant = self._renewal.renew(last)
        except (ServiceAway, ServiceBroken):
            if last is None or last.ends_at_s <= self._renewal.now_s():
                raise
            return last  # it is good for some moments yet
        self._scrubber.learn(grant.access_token, grant.refresh_token)
        return replace(grant, origin=self._renewal.origin)

    def _is_good(self, grant: Grant) -> bool:
        return grant.renew_at_s > self._renewal.now_s()


def origin_of(*configured: Secret | str | None) -> str:
    """Hashes a configuration, to tell whether a grant belongs to it; nothing of it can be read from the hash."""
    text = "\n".join(part.reveal() if isinstance(part, Secret) else part or "" for part in configured)
    return hashlib.sha256(text.encode()).hexdigest()


def make_refresher(
    refresh: Callable[[str], Grant], first: Secret | None, location: str
) -> Callable[[Grant | None], Grant]:
    """Returns a function that renews by the refresh token stored last, or else by the configured one.

    The renewal raises `ConsentNeeded` if there is none.
    """

    def renew(last: Grant | None) -> Grant:
        token = (last.refresh_token if last is not None else "") or (first.reveal() if first is not None else "")
        if not token:
            raise ConsentNeeded(where=location, why="no-consent")
        return refresh(token)

    return renew
