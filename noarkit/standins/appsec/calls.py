"""The calls of the service: projects, applications, scans, findings, summaries, reports, exports, uploads, webhooks."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from starlette.responses import JSONResponse, Response

from noarkit.standins.appsec.data import Record, Store, page_of, sbom, stamp
from noarkit.standins.appsec.doors import DOORS
from noarkit.standins.calling import Call
from noarkit.standins.papers import pdf
from noarkit.standins.published import Unpublished

_LISTED = {"projects": "projects", "applications": "applications"}
_QUEUE_FULL = 142
_MOST_LOCKED = 100
_PREDICATES_A_PAGE = 100
# the calls that write of a refusal otherwise than the rest
_PACKAGE = ("packageManager", "packageName", "packageVersion", "vulnerabilityId")
_OWN_WORDS = re.compile(r"/api/(results|scan-summary|sast-|kics-|policy_|reports|sca/)")
_RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


class Refusal(Exception):
    """What the service says no with."""

    def __init__(self, status: int, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code


@dataclass(slots=True)
class Moods:
    """How often the service will say that its queue is full, tell of one more than it shows, or fail at a report."""

    full: int = 0
    short: int = 0
    failing: int = 0


class Calls:
    """Answers calls that were let in."""

    def __init__(
        self,
        store: Store,
        options: Mapping[str, str],
        signed: Callable[[str, str], str],
        notify: Callable[[str, Mapping[str, object]], None],
    ) -> None:
        self._store = store
        self._options = options
        self._signed = signed
        self._notify = notify
        self.moods = Moods()
        self._jobs: dict[str, Record] = {}
        self._parts: dict[str, list[str]] = {}
        self._locked: set[str] = set()
        self.uploads: dict[str, bytes] = {}
        self._routes: tuple[tuple[str, re.Pattern[str], Callable[..., Response]], ...] = tuple(
            (method, re.compile(pattern), answering)
            for method, pattern, answering in (
                ("GET", r"/api/(projects|scans)/tags", self._tags),
                ("GET", r"/api/projects/last-scan", self._last_scan),
                ("GET", r"/api/projects/branches", self._branches),
                ("GET", r"/api/(projects|applications)", self._list),
                ("POST", r"/api/(projects|applications)", self._make),
                ("*", r"/api/(projects|applications|scans)/([^/]+)", self._one),
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
                ("GET", r"/api/sca/export/requests", self._exported),
                ("GET", r"/api/sca/export/requests/([^/]+)/download", self._paper),
                ("POST", r"/api/uploads", self._upload),
                ("POST", r"/api/uploads/start-multipart-upload", self._begin_parts),
                ("POST", r"/api/uploads/multipart-presigned", self._part),
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
        """The answer. Raises `Refusal`, and `Unreadable` for what is not as it was published."""
        try:
            DOORS.check(call)
        except Unpublished as error:
            raise Refusal(error.status, f"no such call: {call.method} {call.path}") from error
        for method, pattern, answering in self._routes:
            found = pattern.fullmatch(call.path)
            if found is not None and method in ("*", call.method):
                return answering(call, *found.groups())
        raise Refusal(404, f"no such path: {call.path}")

    def paper(self, one: str) -> bytes | None:
        """The bytes that a job made."""
        job = self._jobs.get(one)
        return None if job is None else job["data"]

    def _holds_upload(self, url: str) -> bool:
        """True where something was put at an address that we gave; what came in parts is named by that of the first."""
        return urlsplit(url).path.removeprefix("/store/").removesuffix(".1") in self.uploads

    def _list(self, call: Call, table: str) -> Response:
        with self._store.lock:
            found = list(self._store.tables[table].values())
        name = call.text("name")
        whole = call.queries.get("names", [])
        kept = [one for one in found if name in one["name"] and (not whole or one["name"] in whole)]
        shown = page_of(kept, call.number("offset", 0), call.number("limit", 20))
        return _json({"totalCount": len(found), "filteredTotalCount": len(kept), table: shown})

    def _make(self, call: Call, table: str) -> Response:
        told = call.members()
        name = told.get("name")
        if not name:
            raise Refusal(400, "name is required")
        with self._store.lock:
            if any(one["name"] == name for one in self._store.tables[table].values()):
                raise Refusal(409, "name is taken")
            beside: Record = {"applicationIds": []} if table == "projects" else {}
            made = self._store.put(table, {"criticality": 3, "tags": {}, **beside, **told})
        if table == "projects":
            self._notify("project_created", {"ID": made["id"]})
        return _json(made, 201)

    def _one(self, call: Call, table: str, one: str) -> Response:
        with self._store.lock:
            known = self._store.tables[table].get(one)
            gone = table == "scans" and known is not None and known not in self._store.scans()
            if known is None or gone:
                raise Refusal(404, f"no such {table}: {one}")
            if call.method == "DELETE":
                del self._store.tables[table][one]
                return Response(status_code=204)
            if call.method == "PATCH" and table == "scans":
                if call.members().get("status") != "Canceled":
                    raise Refusal(400, "a scan can only be canceled")
                self._store.finish(one, "Canceled")
                return Response(status_code=204)
            if call.method in ("PUT", "PATCH"):
                if table == "scans":
                    raise Refusal(405, "a scan is not replaced")
                if call.method == "PUT" and not call.members().get("name"):
                    raise Refusal(400, "name is required")
                known |= {**call.members(), "updatedAt": stamp(datetime.now(UTC))}
                return Response(status_code=204)
            return _json(known)

    def _tags(self, call: Call, table: str) -> Response:
        with self._store.lock:
            rows = self._store.scans() if table == "scans" else [*self._store.tables["projects"].values()]
        found: dict[str, list[str]] = {}
        for row in rows:
            for name, value in (row.get("tags") or {}).items():
                found.setdefault(name, [])
                found[name] += [value] if value not in found[name] else []
        return _json(found)

    def _last_scan(self, call: Call) -> Response:
        wanted = [one for told in call.queries.get("project-ids", []) for one in told.split(",")]
        found: dict[str, Record] = {}
        for scan in self._store.scans():
            project = str(scan["projectId"])
            newer = project not in found or scan["createdAt"] > found[project]["createdAt"]
            if (not wanted or project in wanted) and newer:
                found[project] = scan
        return _json(found)

    def _branches(self, call: Call) -> Response:
        project = call.text("project-id")
        found = {str(one["branch"]) for one in self._store.scans() if not project or one["projectId"] == project}
        part = call.text("branch-name")
        shown = page_of(sorted(one for one in found if part in one), call.number("offset", 0), call.number("limit", 20))
        return JSONResponse(shown)

    def _join(self, call: Call, one: str) -> Response:
        application = self._store.tables["applications"].get(one)
        if application is None:
            raise Refusal(404, "no such application")
        application["projectIds"] = [*application["projectIds"], *call.members().get("projectIds", [])]
        return _json(application, 201)

    def _scans(self, call: Call) -> Response:
        found = self._store.scans()
        begin, end = call.text("from-date"), call.text("to-date")
        project, statuses = call.text("project-id"), call.text("statuses").split(",")
        kept = [
            one
            for one in found
            if (not begin or one["createdAt"] >= begin)
            and (not end or one["createdAt"] <= end)
            and (not project or one["projectId"] == project)
            and (statuses == [""] or one["status"] in statuses)
        ]
        shown = page_of(kept, call.number("offset", 0), call.number("limit", 20))
        return _json({"totalCount": len(found), "filteredTotalCount": len(kept), "scans": shown})

    def _start(self, call: Call) -> Response:
        told = call.members()
        project = str((told.get("project") or {}).get("id") or "")
        if told.get("type") not in ("upload", "git") or project not in self._store.tables["projects"]:
            raise Refusal(400, "type and project are required")
        if self.moods.full > 0:
            self.moods.full -= 1
            raise Refusal(400, "Failed to enqueue scan. Max Queued reached", _QUEUE_FULL)
        handler = told.get("handler") or {}
        if told["type"] == "upload" and not self._holds_upload(str(handler.get("uploadUrl") or "")):
            raise Refusal(400, "nothing was uploaded")
        return _json(
            self._store.new_scan(project, {"branch": handler.get("branch", "main"), "tags": told.get("tags")}), 201
        )

    def _results(self, call: Call) -> Response:
        scan = call.text("scan-id")
        if not scan:
            raise Refusal(400, "scan-id is required")
        found = self._store.results(scan)
        if self._options.get("container-findings") != "listed":
            found = [one for one in found if one["type"] != "containers"]
        most = int(self._options.get("most-results", "10000"))
        limit = min(call.number("limit", 20), most)
        by_page = self._options.get("offset", "page") == "page"
        shown = page_of(found, call.number("offset", 0), limit, by_page=by_page)
        total = len(found) + (1 if self.moods.short > 0 else 0)
        self.moods.short = max(0, self.moods.short - 1)
        return _json({"results": shown or None, "totalCount": total})

    def _summary(self, call: Call) -> Response:
        shown = []
        for scan in call.text("scan-ids").split(","):
            found = self._store.results(scan)
            counters: Record = {"tenantId": self._store.tenant, "scanId": scan}
            for name, kind in (("sastCounters", "sast"), ("kicsCounters", "kics"), ("scaCounters", "sca")):
                counters[name] = {"totalCounter": sum(one["type"] == kind for one in found)}
            counters["scaPackagesCounters"] = {"totalCounter": sum(one["type"] == "sca" for one in found)}
            counters["containersCounters"] = {"totalCounter": sum(one["type"] == "containers" for one in found)}
            shown.append(counters)
        return _json({"scansSummaries": shown, "totalCount": len(shown)})

    def _predicates(self, call: Call, engine: str, similarity: str) -> Response:
        told = self._store.trail.predicates(call.text("project-ids"), similarity)
        offset, limit = call.number("offset", 0), call.number("limit", _PREDICATES_A_PAGE)
        for one in told["predicateHistoryPerProject"]:
            one["predicates"] = page_of(one["predicates"], offset, min(limit, _PREDICATES_A_PAGE))
        return _json(told)

    def _whole_history(self, call: Call, similarity: str) -> Response:
        return _json(self._store.trail.predicates(call.text("project-ids"), similarity))

    def _about_package(self, call: Call) -> Response:
        told = call.members()
        project, weakness = str(told.get("projectId")), str(told.get("vulnerabilityId"))
        found = self._store.trail.about_package(project, weakness, str(told.get("packageName")))
        if found is None:
            raise Refusal(404, "no profile")
        context = {name[0].upper() + name[1:]: told.get(name) for name in _PACKAGE}
        return _json({**found, "context": context, "entityType": "PackageVulnerability", "enabled": True})

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
        job = self._made_job(pdf(f"Skanning {scan} {datetime.now(UTC).isoformat()}"))
        return _json({"reportId": job}, 202)

    def _job(self, call: Call, one: str) -> Response:
        job = self._known_job(one)
        if self.moods.failing > 0:
            self.moods.failing -= 1
            return _json({"reportId": one, "status": "failed"})
        if not self._is_done(job):
            return _json({"reportId": one, "status": "started"})
        return _json({"reportId": one, "status": "completed", "url": self._signed("paper", one)})

    def _export(self, call: Call) -> Response:
        scan = str(call.members().get("ScanID") or "")
        if not any(one["type"] == "sca" for one in self._store.results(scan)):
            raise Refusal(400, "No results were found")
        return _json({"exportId": self._made_job(sbom(self._store, scan, stamp(datetime.now(UTC))))}, 202)

    def _exported(self, call: Call) -> Response:
        one = call.text("exportId")
        job = self._known_job(one)
        if not self._is_done(job):
            if job["asked"] == 1:
                raise Refusal(404, "not known yet")
            return _json({"exportId": one, "exportStatus": "Exporting"})
        return _json({"exportId": one, "exportStatus": "Completed", "fileUrl": self._signed("paper", one)})

    def _paper(self, call: Call, one: str) -> Response:
        return Response(self._known_job(one)["data"], media_type="application/octet-stream")

    def _upload(self, call: Call) -> Response:
        return _json({"url": self._signed("store", secrets.token_hex(8))})

    def _begin_parts(self, call: Call) -> Response:
        if not int(call.members().get("fileSize") or 0):
            raise Refusal(400, "fileSize is required")
        name = secrets.token_hex(8)
        self._parts[name] = []
        return _json({"objectName": name, "UploadID": f"u-{name}"})

    def _part(self, call: Call) -> Response:
        told = call.members()
        name = str(told.get("objectName"))
        if name not in self._parts:
            raise Refusal(404, "no such upload")
        one = f"{name}.{int(told['partNumber'])}"
        self._parts[name].append(one)
        return _json({"presignedURL": self._signed("store", one)})

    def _end_parts(self, call: Call) -> Response:
        told = call.members()
        name = str(told.get("objectName"))
        numbers = sorted(int(part["partNumber"]) for part in told.get("partList", []))
        wanted = [f"{name}.{number}" for number in numbers]
        if not wanted or any(one not in self.uploads for one in wanted):
            raise Refusal(400, "parts are missing")
        self.uploads[name] = b"".join(self.uploads.pop(one) for one in wanted)
        return Response(status_code=204)

    def _abort_parts(self, call: Call) -> Response:
        name = str(call.members().get("objectName"))
        for one in self._parts.pop(name, []):
            self.uploads.pop(one, None)
        return Response(status_code=204)

    def _hooks(self, call: Call) -> Response:
        found = [_hook_shown(one) for one in self._store.tables["webhooks"].values()]
        shown = page_of(found, call.number("offset", 0), call.number("limit", 10))
        return _json({"totalCount": len(found), "webhooks": shown})

    def _make_hook(self, call: Call) -> Response:
        told = call.members()
        if not (told.get("config") or {}).get("url") or not told.get("enabledEvents"):
            raise Refusal(400, "config.url and enabledEvents are required")
        return _json(_hook_shown(self._store.put("webhooks", {"active": True, **told})), 201)

    def _hook(self, call: Call, one: str) -> Response:
        known = self._store.tables["webhooks"].get(one)
        if known is None:
            raise Refusal(404, "no such webhook")
        if call.method == "DELETE":
            del self._store.tables["webhooks"][one]
            return Response(status_code=204)
        if call.method == "PATCH":
            known |= call.members()
            return Response(status_code=204)
        return _json(_hook_shown(known))

    def _audit(self, call: Call) -> Response:
        if self._options.get("audit") == "no":
            raise Refusal(403, "not for this role")
        begin = _moment(call.text("startDate", "0001-01-01T00:00:00Z"))
        events = self._store.trail.events(begin, _moment(call.text("endDate", "9999-01-01T00:00:00Z")))
        shown = page_of(events, call.number("offset", 0), min(1000, call.number("limit", 100)))
        return _json({"filteredTotalCount": len(events), "_links": {}, "events": shown})

    def _lock(self, call: Call, verb: str) -> Response:
        ids = [str(one) for one in call.members().get("scanIds", [])]
        if not 1 <= len(ids) <= _MOST_LOCKED:
            raise Refusal(400, "1 to 100 scanIds")
        self._locked = self._locked | set(ids) if verb == "lock" else self._locked - set(ids)
        return Response(status_code=204)

    def _made_job(self, data: bytes) -> str:
        one = secrets.token_hex(8)
        self._jobs[one] = {"data": data, "asked": 0}
        return one

    def _known_job(self, one: str) -> Record:
        if one not in self._jobs:
            raise Refusal(404, "no such job")
        return self._jobs[one]

    def _is_done(self, job: dict[str, Any]) -> bool:
        job["asked"] += 1
        return int(job["asked"]) > int(self._options.get("job-polls", "2"))


def refused(refusal: Refusal, echoed: str = "", path: str = "") -> Response:
    """A refusal as the service writes it, in the way of that call; what was sent may come back in it."""
    told: Record = {"message": f"{refusal.message}{echoed}", "code": refusal.code}
    return _json({**told, **({"data": None} if _OWN_WORDS.match(path) else {"type": "ERROR"})}, refusal.status)


def _moment(told: str) -> datetime:
    """A moment as RFC 3339 writes it. Raises `Refusal` for a plain date and all else."""
    if not _RFC3339.fullmatch(told):
        raise Refusal(400, f"no date-time: {told}")
    return datetime.fromisoformat(told)


def _hook_shown(one: Record) -> Record:
    config = {name: value for name, value in (one.get("config") or {}).items() if name != "secret"}
    return {**one, "config": config}


def _json(value: Mapping[str, Any], status: int = 200) -> Response:
    return JSONResponse(value, status)
