"""OAuth authorization of a connection: the first consent of a person, and the credential for every run after it.

login = first_login(connection, authorization, wire, clock)                # `noarkit connect … login`
credential = make_token_credential(connection, authorization, wire, clock)  # every run after it
"""

from __future__ import annotations

from dataclasses import dataclass

from noarkit.services.access.consent import Ask
from noarkit.services.access.credentials import Renewal, Style, TokenCredential, make_refresher
from noarkit.services.access.grant_store import GrantStore
from noarkit.services.access.login import Login
from noarkit.services.access.oauth import ClientRegistration, TokenService
from noarkit.services.pace import Clock
from noarkit.services.settings import Connection
from noarkit.services.wire import Wire

_BACK = "http://127.0.0.1:0/noarkit"


@dataclass(frozen=True, slots=True)
class Authorization:
    """The OAuth endpoints and registration of a connection. `origin` identifies this configuration: a grant from
    another one is not used. `more` is added to the address that a person visits."""

    auth_url: str
    registration: ClientRegistration
    origin: str
    scopes: tuple[str, ...] = ()
    separator: str = " "
    more: tuple[tuple[str, str], ...] = ()


def first_login(connection: Connection, authorization: Authorization, wire: Wire, clock: Clock) -> Login:
    """Builds the first consent. Sends nothing yet. Raises `ConfigFault`."""
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
    """Builds the credential that renews itself by the stored refresh token, or else the configured one. Its use raises
    `ConsentNeeded` if there is neither."""
    tokens = TokenService(wire, authorization.registration, clock.now_s)
    renew = make_refresher(tokens.refresh, connection.secret("refresh_token"), connection.full_name)
    return TokenCredential(
        Renewal(renew, clock.now_s, authorization.origin), grant_store_of(connection), wire.scrubber, style or Style()
    )


def grant_store_of(connection: Connection) -> GrantStore:
    """Returns the file that stores the grant of a connection."""
    return GrantStore(connection.state_file("grant.json"))
