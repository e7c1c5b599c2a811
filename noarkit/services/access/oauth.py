"""An OAuth 2 token service: exchanges codes, refresh tokens and client credentials for grants, and maps refusals to
faults.

Success is a token in the answer, not the status: some services refuse with 200. Secrets go in the body or in a header,
never in an address.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import quote_plus, urlencode

from noarkit.errors import ConsentNeeded, ServiceBroken, ServiceBusy, ServiceDenied, ServiceFault, ServiceStrange
from noarkit.secrets import Secret
from noarkit.services.access.grant_store import Grant
from noarkit.services.wire import Answer, Request, Wire

SecretPlacement = Literal["body", "basic", "none"]
_UNTOLD_LIFETIME_S = 3_600.0
_LONGEST_S = 86_400
_EARLY_S = 60.0
_THROTTLE_WORDS = ("too many requests", "access denied", "slow_down", "too_many_requests")
_THROTTLE_WAIT_S = 60.0
_USED_UP_ERRORS = frozenset({"invalid_grant", "invalid_code", "invalid_token", "expired_token"})


@dataclass(frozen=True, slots=True)
class ClientRegistration:
    """This program's client registration, and where its secret goes. `lifetime_s` is the lifetime of a token if the
    service does not tell; `more` is added to every token request."""

    token_url: str
    client_id: str
    secret: Secret | None = None
    placement: SecretPlacement = "body"
    lifetime_s: float = _UNTOLD_LIFETIME_S
    more: tuple[tuple[str, str], ...] = ()


class TokenService:
    """Requests grants. Nothing is retried here: a code or a refresh token may be valid only once."""

    def __init__(self, wire: Wire, registration: ClientRegistration, now_s: Callable[[], float]) -> None:
        self._wire = wire
        self._registered = registration
        self._now_s = now_s

    def refresh(self, refresh_token: str) -> Grant:
        """Requests a new token by a refresh token. The grant holds the refresh token to use from now on."""
        grant = self._ask({"grant_type": "refresh_token", "refresh_token": refresh_token})
        return grant if grant.refresh_token else replace(grant, refresh_token=refresh_token)

    def exchange(self, code: str, redirect_url: str, verifier: str) -> Grant:
        """Exchanges the code of a consent for a grant."""
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": redirect_url}
        return self._ask(form | ({"code_verifier": verifier} if verifier else {}))

    def client_credentials(self, scope: str = "") -> Grant:
        """Requests a token for the program itself."""
        return self._ask({"grant_type": "client_credentials"} | ({"scope": scope} if scope else {}))

    def _ask(self, form: Mapping[str, str]) -> Grant:
        fields, headers = {**form, **dict(self._registered.more)}, {"Accept": "application/json"}
        registration = self._registered
        secret = registration.secret.reveal() if registration.secret is not None else ""
        self._wire.scrubber.learn(secret, *(form.get(name, "") for name in ("refresh_token", "code", "code_verifier")))
        if registration.placement == "basic":
            pair = base64.b64encode(f"{quote_plus(registration.client_id)}:{quote_plus(secret)}".encode()).decode(
                "ascii"
            )
            self._wire.scrubber.learn(pair)
            headers["Authorization"] = f"Basic {pair}"
        else:
            fields["client_id"] = registration.client_id
            if secret and registration.placement == "body":
                fields["client_secret"] = secret
        body = urlencode(fields).encode("ascii")
        request = Request("POST", registration.token_url, (), headers, body, "application/x-www-form-urlencoded")
        return self._grant(self._wire.send(request))

    def _grant(self, answer: Answer) -> Grant:
        members = _members(answer)
        token = members.get("access_token")
        if not isinstance(token, str) or not token:
            raise self._refusal(answer, members)
        if not token.isascii() or not token.isprintable() or " " in token:
            raise ServiceStrange(where=answer.label, why="no-token")
        now_s, lifetime_s = self._now_s(), _lifetime_s(members, self._registered.lifetime_s)
        grant = Grant(
            token,
            now_s + lifetime_s,
            now_s + lifetime_s - min(_EARLY_S, lifetime_s / 2),
            _text(members.get("refresh_token")),
            _text(members.get("api_domain")),
            _text(members.get("scope")),
        )
        self._wire.scrubber.learn(grant.access_token, grant.refresh_token)
        return grant

    def _refusal(self, answer: Answer, members: Mapping[str, object]) -> ServiceFault:
        error = _text(members.get("error"))
        message = f"{error} {_text(members.get('error_description'))} {_text(members.get('message'))}".strip()
        if answer.status == 429 or any(word in message.casefold() for word in _THROTTLE_WORDS):
            wait_s = answer.retry_after_s(self._now_s())
            return ServiceBusy(where=answer.label, retry_after_s=_THROTTLE_WAIT_S if wait_s is None else wait_s)
        if answer.status >= 500:
            return ServiceBroken(where=answer.label, status=answer.status)
        reason = self._wire.scrubber.clean(message) or f"HTTP {answer.status}"
        if error in _USED_UP_ERRORS:
            return ConsentNeeded(where=answer.label, why=reason)
        reason = "no-such-tenant" if answer.status == 404 else reason
        return ServiceDenied(where=answer.label, status=answer.status, why=reason)


def _members(answer: Answer) -> Mapping[str, object]:
    try:
        return answer.members()
    except ServiceStrange:
        if answer.status < 400:
            raise
        return {}


def _lifetime_s(members: Mapping[str, object], untold_s: float) -> float:
    """Reads the lifetime of a token in seconds. Some services give milliseconds under the name of seconds."""
    for name in ("expires_in_sec", "expires_in"):
        try:
            lifetime_s = float(str(members[name]))
        except (KeyError, ValueError):
            continue
        if lifetime_s > 0:
            return lifetime_s / 1_000 if lifetime_s > _LONGEST_S else lifetime_s
    return untold_s


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
