"""A person's consent to a connection: how it is asked for first, and how what was granted is used from then on.

login = first_login(to, granting, wire, clock)      # `noarkit connect … login`
key = granted(to, granting, wire, clock)            # every run after it
"""

from __future__ import annotations

from dataclasses import dataclass

from noarkit.connectors.access.consent import Ask
from noarkit.connectors.access.keep import Keep
from noarkit.connectors.access.login import Login
from noarkit.connectors.access.oauth import Registered, TokenService
from noarkit.connectors.access.tokens import Renewal, Style, TokenPass, refreshed
from noarkit.connectors.pace import Clock
from noarkit.connectors.settings import Connection
from noarkit.connectors.wire import Wire

_BACK = "http://127.0.0.1:0/noarkit"


@dataclass(frozen=True, slots=True)
class Granting:
    """Where a person agrees, and where tokens are had. `origin` is what a grant of this configuration is known by: one
    of another is not gone on with. `more` goes with the address a person visits."""

    auth_url: str
    registered: Registered
    origin: str
    scopes: tuple[str, ...] = ()
    separator: str = " "
    more: tuple[tuple[str, str], ...] = ()


def first_login(to: Connection, granting: Granting, wire: Wire, clock: Clock) -> Login:
    """A first consent. Sends nothing yet. Raises `ConfigFault`."""
    ask = Ask(
        auth_url=granting.auth_url,
        client_id=granting.registered.client_id,
        redirect_url=to.text("redirect_url", _BACK),
        scopes=to.texts("scopes", granting.scopes),
        separator=granting.separator,
        more=granting.more,
    )
    return Login(ask, TokenService(wire, granting.registered, clock.now_s), grant_of(to), granting.origin, wire)


def granted(to: Connection, granting: Granting, wire: Wire, clock: Clock, style: Style | None = None) -> TokenPass:
    """What was consented to, renewed by the refresh token kept last, else by the one configured. Its use raises
    `ConsentNeeded` where there is neither."""
    tokens = TokenService(wire, granting.registered, clock.now_s)
    renew = refreshed(tokens.refresh, to.secret("refresh_token"), to.where)
    return TokenPass(Renewal(renew, clock.now_s, granting.origin), grant_of(to), wire.scrubber, style or Style())


def grant_of(to: Connection) -> Keep:
    """Where the grant of a connection is kept."""
    return Keep(to.state_file("grant.json"))
