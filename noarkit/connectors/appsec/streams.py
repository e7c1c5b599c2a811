"""Projects and scans as items. A scan is taken once it has ended, with all its findings, or is set aside with why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

from noarkit.connectors.appsec.calls import Calls
from noarkit.connectors.appsec.findings import Finding
from noarkit.connectors.appsec.papers import Papers, Shelf
from noarkit.connectors.appsec.sarif import MEDIA_TYPE, Scanned, written
from noarkit.connectors.appsec.settings import AppSecSettings
from noarkit.connectors.canonical import canonical, fingerprint, redacted, without_secrets
from noarkit.connectors.paging import Row
from noarkit.connectors.port import Item, Made, NotFetched, ServiceItem, Window
from noarkit.errors import ItemUnreadable, ServiceRefused, ServiceStrange
from noarkit.events import Event, Listener

ENDED = frozenset({"completed", "failed", "canceled"})
WITH_FINDINGS = frozenset({"completed", "partial"})
UNDER_WAY = frozenset({"queued", "running"})
FORGOTTEN_AFTER = timedelta(days=90)
LATE_AFTER = timedelta(days=30)
_CREDENTIALS = ("credentials", "uploadUrl", "presignedURL")
_SECRET_MEMBERS = ("snippet", "value", "secret", "match", "lineContent")
_JSON = "application/json"


def has_ended(scan: Row) -> bool:
    """True for a scan that will not change any more: one whose scanners have partly failed may still run."""
    status = str(scan.get("status")).casefold()
    if status != "partial":
        return status in ENDED
    details = scan.get("statusDetails")
    told = [one for one in details if isinstance(one, Mapping)] if isinstance(details, list) else []
    return all(str(one.get("status")).casefold() not in UNDER_WAY for one in told)


def lag(window: Window, look_back: timedelta) -> timedelta | None:
    """How far the mark of a window lies behind; None for the first run."""
    return None if window.since is None else window.until - (window.since + look_back)


class Scans:
    """Makes items of what a tenant holds."""

    def __init__(self, calls: Calls, papers: Papers, shelf: Shelf, settings: AppSecSettings) -> None:
        self._calls = calls
        self._papers = papers
        self._shelf = shelf
        self._settings = settings

    def key(self, *parts: object) -> str:
        """A key of the service's own ids."""
        return ":".join(quote(str(part), safe="") for part in (self._settings.tenant, *parts))

    def projects(self) -> Iterator[ServiceItem]:
        """Every project, and the applications that it is part of."""
        applications = {str(row.get("id")): str(row.get("name") or "") for row in self._calls.applications()}
        for row in self._calls.projects():
            ids = row.get("applicationIds")
            names = [applications[str(one)] for one in ids if str(one) in applications] if isinstance(ids, list) else []
            yield self._project(row, names)

    def scans(self, window: Window, look_back: timedelta, tell: Listener) -> Iterator[ServiceItem]:
        """Scans of a window that have ended, and those of before that had not when they were met."""
        behind = lag(window, look_back)
        if behind is not None and behind > LATE_AFTER:
            why = "scans-forgotten" if behind > FORGOTTEN_AFTER else "mark-lags"
            tell(Event("remark", {"stream": "scans", "why": why, "days": behind.days}))
        rows = {str(row.get("id")): row for row in self._calls.scans(window.since, window.until)}
        for scan in self._shelf.waiting(FORGOTTEN_AFTER.total_seconds()):
            if scan not in rows and (row := self._calls.scan(scan)) is not None:
                rows[scan] = row
        known = {str(row.get("id")) for row in self._calls.projects()}
        for row in sorted(rows.values(), key=lambda row: (str(row.get("createdAt")), str(row.get("id")))):
            if not has_ended(row):
                self._met_open(row, tell)
                continue
            project = str(row.get("projectId"))
            if project not in known:
                known.add(project)
                yield self._project({"id": project, "name": row.get("projectName"), "createdAt": None}, [])
            yield self._taken(row)

    def findings(self, scan: str) -> list[Finding]:
        """All findings of a scan, secrets left out."""
        return [self._clean(one) for one in self._calls.findings(scan)]

    def _met_open(self, row: Row, tell: Listener) -> None:
        self._shelf.wait_for(str(row.get("id")))
        status = str(row.get("status")).casefold()
        if status not in UNDER_WAY | {"partial"}:
            tell(Event("remark", {"stream": "scans", "why": "scan-state", "key": str(row.get("id"))}))

    def _taken(self, row: Row) -> ServiceItem:
        scan = str(row.get("id"))
        key = self.key("scan", scan)
        try:
            return self._scan(key, row)
        except (ServiceStrange, ServiceRefused, ItemUnreadable) as fault:
            told = {name: fault.data[name] for name in ("found", "total") if name in fault.data}
            return NotFetched("scans", key, str(fault.data.get("why") or fault.code), told)

    def _project(self, row: Row, applications: Sequence[str]) -> Item:
        clean = without_secrets(row, _CREDENTIALS)
        name = str(row.get("name") or row.get("id"))
        fields = {
            "name": name,
            "applications": list(applications),
            "about": _joined(name, row.get("repoUrl"), row.get("mainBranch"), ", ".join(applications)),
            "criticality": row.get("criticality"),
            "created": row.get("createdAt"),
            "data": clean,
        }
        return Item(
            "projects", self.key("project", row.get("id")), fields, moment(row.get("updatedAt")), kind="project"
        )

    def _scan(self, key: str, row: Row) -> Item:
        scan, status = str(row.get("id")), str(row.get("status")).casefold()
        engines = row.get("engines")
        scanners = [str(one) for one in engines] if isinstance(engines, list) else []
        findings: list[Finding] = []
        summary: Row = {}
        if status in WITH_FINDINGS:
            summary = without_volatile(self._calls.summary(scan))
            findings = self.findings(scan)
        lacking = self._lacking(scanners, findings)
        told = {
            "scan": without_secrets(row, _CREDENTIALS),
            "summary": summary,
            "totalCount": len(findings),
            "notFetched": lacking,
        }
        documents = self._documents(row, findings, summary) if status in WITH_FINDINGS else []
        branch, commit = str(row.get("branch") or ""), str(row.get("commitId") or "")
        named = str(row.get("projectName") or row.get("projectId"))
        date, severities = str(row.get("createdAt") or "")[:10], _counted(findings)
        fields = {
            "title": " ".join(part for part in (named, branch, date) if part),
            "about": _joined(row.get("status"), ", ".join(scanners), severities, commit),
            "project_key": self.key("project", row.get("projectId")),
            "project": named,
            "branch": branch,
            "date": date,
            "created": row.get("createdAt"),
            "status": str(row.get("status")),
            "initiator": str(row.get("initiator") or ""),
            "commit": commit,
            "engines": scanners,
            "count": len(findings),
            "severities": severities,
            "not_fetched": ", ".join(lacking),
        }
        # what a scan may lack stands last, so that places never shift
        documents.insert(3 if self._settings.reports else 2, Made("scan.json", _JSON, canonical(told)))
        return Item("scans", key, fields, moment(row.get("updatedAt")), tuple(documents), kind="scan")

    def _documents(self, row: Row, findings: list[Finding], summary: Row) -> list[Made]:
        scan = str(row.get("id"))
        of = f"{scan}:{fingerprint(findings)}"
        found = []
        if self._settings.reports:
            report = self._shelf.paper(f"report:{of}", lambda: self._papers.report(scan))
            found.append(Made("report.pdf", "application/pdf", report))
        found.append(Made("results.json", _JSON, canonical(findings)))
        found.append(Made("results.sarif", MEDIA_TYPE, written(scanned(row), findings)))
        if self._settings.sbom and _has_packages(summary):
            data = self._shelf.paper(f"sbom:{scan}", lambda: self._papers.materials(scan) or b"")
            if data:
                found.append(Made("sbom.cdx.json", "application/vnd.cyclonedx+json", data))
        return found

    def _clean(self, finding: Finding) -> Finding:
        """A finding without keys and tokens; secrets that were found are hidden, but can be told apart."""
        clean = without_secrets(finding, _CREDENTIALS)
        found: dict[str, object] = dict(clean) if isinstance(clean, Mapping) else {}
        data = found.get("data")
        if "secret" in str(found.get("type")).casefold() and isinstance(data, Mapping):
            key = self._shelf.redaction_key()
            found["data"] = {
                name: redacted(str(value), key) if name in _SECRET_MEMBERS and value else value
                for name, value in data.items()
            }
        return found

    def _lacking(self, scanners: Sequence[str], findings: Sequence[Finding]) -> list[str]:
        """What was found there and cannot be had here: findings in containers have an interface of their own."""
        listed = any(str(one.get("type")) == "containers" for one in findings)
        return ["containers"] if "containers" in scanners and not listed else []


