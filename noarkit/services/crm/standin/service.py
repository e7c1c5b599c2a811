"""The stand-in server of the CRM: authentication, the cost of calls, and routing."""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from noarkit.services.crm.standin.bulk import Bulk
from noarkit.services.crm.standin.channels import NotificationChannels
from noarkit.services.crm.standin.data import Store, user
from noarkit.services.crm.standin.history import crm_changes
from noarkit.services.crm.standin.papers import Papers
from noarkit.services.crm.standin.records import Records
from noarkit.services.crm.standin.refusal import Refusal
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
from noarkit.services.standins.histories.player import HistoryPlayer, start_player
from noarkit.services.standins.issuer import Issuer, TokenPolicy, TokenRefusal
from noarkit.services.standins.mcp_consent import ConsentServer
from noarkit.services.standins.server import StandinSpec
from noarkit.services.standins.windows import Windows

_PREFIX = "Service-oauthtoken "
_SCOPES = "modules.READ,settings.READ,coql.READ,bulk.READ,files.READ,org.READ,notifications.ALL"
_ALL = ["GET", "POST", "PUT", "PATCH", "DELETE"]


@dataclass(slots=True)
class Crm:
    """The stand-in."""

    url: str
    spec: StandinSpec
    store: Store = field(init=False)
    issuer: Issuer = field(init=False)
    consent_server: ConsentServer = field(init=False)
    windows: Windows = field(init=False)
    control: Control = field(default_factory=Control)
    channels: NotificationChannels = field(init=False)
    player: HistoryPlayer | None = field(init=False)
    credits: int = 1_000_000
    spent_credits: int = 0
    _refresh_token: str = ""
    _mcp_key: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    def __post_init__(self) -> None:
        self.store = Store(self.spec.records, self.spec.seed)
        self.store.use_history(self.spec.history)
        self.player = start_player(self.spec.history, partial(crm_changes, self.store), self.store.clock, self.control)
        policy = TokenPolicy(
            "standin-client", secrets.token_urlsafe(24), self.spec.lifetime_s, refreshes_in_ten_minutes=10
        )
        self.issuer = Issuer(policy)
        self.consent_server = ConsentServer(self.url, self.spec.lifetime_s)
        self.windows = Windows(self.spec.limits if self.spec.limits is not None else ())
        self.channels = NotificationChannels()
        self.credits = int(self.spec.options.get("credits", "1000000"))
        self._refresh_token = self.issuer.first_refresh_token()

    def settings(self) -> Mapping[str, object]:
        """The settings of a connection to it."""
        return {
            "api_url": self.url,
            "accounts_url": self.url,
            "client_id": self.issuer.policy.client_id,
        }

    def secrets(self) -> Mapping[str, str | tuple[str, ...]]:
        """The client's secret, a refresh token as consent gives one, and the addresses of the tool servers."""
        all_secrets = {"client_secret": self.issuer.policy.client_secret, "refresh_token": self._refresh_token}
        if not has_tools():
            return all_secrets
        from noarkit.services.crm.standin import mcp_servers

        return {**all_secrets, "mcp_urls": mcp_servers.addresses(self.url, self._mcp_key)}

    @property
    def app(self) -> Starlette:
        """The web application."""
        remaining = _first(Papers(self.store).answer, Records(self.store, self.channels).answer)
        bulk = Bulk(self.store, self.url, self.spec.options).answer
        routes = [
            Route("/oauth/v2/auth", self._consent, methods=["GET"]),
            Route("/oauth/v2/token", self._token, methods=["POST"]),
            Route("/oauth/v2/token/revoke", self._revoke, methods=["POST"]),
            self._switches(),
            Route("/crm/bulk/v8/{rest:path}", self._make_handler(bulk), methods=["GET", "POST"]),
            Route("/crm/v8/actions/watch", self._make_handler(self.channels.answer), methods=_ALL),
            Route("/crm/v8/{rest:path}", self._make_handler(remaining), methods=_ALL),
        ]
        if not has_tools():
            return service(routes)
        from noarkit.services.crm.standin import mcp_servers
        from noarkit.services.standins.mcp_gate import Gate, make_key_gatekeeper

        parts = {"/own/": Layouts(self.store).answer, "/crm/bulk/": bulk, "": remaining}
        servers = mcp_servers.servers(partial(self._answer_tool, parts))
        gatekeeper = make_key_gatekeeper(self._mcp_key, self._opens_tools, self.consent_server.challenge)
        return service([*self.consent_server.routes(), *routes], Gate(self.control.take, gatekeeper, servers))

    def close(self) -> None:
        """Stops the webhook thread."""
        self.channels.close()

    def _opens_tools(self, token: str) -> bool:
        return self.issuer.is_good(token) or self.consent_server.issuer.is_good(token)

    def _refuse_call(self, call: Call, is_known: Callable[[str], bool]) -> Response | None:
        """Returns the refusal of an unauthenticated call, or one beyond a limit; None for one that may go on."""
        trouble = self.control.take(call.path)
        if trouble is not None:
            return trouble
        authorization = call.headers.get("authorization", "")
        if not authorization.startswith(_PREFIX) or not is_known(authorization.removeprefix(_PREFIX)):
            return _refusal_response("INVALID_TOKEN", 401, "invalid oauth token")
        wait_s = self.windows.enter()
        if wait_s > 0:
            headers = {"Retry-After": str(max(1, round(wait_s)))} if "retry-after" in self.spec.options else {}
            return JSONResponse(_refusal_body("TOO_MANY_REQUESTS", "too many requests"), 429, headers)
        cost = _cost(call)
        if self.spent_credits + cost > self.credits:
            return JSONResponse(_refusal_body("TOO_MANY_REQUESTS", "credits are used up"), 429)
        self.spent_credits += cost
        return None

    def _make_handler(self, handler: CallHandler) -> Callable[[Request], Awaitable[Response]]:
        return make_endpoint(partial(self._answer_with, handler))

    def _answer_tool(self, parts: Mapping[str, CallHandler], call: Call, token: str) -> Response:
        """Answers a call of a tool server, with the same costs and refusals."""
        rest_call = replace(call, headers={"authorization": _PREFIX + token})
        handler = next(handler for begin, handler in parts.items() if call.path.startswith(begin))
        return self._answer_with(handler, rest_call, self._opens_tools)

    def _answer_with(self, handler: CallHandler, call: Call, is_known: Callable[[str], bool] | None = None) -> Response:
        """Answers a call by a handler, if it may go on."""
        answer = self._refuse_call(call, is_known or self.issuer.is_good)
        if answer is None:
            try:
                answer = handler(check_numbers(call))
            except UnreadableCall as unreadable:
                answer = _refusal_response("INVALID_DATA", 400, str(unreadable))
            except Refusal as refusal:
                answer = _refusal_response(refusal.code, refusal.status, refusal.message, refusal.details)
        if self.spent_credits * 2 >= self.credits:
            answer.headers["X-API-CREDITS-REMAINING"] = str(self.credits - self.spent_credits)
        return answer

    async def _consent(self, request: Request) -> Response:
        return consent_redirect(request, self.issuer, more={"location": "no", "accounts-server": self.url})

    async def _token(self, request: Request) -> Response:
        form = await form_of(request)
        trouble = self.control.take(request.url.path)
        if trouble is not None:
            return trouble
        try:
            self.issuer.check_client(form.get("client_id", ""), form.get("client_secret", ""))
            tokens = issue_tokens(self.issuer, form)
        except TokenRefusal as refusal:
            # this service refuses with status 200
            return JSONResponse({"error": refusal.error, "error_description": refusal.description})
        return JSONResponse({**tokens, "api_domain": self.url, "scope": _SCOPES})

    async def _revoke(self, request: Request) -> Response:
        was = self.issuer.revoke((await form_of(request)).get("token", ""))
        return JSONResponse({"status": "success" if was else "failure"}, 200 if was else 400)

    def _switches(self) -> Route:
        verbs = {
            "expire": lambda arguments: self.issuer.expire(),
            "change": self._change,
            "fields": lambda arguments: self.store.reshape(arguments["module"], arguments["fields"]),
            "note": self._note,
            "attach": self._attach,
            "mail": self._mail,
            "consent": lambda arguments: {"refresh_token": self.issuer.first_refresh_token()},
            "stir": lambda arguments: self.store.set_last_activity(arguments["module"], arguments["id"]),
        }
        return switches(self.control, verbs, self._counts)

    def _change(self, arguments: JsonObject) -> None:
        by = user(0)
        for record in arguments.get("put", []):
            self.store.save(arguments["module"], record, by)
        for record_id in arguments.get("delete", []):
            self.store.delete(arguments["module"], record_id, by)

    def _note(self, arguments: JsonObject) -> None:
        note_id, now, writer = self.store.new_id(), self.store.now(), user(1)
        self.store.extra_notes[note_id] = {
            "id": note_id,
            "Note_Title": arguments.get("title"),
            "Note_Content": arguments.get("content", ""),
            "Parent_Id": self.store.parent(arguments["deal"]),
            "Owner": writer,
            "Created_By": writer,
            "Modified_By": writer,
            "Created_Time": now,
            "Modified_Time": now,
            "$state": "save",
        }

    def _attach(self, arguments: JsonObject) -> None:
        self.store.attach(arguments["deal"], arguments["name"], str(arguments.get("content", "")).encode())

    def _mail(self, arguments: JsonObject) -> None:
        self.store.receive(arguments["deal"], arguments["subject"], str(arguments.get("content", "")))

    def _counts(self) -> dict[str, object]:
        return {
            "spent": self.spent_credits,
            "exchanges": self.issuer.exchanges,
            "limits": self.windows.summary(),
            "held": {name: len(holdings.ordered_ids()) for name, holdings in self.store.holdings.items()},
            "deliveries": self.channels.hooks.summary(),
            "at": time.time(),
        }


