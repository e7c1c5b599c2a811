"""The stand-in server of the feature-management service: keys, the two rate windows, and routing."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from noarkit.services.features.standin.calls import Calls, object_type
from noarkit.services.features.standin.data import Store
from noarkit.services.features.standin.history import features_changes
from noarkit.services.features.standin.lists import Refusal, refusal_response
from noarkit.services.standins.call import (
    Call,
    CallHandler,
    UnreadableCall,
    check_numbers,
    has_tools,
    make_endpoint,
    service,
)
from noarkit.services.standins.consent import consent_redirect, form_of, issue_tokens
from noarkit.services.standins.control import Control, JsonObject, switches
from noarkit.services.standins.histories.player import HistoryPlayer, make_clock, start_player
from noarkit.services.standins.hooks import Delivery, Hooks
from noarkit.services.standins.issuer import Issuer, TokenPolicy, TokenRefusal
from noarkit.services.standins.mcp_consent import ConsentServer
from noarkit.services.standins.server import StandinSpec
from noarkit.services.standins.windows import Windows

_LIMITS = ((100, 10.0), (900, 900.0))
_ALL = ["GET", "POST", "PUT", "PATCH", "DELETE"]
_KEY, _VERSION = "service-api-key", "service-api-version"
_API_VERSION = "20240601"


@dataclass(slots=True)
class Features:
    """The stand-in. Options: `audit=N` entries, `reads=counted` in the windows, `key=read` for a key that only reads,
    `personal=refused` for an owner who lets nobody have a key, `retries=a,b,…` of webhooks."""

    url: str
    spec: StandinSpec
    store: Store = field(init=False)
    windows: Windows = field(init=False)
    calls: Calls = field(init=False)
    evaluation: Evaluation = field(init=False)
    issuer: Issuer = field(init=False)
    consent_server: ConsentServer = field(init=False)
    hooks: Hooks = field(init=False)
    control: Control = field(default_factory=Control)
    read_key: str = field(default_factory=lambda: "console-read" + secrets.token_urlsafe(24))
    write_key: str = field(default_factory=lambda: "console-write" + secrets.token_urlsafe(24))
    server_key: str = field(default_factory=lambda: "secret-" + secrets.token_urlsafe(24))
    hook_secret: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    hook_url: str = ""
    player: HistoryPlayer | None = field(init=False)

    def __post_init__(self) -> None:
        audit = int(self.spec.options.get("audit", str(10 * self.spec.records)))
        clock = make_clock(self.spec.history)
        self.store = Store(self.spec.records, audit, self.spec.seed, clock.now)
        self.player = start_player(self.spec.history, partial(features_changes, self.store), clock, self.control)
        self.windows = Windows(self.spec.limits if self.spec.limits is not None else _LIMITS)
        self.calls = Calls(self.store, self.notify)
        self.evaluation = Evaluation(self.store, self.send_to_webhook)
        policy = TokenPolicy(
            "standin-client", secrets.token_urlsafe(24), self.spec.lifetime_s, rotates=True, needs_pkce=True
        )
        self.issuer = Issuer(policy)
        self.consent_server = ConsentServer(self.url, self.spec.lifetime_s)
        self.hooks = Hooks.of(self.spec.options)

    def settings(self) -> Mapping[str, object]:
        """The settings of a connection to it."""
        common: dict[str, object] = {
            "console_api_url": self.url,
            "http_api_url": self.url,
            "client_id": self.issuer.policy.client_id,
        }
        if self.spec.limits is not None:
            common["rates"] = self.spec.rates()
        if self.spec.options.get("reads") != "counted":
            common["read_rates"] = []
        return common

    def secrets(self) -> Mapping[str, str]:
        """A read-only console key, one that writes too, a server's secret key, and the secret of webhooks."""
        all_secrets = {"api_key": self.read_key, "server_key": self.server_key, "webhook_secret": self.hook_secret}
        write_secret = {} if self.spec.options.get("key") == "read" else {"write_key": self.write_key}
        return {**all_secrets, **write_secret, "client_secret": self.issuer.policy.client_secret}

    @property
    def app(self) -> Starlette:
        """The web application."""
        console = partial(self._answer, {"read": self.read_key, "write": self.write_key}, self.calls.answer)
        evaluation = partial(self._answer, {"": self.server_key}, self.evaluation.answer)
        routes = [
            Route("/oauth/authorize", self._consent, methods=["GET"]),
            Route("/oauth/token", self._token, methods=["POST"]),
            Route("/console/v1/{rest:path}", make_endpoint(console, "/console/v1"), methods=_ALL),
            self._switches(),
        ]
        checks = Route("/v1/{what:path}", make_endpoint(evaluation, "/v1"), methods=["POST"])
        if not has_tools():
            return service([*routes, checks])
        from noarkit.services.features.standin import mcp_servers
        from noarkit.services.standins.mcp_gate import Gate

        servers = mcp_servers.servers(self.calls, self.windows, self._may_write)
        gate = Gate(self.control.take, self._refuse_tool_call, servers)
        return service([*self.consent_server.routes(), *routes, checks], gate)

    def close(self) -> None:
        """Stops the webhook thread."""
        self.hooks.close()

    def notify(self, kind: str, definition_id: str, action: str) -> None:
        """Notifies the webhook of a changed definition, signed over the raw bytes."""
        metadata = {
            "type": object_type(kind),
            "name": definition_id,
            "action": action,
            "projectID": self.store.project_id,
        }
        event = {"eventName": "service::config_change", "timestamp": int(time.time() * 1_000), "metadata": metadata}
        self.send_to_webhook({"data": [{**event, "user": {"name": "Konsollen"}}]})

    def send_to_webhook(self, message: object) -> None:
        """Sends a message to the webhook, if there is one."""
        if self.hook_url:
            body = json.dumps(message, ensure_ascii=False).encode()
            self.hooks.send(Delivery(self.hook_url, body, lambda: sign_message(self.hook_secret, body)))

    def _answer(self, keys: Mapping[str, str], handler: CallHandler, call: Call) -> Response:
        try:
            return self._refuse_call(call, keys) or handler(check_numbers(call))
        except UnreadableCall as error:
            return refusal_response(Refusal(400, str(error)))
        except Refusal as refusal:
            return refusal_response(refusal)

    def _refuse_call(self, call: Call, keys: Mapping[str, str]) -> Response | None:
        """Returns the refusal of an unauthenticated call; `keys` are valid for their method, "" for any."""
        trouble = self.control.take(call.path)
        if trouble is not None:
            return trouble
        key_shown = call.headers.get(_KEY, "")
        if not any(hmac.compare_digest(key_shown.encode(), key.encode()) for key in keys.values()):
            raise Refusal(401, f"Invalid API key for this endpoint. Key: {key_shown}")
        if call.headers.get(_VERSION, _API_VERSION) != _API_VERSION:
            raise Refusal(400, "Unknown API version")
        writes = call.method != "GET"
        if writes and "write" in keys and not hmac.compare_digest(key_shown.encode(), keys["write"].encode()):
            raise Refusal(403, "This key may only read")
        is_counted = writes or self.spec.options.get("reads") == "counted"
        if is_counted and self.windows.enter() > 0:
            return JSONResponse({"message": "Too many requests"}, 429)
        return None

    def _refuse_tool_call(self, path: str, headers: Mapping[str, str], query: str) -> Response | None:
        """Returns the refusal of a tool call without a console key or a person's consent; None for one that may go
        on."""
        key_shown = headers.get(_KEY, "")
        is_known = any(hmac.compare_digest(key_shown.encode(), key.encode()) for key in (self.read_key, self.write_key))
        token = headers.get("authorization", "").removeprefix("Bearer ")
        if is_known or self.issuer.is_good(token) or self.consent_server.issuer.is_good(token):
            return None
        refusal = refusal_response(Refusal(401, f"Invalid API key. Key: {key_shown}"))
        refusal.headers["WWW-Authenticate"] = self.consent_server.challenge(path)
        return refusal

    def _may_write(self, headers: Mapping[str, str]) -> bool:
        """True if the caller of a tool may change something."""
        key = headers.get(_KEY, "")
        return not key or hmac.compare_digest(key.encode(), self.write_key.encode())

    async def _consent(self, request: Request) -> Response:
        refuses = self.spec.options.get("personal") == "refused"
        return consent_redirect(request, self.issuer, denial="access_denied" if refuses else "")

    async def _token(self, request: Request) -> Response:
        form = await form_of(request)
        try:
            self.issuer.check_client(form.get("client_id", ""), form.get("client_secret", ""))
            return JSONResponse(issue_tokens(self.issuer, form))
        except TokenRefusal as refusal:
            return JSONResponse({"error": refusal.error}, refusal.status)

    def _switches(self) -> Route:
        verbs = {
            "change": self._change,
            "webhook": lambda arguments: {"verified": self._set_up(str(arguments["url"]))},
            "expire": lambda arguments: self.issuer.expire(),
            "tell": lambda arguments: self.send_to_webhook(arguments["message"]),
        }
        return switches(self.control, verbs, self._counts)

    def _change(self, arguments: JsonObject) -> None:
        for definition in arguments.get("definitions", []):
            self.store.save(definition["kind"], definition["id"], definition.get("members", {}))
        for definition in arguments.get("gone", []):
            self.store.delete(definition["kind"], definition["id"])
        for definition in arguments.get("unlisted", []):
            self.store.unlisted.add((definition["kind"], definition["id"]))
        for definition in arguments.get("reviews", []):
            self.store.reviews_changed[(definition["kind"], definition["id"])] = definition["reviews"]

    def _counts(self) -> dict[str, object]:
        return {
            "limits": self.windows.summary(),
            "definitions": sum(len(self.store.ids(kind)) for kind in self.store.counts),
            "checks": self.evaluation.checks,
            "exposures": self.evaluation.exposures,
            "events": self.evaluation.events,
            "keys_read": self.calls.keys_read,
            "people_read": self.calls.people_read,
            "reviews_read": self.calls.reviews_read,
            "project": self.store.project_id,
            "deliveries": self.hooks.summary(),
        }

    def _set_up(self, url: str) -> bool:
        """Verifies the address of a webhook; only then it gets messages."""
        code = secrets.token_hex(8)
        message = {"data": {"event": "url_verification", "verification_code": code}}
        try:
            answer = httpx.post(url, json=message, trust_env=False, timeout=10.0)
            good = answer.status_code == 200 and answer.json() == {"verification_code": code}
        except (httpx.HTTPError, ValueError):
            good = False  # no answer, or not by a webhook receiver
        self.hook_url = url if good else ""
        return good


def standin(url: str, spec: StandinSpec) -> Features:
    """Builds the stand-in for an address."""
    return Features(url, spec)


def sign_message(secret: str, body: bytes) -> dict[str, str]:
    """Builds the signature headers of a webhook message."""
    stamp = str(int(time.time() * 1_000))
    digest = hmac.new(secret.encode(), f"v0:{stamp}:".encode() + body, hashlib.sha256).hexdigest()
    return {
        "Content-Type": "application/json",
        "X-Service-Request-Timestamp": stamp,
        "X-Service-Signature": f"v0={digest}",
    }


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
