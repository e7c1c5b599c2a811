"""The security service: projects, scans, findings page by page, decisions, reports, exports, the audit trail."""

from __future__ import annotations

import base64
import hashlib
import hmac
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from urllib.parse import parse_qs
from uuid import NAMESPACE_URL, uuid5

from tests.strict_services.serving import Handler, Refused, Reply, Request, Service
from tests.strict_services.tables import Call, Table

API_KEY, CLIENT_ID, TENANT = "a-key-of-the-strict-service", "ast-strict", "etaten"
ENDED = ("Completed", "Failed", "Canceled", "Partial")
SECRET = "AKIA-THIS-IS-A-LEAKED-KEY"
_TOKEN_LIFE_S = 1800


@dataclass(slots=True)
class Finding:
    """A finding of a scan."""

    similarity_id: str
    values: dict[str, object]


@dataclass(slots=True)
class Scan:
    """A scan of a project."""

    id: str
    project_id: str
    status: str
    created: datetime
    findings: list[Finding] = field(default_factory=list)


@dataclass(slots=True)
class Decision:
    """What somebody decided about a finding."""

    id: str
    project_id: str
    similarity_id: str
    state: str
    comment: str
    created: datetime


class AppsecData:
    """The projects of a tenant, their scans, and what was decided."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self.projects: dict[str, str] = {}
        self.scans: dict[str, Scan] = {}
        self.decisions: list[Decision] = []
        self.audit: list[dict[str, object]] = []

    def new_id(self) -> str:
        """An id that nothing has."""
        return str(uuid5(NAMESPACE_URL, f"appsec/{next(self._numbers)}"))

    def project(self, name: str) -> str:
        """A new project: its id."""
        id = self.new_id()
        self.projects[id] = name
        return id

    def scan(self, project_id: str, findings: int = 3, status: str = "Completed", *, days_ago: float = 5) -> Scan:
        """A scan with so many findings."""
        made = Scan(self.new_id(), project_id, status, now() - timedelta(days=days_ago))
        for _ in range(findings):
            made.findings.append(self._finding(made, next(self._numbers)))
        self.scans[made.id] = made
        return made

    def _finding(self, scan: Scan, number: int) -> Finding:
        similarity = str(9_007_199_254_740_993 + number)
        data = {"queryId": 4_000_000_000_000_000_000 + number, "queryName": f"Injection_{number}", "nodes": []}
        values: dict[str, object] = {
            "type": "sast",
            "id": similarity,
            "similarityId": similarity,
            "status": "NEW",
            "state": "TO_VERIFY",
            "severity": "HIGH",
            "firstFoundAt": stamp(scan.created),
            "description": f"Finding {number}",
            "data": {**data, "resultHash": f"hash-{number}"},
            "comments": {},
            "vulnerabilityDetails": {"cweId": "89"},
        }
        return Finding(similarity, values)

    def decide(self, scan: Scan, state: str = "NOT_EXPLOITABLE", comment: str = "Ikke nåbar") -> Decision:
        """Somebody decides about the first finding of a scan."""
        finding = scan.findings[0]
        finding.values["state"] = state
        made = Decision(self.new_id(), scan.project_id, finding.similarity_id, state, comment, now())
        self.decisions.append(made)
        return made

    def audit_event(self, action: str, *, at: datetime | None = None) -> dict[str, object]:
        """Something that is told of in the audit trail."""
        made: dict[str, object] = {
            "eventDate": stamp(at or now()),
            "eventType": "user",
            "auditResource": "project",
            "actionType": action,
            "actionUserId": "user-1",
            "ipAddress": "192.0.2.1",
            "data": {"id": self.new_id()},
        }
        self.audit.append(made)
        return made


class Appsec(Service):
    """A tenant of the security service."""

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self.data = AppsecData()
        self.access: dict[str, datetime] = {}
        self.exchanges = 0
        self.results_most = 10_000
        self.hides_policies = False
        self.reports: dict[str, str] = {}
        self.exports: dict[str, int] = {}
        self.hooks: dict[str, dict[str, object]] = {}

    def admit(self, request: Request, call: Call) -> None:
        if call.name[1].startswith("/auth/"):
            return
        shown = request.headers.get("authorization", "")
        ends = self.access.get(shown.removeprefix("Bearer "))
        if not shown.startswith("Bearer ") or ends is None or ends <= datetime.now(UTC):
            raise Refused(self.refuse(401, "401", "The token is not valid."))
        if request.headers.get("accept") != "application/json; version=1.0" and "download" not in request.path:
            self.breaches.append(f"{request.path}: accepts {request.headers.get('accept')!r}")

    def refuse(self, status: int, code: str, message: str) -> Reply:
        return Reply(status, {"code": status, "message": message, "type": "ERROR", "data": None})

    def token(self, request: Request) -> Reply:
        asked = {name: values[0] for name, values in parse_qs(request.content.decode()).items()}
        if request.names["tenant"] != TENANT:
            return Reply(404, {"error": "Realm does not exist"})
        good = {"grant_type": "refresh_token", "client_id": CLIENT_ID, "refresh_token": API_KEY}
        if asked != good:
            return Reply(400, {"error": "invalid_grant", "error_description": "Invalid refresh token"})
        self.exchanges += 1
        access = f"access-{self.exchanges}"
        self.access[access] = datetime.now(UTC) + timedelta(seconds=_TOKEN_LIFE_S)
        return Reply(200, {"access_token": access, "expires_in": _TOKEN_LIFE_S, "token_type": "Bearer"})

    def handlers(self) -> Mapping[tuple[str, str], Handler]:
        served = {name: partial(handler, self) for name, handler in _CALLS.items()}
        return {("POST", "/auth/realms/{tenant}/protocol/openid-connect/token"): self.token, **served}

    def rows(self, request: Request, name: str, rows: Sequence[Mapping[str, object]]) -> Reply:
        """Rows from an offset that counts rows."""
        begin, limit = int(request.parameter("offset") or 0), int(request.parameter("limit") or 20)
        here = list(rows[begin : begin + limit])
        return Reply(200, {"totalCount": len(rows), "filteredTotalCount": len(rows), name: here})

    def scan_of(self, id: str) -> Scan:
        """A scan, or a refusal."""
        if id not in self.data.scans:
            raise Refused(self.refuse(404, "404", "There is no such scan."))
        return self.data.scans[id]

    def message(self, scan: Scan, secret: str) -> tuple[bytes, dict[str, str]]:
        """What is sent to an address when a scan has ended, with its signature."""
        body = json.dumps({"scanId": scan.id, "projectId": scan.project_id, "branch": "main"}).encode()
        signature = base64.b64encode(hmac.new(secret.encode(), body, hashlib.sha256).digest()).decode()
        headers = {"X-Webhook-Event": "scan_completed_successfully", "X-Webhook-Signature": f"sha256={signature}"}
        return body, headers


def _scans(appsec: Appsec, request: Request) -> Reply:
    rows = sorted(appsec.data.scans.values(), key=lambda each: each.created, reverse=True)
    if text := request.parameter("from-date"):
        rows = [each for each in rows if each.created >= datetime.fromisoformat(text)]
    if text := request.parameter("to-date"):
        rows = [each for each in rows if each.created <= datetime.fromisoformat(text)]
    if ids := request.parameter("scan-ids"):
        rows = [each for each in rows if each.id in ids.split(",")]
    if statuses := request.parameter("statuses"):
        rows = [each for each in rows if each.status in statuses.split(",")]
    return appsec.rows(request, "scans", [_scan_row(appsec, each) for each in rows])


def _scan_row(appsec: Appsec, scan: Scan) -> dict[str, object]:
    credentials = {"username": "kari", "type": "apiKey", "value": SECRET}
    return {
        "id": scan.id,
        "status": scan.status,
        "statusDetails": [{"name": "general", "status": scan.status}, {"name": "sast", "status": scan.status}],
        "branch": "main",
        "createdAt": stamp(scan.created),
        "updatedAt": stamp(scan.created),
        "projectId": scan.project_id,
        "projectName": appsec.data.projects[scan.project_id],
        "initiator": "Kari",
        "engines": ["sast"],
        "tags": {},
        "metadata": {"type": "git", "Handler": {"GitHandler": {"credentials": credentials}}},
    }


def _scan(appsec: Appsec, request: Request) -> Reply:
    return Reply(200, _scan_row(appsec, appsec.scan_of(request.names["scanId"])))


def _results(appsec: Appsec, request: Request) -> Reply:
    """The offset of findings counts pages, where all others count rows."""
    findings = [each.values for each in appsec.scan_of(request.parameter("scan-id")).findings]
    limit = min(int(request.parameter("limit") or 20), appsec.results_most)
    begin = int(request.parameter("offset") or 0) * limit
    return Reply(200, {"results": findings[begin : begin + limit], "totalCount": len(findings)})


def _summary(appsec: Appsec, request: Request) -> Reply:
    found = []
    for id in request.parameter("scan-ids").split(","):
        total = len(appsec.scan_of(id).findings)
        counters = {"severityCounters": [{"severity": "HIGH", "counter": total}], "totalCounter": total}
        found.append({"tenantId": TENANT, "scanId": id, "sastCounters": counters})
    return Reply(200, {"scansSummaries": found, "totalCount": len(found)})


def _decisions(appsec: Appsec, request: Request) -> Reply:
    wanted, projects = request.names["similarityId"], request.parameter("project-ids").split(",")
    histories = []
    for project in projects:
        rows = [
            _decision_row(each)
            for each in appsec.data.decisions
            if (each.project_id, each.similarity_id) == (project, wanted)
        ]
        begin = int(request.parameter("offset") or 0)
        here = rows[begin : begin + int(request.parameter("limit") or 100)]
        histories.append({"projectId": project, "similarityId": wanted, "predicates": here, "totalCount": len(rows)})
    return Reply(200, {"predicateHistoryPerProject": histories, "totalCount": len(histories)})


def _decision_row(each: Decision) -> dict[str, object]:
    return {
        "ID": each.id,
        "similarityId": each.similarity_id,
        "projectId": each.project_id,
        "state": each.state,
        "severity": "HIGH",
        "comment": each.comment,
        "createdBy": "Kari",
        "createdAt": stamp(each.created),
    }


def _policies(appsec: Appsec, request: Request) -> Reply:
    if appsec.hides_policies:
        return appsec.refuse(401, "401", "No permission for policies.")
    return Reply(200, {"status": "COMPLETED", "breakBuild": False, "policies": []})


def _projects(appsec: Appsec, request: Request) -> Reply:
    return appsec.rows(request, "projects", [_project_row(id, name) for id, name in appsec.data.projects.items()])


def _project(appsec: Appsec, request: Request) -> Reply:
    id = request.names["projectId"]
    if id not in appsec.data.projects:
        return appsec.refuse(404, "404", "There is no such project.")
    return Reply(200, _project_row(id, appsec.data.projects[id]))


def _project_row(id: str, name: str) -> dict[str, object]:
    return {
        "id": id,
        "name": name,
        "createdAt": "2024-01-01T00:00:00Z",
        "updatedAt": "2024-01-01T00:00:00Z",
        "tags": {},
    }


def _applications(appsec: Appsec, request: Request) -> Reply:
    return appsec.rows(request, "applications", [])


def _new_report(appsec: Appsec, request: Request) -> Reply:
    id = appsec.data.new_id()
    appsec.reports[id] = "requested"
    return Reply(202, {"reportId": id})


def _report(appsec: Appsec, request: Request) -> Reply:
    """A report is made while it is asked for."""
    id = request.names["reportId"]
    status = appsec.reports[id]
    appsec.reports[id] = "completed"
    return Reply(200, {"reportId": id, "status": status})


def _report_file(appsec: Appsec, request: Request) -> Reply:
    return Reply(200, b"%PDF-1.7\n%" + request.names["reportId"].encode() + b"\n%%EOF\n")


def _new_export(appsec: Appsec, request: Request) -> Reply:
    id = appsec.data.new_id()
    appsec.exports[id] = 0
    return Reply(202, {"exportId": id})


def _export(appsec: Appsec, request: Request) -> Reply:
    """An export is not there at first, then pending, then there."""
    id = request.parameter("exportId")
    appsec.exports[id] += 1
    if appsec.exports[id] == 1:
        return appsec.refuse(404, "404", "There is no such export.")
    return Reply(200, {"exportId": id, "exportStatus": "Completed" if appsec.exports[id] > 2 else "Pending"})


def _export_file(appsec: Appsec, request: Request) -> Reply:
    content = {"bomFormat": "CycloneDX", "specVersion": "1.6", "serialNumber": request.names["exportId"]}
    return Reply(200, b"\xef\xbb\xbf" + json.dumps({**content, "components": []}).encode())


def _audit(appsec: Appsec, request: Request) -> Reply:
    begin, end = (datetime.fromisoformat(request.parameter(name)) for name in ("startDate", "endDate"))
    if begin.tzinfo is None or end.tzinfo is None:
        appsec.breaches.append(f"audit: {request.query}")
        return appsec.refuse(400, "400", "startDate and endDate are date-times")
    rows = [each for each in appsec.data.audit if begin <= datetime.fromisoformat(str(each["eventDate"])) <= end]
    at, limit = int(request.parameter("offset") or 0), int(request.parameter("limit") or 100)
    return Reply(200, {"filteredTotalCount": len(rows), "events": rows[at : at + limit]})


def _new_hook(appsec: Appsec, request: Request) -> Reply:
    id = appsec.data.new_id()
    appsec.hooks[id] = {**request.members, "id": id}
    return Reply(201, appsec.hooks[id])


_CALLS = {
    ("GET", "/api/scans"): _scans,
    ("GET", "/api/scans/{scanId}"): _scan,
    ("GET", "/api/results"): _results,
    ("GET", "/api/scan-summary"): _summary,
    ("GET", "/api/sast-results-predicates/{similarityId}"): _decisions,
    ("GET", "/api/policy_management_service_uri/evaluation"): _policies,
    ("GET", "/api/projects"): _projects,
    ("GET", "/api/projects/{projectId}"): _project,
    ("GET", "/api/applications"): _applications,
    ("POST", "/api/reports"): _new_report,
    ("POST", "/api/reports/v2"): _new_report,
    ("GET", "/api/reports/{reportId}"): _report,
    ("GET", "/api/reports/{reportId}/download"): _report_file,
    ("POST", "/api/sca/export/requests"): _new_export,
    ("GET", "/api/sca/export/requests"): _export,
    ("GET", "/api/sca/export/requests/{exportId}/download"): _export_file,
    ("GET", "/api/audit-events"): _audit,
    ("GET", "/api/audit-events/"): _audit,
    ("POST", "/api/webhooks/tenant"): _new_hook,
}


def now() -> datetime:
    """This moment, in whole seconds."""
    return datetime.now(UTC).replace(microsecond=0)


def stamp(moment: datetime) -> str:
    """A moment as the service tells it."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
