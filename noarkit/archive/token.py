"""The token of a session: fetched with client credentials, shared by all threads, renewed a minute early.

However many threads need a new token at once, one of them fetches it and all share what it got, a refusal too.
"""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote_plus, urlencode

from noarkit.archive.answers import CallContext, require_object
from noarkit.errors import ArchiveAway, ArchiveStrange, NoarkitError
from noarkit.secrets import Secret

_EARLY_S = 60.0
_AGAIN_AFTER_S = 5.0
_UNTOLD_LIFETIME_S = 3600.0

TokenStyle = Literal["body", "basic"]


@dataclass(frozen=True, slots=True)
class Credentials:
    """The client credentials for the token service, and the style in which it takes them."""

    client_id: str
    secret: Secret
    style: TokenStyle = "body"
    scope: str = "openid"


@dataclass(frozen=True, slots=True)
class Grant:
    """A token and how long it is good for."""

    access_token: str
    lifetime_s: float


class Tokens:
    """The current token, as the value of an Authorization header. Safe for threads."""

    def __init__(self, fetch: Callable[[], Grant], clock: Callable[[], float]) -> None:
        self._fetch = fetch
        self._clock = clock
        self._lock = threading.Lock()
        self._kept_token: _KeptToken | None = None
        self._flight: Future[_KeptToken] | None = None

    def current(self) -> bytes:
        """A token that should be good. Raises what fetching it raises."""
        token = self._kept_token
        if token is not None and self._clock() < token.renew_at_s:
            return token.header
        return self._renewed(token)

    def after_refusal(self, refused_header: bytes) -> bytes:
        """Another token than the one that was refused; the one that is there already, where another thread got it."""
        token = self._kept_token
        return token.header if token is not None and token.header != refused_header else self._renewed(token)

    def _renewed(self, stale: _KeptToken | None) -> bytes:
        with self._lock:
            if self._kept_token is not stale and self._kept_token is not None:
                return self._kept_token.header
            flight, leads = self._flight, self._flight is None
            if flight is None:
                flight = self._flight = Future()
        if not leads:
            return _await_token(flight)
        return self._fetch_once(flight, stale)

    def _fetch_once(self, flight: Future[_KeptToken], stale: _KeptToken | None) -> bytes:
        try:
            token = self._kept_or_new(stale)
        except BaseException as fault:
            with self._lock:
                self._flight = None
            flight.set_exception(fault)
            raise
        with self._lock:
            self._kept_token, self._flight = token, None
        flight.set_result(token)
        return token.header

    def _kept_or_new(self, stale: _KeptToken | None) -> _KeptToken:
        try:
            grant = self._fetch()
        except ArchiveAway:
            now_s = self._clock()
            if stale is None or not stale.renew_at_s <= now_s < stale.ends_at_s:
                raise
            # still good for a while: the next call but few asks again
            return _KeptToken(stale.header, min(now_s + _AGAIN_AFTER_S, stale.ends_at_s), stale.ends_at_s)
        now_s = self._clock()
        early_s = min(_EARLY_S, grant.lifetime_s / 2)
        header = b"Bearer " + grant.access_token.encode("ascii")
        return _KeptToken(header, now_s + grant.lifetime_s - early_s, now_s + grant.lifetime_s)


def request_form(credentials: Credentials) -> tuple[bytes, dict[str, str]]:
    """Body and headers of a token request."""
    form = {"grant_type": "client_credentials"}
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    if credentials.style == "basic":
        pair = f"{quote_plus(credentials.client_id)}:{quote_plus(credentials.secret.reveal())}"
        headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode("ascii")
    else:
        form |= {"client_id": credentials.client_id, "client_secret": credentials.secret.reveal()}
    if credentials.scope:
        form["scope"] = credentials.scope
    return urlencode(form).encode("ascii"), headers


def grant_of(answer: object, context: CallContext) -> Grant:
    """The grant in a token answer. Raises `ArchiveStrange`."""
    members = require_object(answer, context)
    token = members.get("access_token")
    if not isinstance(token, str) or not token or not token.isascii() or not token.isprintable() or " " in token:
        raise ArchiveStrange(call=context.call, why="no-token")
    return Grant(token, _lifetime_s(members))


def _lifetime_s(members: Mapping[str, object]) -> float:
    expires_in = members.get("expires_in")
    try:
        return max(0.0, float(expires_in)) if isinstance(expires_in, int | float | str) else _UNTOLD_LIFETIME_S
    except ValueError:
        return _UNTOLD_LIFETIME_S


def _await_token(flight: Future[_KeptToken]) -> bytes:
    try:
        return flight.result().header
    except NoarkitError as fault:
        # each thread raises its own, so that none grows another's traceback
        raise type(fault)(**fault.data) from fault


@dataclass(frozen=True, slots=True)
class _KeptToken:
    header: bytes
    renew_at_s: float
    ends_at_s: float
