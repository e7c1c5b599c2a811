"""How the tools for assistants are let in: by a key of the console, or by a person's consent where the organisation's
owner allows people keys of their own."""

from __future__ import annotations

from noarkit.connectors.access.granting import Granting, first_login, granted
from noarkit.connectors.access.login import Login
from noarkit.connectors.access.oauth import Registered
from noarkit.connectors.access.tokens import TokenPass, origin_of
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
    return first_login(to, _granting(to, settings), open_wire(to, [settings.auth_url], Scrubber()), clock)


def token_pass(to: Connection, settings: FeaturesSettings, wire: Wire, clock: Clock) -> TokenPass:
    """What was consented to. Its use raises `ConsentNeeded` where nobody did."""
    return granted(to, _granting(to, settings), wire, clock)


def _granting(to: Connection, settings: FeaturesSettings) -> Granting:
    registered = Registered(f"{settings.auth_url}/oauth/token", settings.client_id, to.secret("client_secret"))
    origin = origin_of(settings.auth_url, settings.http_url, settings.client_id)
    return Granting(f"{settings.auth_url}/oauth/authorize", registered, origin)
