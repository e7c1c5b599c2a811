"""The REST calls of a CRM, one method for each. An empty answer (204) is an empty list; a refusal is a fault with its
code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Literal

import httpx
import orjson

from noarkit.errors import ItemVanished, NoarkitError, ServiceBusy, ServiceDenied, ServiceRefused, ServiceStrange
from noarkit.services.client import Client
from noarkit.services.paging import Page, Row, pages
from noarkit.services.wire import Answer, Request

NO_CONTENT = 204
PER_PAGE = 200
_HEAVY = 3
_EXPIRED = "EXPIRED_VALUE"
_NOT_COUNTED = ("OAUTH_SCOPE_MISMATCH", "NO_PERMISSION", "FEATURE_NOT_ENABLED")
_CODE = re.compile("[A-Z][A-Z0-9_]{0,79}")
_LIMIT = re.compile(r"\blimit\s+(\d{1,9})", re.IGNORECASE)


class Calls:
    """The calls of one connection."""

    def __init__(self, client: Client, version: str) -> None:
        self.client = client
        self._root = f"/crm/{version}"
        self._bulk = f"/crm/bulk/{version}"

    def organisation(self) -> Mapping[str, object]:
        """Reads the organisation."""
        organisations = self._rows(self.get("/org"), "org")
        if not organisations:
            raise ServiceStrange(where=self.client.wire.settings.label, why="not-an-object")
        return organisations[0]

    def modules(self) -> Sequence[Row]:
        """Lists every module."""
        return self._rows(self.get("/settings/modules"), "modules")

    def fields(self, module: str) -> Sequence[Row]:
        """Lists the fields of a module."""
        params = (("module", module), ("type", "all"), ("include", "allowed_permissions_to_update"))
        return self._rows(self.get("/settings/fields", *params), "fields")

    def count(self, module: str) -> int | None:
        """Counts the records of a module; None if this user may read them but not count them."""
        try:
            count = self.get(f"/{module}/actions/count").members().get("count")
        except ServiceDenied as fault:
            if fault.data.get("code_there") not in _NOT_COUNTED:
                raise
            return None
        return int(str(count)) if str(count).isdigit() else None

    def page(
        self,
        path: str,
        fields: Sequence[str],
        cursor: str | None,
        sort_by: Literal["Modified_Time", "id"] | None = "Modified_Time",
    ) -> Page:
        """Reads a page of a list: by token where there is one, oldest change first, by id, or unsorted."""
        params = [("fields", ",".join(fields)), ("per_page", str(PER_PAGE))]
        if sort_by is not None:
            params += [("sort_by", sort_by), ("sort_order", "asc")]
        return self._page(path, params, cursor, None)

    def deleted_page(self, module: str, cursor: str | None, since: datetime) -> Page:
        """Reads a page of records deleted since a time. Pages are numbered, so at most two thousand can be reached."""
        return self._page(f"/{module}/deleted", [("type", "all"), ("per_page", str(PER_PAGE))], cursor, since)

    def by_ids(self, module: str, fields: Sequence[str], ids: Sequence[str]) -> Sequence[Row]:
        """Reads the existing ones of some records, in any order; at most as many as one call takes. Their answer may
        come in pages too: a record on the second is not gone."""
        path, params = f"/{module}", (("fields", ",".join(fields)), ("ids", ",".join(ids)))
        return [row for page in pages(lambda cursor: self._page(path, params, cursor, None), path) for row in page.rows]

    def _page(self, path: str, params: Sequence[tuple[str, str]], cursor: str | None, since: datetime | None) -> Page:
        if cursor is not None:
            name, _, value = cursor.partition("=")
            params = [*params, (name, value)]
        headers = {} if since is None else {"If-Modified-Since": since.isoformat(timespec="seconds")}
        request = Request("GET", self.client.url(f"{self._root}{path}"), tuple(params), headers)
        answer = self.client.ask(request)
        if answer.status in (NO_CONTENT, 304):
            return Page((), None)
        members = answer.members()
        return Page(self._rows(answer, "data"), _next(members.get("info"), cursor, answer.label))

    def record(self, module: str, record_id: str) -> Row | None:
        """Reads one whole record; None if there is none."""
        records = self._rows(self.get(f"/{module}/{record_id}"), "data")
        return records[0] if records else None

    def query(self, text: str, rows: int) -> tuple[Sequence[Row], bool]:
        """Reads the rows of a query, and whether there are more; the cost depends on how many it asks for."""
        body = orjson.dumps({"select_query": text})
        cost = _cost_of_query(rows)
        url = self.client.url(f"{self._root}/coql")
        request = Request("POST", url, body=body, media_type="application/json", repeatable=True, cost=cost)
        answer = self.client.ask(request)
        info = answer.members().get("info") if answer.status != NO_CONTENT else None
        return self._rows(answer, "data"), isinstance(info, Mapping) and info.get("more_records") is True

    def emails(self, module: str, record_id: str, owner: str, index: str | None) -> Page:
        """Reads a page of ten emails of a record, as its owner sees them."""
        params = (("owner_id", owner), *((("index", index),) if index else ()))
        answer = self.get(f"/{module}/{record_id}/Emails", *params)
        if answer.status == NO_CONTENT:
            return Page((), None)
        info = answer.members().get("info")
        if not isinstance(info, Mapping) or not info.get("more_records"):
            return Page(self._rows(answer, "Emails"), None)
        if not info.get("next_index"):
            raise ServiceStrange(where=answer.label, why="list-incomplete")
        return Page(self._rows(answer, "Emails"), str(info["next_index"]))

    def email(self, module: str, record_id: str, owner: str, message_id: str) -> Row | None:
        """Reads an email with its body; None if this user may not see it."""
        emails = self._rows(self.get(f"/{module}/{record_id}/Emails/{message_id}", ("owner_id", owner)), "Emails")
        return emails[0] if emails else None

    def begin_bulk(self, module: str, fields: Sequence[str], token: str | None) -> str:
        """Starts a bulk read of records; returns the id of the job."""
        query: dict[str, object] = {"module": {"api_name": module}, "fields": list(fields)}
        query |= {"page_token": token} if token else {"page": 1}
        body = orjson.dumps({"query": query})
        url = self.client.url(f"{self._bulk}/read")
        # a repeated job reads twice and changes nothing
        request = Request("POST", url, body=body, media_type="application/json", repeatable=True)
        jobs = self._rows(self.client.ask(request), "data")
        details = jobs[0].get("details") if jobs else None
        if not isinstance(details, Mapping) or not details.get("id"):
            raise ServiceStrange(where=self.client.wire.settings.label, why="not-an-object")
        return str(details["id"])

    def bulk_state(self, job: str) -> Row:
        """Reads the state of a bulk job."""
        answer = self.client.ask(Request("GET", self.client.url(f"{self._bulk}/read/{job}")))
        states = self._rows(answer, "data")
        if not states:
            raise ServiceStrange(where=answer.label, why="not-an-object")
        return states[0]

    @contextmanager
    def bulk_result(self, job: str) -> Iterator[httpx.Response]:
        """Downloads the zipped table of a bulk job."""
        with self.client.download(Request("GET", self.client.url(f"{self._bulk}/read/{job}/result"))) as reply:
            yield reply

    @contextmanager
    def download(self, path: str, key: str, *params: tuple[str, str]) -> Iterator[httpx.Response]:
        """Downloads a file. The caller treats an answer without content as `ItemVanished`."""
        request = Request("GET", self.client.url(f"{self._root}{path}"), params, {"Accept": "*/*"})
        with self.client.download(request) as reply:
            yield reply

    def write(self, method: str, path: str, body: object, *, repeatable: bool) -> Answer:
        """Sends a change of records. Its answer may be mixed (207): every element must be read."""
        request = Request(
            "PUT" if method == "PUT" else "POST",
            self.client.url(f"{self._root}{path}"),
            body=orjson.dumps(body),
            media_type="application/json",
            repeatable=repeatable,
            cost=_cost_of(body),
            accepts=frozenset({400}),
        )
        return self.client.ask(request)

    def delete(self, path: str, *params: tuple[str, str]) -> Answer:
        """Sends a deletion; records already gone are part of the result, so that it may be repeated."""
        url = self.client.url(f"{self._root}{path}")
        return self.client.ask(Request("DELETE", url, params, repeatable=True, accepts=frozenset({400})))

    def get(self, path: str, *params: tuple[str, str]) -> Answer:
        """Sends a read request for a path with its parameters."""
        return self.client.ask(Request("GET", self.client.url(f"{self._root}{path}"), params))

    def _rows(self, answer: Answer, name: str) -> Sequence[Row]:
        if answer.status == NO_CONTENT:
            return ()
        rows = answer.members().get(name)
        if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
            raise ServiceStrange(where=answer.label, why="not-an-object")
        return rows


def code_of(answer: Answer) -> str:
    """Returns the code of a refusal; empty if there is none."""
    try:
        value = answer.json()
    except ServiceStrange:
        return ""
    if isinstance(value, Mapping):
        for name in ("data", "watch", "modules"):
            inner = value.get(name)
            if isinstance(inner, list) and inner and isinstance(inner[0], Mapping) and "code" not in value:
                return _code(inner[0].get("code"))
        return _code(value.get("code"))
    return ""


def _code(value: object) -> str:
    """Returns a code in the service's spelling; anything else is ignored and never repeated."""
    return value if isinstance(value, str) and _CODE.fullmatch(value) else ""


