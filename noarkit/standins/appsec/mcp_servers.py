"""The service's tool servers: one takes an API key as it is, another, of the tenant, a token.

Both offer the same tools: some that read, some that change a decision or start a scan.
"""

from __future__ import annotations

import contextlib
import hmac
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from mcp.server import MCPServer
from mcp.types import ToolAnnotations
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

if TYPE_CHECKING:
    from noarkit.standins.appsec.service import AppSec

Json = dict[str, Any]
PATH = "/api/security-mcp/mcp"
_READS = ToolAnnotations(read_only_hint=True)
_BEARER = "Bearer "


class Gates:
    """Both servers, each behind its own way of being let in."""

    def __init__(self, service: AppSec) -> None:
        self._service = service
        tenant = service.store.tenant
        self._servers = {path: _server(service) for path in (PATH, f"{PATH}/{tenant}", f"/mcp/{tenant}")}

    def routes(self) -> list[BaseRoute]:
        """A route for each server."""
        found: list[BaseRoute] = []
        for path, server in self._servers.items():
            inner = server.streamable_http_app(streamable_http_path=path, json_response=True)
            found += [Route(path, _Guarded(one.app, self)) for one in inner.routes if isinstance(one, Route)]
        return found

    @contextlib.asynccontextmanager
    async def running(self, app: Starlette) -> AsyncIterator[None]:
        """Both servers, for as long as the stand-in runs."""
        async with contextlib.AsyncExitStack() as stack:
            for server in self._servers.values():
                await stack.enter_async_context(server.session_manager.run())
            yield

    def refusal(self, scope: Scope) -> Response | None:
        """The answer to a call that is not let in; None for one that may go on."""
        trouble = self._service.control.meets(scope["path"])
        if trouble is not None:
            return trouble
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        shown = headers.get("authorization", "")
        if scope["path"] == PATH:
            good = hmac.compare_digest(shown.encode(), self._service.api_key.encode())
        else:
            good = shown.startswith(_BEARER) and self._service.issuer.is_good(shown.removeprefix(_BEARER))
        return None if good else JSONResponse({"error": "invalid_token", "error_description": shown}, 401)


class _Guarded:
    def __init__(self, app: ASGIApp, gates: Gates) -> None:
        self._app = app
        self._gates = gates

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._gates.refusal(scope)
        await (self._app if refusal is None else refusal)(scope, receive, send)


def _server(service: AppSec) -> MCPServer:
    server = MCPServer("security", version="1", log_level="CRITICAL")

    def list_projects() -> Json:
        return {"projects": list(service.store.tables["projects"].values())}

    def list_findings(scan_id: str) -> Json:
        return {"findings": service.store.results(scan_id)}

    def list_scans(project_id: str = "") -> Json:
        return {"scans": [one for one in service.store.scans() if not project_id or one["projectId"] == project_id]}

    def triage_history(project_id: str, similarity_id: str) -> Json:
        return service.store.trail.predicates(project_id, similarity_id)

    def trigger_scan(project_id: str) -> Json:
        return service.store.new_scan(project_id, {})

    def change_finding_state(project: str, similarity: str, state: str) -> Json:
        service.store.trail.decide(project, similarity, state)
        return {"state": state}

    server.add_tool(list_projects, name="listProjects", description="Every project.", annotations=_READS)
    server.add_tool(list_findings, name="listFindings", description="The findings of a scan.", annotations=_READS)
    server.add_tool(list_scans, name="listScans", description="Every scan.", annotations=_READS)
    server.add_tool(triage_history, name="getTriageHistory", description="Who decided what.", annotations=_READS)
    server.add_tool(trigger_scan, name="triggerScan", description="Scans a project.")
    server.add_tool(change_finding_state, name="changeFindingState", description="Decides about a finding.")
    return server
