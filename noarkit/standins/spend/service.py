"""The spend service on loopback: who is let in, the shared limit, and which part answers."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from noarkit.standins.calling import Answering, Call, Unreadable, answered, has_tools, service
from noarkit.standins.consent import agreed, form_of, issued
from noarkit.standins.control import Control, Told, switches
from noarkit.standins.hooks import Delivery, Hooks
from noarkit.standins.issuer import Issuer, Refused, Terms
from noarkit.standins.mcp_consent import Granting
from noarkit.standins.serving import Wish
from noarkit.standins.spend.calls import ACTIVATED, Calls
from noarkit.standins.spend.data import Store, told
from noarkit.standins.spend.lists import Refusal, refused
from noarkit.standins.windows import Windows

_LIMIT = ((600, 60.0),)
_ALL = ["GET", "POST", "PUT", "PATCH", "DELETE"]
_KEYS = ("key", "integrated")  # of one company, or of a partner whose installation is activated first
_URL_LIFE_S = 86_400.0
_ANSWER_LOST = 599  # a trouble of this status lets the token be spent, and loses the answer


@dataclass(slots=True)
class Spend:
    """The stand-in. Options: `auth=key` or `integrated` for an API key, `tokens=jwt`, `url-life=SECONDS` of receipts,
    `scopes="a:read b:read"` where a key has not all of them, `retries=a,b,…` of webhooks."""

    url: str
    wish: Wish
    store: Store = field(init=False)
    issuer: Issuer = field(init=False)
    windows: Windows = field(init=False)
    control: Control = field(default_factory=Control)
    hooks: Hooks = field(init=False)
    api_key: str = field(default_factory=lambda: "sk_" + secrets.token_urlsafe(32))
    signing_key: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    webhook_secrets: dict[str, str] = field(default_factory=dict)
    installed: dict[str, str] = field(init=False)
    granting: Granting = field(init=False)
    _refresh_token: str = ""
    _mcp_key: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    def __post_init__(self) -> None:
        self.store = Store(self.wish.records, self.wish.seed)
        terms = Terms("standin-client", secrets.token_urlsafe(24), self.wish.lifetime_s, rotates=True, needs_pkce=True)
        terms.signed = self.wish.options.get("tokens") == "jwt"
        integrated = self.wish.options.get("auth") == "integrated"
        self.installed = {
            "id": str(uuid.uuid4()),
            "applicationId": str(uuid.uuid4()),
            "resource": f"urn:standin:company:{self.store.company_id}",
            "status": "PENDING_INTEGRATION" if integrated else ACTIVATED,
            "createdAt": told(datetime.now(UTC)),
            "updatedAt": told(datetime.now(UTC)),
        }
        self.issuer = Issuer(terms)
        self.windows = Windows(self.wish.limits if self.wish.limits is not None else _LIMIT)
        self._refresh_token = self.issuer.first_refresh_token()
        self.hooks = Hooks.of(self.wish.options)
        self.granting = Granting(self.url, self.wish.lifetime_s)

    def settings(self) -> Mapping[str, object]:
        """What a connection to it is configured with."""
        shared: dict[str, object] = {"api_url": self.url, "company_id": self.store.company_id}
        if self.wish.limits is not None:
            shared["rates"] = self.wish.rates()
        if self.wish.options.get("auth") in _KEYS:
            return {**shared, "auth": "key"}
        return {**shared, "auth": "oauth", "auth_url": self.url, "client_id": self.issuer.terms.client_id}

    def secrets(self) -> Mapping[str, str]:
        """A key, or a client's secret and a refresh token as consent gave it."""
        known = {"client_secret": self.issuer.terms.client_secret, "refresh_token": self._refresh_token}
        if self.wish.options.get("auth") in _KEYS:
            known = {"api_key": self.api_key}
        if not has_tools():
            return known
        from noarkit.standins.spend import mcp_servers

        return {**known, "mcp_url": mcp_servers.address(self.url, self._mcp_key)}

    @property
    def app(self) -> Starlette:
        """The service."""
        scopes = frozenset(self.wish.options["scopes"].split()) if "scopes" in self.wish.options else None
        calls = Calls(self.store, self.webhook_secrets, self.signed, self.installed, scopes)
        routes = [
            Route("/oauth/authorize", self._consent, methods=["GET"]),
            Route("/oauth/token", self._token, methods=["POST"]),
            Route("/oauth/token/introspect", self._introspect, methods=["POST"]),
            Route("/files/{entry}/{receipt}", self._file, methods=["GET"]),
            self._switches(),
            Route("/{rest:path}", answered(partial(self._answered, calls.answer)), methods=_ALL),
        ]
        if not has_tools():
            return service(routes)
        from noarkit.standins.mcp_gate import Gate, keyed
        from noarkit.standins.spend import mcp_servers

        servers = mcp_servers.servers(self.store, self.windows)
        turned_away = keyed(self._mcp_key, self._opens_tools, self.granting.challenge)
        return service([*self.granting.routes(), *routes], Gate(self.control.meets, turned_away, servers))

    def _opens_tools(self, token: str) -> bool:
        return self.issuer.is_good(token) or self.granting.issuer.is_good(token)

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
        if not {"access_token", "token"}.isdisjoint(call.queries):
            return refused("UNAUTHORIZED", 401, "a token never goes in the query")
        if not self._is_known(call.headers.get("authorization", "")):
            return Response(status_code=401)
        return refused("TOO_MANY_REQUESTS", 429) if self.windows.enter() > 0 else None

    def _is_known(self, shown: str) -> bool:
        kind, _, value = shown.partition(" ")
        if kind == "Bearer":
            return self.issuer.is_good(value)
        pair = base64.b64encode(f"{self.api_key}:".encode()).decode()
        return kind == "Basic" and hmac.compare_digest(value, pair)

    def _answered(self, answering: Answering, call: Call) -> Response:
        try:
            return self._admitted(call) or answering(call)
        except Unreadable as unreadable:
            return refused("JSON_MAPPING_EXCEPTION", 400, str(unreadable))
        except Refusal as refusal:
            return refused(refusal.kind, refusal.status, refusal.message)

    async def _consent(self, request: Request) -> Response:
        return agreed(request, self.issuer)

    async def _token(self, request: Request) -> Response:
        trouble = self.control.meets(request.url.path)
        if trouble is not None and trouble.status_code != _ANSWER_LOST:
            return trouble
        try:
            self._client(request.headers.get("authorization", ""))
            found = issued(self.issuer, await form_of(request))
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
        token = (await form_of(request)).get("token", "")
        return JSONResponse({"active": self.issuer.is_good(token), "token_type": "Bearer"})

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

    def _switches(self) -> Route:
        verbs = {
            "consent": lambda told: {"refresh_token": self.issuer.first_refresh_token()},
            "expire": self._expire,
            "change": self._change,
            "receipt": self._late_receipt,
            "job": self._job_told,
            "export": self._exported,
        }
        return switches(self.control, verbs, self._counts)

    def _expire(self, told: Told) -> None:
        self.issuer.expire()
        self.granting.issuer.expire()

    def _change(self, told: Told) -> None:
        for entry in told.get("entries", []):
            self.store.change(entry["id"], entry)

    def _late_receipt(self, told: Told) -> None:
        entry = told["entry"]
        self.store.extra_receipts.setdefault(entry, []).append("late")
        ids = [one["id"] for one in self.store.receipts(entry)]
        self.store.change(entry, {**(self.store.entry(entry) or {}), "receiptIds": ids})

    def _exported(self, told: Told) -> None:
        """The bookkeeping takes entries now, however long ago they were settled."""
        self.store.export([str(one) for one in told["entries"]])

    def _job_told(self, told: Told) -> None:
        """A job is told of; it may have come to another state."""
        if "status" in told:
            self.store.job_states[int(told.get("number", 0))] = str(told["status"])
        job = self.store.job(int(told.get("number", 0)))
        names = ("id", "companyId", "createdAt", "createdBy", "expiresIn", "numberOfItems", "status")
        self.notify("v1.export-job.created", {name: job[name] for name in names})

    def _counts(self) -> dict[str, object]:
        return {
            "exchanges": self.issuer.exchanges,
            "limits": self.windows.told(),
            "entries": len(self.store.entry_ids()),
            "deliveries": self.hooks.told(),
        }


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
