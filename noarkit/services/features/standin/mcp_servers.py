"""The service's MCP tools for assistants: some read, some change something, and one reads any path of the console. A
read-only key may call no tool that changes something."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

from noarkit.services.features.standin.calls import Calls
from noarkit.services.features.standin.lists import Refusal
from noarkit.services.standins.call import Call
from noarkit.services.standins.windows import Windows

Json = dict[str, Any]
PATH = "/v1/mcp"
_READS = ToolAnnotations(read_only_hint=True)
_KINDS = {"Gate": "gates", "Dynamic_Config": "dynamic_configs", "Segment": "segments", "Experiment": "experiments"}


def servers(calls: Calls, windows: Windows, may_write: Callable[[Mapping[str, str]], bool]) -> dict[str, MCPServer]:
    """Builds the one server; `may_write` judges the caller's headers."""
    server = MCPServer("features", version="1", log_level="CRITICAL")
    tools = _Tools(calls, windows, may_write)
    for title, kind in _KINDS.items():
        server.add_tool(
            tools.listing(kind), name=f"Get_List_of_{title}s", description="All of them.", annotations=_READS
        )
        server.add_tool(tools.showing(kind), name=f"Get_{title}_Details_by_ID", description="One.", annotations=_READS)
    server.add_tool(tools.audit, name="Get_Audit_Logs", description="Who changed what.", annotations=_READS)
    server.add_tool(tools.create, name="Create_Gate", description="Makes a gate.")
    server.add_tool(
        tools.read_anything, name="api_read", description="Reads a path of the console.", annotations=_READS
    )
    return {PATH: server}


@dataclass(frozen=True, slots=True)
class _Tools:
    calls: Calls
    windows: Windows
    may_write: Callable[[Mapping[str, str]], bool]

    def listing(self, kind: str) -> Callable[..., Json]:
        """Makes a tool that lists a kind."""

        def list_kind(page: int = 1, limit: int = 100) -> Json:
            return self._request(f"/{kind}", {"page": [str(page)], "limit": [str(limit)]})

        return list_kind

    def showing(self, kind: str) -> Callable[..., Json]:
        """Makes a tool that shows one definition of a kind."""

        def show_one(id: str) -> Json:
            return self._request(f"/{kind}/{id}")

        return show_one

    def audit(self, startDate: str = "", endDate: str = "") -> Json:
        """Reads the audit log."""
        return self._request("/audit_logs", {"startDate": [startDate], "endDate": [endDate]})

    def create(self, context: Context, name: str, description: str = "") -> Json:
        """Creates a gate. It counts as a change."""
        if not self.may_write(context.headers or {}):
            raise ToolError("403: This key may only read")
        if self.windows.enter() > 0:
            raise ToolError("429: Too many requests")
        return self._request("/gates", method="POST", body={"name": name, "description": description})

    def read_anything(self, path: str) -> Json:
        """Reads any path of the console, keys included."""
        return self._request(path)

    def _request(
        self, path: str, queries: dict[str, list[str]] | None = None, *, method: str = "GET", body: Json | None = None
    ) -> Json:
        try:
            answer = self.calls.answer(
                Call(method, path, queries or {}, {}, b"" if body is None else json.dumps(body).encode())
            )
        except Refusal as refusal:
            raise ToolError(f"{refusal.status}: {refusal.message}") from refusal
        value: Json = json.loads(bytes(answer.body))
        return value
