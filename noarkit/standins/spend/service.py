"""The spend service on loopback: who is let in, the shared limit, and which part answers."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlencode

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from noarkit.standins.control import Control
from noarkit.standins.hooks import Delivery, Hooks
from noarkit.standins.issuer import Issuer, Refused, Terms
from noarkit.standins.serving import Wish
from noarkit.standins.spend.calls import Calls
from noarkit.standins.spend.data import Store
from noarkit.standins.spend.lists import Refusal, refused
from noarkit.standins.windows import Windows

try:
    from noarkit.standins.spend import mcp_servers
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != "mcp":
        raise
    # without the extra there is no tool server
    mcp_servers = None  # type: ignore[assignment]  # asked before each use

_LIMIT = ((600, 60.0),)
_ALL = ["GET", "POST", "PUT", "DELETE"]
_URL_LIFE_S = 86_400.0
_ANSWER_LOST = 599  # a trouble of this status lets the token be spent, and loses the answer


@dataclass(frozen=True, slots=True)
class Call:
    """One call that was let in."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: bytes

    def members(self) -> dict[str, Any]:
        """The JSON object of the body. Raises `Refusal`."""
        try:
            found = json.loads(self.body or b"{}")
        except ValueError as error:
            raise Refusal("JSON_MAPPING_EXCEPTION") from error
        if not isinstance(found, dict):
            raise Refusal("JSON_MAPPING_EXCEPTION")
        return found


