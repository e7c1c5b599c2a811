"""Credentials of an application security service: a token for an API key, for a client, or for a person's consent in a
browser, with a client made beforehand or one that registers itself; and those of its tools."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlsplit

import orjson

from noarkit.errors import (
    ConfigFault,
    ConsentNeeded,
    NoarkitError,
    ServiceAway,
    ServiceBroken,
    ServiceDenied,
    ServiceRefused,
    ServiceStrange,
    UsageFault,
)
from noarkit.safe.atomic import write_bytes
from noarkit.services.access.authorization import Authorization, first_login
from noarkit.services.access.credentials import (
    KeyCredential,
    Renewal,
    Style,
    TokenCredential,
    make_refresher,
    origin_of,
)
from noarkit.services.access.grant_store import Grant, GrantStore
from noarkit.services.access.login import Login
from noarkit.services.access.oauth import ClientRegistration, TokenService
from noarkit.services.appsec.settings import AppSecSettings, read_settings
from noarkit.services.client import Credential, message_of
from noarkit.services.pace import Clock
from noarkit.services.scrub import Scrubber
from noarkit.services.settings import Connection, open_wire
from noarkit.services.wire import Request, Wire

_UNTOLD_LIFETIME_S = 1_800.0
_SCOPES = ("openid", "offline_access")
_BACK = "http://127.0.0.1:0/noarkit"
_TRIES = 4
_FIRST_WAIT_S = 0.5
_DEAD = 401


def settings_of(connection: Connection) -> AppSecSettings:
    """Reads the settings of a connection, with the client that registered itself. Raises `ConfigFault`,
    `SecretFault`."""
    settings = read_settings(connection)
    return (
        replace(settings, client_id=registered_client(connection, settings.realm_url))
        if settings.auth == "register"
        else settings
    )


def open_login(connection: Connection, clock: Clock | None = None) -> Login:
    """Builds the first consent; a client that registers itself does so now. Raises `UsageFault` for a connection with a
    key or a client instead, `ConfigFault`, `ServiceDenied` if the tenant takes no more clients."""
    settings = settings_of(connection)
    if settings.auth not in ("login", "register"):
        raise UsageFault(what="no-consent-needed", where=connection.full_name)
    wire = open_wire(connection, [settings.api_url, settings.auth_url], Scrubber())
    if settings.auth == "register":
        try:
            settings = replace(
                settings, client_id=register(connection, settings, wire, connection.text("redirect_url", _BACK))
            )
        except NoarkitError:
            wire.close()
            raise
    authorization = Authorization(
        f"{settings.realm_url}/auth", _registration(connection, settings), _origin(connection, settings), _SCOPES
    )
    return first_login(connection, authorization, wire, clock or Clock())


def make_token_credential(
    connection: Connection, settings: AppSecSettings, wire: Wire, clock: Clock
) -> TokenCredential:
    """Builds the credential for the interface. Raises `ConfigFault`, `SecretFault`."""
    tokens = TokenService(wire, _registration(connection, settings), clock.now_s)
    renew = _make_renewal(connection, settings, tokens, lambda wait_s: wire.waits.sleep(clock, wait_s, "again"))
    renewal = Renewal(renew, clock.now_s, _origin(connection, settings))
    return TokenCredential(renewal, GrantStore(connection.state_file("grant.json")), wire.scrubber, Style())


def make_tools_credential(
    connection: Connection, settings: AppSecSettings, key: Credential | None, scrubber: Scrubber
) -> Credential | None:
    """Builds the credential for the tools: an API key without a prefix, or else the token as a bearer token."""
    api_key = connection.secret("api_key") if settings.auth == "key" else None
    if api_key is not None:
        return KeyCredential(api_key, scrubber, Style(connection.text("mcp_auth_prefix")))
    return (
        key.with_style(Style(connection.text("mcp_auth_prefix", "Bearer"))) if isinstance(key, TokenCredential) else key
    )


def _registration(connection: Connection, settings: AppSecSettings) -> ClientRegistration:
    secret = connection.secret("client_secret") if settings.auth in ("client", "login") else None
    url = f"{settings.realm_url}/token"
    return ClientRegistration(url, settings.client_id, secret, "body" if secret else "none", _UNTOLD_LIFETIME_S)


def _origin(connection: Connection, settings: AppSecSettings) -> str:
    secret = connection.secret("api_key" if settings.auth == "key" else "client_secret")
    return origin_of(settings.realm_url, settings.api_url, settings.client_id, settings.auth, secret)


def _make_renewal(
    connection: Connection, settings: AppSecSettings, tokens: TokenService, pause: Callable[[float], None]
) -> Callable[[Grant | None], Grant]:
    place = f"connections.appsec.{connection.name}"
    if settings.auth in ("login", "register"):
        return make_refresher(tokens.refresh, None, connection.full_name)
    if settings.auth == "client":
        if connection.secret("client_secret") is None:
            raise ConfigFault(where=f"{place}.client_secret", why="not-set")
        return lambda last: _retry_while_away(tokens.client_credentials, pause)
    key = connection.secret("api_key")
    if key is None:
        raise ConfigFault(where=f"{place}.api_key", why="not-set")

    def exchange(last: Grant | None) -> Grant:
        """A token for the key. What comes back beside it does not take the key's place."""
        try:
            return replace(_retry_while_away(lambda: tokens.refresh(key.reveal()), pause), refresh_token="")
        except ConsentNeeded as refusal:
            raise ServiceDenied(where=connection.full_name, why="key-dead") from refusal
        except ServiceDenied as refusal:
            if refusal.data.get("status") != _DEAD:
                raise
            raise ServiceDenied(where=connection.full_name, why="key-dead") from refusal

    return exchange


