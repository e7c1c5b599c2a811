"""A person's consent to a tool server that knows neither this program nor the service's own keys: the server names who
grants tokens, this program registers there without credentials, and a person agrees in a browser (PKCE).

    own = OwnConsent(to, doors)
    login = own.login(clock)                  # asks the server who grants; `noarkit connect … login --mcp`
    with own.key(scrubber, clock, style) as key:      # every call after it

What was registered and what was granted lie with the connection's state, for their owner alone. No fault of this tells
the server's address.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

from noarkit.connectors.access.consent import Ask, with_port
from noarkit.connectors.access.keep import Keep
from noarkit.connectors.access.login import Login
from noarkit.connectors.access.oauth import Registered, TokenService
from noarkit.connectors.access.tokens import Renewal, Style, TokenPass, origin_of, refreshed
from noarkit.connectors.mcp.doors import Door
from noarkit.connectors.pace import Clock
from noarkit.connectors.scrub import Scrubber
from noarkit.connectors.settings import Connection, open_wire
from noarkit.connectors.wire import Answer, Request, Wire
from noarkit.errors import ConsentNeeded, NoarkitError, SecretFault, ServiceFault, ServiceStrange
from noarkit.safe.atomic import write_text

_BACK = "http://127.0.0.1:0/noarkit"
_METADATA = re.compile(r'resource_metadata="([^"\s]{1,2000})"')
_RESOURCE, _AUTHORITY = "/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server"
_JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Client:
    """What this program is to whoever grants tokens for a tool server."""

    client_id: str
    token_url: str
    resource: str


@dataclass(frozen=True, slots=True)
class OwnConsent:
    """The consent to the tool servers of a connection; the first of them says who grants it."""

    to: Connection
    doors: Sequence[Door]

    @property
    def keep(self) -> Keep:
        """Where what was granted is kept."""
        return Keep(self.to.state_file("mcp-grant.json"))

    def login(self, clock: Clock) -> Login:
        """Asks the server who grants, and registers there. Raises a ServiceFault, `UnsafeUrl` for a granting host that
        is neither the server's own nor named under `hosts`."""
        door, scrubber = self.doors[0], Scrubber()
        scrubber.learn(door.address.reveal())
        wire = open_wire(self.to, [door.address.reveal()], scrubber)
        try:
            with _telling_nothing(door):
                resource, scopes, authority = _authority(wire, door)
                redirect = with_port(self.to.text("redirect_url", _BACK))
                client = Client(_registered(wire, authority, redirect), _url(authority, "token_endpoint"), resource)
                auth_url = _url(authority, "authorization_endpoint")
                for url in (auth_url, client.token_url):
                    wire.line.check(url)
        except BaseException:
            wire.close()
            raise
        write_text(self._place(), json.dumps(asdict(client)), mode=0o600)
        wanted = self.to.texts("mcp_scopes", scopes)
        ask = Ask(auth_url, client.client_id, redirect, wanted, more=_resource(client))
        return Login(ask, _tokens(wire, client, clock), self.keep, self._origin(client), wire)

    @contextmanager
    def key(self, scrubber: Scrubber, clock: Clock, style: Style) -> Iterator[TokenPass]:
        """What shows who we are. Raises `ConsentNeeded` where nobody agreed yet, and so does its use."""
        client = self._client()
        if client is None:
            raise ConsentNeeded(where=f"{self.to.where} --mcp", why="no-consent")
        wire = open_wire(self.to, [self.doors[0].address.reveal(), client.token_url], scrubber)
        renew = refreshed(_tokens(wire, client, clock).refresh, None, f"{self.to.where} --mcp")
        with closing(wire):
            yield TokenPass(Renewal(renew, clock.now_s, self._origin(client)), self.keep, scrubber, style)

    def _place(self) -> Path:
        return self.to.state_file("mcp-client.json")

    def _client(self) -> Client | None:
        try:
            return Client(**json.loads(self._place().read_bytes()))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError) as error:
            raise SecretFault(where=str(self._place()), why="not-a-grant") from error

    def _origin(self, client: Client) -> str:
        return origin_of(self.doors[0].address, client.token_url, client.client_id)


def _authority(wire: Wire, door: Door) -> tuple[str, tuple[str, ...], Mapping[str, object]]:
    """The resource that a tool server is, the scopes it takes, and what whoever grants for it says of itself."""
    address = urlsplit(door.address.reveal())
    base = f"{address.scheme}://{address.netloc}"
    refused = wire.send(Request("GET", door.address.reveal(), headers={"Accept": "text/event-stream"}))
    named = _METADATA.search(refused.headers.get("www-authenticate", ""))
    places = [named[1]] if named else [f"{base}{_RESOURCE}{address.path.rstrip('/')}", f"{base}{_RESOURCE}"]
    told = _first(wire, places)
    servers, scopes = told.get("authorization_servers"), told.get("scopes_supported")
    server = str(servers[0]) if isinstance(servers, list) and servers else base
    split = urlsplit(server)
    root, path = f"{split.scheme}://{split.netloc}", split.path.rstrip("/")
    authority = _first(wire, [f"{root}{_AUTHORITY}{path}", f"{root}{path}/.well-known/openid-configuration"])
    methods = authority.get("code_challenge_methods_supported", ["S256"])
    if not isinstance(methods, list) or "S256" not in methods:
        raise ServiceStrange(where=door.where, why="no-pkce")
    known = tuple(str(scope) for scope in scopes) if isinstance(scopes, list) else ()
    return str(told.get("resource") or ""), known, authority


def _first(wire: Wire, places: Sequence[str]) -> Mapping[str, object]:
    """What stands at the first place that has something; nothing where none has."""
    for place in places:
        answer = wire.send(Request("GET", place))
        if answer.status == 200:
            return answer.members()
    return {}


def _registered(wire: Wire, authority: Mapping[str, object], redirect: str) -> str:
    told = {
        "client_name": "noarkit",
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }
    url = _url(authority, "registration_endpoint")
    answer: Answer = wire.send(Request("POST", url, body=json.dumps(told).encode(), media_type=_JSON))
    client_id = answer.members().get("client_id") if answer.status in (200, 201) else None
    if not isinstance(client_id, str) or not client_id:
        raise ServiceStrange(where=answer.where, status=answer.status, why="not-registered")
    return client_id


def _url(authority: Mapping[str, object], name: str) -> str:
    found = authority.get(name)
    if not isinstance(found, str) or not found:
        raise ServiceStrange(why="nobody-grants", member=name)
    return found


def _tokens(wire: Wire, client: Client, clock: Clock) -> TokenService:
    registered = Registered(client.token_url, client.client_id, None, "none", more=_resource(client))
    return TokenService(wire, registered, clock.now_s)


def _resource(client: Client) -> tuple[tuple[str, str], ...]:
    return (("resource", client.resource),) if client.resource else ()


@contextmanager
def _telling_nothing(door: Door) -> Iterator[None]:
    """Faults name the door, never an address that may bear its key."""
    try:
        yield
    except ServiceFault as fault:
        raise type(fault)(**{**fault.data, "where": door.where}) from None
    except NoarkitError as fault:
        raise type(fault)(where=door.where, why=fault.data.get("why")) from None
