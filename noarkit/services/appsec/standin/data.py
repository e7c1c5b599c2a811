"""The data of the service: projects, applications, scans in every state, and findings of each kind of scanner."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from noarkit.services.appsec.standin.trail import Trail
from noarkit.services.standins.fake_data import SeededRandom
from noarkit.services.standins.paging import cut_page

Record = dict[str, Any]
T = TypeVar("T")
KINDS = ("sast", "sca", "kics", "sscs-secret-detection", "containers")
HOSTILE = ("</script><script>alert(1)</script>", "a\u2028b\u0000\u202ec", "=cmd|'/c calc'!A1", "Ærlig 𝔘nicode 😀")
_SPAN_DAYS = 40
_RESULTS_A_SCAN = 250
_SEVERITIES = ("CRITICAL", "HIGH", "MEDIUM", "LOW", "INFO")
_LONG = 1_234_567_890_123_456_789


def utc_now() -> datetime:
    """The clock of this machine."""
    return datetime.now(UTC)


class Store:
    """The data of one tenant. The same seed gives the same findings; scans lie in the days before the start.

    All of it lives by `clock`. A scan that was ordered waits for `queue-s` seconds, and then runs for `scan-s`.
    """

    def __init__(
        self, records: int, seed: int, options: Mapping[str, str], clock: Callable[[], datetime] = utc_now
    ) -> None:
        self.lock = threading.RLock()
        self.seed = seed
        self.clock = clock
        self.tenant = options.get("tenant", "tenant-one")
        self.begun = clock().replace(microsecond=0)
        self.retention = timedelta(days=float(options.get("retention-days", "90")))
        self._queue_time = timedelta(seconds=float(options.get("queue-s", "1")))
        self._scan_time = timedelta(seconds=float(options.get("scan-s", "2")))
        self._ordered_at: dict[str, datetime] = {}
        count = int(options.get("scans") or max(6, records // _RESULTS_A_SCAN))
        self._results_each = max(1, records // count)
        self.tables: dict[str, dict[str, Record]] = {
            name: {} for name in ("projects", "applications", "scans", "webhooks")
        }
        self.trail = Trail(seed, self.begun, options, clock)
        self.made_results: dict[str, int] = {}
        self._number = 0
        for place in range(max(2, count // 3)):
            self._project(place)
        self._application()
        for place in range(count):
            self._scan(place, count)

    def add(self, table: str, values: Mapping[str, Any]) -> Record:
        """Adds a record to a table."""
        with self.lock:
            self._number += 1
            record = {"createdAt": stamp(self.clock()), **values}
            record.setdefault("id", SeededRandom(self.seed, table, "new", self._number).uuid("id"))
            record["updatedAt"] = record["createdAt"]
            self.tables[table][str(record["id"])] = record
            return record

    def scans(self) -> list[Record]:
        """Returns the scans within the retention time, newest first."""
        oldest = stamp(self.clock() - self.retention)
        with self.lock:
            scans = [scan for scan in self.tables["scans"].values() if scan["createdAt"] >= oldest]
        return sorted(scans, key=lambda scan: str(scan["createdAt"]), reverse=True)

    def results(self, scan: str) -> list[Record]:
        """Returns the findings of a scan, in a fixed shuffled order."""
        scan_record = self.tables["scans"].get(scan)
        if scan_record is None or scan_record["status"] in ("Queued", "Running", "Failed", "Canceled"):
            return []
        count = self.made_results.get(scan, self._results_each)
        return [self._result(str(scan_record["projectId"]), scan, place) for place in range(count)]

    def finish(self, scan: str, status: str = "Completed") -> Record:
        """Ends a scan."""
        with self.lock:
            self._ordered_at.pop(scan, None)
            return self._set_status(scan, status)

    def order_scan(self, project: str, values: Mapping[str, Any]) -> Record:
        """Adds a scan that waits, runs and ends by the clock."""
        with self.lock:
            record = self.new_scan(project, values)
            self._ordered_at[str(record["id"])] = self.clock()
            return record

    def advance_scans(self) -> list[Record]:
        """Lets the ordered scans come as far as the clock is, and returns those that ended."""
        now, ended = self.clock(), []
        with self.lock:
            for scan, ordered_at in list(self._ordered_at.items()):
                if scan not in self.tables["scans"]:
                    del self._ordered_at[scan]
                elif now >= ordered_at + self._queue_time + self._scan_time:
                    ended.append(self.finish(scan))
                elif now >= ordered_at + self._queue_time and self.tables["scans"][scan]["status"] == "Queued":
                    self._set_status(scan, "Running")
        return ended

    def _set_status(self, scan: str, status: str) -> Record:
        record = self.tables["scans"][scan]
        record["status"] = status
        record["updatedAt"] = stamp(self.clock())
        for detail in record["statusDetails"]:
            detail["status"] = status
        return record

    def new_scan(self, project: str, values: Mapping[str, Any], status: str = "Queued") -> Record:
        """Adds a scan that stays in its state."""
        project_record = self.tables["projects"][project]
        record = self.add("scans", _scan_of(project_record, {"id": project, **values}, status))
        return record

    def _project(self, place: int) -> None:
        dice = SeededRandom(self.seed, "project", place)
        self.add(
            "projects",
            {
                "id": dice.uuid("id"),
                "name": f"{dice.choose('name', ('portal', 'arkiv', 'skjema', 'innsyn'))}-{place}",
                "applicationIds": [],
                "groups": [],
                "repoUrl": f"https://kode.example/{place}.git",
                "mainBranch": "main",
                "tags": {"team": dice.choose("team", ("arkiv", "drift"))},
                "criticality": 1 + dice.number("criticality", 5),
                "createdAt": stamp(datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=place)),
            },
        )

    def _application(self) -> None:
        ids = list(self.tables["projects"])
        self.add("applications", {"name": "Fellesløsninger", "criticality": 3, "rules": [], "projectIds": ids})
        for project in self.tables["projects"].values():
            project["applicationIds"] = list(self.tables["applications"])

    def _scan(self, place: int, count: int) -> None:
        dice = SeededRandom(self.seed, "scan", place)
        projects = list(self.tables["projects"].values())
        status = {1: "Failed", count - 4: "Partial", count - 3: "Partial", count - 1: "Running"}.get(place, "Completed")
        order = {"branch": dice.choose("branch", ("main", "utvikling")), "initiator": "ci"}
        scan = _scan_of(projects[place % len(projects)], order, status)
        created_at = self.begun - timedelta(days=_SPAN_DAYS * (count - 1 - place) / count, minutes=5)
        record = self.add("scans", {**scan, "id": dice.uuid("id"), "createdAt": stamp(created_at)})
        if place == count - 4:
            record["statusDetails"][2]["status"] = "Running"  # some scanners have ended, one has not

    def _result(self, project: str, scan: str, place: int) -> Record:
        kind = KINDS[place % len(KINDS)]
        dice = SeededRandom(self.seed, project, kind, place // len(KINDS) // (2 if kind == "sca" else 1))
        similarity = str(dice.number("similarity", 10**12) - 5 * 10**11)
        if kind == "sca":
            similarity = f"CVE-2024-{10_000 + dice.number('cve', 9_000)}"
        return {
            "type": kind,
            "label": kind,
            "id": similarity,
            "similarityId": similarity,
            "status": dice.choose("status", ("NEW", "RECURRENT", "FIXED")),
            "state": self.trail.state(project, similarity),
            "severity": dice.choose("severity", _SEVERITIES),
            "created": "2026-01-05T08:00:00Z",
            "firstFoundAt": "2026-01-05T08:00:00Z",
            "foundAt": "2026-01-05T08:00:00Z",
            "firstScanId": scan,
            "description": f"{dice.text('description', 1)} {HOSTILE[place % len(HOSTILE)] if place % 7 == 0 else ''}",
            "data": _DATA[kind](dice, place),
            "comments": {"comments": ""},
            "vulnerabilityDetails": {"cweId": 79 if place % 2 else "CWE-89", "cvssScore": 7.5},
        }


def stamp(moment: datetime) -> str:
    """Formats a timestamp as the service does."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def page_of(rows: list[T], offset: int, limit: int, *, by_page: bool = False) -> list[T]:
    """Returns a page of a list: `offset` counts rows, or pages of `limit`."""
    begin = offset * limit if by_page else offset
    return list(cut_page(rows, begin, limit).rows)


