"""One method for each call we make of an application security service."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

import orjson

from noarkit.connectors.appsec.findings import Finding, Page, all_findings
from noarkit.connectors.client import Client
from noarkit.connectors.paging import Page as ListPage
from noarkit.connectors.paging import Row, pages, rows
from noarkit.connectors.wire import Answer, Method, Request
from noarkit.errors import ServiceRefused, ServiceStrange

PER_PAGE = 100
_AUDIT_PER_PAGE = 1_000
Params = tuple[tuple[str, str], ...]


class Calls:
    """The calls of one connection."""

    def __init__(self, client: Client, accept: str, results_a_page: int) -> None:
        self.client = client
        self._accept = accept
        self._results_a_page = results_a_page

    def projects(self) -> Iterator[Row]:
        """Every project."""
        yield from self._list("/api/projects", "projects")

    def applications(self) -> Iterator[Row]:
        """Every application."""
        yield from self._list("/api/applications", "applications")

    def scans(self, since: datetime | None, until: datetime) -> Iterator[Row]:
        """Scans that were begun within a window, in whatever order the service has."""
        window = (("to-date", _told(until)), *((("from-date", _told(since)),) if since else ()))
        yield from self._list("/api/scans", "scans", window)

    def scan(self, one: str) -> Row | None:
        """One scan; None where the service has forgotten it."""
        return self.one(f"/api/scans/{one}")

    def findings(self, scan: str) -> list[Finding]:
        """All findings of a scan. Raises `ServiceStrange` where that they are all cannot be proven."""

        def ask(offset: int, limit: int) -> Page:
            params = (("scan-id", scan), ("offset", str(offset)), ("limit", str(limit)), ("sort", "-severity"))
            answer = self.ask("GET", "/api/results", (*params, ("include-nodes", "true")))
            members = answer.members()
            found, total = members.get("results") or [], members.get("totalCount")
            if not isinstance(total, int) or not isinstance(found, list):
                raise ServiceStrange(where=answer.where, why="not-an-object")
            return Page([row for row in found if isinstance(row, Mapping)], total)

        return all_findings(ask, self._results_a_page, f"results of {scan}")

    def summary(self, scan: str) -> Row:
        """The counts of a scan, by scanner."""
        members = self.ask("GET", "/api/scan-summary", (("scan-ids", scan), ("include-severity-status", "true")))
        found = members.members().get("scansSummaries")
        return found[0] if isinstance(found, list) and found and isinstance(found[0], Mapping) else {}

    def predicates(self, engine: str, similarity: str, project: str) -> Row:
        """What was decided about a finding, and by whom."""
        path = f"/api/{engine}-results-predicates/{similarity}"
        return self.ask("GET", path, (("project-ids", project),)).members()

    def webhooks(self) -> Iterator[Row]:
        """The webhooks of the tenant."""
        yield from self._list("/api/webhooks/tenant", "webhooks")

    def audit(self, since: datetime, until: datetime) -> Iterator[Row]:
        """What was done in the tenant."""
        window = (("startDate", since.date().isoformat()), ("endDate", until.date().isoformat()))
        offset = 0
        while True:
            limit = (("offset", str(offset)), ("limit", str(_AUDIT_PER_PAGE)))
            answer = self.ask("GET", "/api/audit-events/", (*window, *limit))
            found = answer.members().get("events")
            if not isinstance(found, list):
                raise ServiceStrange(where=answer.where, why="not-an-object")
            yield from (row for row in found if isinstance(row, Mapping))
            offset += len(found)
            if len(found) < _AUDIT_PER_PAGE:
                return

    def one(self, path: str) -> Row | None:
        """One thing; None where there is none."""
        answer = self.ask("GET", path, accepts=frozenset({404}))
        return None if answer.status == 404 else answer.members()

    def write(
        self, method: Method, path: str, body: Mapping[str, object] | None = None, *, repeatable: bool = False
    ) -> Mapping[str, object]:
        """A change; what the service says of it. What it makes anew is not sent again where its fate is unknown."""
        answer = self.client.ask(
            Request(
                method,
                self.client.url(path),
                headers={"Accept": self._accept},
                body=None if body is None else orjson.dumps(body),
                media_type="application/json" if body is not None else "",
                repeatable=repeatable or method in ("PUT", "PATCH", "DELETE"),
            )
        )
        return answer.members() if answer.body else {}

    def ask(self, method: Method, path: str, params: Params = (), *, accepts: frozenset[int] = frozenset()) -> Answer:
        """A question, tried again as often as is sensible."""
        url, headers = self.client.url(path), {"Accept": self._accept}
        return self.client.ask(Request(method, url, params, headers, repeatable=True, accepts=accepts))

    def _list(self, path: str, name: str, params: Params = ()) -> Iterator[Row]:
        def page(cursor: str | None) -> ListPage:
            offset = int(cursor or "0")
            answer = self.ask("GET", path, (*params, ("offset", str(offset)), ("limit", str(PER_PAGE))))
            members = answer.members()
            found = members.get(name) or []
            if not isinstance(found, list) or not all(isinstance(row, Mapping) for row in found):
                raise ServiceStrange(where=answer.where, why="not-an-object")
            told = members.get("filteredTotalCount", members.get("totalCount"))
            total = told if isinstance(told, int) else None
            after = offset + len(found)
            more = bool(found) and (after < total if total is not None else True)
            return ListPage(found, str(after) if more else None, total)

        yield from rows(pages(page, path), lambda row: str(row.get("id")), path, exact=True)


def code_of(fault: ServiceRefused) -> str:
    """The service's own number for a refusal; empty where it told none."""
    return str(fault.data.get("why") or "").partition(":")[0]


def _told(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
