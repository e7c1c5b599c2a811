"""What people did: each decision about a finding as an item, and each day of the audit trail as another.

Decisions are read finding by finding, for findings with a decision in the scans of a window and in the newest scan of
each branch; a finding that once had a decision is asked about again in every scan. A sweep asks all scans there are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta

from noarkit.errors import ServiceDenied, ServiceFault, ServiceRefused, ServiceStrange
from noarkit.services.appsec.calls import Calls
from noarkit.services.appsec.findings import Finding
from noarkit.services.appsec.grouped_rows import GroupedRows
from noarkit.services.appsec.histories import Subject, decisions_about, subject_of
from noarkit.services.appsec.labels import day_of, decision_page, decision_title, describe_event
from noarkit.services.appsec.papers import DocumentCache
from noarkit.services.appsec.states import FORGOTTEN_AFTER, WITH_FINDINGS, Key, has_ended, moment
from noarkit.services.canonical import canonical, fingerprint, without_secrets
from noarkit.services.paging import Row
from noarkit.services.port import FetchFailure, GeneratedDocument, Item, ServiceItem, Window
from noarkit.services.readable import readable_page, title_line

UNDECIDED = frozenset({"", "NONE", "TO_VERIFY"})
AUDIT_KEPT = timedelta(days=365)
UNDATED = "undated"
_TRIES = 5
_JSON = "application/json"
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}(?=T| |$)")
_SCANS, _FINDINGS = "scans", "findings"


def _key_parts(subject: Subject) -> tuple[str, ...]:
    """Returns the key parts of a subject: scanner, project, finding and package."""
    engine, project, *parts = subject.engine, subject.project, subject.similarity, subject.package
    return (engine, project, *(part for part in parts if part))


def is_decided(finding: Finding) -> bool:
    """True for a finding with a state or a comment by somebody."""
    comments = finding.get("comments")
    remarks = comments.get("comments") if isinstance(comments, Mapping) else comments
    return str(finding.get("state") or "").upper() not in UNDECIDED or bool(remarks)


class Decisions:
    """The decision history of findings. Subjects are noted while the scans are read."""

    def __init__(self, calls: Calls, shelf: DocumentCache, key: Key) -> None:
        self._calls = calls
        self._shelf = shelf
        self._key = key
        self._decided = shelf.decided_findings()
        self._subjects = GroupedRows()

    def note(self, scan: Row, findings: Sequence[Finding]) -> None:
        """Notes the findings of a scan that have, or ever had, a decision."""
        self._subjects.add(_SCANS, str(scan.get("id")), "", {})
        project, fresh = str(scan.get("projectId")), []
        for finding in findings:
            subject = subject_of(project, finding)
            if subject is None:
                continue
            parts = [part for part in subject if part]
            name = fingerprint(parts)
            if name not in self._decided:
                if not is_decided(finding):
                    continue
                fresh.append(name)
            members = {part: value for part, value in subject._asdict().items() if value}
            self._subjects.add(_FINDINGS, name, " ".join(parts), members)
        self._decided.update(fresh)
        self._shelf.note_decided(*fresh)

    def items(self, window: Window) -> Iterator[ServiceItem]:
        """Yields every decision made before the end of the window. The archive knows the ones it already has by their
        key."""
        try:
            yield from self._note_unread_scans(window)
            yield from self._decision_items(window)
        finally:
            self._subjects.clear()

    def _note_unread_scans(self, window: Window) -> Iterator[FetchFailure]:
        """Notes the findings of scans that this run has not read yet."""
        for scan in self._scans(window):
            if not self._subjects.has(_SCANS, str(scan.get("id"))):
                try:
                    self.note(scan, self._calls.findings(str(scan.get("id"))))
                except (ServiceRefused, ServiceStrange) as fault:
                    yield FetchFailure("decisions", self._key("triage", scan.get("id")), reason_of(fault))

    def _decision_items(self, window: Window) -> Iterator[ServiceItem]:
        for members in self._subjects.rows(_FINDINGS):
            subject = Subject(**{name: str(value) for name, value in members.items()})
            try:
                decisions = decisions_about(self._calls, subject)
            except (ServiceRefused, ServiceStrange) as fault:
                yield FetchFailure("decisions", self._key("triage", *_key_parts(subject)), reason_of(fault))
                continue
            except ServiceDenied as fault:
                if fault.data.get("status") == 401:
                    raise
                yield FetchFailure("decisions", self._key("triage"), reason_of(fault))
                return
            for row in decisions:
                created_at = moment(row.get("createdAt"))
                if created_at is None or created_at < window.until:
                    yield self._decision(subject, row)

    def _scans(self, window: Window) -> Iterator[Row]:
        """Yields the scans to look for decisions in: those of the window, and the newest of each branch."""
        oldest = window.until - FORGOTTEN_AFTER
        newest: dict[tuple[str, str], Row] = {}
        for row in self._calls.scans(None if window.since is None else min(window.since, oldest), window.until):
            if not has_ended(row) or str(row.get("status")).casefold() not in WITH_FINDINGS:
                continue
            started_at = moment(row.get("createdAt"))
            if window.since is None or window.sweep or (started_at is not None and started_at >= window.since):
                yield row
                continue
            branch = str(row.get("projectId")), str(row.get("branch"))
            if branch not in newest or str(newest[branch].get("createdAt")) < str(row.get("createdAt")):
                newest[branch] = row
        yield from newest.values()

    def _decision(self, subject: Subject, row: Row) -> Item:
        finding = {part: value for part, value in subject._asdict().items() if value}
        clean = without_secrets(row)
        tail = str(row.get("ID") or row.get("id") or fingerprint(clean)[:16])
        created_at = moment(row.get("createdAt"))
        title = decision_title(subject, row)
        fields = {
            "title": title_line(
                " ".join(part for part in (subject.engine, subject.similarity, subject.package) if part)
            ),
            "heading": title,
            "project_key": self._key("project", subject.project),
            "engine": subject.engine,
            "similarity": subject.similarity,
            "state": str(row.get("state") or ""),
            "severity": str(row.get("severity") or ""),
            "author": str(row.get("createdBy") or ""),
            "created": row.get("createdAt"),
            "date": day_of(row.get("createdAt")),
        }
        data = canonical({"decision": clean, "finding": finding})
        visible = clean if isinstance(clean, Mapping) else {}
        page = readable_page(f"vurdering {tail}", title, decision_page(subject, visible))
        document = GeneratedDocument(f"vurdering {tail}.json", _JSON, data, f"{title}, data")
        key = self._key("triage", *_key_parts(subject), tail)
        return Item("decisions", key, fields, created_at, (page, document), kind="decision")


class Audit:
    """The audit trail, day by day. A day is read once it is over."""

    def __init__(self, calls: Calls, key: Key) -> None:
        self._calls = calls
        self._key = key

    def items(self, window: Window) -> Iterator[ServiceItem]:
        """Yields each day with its events; a day that changed since is yielded again, and in a sweep every day."""
        begin = (window.until - AUDIT_KEPT if window.since is None or window.sweep else window.since).date()
        today = window.until.date()
        with GroupedRows() as events:
            try:
                self._gather(events, begin, today)
            except (ServiceRefused, ServiceStrange, ServiceDenied) as fault:
                if fault.data.get("status") == 401:
                    raise
                yield FetchFailure("audit", self._key("audit"), reason_of(fault))
                return
            for day in events.groups():
                rows = [row["event"] for row in events.rows(day)]
                if day == UNDATED:
                    yield FetchFailure("audit", self._key("audit", day), UNDATED, {"found": len(rows)})
                elif begin.isoformat() <= day < today.isoformat():
                    yield self._day(day, rows)

    def _gather(self, events: GroupedRows, begin: date, today: date) -> None:
        """Collects all events up to a day. The list is complete if its count equals a total that did not change, or if
        it was read twice with the same digest. Raises `ServiceStrange`."""
        last = None
        for _ in range(_TRIES):
            events.clear()
            count, total, still, digest = 0, None, True, 0
            for page in self._calls.audit(begin, today):
                still = still and total in (None, page.total)
                total = page.total
                for row in page.rows:
                    count += 1
                    digest += self._add_event(events, row, count, today)
            if (still and count == total) or (total is not None and count >= total and digest == last):
                return
            last = digest
        raise ServiceStrange(where="audit", why="list-incomplete", found=count, total=total)

    def _add_event(self, events: GroupedRows, row: Row, number: int, today: date) -> int:
        """Adds an event; returns its share of the digest of earlier days."""
        clean = without_secrets(row)
        name, at = fingerprint(clean), str(row.get("eventDate") or "")
        day = match[0] if (match := _DAY.match(at)) else UNDATED
        events.add(day, f"{name} {number:012d}", at, {"event": clean})
        return int(name, 16) if day < today.isoformat() or day == UNDATED else 0

    def _day(self, day: str, rows: Sequence[object]) -> Item:
        fields = {
            "tenant": self._key(),
            "date": day,
            "year": day[:4],
            "count": len(rows),
            "created": f"{day}T00:00:00Z",
        }
        title = f"Revisjonslogg {day}"
        document = GeneratedDocument(f"revisjonslogg {day}.json", _JSON, canonical(rows), f"{title}, data")
        page = readable_page(f"revisjonslogg {day}", title, {"Hendelser": [describe_event(row) for row in rows]})
        return Item(
            "audit", self._key("audit", day), fields, moment(f"{day}T00:00:00Z"), (page, document), kind="audit"
        )


def reason_of(fault: ServiceFault) -> str:
    """Returns why something could not be fetched: a reason word, or the service's own words."""
    return str(fault.data.get("why") or fault.code)
