"""A person's consent to a connection: how it is asked for first, and how what was granted is used from then on.

login = first_login(to, granting, wire, clock)      # `noarkit connect … login`
key = granted(to, granting, wire, clock)            # every run after it
"""

from __future__ import annotations

from dataclasses import dataclass

from noarkit.connectors.access.consent import Ask
from noarkit.connectors.access.credentials import Renewal, Style, TokenCredential, make_refresher
from noarkit.connectors.access.grant_store import GrantStore
from noarkit.connectors.access.login import Login
from noarkit.connectors.access.oauth import ClientRegistration, TokenService
from noarkit.connectors.pace import Clock
from noarkit.connectors.settings import Connection
from noarkit.connectors.wire import Wire

_BACK = "http://127.0.0.1:0/noarkit"


@dataclass(frozen=True, slots=True)
class Authorization:
    """Where a person agrees, and where tokens are had. `origin` is what a grant of this configuration is known by: one
    of another is not gone on with. `more` goes with the address a person visits."""

    auth_url: str
    registration: ClientRegistration
    origin: str
    scopes: tuple[str, ...] = ()
    separator: str = " "
    more: tuple[tuple[str, str], ...] = ()


def first_login(connection: Connection, authorization: Authorization, wire: Wire, clock: Clock) -> Login:
    """A first consent. Sends nothing yet. Raises `ConfigFault`."""
    ask = Ask(
        auth_url=authorization.auth_url,
        client_id=authorization.registration.client_id,
        redirect_url=connection.text("redirect_url", _BACK),
        scopes=connection.texts("scopes", authorization.scopes),
        separator=authorization.separator,
        more=authorization.more,
    )
    return Login(
        ask,
        TokenService(wire, authorization.registration, clock.now_s),
        grant_store_of(connection),
        authorization.origin,
        wire,
    )


def make_token_credential(
    connection: Connection, authorization: Authorization, wire: Wire, clock: Clock, style: Style | None = None
) -> TokenCredential:
    """What was consented to, renewed by the refresh token kept last, else by the one configured. Its use raises
    `ConsentNeeded` where there is neither."""
    tokens = TokenService(wire, authorization.registration, clock.now_s)
    renew = make_refresher(tokens.refresh, connection.secret("refresh_token"), connection.full_name)
    return TokenCredential(
        Renewal(renew, clock.now_s, authorization.origin), grant_store_of(connection), wire.scrubber, style or Style()
    )


def grant_store_of(connection: Connection) -> GrantStore:
    """Where the grant of a connection is kept."""
    return GrantStore(connection.state_file("grant.json"))
