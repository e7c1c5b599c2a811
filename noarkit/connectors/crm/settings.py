"""What a connection to a CRM is configured with. What vendors choose stands here as a default that can be set."""

from __future__ import annotations

from dataclasses import dataclass

from noarkit.connectors.pace import Rate
from noarkit.connectors.settings import Connection
from noarkit.errors import ConfigFault

KEYS = frozenset(
    {"api_url", "accounts_url", "client_id", "client_secret", "refresh_token", "auth_prefix", "api_version", "org_id",
     "modules", "skip_modules", "rates", "parallel", "credits_most", "credits_floor", "bulk_from", "write_modules",
     "mcp_urls", "mcp_write", "mcp_tools", "mcp_auth_prefix", "mcp_auth", "mcp_scopes", "redirect_url", "scopes",
     "title_fields", "content_hosts", "sweep_days", "related_modules", "closed_states", "contact_roles"}
)  # fmt: skip
# the least that reads what is archived; the prefix is a service's own and may be set with `scopes`
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
RELATED = ("Quotes", "Sales_Orders", "Purchase_Orders", "Invoices", "Tasks", "Calls", "Events")
CLOSED = ("closed", "lukket", "avsluttet")


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
    titles: tuple[str, ...]
    related: tuple[str, ...]
    closed: tuple[str, ...]
    contact_roles: bool


def read(to: Connection) -> CrmSettings:
    """The settings of a connection. Raises `ConfigFault`."""
    to.refuse_unknown(KEYS)
    most = int(to.number("credits_most", 0))
    api_url = to.url("api_url")
    if not api_url:
        raise ConfigFault(where=f"connections.crm.{to.name}.api_url", why="not-set")
    return CrmSettings(
        api_url=api_url,
        accounts_url=to.url("accounts_url") or api_url,
        client_id=to.text("client_id"),
        prefix=to.text("auth_prefix", "Service-oauthtoken"),
        version=to.text("api_version", "v8"),
        org_id=to.text("org_id"),
        modules=to.texts("modules"),
        skip_modules=to.texts("skip_modules"),
        rates=to.rates("rates"),
        parallel=max(1, int(to.number("parallel", 4))),
        credits_most=most or None,
        credits_floor=int(to.number("credits_floor", 500)),
        bulk_from=int(to.number("bulk_from", 100_000)),
        titles=to.texts("title_fields"),
        related=to.texts("related_modules", RELATED),
        closed=tuple(state.casefold() for state in to.texts("closed_states", CLOSED)),
        contact_roles=to.flag("contact_roles"),
    )
