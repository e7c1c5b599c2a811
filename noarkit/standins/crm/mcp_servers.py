"""The CRM's four tool servers: reading and queries, writing and bulk, customisation of modules, automation.

A tool is a call of the REST service behind another door: it costs the same credits, keeps the same limits and is
refused with the same words.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from string import Template
from typing import TYPE_CHECKING, Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from starlette.responses import JSONResponse, Response

from noarkit.standins.crm.refusal import Refusal
from noarkit.standins.mcp_gate import Gate, token_of

if TYPE_CHECKING:
    from noarkit.standins.crm.service import Crm

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Tool:
    """A tool, and the call it makes."""

    name: str
    method: str
    path: str
    told: str


_READING = (
    _Tool("Crm_getModules", "GET", "/crm/v8/settings/modules", "All modules."),
    _Tool("Crm_getFields", "GET", "/crm/v8/settings/fields", "The fields of a module."),
    _Tool("Crm_getUsers", "GET", "/crm/v8/users", "The users."),
    _Tool("Crm_getOrganization", "GET", "/crm/v8/org", "The organisation."),
    _Tool("Crm_getRecords", "GET", "/crm/v8/$module", "Records of a module, a page at a time."),
    _Tool("Crm_getRecord", "GET", "/crm/v8/$module/$id", "One record."),
    _Tool("Crm_getRelatedRecords", "GET", "/crm/v8/$module/$id/$related", "What hangs on a record."),
    _Tool("Crm_executeCOQLQuery", "POST", "/crm/v8/coql", "The records of a query."),
)
_WRITING = (
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
    "data-insights": _READING,
    "data-operations": _WRITING,
    "module-customization": _FIELDS,
    "workflow-automation": _AUTOMATION,
}


def gate(crm: Crm, key: str) -> Gate:
    """The four servers."""
    made = Gate(key, crm.control.meets, crm.issuer.is_good)
    own = _Own(crm)
    for path, tools in SERVERS.items():
        server = MCPServer(f"crm {path}", version="8", log_level="CRITICAL")
        for tool in tools:
            _offer(server, crm, own, tool)
        made.servers.append((f"/mcp/{path}/message", server))
    return made


def addresses(url: str, key: str) -> tuple[str, ...]:
    """Where they are; the key is part of it."""
    return tuple(f"{url}/mcp/{path}/message?key={key}" for path in SERVERS)


def _offer(server: MCPServer, crm: Crm, own: _Own, tool: _Tool) -> None:
    def run(
        context: Context,
        path_variables: Json | None = None,
        query_params: Json | None = None,
        body: Json | None = None,
    ) -> Json:
        from noarkit.standins.crm.service import PREFIX, Call

        try:
            path = Template(tool.path).substitute(path_variables or {})
        except KeyError as error:
            raise ToolError(f"path_variables: {error.args[0]} is missing") from error
        query = {name: str(value) for name, value in (query_params or {}).items()}
        headers = {"authorization": PREFIX + token_of(context)}
        call = Call(tool.method, path, query, headers, json.dumps(body or {}).encode())
        answer = crm.answered(call) if not path.startswith("/own/") else crm.answered_by(call, own.answer)
        told: Json = json.loads(bytes(answer.body) or b"{}")
        if answer.status_code >= 400:
            raise ToolError(f"{told.get('code', answer.status_code)}: {told.get('message', '')}")
        return told

    hints = ToolAnnotations(read_only_hint=True) if tool.method == "GET" or "Query" in tool.name else None
    server.add_tool(run, name=tool.name, description=tool.told, annotations=hints, structured_output=True)


@dataclass(slots=True)
class _Own:
    """Layouts, fields and rules: what the REST stand-in does not keep."""

    crm: Crm
    held: dict[str, dict[str, Json]] = field(default_factory=dict)

    def answer(self, call: Any) -> Response:  # a Call; its module imports this one
        """The answer. Raises `Refusal`."""
        _, _, kind, *rest = call.path.split("/")
        held = self.held.setdefault(kind, {})
        if call.method == "GET":
            return JSONResponse({kind: list(held.values())})
        if call.method == "POST":
            one = self.crm.store.new_id()
            held[one] = {**_object(call.body), "id": one}
            return JSONResponse({kind: [held[one]]}, 201)
        if not rest or rest[0] not in held:
            raise Refusal("INVALID_DATA", 400, "the id given seems to be invalid")
        if call.method == "DELETE":
            return JSONResponse({kind: [held.pop(rest[0])]})
        held[rest[0]] |= {name: value for name, value in _object(call.body).items() if name != "id"}
        return JSONResponse({kind: [held[rest[0]]]})


def _object(body: bytes) -> Mapping[str, Any]:
    found = json.loads(body)
    return found if isinstance(found, dict) else {}
