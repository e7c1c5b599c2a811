"""The stand-in server of the spend service: authentication, the shared rate limit, and routing."""

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

from noarkit.services.spend.standin.calls import ACTIVATED_STATE, Calls
from noarkit.services.spend.standin.data import Store, format_time
from noarkit.services.spend.standin.history import spend_changes
from noarkit.services.spend.standin.lists import Refusal, refusal_response
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

_LIMIT = ((600, 60.0),)
_ALL = ["GET", "POST", "PUT", "PATCH", "DELETE"]
_KEYS = ("key", "integrated")  # of one company, or of a partner whose installation is activated first
_URL_LIFE_S = 86_400.0
_ANSWER_LOST_STATUS = 599  # a trouble of this status lets the token be spent, and loses the answer


@dataclass(slots=True)
class Spend:
    """The stand-in. Options: `auth=key` or `integrated` for an API key, `tokens=jwt`, `url-life=SECONDS` of receipts,
    `scopes="a:read b:read"` where a key has not all of them, `retries=a,b,…` of webhooks."""

    url: str
    spec: StandinSpec
    store: Store = field(init=False)
    issuer: Issuer = field(init=False)
    windows: Windows = field(init=False)
    control: Control = field(default_factory=Control)
    hooks: Hooks = field(init=False)
    api_key: str = field(default_factory=lambda: "sk_" + secrets.token_urlsafe(32))
    signing_key: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    webhook_secrets: dict[str, str] = field(default_factory=dict)
    installation: dict[str, str] = field(init=False)
    consent_server: ConsentServer = field(init=False)
    player: HistoryPlayer | None = field(init=False)
    _refresh_token: str = ""
    _mcp_key: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    def __post_init__(self) -> None:
        self.store = Store(self.spec.records, self.spec.seed)
        self.store.clock = make_clock(self.spec.history)
        make_changes = partial(spend_changes, self.store)
        self.player = start_player(self.spec.history, make_changes, self.store.clock, self.control)
        policy = TokenPolicy(
            "standin-client", secrets.token_urlsafe(24), self.spec.lifetime_s, rotates=True, needs_pkce=True
        )
        policy.has_jwt_tokens = self.spec.options.get("tokens") == "jwt"
        is_integrated = self.spec.options.get("auth") == "integrated"
        self.installation = {
            "id": str(uuid.uuid4()),
            "applicationId": str(uuid.uuid4()),
            "resource": f"urn:standin:company:{self.store.company_id}",
            "status": "PENDING_INTEGRATION" if is_integrated else ACTIVATED_STATE,
            "createdAt": format_time(datetime.now(UTC)),
            "updatedAt": format_time(datetime.now(UTC)),
        }
        self.issuer = Issuer(policy)
        self.windows = Windows(self.spec.limits if self.spec.limits is not None else _LIMIT)
        self._refresh_token = self.issuer.first_refresh_token()
        self.hooks = Hooks.of(self.spec.options)
        self.consent_server = ConsentServer(self.url, self.spec.lifetime_s)

    def settings(self) -> Mapping[str, object]:
        """The settings of a connection to it."""
        common: dict[str, object] = {"api_url": self.url, "company_id": self.store.company_id}
        if self.spec.limits is not None:
            common["rates"] = self.spec.rates()
        if self.spec.options.get("auth") in _KEYS:
            return {**common, "auth": "key"}
        return {**common, "auth": "oauth", "auth_url": self.url, "client_id": self.issuer.policy.client_id}

    def secrets(self) -> Mapping[str, str]:
        """A key, or a client's secret and a refresh token as consent gives one."""
        all_secrets = {"client_secret": self.issuer.policy.client_secret, "refresh_token": self._refresh_token}
        if self.spec.options.get("auth") in _KEYS:
            all_secrets = {"api_key": self.api_key}
        if not has_tools():
            return all_secrets
        from noarkit.services.spend.standin import mcp_servers

        return {**all_secrets, "mcp_url": mcp_servers.address(self.url, self._mcp_key)}

    @property
    def app(self) -> Starlette:
        """The web application."""
        scopes = frozenset(self.spec.options["scopes"].split()) if "scopes" in self.spec.options else None
        calls = Calls(self.store, self.webhook_secrets, self.signed_url, self.installation, scopes)
        routes = [
            Route("/oauth/authorize", self._consent, methods=["GET"]),
            Route("/oauth/token", self._token, methods=["POST"]),
            Route("/oauth/token/introspect", self._introspect, methods=["POST"]),
            Route("/files/{entry}/{receipt}", self._file, methods=["GET"]),
            self._switches(),
            Route("/{rest:path}", make_endpoint(partial(self._answer, calls.answer)), methods=_ALL),
        ]
        if not has_tools():
            return service(routes)
        from noarkit.services.spend.standin import mcp_servers
        from noarkit.services.standins.mcp_gate import Gate, make_key_gatekeeper

        servers = mcp_servers.servers(self.store, self.windows)
        gatekeeper = make_key_gatekeeper(self._mcp_key, self._opens_tools, self.consent_server.challenge)
        return service([*self.consent_server.routes(), *routes], Gate(self.control.take, gatekeeper, servers))

    def _opens_tools(self, token: str) -> bool:
        return self.issuer.is_good(token) or self.consent_server.issuer.is_good(token)

    def close(self) -> None:
        """Stops the webhook thread."""
        self.hooks.close()

    def signed_url(self, entry: str, receipt: str) -> str:
        """Builds the address of a receipt's file, valid for a while and for anybody who has it."""
        life_s = float(self.spec.options.get("url-life", str(_URL_LIFE_S)))
        ends = f"{time.time() + life_s:.3f}"
        signature = self._signature(entry, receipt, ends)
        return f"{self.url}/files/{entry}/{receipt}?{urlencode({'expires': ends, 'signature': signature})}"

    def notify(self, event: str, data: Mapping[str, object]) -> None:
        """Notifies every subscription for an event, signed by its own secret."""
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

    def _refuse_call(self, call: Call) -> Response | None:
        trouble = self.control.take(call.path)
        if trouble is not None:
            return trouble
        if not {"access_token", "token"}.isdisjoint(call.queries):
            return refusal_response("UNAUTHORIZED", 401, "a token never goes in the query")
        if not self._is_known(call.headers.get("authorization", "")):
            return Response(status_code=401)
        return refusal_response("TOO_MANY_REQUESTS", 429) if self.windows.enter() > 0 else None

    def _is_known(self, key: str) -> bool:
        kind, _, value = key.partition(" ")
        if kind == "Bearer":
            return self.issuer.is_good(value)
        pair = base64.b64encode(f"{self.api_key}:".encode()).decode()
        return kind == "Basic" and hmac.compare_digest(value, pair)

    def _answer(self, handler: CallHandler, call: Call) -> Response:
        try:
            return self._refuse_call(call) or handler(check_numbers(call))
        except UnreadableCall as unreadable:
            return refusal_response("JSON_MAPPING_EXCEPTION", 400, str(unreadable))
        except Refusal as refusal:
            return refusal_response(refusal.kind, refusal.status, refusal.message)

    async def _consent(self, request: Request) -> Response:
        return consent_redirect(request, self.issuer)

    async def _token(self, request: Request) -> Response:
        trouble = self.control.take(request.url.path)
        if trouble is not None and trouble.status_code != _ANSWER_LOST_STATUS:
            return trouble
        try:
            self._client(request.headers.get("authorization", ""))
            tokens = issue_tokens(self.issuer, await form_of(request))
        except TokenRefusal as refusal:
            return JSONResponse({"error": refusal.error}, refusal.status)
        return trouble or JSONResponse({**tokens, "scope": "accounting-entries:read export-jobs:read"})

    def _client(self, key: str) -> None:
        kind, _, value = key.partition(" ")
        try:
            client_id, _, secret = base64.b64decode(value).decode().partition(":")
        except ValueError as error:
            raise TokenRefusal("invalid_client", status=401) from error
        if kind != "Basic":
            raise TokenRefusal("invalid_client", status=401)
        self.issuer.check_client(client_id, secret)

    async def _introspect(self, request: Request) -> Response:
        token = (await form_of(request)).get("token", "")
        return JSONResponse({"active": self.issuer.is_good(token), "token_type": "Bearer"})

    async def _file(self, request: Request) -> Response:
        """Answers with a receipt's file: the address itself is the key, and any other key sent along is counted as
        leaked."""
        entry, receipt = request.path_params["entry"], request.path_params["receipt"]
        trouble = self.control.take(request.url.path)
        if trouble is not None:
            return trouble
        if request.headers.get("authorization"):
            self.control.met_count += 1_000
        ends = request.query_params.get("expires", "0")
        signature = request.query_params.get("signature", "")
        if not hmac.compare_digest(signature, self._signature(entry, receipt, ends)) or float(ends) < time.time():
            return Response("<Error><Code>AccessDenied</Code></Error>", 403, media_type="application/xml")
        data = await run_in_threadpool(self.store.receipt_bytes, entry, receipt)
        return Response(status_code=404) if data is None else Response(data, media_type="application/octet-stream")

    def _switches(self) -> Route:
        verbs = {
            "consent": lambda arguments: {"refresh_token": self.issuer.first_refresh_token()},
            "expire": self._expire,
            "change": self._change,
            "receipt": self._late_receipt,
            "job": self._set_job_state,
            "export": self._export_entries,
        }
        return switches(self.control, verbs, self._counts)

    def _expire(self, arguments: JsonObject) -> None:
        self.issuer.expire()
        self.consent_server.issuer.expire()

    def _change(self, arguments: JsonObject) -> None:
        for entry in arguments.get("entries", []):
            self.store.change(entry["id"], entry)

    def _late_receipt(self, arguments: JsonObject) -> None:
        self.store.add_receipt(arguments["entry"])

    def _export_entries(self, arguments: JsonObject) -> None:
        """Exports entries now, however long ago they were settled."""
        self.store.export([str(entry_id) for entry_id in arguments["entries"]])

    def _set_job_state(self, arguments: JsonObject) -> None:
        """Sets the state of a job, and notifies of it."""
        if "status" in arguments:
            self.store.job_states[int(arguments.get("number", 0))] = str(arguments["status"])
        job = self.store.job(int(arguments.get("number", 0)))
        names = ("id", "companyId", "createdAt", "createdBy", "expiresIn", "numberOfItems", "status")
        self.notify("v1.export-job.created", {name: job[name] for name in names})

    def _counts(self) -> dict[str, object]:
        return {
            "exchanges": self.issuer.exchanges,
            "limits": self.windows.summary(),
            "entries": len(self.store.entry_ids()),
            "deliveries": self.hooks.summary(),
        }


def standin(url: str, spec: StandinSpec) -> Spend:
    """Builds the stand-in for an address."""
    return Spend(url, spec)


def _headers(message_id: str, body: bytes, secret: str) -> Callable[[], Mapping[str, str]]:
    key = base64.b64decode(secret.removeprefix("whsec_"))

    def make_headers() -> Mapping[str, str]:
        stamp = str(int(datetime.now(UTC).timestamp()))
        digest = hmac.new(key, f"{message_id}.{stamp}.".encode() + body, hashlib.sha256).digest()
        return {
            "Content-Type": "application/json",
            "webhook-id": message_id,
            "webhook-timestamp": stamp,
            "webhook-signature": "v1," + base64.b64encode(digest).decode(),
        }

    return make_headers
