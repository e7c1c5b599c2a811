"""Access to the tools for assistants: by a console key, or by a person's consent if the organisation's owner allows
personal keys."""

from __future__ import annotations

from noarkit.errors import UsageFault
from noarkit.services.access.authorization import Authorization, first_login, make_token_credential
from noarkit.services.access.credentials import TokenCredential, origin_of
from noarkit.services.access.login import Login
from noarkit.services.access.oauth import ClientRegistration
from noarkit.services.features.settings import FeaturesSettings
from noarkit.services.pace import Clock
from noarkit.services.scrub import Scrubber
from noarkit.services.settings import Connection, open_wire
from noarkit.services.wire import Wire


def login(connection: Connection, settings: FeaturesSettings, clock: Clock) -> Login:
    """Builds the first consent. Raises `UsageFault` for a connection with a key alone, `ConfigFault`, `SecretFault`."""
    if settings.mcp_auth == "key":
        raise UsageFault(what="no-consent-needed", where=connection.full_name)
    return first_login(
        connection, _authorization(connection, settings), open_wire(connection, [settings.auth_url], Scrubber()), clock
    )


def make_consent_credential(
    connection: Connection, settings: FeaturesSettings, wire: Wire, clock: Clock
) -> TokenCredential:
    """Builds the credential from a person's consent. Its use raises `ConsentNeeded` if there is none."""
    return make_token_credential(connection, _authorization(connection, settings), wire, clock)


def _authorization(connection: Connection, settings: FeaturesSettings) -> Authorization:
    registration = ClientRegistration(
        f"{settings.auth_url}/oauth/token", settings.client_id, connection.secret("client_secret")
    )
    origin = origin_of(settings.auth_url, settings.http_url, settings.client_id)
    return Authorization(f"{settings.auth_url}/oauth/authorize", registration, origin)
