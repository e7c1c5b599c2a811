"""Notification channels on modules, with field conditions; they expire, and are called back on changes."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.responses import JSONResponse, Response

from noarkit.services.crm.standin.data import format_time as time_told
from noarkit.services.crm.standin.refusal import Refusal
from noarkit.services.standins.call import Call
from noarkit.services.standins.hooks import Delivery, Hooks

_OPERATIONS = {"insert": "create", "update": "edit", "delete": "delete"}
_LONGEST = timedelta(days=7)


class NotificationChannels:
    """Answers /crm/v8/actions/watch, and notifies the channels."""

    def __init__(self) -> None:
        self.hooks = Hooks()
        self._channels: dict[str, dict[str, Any]] = {}
        self._lock = threading.Lock()

    def answer(self, call: Call) -> Response:
        """Answers a call. Raises `Refusal`."""
        with self._lock:
            if call.method == "GET":
                return self._list_channels(call)
            if call.method == "DELETE":
                ids = call.query.get("channel_ids", "").split(",")
                closed = [watch for watch in ids if self._channels.pop(watch, None) is not None]
                if not closed:
                    raise Refusal("INVALID_DATA", 400, "channel_ids")
                return JSONResponse({"watch": [_deletion(watch) for watch in closed]})
            watches = json.loads(call.body or b"{}").get("watch")
            if not isinstance(watches, list) or not watches:
                raise Refusal("MANDATORY_NOT_FOUND", 400, "watch")
            results = [self._set_channel(watch, call.method) for watch in watches]
        bad = sum(watch["status"] == "error" for watch in results)
        good = 201 if call.method == "POST" else 200
        return JSONResponse({"watch": results}, 207 if 0 < bad < len(results) else 400 if bad else good)

    def notify(self, module: str, operation: str, ids: Sequence[str], fields: Sequence[str]) -> None:
        """Notifies every channel that watches for an event."""
        with self._lock:
            channels = list(self._channels.values())
        for channel in channels:
            matching_events = {f"{module}.all", f"{module}.{_OPERATIONS[operation]}"}
            if matching_events.isdisjoint(channel["events"]) or datetime.fromisoformat(
                channel["channel_expiry"]
            ) < datetime.now(UTC):
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
                    {"affected_fields": [{record_id: list(fields)} for record_id in ids]}
                    if channel.get("return_affected_field_values")
                    else {}
                ),
            }
            data = json.dumps(body).encode()
            self.hooks.send(Delivery(channel["notify_url"], data, lambda: {"Content-Type": "application/json"}))

    def close(self) -> None:
        """Stops the sending thread."""
        self.hooks.close()

    def _list_channels(self, call: Call) -> Response:
        channel_id = call.query.get("channel_id")
        matching = [channel for channel in self._channels.values() if channel_id in (None, str(channel["channel_id"]))]
        clean = [{name: value for name, value in channel.items() if name != "token"} for channel in matching]
        return JSONResponse({"watch": clean, "info": {"count": len(matching), "page": 1, "more_records": False}})

    def _set_channel(self, watch: Mapping[str, Any], method: str) -> dict[str, Any]:
        channel_id = str(watch.get("channel_id") or "")
        channel_known = self._channels.get(channel_id)
        if not channel_id.isdigit() or (method == "POST" and not watch.get("notify_url")):
            return _invalid("MANDATORY_NOT_FOUND", "channel_id")
        if method in ("PUT", "PATCH") and channel_known is None:
            return _invalid("INVALID_DATA", "channel_id")
        if len(str(watch.get("token") or "")) > 50:
            return _invalid("INVALID_DATA", "token")
        now = datetime.now(UTC)
        try:
            ends = (
                datetime.fromisoformat(watch["channel_expiry"])
                if watch.get("channel_expiry")
                else now + timedelta(hours=1)
            )
        except ValueError:
            return _invalid("INVALID_DATA", "channel_expiry")
        channel = {**(channel_known or {} if method == "PATCH" else {}), **watch}
        if method == "PATCH" and watch.get("_delete_events"):
            channel["events"] = [
                event for event in (channel_known or {}).get("events", []) if event not in watch.get("events", [])
            ]
        channel["channel_expiry"] = time_told(min(ends, now + _LONGEST))
        channel.setdefault("events", [])
        self._channels[channel_id] = channel
        return _success(channel_id, channel["events"], channel["channel_expiry"])


def _fits(channel: Mapping[str, Any], module: str, fields: Sequence[str]) -> bool:
    """True if a change matches the channel's field conditions; a channel without any takes all."""
    conditions = [
        condition
        for condition in channel.get("notification_condition") or []
        if condition.get("module", {}).get("api_name") == module
    ]
    if not conditions or not fields:
        return True
    return any(_is_selected(condition.get("field_selection") or {}, fields) for condition in conditions)


def _is_selected(selection: Mapping[str, Any], fields: Sequence[str]) -> bool:
    if "group" in selection:
        inner = [_is_selected(part, fields) for part in selection["group"]]
        return all(inner) if str(selection.get("group_operator", "or")).casefold() == "and" else any(inner)
    return str(selection.get("field", {}).get("api_name", "")) in fields


def _success(channel_id: str, events: Sequence[str], expiry: str = "") -> dict[str, Any]:
    event_rows = [
        {
            "channel_expiry": expiry,
            "resource_uri": f"/crm/v8/{event.split('.')[0]}",
            "resource_id": "1",
            "resource_name": event.split(".")[0],
            "channel_id": channel_id,
        }
        for event in events
    ]
    return {"code": "SUCCESS", "status": "success", "message": "done", "details": {"events": event_rows}}


def _deletion(channel_id: str) -> dict[str, Any]:
    details = {"resource_uri": "/crm/v8/actions/watch", "resource_id": "1", "channel_id": channel_id}
    return {"code": "SUCCESS", "status": "success", "message": "done", "details": details}


def _invalid(code: str, name: str) -> dict[str, Any]:
    return {"code": code, "status": "error", "message": "invalid data", "details": {"api_name": name}}
