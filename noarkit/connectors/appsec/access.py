"""How a security service lets us in: a token for an API key, for a client, or for a person's consent through a browser,
with a client that was made beforehand or one that registers itself; and how its tools do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from noarkit.connectors.access.granting import Granting, first_login
from noarkit.connectors.access.keep import Grant, Keep
from noarkit.connectors.access.login import Login
from noarkit.connectors.access.oauth import Registered, TokenService
from noarkit.connectors.access.tokens import KeyPass, Renewal, Style, TokenPass, origin_of, refreshed
from noarkit.connectors.appsec.registration import known_client, register
from noarkit.connectors.appsec.settings import AppSecSettings, read
from noarkit.connectors.client import Pass
from noarkit.connectors.pace import Clock
from noarkit.connectors.scrub import Scrubber
from noarkit.connectors.settings import Connection, open_wire
from noarkit.connectors.wire import Wire
from noarkit.errors import (
    ConfigFault,
    ConsentNeeded,
    NoarkitError,
    ServiceAway,
    ServiceBroken,
    ServiceDenied,
    UsageFault,
)

_UNTOLD_LIFETIME_S = 1_800.0
_SCOPES = ("openid", "offline_access")
_BACK = "http://127.0.0.1:0/noarkit"
_TRIES = 4
_FIRST_WAIT_S = 0.5
_DEAD = 401


def settings_of(to: Connection) -> AppSecSettings:
    """The settings of a connection, with the client that registered itself. Raises `ConfigFault`, `SecretFault`."""
    settings = read(to)
    return (
        replace(settings, client_id=known_client(to, settings.realm_url)) if settings.auth == "register" else settings
    )


def open_login(to: Connection, clock: Clock | None = None) -> Login:
    """A first consent; where the client registers itself, it does so now. Raises `UsageFault` for a connection that has
    a key or a client instead, `ConfigFault`, `ServiceDenied` where the tenant takes no more clients."""
    settings = settings_of(to)
    if settings.auth not in ("login", "register"):
        raise UsageFault(what="no-consent-needed", where=to.where)
    wire = open_wire(to, [settings.api_url, settings.auth_url], Scrubber())
    if settings.auth == "register":
        try:
            settings = replace(settings, client_id=register(to, settings, wire, to.text("redirect_url", _BACK)))
        except NoarkitError:
            wire.close()
            raise
    granting = Granting(f"{settings.realm_url}/auth", _registered(to, settings), _origin(to, settings), _SCOPES)
    return first_login(to, granting, wire, clock or Clock())


def token_pass(to: Connection, settings: AppSecSettings, wire: Wire, clock: Clock) -> TokenPass:
    """What lets us in to the interface. Raises `ConfigFault`, `SecretFault`."""
    tokens = TokenService(wire, _registered(to, settings), clock.now_s)
    renewal = Renewal(_renewing(to, settings, tokens, clock), clock.now_s, _origin(to, settings))
    return TokenPass(renewal, Keep(to.state_file("grant.json")), wire.scrubber, Style())


def tools_pass(to: Connection, settings: AppSecSettings, key: Pass | None, scrubber: Scrubber) -> Pass | None:
    """What lets us in to the tools: an API key as it is, without a prefix, else the token as a bearer's."""
    own = to.secret("api_key") if settings.auth == "key" else None
    if own is not None:
        return KeyPass(own, scrubber, Style(to.text("mcp_auth_prefix")))
    return key.restyled(Style(to.text("mcp_auth_prefix", "Bearer"))) if isinstance(key, TokenPass) else key


def _registered(to: Connection, settings: AppSecSettings) -> Registered:
    secret = to.secret("client_secret") if settings.auth in ("client", "login") else None
    url = f"{settings.realm_url}/token"
    return Registered(url, settings.client_id, secret, "body" if secret else "none", _UNTOLD_LIFETIME_S)


def _origin(to: Connection, settings: AppSecSettings) -> str:
    secret = to.secret("api_key" if settings.auth == "key" else "client_secret")
    return origin_of(settings.realm_url, settings.api_url, settings.client_id, settings.auth, secret)


def _renewing(
    to: Connection, settings: AppSecSettings, tokens: TokenService, clock: Clock
) -> Callable[[Grant | None], Grant]:
    place = f"connections.appsec.{to.name}"
    if settings.auth in ("login", "register"):
        return refreshed(tokens.refresh, None, to.where)
    if settings.auth == "client":
        if to.secret("client_secret") is None:
            raise ConfigFault(where=f"{place}.client_secret", why="not-set")
        return lambda last: _patiently(tokens.client_credentials, clock)
    key = to.secret("api_key")
    if key is None:
        raise ConfigFault(where=f"{place}.api_key", why="not-set")

    def exchanged(last: Grant | None) -> Grant:
        """A token for the key. What comes back beside it does not take the key's place."""
        try:
            return replace(_patiently(lambda: tokens.refresh(key.reveal()), clock), refresh_token="")
        except ConsentNeeded as refusal:
            raise ServiceDenied(where=to.where, why="key-dead") from refusal
        except ServiceDenied as refusal:
            if refusal.data.get("status") != _DEAD:
                raise
            raise ServiceDenied(where=to.where, why="key-dead") from refusal

    return exchanged


def _patiently(ask: Callable[[], Grant], clock: Clock) -> Grant:
    """A token that may be asked for as often as one likes, in spite of a token service that is away for a moment."""
    for attempt in range(_TRIES - 1):
        try:
            return ask()
        except (ServiceAway, ServiceBroken):
            clock.sleep_s(_FIRST_WAIT_S * 2**attempt)
    return ask()
