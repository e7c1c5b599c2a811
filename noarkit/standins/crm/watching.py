"""Notifications: channels on modules, with conditions on fields, that end after a while and are told by callback."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.responses import JSONResponse, Response

from noarkit.standins.calling import Call
from noarkit.standins.crm.data import told as time_told
from noarkit.standins.crm.refusal import Refusal
from noarkit.standins.hooks import Delivery, Hooks

_OPERATIONS = {"insert": "create", "update": "edit", "delete": "delete"}
_LONGEST = timedelta(days=7)


class Watching:
    """Answers /crm/v8/actions/watch, and tells the channels what happened."""

    def __init__(self) -> None:
        self.hooks = Hooks()
        self._channels: dict[str, dict[str, Any]] = {}
        self._lock = threading.Lock()

    def answer(self, call: Call) -> Response:
        """The answer. Raises `Refusal`."""
        with self._lock:
            if call.method == "GET":
                return self._listed(call)
            if call.method == "DELETE":
                ids = call.query.get("channel_ids", "").split(",")
                gone = [one for one in ids if self._channels.pop(one, None) is not None]
                if not gone:
                    raise Refusal("INVALID_DATA", 400, "channel_ids")
                return JSONResponse({"watch": [_ended(one) for one in gone]})
            watches = json.loads(call.body or b"{}").get("watch")
            if not isinstance(watches, list) or not watches:
                raise Refusal("MANDATORY_NOT_FOUND", 400, "watch")
            results = [self._set(one, call.method) for one in watches]
        bad = sum(one["status"] == "error" for one in results)
        good = 201 if call.method == "POST" else 200
        return JSONResponse({"watch": results}, 207 if 0 < bad < len(results) else 400 if bad else good)

    def happened(self, module: str, operation: str, ids: Sequence[str], fields: Sequence[str]) -> None:
        """Tells every channel that watches for it."""
        with self._lock:
            channels = list(self._channels.values())
        for channel in channels:
            wanted = {f"{module}.all", f"{module}.{_OPERATIONS[operation]}"}
            if wanted.isdisjoint(channel["events"]) or datetime.fromisoformat(channel["channel_expiry"]) < datetime.now(
                UTC
            ):
                continue
            if not _fits(channel, module, fields):
                continue
            body: dict[str, Any] = {
                "server_time": int(time.time() * 1000),
                "query_params": {},
                "module": module,
                "resource_uri": f"/crm/v8/{module}",
                "ids": list(ids),
                "operation": operation,
                "channel_id": str(channel["channel_id"]),
                "token": channel.get("token"),
                **(
                    {"affected_fields": [{one: list(fields)} for one in ids]}
                    if channel.get("return_affected_field_values")
                    else {}
                ),
            }
            data = json.dumps(body).encode()
            self.hooks.send(Delivery(channel["notify_url"], data, lambda: {"Content-Type": "application/json"}))

    def close(self) -> None:
        """Ends the thread that sends."""
        self.hooks.close()

    def _listed(self, call: Call) -> Response:
        wanted = call.query.get("channel_id")
        found = [one for one in self._channels.values() if wanted in (None, str(one["channel_id"]))]
        shown = [{name: value for name, value in one.items() if name != "token"} for one in found]
        return JSONResponse({"watch": shown, "info": {"count": len(found), "page": 1, "more_records": False}})

    def _set(self, told: Mapping[str, Any], method: str) -> dict[str, Any]:
        channel_id = str(told.get("channel_id") or "")
        known = self._channels.get(channel_id)
        if not channel_id.isdigit() or (method == "POST" and not told.get("notify_url")):
            return _wrong("MANDATORY_NOT_FOUND", "channel_id")
        if method in ("PUT", "PATCH") and known is None:
            return _wrong("INVALID_DATA", "channel_id")
        if len(str(told.get("token") or "")) > 50:
            return _wrong("INVALID_DATA", "token")
        now = datetime.now(UTC)
        try:
            ends = (
                datetime.fromisoformat(told["channel_expiry"])
                if told.get("channel_expiry")
                else now + timedelta(hours=1)
            )
        except ValueError:
            return _wrong("INVALID_DATA", "channel_expiry")
        channel = {**(known or {} if method == "PATCH" else {}), **told}
        if method == "PATCH" and told.get("_delete_events"):
            channel["events"] = [one for one in (known or {}).get("events", []) if one not in told.get("events", [])]
        channel["channel_expiry"] = time_told(min(ends, now + _LONGEST))
        channel.setdefault("events", [])
        self._channels[channel_id] = channel
        return _done(channel_id, channel["events"], channel["channel_expiry"])


def _fits(channel: Mapping[str, Any], module: str, fields: Sequence[str]) -> bool:
    """Whether what changed is what the channel's conditions name; a channel without any wants all."""
    conditions = [
        one for one in channel.get("notification_condition") or [] if one.get("module", {}).get("api_name") == module
    ]
    if not conditions or not fields:
        return True
    return any(_selected(one.get("field_selection") or {}, fields) for one in conditions)


def _selected(selection: Mapping[str, Any], fields: Sequence[str]) -> bool:
    if "group" in selection:
        inner = [_selected(one, fields) for one in selection["group"]]
        return all(inner) if str(selection.get("group_operator", "or")).casefold() == "and" else any(inner)
    return str(selection.get("field", {}).get("api_name", "")) in fields


def _done(channel_id: str, events: Sequence[str], expiry: str = "") -> dict[str, Any]:
    told = [
        {
            "channel_expiry": expiry,
            "resource_uri": f"/crm/v8/{one.split('.')[0]}",
            "resource_id": "1",
            "resource_name": one.split(".")[0],
            "channel_id": channel_id,
        }
        for one in events
    ]
    return {"code": "SUCCESS", "status": "success", "message": "done", "details": {"events": told}}


def _ended(channel_id: str) -> dict[str, Any]:
    details = {"resource_uri": "/crm/v8/actions/watch", "resource_id": "1", "channel_id": channel_id}
    return {"code": "SUCCESS", "status": "success", "message": "done", "details": details}


def _wrong(code: str, name: str) -> dict[str, Any]:
    return {"code": code, "status": "error", "message": "invalid data", "details": {"api_name": name}}
