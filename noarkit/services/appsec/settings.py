"""The settings of a connection to an application security service, and the claims that an API key holds."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Literal, cast
from urllib.parse import quote, urlsplit

from noarkit.errors import ConfigFault
from noarkit.secrets import Secret
from noarkit.services.pace import Rate
from noarkit.services.settings import Connection

KEYS = frozenset(
    {"api_url", "auth_url", "tenant", "auth", "client_id", "client_id_claim", "client_secret", "api_key", "rates",
     "redirect_url", "scopes", "results_a_page", "reports", "sbom", "policies", "decisions", "audit", "poll_s",
     "job_timeout_s", "scan_timeout_s", "upload_part_bytes", "accept", "mcp_path", "mcp_url", "mcp_urls", "mcp_write",
     "mcp_tools", "mcp_auth_prefix", "sweep_days"}
)  # fmt: skip
Auth = Literal["key", "client", "login", "register"]
_WAYS = ("key", "client", "login", "register")
_REALMS = "/auth/realms/"
_TOOLS = "/api/security-mcp/mcp"
PART_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class AppSecSettings:
    """A connection's own settings."""

    api_url: str
    auth_url: str
    tenant: str
    auth: Auth
    client_id: str
    rates: tuple[Rate, ...]
    results_a_page: int
    reports: bool
    sbom: bool
    policies: bool
    decisions: bool
    audit: bool
    poll_s: float
    job_timeout_s: float
    scan_timeout_s: float
    upload_part_bytes: int
    accept: str
    tools_at: str

    @property
    def realm_url(self) -> str:
        """The OAuth realm, with the tenant's name in small letters."""
        return f"{self.auth_url}{_REALMS}{self.tenant.casefold()}/protocol/openid-connect"


def read_settings(connection: Connection) -> AppSecSettings:
    """Reads the settings of a connection. A host named by the key counts only if it is listed in `hosts` or is the
    service's own. Raises `ConfigFault`, `SecretFault`."""
    connection.refuse_unknown(KEYS)
    place = f"connections.appsec.{connection.name}"
    api_url = connection.url("api_url")
    if not api_url:
        raise ConfigFault(where=f"{place}.api_url", why="not-set")
    auth = connection.text("auth", "key")
    if auth not in _WAYS:
        raise ConfigFault(where=f"{place}.auth", why="bad-value")
    claims = claims_of(connection.secret("api_key")) if auth == "key" else {}
    issuer = urlsplit(str(claims.get("iss") or ""))
    auth_url, tenant = connection.url("auth_url"), connection.text("tenant")
    if not auth_url and issuer.hostname:
        if issuer.hostname not in {urlsplit(api_url).hostname, *connection.texts("hosts")}:
            raise ConfigFault(where=f"{place}.auth_url", why="host")
        auth_url = f"{issuer.scheme}://{issuer.netloc}"
    if not tenant and issuer.path.startswith(_REALMS):
        tenant = issuer.path.removeprefix(_REALMS).partition("/")[0]
    if not tenant:
        raise ConfigFault(where=f"{place}.tenant", why="not-set")
    claimed_id = claims.get(connection.text("client_id_claim", "azp"))
    client_id = connection.text("client_id") or (claimed_id if isinstance(claimed_id, str) else "")
    if not client_id and auth != "register":
        raise ConfigFault(where=f"{place}.client_id", why="not-set")
    return AppSecSettings(
        api_url=api_url,
        auth_url=auth_url or api_url,
        tenant=tenant,
        auth=cast(Auth, auth),  # one of them, as was seen above
        client_id=client_id,
        rates=connection.rates("rates", ("10/s",)),
        results_a_page=max(1, int(connection.number("results_a_page", 10_000))),
        reports=connection.flag("reports", True),
        sbom=connection.flag("sbom", True),
        policies=connection.flag("policies", True),
        decisions=connection.flag("decisions", True),
        audit=connection.flag("audit", True),
        poll_s=connection.number("poll_s", 5.0),
        job_timeout_s=connection.number("job_timeout_s", 900.0),
        scan_timeout_s=connection.number("scan_timeout_s", 3_600.0),
        upload_part_bytes=max(1, int(connection.number("upload_part_bytes", PART_BYTES))),
        accept=connection.text("accept", "application/json; version=1.0"),
        tools_at=api_url
        + connection.text("mcp_path", _TOOLS if auth == "key" else f"{_TOOLS}/{quote(tenant, safe='')}"),
    )


def claims_of(key: Secret | None) -> dict[str, object]:
    """Decodes the claims of a key that is a JWT; empty if it is none. The signature is not checked."""
    parts = key.reveal().split(".") if key is not None else []
    if len(parts) != 3:
        return {}
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (ValueError, RecursionError):
        return {}
    return claims if isinstance(claims, dict) else {}
