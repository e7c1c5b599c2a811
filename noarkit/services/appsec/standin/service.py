"""The stand-in server: tokens for keys, clients and people, signed addresses, and signed webhooks."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import math
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from noarkit.services.appsec.standin.calls import Calls, Refusal, refusal_response
from noarkit.services.appsec.standin.data import Store
from noarkit.services.appsec.standin.history import appsec_changes
from noarkit.services.appsec.standin.registration import Registry
from noarkit.services.standins.call import Call, UnreadableCall, check_numbers, has_tools, make_endpoint, service
from noarkit.services.standins.consent import consent_redirect, form_of, issue_tokens
from noarkit.services.standins.control import Control, JsonObject, switches
from noarkit.services.standins.histories.player import HistoryPlayer, make_clock, start_player
from noarkit.services.standins.hooks import Delivery, Hooks
from noarkit.services.standins.issuer import Issuer, TokenPolicy, TokenRefusal
from noarkit.services.standins.server import StandinSpec
from noarkit.services.standins.windows import Windows

_ALL = ["GET", "POST", "PUT", "PATCH", "DELETE"]
_OPEN_SCANS = 3  # scans that are under way still
_FINDINGS_EACH = 10
_REALM = "/auth/realms/{tenant}/protocol/openid-connect"


@dataclass(slots=True)
class AppSec:
    """The stand-in. Options: `auth=client`, `offset=row`, `most-results=N` a page, `job-polls=N`, `scans=N`,
    `retention-days=N`, `queue-s=N` and `scan-s=N` that ordered scans wait and run, `container-findings=listed`,
    `decided=PERCENT`, `audit-days=N`, `audit-a-day=N`, `audit=no`, `policies=no`, `clients=N`, `tenant=NAME`."""

    url: str
    spec: StandinSpec
    store: Store = field(init=False)
    issuer: Issuer = field(init=False)
    windows: Windows = field(init=False)
    calls: Calls = field(init=False)
    registry: Registry = field(init=False)
    player: HistoryPlayer | None = field(init=False)
    control: Control = field(default_factory=Control)
    hooks: Hooks = field(default_factory=Hooks)
    signing_key: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    api_key: str = ""
    leaked_keys: int = 0

    def __post_init__(self) -> None:
        clock = make_clock(self.spec.history)
        self.store = _store(self.spec, clock.now)
        self.player = start_player(self.spec.history, partial(appsec_changes, self.store), clock, self.control)
        policy = TokenPolicy("noarkit", secrets.token_urlsafe(24), self.spec.lifetime_s, needs_pkce=True)
        self.issuer = Issuer(policy)
        self.registry = Registry(self.issuer, self.url, self.store.tenant, self.spec.options)
        self.windows = Windows(self.spec.limits or ())
        self.calls = Calls(self.store, self.spec.options, self.signed_url, self.notify)
        self.api_key = self._make_key()

    def settings(self) -> Mapping[str, object]:
        """The settings of a connection to it."""
        common: dict[str, object] = {"api_url": self.url, "auth_url": self.url, "tenant": self.store.tenant}
        common |= {"rates": self.spec.rates(), "poll_s": 0.01}
        return (
            {**common, "auth": "client", "client_id": "noarkit"}
            if self.spec.options.get("auth") == "client"
            else common
        )

    def secrets(self) -> Mapping[str, str]:
        """An API key, or a client's secret."""
        is_client = self.spec.options.get("auth") == "client"
        return {"client_secret": self.issuer.policy.client_secret} if is_client else {"api_key": self.api_key}

    @property
    def app(self) -> Starlette:
        """The web application."""
        routes = [
            *self.registry.routes(),
            Route(f"{_REALM}/token", self._token, methods=["POST"]),
            Route(f"{_REALM}/auth", self._consent, methods=["GET"]),
            Route("/store/{one}", self._store_upload, methods=["PUT"]),
            Route("/paper/{one}", self._paper, methods=["GET"]),
            self._switches(),
            Route("/{rest:path}", make_endpoint(self._answer), methods=_ALL),
        ]
        if not has_tools():
            return service(routes)
        from noarkit.services.appsec.standin import mcp_servers
        from noarkit.services.standins.mcp_gate import Gate

        gatekeeper = mcp_servers.make_gatekeeper(self.api_key, self.issuer.is_good, self.registry.challenge)
        return service(routes, Gate(self.control.take, gatekeeper, mcp_servers.servers(self.store)))

    def close(self) -> None:
        """Stops the webhook thread."""
        self.hooks.close()

    def signed_url(self, kind: str, object_id: str) -> str:
        """Builds a signed address, valid for anybody who has it."""
        return f"{self.url}/{kind}/{object_id}?{urlencode({'signature': self._signature(kind, object_id)})}"

    def notify(self, event: str, body: Mapping[str, object]) -> None:
        """Notifies every webhook for an event, signed if it has a secret."""
        for hook in list(self.store.tables["webhooks"].values()):
            if event in hook["enabledEvents"] and hook["active"]:
                payload = json.dumps(body, separators=(",", ":")).encode()
                headers = _headers(event, payload, str(hook["config"].get("secret") or ""))
                self.hooks.send(Delivery(str(hook["config"]["url"]), payload, lambda headers=headers: headers))  # type: ignore[misc]  # bound now

    def _make_key(self) -> str:
        claims = {"iss": f"{self.url}/auth/realms/{self.store.tenant}", "azp": "noarkit", "jti": secrets.token_hex(12)}
        parts = (json.dumps({"alg": "HS256"}).encode(), json.dumps(claims).encode(), secrets.token_bytes(32))
        key = ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)
        self.issuer.refresh_tokens.add(key)
        return key

    def _signature(self, kind: str, object_id: str) -> str:
        return hmac.new(self.signing_key, f"{kind}/{object_id}".encode(), hashlib.sha256).hexdigest()

    def _is_signed(self, kind: str, request: Request) -> bool:
        if request.headers.get("authorization"):
            self.leaked_keys += 1
        signature = request.query_params.get("signature", "")
        return hmac.compare_digest(signature.encode(), self._signature(kind, request.path_params["one"]).encode())

    def _answer(self, call: Call) -> Response:
        authorization = call.headers.get("authorization", "")
        trouble = self.control.take(call.path)
        if trouble is not None:
            return trouble
        kind, _, token = authorization.partition(" ")
        if kind != "Bearer" or not self.issuer.is_good(token):
            return refusal_response(Refusal(401, "token is not good"), f": {authorization}", call.path)
        wait = self.windows.enter()
        if wait > 0:
            return JSONResponse({"message": "too many"}, 429, {"Retry-After": str(math.ceil(wait))})
        try:
            return self.calls.answer(check_numbers(call))
        except UnreadableCall as wrong:
            return refusal_response(Refusal(400, str(wrong)), f" (caller {authorization})", call.path)
        except Refusal as refusal:
            return refusal_response(refusal, f" (caller {authorization})", call.path)

    async def _consent(self, request: Request) -> Response:
        return consent_redirect(request, self.issuer)

    async def _token(self, request: Request) -> Response:
        trouble = self.control.take(request.url.path)
        if trouble is not None:
            return trouble
        if request.path_params["tenant"] != self.store.tenant:
            return JSONResponse({"error": "Realm does not exist"}, 404)
        form = await form_of(request)
        try:
            if form.get("grant_type") == "client_credentials":
                tokens = self.issuer.client_credentials(form.get("client_id", ""), form.get("client_secret", ""))
            else:
                tokens = issue_tokens(self.issuer, form)
            if form.get("grant_type") == "refresh_token":
                tokens["refresh_token"] = form.get("refresh_token", "") + ".session"  # not to be used instead of a key
        except TokenRefusal as refusal:
            error = "invalid_grant" if refusal.error == "invalid_code" else refusal.error
            message = f"not good: {form.get('refresh_token') or form.get('client_secret')}"
            return JSONResponse({"error": error, "error_description": message}, refusal.status)
        return JSONResponse(tokens)

    async def _store_upload(self, request: Request) -> Response:
        body = await request.body()
        trouble = self.control.take(request.url.path)
        if trouble is not None:
            return trouble
        if not self._is_signed("store", request):
            return Response(status_code=403)
        if request.headers.get("content-length") is None:
            return Response(status_code=411)
        self.calls.uploads[request.path_params["one"]] = body
        return Response(status_code=200, headers={"ETag": f'"{hashlib.sha256(body).hexdigest()[:16]}"'})

    async def _paper(self, request: Request) -> Response:
        trouble = self.control.take(request.url.path)
        if trouble is not None:
            return trouble
        data = self.calls.paper(request.path_params["one"])
        if data is None or not self._is_signed("paper", request):
            return Response(status_code=403)
        return Response(data, media_type="application/octet-stream")

    def _switches(self) -> Route:
        verbs = {
            "expire": lambda arguments: self.issuer.expire(),
            "licence": self._end_licence,
            "finish": self._finish,
            "scan": self._new_scan,
            "triage": self._triage,
            "act": lambda arguments: self.store.trail.act(str(arguments["day"]), str(arguments["deed"])),
            "set": self._set,
            "age": self._age,
        }
        return switches(self.control, verbs, self._counts)

    def _end_licence(self, arguments: JsonObject) -> None:
        self.issuer.refresh_tokens.clear()
        self.issuer.expire()

    def _new_scan(self, arguments: JsonObject) -> Mapping[str, object]:
        return {
            "id": self.store.new_scan(str(arguments["project"]), {}, str(arguments.get("status", "Completed")))["id"]
        }

    def _triage(self, arguments: JsonObject) -> None:
        self.store.trail.decide(
            *(str(arguments.get(name, "")) for name in ("project", "similarity", "state", "comment"))
        )

    def _set(self, arguments: JsonObject) -> None:
        moods = self.calls.moods
        moods.full, moods.short = int(arguments.get("full", moods.full)), int(arguments.get("short", moods.short))
        moods.failing_jobs = int(arguments.get("failing", moods.failing_jobs))
        if "results" in arguments:
            self.store.made_results[str(arguments["scan"])] = int(arguments["results"])

    def _age(self, arguments: JsonObject) -> None:
        self.store.tables["scans"][str(arguments["scan"])]["createdAt"] = str(arguments["created"])

    def _counts(self) -> dict[str, object]:
        return {
            "exchanges": self.issuer.exchanges,
            "leaked": self.leaked_keys,
            "clients": self.registry.count,
            "limits": self.windows.summary(),
            "scans": [{name: scan[name] for name in ("id", "status", "projectId")} for scan in self.store.scans()],
            "deliveries": self.hooks.summary(),
        }

    def _finish(self, arguments: JsonObject) -> None:
        self.calls.notify_end(self.store.finish(str(arguments["scan"]), str(arguments.get("status", "Completed"))))


def _store(spec: StandinSpec, clock: Callable[[], datetime]) -> Store:
    """Builds a store with so many findings; or, with archivable records, so many ended scans."""
    if not spec.archivable or "scans" in spec.options:
        return Store(spec.records, spec.seed, spec.options, clock)
    scans = spec.records + _OPEN_SCANS
    return Store(scans * _FINDINGS_EACH, spec.seed, {**spec.options, "scans": str(scans)}, clock)


def standin(url: str, spec: StandinSpec) -> AppSec:
    """Builds the stand-in for an address."""
    return AppSec(url, spec)


def _headers(event: str, body: bytes, secret: str) -> Mapping[str, str]:
    headers = {"Content-Type": "application/json", "X-Webhook-Event": event}
    if secret:
        digest = hmac.new(secret.encode(), body, hashlib.sha256).digest()
        headers["X-Webhook-Signature"] = "sha256=" + base64.b64encode(digest).decode()
    return headers
