"""The feature-management service as a kind of service."""

from __future__ import annotations

from noarkit.services.features.commands import COMMANDS
from noarkit.services.features.service import open_login, open_service
from noarkit.services.features.settings import KEYS
from noarkit.services.kind import ServiceKind, ToolKind, WebhookKind

_TOOLS = (
    "Get_List_of_Gates", "Get_Gate_Details_by_ID", "Get_Gate_Version_History", "Get_List_of_Experiments",
    "Get_Experiment_Details_by_ID", "Get_List_of_Dynamic_Configs", "Get_Dynamic_Config_Details_by_ID",
    "Get_Dynamic_Config_Version_History", "Get_List_of_Segments", "Get_Segment_Details_by_ID", "Get_List_of_Layers",
    "Get_Layer_Details_by_ID", "Get_List_of_Metrics", "Get_Metric_Details_by_ID", "Get_Audit_Logs", "gate_read",
    "experiment_read", "dynamic_config_read", "metric_read", "get_context", "discover_tools",
)  # fmt: skip

FEATURES = ServiceKind(
    name="features",
    package="noarkit.services.features",
    setting_keys=KEYS,
    open_service=open_service,
    open_login=open_login,
    commands=COMMANDS,
    webhooks=WebhookKind("stamped", "X-Service-Signature", "X-Service-Request-Timestamp"),
    tools=ToolKind(_TOOLS, has_whole_names=True),
    standin="noarkit.services.features.standin.service:standin",
    chances="noarkit.services.features.standin.history:CHANCES",
)
