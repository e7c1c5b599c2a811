"""The CRM on loopback: who is let in, what a call costs, and which part answers it."""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from noarkit.standins.control import Control
from noarkit.standins.crm.bulk import Bulk
from noarkit.standins.crm.data import Store, user
from noarkit.standins.crm.papers import Papers
from noarkit.standins.crm.records import Records
from noarkit.standins.crm.refusal import Refusal
from noarkit.standins.crm.watching import Watching
from noarkit.standins.issuer import Issuer, Refused, Terms
from noarkit.standins.serving import Wish
from noarkit.standins.windows import Windows

try:
    from noarkit.standins.crm import mcp_servers
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != "mcp":
        raise
    # without the extra there are no tool servers
    mcp_servers = None  # type: ignore[assignment]  # asked before each use

PREFIX = "Service-oauthtoken "
_SCOPES = "modules.READ,settings.READ,coql.READ,bulk.READ,files.READ,org.READ,notifications.ALL"


@dataclass(frozen=True, slots=True)
class Call:
    """One call that was let in."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes


Answering = Callable[[Call], Response]


@dataclass(slots=True)
class Crm:
    """The stand-in."""

    url: str
    wish: Wish
    store: Store = field(init=False)
    issuer: Issuer = field(init=False)
    windows: Windows = field(init=False)
    control: Control = field(default_factory=Control)
    watching: Watching = field(init=False)
    credits: int = 1_000_000
    spent: int = 0
    _refresh_token: str = ""
    _rest: Answering = field(init=False)
    _bulk: Answering = field(init=False)
    _mcp_key: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    def __post_init__(self) -> None:
        self.store = Store(self.wish.records, self.wish.seed)
        self.issuer = Issuer(Terms("standin-client", secrets.token_urlsafe(24), self.wish.lifetime_s))
        self.windows = Windows(self.wish.limits if self.wish.limits is not None else ())
        self.watching = Watching()
        self.credits = int(self.wish.options.get("credits", "1000000"))
        self._refresh_token = self.issuer.first_refresh_token()

    def settings(self) -> Mapping[str, object]:
        """What a connection to it is configured with."""
        return {
            "api_url": self.url,
            "accounts_url": self.url,
            "client_id": self.issuer.terms.client_id,
        }

    def secrets(self) -> Mapping[str, str | tuple[str, ...]]:
        """The client's secret, a refresh token as consent gave it, and the addresses of the tool servers."""
        known = {"client_secret": self.issuer.terms.client_secret, "refresh_token": self._refresh_token}
        return {**known, "mcp_urls": mcp_servers.addresses(self.url, self._mcp_key)} if mcp_servers else known

    @property
    def app(self) -> Starlette:
        """The service."""
        records = Records(self.store, self.watching)
        papers, bulk = Papers(self.store), Bulk(self.store, self.url, self.wish.options)
        self._rest, self._bulk = _first(papers.answer, records.answer), bulk.answer
        gate = mcp_servers.gate(self, self._mcp_key) if mcp_servers else None
        routes: list[BaseRoute] = [*gate.routes()] if gate else []
        routes += [
            Route("/oauth/v2/auth", self._consent, methods=["GET"]),
            Route("/oauth/v2/token", self._token, methods=["POST"]),
            Route("/oauth/v2/token/revoke", self._revoke, methods=["POST"]),
            Route("/standin/{what}", self._control, methods=["GET", "POST"]),
            Route("/crm/bulk/v8/{rest:path}", self._let_in(self._bulk), methods=["GET", "POST"]),
            Route("/crm/v8/actions/watch", self._let_in(self.watching.answer), methods=_ALL),
            Route("/crm/v8/{rest:path}", self._let_in(self._rest), methods=_ALL),
        ]
        return Starlette(routes=routes, lifespan=gate.running if gate else None)

    def answered(self, call: Call) -> Response:
        """The answer to a call that came through a tool server: what it costs, and what refuses it, is the same."""
        return self.answered_by(call, self._bulk if call.path.startswith("/crm/bulk/") else self._rest)

    def close(self) -> None:
        """Ends the webhooks' thread."""
        self.watching.close()

    def admitted(self, call: Call) -> Response | None:
        """The answer to a call that is not let in, or is too much; None for one that may go on."""
        trouble = self.control.meets(call.path)
        if trouble is not None:
            return trouble
        shown = call.headers.get("authorization", "")
        if not shown.startswith(PREFIX) or not self.issuer.is_good(shown.removeprefix(PREFIX)):
            return refused("INVALID_TOKEN", 401, "invalid oauth token")
        wait_s = self.windows.enter()
        if wait_s > 0:
            headers = {"Retry-After": str(max(1, round(wait_s)))} if "retry-after" in self.wish.options else {}
            return JSONResponse(_refusal("TOO_MANY_REQUESTS", "too many requests"), 429, headers)
        cost = _cost(call)
        if self.spent + cost > self.credits:
            return JSONResponse(_refusal("TOO_MANY_REQUESTS", "credits are used up"), 429)
        self.spent += cost
        return None

    def _let_in(self, answering: Answering) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            body = await request.body()
            headers = {name.casefold(): value for name, value in request.headers.items()}
            call = Call(request.method, request.url.path, dict(request.query_params), headers, body)
            return await run_in_threadpool(self.answered_by, call, answering)

        return endpoint

    def answered_by(self, call: Call, answering: Answering) -> Response:
        """The answer to a call by the part it is for, if it is let in."""
        answer = self.admitted(call)
        if answer is None:
            try:
                answer = answering(call)
            except Refusal as refusal:
                answer = refused(refusal.code, refusal.status, refusal.message, refusal.details)
        if self.spent * 2 >= self.credits:
            answer.headers["X-API-CREDITS-REMAINING"] = str(self.credits - self.spent)
        return answer

    async def _consent(self, request: Request) -> Response:
        """A person who always agrees."""
        asked = request.query_params
        try:
            code = self.issuer.code(
                asked.get("client_id", ""), asked.get("redirect_uri", ""), asked.get("code_challenge", "")
            )
            back = {"code": code, "location": "no", "accounts-server": self.url}
        except Refused as refusal:
            back = {"error": refusal.error}
        query = urlencode({**back, "state": asked.get("state", "")})
        return RedirectResponse(f"{asked.get('redirect_uri', '')}?{query}", 302)

    async def _token(self, request: Request) -> Response:
        form = {name: values[0] for name, values in parse_qs((await request.body()).decode()).items()}
        trouble = self.control.meets(request.url.path)
        if trouble is not None:
            return trouble
        try:
            self.issuer.known(form.get("client_id", ""), form.get("client_secret", ""))
            if form.get("grant_type") == "authorization_code":
                verifier = form.get("code_verifier", "")
                told = self.issuer.exchange(form.get("code", ""), form.get("redirect_uri", ""), verifier)
            else:
                told = self.issuer.refresh(form.get("refresh_token", ""))
        except Refused as refusal:
            # this service says no with 200, but for too many requests
            status = 400 if refusal.error == "Access Denied" else 200
            return JSONResponse({"error": refusal.error, "error_description": refusal.description}, status)
        return JSONResponse({**told, "api_domain": self.url, "scope": _SCOPES})

    async def _revoke(self, request: Request) -> Response:
        form = parse_qs((await request.body()).decode())
        was = self.issuer.revoke(form.get("token", [""])[0])
        return JSONResponse({"status": "success" if was else "failure"}, 200 if was else 400)

    async def _control(self, request: Request) -> Response:
        told: dict[str, Any] = await request.json() if request.method == "POST" else {}  # a test of ours says it
        what = request.path_params["what"]
        if what == "trouble":
            self.control.add(told)
        elif what == "expire":
            self.issuer.expire()
        elif what == "change":
            by = user(0)
            for record in told.get("put", []):
                self.store.put(told["module"], record, by)
            for record_id in told.get("delete", []):
                self.store.delete(told["module"], record_id, by)
        elif what == "fields":
            self.store.reshape(told["module"], told["fields"])
        elif what == "note":
            note_id = self.store.new_id()
            now = self.store.now()
            writer = user(1)
            self.store.extra_notes[note_id] = {
                "id": note_id,
                "Note_Title": told.get("title"),
                "Note_Content": told.get("content", ""),
                "Parent_Id": {"module": {"api_name": "Deals"}, "id": told["deal"], "name": "…"},
                "Owner": writer,
                "Created_By": writer,
                "Modified_By": writer,
                "Created_Time": now,
                "Modified_Time": now,
                "$state": "save",
            }
        elif what != "counts":
            return JSONResponse({"message": "unknown"}, 404)
        return JSONResponse(self._counts())

    def _counts(self) -> dict[str, object]:
        return {
            "spent": self.spent,
            "exchanges": self.issuer.exchanges,
            "troubles_met": self.control.met,
            "limits": self.windows.told(),
            "held": {name: len(held.ordered()) for name, held in self.store.holdings.items()},
            "deliveries": [{"status": one.status, "tries": one.tries} for one in self.watching.hooks.sent],
            "at": time.time(),
        }


def standin(url: str, wish: Wish) -> Crm:
    """The stand-in at an address."""
    return Crm(url, wish)


def refused(code: str, status: int, message: str, details: Mapping[str, object] | None = None) -> Response:
    """A refusal as the service writes it."""
    return JSONResponse(_refusal(code, message, details), status)


def _refusal(code: str, message: str, details: Mapping[str, object] | None = None) -> dict[str, object]:
    return {"code": code, "details": dict(details or {}), "message": message, "status": "error"}


_ALL = ["GET", "POST", "PUT", "PATCH", "DELETE"]


def _first(papers: Callable[[Call], Response | None], records: Answering) -> Answering:
    def answer(call: Call) -> Response:
        return papers(call) or records(call)

    return answer


def _cost(call: Call) -> int:
    """What a call takes of the day's credits."""
    if call.path.endswith("/coql"):
        return 1 if b"limit 200" in call.body.lower() or b"limit" not in call.body.lower() else 3
    if call.method in ("POST", "PUT") and call.path.count("/") == 3:
        return 1 + call.body.count(b"{") // 20
    return 1
