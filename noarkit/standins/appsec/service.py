"""The service on loopback: tokens for keys, clients and people, addresses that are keys themselves, signed webhooks."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from noarkit.standins.appsec.calls import Call, Calls, Refusal, refused
from noarkit.standins.appsec.data import Store
from noarkit.standins.appsec.registration import Registry
from noarkit.standins.control import Control
from noarkit.standins.hooks import Delivery, Hooks
from noarkit.standins.issuer import Issuer, Refused, Terms
from noarkit.standins.serving import Wish
from noarkit.standins.windows import Windows

try:
    from noarkit.standins.appsec import mcp_servers
except ModuleNotFoundError:  # without the extra there is no tool server
    mcp_servers = None  # type: ignore[assignment]  # asked before each use

_ALL = ["GET", "POST", "PUT", "PATCH", "DELETE"]
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
    full: int = 0
    short: int = 0
    failing: int = 0
    leaked: int = 0

    def __post_init__(self) -> None:
        self.store = Store(self.wish.records, self.wish.seed, self.wish.options)
        terms = Terms("noarkit", secrets.token_urlsafe(24), self.wish.lifetime_s, needs_pkce=True)
        self.issuer = Issuer(terms)
        self.registry = Registry(self.issuer, self.url, self.store.tenant, self.wish.options)
        self.windows = Windows(self.wish.limits or ())
        self.calls = Calls(self)
        self.api_key = self._made_key()

    def settings(self) -> Mapping[str, object]:
        """What a connection to it is configured with."""
        shared: dict[str, object] = {"api_url": self.url, "auth_url": self.url, "tenant": self.store.tenant}
        shared["rates"] = [f"{calls}/{span:g}s" for calls, span in self.wish.limits or ()] or ["1000000/s"]
        shared["poll_s"] = 0.01
        return {**shared, "auth": "client"} if self.wish.options.get("auth") == "client" else shared

    def secrets(self) -> Mapping[str, str]:
        """An API key, or a client's secret."""
        is_client = self.wish.options.get("auth") == "client"
        return {"client_secret": self.issuer.terms.client_secret} if is_client else {"api_key": self.api_key}

    @property
    def app(self) -> Starlette:
        """The service."""
        gates = mcp_servers.Gates(self) if mcp_servers else None
        routes: list[BaseRoute] = [*gates.routes()] if gates else []
        routes += [
            *self.registry.routes(),
            Route(f"{_REALM}/token", self._token, methods=["POST"]),
            Route(f"{_REALM}/auth", self._consent, methods=["GET"]),
            Route("/store/{one}", self._stored, methods=["PUT"]),
            Route("/paper/{one}", self._paper, methods=["GET"]),
            Route("/standin/{what}", self._control, methods=["GET", "POST"]),
            Route("/{rest:path}", self._answer, methods=_ALL),
        ]
        return Starlette(routes=routes, lifespan=gates.running if gates else None)

    def close(self) -> None:
        """Ends the webhooks' thread."""
        self.hooks.close()

    def signed(self, what: str, one: str) -> str:
        """An address that is good for whoever has it."""
        return f"{self.url}/{what}/{one}?{urlencode({'signature': self._signature(what, one)})}"

    def holds_upload(self, url: str) -> bool:
        """True where something was put at an address that we gave."""
        return urlsplit(url).path.removeprefix("/store/") in self.calls.uploads or url in self.calls.uploads

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

    async def _answer(self, request: Request) -> Response:
        query = parse_qs(str(request.url.query), keep_blank_values=True)
        call = Call(request.method, request.url.path, query, await request.body())
        return await run_in_threadpool(self._answered, call, request.headers.get("authorization", ""))

    def _answered(self, call: Call, shown: str) -> Response:
        trouble = self.control.meets(call.path)
        if trouble is not None:
            return trouble
        kind, _, token = shown.partition(" ")
        if kind != "Bearer" or not self.issuer.is_good(token):
            return refused(Refusal(401, "token is not good"), f": {shown}")
        wait = self.windows.enter()
        if wait > 0:
            return JSONResponse({"message": "too many"}, 429, {"Retry-After": f"{wait:.3f}"})
        try:
            return self.calls.answer(call)
        except Refusal as refusal:
            return refused(refusal, f" (caller {shown})")

    async def _consent(self, request: Request) -> Response:
        """A person who always agrees."""
        asked = request.query_params
        try:
            challenge = asked.get("code_challenge", "")
            back = {"code": self.issuer.code(asked.get("client_id", ""), asked.get("redirect_uri", ""), challenge)}
        except Refused as refusal:
            back = {"error": refusal.error}
        told = urlencode({**back, "state": asked.get("state", "")})
        return RedirectResponse(f"{asked.get('redirect_uri', '')}?{told}", 302)

    async def _token(self, request: Request) -> Response:
        trouble = self.control.meets(request.url.path)
        if trouble is not None:
            return trouble
        if request.path_params["tenant"] != self.store.tenant:
            return JSONResponse({"error": "Realm does not exist"}, 404)
        form = {name: values[0] for name, values in parse_qs((await request.body()).decode()).items()}
        try:
            if form.get("grant_type") == "client_credentials":
                found = self.issuer.client_credentials(form.get("client_id", ""), form.get("client_secret", ""))
            elif form.get("grant_type") == "authorization_code":
                code, verifier = form.get("code", ""), form.get("code_verifier", "")
                found = self.issuer.exchange(code, form.get("redirect_uri", ""), verifier)
            else:
                found = self.issuer.refresh(form.get("refresh_token", ""))
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

    async def _control(self, request: Request) -> Response:
        asked: dict[str, Any] = await request.json() if request.method == "POST" else {}  # a test of ours says it
        told = await run_in_threadpool(self._controlled, request.path_params["what"], asked)
        return JSONResponse({"message": "unknown"}, 404) if told is None else JSONResponse(told)

    def _controlled(self, what: str, asked: dict[str, Any]) -> Mapping[str, object] | None:
        if what == "trouble":
            self.control.add(asked)
        elif what == "expire":
            self.issuer.expire()
        elif what == "licence":
            self.issuer.refresh_tokens.clear()
            self.issuer.expire()
        elif what == "finish":
            self._finish(str(asked["scan"]), str(asked.get("status", "Completed")))
        elif what == "scan":
            made = self.store.new_scan(str(asked["project"]), {}, str(asked.get("status", "Completed")))
            return {"id": made["id"]}
        elif what == "triage":
            told = [str(asked.get(name, "")) for name in ("project", "similarity", "state", "comment")]
            self.store.trail.decide(*told)
        elif what == "act":
            self.store.trail.act(str(asked["day"]), str(asked["deed"]))
        elif what == "set":
            self.full, self.short = int(asked.get("full", self.full)), int(asked.get("short", self.short))
            self.failing = int(asked.get("failing", self.failing))
            if "results" in asked:
                self.store.made_results[str(asked["scan"])] = int(asked["results"])
        elif what == "age":
            self.store.tables["scans"][str(asked["scan"])]["createdAt"] = str(asked["created"])
        elif what != "counts":
            return None
        return {
            "exchanges": self.issuer.exchanges,
            "troubles_met": self.control.met,
            "leaked": self.leaked,
            "clients": self.registry.count,
            "limits": self.windows.told(),
            "scans": [{name: one[name] for name in ("id", "status", "projectId")} for one in self.store.scans()],
            "deliveries": [{"status": one.status, "tries": one.tries} for one in self.hooks.sent],
        }

    def _finish(self, scan: str, status: str) -> None:
        one = self.store.finish(scan, status)
        known = {"completed": "scan_completed_successfully", "failed": "scan_failed", "partial": "scan_partial"}
        told = {"scanId": scan, "projectId": one["projectId"], "statusInfo": one["statusDetails"]}
        self.notify(known.get(status.casefold(), "scan_failed"), {**told, "branch": one["branch"]})


def standin(url: str, wish: Wish) -> AppSec:
    """The stand-in at an address."""
    return AppSec(url, wish)


def _headers(event: str, body: bytes, secret: str) -> Mapping[str, str]:
    made = {"Content-Type": "application/json", "X-Webhook-Event": event}
    if secret:
        digest = hmac.new(secret.encode(), body, hashlib.sha256).digest()
        made["X-Webhook-Signature"] = "sha256=" + base64.b64encode(digest).decode()
    return made
