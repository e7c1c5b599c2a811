"""The CRM as a kind of service."""

from __future__ import annotations

from noarkit.services.crm.calls import cost_of_tool
from noarkit.services.crm.channels import renew_webhooks
from noarkit.services.crm.commands import COMMANDS
from noarkit.services.crm.known_items import again_id, names_no_case
from noarkit.services.crm.service import open_login, open_service
from noarkit.services.crm.settings import KEYS
from noarkit.services.kind import ServiceKind, ToolKind, WebhookKind

_TOOLS = (
    "getModules", "getModule", "getFields", "getField", "getCustomFields", "getLayouts", "getLayout", "getUsers",
    "getUser", "getOrganization", "getRecords", "getRecord", "getRelatedRecords", "getRelatedLists",
    "getDeletedRecords", "getRecordCount", "getTimelines", "getTimeline", "getNotes", "getAttachments", "getEmails",
    "getCustomViews",
    "searchRecords", "executeCOQLQuery", "getWorkflowRules", "getWorkflowRule", "getBulkReadJob",
)  # fmt: skip

CRM = ServiceKind(
    name="crm",
    package="noarkit.services.crm",
    setting_keys=KEYS,
    open_service=open_service,
    open_login=open_login,
    commands=COMMANDS,
    webhooks=WebhookKind("token", event_prefix="module"),
    renew_webhooks=renew_webhooks,
    tools=ToolKind(_TOOLS, cost=cost_of_tool, default_consent=lambda connection: "connection"),
    standin="noarkit.services.crm.standin.service:standin",
    chances="noarkit.services.crm.standin.history:CHANCES",
    takes_ids=True,
    again_id=again_id,
    names_no_case=names_no_case,
)