@dataclass(slots=True)
class Spend:
    """The stand-in. Options: `auth=key` for an API key, `url-life=SECONDS` of receipts, `retries=a,b,…` of webhooks."""

    url: str
    wish: Wish
    store: Store = field(init=False)
    issuer: Issuer = field(init=False)
    windows: Windows = field(init=False)
    control: Control = field(default_factory=Control)
    hooks: Hooks = field(default_factory=Hooks)
    api_key: str = field(default_factory=lambda: "sk_" + secrets.token_urlsafe(32))
    signing_key: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    webhook_secrets: dict[str, str] = field(default_factory=dict)
    _refresh_token: str = ""
    _mcp_key: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    def __post_init__(self) -> None:
        self.store = Store(self.wish.records, self.wish.seed)
        terms = Terms("standin-client", secrets.token_urlsafe(24), self.wish.lifetime_s, rotates=True, needs_pkce=True)
        self.issuer = Issuer(terms)
        self.windows = Windows(self.wish.limits if self.wish.limits is not None else _LIMIT)
        self._refresh_token = self.issuer.first_refresh_token()
        retries = self.wish.options.get("retries")
        if retries:
            self.hooks.waits_s = [float(one) for one in retries.split(",")]

    def settings(self) -> Mapping[str, object]:
        """What a connection to it is configured with."""
        shared: dict[str, object] = {"api_url": self.url, "company_id": self.store.company_id}
        if self.wish.limits is not None:
            shared["rates"] = [f"{calls}/{span:g}s" for calls, span in self.wish.limits] or ["1000000/s"]
        if self.wish.options.get("auth") == "key":
            return {**shared, "auth": "key"}
        return {**shared, "auth": "oauth", "auth_url": self.url, "client_id": self.issuer.terms.client_id}

    def secrets(self) -> Mapping[str, str]:
        """A key, or a client's secret and a refresh token as consent gave it."""
        if self.wish.options.get("auth") == "key":
            return {"api_key": self.api_key}
        known = {"client_secret": self.issuer.terms.client_secret, "refresh_token": self._refresh_token}
        return {**known, "mcp_url": mcp_servers.address(self.url, self._mcp_key)} if mcp_servers else known

    @property
    def app(self) -> Starlette:
        """The service."""
        calls = Calls(self)
        gate = mcp_servers.gate(self, self._mcp_key) if mcp_servers else None
        routes: list[BaseRoute] = [*gate.routes()] if gate else []
        routes += [
            Route("/oauth/authorize", self._consent, methods=["GET"]),
            Route("/oauth/token", self._token, methods=["POST"]),
            Route("/oauth/token/introspect", self._introspect, methods=["POST"]),
            Route("/files/{entry}/{receipt}", self._file, methods=["GET"]),
            Route("/standin/{what}", self._control, methods=["GET", "POST"]),
            Route("/{rest:path}", self._let_in(calls.answer), methods=_ALL),
        ]
        return Starlette(routes=routes, lifespan=gate.running if gate else None)

    def close(self) -> None:
        """Ends the webhooks' thread."""
        self.hooks.close()

    def signed(self, entry: str, receipt: str) -> str:
        """The address of a receipt's file, good for a while and for whoever has it."""
        life_s = float(self.wish.options.get("url-life", str(_URL_LIFE_S)))
        ends = f"{time.time() + life_s:.3f}"
        signature = self._signature(entry, receipt, ends)
        return f"{self.url}/files/{entry}/{receipt}?{urlencode({'expires': ends, 'signature': signature})}"

    def notify(self, event: str, data: Mapping[str, object]) -> None:
        """Tells every subscription that wants it, signed by its own secret."""
        for subscription in self.store.registers["subscriptions"].all():
            if event not in subscription["eventTypes"] or subscription["status"] != "ACTIVE":
                continue
            message_id = f"msg_{secrets.token_hex(12)}"
            body = json.dumps(
                {"data": data, "eventId": secrets.token_hex(8), "eventType": event}, separators=(",", ":")
            ).encode()
            secret = self.webhook_secrets[str(subscription["id"])]
            self.hooks.send(Delivery(str(subscription["endpointUrl"]), body, _headers(message_id, body, secret)))

    def _signature(self, entry: str, receipt: str, ends: str) -> str:
        return hmac.new(self.signing_key, f"{entry}/{receipt}/{ends}".encode(), hashlib.sha256).hexdigest()

    def _admitted(self, call: Call) -> Response | None:
        trouble = self.control.meets(call.path)
        if trouble is not None:
            return trouble
        if "access_token" in call.query or "token" in call.query:
            return refused("UNAUTHORIZED", 401, "a token never goes in the query")
        if not self._is_known(call.headers.get("authorization", "")):
            return Response(status_code=401)
        return JSONResponse({"type": "TOO_MANY_REQUESTS"}, 429) if self.windows.enter() > 0 else None

    def _is_known(self, shown: str) -> bool:
        kind, _, value = shown.partition(" ")
        if kind == "Bearer":
            return self.issuer.is_good(value)
        pair = base64.b64encode(f"{self.api_key}:".encode()).decode()
        return kind == "Basic" and hmac.compare_digest(value, pair)

    def _let_in(self, answering: Callable[[Call], Response]) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            headers = {name.casefold(): value for name, value in request.headers.items()}
            query = parse_qs(str(request.url.query), keep_blank_values=True)
            call = Call(request.method, request.url.path, query, headers, await request.body())
            return await run_in_threadpool(self._answered, call, answering)

        return endpoint

    def _answered(self, call: Call, answering: Callable[[Call], Response]) -> Response:
        answer = self._admitted(call)
        if answer is not None:
            return answer
        try:
            return answering(call)
        except Refusal as refusal:
            return refused(refusal.kind, refusal.status, refusal.message)

    async def _consent(self, request: Request) -> Response:
        """A person who always agrees."""
        asked = request.query_params
        try:
            code = self.issuer.code(
                asked.get("client_id", ""), asked.get("redirect_uri", ""), asked.get("code_challenge", "")
            )
            back = {"code": code}
        except Refused as refusal:
            back = {"error": refusal.error}
        return RedirectResponse(
            f"{asked.get('redirect_uri', '')}?{urlencode({**back, 'state': asked.get('state', '')})}", 302
        )

    async def _token(self, request: Request) -> Response:
        trouble = self.control.meets(request.url.path)
        if trouble is not None and trouble.status_code != _ANSWER_LOST:
            return trouble
        form = {name: values[0] for name, values in parse_qs((await request.body()).decode()).items()}
        try:
            self._client(request.headers.get("authorization", ""))
            if form.get("grant_type") == "authorization_code":
                verifier = form.get("code_verifier", "")
                found = self.issuer.exchange(form.get("code", ""), form.get("redirect_uri", ""), verifier)
            else:
                found = self.issuer.refresh(form.get("refresh_token", ""))
        except Refused as refusal:
            return JSONResponse({"error": refusal.error}, refusal.status)
        return trouble or JSONResponse({**found, "scope": "accounting-entries:read export-jobs:read"})

    def _client(self, shown: str) -> None:
        kind, _, value = shown.partition(" ")
        try:
            client_id, _, secret = base64.b64decode(value).decode().partition(":")
        except ValueError as error:
            raise Refused("invalid_client", status=401) from error
        if kind != "Basic":
            raise Refused("invalid_client", status=401)
        self.issuer.known(client_id, secret)

    async def _introspect(self, request: Request) -> Response:
        form = parse_qs((await request.body()).decode())
        return JSONResponse({"active": self.issuer.is_good(form.get("token", [""])[0]), "token_type": "Bearer"})

    async def _file(self, request: Request) -> Response:
        """A receipt's file: the address itself is the key, and any other key that comes along is counted as leaked."""
        entry, receipt = request.path_params["entry"], request.path_params["receipt"]
        trouble = self.control.meets(request.url.path)
        if trouble is not None:
            return trouble
        if request.headers.get("authorization"):
            self.control.met += 1_000
        ends = request.query_params.get("expires", "0")
        signature = request.query_params.get("signature", "")
        if not hmac.compare_digest(signature, self._signature(entry, receipt, ends)) or float(ends) < time.time():
            return Response("<Error><Code>AccessDenied</Code></Error>", 403, media_type="application/xml")
        data = await run_in_threadpool(self.store.receipt_bytes, entry, receipt)
        return Response(status_code=404) if data is None else Response(data, media_type="application/octet-stream")

    async def _control(self, request: Request) -> Response:
        asked: dict[str, Any] = await request.json() if request.method == "POST" else {}  # a test of ours says it
        what = request.path_params["what"]
        if what == "trouble":
            self.control.add(asked)
        elif what == "consent":
            return JSONResponse({"refresh_token": self.issuer.first_refresh_token()})
        elif what == "expire":
            self.issuer.expire()
        elif what == "change":
            for entry in asked.get("entries", []):
                self.store.change(entry["id"], entry)
        elif what == "receipt":
            self.store.extra_receipts.setdefault(asked["entry"], []).append("late")
            known = self.store.entry(asked["entry"]) or {}
            ids = [one["id"] for one in self.store.receipts(asked["entry"])]
            self.store.change(asked["entry"], {**known, "receiptIds": ids})
        elif what == "job":
            job = self.store.job(0)
            names = ("id", "companyId", "createdAt", "createdBy", "expiresIn", "numberOfItems", "status")
            self.notify("v1.export-job.created", {name: job[name] for name in names})
        elif what != "counts":
            return JSONResponse({"message": "unknown"}, 404)
        return JSONResponse(
            {
                "exchanges": self.issuer.exchanges,
                "troubles_met": self.control.met,
                "limits": self.windows.told(),
                "entries": len(self.store.entry_ids()),
                "deliveries": [{"status": one.status, "tries": one.tries} for one in self.hooks.sent],
            }
        )


def standin(url: str, wish: Wish) -> Spend:
    """The stand-in at an address."""
    return Spend(url, wish)


def _headers(message_id: str, body: bytes, secret: str) -> Callable[[], Mapping[str, str]]:
    key = base64.b64decode(secret.removeprefix("whsec_"))

    def made() -> Mapping[str, str]:
        stamp = str(int(datetime.now(UTC).timestamp()))
        digest = hmac.new(key, f"{message_id}.{stamp}.".encode() + body, hashlib.sha256).digest()
        return {
            "Content-Type": "application/json",
            "webhook-id": message_id,
            "webhook-timestamp": stamp,
            "webhook-signature": "v1," + base64.b64encode(digest).decode(),
        }

    return made
