"""The service on loopback: tokens for keys, clients and people, addresses that are keys themselves, signed webhooks."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import math
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from noarkit.standins.appsec.calls import Calls, Refusal, refused
from noarkit.standins.appsec.data import Store
from noarkit.standins.appsec.registration import Registry
from noarkit.standins.calling import Call, Unreadable, answered, has_tools, service
from noarkit.standins.consent import agreed, form_of, issued
from noarkit.standins.control import Control, Told, switches
from noarkit.standins.hooks import Delivery, Hooks
from noarkit.standins.issuer import Issuer, Refused, Terms
from noarkit.standins.serving import Wish
from noarkit.standins.windows import Windows

_ALL = ["GET", "POST", "PUT", "PATCH", "DELETE"]
_UNENDED = 3  # scans that are under way still
_FINDINGS_EACH = 10
_REALM = "/auth/realms/{tenant}/protocol/openid-connect"


@dataclass(slots=True)
class AppSec:
    """The stand-in. Options: `auth=client`, `offset=row`, `most-results=N` a page, `job-polls=N`, `scans=N`,
    `retention-days=N`, `container-findings=listed`, `decided=PERCENT`, `audit-days=N`, `audit-a-day=N`, `audit=no`,
    `policies=no`, `clients=N`."""

    url: str
    wish: Wish
    store: Store = field(init=False)
    issuer: Issuer = field(init=False)
    windows: Windows = field(init=False)
    calls: Calls = field(init=False)
    registry: Registry = field(init=False)
    control: Control = field(default_factory=Control)
    hooks: Hooks = field(default_factory=Hooks)
    signing_key: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    api_key: str = ""
    leaked: int = 0

    def __post_init__(self) -> None:
        self.store = _store(self.wish)
        terms = Terms("noarkit", secrets.token_urlsafe(24), self.wish.lifetime_s, needs_pkce=True)
        self.issuer = Issuer(terms)
        self.registry = Registry(self.issuer, self.url, self.store.tenant, self.wish.options)
        self.windows = Windows(self.wish.limits or ())
        self.calls = Calls(self.store, self.wish.options, self.signed, self.notify)
        self.api_key = self._made_key()

    def settings(self) -> Mapping[str, object]:
        """What a connection to it is configured with."""
        shared: dict[str, object] = {"api_url": self.url, "auth_url": self.url, "tenant": self.store.tenant}
        shared |= {"rates": self.wish.rates(), "poll_s": 0.01}
        return (
            {**shared, "auth": "client", "client_id": "noarkit"}
            if self.wish.options.get("auth") == "client"
            else shared
        )

    def secrets(self) -> Mapping[str, str]:
        """An API key, or a client's secret."""
        is_client = self.wish.options.get("auth") == "client"
        return {"client_secret": self.issuer.terms.client_secret} if is_client else {"api_key": self.api_key}

    @property
    def app(self) -> Starlette:
        """The service."""
        routes = [
            *self.registry.routes(),
            Route(f"{_REALM}/token", self._token, methods=["POST"]),
            Route(f"{_REALM}/auth", self._consent, methods=["GET"]),
            Route("/store/{one}", self._stored, methods=["PUT"]),
            Route("/paper/{one}", self._paper, methods=["GET"]),
            self._switches(),
            Route("/{rest:path}", answered(self._answered), methods=_ALL),
        ]
        if not has_tools():
            return service(routes)
        from noarkit.standins.appsec import mcp_servers
        from noarkit.standins.mcp_gate import Gate

        turning = mcp_servers.turning(self.api_key, self.issuer.is_good)
        return service(routes, Gate(self.control.meets, turning, mcp_servers.servers(self.store)))

    def close(self) -> None:
        """Ends the webhooks' thread."""
        self.hooks.close()

    def signed(self, what: str, one: str) -> str:
        """An address that is good for whoever has it."""
        return f"{self.url}/{what}/{one}?{urlencode({'signature': self._signature(what, one)})}"

    def notify(self, event: str, body: Mapping[str, object]) -> None:
        """Tells every webhook that wants it, signed where it has a secret."""
        for hook in list(self.store.tables["webhooks"].values()):
            if event in hook["enabledEvents"] and hook["active"]:
                sent = json.dumps(body, separators=(",", ":")).encode()
                headers = _headers(event, sent, str(hook["config"].get("secret") or ""))
                self.hooks.send(Delivery(str(hook["config"]["url"]), sent, lambda headers=headers: headers))  # type: ignore[misc]  # bound now

    def _made_key(self) -> str:
        claims = {"iss": f"{self.url}/auth/realms/{self.store.tenant}", "azp": "noarkit", "jti": secrets.token_hex(12)}
        parts = (json.dumps({"alg": "HS256"}).encode(), json.dumps(claims).encode(), secrets.token_bytes(32))
        key = ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)
        self.issuer.refresh_tokens.add(key)
        return key

    def _signature(self, what: str, one: str) -> str:
        return hmac.new(self.signing_key, f"{what}/{one}".encode(), hashlib.sha256).hexdigest()

    def _is_signed(self, what: str, request: Request) -> bool:
        if request.headers.get("authorization"):
            self.leaked += 1
        shown = request.query_params.get("signature", "")
        return hmac.compare_digest(shown.encode(), self._signature(what, request.path_params["one"]).encode())

    def _answered(self, call: Call) -> Response:
        shown = call.headers.get("authorization", "")
        trouble = self.control.meets(call.path)
        if trouble is not None:
            return trouble
        kind, _, token = shown.partition(" ")
        if kind != "Bearer" or not self.issuer.is_good(token):
            return refused(Refusal(401, "token is not good"), f": {shown}", call.path)
        wait = self.windows.enter()
        if wait > 0:
            return JSONResponse({"message": "too many"}, 429, {"Retry-After": str(math.ceil(wait))})
        try:
            return self.calls.answer(call)
        except Unreadable as wrong:
            return refused(Refusal(400, str(wrong)), f" (caller {shown})", call.path)
        except Refusal as refusal:
            return refused(refusal, f" (caller {shown})", call.path)

    async def _consent(self, request: Request) -> Response:
        return agreed(request, self.issuer)

    async def _token(self, request: Request) -> Response:
        trouble = self.control.meets(request.url.path)
        if trouble is not None:
            return trouble
        if request.path_params["tenant"] != self.store.tenant:
            return JSONResponse({"error": "Realm does not exist"}, 404)
        form = await form_of(request)
        try:
            if form.get("grant_type") == "client_credentials":
                found = self.issuer.client_credentials(form.get("client_id", ""), form.get("client_secret", ""))
            else:
                found = issued(self.issuer, form)
            if form.get("grant_type") == "refresh_token":
                found["refresh_token"] = form.get("refresh_token", "") + ".session"  # not to be used instead of a key
        except Refused as refusal:
            error = "invalid_grant" if refusal.error == "invalid_code" else refusal.error
            told = f"not good: {form.get('refresh_token') or form.get('client_secret')}"
            return JSONResponse({"error": error, "error_description": told}, refusal.status)
        return JSONResponse(found)

    async def _stored(self, request: Request) -> Response:
        body = await request.body()
        trouble = self.control.meets(request.url.path)
        if trouble is not None:
            return trouble
        if not self._is_signed("store", request):
            return Response(status_code=403)
        if request.headers.get("content-length") is None:
            return Response(status_code=411)
        self.calls.uploads[request.path_params["one"]] = body
        return Response(status_code=200, headers={"ETag": f'"{hashlib.sha256(body).hexdigest()[:16]}"'})

    async def _paper(self, request: Request) -> Response:
        trouble = self.control.meets(request.url.path)
        if trouble is not None:
            return trouble
        data = self.calls.paper(request.path_params["one"])
        if data is None or not self._is_signed("paper", request):
            return Response(status_code=403)
        return Response(data, media_type="application/octet-stream")

    def _switches(self) -> Route:
        verbs = {
            "expire": lambda told: self.issuer.expire(),
            "licence": self._end_licence,
            "finish": self._finish,
            "scan": self._new_scan,
            "triage": self._triage,
            "act": lambda told: self.store.trail.act(str(told["day"]), str(told["deed"])),
            "set": self._set,
            "age": self._age,
        }
        return switches(self.control, verbs, self._counts)

    def _end_licence(self, told: Told) -> None:
        self.issuer.refresh_tokens.clear()
        self.issuer.expire()

    def _new_scan(self, told: Told) -> Mapping[str, object]:
        return {"id": self.store.new_scan(str(told["project"]), {}, str(told.get("status", "Completed")))["id"]}

    def _triage(self, told: Told) -> None:
        self.store.trail.decide(*(str(told.get(name, "")) for name in ("project", "similarity", "state", "comment")))

    def _set(self, told: Told) -> None:
        moods = self.calls.moods
        moods.full, moods.short = int(told.get("full", moods.full)), int(told.get("short", moods.short))
        moods.failing = int(told.get("failing", moods.failing))
        if "results" in told:
            self.store.made_results[str(told["scan"])] = int(told["results"])

    def _age(self, told: Told) -> None:
        self.store.tables["scans"][str(told["scan"])]["createdAt"] = str(told["created"])

    def _counts(self) -> dict[str, object]:
        return {
            "exchanges": self.issuer.exchanges,
            "leaked": self.leaked,
            "clients": self.registry.count,
            "limits": self.windows.told(),
            "scans": [{name: one[name] for name in ("id", "status", "projectId")} for one in self.store.scans()],
            "deliveries": self.hooks.told(),
        }

    def _finish(self, asked: Told) -> None:
        scan, status = str(asked["scan"]), str(asked.get("status", "Completed"))
        one = self.store.finish(scan, status)
        known = {"completed": "scan_completed_successfully", "failed": "scan_failed", "partial": "scan_partial"}
        told = {"scanId": scan, "projectId": one["projectId"], "statusInfo": one["statusDetails"]}
        self.notify(known.get(status.casefold(), "scan_failed"), {**told, "branch": one["branch"]})


def _store(wish: Wish) -> Store:
    """A store of so many findings; or, where records are to be archivable, of so many scans that have ended."""
    if not wish.archivable or "scans" in wish.options:
        return Store(wish.records, wish.seed, wish.options)
    scans = wish.records + _UNENDED
    return Store(scans * _FINDINGS_EACH, wish.seed, {**wish.options, "scans": str(scans)})


def standin(url: str, wish: Wish) -> AppSec:
    """The stand-in at an address."""
    return AppSec(url, wish)


def _headers(event: str, body: bytes, secret: str) -> Mapping[str, str]:
    made = {"Content-Type": "application/json", "X-Webhook-Event": event}
    if secret:
        digest = hmac.new(secret.encode(), body, hashlib.sha256).digest()
        made["X-Webhook-Signature"] = "sha256=" + base64.b64encode(digest).decode()
    return made
