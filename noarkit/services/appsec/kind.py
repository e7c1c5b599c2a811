"""The application security service as a kind of service."""

from __future__ import annotations

from noarkit.services.appsec.access import open_login
from noarkit.services.appsec.commands import COMMANDS
from noarkit.services.appsec.service import open_service
from noarkit.services.appsec.settings import KEYS
from noarkit.services.kind import ServiceKind, ToolKind, WebhookKind

_TOOLS = (
    "listFindings", "getFindingDetails", "getTriageHistory", "getTenantVulnerabilitiesSummary", "listScans",
    "getLatestScans", "getScanDetails", "listProjects", "resolveProject", "getProjectConfig", "listApplications",
    "getApplicationDetails",
)  # fmt: skip

APPSEC = ServiceKind(
    name="appsec",
    package="noarkit.services.appsec",
    setting_keys=KEYS,
    open_service=open_service,
    open_login=open_login,
    commands=COMMANDS,
    webhooks=WebhookKind("body", "X-Webhook-Signature", may_be_unsigned=True),
    tools=ToolKind(_TOOLS),
    standin="noarkit.services.appsec.standin.service:standin",
    chances="noarkit.services.appsec.standin.history:CHANCES",
)
