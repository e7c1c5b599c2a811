"""The calls of applications: checks of gates for a user, values of configs and experiments, and events. Every check is
counted as an exposure, so that a reader must never make one."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from starlette.responses import JSONResponse, Response

from noarkit.services.features.standin.data import Store
from noarkit.services.features.standin.lists import Refusal
from noarkit.services.standins.call import Call

_SEGMENT = "segment:"


class Evaluation:
    """Answers checks and events, and counts them; exposures go to the webhook as a bare list."""

    def __init__(self, store: Store, send: Callable[[object], None]) -> None:
        self._store = store
        self._tell = send
        self.checks = 0
        self.exposures = 0
        self.events = 0

    def answer(self, call: Call) -> Response:
        """Answers an authenticated call. Raises `Refusal`."""
        if call.path == "/check_gate":
            return self._check(call.members())
        if call.path == "/get_config":
            return self._config(call.members())
        if call.path == "/webhooks/event_webhook":
            body = call.members()
            _needs(body, "event", "user")
            self.events += 1
            return JSONResponse({"success": True}, 202)
        if call.path == "/log_event":
            return self._log_events(call.members())
        raise Refusal(404, "Not found")

    def _log_events(self, body: dict[str, Any]) -> Response:  # Any: what JSON holds
        """Takes a batch of events from client applications, each with its name and user."""
        events = body.get("events")
        if not isinstance(events, list) or not events:
            raise Refusal(400, "events is required")
        for event in events:
            if not isinstance(event, dict) or not event.get("eventName"):
                raise Refusal(400, "eventName is required")
        self.events += len(events)
        return JSONResponse({"success": True}, 202)

    def _check(self, body: dict[str, Any]) -> Response:  # Any: what JSON holds
        _needs(body, "user")
        if isinstance(body.get("gateNames"), list) and body["gateNames"]:
            names = [str(name) for name in body["gateNames"]]
        else:
            _needs(body, "gateName")
            names = [str(body["gateName"])]
        self._expose(body, names, "gate_exposure")
        gates = {name: self._gate(name) for name in names}
        return JSONResponse(gates if body.get("gateNames") else gates[names[0]])

    def _config(self, body: dict[str, Any]) -> Response:  # Any: what JSON holds
        _needs(body, "configName", "user")
        name = str(body["configName"])
        config, experiment = self._store.get("dynamic_configs", name), self._store.get("experiments", name)
        self._expose(body, [name], "config_exposure" if config else "experiment_exposure")
        groups = (experiment or {}).get("groups") or [{}]
        value = config["defaultValue"] if config and "defaultValue" in config else groups[0].get("parameterValues", {})
        return JSONResponse({"name": name, "value": value, "rule_id": "default", "group_name": None})

    def _expose(self, body: dict[str, Any], names: list[str], event: str) -> None:  # Any: what JSON holds
        self.checks += 1
        if (body.get("serviceMetadata") or {}).get("exposureLoggingDisabled"):
            return
        self.exposures += len(names)
        user, now = body.get("user") or {}, int(time.time() * 1_000)
        self._tell(
            [
                {"eventName": f"service::{event}", "timestamp": str(now), "user": user, "metadata": {"gate": name}}
                for name in names
            ]
        )

    def _gate(self, name: str) -> dict[str, object]:
        kind = "segments" if name.startswith(_SEGMENT) else "gates"
        definition = self._store.get(kind, name.removeprefix(_SEGMENT))
        value = bool(definition and definition.get("isEnabled", kind == "segments"))
        return {"name": name, "value": value, "rule_id": "default", "group_name": None}


def _needs(body: dict[str, Any], *names: str) -> None:  # Any: what JSON holds
    """Raises `Refusal` for a missing required member."""
    missing = [name for name in names if body.get(name) in (None, "")]
    if missing:
        raise Refusal(400, f"{missing[0]} is required")
