"""The REST calls of an application security service, one method for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from urllib.parse import quote

from noarkit.errors import ServiceDenied, ServiceRefused, ServiceStrange
from noarkit.services.appsec.findings import Finding, Page, all_findings
from noarkit.services.canonical import canonical, parse
from noarkit.services.client import Client
from noarkit.services.paging import Page as ListPage
from noarkit.services.paging import Row, pages, rows
from noarkit.services.wire import Answer, Method, Request

PER_PAGE = 100
_AUDIT_PER_PAGE = 1_000
_UNAUTHORIZED = 401
_NOT_THERE = frozenset({403, 404})
Params = tuple[tuple[str, str], ...]


class Calls:
    """The calls of one connection."""

    def __init__(self, client: Client, accept: str, results_a_page: int) -> None:
        self.client = client
        self._accept = accept
        self._results_a_page = results_a_page
        self._policies_are_denied = False  # even to a new token: another one does not help

    def projects(self) -> Iterator[Row]:
        """Lists every project."""
        yield from self._list("/api/projects", "projects")

    def applications(self) -> Iterator[Row]:
        """Lists every application."""
        yield from self._list("/api/applications", "applications")

    def scans(self, since: datetime | None, until: datetime) -> Iterator[Row]:
        """Lists the scans that began within a window, in the order of the service."""
        window = (("to-date", _format_time(until)), *((("from-date", _format_time(since)),) if since else ()))
        yield from self._list("/api/scans", "scans", window)

    def scan(self, scan_id: str) -> Row | None:
        """Reads one scan; None if the service has forgotten it."""
        return self.find(f"/api/scans/{quote(scan_id, safe='')}")

    def project(self, project_id: str) -> Row | None:
        """Reads one project; None if there is none."""
        return self.find(f"/api/projects/{quote(project_id, safe='')}")

    def findings(self, scan: str) -> list[Finding]:
        """Reads all findings of a scan. Raises `ServiceStrange` if they cannot be proven complete."""

        def ask(offset: int, limit: int) -> Page:
            params = (("scan-id", scan), ("offset", str(offset)), ("limit", str(limit)), ("sort", "-severity"))
            answer = self.ask("GET", "/api/results", (*params, ("include-nodes", "true")))
            members = answer.members()
            rows, total = members.get("results") or [], members.get("totalCount")
            if not isinstance(total, int) or not isinstance(rows, list):
                raise ServiceStrange(where=answer.label, why="not-an-object")
            return Page([row for row in rows if isinstance(row, Mapping)], total)

        return all_findings(ask, self._results_a_page, f"results of {scan}")

    def summary(self, scan: str) -> Row:
        """Reads the counts of a scan, by scanner."""
        members = self.ask("GET", "/api/scan-summary", (("scan-ids", scan), ("include-severity-status", "true")))
        summaries = members.members().get("scansSummaries")
        return summaries[0] if isinstance(summaries, list) and summaries and isinstance(summaries[0], Mapping) else {}

    def evaluation(self, project: str, scan: str) -> Row | None:
        """Reads the policy evaluation of a scan; empty if there is none, None if we may not read it."""
        params = (("astProjectId", project), ("scanId", scan))
        accepts = _NOT_THERE | {_UNAUTHORIZED} if self._policies_are_denied else _NOT_THERE
        try:
            answer = self.ask("GET", "/api/policy_management_service_uri/evaluation", params, accepts=accepts)
        except ServiceDenied as fault:
            if fault.data.get("status") != _UNAUTHORIZED:
                raise
            self._policies_are_denied = True  # the token was made a moment ago: this one thing is not for us
            return None
        if answer.status == 404:
            return {}
        return None if answer.status in accepts else answer.members()

    def tags(self, kind: str) -> Row:
        """Reads the tags of projects or scans, with the values of each."""
        return self.ask("GET", f"/api/{kind}/tags").members()

    def last_scan(self, project: str) -> Row:
        """Reads the newest scan of a project; empty if it was never scanned."""
        scans_by_project = self.ask(
            "GET", "/api/projects/last-scan", (("project-ids", project), ("limit", "1"))
        ).members()
        scan = scans_by_project.get(project)
        return scan if isinstance(scan, Mapping) else {}

    def branches(self, project: str) -> Iterator[str]:
        """Lists the branches of a project that were ever scanned."""
        offset = 0
        while True:
            params = (("project-id", project), ("offset", str(offset)), ("limit", str(PER_PAGE)))
            answer = self.ask("GET", "/api/projects/branches", params)
            branches = parse(answer.body, answer.label) or []
            if not isinstance(branches, list):
                raise ServiceStrange(where=answer.label, why="not-an-object")
            yield from map(str, branches)
            offset += len(branches)
            if len(branches) < PER_PAGE:
                return

    def webhooks(self) -> Iterator[Row]:
        """Lists the webhooks of the tenant."""
        yield from self._list("/api/webhooks/tenant", "webhooks")

    def audit(self, begin: date, end: date) -> Iterator[ListPage]:
        """Reads the audit events from the beginning of one day to the beginning of another, page by page, in the order
        of the service."""
        days = (("startDate", f"{begin.isoformat()}T00:00:00Z"), ("endDate", f"{end.isoformat()}T00:00:00Z"))
        yield from self._pages("/api/audit-events/", "events", days, _AUDIT_PER_PAGE)

    def find(self, path: str) -> Row | None:
        """Reads one object; None if there is none."""
        answer = self.ask("GET", path, accepts=frozenset({404}))
        return None if answer.status == 404 else answer.members()

    def write(
        self, method: Method, path: str, body: Mapping[str, object] | None = None, *, repeatable: bool = False
    ) -> Mapping[str, object]:
        """Sends a change and returns the answer. A creation is not repeated when its fate is unknown."""
        answer = self.client.ask(
            Request(
                method,
                self.client.url(path),
                headers={"Accept": self._accept},
                body=None if body is None else canonical(body),
                media_type="application/json" if body is not None else "",
                repeatable=repeatable or method in ("PUT", "PATCH", "DELETE"),
            )
        )
        return answer.members() if answer.body else {}

    def ask(self, method: Method, path: str, params: Params = (), *, accepts: frozenset[int] = frozenset()) -> Answer:
        """Sends a read request, with retries."""
        url, headers = self.client.url(path), {"Accept": self._accept}
        return self.client.ask(Request(method, url, params, headers, repeatable=True, accepts=accepts))

    def _list(self, path: str, name: str, params: Params = ()) -> Iterator[Row]:
        yield from rows(self._pages(path, name, params, PER_PAGE), lambda row: str(row.get("id")), path, exact=True)

    def _pages(self, path: str, name: str, params: Params, limit: int) -> Iterator[ListPage]:
        def page(cursor: str | None) -> ListPage:
            offset = int(cursor or "0")
            answer = self.ask("GET", path, (*params, ("offset", str(offset)), ("limit", str(limit))))
            members = answer.members()
            rows = members.get(name) or []
            if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
                raise ServiceStrange(where=answer.label, why="not-an-object")
            stated_total = members.get("filteredTotalCount", members.get("totalCount"))
            total = stated_total if isinstance(stated_total, int) else None
            after = offset + len(rows)
            more = bool(rows) and (after < total if total is not None else True)
            return ListPage(rows, str(after) if more else None, total)

        yield from pages(page, path)


def code_of(fault: ServiceRefused) -> str:
    """Returns the service's own error number; empty if there is none."""
    return str(fault.data.get("why") or "").partition(":")[0]


def _format_time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
