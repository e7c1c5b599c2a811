"""What applications ask: gates checked for a user, events, and tools for agents. Every check is counted: it leaves an
exposure behind, so that nobody who only reads may ever ask one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from noarkit.standins.features.lists import Refusal, refused

if TYPE_CHECKING:
    from noarkit.standins.features.service import Call, Features

READING = {"Get_List_of_Gates": "/gates", "Get_Gate_Details_by_ID": "/gates/{id}", "Get_Audit_Logs": "/audit_logs"}
WRITING = {"Create_Gate": "/gates"}


class Evaluation:
    """Checks and events, counted."""

    def __init__(self, features: Features) -> None:
        self._features = features
        self.checks = 0
        self.exposures = 0
        self.events = 0

    def answer(self, call: Call) -> Response:
        """The answer to a call that was let in. Raises `Refusal`."""
        if call.path == "/check_gate":
            return self._check(call)
        if call.path in ("/webhooks/event_webhook", "/log_event"):
            if not call.members().get("event"):
                raise Refusal(400, "event is required")
            self.events += 1
            return JSONResponse({"success": True}, 202)
        raise Refusal(404, "Not found")

    def mcp(self, call: Call) -> Response:
        """Tools for agents, by a console key: one that only reads is shown no others."""
        try:
            return self._mcp(call)
        except Refusal as refusal:
            return refused(refusal)

    def _check(self, call: Call) -> Response:
        told = call.members()
        names = told.get("gateNames") or [told.get("gateName")]
        self.checks += 1
        if not (told.get("serviceMetadata") or {}).get("exposureLoggingDisabled"):
            self.exposures += len(names)
        found = {str(name): self._value(str(name)) for name in names}
        return JSONResponse(found if told.get("gateNames") else found[str(names[0])])

    def _value(self, name: str) -> dict[str, object]:
        gate = self._features.store.get("gates", name)
        value = bool(gate and gate.get("isEnabled"))
        return {"name": name, "value": value, "rule_id": "default", "group_name": None}

    def _mcp(self, call: Call) -> Response:
        shown = call.headers.get("service-api-key", "")
        personal = self._features.consent.issuer.is_good(call.headers.get("authorization", "").removeprefix("Bearer "))
        if not personal and shown not in (self._features.read_key, self._features.write_key):
            raise Refusal(401, f"Invalid API key. Key: {shown}")
        asked = call.members()
        writes = personal or shown == self._features.write_key
        tools = {**READING, **(WRITING if writes else {})}
        if asked.get("method") == "initialize":
            told = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "features"}}
            return _said(asked, told)
        if "id" not in asked:
            return Response(status_code=202)
        if asked.get("method") == "tools/list":
            return _said(asked, {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in tools]})
        params = asked.get("params") or {}
        if asked.get("method") != "tools/call" or params.get("name") not in tools:
            return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "unknown"}})
        return _said(asked, {"content": [{"type": "text", "text": self._tool(call, params)}]})

    def _tool(self, call: Call, params: dict[str, Any]) -> str:  # Any: what JSON holds
        asked = params.get("arguments") or {}
        path = {**READING, **WRITING}[params["name"]].replace("{id}", str(asked.get("id")))
        method = "POST" if params["name"] in WRITING else "GET"
        inner = type(call)(method, path, {}, call.headers, self._body(asked))
        return bytes(self._features.calls.answer(inner).body).decode()

    def _body(self, asked: dict[str, Any]) -> bytes:  # Any: what JSON holds
        return bytes(JSONResponse(asked).body)


def _said(asked: dict[str, Any], result: object) -> Response:  # Any: what JSON holds
    return JSONResponse({"jsonrpc": "2.0", "id": asked.get("id"), "result": result})
