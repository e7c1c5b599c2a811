"""The settings of a connection to a spend service. Production and staging are separate: hosts, keys and grants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from noarkit.errors import ConfigFault
from noarkit.services.pace import Rate
from noarkit.services.settings import Connection

KEYS = frozenset(
    {"api_url", "auth_url", "auth", "client_id", "client_secret", "refresh_token", "api_key", "company_id",
     "organization_id", "rates", "export_version", "redirect_url", "scopes", "final_after_days", "mcp_url",
     "mcp_write", "mcp_tools", "mcp_auth_prefix", "mcp_auth", "mcp_scopes", "with_internal", "sweep_days"}
)  # fmt: skip
SCOPES = (
    "accounting-entries:read",
    "export-jobs:read",
    "export-items:read",
    "users:read",
    "companies:read",
    "tag-groups:read",
    "tax-codes:read",
    "accounts:read",
    "vendors:read",
)
EXPORT_VERSIONS = (0, 1, 2, 3)
RETIRING = 0


@dataclass(frozen=True, slots=True)
class SpendSettings:
    """A connection's own settings."""

    api_url: str
    auth_url: str
    auth: Literal["oauth", "key"]
    client_id: str
    company_id: str
    organization_id: str
    rates: tuple[Rate, ...]
    export_version: int
    final_after_days: int
    with_internal: bool


def read_settings(connection: Connection) -> SpendSettings:
    """Reads the settings of a connection. Raises `ConfigFault`."""
    connection.refuse_unknown(KEYS)
    api_url = connection.url("api_url")
    place = f"connections.spend.{connection.name}"
    if not api_url:
        raise ConfigFault(where=f"{place}.api_url", why="not-set")
    auth = connection.text("auth", "oauth")
    if auth not in ("oauth", "key"):
        raise ConfigFault(where=f"{place}.auth", why="bad-value")
    version = int(connection.number("export_version", 2))
    if version not in EXPORT_VERSIONS:
        raise ConfigFault(where=f"{place}.export_version", why="bad-value")
    return SpendSettings(
        api_url=api_url,
        auth_url=connection.url("auth_url") or api_url,
        auth="key" if auth == "key" else "oauth",
        client_id=connection.text("client_id"),
        company_id=connection.text("company_id"),
        organization_id=connection.text("organization_id"),
        rates=connection.rates("rates", ("500/minute",)),
        export_version=version,
        final_after_days=int(connection.number("final_after_days", 0)),
        with_internal=connection.flag("with_internal"),
    )
