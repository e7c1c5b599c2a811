"""The settings of a connection to a feature-management service. Hosts and header names are settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from noarkit.errors import ConfigFault
from noarkit.services.mcp.tool_servers import KEYS as TOOL_KEYS
from noarkit.services.pace import Rate
from noarkit.services.settings import Connection

KEYS = frozenset(
    {"console_api_url", "http_api_url", "api_key", "write_key", "key_header", "version_header", "api_version",
     "server_key", "server_key_header", "metadata_name", "segment_prefix", "project_id", "rates", "read_rates",
     "wait_most_s", "volatile", "drop", "pseudonym_key", "kinds", "all_reviews", "mcp_auth", "auth_url", "client_id",
     "client_secret", "redirect_url", "scopes", "sweep_days", *TOOL_KEYS}
)  # fmt: skip
# the service's limits are documented as "about", and are shared with people in the console
RATES = ("90/10s", "850/900s")
# members that change without a change of the definition
VOLATILE = ("checksPerHour", "healthChecks", "healthCheckStatus", "count", "typeReason", "activeReview")
KINDS = (
    "gates", "dynamic_configs", "experiments", "layers", "segments", "param_stores", "autotunes", "holdouts", "metrics",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class FeaturesSettings:
    """A connection's own settings. `read_rates` is None if reads share the windows of changes."""

    console_url: str
    http_url: str
    mcp_auth: Literal["key", "oauth"]
    auth_url: str
    client_id: str
    key_header: str
    version_header: str
    api_version: str
    server_key_header: str
    metadata_name: str
    segment_prefix: str
    project_id: str
    rates: tuple[Rate, ...]
    read_rates: tuple[Rate, ...] | None
    wait_most_s: float
    volatile: frozenset[str]
    drop: tuple[str, ...]
    kinds: tuple[str, ...]
    all_reviews: bool


def read_settings(connection: Connection) -> FeaturesSettings:
    """Reads the settings of a connection. Raises `ConfigFault`."""
    connection.refuse_unknown(KEYS)
    place = f"connections.features.{connection.name}"
    console_url = connection.url("console_api_url")
    if not console_url:
        raise ConfigFault(where=f"{place}.console_api_url", why="not-set")
    kinds = connection.texts("kinds", KINDS)
    if not set(kinds) <= set(KINDS):
        raise ConfigFault(where=f"{place}.kinds", why="bad-value")
    http_url = connection.url("http_api_url")
    mcp_auth = connection.text("mcp_auth", "key")
    if mcp_auth not in ("key", "oauth"):
        raise ConfigFault(where=f"{place}.mcp_auth", why="bad-value")
    read_rates = connection.texts("read_rates", ("shared",))
    return FeaturesSettings(
        console_url=console_url,
        http_url=http_url,
        mcp_auth="oauth" if mcp_auth == "oauth" else "key",
        auth_url=connection.url("auth_url") or http_url,
        client_id=connection.text("client_id"),
        key_header=connection.text("key_header", "SERVICE-API-KEY"),
        version_header=connection.text("version_header", "SERVICE-API-VERSION"),
        api_version=connection.text("api_version", "20240601"),
        server_key_header=connection.text("server_key_header", "service-api-key"),
        metadata_name=connection.text("metadata_name", "serviceMetadata"),
        segment_prefix=connection.text("segment_prefix", "segment:"),
        project_id=connection.text("project_id"),
        rates=connection.rates("rates", RATES),
        read_rates=None if read_rates == ("shared",) else connection.rates("read_rates"),
        wait_most_s=connection.number("wait_most_s", 1_000.0),
        volatile=frozenset(connection.texts("volatile", VOLATILE)),
        drop=connection.texts("drop"),
        kinds=kinds,
        all_reviews=connection.flag("all_reviews"),
    )
