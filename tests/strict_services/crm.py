"""The CRM: who is let in, how lists are paged, and what becomes of what is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any  # what rows are sorted by
from urllib.parse import parse_qs

from tests.strict_services.crm_data import (
    FIELDS,
    LOOKUPS,
    PRIVATE,
    SYSTEM,
    USER,
    CrmData,
    Record,
    local,
    now,
)
from tests.strict_services.crm_query import BadQuery, read_query
from tests.strict_services.serving import Handler, Refused, Reply, Request, Service
from tests.strict_services.tables import Call, Table

PREFIX = "Strict-oauthtoken"
CLIENT_ID, CLIENT_SECRET = "1000.strict", "not-so-secret"
ORG_ID = "4150000000000999"
SCOPES = (
    *("modules.READ", "modules.notes.READ", "modules.attachments.READ", "modules.emails.READ", "settings.modules.READ"),
    *("settings.fields.READ", "coql.READ", "bulk.READ", "files.READ", "users.READ", "org.READ", "securesearch.READ"),
    *("notifications.READ", "notifications.CREATE", "notifications.UPDATE", "notifications.DELETE"),
)
_OWN_SCOPE = ("notes", "attachments", "emails")
_MODULE_NAMES = ("module", "moduleApiName", "module_name", "parentRecordModule")
_DEEPEST = 2000
_MOST_PER_PAGE, _MOST_FIELDS, _MOST_IDS = 200, 50, 100
_TOKEN_LIFE = timedelta(hours=24)
_GRANTS_MOST, _GRANTS_WINDOW = 10, timedelta(minutes=10)
_ATTACHMENT_FIELDS = frozenset(
    {"id", "File_Name", "Size", "Created_Time", "Modified_Time", "Owner", "Created_By", "Modified_By", "Parent_Id"}
    | {"$file_id", "$type", "$se_module", "$state", "$link_url", "$attachment_type", "$editable", "$attachment_source"}
)
_NOTE_FIELDS = frozenset(
    {"id", "Note_Title", "Note_Content", "Parent_Id", "Owner", "Created_Time", "Modified_Time", "Created_By"}
    | {"Modified_By", "$attachments", "$size", "$voice_note", "$is_shared_to_client", "$state", "$se_module"}
)


@dataclass(slots=True)
class PageToken:
    """Where a listing goes on, for whom, and how long."""

    place: tuple[object, ...]
    page: int
    bound_to: tuple[tuple[str, str], ...]
    ends: datetime


@dataclass(slots=True)
class Channel:
    """A channel of notifications."""

    id: str
    url: str
    events: tuple[str, ...]
    token: str | None
    ends: str


class Crm(Service):
    """A tenant of the CRM."""

    def __init__(self, table: Table, data: CrmData | None = None, org_id: str = ORG_ID) -> None:
        super().__init__(table)
        self.data = data or CrmData()
        self.org_id = org_id
        self.refresh_token = f"1000.refresh.{org_id}"
        self.codes: set[str] = set()
        self.scopes = set(SCOPES)
        self.access: dict[str, datetime] = {}
        self.grants: list[datetime] = []
        self.grants_most = _GRANTS_MOST
        self.page_tokens: dict[str, PageToken] = {}
        self.deepest = _DEEPEST
        self.rows_a_page = _MOST_PER_PAGE
        self.channels: dict[str, Channel] = {}
        self.writes: list[Request] = []
        self.refused_modules: set[str] = set()
        self.hidden_fields: set[str] = set()
        self.withheld: dict[str, set[str]] = {}

    # who is let in

    def admit(self, request: Request, call: Call) -> None:
        if call.name[1].startswith("/oauth/"):
            return
        shown = request.headers.get("authorization", "")
        ends = self.access.get(shown.removeprefix(f"{PREFIX} "))
        if not shown.startswith(f"{PREFIX} "):
            self.breaches.append(f"{request.path}: the token is not shown with its prefix")
        if ends is None or ends <= datetime.now(UTC) or not shown.startswith(f"{PREFIX} "):
            raise Refused(self.refuse(401, "INVALID_TOKEN", "invalid oauth token"))
        self._need_scopes(call)
        module = next((call.names[name] for name in _MODULE_NAMES if name in call.names), None)
        if module in self.refused_modules:
            raise Refused(self.refuse(403, "NO_PERMISSION", "permission denied"))
        if module is not None and module not in FIELDS:
            raise Refused(self.refuse(400, "INVALID_MODULE", "the module name given seems to be invalid"))

    def _need_scopes(self, call: Call) -> None:
        for scope in call.rule.get("scopes", ()):
            scope = scope.removeprefix("and, of the search service, ")
            if scope == "modules.leads.READ":
                continue
            resource, _, operation = scope.rpartition(".")
            owner = resource.split(".")[-1]
            holders = {scope, f"{resource}.ALL"}
            if resource.startswith("modules") and owner not in _OWN_SCOPE:
                holders |= {"modules.ALL", f"modules.{operation}"} | ({"modules.READ"} if operation == "ALL" else set())
            if operation == "ALL":
                holders |= {each for each in self.scopes if each.startswith(f"{resource}.")}
            if not holders & self.scopes:
                raise Refused(self.refuse(401, "OAUTH_SCOPE_MISMATCH", f"invalid oauth scope: {scope}"))

    def refuse(self, status: int, code: str, message: str) -> Reply:
        return Reply(status, {"code": code, "message": message, "status": "error", "details": {}})

    def end_tokens(self) -> None:
        """All access tokens end now."""
        self.access.clear()

    def outside(self, request: Request) -> Reply | None:
        """The page where a person consents: it hands out a code by redirecting."""
        if (request.method, request.path) != ("GET", "/oauth/v2/auth"):
            return None
        asked = dict(request.query)
        wrong = {name for name, value in _CONSENT.items() if asked.get(name) != value}
        if wrong or not asked.get("redirect_uri") or not asked.get("state") or " " in asked.get("scope", ""):
            self.breaches.append(f"consent: {sorted(wrong)} of {asked}")
            return self.refuse(400, "INVALID_DATA", "the request for consent is not as published")
        code = f"1000.code.{self.data.new_id()}"
        self.codes.add(code)
        address = f"{asked['redirect_uri']}?code={code}&state={asked['state']}&accounts-server={self.url}"
        return Reply(302, None, {"Location": address})

    def token(self, request: Request) -> Reply:
        asked = {**{name: values[0] for name, values in parse_qs(request.content.decode()).items()}}
        if dict(request.query):
            self.breaches.append("token: what is secret stands in the address")
        if (asked.get("client_id"), asked.get("client_secret")) != (CLIENT_ID, CLIENT_SECRET):
            return Reply(200, {"error": "invalid_client"})
        moment = datetime.now(UTC)
        self.grants = [each for each in self.grants if moment - each < _GRANTS_WINDOW]
        if len(self.grants) >= self.grants_most:
            return Reply(400, {**_refusal("Access Denied"), "error": "Access Denied"})
        answer: dict[str, object] = {"api_domain": self.url, "token_type": "Bearer", "expires_in": 3600}
        if asked.get("grant_type") == "authorization_code":
            if asked.get("code") not in self.codes or not asked.get("redirect_uri"):
                return Reply(200, {"error": "invalid_code"})
            self.codes.discard(str(asked["code"]))
            answer["refresh_token"] = self.refresh_token
        elif asked.get("refresh_token") != self.refresh_token:
            return Reply(200, {"error": "invalid_code"})
        self.grants.append(moment)
        access = f"1000.access.{self.data.new_id()}"
        self.access[access] = moment + timedelta(seconds=3600)
        return Reply(200, {**answer, "access_token": access})

    # lists

    def handlers(self) -> Mapping[tuple[str, str], Handler]:
        from tests.strict_services.crm_calls import calls

        return calls(self)

    def records(self, request: Request) -> Reply:
        """The records of a module."""
        module = request.names["module"]
        names = self.field_names(request, self.known_fields(module))
        rows = self._modified_since(request, self.data.visible(module))
        if rows is None:
            return Reply(304)
        ids = request.parameter("ids")
        if ids:
            wanted = ids.split(",")
            if len(wanted) > _MOST_IDS:
                raise Refused(self.refuse(400, "LIMIT_EXCEEDED", "too many ids"))
            rows = [row for row in rows if row.id in wanted]
        return self.page(request, rows, lambda row: self.shown(row, names))

    def shown(self, row: Record, names: list[str] | None = None) -> dict[str, object]:
        """A record as this account may see it: fields may be hidden from it, of all records or of some."""
        withheld = self.withheld.get(row.id, set()) | self.hidden_fields
        return {name: each for name, each in row.shown(names).items() if name not in withheld}

    def known_fields(self, module: str) -> frozenset[str]:
        """The names of the fields of a module."""
        return frozenset({*SYSTEM, *FIELDS[module], *LOOKUPS[module], "$se_module"}) - self.hidden_fields

    def field_names(self, request: Request, known: Iterable[str]) -> list[str]:
        """The names of `fields`, which is demanded, and takes no more than fifty that are known."""
        text = request.parameter("fields")
        if not text:
            self.breaches.append(f"{request.path}: without fields")
            raise Refused(self.refuse(400, "REQUIRED_PARAM_MISSING", "fields"))
        names = text.split(",")
        if len(names) > _MOST_FIELDS:
            self.breaches.append(f"{request.path}: {len(names)} fields")
            raise Refused(self.refuse(400, "LIMIT_EXCEEDED", "fields"))
        unknown = set(names) - set(known)
        if unknown:
            self.breaches.append(f"{request.path}: fields that nobody told of: {sorted(unknown)}")
            raise Refused(self.refuse(400, "INVALID_DATA", f"fields: {sorted(unknown)}"))
        return names

    def _modified_since(self, request: Request, rows: Sequence[Record]) -> list[Record] | None:
        text = request.headers.get("if-modified-since")
        if text is None:
            return list(rows)
        since = self.moment(text)
        newer = [row for row in rows if row.modified >= since]
        return newer or None

    def moment(self, text: str) -> datetime:
        """A time with an offset, as all times here."""
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            moment = datetime.min
        if moment.tzinfo is None:
            self.breaches.append(f"{text!r} is no time with an offset")
            raise Refused(self.refuse(400, "INVALID_DATA", "time"))
        return moment

    def page(self, request: Request, rows: Sequence[object], shown: object, *, has_token: bool = True) -> Reply:
        """One page of rows, by number or by token."""
        asked = {name: value for name, value in request.query if name not in ("page", "page_token")}
        per_page = int(asked.get("per_page") or asked.get("perPage") or _MOST_PER_PAGE)
        if not 1 <= per_page <= _MOST_PER_PAGE:
            self.breaches.append(f"{request.path}: per_page {per_page}")
            raise Refused(self.refuse(400, "INVALID_DATA", "per_page"))
        per_page = min(per_page, self.rows_a_page)
        order = request.parameter("sort_by", "id"), request.parameter("sort_order", "desc") == "desc"
        rows = sorted(rows, key=lambda row: _sort_key(row, order[0]), reverse=order[1])
        bound_to = (
            ("path", request.path),
            *sorted(asked.items()),
            ("since", request.headers.get("if-modified-since", "")),
        )
        token_text, number = request.parameter("page_token"), int(request.parameter("page", "1"))
        if token_text:
            rows, number = self._after(request, rows, order, token_text, bound_to)
        else:
            if number * per_page > self.deepest:
                self.breaches.append(f"{request.path}: page {number} of {per_page} without a token")
                raise Refused(self.refuse(400, "DISCRETE_PAGINATION_LIMIT_EXCEEDED", "page"))
            rows = rows[(number - 1) * per_page :]
        here, more = rows[:per_page], len(rows) > per_page
        if not here and request.path.rpartition("/")[2] != "Attachments":  # of these lists alone no 204 is published
            return Reply(204)
        info: dict[str, object] = {"per_page": per_page, "count": len(here), "page": number, "more_records": more}
        if has_token:
            info |= {"next_page_token": None, "previous_page_token": None, "page_token_expiry": None}
            if more:
                ends = now() + _TOKEN_LIFE
                key = f"page{self.data.new_id()}"
                self.page_tokens[key] = PageToken(_sort_key(here[-1], order[0]), number + 1, bound_to, ends)
                info |= {"next_page_token": key, "page_token_expiry": local(ends)}
        assert callable(shown)
        return Reply(200, {"data": [shown(row) for row in here], "info": info})

    def _after(
        self,
        request: Request,
        rows: Sequence[object],
        order: tuple[str, bool],
        key: str,
        bound_to: tuple[tuple[str, str], ...],
    ) -> tuple[list[object], int]:
        token = self.page_tokens.get(key)
        if "page" in dict(request.query):
            self.breaches.append(f"{request.path}: page and page_token at once")
            raise Refused(self.refuse(400, "AMBIGUITY_DURING_PROCESSING", "page and page_token"))
        if token is None or token.ends <= datetime.now(UTC):
            raise Refused(self.refuse(400, "EXPIRED_VALUE", "page_token"))
        if token.bound_to != bound_to:
            self.breaches.append(f"{request.path}: a page token of another listing")
            raise Refused(self.refuse(400, "TOKEN_BOUND_DATA_MISMATCH", "page_token"))
        if order[1]:
            return [row for row in rows if _sort_key(row, order[0]) < token.place], token.page
        return [row for row in rows if _sort_key(row, order[0]) > token.place], token.page

    def coql(self, request: Request) -> Reply:
        """A query."""
        text = str(request.members["select_query"])
        try:
            query = read_query(text)
        except BadQuery as wrong:
            self.breaches.append(f"query: {wrong.code} {wrong.message}: {text}")
            raise Refused(self.refuse(400, wrong.code, wrong.message)) from wrong
        if query.module not in FIELDS:
            raise Refused(self.refuse(400, "INVALID_QUERY", f"module {query.module}"))
        if query.module in self.refused_modules:
            raise Refused(self.refuse(403, "NO_PERMISSION", "permission denied"))
        named = {*query.fields, *(name for name, _ in query.order), *re.findall(r"\b[A-Z]\w*_Time\b", text)}
        unknown = {name.split(".")[0] for name in named} - self.known_fields(query.module) - {"$state"}
        if unknown:
            self.breaches.append(f"query: fields that nobody told of: {sorted(unknown)}")
            raise Refused(self.refuse(400, "INVALID_QUERY", f"fields {sorted(unknown)}"))
        rows = [row for row in self.data.visible(query.module) if query.test(_comparable(row))]
        for name, is_descending in reversed(query.order):
            rows.sort(key=lambda row: _sort_value(row, name), reverse=is_descending)
        here = rows[query.offset : query.offset + query.limit]
        if not here:
            return Reply(204)
        more = len(rows) > query.offset + query.limit
        shown = [self.shown(row, [name for name in query.fields if name != "id"]) for row in here]
        return Reply(200, {"data": shown, "info": {"count": len(here), "more_records": more}})

    def field_rows(self, request: Request) -> Reply:
        """The fields of a module."""
        module = request.parameter("module")
        if module == "Notes":
            names = tuple(sorted(_NOTE_FIELDS))
        elif module == "Attachments":
            names = tuple(sorted(_ATTACHMENT_FIELDS))
        elif module not in FIELDS:
            return self.refuse(400, "INVALID_MODULE", "the module name given seems to be invalid")
        else:
            names = (*SYSTEM, *FIELDS[module], *LOOKUPS[module])
        rows = [_field_row(module, name, number) for number, name in enumerate(names) if not name.startswith("$")]
        return Reply(200, {"fields": [row for row in rows if row["api_name"] not in self.hidden_fields]})


_CONSENT = {"response_type": "code", "access_type": "offline", "client_id": CLIENT_ID}


def attachment_fields() -> frozenset[str]:
    """The fields of attachments."""
    return _ATTACHMENT_FIELDS


def note_fields() -> frozenset[str]:
    """The fields of notes."""
    return _NOTE_FIELDS


def _refusal(message: str) -> dict[str, object]:
    return {"code": "AUTHORIZATION_FAILED", "message": message, "status": "error"}


def _sort_key(row: object, name: str) -> tuple[object, ...]:
    return (_sort_value(row, name), getattr(row, "id", ""))


def _sort_value(row: object, name: str) -> Any:  # Any: a moment or a text, by the name
    times = {"Modified_Time": "modified", "Created_Time": "created", "deleted_time": "deleted"}
    if name in times and hasattr(row, times[name]):
        return getattr(row, times[name])
    if name == "id":
        return str(getattr(row, "id", ""))
    values = getattr(row, "values", {})
    return str(values.get(name) or "")


def _comparable(row: Record) -> dict[str, object]:
    flat = {name: value.get("id") if isinstance(value, dict) else value for name, value in row.values.items()}
    return {**flat, "id": row.id, "Modified_Time": row.modified, "Created_Time": row.created}


def _field_row(module: str, name: str, number: int) -> dict[str, object]:
    target = LOOKUPS.get(module, {}).get(name)
    kind = (
        "lookup" if target else "datetime" if name.endswith("_Time") else "ownerlookup" if name in _PEOPLE else "text"
    )
    private = {"restricted": True, "type": "High", "export": False} if name in PRIVATE else None
    return {
        "id": f"41500000000{number:05}",
        "api_name": name,
        "field_label": name.replace("_", " ")[:50],
        "display_label": name.replace("_", " ")[:50],
        "data_type": kind,
        "visible": True,
        "virtual_field": False,
        "display_type": 2,
        "view_type": {"view": True, "edit": True, "quick_create": False, "create": True},
        "custom_field": name.startswith("Extra_"),
        "private": private,
        **({"lookup": {"module": {"api_name": target, "id": "4150000000000777"}}} if target else {}),
    }


_PEOPLE = ("Owner", "Created_By", "Modified_By")
USER_ROW = {**USER, "full_name": USER["name"], "status": "active", "last_name": "Selger"}
