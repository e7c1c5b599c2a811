"""Orders reports and bills of materials, waits for them, and caches them so that each is made once.

The service makes them anew with each order, and no two are alike. A document of the same findings is therefore served
from the cache, so that a scan that is read twice does not become two versions. Without the cache a report is made
again, and becomes another version.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from noarkit.errors import ItemUnreadable, ServiceRefused
from noarkit.safe.descriptors import open_descriptor
from noarkit.services.appsec.calls import Calls
from noarkit.services.appsec.states import FORGOTTEN_AFTER
from noarkit.services.canonical import parse
from noarkit.services.wire import Request

RETENTION_S = FORGOTTEN_AFTER.total_seconds() + 30 * 86_400.0  # a sweep reads every scan that there is still
_SECTIONS = ("scan-information", "results-overview", "scan-results", "categories", "vulnerability-details")
_BLOCK = 1 << 18
_NO_RESULTS = "no results"
_MOST_REFUSALS = 24
_NOT_YET = frozenset({404})
_EVALUATING_STATES = frozenset({"evaluating", "pending", "running"})
_BOM = b"\xef\xbb\xbf"


class DocumentCache:
    """A connection's local cache: documents, scans that had not ended, and the redaction key. Readable by its owner
    alone."""

    def __init__(self, path: Path, now_s: Callable[[], float]) -> None:
        self._path = path
        self._now_s = now_s
        os.close(open_descriptor(path, os.O_CREAT | os.O_RDWR))
        with self._open() as db:
            db.execute("CREATE TABLE IF NOT EXISTS paper (name TEXT PRIMARY KEY, made REAL, bytes BLOB)")
            db.execute("CREATE TABLE IF NOT EXISTS waiting (scan TEXT PRIMARY KEY, seen REAL)")
            db.execute("CREATE TABLE IF NOT EXISTS redaction (key BLOB)")
            db.execute("CREATE TABLE IF NOT EXISTS decided (finding TEXT PRIMARY KEY, seen REAL)")
            db.execute("DELETE FROM paper WHERE made < ?", (now_s() - RETENTION_S,))

    def paper(self, name: str, make: Callable[[], bytes]) -> bytes:
        """Returns the cached bytes of a document, made now if there are none."""
        with self._open() as db:
            row = db.execute("SELECT bytes FROM paper WHERE name = ?", (name,)).fetchone()
        if row is not None:
            return bytes(row[0])
        data = make()
        with self._open() as db:
            db.execute("INSERT OR IGNORE INTO paper VALUES (?, ?, ?)", (name, self._now_s(), data))
            return bytes(db.execute("SELECT bytes FROM paper WHERE name = ?", (name,)).fetchone()[0])

    def redaction_key(self) -> bytes:
        """Returns the key that hides short secrets; made once."""
        with self._open() as db:
            row = db.execute("SELECT key FROM redaction").fetchone()
            if row is None:
                row = (secrets.token_bytes(32),)
                db.execute("INSERT INTO redaction VALUES (?)", row)
        return bytes(row[0])

    def wait_for(self, scan: str) -> None:
        """Remembers a scan that has not ended: every run asks for it again, however long ago it began."""
        with self._open() as db:
            db.execute("INSERT OR IGNORE INTO waiting VALUES (?, ?)", (scan, self._now_s()))

    def waiting_scans(self, for_s: float) -> list[str]:
        """Returns the scans that had not ended when first seen. They stay listed after their end, for another archive
        may lack them, until the service itself forgets them."""
        with self._open() as db:
            db.execute("DELETE FROM waiting WHERE seen < ?", (self._now_s() - for_s,))
            return [str(scan) for (scan,) in db.execute("SELECT scan FROM waiting ORDER BY scan")]

    def note_decided(self, *findings: str) -> None:
        """Remembers findings with decisions: they are asked about again even if the decision is withdrawn."""
        with self._open() as db:
            rows = [(finding, self._now_s()) for finding in findings]
            db.executemany("INSERT OR IGNORE INTO decided VALUES (?, ?)", rows)

    def decided_findings(self) -> set[str]:
        """Returns the findings that ever had a decision."""
        with self._open() as db:
            return {str(finding) for (finding,) in db.execute("SELECT finding FROM decided")}

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        db = sqlite3.connect(self._path, isolation_level=None, timeout=30.0)
        try:
            db.execute("BEGIN IMMEDIATE")
            yield db
            db.execute("COMMIT")
        finally:
            db.close()


class Papers:
    """Orders documents from the service, and polls each job every `poll_s` seconds, for at most `most_s`."""

    def __init__(self, calls: Calls, poll_s: float, most_s: float) -> None:
        self._calls = calls
        self._clock = calls.client.clock
        self._poll_s = poll_s
        self._most_s = most_s

    def report(self, scan: str) -> bytes:
        """Orders and downloads the PDF report of a scan. Raises `ItemUnreadable` if the service fails to make it in
        time."""
        body = {
            "fileFormat": "pdf",
            "reportName": "improved-scan-report",
            "reportFilename": f"scan-{scan}",
            "sections": list(_SECTIONS),
            "entities": [{"entity": "scan", "ids": [scan], "tags": []}],
            "filters": {},  # a list of severities or states would leave out those of the tenant's own
            "reportType": "cli",
        }
        job = str(self._calls.write("POST", "/api/reports/v2", body, repeatable=True).get("reportId"))
        for state in self._poll_job(f"/api/reports/{job}", (("returnUrl", "true"),), f"report of {scan}"):
            status = str(state.get("status")).casefold()
            if status == "completed":
                return self._bytes(f"/api/reports/{job}/download")
            if status == "failed":
                break
        raise ItemUnreadable(key=scan, why="report-failed")

    def evaluation(self, project: str, scan: str) -> Mapping[str, object] | None:
        """Waits for the policy evaluation of a scan; empty if there is none, None if we may not read it. Raises
        `ItemUnreadable` if it takes too long."""
        started_s = self._clock.now_s()
        while self._clock.now_s() - started_s <= self._most_s:
            evaluation = self._calls.evaluation(project, scan)
            if evaluation is None or str(evaluation.get("status")).casefold() not in _EVALUATING_STATES:
                return evaluation
            self._calls.client.pause(self._poll_s, "job")
        raise ItemUnreadable(key=f"policies of {scan}", why="job-too-long")

    def materials(self, scan: str) -> bytes | None:
        """Orders and downloads the bill of materials of a scan; None if it is empty. Raises `ItemUnreadable`."""
        job = self._order_export(scan)
        if job is None:
            return None
        path = "/api/sca/export/requests"
        for state in self._poll_job(path, (("exportId", job), ("returnUrl", "true")), f"export of {scan}"):
            status = str(state.get("exportStatus")).casefold()
            if status == "completed":
                data = self._bytes(f"{path}/{job}/download").removeprefix(_BOM)
                parse(data, f"export of {scan}")
                return data
            if status == "failed":
                break
        raise ItemUnreadable(key=scan, why="export-failed")

    def _order_export(self, scan: str) -> str | None:
        """Orders an export and returns its id. Just after a scan the service may refuse it for a while."""
        body = {"ScanID": scan, "FileFormat": "CycloneDxJson", "ExportParameters": {}}
        for attempt in range(_MOST_REFUSALS):
            try:
                return str(self._calls.write("POST", "/api/sca/export/requests", body, repeatable=True)["exportId"])
            except ServiceRefused as fault:
                if _NO_RESULTS in str(fault.data.get("why")).casefold():
                    return None
                if fault.data.get("status") != 400 or attempt == _MOST_REFUSALS - 1:
                    raise
                self._calls.client.pause(self._poll_s, "job")
        raise AssertionError("unreachable")

    def _poll_job(self, path: str, params: tuple[tuple[str, str], ...], key: str) -> Iterator[Mapping[str, object]]:
        """Polls a job and yields each answer, until the time is up."""
        started_s = self._clock.now_s()
        while self._clock.now_s() - started_s <= self._most_s:
            answer = self._calls.ask("GET", path, params, accepts=_NOT_YET)
            yield {} if answer.status in _NOT_YET else answer.members()
            self._calls.client.pause(self._poll_s, "job")
        raise ItemUnreadable(key=key, why="job-too-long")

    def _bytes(self, path: str) -> bytes:
        client = self._calls.client
        with client.download(Request("GET", client.url(path), headers={"Accept": "*/*"})) as reply:
            return b"".join(reply.iter_bytes(_BLOCK))
