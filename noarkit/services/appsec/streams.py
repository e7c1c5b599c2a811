"""Projects and scans as items. A scan is taken once it has ended, with all its findings, or is reported as failed with
the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from urllib.parse import unquote

from noarkit.errors import ItemUnreadable, ServiceDenied, ServiceRefused, ServiceStrange
from noarkit.events import Event, Listener
from noarkit.safe.spill import KeySet
from noarkit.services.appsec.calls import Calls
from noarkit.services.appsec.findings import Finding
from noarkit.services.appsec.grouped_rows import GroupedRows
from noarkit.services.appsec.histories import subject_of
from noarkit.services.appsec.labels import day_of, scan_page
from noarkit.services.appsec.papers import DocumentCache, Papers
from noarkit.services.appsec.sarif import MEDIA_TYPE, ScanOrigin, write_sarif
from noarkit.services.appsec.settings import AppSecSettings
from noarkit.services.appsec.states import (
    FORGOTTEN_AFTER,
    LATE_AFTER,
    UNDER_WAY,
    WITH_FINDINGS,
    Key,
    has_ended,
    moment,
)
from noarkit.services.appsec.trail import is_decided
from noarkit.services.canonical import canonical, fingerprint, redact, without_secrets
from noarkit.services.paging import Row
from noarkit.services.port import DELETION_KEY_END, Deletion, FetchFailure, GeneratedDocument, Item, ServiceItem, Window
from noarkit.services.readable import readable_page, title_line

_CREDENTIALS = ("credentials", "uploadUrl", "presignedURL")
_SECRET_MEMBERS = ("snippet", "value", "secret", "match", "lineContent")
_JSON = "application/json"


def watermark_lag(window: Window, look_back: timedelta) -> timedelta | None:
    """Returns how far the watermark of a window lies behind; None for the first run."""
    return None if window.since is None else window.until - (window.since + look_back)


def gone_items(
    stream: str,
    window: Window,
    prefix: str,
    is_listed: Callable[[str], bool],
    find: Callable[[str], Row | None],
) -> Iterator[Deletion]:
    """Yields the deletion of each object that the archive holds and the service no longer lists, nor shows by its id. A
    list was read to its end before."""
    for key in window.known_keys.under(f"{prefix}:"):
        if not is_listed(key):
            try:
                is_there = find(unquote(key.rpartition(":")[2])) is not None
            except ServiceDenied as fault:
                if fault.data.get("status") == 401:
                    raise
                continue  # it may not be seen, which is no deletion
            if not is_there:
                yield Deletion(stream, f"{key}{DELETION_KEY_END}", None)


Note = Callable[[Row, Sequence[Finding]], None]


class ScanItems:
    """Builds the items of a tenant's projects and scans."""

    def __init__(self, calls: Calls, papers: Papers, shelf: DocumentCache, settings: AppSecSettings, key: Key) -> None:
        self._calls = calls
        self._papers = papers
        self._shelf = shelf
        self._settings = settings
        self._key = key

    def projects(self, window: Window) -> Iterator[ServiceItem]:
        """Yields every project, with the applications it is part of, and the deletion of those that are gone."""
        with KeySet() as listed_keys:
            for item in self._listed_projects():
                listed_keys.add(item.key)
                yield item
            yield from gone_items("projects", window, self._key("project"), listed_keys.has, self._calls.project)

    def _listed_projects(self) -> Iterator[Item]:
        applications = {str(row.get("id")): str(row.get("name") or "") for row in self._calls.applications()}
        for row in self._calls.projects():
            ids = row.get("applicationIds")
            names = (
                [applications[str(application_id)] for application_id in ids if str(application_id) in applications]
                if isinstance(ids, list)
                else []
            )
            yield self._project(row, names)

    def scans(self, window: Window, look_back: timedelta, emit: Listener, note: Note) -> Iterator[ServiceItem]:
        """Yields the ended scans of a window, and earlier ones that had not ended when first seen. The findings of each
        are passed to `note`; what could not be fetched is reported."""
        behind = watermark_lag(window, look_back)
        if behind is not None and behind > LATE_AFTER:
            reason = "scans-forgotten" if behind > FORGOTTEN_AFTER else "mark-lags"
            emit(Event("remark", {"stream": "scans", "why": reason, "days": behind.days}))
        project_ids = {str(row.get("id")) for row in self._calls.projects()}
        missing: Counter[str] = Counter()
        with GroupedRows() as rows:
            self._gather(rows, window)
            for row in rows.rows():
                if not self._is_due(row, window):
                    continue
                if not has_ended(row):
                    self._note_open_scan(row, emit)
                    continue
                project = str(row.get("projectId"))
                if project not in project_ids:
                    project_ids.add(project)
                    yield self._project({"id": project, "name": row.get("projectName"), "createdAt": None}, [])
                yield self._scan_item(row, note, missing)
            listed_keys = (self._key("scan", row.get("id")) for row in rows.rows())
            yield from self._gone_scans(window, listed_keys)
        for name, count in sorted(missing.items()):
            emit(Event("remark", {"stream": "scans", "why": "not-fetched", "key": name, "count": count}))

    def _gather(self, rows: GroupedRows, window: Window) -> None:
        """Collects the scans of a window, and earlier ones that had not ended when first seen, by their start; all that
        are listed where it is known which of them the archive holds."""
        since = None if window.known_keys.is_kept or window.sweep else window.since
        for row in self._calls.scans(since, window.until):
            rows.add("", str(row.get("id")), str(row.get("createdAt")), row)
        for scan in self._shelf.waiting_scans(FORGOTTEN_AFTER.total_seconds()):
            if not rows.has("", scan) and (scan_row := self._calls.scan(scan)) is not None:
                rows.add("", scan, str(scan_row.get("createdAt")), scan_row)

    def _is_due(self, row: Row, window: Window) -> bool:
        """True for a scan of the window, or one that the archive lacks: it may have appeared late. A sweep reads all,
        but for those of a project that is gone."""
        known_keys, started_at = window.known_keys, moment(row.get("createdAt"))
        if not known_keys.has(self._key("scan", row.get("id"))):
            return True
        if window.sweep:
            return not known_keys.is_gone(self._key("project", row.get("projectId")))
        return window.since is None or started_at is None or started_at >= window.since

    def _gone_scans(self, window: Window, listed_keys: Iterable[str]) -> Iterator[ServiceItem]:
        with KeySet() as keys:
            for key in listed_keys:
                keys.add(key)
            yield from gone_items("scans", window, self._key("scan"), keys.has, self._calls.scan)

    def findings(self, scan: str) -> list[Finding]:
        """Reads all findings of a scan, secrets removed."""
        return [self._clean(finding) for finding in self._calls.findings(scan)]

    def _note_open_scan(self, row: Row, emit: Listener) -> None:
        self._shelf.wait_for(str(row.get("id")))
        status = str(row.get("status")).casefold()
        if status not in UNDER_WAY | {"partial"}:
            emit(Event("remark", {"stream": "scans", "why": "scan-state", "key": str(row.get("id"))}))

    def _scan_item(self, row: Row, note: Note, missing: Counter[str]) -> ServiceItem:
        key = self._key("scan", row.get("id"))
        try:
            item = self._scan(key, row, note)
        except (ServiceStrange, ServiceRefused, ItemUnreadable) as fault:
            details = {name: fault.data[name] for name in ("found", "total") if name in fault.data}
            return FetchFailure("scans", key, str(fault.data.get("why") or fault.code), details)
        missing.update(name for name in str(item.fields["not_fetched"]).split(", ") if name)
        return item

    def _project(self, row: Row, applications: Sequence[str]) -> Item:
        clean = without_secrets(row, _CREDENTIALS)
        name = title_line(row.get("name")) or str(row.get("id"))
        fields = {
            "name": name,
            "applications": list(applications),
            "about": _join_parts(name, row.get("repoUrl"), row.get("mainBranch"), ", ".join(applications)),
            "criticality": row.get("criticality"),
            "created": row.get("createdAt"),
            "data": clean,
        }
        return Item(
            "projects", self._key("project", row.get("id")), fields, moment(row.get("updatedAt")), kind="project"
        )

    def _scan(self, key: str, row: Row, note: Note) -> Item:
        scan, status = str(row.get("id")), str(row.get("status")).casefold()
        engines = row.get("engines")
        scanners = [str(scanner) for scanner in engines] if isinstance(engines, list) else []
        findings: list[Finding] = []
        summary: Row = {}
        if status in WITH_FINDINGS:
            summary = without_volatile(self._calls.summary(scan))
            findings = self.findings(scan)
            note(row, findings)
        evaluation = self._policy_evaluation(row) if status in WITH_FINDINGS else {}
        missing = _missing_findings(scanners, findings, evaluation) if status in WITH_FINDINGS else []
        details = {
            "scan": without_secrets(row, _CREDENTIALS),
            "summary": summary,
            "totalCount": len(findings),
            "notFetched": missing,
        }
        documents = self._documents(row, findings, summary) if status in WITH_FINDINGS else []
        branch, commit = str(row.get("branch") or ""), str(row.get("commitId") or "")
        project = str(row.get("projectName") or row.get("projectId"))
        date, severities = day_of(row.get("createdAt")), _count_severities(findings)
        fields = {
            "title": title_line(" ".join(part for part in (project, branch, date) if part)),
            "about": _join_parts(row.get("status"), ", ".join(scanners), _join_counts(severities), commit),
            "project_key": self._key("project", row.get("projectId")),
            "project": project,
            "branch": branch,
            "date": date,
            "created": row.get("createdAt"),
            "status": str(row.get("status")),
            "initiator": str(row.get("initiator") or ""),
            "commit": commit,
            "engines": scanners,
            "count": len(findings),
            "severities": _join_counts(severities),
            "not_fetched": ", ".join(missing),
        }
        # optional documents come last, so that indexes never shift
        place = min(len(documents), 3 if self._settings.reports else 2)
        documents[place:place] = [
            readable_page("scan", f"Sikkerhetsskanning {fields['title']}", scan_page(fields, severities, missing)),
            GeneratedDocument("scan.json", _JSON, canonical(details)),
        ]
        if evaluation:
            documents.append(GeneratedDocument("policy.json", _JSON, canonical(without_secrets(evaluation))))
        generated = tuple(_with_title(document, fields) for document in documents)
        return Item("scans", key, fields, moment(row.get("updatedAt")), generated, kind="scan")

    def _documents(self, row: Row, findings: list[Finding], summary: Row) -> list[GeneratedDocument]:
        scan = str(row.get("id"))
        of = f"{scan}:{fingerprint(findings)}"
        documents = []
        if self._settings.reports:
            report = self._shelf.paper(f"report:{of}", lambda: self._papers.report(scan))
            documents.append(GeneratedDocument("report.pdf", "application/pdf", report))
        documents.append(GeneratedDocument("results.json", _JSON, canonical(findings)))
        documents.append(GeneratedDocument("results.sarif", MEDIA_TYPE, write_sarif(scan_origin(row), findings)))
        if self._settings.sbom and _has_packages(summary):
            data = self._shelf.paper(f"sbom:{scan}", lambda: self._papers.materials(scan) or b"")
            if data:
                documents.append(GeneratedDocument("sbom.cdx.json", "application/vnd.cyclonedx+json", data))
        return documents

    def _clean(self, finding: Finding) -> Finding:
        """Removes keys and tokens from a finding; secrets that were found are redacted, but can be told apart."""
        clean = without_secrets(finding, _CREDENTIALS)
        members: dict[str, object] = dict(clean) if isinstance(clean, Mapping) else {}
        data = members.get("data")
        if "secret" in str(members.get("type")).casefold() and isinstance(data, Mapping):
            key = self._shelf.redaction_key()
            members["data"] = {
                name: redact(str(value), key) if name in _SECRET_MEMBERS and value else value
                for name, value in data.items()
            }
        return members

    def _policy_evaluation(self, row: Row) -> Row | None:
        """Reads the policy evaluation of a scan; None if we may not read it."""
        if not self._settings.policies:
            return {}
        return self._papers.evaluation(str(row.get("projectId")), str(row.get("id")))


