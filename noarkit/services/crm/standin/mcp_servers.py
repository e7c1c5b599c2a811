"""The CRM's four MCP tool servers: reading and queries, writing and bulk, customisation of modules, automation.

A tool is a call of the REST service by another way: it costs the same credits, keeps the same limits and gives the same
errors.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from string import Template
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from starlette.responses import Response

from noarkit.services.standins.call import Call
from noarkit.services.standins.mcp_gate import token_of

Json = dict[str, Any]  # Any: what JSON holds
Through = Callable[[Call, str], Response]  # what a call becomes, by the token that was shown


@dataclass(frozen=True, slots=True)
class _Tool:
    """A tool, and the REST call behind it."""

    name: str
    method: str
    path: str
    description: str


_READ_TOOLS = (
    _Tool("Crm_getModules", "GET", "/crm/v8/settings/modules", "All modules."),
    _Tool("Crm_getFields", "GET", "/crm/v8/settings/fields", "The fields of a module."),
    _Tool("Crm_getUsers", "GET", "/crm/v8/users", "The users."),
    _Tool("Crm_getOrganization", "GET", "/crm/v8/org", "The organisation."),
    _Tool("Crm_getRecords", "GET", "/crm/v8/$module", "Records of a module, a page at a time."),
    _Tool("Crm_getRecord", "GET", "/crm/v8/$module/$id", "One record."),
    _Tool("Crm_getRelatedRecords", "GET", "/crm/v8/$module/$id/$related", "What hangs on a record."),
    _Tool("Crm_executeCOQLQuery", "POST", "/crm/v8/coql", "The records of a query."),
)
_WRITE_TOOLS = (
    _Tool("Crm_getRecord", "GET", "/crm/v8/$module/$id", "One record."),
    _Tool("Crm_createRecords", "POST", "/crm/v8/$module", "Makes up to 100 records."),
    _Tool("Crm_updateRecords", "PUT", "/crm/v8/$module", "Changes up to 100 records."),
    _Tool("Crm_upsertRecords", "POST", "/crm/v8/$module/upsert", "Makes or changes up to 100 records."),
    _Tool("Crm_deleteRecords", "DELETE", "/crm/v8/$module", "Deletes up to 100 records."),
    _Tool("Crm_createBulkReadJob", "POST", "/crm/bulk/v8/read", "Begins to read very many records."),
    _Tool("Crm_getBulkReadJob", "GET", "/crm/bulk/v8/read/$id", "How far a bulk read is."),
)
_FIELDS = (
    _Tool("Crm_getLayouts", "GET", "/own/layouts", "The layouts that were made here."),
    _Tool("Crm_createLayout", "POST", "/own/layouts", "Makes a layout."),
    _Tool("Crm_updateLayout", "PUT", "/own/layouts/$id", "Changes a layout."),
    _Tool("Crm_getCustomFields", "GET", "/own/fields", "The fields that were made here."),
    _Tool("Crm_createCustomField", "POST", "/own/fields", "Makes a field."),
    _Tool("Crm_deleteCustomField", "DELETE", "/own/fields/$id", "Deletes a field."),
)
_AUTOMATION = (
    _Tool("Crm_getWorkflowRules", "GET", "/own/rules", "The rules that were made here."),
    _Tool("Crm_createWorkflowRule", "POST", "/own/rules", "Makes a rule."),
    _Tool("Crm_updateWorkflowRule", "PUT", "/own/rules/$id", "Changes a rule."),
    _Tool("Crm_deleteWorkflowRule", "DELETE", "/own/rules/$id", "Deletes a rule."),
)
SERVERS = {
    "data-insights": _READ_TOOLS,
    "data-operations": _WRITE_TOOLS,
    "module-customization": _FIELDS,
    "workflow-automation": _AUTOMATION,
}


def servers(handler: Through) -> dict[str, MCPServer]:
    """Builds the four servers by path; their calls go to the handler."""
    servers_by_path = {}
    for path, tools in SERVERS.items():
        server = MCPServer(f"crm {path}", version="8", log_level="CRITICAL")
        for tool in tools:
            _offer(server, handler, tool)
        servers_by_path[f"/mcp/{path}/message"] = server
    return servers_by_path


def addresses(url: str, key: str) -> tuple[str, ...]:
    """Returns their addresses; the key is part of each."""
    return tuple(f"{url}/mcp/{path}/message?key={key}" for path in SERVERS)


def _offer(server: MCPServer, handler: Through, tool: _Tool) -> None:
    def run(
        context: Context,
        path_variables: Json | None = None,
        query_params: Json | None = None,
        body: Json | None = None,
    ) -> Json:
        try:
            path = Template(tool.path).substitute(path_variables or {})
        except KeyError as error:
            raise ToolError(f"path_variables: {error.args[0]} is missing") from error
        queries = {name: [str(value)] for name, value in (query_params or {}).items()}
        call = Call(tool.method, path, queries, {}, json.dumps(body or {}).encode())
        answer = handler(call, token_of(context))
        answer_body: Json = json.loads(bytes(answer.body) or b"{}")
        if answer.status_code >= 400:
            raise ToolError(f"{answer_body.get('code', answer.status_code)}: {answer_body.get('message', '')}")
        return answer_body

    hints = ToolAnnotations(read_only_hint=True) if tool.method == "GET" or "Query" in tool.name else None
    server.add_tool(run, name=tool.name, description=tool.description, annotations=hints, structured_output=True)