def scanned(row: Row) -> Scanned:
    """What SARIF tells of a scan itself."""
    whole = str(row.get("status")).casefold() == "completed"
    commit, branch = str(row.get("commitId") or ""), str(row.get("branch") or "")
    return Scanned(str(row.get("id")), whole, _repository(row), branch, commit)


def without_volatile(summary: Row) -> Row:
    """A summary as it is kept: nothing in it but counts."""
    return {name: value for name, value in summary.items() if name == "scanId" or name.endswith("Counters")}


def moment(value: object) -> datetime | None:
    """A moment as the service writes it."""
    try:
        return datetime.fromisoformat(str(value).replace("Z", "+00:00")).astimezone(UTC)
    except ValueError:
        return None


def _joined(*parts: object) -> str:
    return "; ".join(str(part) for part in parts if part)


def _counted(findings: Sequence[Finding]) -> str:
    counted: dict[str, int] = {}
    for one in findings:
        severity = str(one.get("severity"))
        counted[severity] = counted.get(severity, 0) + 1
    return ", ".join(f"{name}: {count}" for name, count in sorted(counted.items()))


def _repository(row: Row) -> str:
    """Where the scanned source came from, without anybody's name and password in the address."""
    metadata = row.get("metadata")
    handler = metadata.get("Handler") if isinstance(metadata, Mapping) else None
    git = handler.get("GitHandler") if isinstance(handler, Mapping) else None
    url = str(git.get("repoUrl") or "") if isinstance(git, Mapping) else ""
    return url if url.startswith("https://") and "@" not in url else ""


def _has_packages(summary: Row) -> bool:
    counters = summary.get("scaPackagesCounters")
    return isinstance(counters, Mapping) and any(isinstance(one, int) and one > 0 for one in counters.values())