def canary(text: str) -> str:
    """Returns a secret planted in a finding or a scan, to be found nowhere else."""
    return f"canary-{text}-0451"


def _scan_of(project: Record, values: Mapping[str, Any], status: str) -> Record:
    engines = ["sast", "sca", "kics", "sscs", "containers"]
    details = [{"name": name, "status": status, "details": ""} for name in ("general", *engines)]
    credentials = {"username": "ci", "type": "password", "value": canary("credential")}
    handler = {"GitHandler": {"repoUrl": project.get("repoUrl"), "credentials": credentials}}
    return {
        "status": status,
        "statusDetails": details,
        "branch": values.get("branch", "main"),
        "projectId": project["id"],
        "projectName": project["name"],
        "userAgent": "ci",
        "initiator": values.get("initiator", "ci"),
        "tags": values.get("tags") or {},
        "engines": engines,
        "sourceType": "git",
        "sourceOrigin": "ci",
        "uploadUrl": f"https://store.example/{canary('upload')}",
        "metadata": {"id": project["id"], "type": "git", "Handler": handler, "configs": [], "project": {}},
    }


def _sast(dice: SeededRandom, place: int) -> Record:
    node = {"id": "n", "line": 10 + place, "name": "x", "column": 4, "fileName": f"/src/side{place % 9}.py"}
    return {
        "queryId": _LONG + place if place % 2 == 0 else str(_LONG + place),
        "queryName": "SQL_Injection",
        "group": "Python_High_Risk",
        "resultHash": dice.uuid(f"hash{place}"),
        "languageName": "Python",
        "nodes": [node, {**node, "id": "m", "line": 0}],
    }


