"""The settings of a connection to a CRM. What vendors choose is a default here that can be configured."""

from __future__ import annotations

from dataclasses import dataclass

from noarkit.errors import ConfigFault
from noarkit.services.pace import Rate
from noarkit.services.settings import Connection

KEYS = frozenset(
    {"api_url", "accounts_url", "client_id", "client_secret", "refresh_token", "auth_prefix", "api_version", "org_id",
     "modules", "skip_modules", "rates", "parallel", "credits_most", "credits_floor", "bulk_from", "write_modules",
     "mcp_urls", "mcp_write", "mcp_tools", "mcp_auth_prefix", "mcp_auth", "mcp_scopes", "redirect_url", "scopes",
     "title_fields", "content_hosts", "sweep_days", "related_modules", "closed_states", "contact_roles"}
)  # fmt: skip
# the least rights for archiving; the prefix depends on the service and can be set with `scopes`
SCOPES = (
    "modules.READ",
    "modules.notes.READ",
    "modules.attachments.READ",
    "modules.emails.READ",
    "settings.modules.READ",
    "settings.fields.READ",
    "coql.READ",
    "bulk.READ",
    "files.READ",
    "users.READ",
    "org.READ",
    "securesearch.READ",  # the search service's, for counting; without it lists are read page by page
)
RELATED_MODULES = ("Quotes", "Sales_Orders", "Purchase_Orders", "Invoices", "Tasks", "Calls", "Events")
CLOSED_STATES = ("closed", "lukket", "avsluttet")


@dataclass(frozen=True, slots=True)
class CrmSettings:
    """A connection's own settings."""

    api_url: str
    accounts_url: str
    client_id: str
    prefix: str
    version: str
    org_id: str
    modules: tuple[str, ...]
    skip_modules: tuple[str, ...]
    rates: tuple[Rate, ...]
    parallel: int
    credits_most: int | None
    credits_floor: int
    bulk_from: int
    title_fields: tuple[str, ...]
    related_modules: tuple[str, ...]
    closed_states: tuple[str, ...]
    contact_roles: bool


def read_settings(connection: Connection) -> CrmSettings:
    """Reads the settings of a connection. Raises `ConfigFault`."""
    connection.refuse_unknown(KEYS)
    most = int(connection.number("credits_most", 0))
    api_url = connection.url("api_url")
    if not api_url:
        raise ConfigFault(where=f"connections.crm.{connection.name}.api_url", why="not-set")
    return CrmSettings(
        api_url=api_url,
        accounts_url=connection.url("accounts_url") or api_url,
        client_id=connection.text("client_id"),
        prefix=connection.text("auth_prefix", "Service-oauthtoken"),
        version=connection.text("api_version", "v8"),
        org_id=connection.text("org_id"),
        modules=connection.texts("modules"),
        skip_modules=connection.texts("skip_modules"),
        rates=connection.rates("rates"),
        parallel=max(1, int(connection.number("parallel", 4))),
        credits_most=most or None,
        credits_floor=int(connection.number("credits_floor", 500)),
        bulk_from=int(connection.number("bulk_from", 100_000)),
        title_fields=connection.texts("title_fields"),
        related_modules=connection.texts("related_modules", RELATED_MODULES),
        closed_states=tuple(state.casefold() for state in connection.texts("closed_states", CLOSED_STATES)),
        contact_roles=connection.flag("contact_roles"),
    )