def standin(url: str, spec: StandinSpec) -> Crm:
    """Builds the stand-in for an address."""
    return Crm(url, spec)


def _refusal_response(code: str, status: int, message: str, details: Mapping[str, object] | None = None) -> Response:
    """Builds an error answer in the service's format."""
    return JSONResponse(_refusal_body(code, message, details), status)


def _refusal_body(code: str, message: str, details: Mapping[str, object] | None = None) -> dict[str, object]:
    return {"code": code, "details": dict(details or {}), "message": message, "status": "error"}


def _first(papers: Callable[[Call], Response | None], records: CallHandler) -> CallHandler:
    def answer(call: Call) -> Response:
        return papers(call) or records(call)

    return answer


def _cost(call: Call) -> int:
    """Returns the credits that a call takes: a query by the rows it asks for, a write by tens of records."""
    if call.path.endswith("/coql"):
        limit = re.search(rb"limit\s+(\d+)", call.body.lower())
        rows = int(limit[1]) if limit else 200
        return 1 if rows <= 200 else 2 if rows <= 1_000 else 3
    if call.method in ("POST", "PUT"):
        try:
            data = call.members().get("data")
        except UnreadableCall:
            return 1
        return max(1, -(-len(data) // 10)) if isinstance(data, list) else 1
    return 1


Json = dict[str, Any]  # Any: what JSON holds


@dataclass(slots=True)
class Layouts:
    """Layouts, fields and rules that the REST stand-in does not have."""

    store: Store
    objects: dict[str, dict[str, Json]] = field(default_factory=dict)

    def answer(self, call: Call) -> Response:
        """Answers a call. Raises `Refusal`."""
        _, _, kind, *remaining = call.path.split("/")
        objects = self.objects.setdefault(kind, {})
        if call.method == "GET":
            return JSONResponse({kind: list(objects.values())})
        if call.method == "POST":
            object_id = self.store.new_id()
            objects[object_id] = {**_object(call), "id": object_id}
            return JSONResponse({kind: [objects[object_id]]}, 201)
        if not remaining or remaining[0] not in objects:
            raise Refusal("INVALID_DATA", 400, "the id given seems to be invalid")
        if call.method == "DELETE":
            return JSONResponse({kind: [objects.pop(remaining[0])]})
        objects[remaining[0]] |= {name: value for name, value in _object(call).items() if name != "id"}
        return JSONResponse({kind: [objects[remaining[0]]]})


def _object(call: Call) -> Json:
    value = json.loads(call.body)
    return value if isinstance(value, dict) else {}
