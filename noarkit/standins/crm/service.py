"""The CRM on loopback: who is let in, what a call costs, and which part answers it."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from noarkit.standins.calling import Answering, Call, Unreadable, answered, has_tools, service
from noarkit.standins.consent import agreed, form_of, issued
from noarkit.standins.control import Control, Told, switches
from noarkit.standins.crm.bulk import Bulk
from noarkit.standins.crm.data import Store, user
from noarkit.standins.crm.own import Own
from noarkit.standins.crm.papers import Papers
from noarkit.standins.crm.records import Records
from noarkit.standins.crm.refusal import Refusal
from noarkit.standins.crm.watching import Watching
from noarkit.standins.issuer import Issuer, Refused, Terms
from noarkit.standins.serving import Wish
from noarkit.standins.windows import Windows

_PREFIX = "Service-oauthtoken "
_SCOPES = "modules.READ,settings.READ,coql.READ,bulk.READ,files.READ,org.READ,notifications.ALL"
_ALL = ["GET", "POST", "PUT", "PATCH", "DELETE"]


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
    _mcp_key: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    def __post_init__(self) -> None:
        self.store = Store(self.wish.records, self.wish.seed)
        terms = Terms("standin-client", secrets.token_urlsafe(24), self.wish.lifetime_s, refreshes_in_ten_minutes=10)
        self.issuer = Issuer(terms)
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
        if not has_tools():
            return known
        from noarkit.standins.crm import mcp_servers

        return {**known, "mcp_urls": mcp_servers.addresses(self.url, self._mcp_key)}

    @property
    def app(self) -> Starlette:
        """The service."""
        rest = _first(Papers(self.store).answer, Records(self.store, self.watching).answer)
        bulk = Bulk(self.store, self.url, self.wish.options).answer
        routes = [
            Route("/oauth/v2/auth", self._consent, methods=["GET"]),
            Route("/oauth/v2/token", self._token, methods=["POST"]),
            Route("/oauth/v2/token/revoke", self._revoke, methods=["POST"]),
            self._switches(),
            Route("/crm/bulk/v8/{rest:path}", self._let_in(bulk), methods=["GET", "POST"]),
            Route("/crm/v8/actions/watch", self._let_in(self.watching.answer), methods=_ALL),
            Route("/crm/v8/{rest:path}", self._let_in(rest), methods=_ALL),
        ]
        if not has_tools():
            return service(routes)
        from noarkit.standins.crm import mcp_servers
        from noarkit.standins.mcp_gate import Gate, keyed

        parts = {"/own/": Own(self.store).answer, "/crm/bulk/": bulk, "": rest}
        servers = mcp_servers.servers(partial(self._through_tools, parts))
        return service(routes, Gate(self.control.meets, keyed(self._mcp_key, self.issuer.is_good), servers))

    def close(self) -> None:
        """Ends the webhooks' thread."""
        self.watching.close()

    def _admitted(self, call: Call) -> Response | None:
        """The answer to a call that is not let in, or is too much; None for one that may go on."""
        trouble = self.control.meets(call.path)
        if trouble is not None:
            return trouble
        shown = call.headers.get("authorization", "")
        if not shown.startswith(_PREFIX) or not self.issuer.is_good(shown.removeprefix(_PREFIX)):
            return _refused("INVALID_TOKEN", 401, "invalid oauth token")
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
        return answered(partial(self._answered_by, answering))

    def _through_tools(self, parts: Mapping[str, Answering], call: Call, token: str) -> Response:
        """The answer to a call that came through a tool server: what it costs, and what refuses it, is the same."""
        shown = replace(call, headers={"authorization": _PREFIX + token})
        answering = next(answering for begin, answering in parts.items() if call.path.startswith(begin))
        return self._answered_by(answering, shown)

    def _answered_by(self, answering: Answering, call: Call) -> Response:
        """The answer to a call by the part it is for, if it is let in."""
        answer = self._admitted(call)
        if answer is None:
            try:
                answer = answering(call)
            except Refusal as refusal:
                answer = _refused(refusal.code, refusal.status, refusal.message, refusal.details)
        if self.spent * 2 >= self.credits:
            answer.headers["X-API-CREDITS-REMAINING"] = str(self.credits - self.spent)
        return answer

    async def _consent(self, request: Request) -> Response:
        return agreed(request, self.issuer, more={"location": "no", "accounts-server": self.url})

    async def _token(self, request: Request) -> Response:
        form = await form_of(request)
        trouble = self.control.meets(request.url.path)
        if trouble is not None:
            return trouble
        try:
            self.issuer.known(form.get("client_id", ""), form.get("client_secret", ""))
            told = issued(self.issuer, form)
        except Refused as refusal:
            # this service says no with 200
            return JSONResponse({"error": refusal.error, "error_description": refusal.description})
        return JSONResponse({**told, "api_domain": self.url, "scope": _SCOPES})

    async def _revoke(self, request: Request) -> Response:
        was = self.issuer.revoke((await form_of(request)).get("token", ""))
        return JSONResponse({"status": "success" if was else "failure"}, 200 if was else 400)

    def _switches(self) -> Route:
        verbs = {
            "expire": lambda told: self.issuer.expire(),
            "change": self._change,
            "fields": lambda told: self.store.reshape(told["module"], told["fields"]),
            "note": self._note,
            "attach": self._attach,
            "mail": self._mail,
            "consent": lambda told: {"refresh_token": self.issuer.first_refresh_token()},
            "stir": lambda told: self.store.stir(told["module"], told["id"]),
        }
        return switches(self.control, verbs, self._counts)

    def _change(self, told: Told) -> None:
        by = user(0)
        for record in told.get("put", []):
            self.store.put(told["module"], record, by)
        for record_id in told.get("delete", []):
            self.store.delete(told["module"], record_id, by)

    def _note(self, told: Told) -> None:
        note_id, now, writer = self.store.new_id(), self.store.now(), user(1)
        self.store.extra_notes[note_id] = {
            "id": note_id,
            "Note_Title": told.get("title"),
            "Note_Content": told.get("content", ""),
            "Parent_Id": self.store.parent(told["deal"]),
            "Owner": writer,
            "Created_By": writer,
            "Modified_By": writer,
            "Created_Time": now,
            "Modified_Time": now,
            "$state": "save",
        }

    def _attach(self, told: Told) -> None:
        self.store.attach(told["deal"], told["name"], str(told.get("content", "")).encode())

    def _mail(self, told: Told) -> None:
        self.store.receive(told["deal"], told["subject"], str(told.get("content", "")))

    def _counts(self) -> dict[str, object]:
        return {
            "spent": self.spent,
            "exchanges": self.issuer.exchanges,
            "limits": self.windows.told(),
            "held": {name: len(held.ordered()) for name, held in self.store.holdings.items()},
            "deliveries": self.watching.hooks.told(),
            "at": time.time(),
        }


def standin(url: str, wish: Wish) -> Crm:
    """The stand-in at an address."""
    return Crm(url, wish)


def _refused(code: str, status: int, message: str, details: Mapping[str, object] | None = None) -> Response:
    """A refusal as the service writes it."""
    return JSONResponse(_refusal(code, message, details), status)


def _refusal(code: str, message: str, details: Mapping[str, object] | None = None) -> dict[str, object]:
    return {"code": code, "details": dict(details or {}), "message": message, "status": "error"}


def _first(papers: Callable[[Call], Response | None], records: Answering) -> Answering:
    def answer(call: Call) -> Response:
        return papers(call) or records(call)

    return answer


def _cost(call: Call) -> int:
    """What a call takes of the day's credits: a query by how many rows it asks for, a write by tens of records."""
    if call.path.endswith("/coql"):
        limit = re.search(rb"limit\s+(\d+)", call.body.lower())
        rows = int(limit[1]) if limit else 200
        return 1 if rows <= 200 else 2 if rows <= 1_000 else 3
    if call.method in ("POST", "PUT"):
        try:
            data = call.members().get("data")
        except Unreadable:
            return 1
        return max(1, -(-len(data) // 10)) if isinstance(data, list) else 1
    return 1
