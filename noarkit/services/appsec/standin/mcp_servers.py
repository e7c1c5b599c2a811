"""The service's MCP tool servers: one takes an API key, another, of the tenant, a token.

Both offer the same tools: some that read, some that change a decision or start a scan.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from starlette.responses import JSONResponse, Response

from noarkit.services.appsec.standin.data import Store
from noarkit.services.standins.mcp_gate import BEARER, Gatekeeper

Json = dict[str, Any]  # Any: what JSON holds
PATH = "/api/security-mcp/mcp"
_READS = ToolAnnotations(read_only_hint=True)


def servers(store: Store) -> dict[str, MCPServer]:
    """Builds the servers by path, those of the tenant included."""
    return {path: _server(store) for path in (PATH, f"{PATH}/{store.tenant}", f"/mcp/{store.tenant}")}


def make_gatekeeper(api_key: str, is_known: Callable[[str], bool], challenge: Callable[[str], str]) -> Gatekeeper:
    """Checks callers: the first server takes the API key, the others a valid bearer token."""

    def refuse(path: str, headers: Mapping[str, str], query: str) -> Response | None:
        authorization = headers.get("authorization", "")
        if path == PATH:
            good = hmac.compare_digest(authorization.encode(), api_key.encode())
        else:
            good = authorization.startswith(BEARER) and is_known(authorization.removeprefix(BEARER))
        headers_told = {} if path == PATH else {"WWW-Authenticate": challenge(path)}
        body = {"error": "invalid_token", "error_description": authorization}
        return None if good else JSONResponse(body, 401, headers_told)

    return refuse


def _server(store: Store) -> MCPServer:
    server = MCPServer("security", version="1", log_level="CRITICAL")

    def list_projects() -> Json:
        return {"projects": list(store.tables["projects"].values())}

    def list_findings(scan_id: str) -> Json:
        return {"findings": store.results(scan_id)}

    def list_scans(project_id: str = "") -> Json:
        return {"scans": [scan for scan in store.scans() if not project_id or scan["projectId"] == project_id]}

    def triage_history(project_id: str, similarity_id: str) -> Json:
        return store.trail.predicates(project_id, similarity_id)

    def trigger_scan(project_id: str) -> Json:
        if project_id not in store.tables["projects"]:
            raise ToolError(f"404: no such project: {project_id}")
        return store.order_scan(project_id, {})

    def change_finding_state(project: str, similarity: str, state: str) -> Json:
        store.trail.decide(project, similarity, state)
        return {"state": state}

    server.add_tool(list_projects, name="listProjects", description="Every project.", annotations=_READS)
    server.add_tool(list_findings, name="listFindings", description="The findings of a scan.", annotations=_READS)
    server.add_tool(list_scans, name="listScans", description="Every scan.", annotations=_READS)
    server.add_tool(triage_history, name="getTriageHistory", description="Who decided what.", annotations=_READS)
    server.add_tool(trigger_scan, name="triggerScan", description="Scans a project.")
    server.add_tool(change_finding_state, name="changeFindingState", description="Decides about a finding.")
    return server
