"""Reports and bills of materials: ordered, waited for, and kept a while so that each is made once.

The service makes them anew with each order, and no two are alike. What was made of the same findings is given again
from what is kept with the connection, so that a scan that is read twice does not become two versions. Without what is
kept a report is made anew, and becomes one version more.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from noarkit.connectors.appsec.calls import Calls
from noarkit.connectors.canonical import parse
from noarkit.connectors.pace import Clock
from noarkit.connectors.wire import Request
from noarkit.errors import ItemUnreadable, ServiceRefused

RETENTION_S = 40 * 86_400.0
_SECTIONS = ("scan-information", "results-overview", "scan-results", "categories", "vulnerability-details")
_BLOCK = 1 << 18
_NO_RESULTS = "no results"
_MOST_REFUSALS = 24
_NOT_YET = frozenset({404})
_EVALUATING_STATES = frozenset({"evaluating", "pending", "running"})
_BOM = b"\xef\xbb\xbf"


class Shelf:
    """What a connection keeps of its own: papers, scans that had not ended, and the key that redacts. Ours alone."""

    def __init__(self, path: Path, now_s: Callable[[], float]) -> None:
        self._path = path
        self._now_s = now_s
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
        with self._open() as db:
            db.execute("CREATE TABLE IF NOT EXISTS paper (name TEXT PRIMARY KEY, made REAL, bytes BLOB)")
            db.execute("CREATE TABLE IF NOT EXISTS waiting (scan TEXT PRIMARY KEY, seen REAL)")
            db.execute("CREATE TABLE IF NOT EXISTS redaction (key BLOB)")
            db.execute("CREATE TABLE IF NOT EXISTS decided (finding TEXT PRIMARY KEY, seen REAL)")
            db.execute("DELETE FROM paper WHERE made < ?", (now_s() - RETENTION_S,))

    def paper(self, name: str, make: Callable[[], bytes]) -> bytes:
        """The bytes kept under a name, made now where there are none."""
        with self._open() as db:
            row = db.execute("SELECT bytes FROM paper WHERE name = ?", (name,)).fetchone()
        if row is not None:
            return bytes(row[0])
        data = make()
        with self._open() as db:
            db.execute("INSERT OR IGNORE INTO paper VALUES (?, ?, ?)", (name, self._now_s(), data))
            return bytes(db.execute("SELECT bytes FROM paper WHERE name = ?", (name,)).fetchone()[0])

    def redaction_key(self) -> bytes:
        """What short secrets are hidden with; made once."""
        with self._open() as db:
            row = db.execute("SELECT key FROM redaction").fetchone()
            if row is None:
                row = (secrets.token_bytes(32),)
                db.execute("INSERT INTO redaction VALUES (?)", row)
        return bytes(row[0])

    def wait_for(self, scan: str) -> None:
        """A scan that has not ended: it is asked for again by each run, however long ago it began."""
        with self._open() as db:
            db.execute("INSERT OR IGNORE INTO waiting VALUES (?, ?)", (scan, self._now_s()))

    def waiting_scans(self, for_s: float) -> list[str]:
        """Scans that had not ended when they were met first. They stay known after their end, for another archive may
        not have them yet, until the service itself forgets them."""
        with self._open() as db:
            db.execute("DELETE FROM waiting WHERE seen < ?", (self._now_s() - for_s,))
            return [str(scan) for (scan,) in db.execute("SELECT scan FROM waiting ORDER BY scan")]

    def note_decided(self, *findings: str) -> None:
        """Findings that were decided about: they are asked about again though somebody takes the decision back."""
        with self._open() as db:
            rows = [(finding, self._now_s()) for finding in findings]
            db.executemany("INSERT OR IGNORE INTO decided VALUES (?, ?)", rows)

    def decided_findings(self) -> set[str]:
        """The findings that were ever decided about."""
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
    """Orders what the service makes. It is asked each `poll_s` whether that is done, for `most_s` at most."""

    def __init__(self, calls: Calls, clock: Clock, poll_s: float, most_s: float) -> None:
        self._calls = calls
        self._clock = clock
        self._poll_s = poll_s
        self._most_s = most_s

    def report(self, scan: str) -> bytes:
        """The report of a scan as PDF. Raises `ItemUnreadable` where the service fails to make it in time."""
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
        """How a scan stands by the policies, once that is found out; empty where it has none, None where we may
        not know. Raises `ItemUnreadable` where it takes too long."""
        started_s = self._clock.now_s()
        while self._clock.now_s() - started_s <= self._most_s:
            evaluation = self._calls.evaluation(project, scan)
            if evaluation is None or str(evaluation.get("status")).casefold() not in _EVALUATING_STATES:
                return evaluation
            self._clock.sleep_s(self._poll_s)
        raise ItemUnreadable(key=f"policies of {scan}", why="job-too-long")

    def materials(self, scan: str) -> bytes | None:
        """The bill of materials of a scan; None where there is nothing in it. Raises `ItemUnreadable`."""
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
        """The export's id. Just after a scan the service may refuse it for a while."""
        body = {"ScanID": scan, "FileFormat": "CycloneDxJson", "ExportParameters": {}}
        for attempt in range(_MOST_REFUSALS):
            try:
                return str(self._calls.write("POST", "/api/sca/export/requests", body, repeatable=True)["exportId"])
            except ServiceRefused as fault:
                if _NO_RESULTS in str(fault.data.get("why")).casefold():
                    return None
                if fault.data.get("status") != 400 or attempt == _MOST_REFUSALS - 1:
                    raise
                self._clock.sleep_s(self._poll_s)
        raise AssertionError("unreachable")

    def _poll_job(self, path: str, params: tuple[tuple[str, str], ...], key: str) -> Iterator[Mapping[str, object]]:
        """What the service says of a job, again and again. Ends when it took too long."""
        started_s = self._clock.now_s()
        while self._clock.now_s() - started_s <= self._most_s:
            answer = self._calls.ask("GET", path, params, accepts=_NOT_YET)
            yield {} if answer.status in _NOT_YET else answer.members()
            self._clock.sleep_s(self._poll_s)
        raise ItemUnreadable(key=key, why="job-too-long")

    def _bytes(self, path: str) -> bytes:
        client = self._calls.client
        with client.download(Request("GET", client.url(path), headers={"Accept": "*/*"})) as reply:
            return b"".join(reply.iter_bytes(_BLOCK))
