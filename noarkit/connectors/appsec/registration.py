"""A client of our own at the token service, registered once by this program where nobody made one beforehand.

A tenant may hold no more than some hundred clients, so what was registered is kept with the connection and used for
good; that a tenant is full is told as such.
"""

from __future__ import annotations

import json
from urllib.parse import urlsplit

import orjson

from noarkit.connectors.appsec.settings import AppSecSettings
from noarkit.connectors.client import message_of
from noarkit.connectors.settings import Connection
from noarkit.connectors.wire import Request, Wire
from noarkit.errors import ServiceDenied, ServiceRefused, ServiceStrange
from noarkit.safe.atomic import write_bytes

_KEPT = "client.json"
_MOST = "max clients"


def known_client(to: Connection, realm_url: str) -> str:
    """The client that was registered at a realm; empty where none was."""
    try:
        told = json.loads(to.state_file(_KEPT).read_bytes())
        return str(told["client_id"]) if told["realm"] == realm_url else ""
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return ""  # one that cannot be read is made anew


def register(to: Connection, settings: AppSecSettings, wire: Wire, redirect_url: str) -> str:
    """The client of this connection, registered now where it has none. Raises `ServiceDenied` where the tenant takes no
    more of them, `ServiceRefused`, `ServiceAway`."""
    known = known_client(to, settings.realm_url)
    if known:
        return known
    found = _place(settings, wire)
    body = {
        "client_name": "noarkit",
        "redirect_uris": [_any_port(redirect_url)],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }
    answer = wire.send(Request("POST", found, body=orjson.dumps(body), media_type="application/json"))
    if answer.status >= 300:
        said = wire.scrubber.clean(message_of(answer))
        if _MOST in said.casefold():
            raise ServiceDenied(where=answer.where, status=answer.status, why="too-many-clients")
        raise ServiceRefused(where=answer.where, status=answer.status, why=said)
    client = answer.members().get("client_id")
    if not isinstance(client, str) or not client:
        raise ServiceStrange(where=answer.where, why="no-client")
    kept = json.dumps({"client_id": client, "realm": settings.realm_url}).encode()
    write_bytes(to.state_file(_KEPT), kept, mode=0o600)
    return client


def _place(settings: AppSecSettings, wire: Wire) -> str:
    """Where clients are registered, as the realm tells it; it may name no other host than those of the connection."""
    url = settings.realm_url.removesuffix("/protocol/openid-connect") + "/.well-known/openid-configuration"
    answer = wire.send(Request("GET", url))
    if answer.status == 404:
        raise ServiceDenied(where=answer.where, status=404, why="no-such-tenant")
    place = answer.members().get("registration_endpoint") if answer.status < 300 else None
    if not isinstance(place, str):
        raise ServiceRefused(where=answer.where, status=answer.status, why="no-registration")
    return place


def _any_port(redirect_url: str) -> str:
    """The address a browser comes back to, whatever the port on this machine will be."""
    split = urlsplit(redirect_url)
    return split._replace(netloc=split.hostname or "").geturl() if split.port == 0 else redirect_url
