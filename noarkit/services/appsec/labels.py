"""Titles and pages of a security service in words for people: states, severities and times, and labels for members.
What has no label is left out; the data beside the page has it.

The words are those of the archive, Norwegian. What a tenant has named itself stays as it was written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from noarkit.services.appsec.histories import Subject
from noarkit.services.appsec.states import moment
from noarkit.services.paging import Row
from noarkit.services.readable import format_time, title_line

OUTCOMES = {
    "confirmed": "bekreftet",
    "none": "ikke vurdert",
    "notexploitable": "kan ikke utnyttes",
    "notignored": "skal følges opp",
    "ignored": "ses bort fra",
    "proposednotexploitable": "foreslått: kan ikke utnyttes",
    "toverify": "skal vurderes",
    "urgent": "haster",
}
SEVERITIES = {"CRITICAL": "kritisk", "HIGH": "høy", "INFO": "til orientering", "LOW": "lav", "MEDIUM": "middels"}
STATUSES = {
    "canceled": "avbrutt",
    "completed": "fullført",
    "failed": "mislykket",
    "partial": "delvis fullført",
    "queued": "i kø",
    "running": "pågår",
}
_NOT_FETCHED = {"containers": "funn i containere", "policies": "vurdering etter regler"}
_EVENT_LABELS = {
    "eventDate": "Tidspunkt",
    "eventType": "Hendelse",
    "auditResource": "Gjelder",
    "actionType": "Handling",
    "actionUserId": "Utført av",
    "ipAddress": "Fra adressen",
}


def format_outcome(state: object) -> str:
    """Names the outcome of a decision; some scanners write the same states in another way.

    >>> format_outcome("NOT_EXPLOITABLE"), format_outcome("NotExploitable"), format_outcome("AKSEPTERT_RISIKO")
    ('kan ikke utnyttes', 'kan ikke utnyttes', 'AKSEPTERT_RISIKO')
    """
    text = str(state or "")
    return OUTCOMES.get(text.replace("_", "").casefold(), text)


def format_severity(severity: object) -> str:
    """Names a severity."""
    text = str(severity or "")
    return SEVERITIES.get(text.upper(), text)


def day_of(value: object) -> str:
    """Returns the day of a timestamp of the service, in UTC; empty for what is none."""
    at = moment(value)
    return "" if at is None else at.date().isoformat()


def decision_title(subject: Subject, row: Row) -> str:
    """Names a decision by its finding, day and outcome."""
    name = " ".join(part for part in (subject.engine, subject.similarity, subject.package) if part)
    begin = " ".join(part for part in ("Vurdering av sikkerhetsfunn", name, day_of(row.get("createdAt"))) if part)
    outcome = format_outcome(row.get("state"))
    return title_line(f"{begin}: {outcome}" if outcome else begin)


def decision_page(subject: Subject, row: Row) -> dict[str, object]:
    """Describes a decision: what it came to, why, by whom and when, and what it is about."""
    return {
        "Utfall": format_outcome(row.get("state")),
        "Alvorlighet": format_severity(row.get("severity")),
        "Begrunnelse": row.get("comment"),
        "Vurdert av": row.get("createdBy"),
        "Tidspunkt": format_time(str(row.get("createdAt") or "")),
        "Skanner": subject.engine,
        "Funn": subject.similarity,
        "Pakke": subject.package,
        "Prosjekt": subject.project,
    }


def scan_page(fields: Mapping[str, object], severities: Mapping[str, int], missing: Sequence[str]) -> dict[str, object]:
    """Describes a scan: what was scanned, how it went, and how many findings there are."""
    status = str(fields["status"])
    return {
        "Prosjekt": fields["project"],
        "Gren": fields["branch"],
        "Tidspunkt": format_time(str(fields["created"] or "")),
        "Status": STATUSES.get(status.casefold(), status),
        "Startet av": fields["initiator"],
        "Innsjekking": fields["commit"],
        "Motorer": fields["engines"],
        "Funn": fields["count"],
        "Funn etter alvorlighet": ", ".join(f"{format_severity(name)}: {n}" for name, n in severities.items()),
        "Ikke hentet": [_format_missing(name) for name in missing],
    }


def describe_event(event: object) -> dict[str, object]:
    """Describes an event of the audit trail."""
    row = event if isinstance(event, Mapping) else {}
    return {label: format_time(str(row[name])) for name, label in _EVENT_LABELS.items() if row.get(name)}


def _format_missing(name: str) -> str:
    """Names what was not fetched of a scan."""
    kind, _, engine = name.partition(":")
    return f"vurderinger av funn fra {engine}" if kind == "decisions" else _NOT_FETCHED.get(name, name)