_PAPER_TITLES = {
    "report.pdf": "Rapport",
    "results.json": "Funn",
    "results.sarif": "Funn som SARIF",
    "scan.json": "Opplysninger om skanningen",
    "sbom.cdx.json": "Komponentliste",
    "policy.json": "Vurdering etter regler",
    "scan.txt": "Skanningen i klartekst",
}


def _with_title(document: GeneratedDocument, fields: Mapping[str, object]) -> GeneratedDocument:
    """Gives a document of a scan its title and date."""
    title = f"{_PAPER_TITLES.get(document.name, document.name)}: {fields['title']}"
    created = fields["created"]
    return replace(document, title=title, created=str(created) if created else None)


def scan_origin(row: Row) -> ScanOrigin:
    """Builds the origin of a scan for SARIF."""
    is_complete = str(row.get("status")).casefold() == "completed"
    commit, branch = str(row.get("commitId") or ""), str(row.get("branch") or "")
    return ScanOrigin(str(row.get("id")), is_complete, _repository(row), branch, commit)


def without_volatile(summary: Row) -> Row:
    """Keeps only the id and the counters of a summary."""
    return {name: value for name, value in summary.items() if name == "scanId" or name.endswith("Counters")}


def _missing_findings(scanners: Sequence[str], findings: Sequence[Finding], evaluation: Row | None) -> list[str]:
    """Names what exists but cannot be fetched: findings in containers, for instance, have an interface of their own."""
    has_containers = any(str(finding.get("type")) == "containers" for finding in findings)
    names = {"containers"} if "containers" in scanners and not has_containers else set()
    names |= {"policies"} if evaluation is None else set()
    return sorted(names | {f"decisions:{finding['type']}" for finding in findings if _is_unattributed(finding)})


def _is_unattributed(finding: Finding) -> bool:
    """True for a finding with a decision whose author cannot be read."""
    return subject_of("", finding) is None and is_decided(finding)


def _join_parts(*parts: object) -> str:
    return "; ".join(str(part) for part in parts if part)


def _count_severities(findings: Sequence[Finding]) -> dict[str, int]:
    return dict(sorted(Counter(str(finding.get("severity")) for finding in findings).items()))


def _join_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name}: {count}" for name, count in counts.items())


def _repository(row: Row) -> str:
    """Returns the address of the scanned repository, unless it holds a name and password."""
    metadata = row.get("metadata")
    handler = metadata.get("Handler") if isinstance(metadata, Mapping) else None
    git = handler.get("GitHandler") if isinstance(handler, Mapping) else None
    url = str(git.get("repoUrl") or "") if isinstance(git, Mapping) else ""
    return url if url.startswith("https://") and "@" not in url else ""


def _has_packages(summary: Row) -> bool:
    counters = summary.get("scaPackagesCounters")
    return isinstance(counters, Mapping) and any(isinstance(count, int) and count > 0 for count in counters.values())
