"""The feature-management service on loopback: whose key this is, the two windows, and which part answers."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from noarkit.standins.control import Control
from noarkit.standins.features.calls import Calls, object_type
from noarkit.standins.features.consent import Consent
from noarkit.standins.features.data import Store
from noarkit.standins.features.evaluation import Evaluation
from noarkit.standins.features.lists import Refusal, refused
from noarkit.standins.hooks import Delivery, Hooks
from noarkit.standins.issuer import Issuer, Terms
from noarkit.standins.serving import Wish
from noarkit.standins.windows import Windows

_LIMITS = ((100, 10.0), (900, 900.0))
_ALL = ["GET", "POST", "PUT", "PATCH", "DELETE"]
_KEY, _VERSION = "service-api-key", "service-api-version"
_KNOWN_VERSION = "20240601"


@dataclass(frozen=True, slots=True)
class Call:
    """One call that was let in; `path` is what follows the version."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    def members(self) -> dict[str, Any]:  # Any: what JSON holds
        """The JSON object of the body. Raises `Refusal`."""
        try:
            found = json.loads(self.body or b"{}")
        except ValueError as error:
            raise Refusal(400, "not JSON") from error
        if not isinstance(found, dict):
            raise Refusal(400, "not an object")
        return found


@dataclass(slots=True)
class Features:
    """The stand-in. Options: `audit=N` entries, `reads=counted` in the windows, `key=read` for a key that only reads,
    `personal=refused` for an owner who lets nobody have a key, `retries=a,b,…` of webhooks."""

    url: str
    wish: Wish
    store: Store = field(init=False)
    windows: Windows = field(init=False)
    calls: Calls = field(init=False)
    evaluation: Evaluation = field(init=False)
    consent: Consent = field(init=False)
    control: Control = field(default_factory=Control)
    hooks: Hooks = field(default_factory=Hooks)
    read_key: str = field(default_factory=lambda: "console-read" + secrets.token_urlsafe(24))
    write_key: str = field(default_factory=lambda: "console-write" + secrets.token_urlsafe(24))
    server_key: str = field(default_factory=lambda: "secret-" + secrets.token_urlsafe(24))
    hook_secret: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    hook_url: str = ""

    def __post_init__(self) -> None:
        audit = int(self.wish.options.get("audit", str(10 * self.wish.records)))
        self.store = Store(self.wish.records, audit, self.wish.seed)
        self.windows = Windows(self.wish.limits if self.wish.limits is not None else _LIMITS)
        self.calls = Calls(self.store, self.notify)
        self.evaluation = Evaluation(self)
        terms = Terms("standin-client", secrets.token_urlsafe(24), self.wish.lifetime_s, rotates=True, needs_pkce=True)
        self.consent = Consent(Issuer(terms), personal=self.wish.options.get("personal") != "refused")
        retries = self.wish.options.get("retries")
        if retries:
            self.hooks.waits_s = [float(one) for one in retries.split(",")]

    def settings(self) -> Mapping[str, object]:
        """What a connection to it is configured with."""
        shared: dict[str, object] = {
            "console_api_url": self.url,
            "http_api_url": self.url,
            "client_id": "standin-client",
        }
        if self.wish.limits is not None:
            shared["rates"] = [f"{calls}/{span:g}s" for calls, span in self.wish.limits] or ["1000000/s"]
        if self.wish.options.get("reads") != "counted":
            shared["read_rates"] = []
        return shared

    def secrets(self) -> Mapping[str, str]:
        """A console key, a server's secret key, and the secret of webhooks."""
        key = self.read_key if self.wish.options.get("key") == "read" else self.write_key
        known = {"api_key": key, "server_key": self.server_key, "webhook_secret": self.hook_secret}
        return {**known, "client_secret": self.consent.issuer.terms.client_secret}

    @property
    def app(self) -> Starlette:
        """The service."""
        routes = [
            *self.consent.routes(),
            Route("/console/v1/{rest:path}", self._console, methods=_ALL),
            Route("/v1/{what:path}", self._evaluation, methods=["POST"]),
            Route("/standin/{what}", self._control, methods=["GET", "POST"]),
        ]
        return Starlette(routes=routes)

    def close(self) -> None:
        """Ends the webhooks' thread."""
        self.hooks.close()

    def notify(self, kind: str, one: str, action: str) -> None:
        """Tells the webhook that a definition was changed, signed over the raw bytes."""
        metadata = {"type": object_type(kind), "name": one, "action": action, "projectID": self.store.project_id}
        event = {"eventName": "service::config_change", "timestamp": int(time.time() * 1_000), "metadata": metadata}
        self.tell({"data": [{**event, "user": {"name": "Konsollen"}}]})

    def tell(self, message: object) -> None:
        """Sends a message to the webhook, where there is one."""
        if self.hook_url:
            body = json.dumps(message, ensure_ascii=False).encode()
            self.hooks.send(Delivery(self.hook_url, body, lambda: sealed(self.hook_secret, body)))

    def let_in(self, call: Call, keys: Mapping[str, str]) -> Response | None:
        """The answer to a call that is not let in; `keys` by the method they are good for, "" for any."""
        trouble = self.control.meets(call.path)
        if trouble is not None:
            return trouble
        shown = call.headers.get(_KEY, "")
        if not any(hmac.compare_digest(shown.encode(), key.encode()) for key in keys.values()):
            raise Refusal(401, f"Invalid API key for this endpoint. Key: {shown}")
        if call.headers.get(_VERSION, _KNOWN_VERSION) != _KNOWN_VERSION:
            raise Refusal(400, "Unknown API version")
        writes = call.method != "GET"
        if writes and "write" in keys and not hmac.compare_digest(shown.encode(), keys["write"].encode()):
            raise Refusal(403, "This key may only read")
        counted = writes or self.wish.options.get("reads") == "counted"
        if counted and self.windows.enter() > 0:
            return JSONResponse({"message": "Too many requests"}, 429)
        return None

    async def _console(self, request: Request) -> Response:
        call = await _call(request, "/console/v1")
        keys = {"read": self.read_key, "write": self.write_key}
        return await run_in_threadpool(self._answered, call, keys, self.calls.answer)

    async def _evaluation(self, request: Request) -> Response:
        call = await _call(request, "/v1")
        if call.path == "/mcp":
            return await run_in_threadpool(self.evaluation.mcp, call)
        return await run_in_threadpool(self._answered, call, {"": self.server_key}, self.evaluation.answer)

    def _answered(self, call: Call, keys: Mapping[str, str], answering: Callable[[Call], Response]) -> Response:
        try:
            return self.let_in(call, keys) or answering(call)
        except Refusal as refusal:
            return refused(refusal)

    async def _control(self, request: Request) -> Response:
        asked: dict[str, Any] = await request.json() if request.method == "POST" else {}  # a test of ours says it
        what = request.path_params["what"]
        if what == "trouble":
            self.control.add(asked)
        elif what == "change":
            self._change(asked)
        elif what == "webhook":
            return JSONResponse({"verified": await self._set_up(str(asked["url"]))})
        elif what == "expire":
            self.consent.issuer.expire()
        elif what == "tell":
            self.tell(asked["message"])
        elif what != "counts":
            return JSONResponse({"message": "unknown"}, 404)
        return JSONResponse(
            {
                "troubles_met": self.control.met,
                "limits": self.windows.told(),
                "definitions": sum(len(self.store.ids(kind)) for kind in self.store.counts),
                "checks": self.evaluation.checks,
                "exposures": self.evaluation.exposures,
                "events": self.evaluation.events,
                "keys_read": self.calls.keys_read,
                "people_read": self.calls.people_read,
                "project": self.store.project_id,
                "deliveries": [{"status": one.status, "tries": one.tries} for one in self.hooks.sent],
            }
        )

    def _change(self, asked: Mapping[str, Any]) -> None:  # Any: what a test says
        for told in asked.get("definitions", []):
            self.store.put(told["kind"], told["id"], told.get("members", {}))
        for told in asked.get("gone", []):
            self.store.delete(told["kind"], told["id"])
        for told in asked.get("reviews", []):
            self.store.reviews_changed[(told["kind"], told["id"])] = told["reviews"]

    async def _set_up(self, url: str) -> bool:
        """Asks the place of a webhook whether it wants it; only then it gets any."""
        code = secrets.token_hex(8)
        asked = {"data": {"event": "url_verification", "verification_code": code}}
        async with httpx.AsyncClient(trust_env=False, timeout=10.0) as client:
            try:
                answer = await client.post(url, json=asked)
                good = answer.status_code == 200 and answer.json() == {"verification_code": code}
            except (httpx.HTTPError, ValueError):
                good = False  # nobody is there, or nobody who knows what this is
        self.hook_url = url if good else ""
        return good


def standin(url: str, wish: Wish) -> Features:
    """The stand-in at an address."""
    return Features(url, wish)


def sealed(secret: str, body: bytes) -> dict[str, str]:
    """The headers of a webhook's message now."""
    stamp = str(int(time.time() * 1_000))
    digest = hmac.new(secret.encode(), f"v0:{stamp}:".encode() + body, hashlib.sha256).hexdigest()
    return {
        "Content-Type": "application/json",
        "X-Service-Request-Timestamp": stamp,
        "X-Service-Signature": f"v0={digest}",
    }


async def _call(request: Request, base: str) -> Call:
    headers = {name.casefold(): value for name, value in request.headers.items()}
    query = dict(request.query_params)
    return Call(request.method, request.url.path.removeprefix(base), query, headers, await request.body())
