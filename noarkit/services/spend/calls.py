"""The REST calls of a spend service, one method for each. Searches are reads, although they are posted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from urllib.parse import quote

import httpx

from noarkit.errors import ItemVanished, ServiceDenied, ServiceRefused, ServiceStrange, UsageFault
from noarkit.services.canonical import canonical
from noarkit.services.client import Client
from noarkit.services.paging import Page, Row, pages, rows
from noarkit.services.wire import Answer, Method, Request

PER_PAGE = 100
_A_SEARCH = 100
_RENEW = (403, 410)
_NOT_THERE = (404, 410)
ORIGINAL = "ORIGINAL"
_NOT_EXPORTED = ("NOT_CREATED", "CREATED", "NOT_EXPORTED", "QUEUED", "EXPORTING")
_ALL_ACCOUNTS = {"excludeIfAssignedToCategory": False, "excludeIfAssignedToContraAccount": False}
Params = tuple[tuple[str, str], ...]

PLACES = {
    "tag-groups": "/v0/tag-groups",
    "tags": "/v0/tags",
    "tax-codes": "/v0/tax-codes",
    "vendors": "/v1/vendors",
    "companies": "/v1/companies",
    "employees": "/v2/employees",
    "subscriptions": "/v1/subscriptions",
    "accounts": "/v1/chart-of-accounts",
}


class Calls:
    """The calls of one connection."""

    def __init__(self, client: Client, scope: tuple[str, str]) -> None:
        self.client = client
        self._scope = scope
        kind, scope_id = scope
        self.company = scope_id if kind == "company_id" else ""

    def introspect(self) -> Mapping[str, object]:
        """Reads the identity of the key."""
        return self._read_object(self._ask("GET", "/v1/introspect"))

    def entries(self, since: datetime | None, until: datetime) -> Iterator[Row]:
        """Lists the settled entries of a window, oldest first, deleted ones too."""
        window = {"settledAtEnd": _format_time(until)} | ({"settledAtStart": _format_time(since)} if since else {})
        body = {"includeDeleted": True, **window}
        listing = self._list("POST", "/v1/accounting-entries:search", body, (self._scope,), ("settledAt", "id"))
        yield from rows(listing, _id, "entries", exact=True)

    def unexported_entries(self) -> Iterator[Row]:
        """Lists every entry that is not exported yet, whenever it was settled."""
        body = {"includeDeleted": True, "exportStatus": list(_NOT_EXPORTED)}
        listing = self._list("POST", "/v1/accounting-entries:search", body, (self._scope,), ("id",))
        yield from rows(listing, _id, "entries", exact=True)

    def entry(self, entry_id: str) -> Row:
        """Reads one entry."""
        return self._read_object(self._ask("GET", f"/v1/accounting-entries/{entry_id}", (("include_deleted", "true"),)))

    def find_entry(self, entry_id: str) -> Row | None:
        """Reads one entry; None if it no longer exists."""
        return _or_none(lambda: self.entry(entry_id))

    def find_receipt(self, entry: str, receipt: str) -> Row | None:
        """Reads what is told of one receipt; None if it no longer exists."""
        path = f"/v1/accounting-entries/{entry}/receipts/{receipt}"
        return _or_none(lambda: self._read_object(self._ask("GET", path)))

    def receipts(self, entries: Sequence[str]) -> dict[str, list[Row]]:
        """Lists the original receipts of several entries, by entry."""
        receipts_by_entry: dict[str, list[Row]] = {entry_id: [] for entry_id in entries}
        for begin in range(0, len(entries), _A_SEARCH):
            search = {"accountingEntryIds": list(entries[begin : begin + _A_SEARCH])}
            body = {"includeDeleted": False, "fileType": ORIGINAL, **search}
            listing = self._list("POST", "/v1/accounting-entries/receipts:search", body, (self._scope,))
            for row in rows(listing, _id, "receipts", exact=True):
                if str(row.get("fileType") or ORIGINAL) == ORIGINAL:
                    receipts_by_entry.setdefault(str(row.get("accountingEntryId")), []).append(row)
        return receipts_by_entry

    @contextmanager
    def receipt(self, entry: str, receipt: str) -> Iterator[httpx.Response]:
        """Downloads a receipt. Its signed address is requested each time and lives a day; our credential is not sent
        there."""
        for attempt in range(2):
            row = self._read_object(self._ask("GET", f"/v1/accounting-entries/{entry}/receipts/{receipt}"))
            url = str(row.get("url") or "")
            if not url:
                raise ItemVanished(key=f"{entry}/{receipt}", why="not-there")
            try:
                with self.client.download(
                    Request("GET", url, headers={"Accept": "*/*"}), with_credential=False
                ) as reply:
                    yield reply
                return
            except (ServiceRefused, ServiceDenied) as fault:
                if attempt or fault.data.get("status") not in _RENEW:
                    raise

    def jobs(self, version: int) -> Iterator[Row]:
        """Lists every export job, oldest first."""
        listing = self._list("GET", f"/v{version}/export-jobs", None, self._of_company("company_id"), ("createdAt",))
        yield from rows(listing, _id, "jobs", exact=True)

    def job(self, version: int, job: str) -> Mapping[str, object]:
        """Reads one export job."""
        return self.read(f"/v{version}/export-jobs/{job}")

    def job_items(self, version: int, job: str) -> Iterator[Row]:
        """Lists the items of a job, whatever their state."""
        listing = self._list("GET", f"/v{version}/export-jobs/{job}/items", None, ())
        yield from rows(listing, lambda row: str(row.get("accountingEntryId")), "items", exact=True)

    def register(self, name: str) -> Iterator[Row]:
        """Lists everything in a register, archived entries too, by its own published call. Raises `ServiceDenied` for
        one outside our scopes."""
        place = PLACES[name]
        match name:
            case "companies":
                scope = (self._scope,) if not self.company else ()
                listing_rows = rows(self._list("GET", place, None, scope), _id, place, exact=True)
                yield from (row for row in listing_rows if not self.company or _id(row) == self.company)
            case "employees":
                yield from rows(self._list("GET", place, None, self._of_company("companyId")), _id, place, exact=True)
            case "vendors":
                for company_id in self._companies():
                    listing = self._list("POST", f"{place}:search", {}, (("company_id", company_id),))
                    yield from rows(listing, _id, place, exact=True)
            case "accounts":
                for company_id in self._companies():
                    listing = self._list("POST", f"{place}:search", {"companyId": company_id, **_ALL_ACCOUNTS}, ())
                    yield from rows(listing, _id, place, exact=True)
            case "tax-codes":
                listing = self._list("POST", f"{place}:search", {}, self._of_company("company_id"))
                yield from rows(listing, _id, place, exact=True)
            case "tag-groups":
                yield from self._page(self._ask("GET", place, (self._scope, ("include_archived", "true")))).rows
            case "tags":
                listing = self._list("POST", f"{place}:search", {"includeArchived": True}, (self._scope,))
                yield from rows(listing, _id, place, exact=True)
            case _:
                yield from rows(self._list("GET", place, None, ()), _id, place, exact=True)

    def _companies(self) -> list[str]:
        """Returns the ids of the companies to read."""
        return [self.company] if self.company else [_id(row) for row in self.register("companies")]

    def _of_company(self, name: str) -> Params:
        return ((name, self.company),) if self.company else ()

    def write(self, method: str, path: str, body: Mapping[str, object] | None = None) -> Mapping[str, object]:
        """Sends a change and returns the object afterwards. It is not repeated when its fate is unknown, except for a
        replacement or a deletion."""
        request = Request(
            "PUT" if method == "PUT" else "DELETE" if method == "DELETE" else "POST",
            self.client.url(path),
            body=None if body is None else canonical(body),
            media_type="application/json" if body is not None else "",
            repeatable=method in ("PUT", "DELETE"),
        )
        answer = self.client.ask(request)
        return {} if answer.status == 204 else self._read_object(answer)

    def read(self, path: str) -> Mapping[str, object]:
        """Reads one object of a register."""
        return self._read_object(self._ask("GET", path))

    def installation(self, *, activate: bool = False) -> Mapping[str, object]:
        """Reads the installation of an integration; with `activate`, activates it first. The answer has no envelope."""
        path = "/v1/installations/me"
        if not activate:
            return self._ask("GET", path).members()
        return self.client.ask(Request("POST", self.client.url(f"{path}:activate"))).members()

    def _list(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | None,
        scope: Params,
        sort: Sequence[str] = (),
    ) -> Iterator[Page]:
        def page(cursor: str | None) -> Page:
            params = [*scope, ("limit", str(PER_PAGE))]
            for key in sort:
                params += [("sorting_keys", key), ("sorting_order", "ASC")]
            if cursor is not None:
                params.append(("after", cursor))
            return self._page(self._ask(method, path, tuple(params), body))

        return pages(page, path)

    def _page(self, answer: Answer) -> Page:
        members = answer.members()
        data, pagination = members.get("data"), members.get("pagination")
        if not isinstance(data, list) or not all(isinstance(row, Mapping) for row in data):
            raise ServiceStrange(where=answer.label, why="not-an-object")
        if not isinstance(pagination, Mapping):
            return Page(data, None)
        more = bool(pagination.get("hasNextPage"))
        cursor = pagination.get("endCursor")
        if more and not cursor:
            raise ServiceStrange(where=answer.label, why="list-incomplete")
        total = pagination.get("total")
        return Page(data, str(cursor) if more else None, total if isinstance(total, int) else None)

    def _ask(
        self,
        method: str,
        path: str,
        params: Params = (),
        body: Mapping[str, object] | None = None,
    ) -> Answer:
        content = None if body is None else canonical(body)
        kind = "application/json" if body is not None else ""
        verb: Method = "POST" if method == "POST" else "GET"
        request = Request(verb, self.client.url(path), params, body=content, media_type=kind, repeatable=True)
        return self.client.ask(request)

    def _read_object(self, answer: Answer) -> Mapping[str, object]:
        data = answer.members().get("data")
        if not isinstance(data, Mapping):
            raise ServiceStrange(where=answer.label, why="not-an-object")
        return data


def _or_none(read: Callable[[], Row]) -> Row | None:
    """Reads something; None if it no longer exists."""
    try:
        return read()
    except ServiceRefused as fault:
        if fault.data.get("status") not in _NOT_THERE:
            raise
        return None


def path_part(text: str) -> str:
    """Quotes an id as a path segment. Raises `UsageFault` for one that would change the path."""
    if text in ("", ".", ".."):
        raise UsageFault(what="bad-value", where=text)
    return quote(text, safe="")


def _id(row: Row) -> str:
    return str(row.get("id"))


def _format_time(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
