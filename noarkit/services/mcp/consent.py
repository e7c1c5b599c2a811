"""A person's consent to a tool server that knows neither this program nor the service's own keys: the server names its
authorization server, this program registers there without credentials, and a person agrees in a browser (PKCE).

    own = OwnConsent(connection, servers)
    login = own.login(clock)                                     # `noarkit connect … login --mcp`
    with own.credential(scrubber, clock, style) as credential:   # every call after it

The registration and the grant are stored with the connection's state, readable by their owner alone. No fault shows the
server's address.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from noarkit.errors import ConsentNeeded, NoarkitError, SecretFault, ServiceFault, ServiceStrange
from noarkit.safe.atomic import write_text
from noarkit.services.access.consent import Ask, with_port
from noarkit.services.access.credentials import Renewal, Style, TokenCredential, make_refresher, origin_of
from noarkit.services.access.grant_store import GrantStore
from noarkit.services.access.login import Login
from noarkit.services.access.oauth import ClientRegistration, TokenService
from noarkit.services.mcp.discovery import find_grantor
from noarkit.services.mcp.tool_servers import ToolServer
from noarkit.services.pace import Clock
from noarkit.services.scrub import Scrubber
from noarkit.services.settings import Connection, open_wire
from noarkit.services.wire import Answer, Request, Wire

_BACK = "http://127.0.0.1:0/noarkit"
_SCOPES_FILE = "mcp-scopes.json"
_JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Client:
    """This program's registration at the authorization server of a tool server."""

    client_id: str
    token_url: str
    resource: str


@dataclass(frozen=True, slots=True)
class OwnConsent:
    """The consent to the tool servers of a connection; the first of them names the authorization server."""

    connection: Connection
    servers: Sequence[ToolServer]

    @property
    def grant_store(self) -> GrantStore:
        """Where the grant is stored."""
        return GrantStore(self.connection.state_file("mcp-grant.json"))

    def login(self, clock: Clock) -> Login:
        """Finds the authorization server, and registers there. Raises a ServiceFault, `UnsafeUrl` for a host that is
        neither the server's own nor listed by the setting `hosts = …`."""
        server, scrubber = self.servers[0], Scrubber()
        scrubber.learn(server.url.reveal())
        wire = open_wire(self.connection, [server.url.reveal()], scrubber)
        try:
            with _hide_address(server):
                grantor = find_grantor(wire, server)
                authority = grantor.authority
                redirect = with_port(self.connection.text("redirect_url", _BACK))
                client = Client(
                    _register_client(wire, authority, redirect), _url(authority, "token_endpoint"), grantor.resource
                )
                auth_url = _url(authority, "authorization_endpoint")
                for url in (auth_url, client.token_url):
                    wire.settings.check(url)
        except BaseException:
            wire.close()
            raise
        write_text(self._place(), json.dumps(asdict(client)), mode=0o600)
        scopes = self.connection.texts("mcp_scopes", grantor.scopes)
        wanted_scopes = tuple(dict.fromkeys((*scopes, *self._scopes_asked_for())))
        ask = Ask(auth_url, client.client_id, redirect, wanted_scopes, more=_resource(client))
        return Login(ask, _tokens(wire, client, clock), self.grant_store, self._origin(client), wire)

    @contextmanager
    def credential(self, scrubber: Scrubber, clock: Clock, style: Style) -> Iterator[TokenCredential]:
        """Builds the credential. Raises `ConsentNeeded` if nobody agreed yet, and so does its use."""
        client = self._client()
        if client is None:
            raise ConsentNeeded(where=f"{self.connection.full_name} --mcp", why="no-consent")
        wire = open_wire(self.connection, [self.servers[0].url.reveal(), client.token_url], scrubber)
        renew = make_refresher(_tokens(wire, client, clock).refresh, None, f"{self.connection.full_name} --mcp")
        with closing(wire):
            yield TokenCredential(Renewal(renew, clock.now_s, self._origin(client)), self.grant_store, scrubber, style)

    def ask_for_scopes(self, scopes: Sequence[str]) -> None:
        """Makes the next login ask for these scopes too: the ones given so far did not suffice."""
        wanted = list(dict.fromkeys((*self._scopes_asked_for(), *scopes)))
        write_text(self.connection.state_file(_SCOPES_FILE), json.dumps(wanted), mode=0o600)

    def _scopes_asked_for(self) -> tuple[str, ...]:
        try:
            return tuple(map(str, json.loads(self.connection.state_file(_SCOPES_FILE).read_bytes())))
        except (FileNotFoundError, ValueError, TypeError):
            return ()  # an unreadable file is replaced

    def _place(self) -> Path:
        return self.connection.state_file("mcp-client.json")

    def _client(self) -> Client | None:
        try:
            return Client(**json.loads(self._place().read_bytes()))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError) as error:
            raise SecretFault(where=str(self._place()), why="not-a-grant") from error

    def _origin(self, client: Client) -> str:
        return origin_of(self.servers[0].url, client.token_url, client.client_id)


def _register_client(wire: Wire, authority: Mapping[str, object], redirect: str) -> str:
    request_body = {
        "client_name": "noarkit",
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }
    url = _url(authority, "registration_endpoint")
    answer: Answer = wire.send(Request("POST", url, body=json.dumps(request_body).encode(), media_type=_JSON))
    client_id = answer.members().get("client_id") if answer.status in (200, 201) else None
    if not isinstance(client_id, str) or not client_id:
        raise ServiceStrange(where=answer.label, status=answer.status, why="not-registered")
    return client_id


def _url(authority: Mapping[str, object], name: str) -> str:
    url = authority.get(name)
    if not isinstance(url, str) or not url:
        raise ServiceStrange(why="nobody-grants", member=name)
    return url


def _tokens(wire: Wire, client: Client, clock: Clock) -> TokenService:
    registration = ClientRegistration(client.token_url, client.client_id, None, "none", more=_resource(client))
    return TokenService(wire, registration, clock.now_s)


def _resource(client: Client) -> tuple[tuple[str, str], ...]:
    return (("resource", client.resource),) if client.resource else ()


@contextmanager
def _hide_address(server: ToolServer) -> Iterator[None]:
    """Replaces addresses in faults by the server's label, for an address may hold its key."""
    try:
        yield
    except ServiceFault as fault:
        raise type(fault)(**{**fault.data, "where": server.label}) from None
    except NoarkitError as fault:
        raise type(fault)(where=server.label, why=fault.data.get("why")) from None
