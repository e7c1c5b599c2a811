"""Registers this program as an OAuth client at the token service, once, if nobody made a client beforehand.

A tenant may have only some hundred clients, so the client is stored with the connection and reused; a full tenant is
reported as such.
"""

from __future__ import annotations

import json
from urllib.parse import urlsplit

import orjson

from noarkit.errors import ServiceDenied, ServiceRefused, ServiceStrange
from noarkit.safe.atomic import write_bytes
from noarkit.services.appsec.settings import AppSecSettings
from noarkit.services.client import message_of
from noarkit.services.settings import Connection
from noarkit.services.wire import Request, Wire

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
