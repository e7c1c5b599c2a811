"""The tools that the service offers to agents (MCP), by the console key or a person's consent. Only those that are
known to read are called, by their whole names; the rest are shown, never used."""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from noarkit.connectors.client import Client
from noarkit.connectors.features.service import Features
from noarkit.connectors.wire import Request
from noarkit.errors import ConfigFault, ServiceRefused, ServiceStrange, UsageFault

READING = frozenset(
    {"Get_List_of_Gates", "Get_Gate_Details_by_ID", "Get_List_of_Experiments", "Get_Experiment_Details_by_ID",
     "Get_List_of_Dynamic_Configs", "Get_Dynamic_Config_Details_by_ID", "Get_Dynamic_Config_Version_History",
     "Get_List_of_Segments", "Get_Segment_Details_by_ID", "Get_Audit_Logs"}
)  # fmt: skip
_PROTOCOL = "2025-06-18"
_MEDIA = "application/json"


class Tools:
    """One session with the service's tools."""

    def __init__(self, service: Features) -> None:
        settings = service.settings
        if not settings.mcp_url:
            raise ConfigFault(where=f"connections.features.{service.to.name}.mcp_url", why="not-set")
        reading = service.calls.reading
        self._client = Client(
            reading.wire, settings.mcp_url, service.agent_pass(), reading.pace, persistence=reading.persistence,
            clock=reading.clock,
        )  # fmt: skip
        self._number = 0
        self._headers = {"Accept": "application/json", "MCP-Protocol-Version": _PROTOCOL}
        self._ask("initialize", {"protocolVersion": _PROTOCOL, "capabilities": {}, "clientInfo": {"name": "noarkit"}})

    def names(self) -> dict[str, bool]:
        """Every tool that is offered to this key, and whether we would call it."""
        found = self._ask("tools/list", {}).get("tools")
        tools = found if isinstance(found, list) else []
        return {str(tool["name"]): tool["name"] in READING for tool in tools if isinstance(tool, Mapping)}

    def call(self, name: str, arguments: Mapping[str, object]) -> str:
        """What a tool that reads tells. Raises `UsageFault` for any other."""
        if name not in READING:
            raise UsageFault(what="bad-value", where=name)
        content = self._ask("tools/call", {"name": name, "arguments": dict(arguments)}).get("content")
        parts = content if isinstance(content, list) else []
        return "".join(str(part.get("text") or "") for part in parts if isinstance(part, Mapping))

    def _ask(self, method: str, params: Mapping[str, object]) -> Mapping[str, object]:
        self._number += 1
        told = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": dict(params)}
        asked = Request(
            "POST", self._client.base, (), self._headers, orjson.dumps(told), _MEDIA, repeatable=True
        )  # fmt: skip
        answer = self._client.ask(asked)
        members = answer.members()
        error, result = members.get("error"), members.get("result")
        if isinstance(error, Mapping):
            raise ServiceRefused(where=answer.where, why=self._client.wire.scrubber.clean(str(error.get("message"))))
        if not isinstance(result, Mapping):
            raise ServiceStrange(where=answer.where, why="not-an-object")
        return result