def _sca(dice: SeededRandom, place: int) -> Record:
    return {"packageIdentifier": f"Python-pakke{place}-1.{place}", "recommendedVersion": "9.0"}


def _kics(dice: SeededRandom, place: int) -> Record:
    names = {"filename": f"/infra/{place}.tf", "expectedValue": "true", "value": "false", "platform": "Terraform"}
    return {"queryId": dice.uuid("query"), "queryName": "Open bucket", "line": 1 + place, **names}


def _secret(dice: SeededRandom, place: int) -> Record:
    finding = {"ruleId": "generic-key", "ruleName": "Generic key", "fileName": f"/conf/{place}.env", "line": 3}
    return {**finding, "snippet": f"KEY={canary('snippet')}", "validity": "Unknown"}


def _container(dice: SeededRandom, place: int) -> Record:
    return {"packageName": f"lib{place}", "packageVersion": "1.0", "imageName": "app", "imageTag": "1"}


_DATA: Mapping[str, Callable[[SeededRandom, int], Record]] = {
    "sast": _sast,
    "sca": _sca,
    "kics": _kics,
    "sscs-secret-detection": _secret,
    "containers": _container,
}


def sbom(store: Store, scan: str, created_at: str) -> bytes:
    """Builds a bill of materials, with a byte-order mark."""
    parts = [
        {"type": "library", "name": result["data"]["packageIdentifier"], "bom-ref": str(place)}
        for place, result in enumerate(store.results(scan))
        if result["type"] == "sca"
    ]
    bom = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "metadata": {"timestamp": created_at}}
    return b"\xef\xbb\xbf" + json.dumps({**bom, "components": parts}).encode()
