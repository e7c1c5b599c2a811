"""Finds who grants access to a tool server: the server names its authorization server, which describes itself.

Nothing is believed that a server says of another: its metadata must name the server itself (RFC 9728 §3.3), and the
description of an authorization server the address it was asked at (RFC 8414 §3.3). One that does not say that it
supports PKCE with S256 is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from noarkit.errors import ServiceStrange
from noarkit.services.mcp.tool_servers import ToolServer
from noarkit.services.wire import Request, Wire

INSUFFICIENT_SCOPE = "insufficient_scope"
_MEMBER = re.compile(r'(resource_metadata|scope|error)="([^"]{1,2000})"')
_RESOURCE, _AUTHORITY = "/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server"
_OPENID = "/.well-known/openid-configuration"


@dataclass(frozen=True, slots=True)
class Challenge:
    """What a server said in the `WWW-Authenticate` header of a refusal."""

    metadata_url: str = ""
    scopes: tuple[str, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class Grantor:
    """Who grants access to a tool server: the server as it names itself, the scopes to ask for, and the description of
    the authorization server."""

    resource: str
    scopes: tuple[str, ...]
    authority: Mapping[str, object]


def read_challenge(header: str) -> Challenge:
    """Reads a `WWW-Authenticate` header.

    >>> read_challenge('Bearer error="insufficient_scope", scope="a b"').scopes
    ('a', 'b')
    """
    members = dict(_MEMBER.findall(header))
    return Challenge(
        members.get("resource_metadata", ""), tuple(members.get("scope", "").split()), members.get("error", "")
    )


def find_grantor(wire: Wire, server: ToolServer) -> Grantor:
    """Finds who grants access to a tool server. Scopes are those of its refusal, else all that it supports. Raises
    `ServiceStrange` for one that cannot be believed, a ServiceFault, `UnsafeUrl`."""
    address = urlsplit(server.url.reveal())
    base = f"{address.scheme}://{address.netloc}"
    refusal = wire.send(Request("GET", server.url.reveal(), headers={"Accept": "text/event-stream"}))
    challenge = read_challenge(refusal.headers.get("www-authenticate", ""))
    places = [f"{base}{_RESOURCE}{address.path.rstrip('/')}", f"{base}{_RESOURCE}"]
    metadata = _first(wire, [challenge.metadata_url] if challenge.metadata_url else places)
    resource = str(metadata.get("resource") or "")
    if resource and not _is_of(resource, server):
        raise ServiceStrange(where=server.label, why="other-resource")
    issuers, supported = metadata.get("authorization_servers"), metadata.get("scopes_supported")
    issuer = str(issuers[0]) if isinstance(issuers, list) and issuers else base
    scopes = challenge.scopes or (tuple(str(scope) for scope in supported) if isinstance(supported, list) else ())
    return Grantor(resource, scopes, _describe(wire, server, issuer))


def _is_of(resource: str, server: ToolServer) -> bool:
    """True if a name is that of the server, or of all that lies below a path on its host."""
    named, asked = urlsplit(resource), urlsplit(server.url.reveal())
    below = f"{named.path.rstrip('/')}/"
    is_same_host = (named.scheme, named.netloc.casefold()) == (asked.scheme, asked.netloc.casefold())
    return is_same_host and f"{asked.path.rstrip('/')}/".startswith(below)


def _describe(wire: Wire, server: ToolServer, issuer: str) -> Mapping[str, object]:
    """Reads the description of an authorization server, from the first of its well-known addresses that has one; empty
    if none has."""
    split = urlsplit(issuer)
    root, path = f"{split.scheme}://{split.netloc}", split.path.rstrip("/")
    places = [f"{root}{_AUTHORITY}{path}", f"{root}{_OPENID}{path}", f"{root}{path}{_OPENID}"]
    authority = _first(wire, list(dict.fromkeys(places)))
    if not authority:
        return authority
    if authority.get("issuer") != issuer:
        raise ServiceStrange(where=server.label, why="other-issuer")
    methods = authority.get("code_challenge_methods_supported")
    if not isinstance(methods, list) or "S256" not in methods:
        raise ServiceStrange(where=server.label, why="no-pkce")
    return authority


def _first(wire: Wire, places: Sequence[str]) -> Mapping[str, object]:
    """Returns the first JSON object found at some addresses; empty if there is none."""
    for place in places:
        answer = wire.send(Request("GET", place))
        if answer.status == 200:
            return answer.members()
    return {}
