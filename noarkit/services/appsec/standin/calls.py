"""The REST calls of the service: projects, applications, scans, findings, summaries, reports, exports, uploads,
webhooks."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from starlette.responses import JSONResponse, Response

from noarkit.services.appsec.standin.call_specs import DOORS
from noarkit.services.appsec.standin.data import Record, Store, page_of, sbom, stamp
from noarkit.services.standins.call import Call, read_number
from noarkit.services.standins.papers import pdf
from noarkit.services.standins.published_calls import UnpublishedCall

_LIST_MEMBERS = {"projects": "projects", "applications": "applications"}
_QUEUE_FULL = 142
_END_EVENTS = {"completed": "scan_completed_successfully", "failed": "scan_failed", "partial": "scan_partial"}
_MAX_LOCKED = 100
_PREDICATES_A_PAGE = 100
# the calls whose errors have another format
_PACKAGE = ("packageManager", "packageName", "packageVersion", "vulnerabilityId")
_OWN_WORDS = re.compile(r"/api/(results|scan-summary|sast-|kics-|policy_|reports|sca/)")
_RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


class Refusal(Exception):
    """An error answer of the service."""

    def __init__(self, status: int, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code


@dataclass(slots=True)
class FaultRates:
    """How often the service reports a full queue, a total of one more than it lists, or a failed report."""

    full: int = 0
    short: int = 0
    failing_jobs: int = 0


class Calls:
    """Answers authenticated calls."""

    def __init__(
        self,
        store: Store,
        options: Mapping[str, str],
        sign_url: Callable[[str, str], str],
        notify: Callable[[str, Mapping[str, object]], None],
    ) -> None:
        self._store = store
        self._options = options
        self._sign_url = sign_url
        self._notify = notify
        self.moods = FaultRates()
        self._jobs: dict[str, Record] = {}
        self._parts: dict[str, list[str]] = {}
        self._locked: set[str] = set()
        self.uploads: dict[str, bytes] = {}
        self._routes: tuple[tuple[str, re.Pattern[str], Callable[..., Response]], ...] = tuple(
            (method, re.compile(pattern), handler)
            for method, pattern, handler in (
                ("GET", r"/api/(projects|scans)/tags", self._tags),
                ("GET", r"/api/projects/last-scan", self._last_scan),
                ("GET", r"/api/projects/branches", self._branches),
                ("GET", r"/api/(projects|applications)", self._list),
                ("POST", r"/api/(projects|applications)", self._make_object),
                ("*", r"/api/(projects|applications|scans)/([^/]+)", self._single_object),
                ("POST", r"/api/applications/([^/]+)/projects", self._join),
                ("GET", r"/api/scans", self._scans),
                ("POST", r"/api/scans", self._start),
                ("GET", r"/api/results", self._results),
                ("GET", r"/api/scan-summary", self._summary),
                ("GET", r"/api/(sast|kics)-results-predicates/([^/]+)", self._predicates),
                ("GET", r"/api/micro-engines/read/predicates/([^/]+)", self._whole_history),
                ("POST", r"/api/sca/management-of-risk/.+/entity-profile/search", self._about_package),
                ("GET", r"/api/policy_management_service_uri/evaluation", self._evaluation),
                ("POST", r"/api/reports/v2", self._report),
                ("GET", r"/api/reports/([^/]+)", self._job),
                ("GET", r"/api/reports/([^/]+)/download", self._paper),
                ("POST", r"/api/sca/export/requests", self._export),
                ("GET", r"/api/sca/export/requests", self._export_file),
                ("GET", r"/api/sca/export/requests/([^/]+)/download", self._paper),
                ("POST", r"/api/uploads", self._upload),
                ("POST", r"/api/uploads/start-multipart-upload", self._begin_parts),
                ("POST", r"/api/uploads/multipart-presigned", self._upload_part),
                ("POST", r"/api/uploads/complete-multipart-upload", self._end_parts),
                ("POST", r"/api/uploads/abort-multipart-upload", self._abort_parts),
                ("GET", r"/api/webhooks/tenant", self._hooks),
                ("POST", r"/api/webhooks/tenant", self._make_hook),
                ("*", r"/api/webhooks/([^/]+)", self._hook),
                ("GET", r"/api/audit-events/?", self._audit),
                ("POST", r"/api/data-retention/scans/(lock|unlock)", self._lock),
            )
        )

    def answer(self, call: Call) -> Response:
        """Answers a call. Raises `Refusal`, and `UnreadableCall` for one that does not match the published
        interface."""
        try:
            DOORS.check(call)
        except UnpublishedCall as error:
            raise Refusal(error.status, f"no such call: {call.method} {call.path}") from error
        for scan in self._store.advance_scans():
            self.notify_end(scan)
        for method, pattern, handler in self._routes:
            match = pattern.fullmatch(call.path)
            if match is not None and method in ("*", call.method):
                return handler(call, *match.groups())
        raise Refusal(404, f"no such path: {call.path}")

    def notify_end(self, scan: Record) -> None:
        """Tells the webhooks that a scan ended."""
        payload = {"scanId": scan["id"], "projectId": scan["projectId"], "statusInfo": scan["statusDetails"]}
        event = _END_EVENTS.get(str(scan["status"]).casefold(), "scan_failed")
        self._notify(event, {**payload, "branch": scan["branch"]})

    def paper(self, paper_id: str) -> bytes | None:
        """Returns the bytes that a job made."""
        job = self._jobs.get(paper_id)
        return None if job is None else job["data"]

    def _holds_upload(self, url: str) -> bool:
        """True if something was uploaded to an address that we gave out; parts are named by the address of the
        first."""
        return urlsplit(url).path.removeprefix("/store/").removesuffix(".1") in self.uploads

    def _list(self, call: Call, table: str) -> Response:
        with self._store.lock:
            records = list(self._store.tables[table].values())
        name = call.text("name")
        exact_names = call.queries.get("names", [])
        matching = [
            record
            for record in records
            if name in record["name"] and (not exact_names or record["name"] in exact_names)
        ]
        page = page_of(matching, call.number("offset", 0), call.number("limit", 20))
        return _json({"totalCount": len(records), "filteredTotalCount": len(matching), table: page})

    def _make_object(self, call: Call, table: str) -> Response:
        values = call.members()
        name = values.get("name")
        if not name:
            raise Refusal(400, "name is required")
        with self._store.lock:
            if any(record["name"] == name for record in self._store.tables[table].values()):
                raise Refusal(409, "name is taken")
            defaults: Record = {"applicationIds": []} if table == "projects" else {}
            record_made = self._store.add(table, {"criticality": 3, "tags": {}, **defaults, **values})
        if table == "projects":
            self._notify("project_created", {"ID": record_made["id"]})
        return _json(record_made, 201)

    def _single_object(self, call: Call, table: str, object_id: str) -> Response:
        with self._store.lock:
            record = self._store.tables[table].get(object_id)
            is_hidden = table == "scans" and record is not None and record not in self._store.scans()
            if record is None or is_hidden:
                raise Refusal(404, f"no such {table}: {object_id}")
            if call.method == "DELETE":
                del self._store.tables[table][object_id]
                return Response(status_code=204)
            if call.method == "PATCH" and table == "scans":
                if call.members().get("status") != "Canceled":
                    raise Refusal(400, "a scan can only be canceled")
                self._store.finish(object_id, "Canceled")
                return Response(status_code=204)
            if call.method in ("PUT", "PATCH"):
                if table == "scans":
                    raise Refusal(405, "a scan is not replaced")
                if call.method == "PUT" and not call.members().get("name"):
                    raise Refusal(400, "name is required")
                record |= {**call.members(), "updatedAt": stamp(self._store.clock())}
                return Response(status_code=204)
            return _json(record)

    def _tags(self, call: Call, table: str) -> Response:
        with self._store.lock:
            rows = self._store.scans() if table == "scans" else [*self._store.tables["projects"].values()]
        values_by_tag: dict[str, list[str]] = {}
        for row in rows:
            for name, value in (row.get("tags") or {}).items():
                values_by_tag.setdefault(name, [])
                values_by_tag[name] += [value] if value not in values_by_tag[name] else []
        return _json(values_by_tag)

    def _last_scan(self, call: Call) -> Response:
        project_ids = [project_id for text in call.queries.get("project-ids", []) for project_id in text.split(",")]
        scans_by_project: dict[str, Record] = {}
        for scan in self._store.scans():
            project = str(scan["projectId"])
            newer = project not in scans_by_project or scan["createdAt"] > scans_by_project[project]["createdAt"]
            if (not project_ids or project in project_ids) and newer:
                scans_by_project[project] = scan
        return _json(scans_by_project)

    def _branches(self, call: Call) -> Response:
        project = call.text("project-id")
        branches = {
            str(entry["branch"]) for entry in self._store.scans() if not project or entry["projectId"] == project
        }
        part = call.text("branch-name")
        page = page_of(
            sorted(entry for entry in branches if part in entry), call.number("offset", 0), call.number("limit", 20)
        )
        return JSONResponse(page)

    def _join(self, call: Call, application_id: str) -> Response:
        application = self._store.tables["applications"].get(application_id)
        if application is None:
            raise Refusal(404, "no such application")
        application["projectIds"] = [*application["projectIds"], *call.members().get("projectIds", [])]
        return _json(application, 201)

    def _scans(self, call: Call) -> Response:
        scans = self._store.scans()
        begin, end = call.text("from-date"), call.text("to-date")
        project, statuses = call.text("project-id"), call.text("statuses").split(",")
        matching = [
            record
            for record in scans
            if (not begin or record["createdAt"] >= begin)
            and (not end or record["createdAt"] <= end)
            and (not project or record["projectId"] == project)
            and (statuses == [""] or record["status"] in statuses)
        ]
        page = page_of(matching, call.number("offset", 0), call.number("limit", 20))
        return _json({"totalCount": len(scans), "filteredTotalCount": len(matching), "scans": page})

    def _start(self, call: Call) -> Response:
        order = call.members()
        project = str((order.get("project") or {}).get("id") or "")
        if order.get("type") not in ("upload", "git") or project not in self._store.tables["projects"]:
            raise Refusal(400, "type and project are required")
        if self.moods.full > 0:
            self.moods.full -= 1
            raise Refusal(400, "Failed to enqueue scan. Max Queued reached", _QUEUE_FULL)
        handler = order.get("handler") or {}
        if order["type"] == "upload" and not self._holds_upload(str(handler.get("uploadUrl") or "")):
            raise Refusal(400, "nothing was uploaded")
        values = {"branch": handler.get("branch", "main"), "tags": order.get("tags")}
        return _json(self._store.order_scan(project, values), 201)

    def _results(self, call: Call) -> Response:
        scan = call.text("scan-id")
        if not scan:
            raise Refusal(400, "scan-id is required")
        results = self._store.results(scan)
        if self._options.get("container-findings") != "listed":
            results = [result for result in results if result["type"] != "containers"]
        most = int(self._options.get("most-results", "10000"))
        limit = min(call.number("limit", 20), most)
        by_page = self._options.get("offset", "page") == "page"
        page = page_of(results, call.number("offset", 0), limit, by_page=by_page)
        total = len(results) + (1 if self.moods.short > 0 else 0)
        self.moods.short = max(0, self.moods.short - 1)
        return _json({"results": page or None, "totalCount": total})

    def _summary(self, call: Call) -> Response:
        summaries = []
        for scan in call.text("scan-ids").split(","):
            results = self._store.results(scan)
            counters: Record = {"tenantId": self._store.tenant, "scanId": scan}
            for name, kind in (("sastCounters", "sast"), ("kicsCounters", "kics"), ("scaCounters", "sca")):
                counters[name] = {"totalCounter": sum(result["type"] == kind for result in results)}
            counters["scaPackagesCounters"] = {"totalCounter": sum(result["type"] == "sca" for result in results)}
            counters["containersCounters"] = {"totalCounter": sum(result["type"] == "containers" for result in results)}
            summaries.append(counters)
        return _json({"scansSummaries": summaries, "totalCount": len(summaries)})

    def _predicates(self, call: Call, engine: str, similarity: str) -> Response:
        history = self._store.trail.predicates(call.text("project-ids"), similarity)
        offset, limit = call.number("offset", 0), call.number("limit", _PREDICATES_A_PAGE)
        for project_history in history["predicateHistoryPerProject"]:
            project_history["predicates"] = page_of(
                project_history["predicates"], offset, min(limit, _PREDICATES_A_PAGE)
            )
        return _json(history)

    def _whole_history(self, call: Call, similarity: str) -> Response:
        return _json(self._store.trail.predicates(call.text("project-ids"), similarity))

    def _about_package(self, call: Call) -> Response:
        body = call.members()
        project, weakness = str(body.get("projectId")), str(body.get("vulnerabilityId"))
        history = self._store.trail.about_package(project, weakness, str(body.get("packageName")))
        if history is None:
            raise Refusal(404, "no profile")
        context = {name[0].upper() + name[1:]: body.get(name) for name in _PACKAGE}
        return _json({**history, "context": context, "entityType": "PackageVulnerability", "enabled": True})

    def _evaluation(self, call: Call) -> Response:
        scan = call.text("scanId")
        if self._options.get("policies") == "no":
            raise Refusal(401, "not for this role")
        if scan not in self._store.tables["scans"]:
            raise Refusal(404, "nothing was evaluated")
        return _json(self._store.trail.evaluation(scan))

    def _report(self, call: Call) -> Response:
        entities = call.members().get("entities") or [{}]
        scan = str((entities[0].get("ids") or [""])[0])
        if scan not in self._store.tables["scans"]:
            raise Refusal(400, "no such scan")
        job = self._make_job(pdf(f"Skanning {scan} {self._store.clock().isoformat()}"))
        return _json({"reportId": job}, 202)

    def _job(self, call: Call, job_id: str) -> Response:
        job = self._find_job(job_id)
        if self.moods.failing_jobs > 0:
            self.moods.failing_jobs -= 1
            return _json({"reportId": job_id, "status": "failed"})
        if not self._is_done(job):
            return _json({"reportId": job_id, "status": "started"})
        return _json({"reportId": job_id, "status": "completed", "url": self._sign_url("paper", job_id)})

    def _export(self, call: Call) -> Response:
        scan = str(call.members().get("ScanID") or "")
        if not any(result["type"] == "sca" for result in self._store.results(scan)):
            raise Refusal(400, "No results were found")
        return _json({"exportId": self._make_job(sbom(self._store, scan, stamp(self._store.clock())))}, 202)

    def _export_file(self, call: Call) -> Response:
        export_id = call.text("exportId")
        job = self._find_job(export_id)
        if not self._is_done(job):
            if job["asked"] == 1:
                raise Refusal(404, "not known yet")
            return _json({"exportId": export_id, "exportStatus": "Exporting"})
        return _json(
            {"exportId": export_id, "exportStatus": "Completed", "fileUrl": self._sign_url("paper", export_id)}
        )

    def _paper(self, call: Call, paper_id: str) -> Response:
        return Response(self._find_job(paper_id)["data"], media_type="application/octet-stream")

    def _upload(self, call: Call) -> Response:
        return _json({"url": self._sign_url("store", secrets.token_hex(8))})

    def _begin_parts(self, call: Call) -> Response:
        if not read_number("fileSize", call.members().get("fileSize"), 0):
            raise Refusal(400, "fileSize is required")
        name = secrets.token_hex(8)
        self._parts[name] = []
        return _json({"objectName": name, "UploadID": f"u-{name}"})

    def _upload_part(self, call: Call) -> Response:
        body = call.members()
        name = str(body.get("objectName"))
        if name not in self._parts:
            raise Refusal(404, "no such upload")
        part_id = f"{name}.{read_number('partNumber', body.get('partNumber'), 0, least=1)}"
        self._parts[name].append(part_id)
        return _json({"presignedURL": self._sign_url("store", part_id)})

    def _end_parts(self, call: Call) -> Response:
        body = call.members()
        name = str(body.get("objectName"))
        numbers = sorted(
            read_number("partNumber", part.get("partNumber"), 0, least=1) for part in body.get("partList", [])
        )
        part_ids = [f"{name}.{number}" for number in numbers]
        if not part_ids or any(part_id not in self.uploads for part_id in part_ids):
            raise Refusal(400, "parts are missing")
        self.uploads[name] = b"".join(self.uploads.pop(part_id) for part_id in part_ids)
        return Response(status_code=204)

    def _abort_parts(self, call: Call) -> Response:
        name = str(call.members().get("objectName"))
        for part_id in self._parts.pop(name, []):
            self.uploads.pop(part_id, None)
        return Response(status_code=204)

    def _hooks(self, call: Call) -> Response:
        hooks = [_describe_hook(hook) for hook in self._store.tables["webhooks"].values()]
        page = page_of(hooks, call.number("offset", 0), call.number("limit", 10))
        return _json({"totalCount": len(hooks), "webhooks": page})

    def _make_hook(self, call: Call) -> Response:
        body = call.members()
        if not (body.get("config") or {}).get("url") or not body.get("enabledEvents"):
            raise Refusal(400, "config.url and enabledEvents are required")
        return _json(_describe_hook(self._store.add("webhooks", {"active": True, **body})), 201)

    def _hook(self, call: Call, hook_id: str) -> Response:
        hook = self._store.tables["webhooks"].get(hook_id)
        if hook is None:
            raise Refusal(404, "no such webhook")
        if call.method == "DELETE":
            del self._store.tables["webhooks"][hook_id]
            return Response(status_code=204)
        if call.method == "PATCH":
            hook |= call.members()
            return Response(status_code=204)
        return _json(_describe_hook(hook))

    def _audit(self, call: Call) -> Response:
        if self._options.get("audit") == "no":
            raise Refusal(403, "not for this role")
        begin = _moment(call.text("startDate", "0001-01-01T00:00:00Z"))
        events = self._store.trail.events(begin, _moment(call.text("endDate", "9999-01-01T00:00:00Z")))
        page = page_of(events, call.number("offset", 0), min(1000, call.number("limit", 100)))
        return _json({"filteredTotalCount": len(events), "_links": {}, "events": page})

    def _lock(self, call: Call, verb: str) -> Response:
        ids = [str(scan_id) for scan_id in call.members().get("scanIds", [])]
        if not 1 <= len(ids) <= _MAX_LOCKED:
            raise Refusal(400, "1 to 100 scanIds")
        self._locked = self._locked | set(ids) if verb == "lock" else self._locked - set(ids)
        return Response(status_code=204)

    def _make_job(self, data: bytes) -> str:
        job_id = secrets.token_hex(8)
        self._jobs[job_id] = {"data": data, "asked": 0}
        return job_id

    def _find_job(self, job_id: str) -> Record:
        if job_id not in self._jobs:
            raise Refusal(404, "no such job")
        return self._jobs[job_id]

    def _is_done(self, job: dict[str, Any]) -> bool:
        job["asked"] += 1
        return int(job["asked"]) > int(self._options.get("job-polls", "2"))


def refusal_response(refusal: Refusal, echo: str = "", path: str = "") -> Response:
    """Builds the error answer of a call, in the service's format; it may echo what was sent."""
    body: Record = {"message": f"{refusal.message}{echo}", "code": refusal.code}
    return _json({**body, **({"data": None} if _OWN_WORDS.match(path) else {"type": "ERROR"})}, refusal.status)


def _moment(text: str) -> datetime:
    """Parses an RFC 3339 timestamp. Raises `Refusal` for a plain date and anything else."""
    if not _RFC3339.fullmatch(text):
        raise Refusal(400, f"no date-time: {text}")
    return datetime.fromisoformat(text)


def _describe_hook(hook: Record) -> Record:
    config = {name: value for name, value in (hook.get("config") or {}).items() if name != "secret"}
    return {**hook, "config": config}


def _json(value: Mapping[str, Any], status: int = 200) -> Response:
    return JSONResponse(value, status)
