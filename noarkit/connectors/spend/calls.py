"""One method for each call we make of a spend service. Searches are reads, although they are posted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from urllib.parse import quote

import httpx
import orjson

from noarkit.connectors.client import Client
from noarkit.connectors.paging import Page, Row, pages, rows
from noarkit.connectors.wire import Answer, Method, Request
from noarkit.errors import ItemVanished, ServiceDenied, ServiceRefused, ServiceStrange, UsageFault

PER_PAGE = 100
_A_SEARCH = 100
_RENEW = (403, 410)


class Calls:
    """The calls of one connection."""

    def __init__(self, client: Client, scope: tuple[str, str]) -> None:
        self.client = client
        self._scope = scope

    def introspect(self) -> Mapping[str, object]:
        """Whose key this is."""
        return self._one(self._ask("GET", "/v1/introspect"))

    def entries(self, since: datetime | None, until: datetime) -> Iterator[Row]:
        """Settled entries of a window, oldest first, deleted ones too."""
        window = {"settledAtEnd": _told(until)} | ({"settledAtStart": _told(since)} if since else {})
        body = {"includeDeleted": True, **window}
        found = self._list("POST", "/v1/accounting-entries:search", body, ("settledAt", "id"))
        yield from rows(found, _id, "entries", exact=True)

    def entry(self, one: str) -> Row:
        """One entry."""
        return self._one(self._ask("GET", f"/v1/accounting-entries/{one}", (("include_deleted", "true"),)))

    def receipts(self, entries: Sequence[str]) -> dict[str, list[Row]]:
        """The original receipts of several entries, by entry."""
        found: dict[str, list[Row]] = {one: [] for one in entries}
        for begin in range(0, len(entries), _A_SEARCH):
            body = {"accountingEntryIds": list(entries[begin : begin + _A_SEARCH]), "fileTypes": ["ORIGINAL"]}
            listed = self._list("POST", "/v1/accounting-entries/receipts:search", body)
            for row in rows(listed, _id, "receipts", exact=True):
                if str(row.get("fileType") or "ORIGINAL") == "ORIGINAL":
                    found.setdefault(str(row.get("accountingEntryId")), []).append(row)
        return found

    @contextmanager
    def receipt(self, entry: str, receipt: str) -> Iterator[httpx.Response]:
        """The bytes of a receipt. Its address is asked for each time and lives a day; our key does not go there."""
        for attempt in range(2):
            row = self._one(self._ask("GET", f"/v1/accounting-entries/{entry}/receipts/{receipt}"))
            url = str(row.get("url") or "")
            if not url:
                raise ItemVanished(key=f"{entry}/{receipt}", why="not-there")
            try:
                with self.client.download(Request("GET", url, headers={"Accept": "*/*"}), ours=False) as reply:
                    yield reply
                return
            except (ServiceRefused, ServiceDenied) as fault:
                if attempt or fault.data.get("status") not in _RENEW:
                    raise

    def jobs(self, version: int) -> Iterator[Row]:
        """Every export job, oldest first."""
        yield from rows(
            self._list("GET", f"/v{version}/export-jobs", None, ("createdAt", "id")), _id, "jobs", exact=True
        )

    def job(self, version: int, job: str) -> Mapping[str, object]:
        """One export job."""
        return self.read(f"/v{version}/export-jobs/{job}")

    def job_items(self, version: int, job: str) -> Iterator[Row]:
        """The items of a job, whatever became of it."""
        found = self._list("GET", f"/v{version}/export-jobs/{job}/items", None)
        yield from rows(found, lambda row: str(row.get("accountingEntryId")), "items", exact=True)

    def register(self, path: str, *, search: bool = False) -> Iterator[Row]:
        """Everything in a register."""
        yield from rows(self._list("POST" if search else "GET", path, {} if search else None), _id, path, exact=True)

    def write(self, method: str, path: str, body: Mapping[str, object] | None = None) -> Mapping[str, object]:
        """A change; what is there afterwards. It is not sent again where its fate is unknown, but for a deletion."""
        asked = Request(
            "PUT" if method == "PUT" else "DELETE" if method == "DELETE" else "POST",
            self.client.url(path),
            body=None if body is None else orjson.dumps(body),
            media_type="application/json" if body is not None else "",
            repeatable=method in ("PUT", "DELETE"),
        )
        answer = self.client.ask(asked)
        return {} if answer.status == 204 else self._one(answer)

    def read(self, path: str) -> Mapping[str, object]:
        """One thing of a register."""
        return self._one(self._ask("GET", path))

    def _list(
        self, method: str, path: str, body: Mapping[str, object] | None, sort: Sequence[str] = ()
    ) -> Iterator[Page]:
        def page(cursor: str | None) -> Page:
            params = [self._scope, ("limit", str(PER_PAGE))]
            for key in sort:
                params += [("sorting_keys[]", key), ("sorting_order[]", "ASC")]
            if cursor is not None:
                params.append(("after", cursor))
            return self._page(self._ask(method, path, tuple(params), body))

        return pages(page, path)

    def _page(self, answer: Answer) -> Page:
        members = answer.members()
        data, told = members.get("data"), members.get("pagination")
        if not isinstance(data, list) or not all(isinstance(row, Mapping) for row in data):
            raise ServiceStrange(where=answer.where, why="not-an-object")
        if not isinstance(told, Mapping):
            return Page(data, None)
        more = bool(told.get("hasNextPage"))
        cursor = told.get("endCursor")
        if more and not cursor:
            raise ServiceStrange(where=answer.where, why="list-incomplete")
        total = told.get("total")
        return Page(data, str(cursor) if more else None, total if isinstance(total, int) else None)

    def _ask(
        self,
        method: str,
        path: str,
        params: tuple[tuple[str, str], ...] = (),
        body: Mapping[str, object] | None = None,
    ) -> Answer:
        content = None if body is None else orjson.dumps(body)
        kind = "application/json" if body is not None else ""
        verb: Method = "POST" if method == "POST" else "GET"
        asked = Request(verb, self.client.url(path), params, body=content, media_type=kind, repeatable=True)
        return self.client.ask(asked)

    def _one(self, answer: Answer) -> Mapping[str, object]:
        data = answer.members().get("data")
        if not isinstance(data, Mapping):
            raise ServiceStrange(where=answer.where, why="not-an-object")
        return data


def part(one: str) -> str:
    """An id as a part of a path. Raises `UsageFault` for what would lead elsewhere."""
    if one in ("", ".", ".."):
        raise UsageFault(what="bad-value", where=one)
    return quote(one, safe="")


def _id(row: Row) -> str:
    return str(row.get("id"))


def _told(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