def judge(answer: Answer) -> NoarkitError | None:
    """Maps a refusal to its fault: by status first, then by code; an unknown code is final."""
    code = code_of(answer)
    if answer.status in (401, 403) and code not in ("INVALID_TOKEN", ""):
        return ServiceDenied(where=answer.label, status=answer.status, why=code, code_there=code)
    if answer.status == 401:
        return ServiceDenied(where=answer.label, status=401, why="token-or-region", code_there=code)
    if answer.status == 400 and code:
        return ServiceRefused(where=answer.label, status=400, why=code, code_there=code)
    return None


def denies(answer: Answer) -> bool:
    """True for a refusal that another token may solve."""
    return answer.status == 401 and code_of(answer) in ("INVALID_TOKEN", "AUTHENTICATION_FAILURE", "")


def is_expired(fault: NoarkitError) -> bool:
    """True for an expired page token: the list must be started again."""
    return isinstance(fault, ServiceRefused) and fault.data.get("code_there") == _EXPIRED


def vanished_fault(key: str) -> ItemVanished:
    """Builds the fault of a download without content."""
    return ItemVanished(key=key, why="not-there")


def busy_fault(location: str) -> ServiceBusy:
    """Builds the fault of a job that does not end."""
    return ServiceBusy(where=location)


def _next(info: object, cursor: str | None, location: str) -> str | None:
    """Returns the cursor of the next page. More records without a cursor are a fault, never an end."""
    if not isinstance(info, Mapping) or not info.get("more_records"):
        return None
    token = info.get("next_page_token")
    if token:
        return f"page_token={token}"
    page = int(cursor.removeprefix("page=")) if cursor and cursor.startswith("page=") else 1
    if (page + 1) * PER_PAGE > 2_000:
        raise ServiceStrange(where=location, why="list-incomplete")
    return f"page={page + 1}"


def cost_of_tool(arguments: Mapping[str, object]) -> int:
    """Returns the credits that a tool call takes: as much as the REST call behind it."""
    body = arguments.get("body")
    text = body.get("select_query") if isinstance(body, Mapping) else None
    if not isinstance(text, str):
        return _cost_of(body)
    limit = _LIMIT.search(text)
    return _cost_of_query(int(limit[1]) if limit else PER_PAGE)


def _cost_of_query(rows: int) -> int:
    return 1 if rows <= 200 else 2 if rows <= 1_000 else _HEAVY


def _cost_of(body: object) -> int:
    data = body.get("data") if isinstance(body, Mapping) else None
    return max(1, -(-len(data) // 10)) if isinstance(data, list) else 1