def _retry_while_away(ask: Callable[[], Grant], pause: Callable[[float], None]) -> Grant:
    """Retries a token request that may be repeated while the token service is unavailable."""
    for attempt in range(_TRIES - 1):
        try:
            return ask()
        except (ServiceAway, ServiceBroken):
            pause(_FIRST_WAIT_S * 2**attempt)
    return ask()


_CLIENT_FILE = "client.json"
_MOST = "max clients"


def registered_client(connection: Connection, realm_url: str) -> str:
    """Returns the client id registered at a realm; empty if there is none."""
    try:
        entry = json.loads(connection.state_file(_CLIENT_FILE).read_bytes())
        return str(entry["client_id"]) if entry["realm"] == realm_url else ""
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return ""  # an unreadable file is replaced


def register(connection: Connection, settings: AppSecSettings, wire: Wire, redirect_url: str) -> str:
    """Returns the client id of this connection, registered now if it has none. Raises `ServiceDenied` if the tenant
    takes no more of them, `ServiceRefused`, `ServiceAway`."""
    registered_id = registered_client(connection, settings.realm_url)
    if registered_id:
        return registered_id
    place = _place(settings, wire)
    body = {
        "client_name": "noarkit",
        "redirect_uris": [_any_port(redirect_url)],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }
    answer = wire.send(Request("POST", place, body=orjson.dumps(body), media_type="application/json"))
    if answer.status >= 300:
        message = wire.scrubber.clean(message_of(answer))
        if _MOST in message.casefold():
            raise ServiceDenied(where=answer.label, status=answer.status, why="too-many-clients")
        raise ServiceRefused(where=answer.label, status=answer.status, why=message)
    client = answer.members().get("client_id")
    if not isinstance(client, str) or not client:
        raise ServiceStrange(where=answer.label, why="no-client")
    content = json.dumps({"client_id": client, "realm": settings.realm_url}).encode()
    write_bytes(connection.state_file(_CLIENT_FILE), content, mode=0o600)
    return client


def _place(settings: AppSecSettings, wire: Wire) -> str:
    """Reads the registration address from the realm's metadata; only hosts of the connection are accepted."""
    url = settings.realm_url.removesuffix("/protocol/openid-connect") + "/.well-known/openid-configuration"
    answer = wire.send(Request("GET", url))
    if answer.status == 404:
        raise ServiceDenied(where=answer.label, status=404, why="no-such-tenant")
    place = answer.members().get("registration_endpoint") if answer.status < 300 else None
    if not isinstance(place, str):
        raise ServiceRefused(where=answer.label, status=answer.status, why="no-registration")
    return place


def _any_port(redirect_url: str) -> str:
    """Removes the port from a redirect address, as a loopback redirect may use any."""
    split = urlsplit(redirect_url)
    return split._replace(netloc=split.hostname or "").geturl() if split.port == 0 else redirect_url
