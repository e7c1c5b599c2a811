"""How the tools for agents are let in: by the console key, or by a person's consent where the organisation's owner
allows people keys of their own."""

from __future__ import annotations

from noarkit.connectors.access.consent import Ask
from noarkit.connectors.access.keep import Keep
from noarkit.connectors.access.login import Login
from noarkit.connectors.access.oauth import Registered, TokenService
from noarkit.connectors.access.tokens import Renewal, Style, TokenPass, origin_of, refreshed
from noarkit.connectors.features.settings import FeaturesSettings
from noarkit.connectors.pace import Clock
from noarkit.connectors.scrub import Scrubber
from noarkit.connectors.settings import Connection, open_wire
from noarkit.connectors.wire import Wire
from noarkit.errors import UsageFault


def login(to: Connection, settings: FeaturesSettings, clock: Clock) -> Login:
    """A first consent. Raises `UsageFault` for a connection whose key is all there is, `ConfigFault`, `SecretFault`."""
    if settings.mcp_auth == "key":
        raise UsageFault(what="no-consent-needed", where=to.where)
    wire = open_wire(to, [settings.auth_url], Scrubber())
    ask = Ask(
        auth_url=f"{settings.auth_url}/oauth/authorize",
        client_id=settings.client_id,
        redirect_url=to.text("redirect_url", "http://127.0.0.1:0/noarkit"),
        scopes=to.texts("scopes"),
    )
    return Login(ask, _tokens(to, settings, wire, clock), _keep(to), _origin(to, settings), wire)


def token_pass(to: Connection, settings: FeaturesSettings, wire: Wire, clock: Clock) -> TokenPass:
    """What was consented to. Its use raises `ConsentNeeded` where nobody did."""
    tokens = _tokens(to, settings, wire, clock)
    renewal = Renewal(refreshed(tokens.refresh, None, to.where), clock.now_s, _origin(to, settings))
    return TokenPass(renewal, _keep(to), wire.scrubber, Style())


def _tokens(to: Connection, settings: FeaturesSettings, wire: Wire, clock: Clock) -> TokenService:
    url = f"{settings.auth_url}/oauth/token"
    return TokenService(wire, Registered(url, settings.client_id, to.secret("client_secret")), clock.now_s)


def _keep(to: Connection) -> Keep:
    return Keep(to.state_file("grant.json"))


def _origin(to: Connection, settings: FeaturesSettings) -> str:
    return origin_of(settings.auth_url, settings.mcp_url, settings.client_id)
