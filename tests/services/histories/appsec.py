"""What a security service holds at a moment, read from the data of its stand-in: scans that have ended, decisions about
findings, days of the audit trail."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any
from urllib.parse import quote

from noarkit.services.appsec.standin.data import Record, Store
from tests.services.histories.facts import Fact, Listing, Oracle, as_text

LOOK_BACK = timedelta(days=7)
_ENDED = ("Completed", "Failed", "Canceled")
_OPEN = ("Queued", "Running")
_WITH_HISTORY = ("sast", "kics", "sscs-secret-detection")
_PACKAGES = ":triage:sca:"  # decisions about packages have no ids of their own


def listing(standin: Any) -> Listing:  # Any: the stand-in of this service
    """All that is to be archived."""
    store: Store = standin.store
    facts = [*_scans(store), *_decisions(store), *_audit(store)]
    return Listing({fact.key: fact for fact in facts})


def has_ended(scan: Record) -> bool:
    """True for a scan of which no scanner runs any more."""
    if scan["status"] != "Partial":
        return scan["status"] in _ENDED
    return all(detail["status"] not in _OPEN for detail in scan["statusDetails"])


def _scans(store: Store) -> Iterator[Fact]:
    for scan in store.scans():
        if has_ended(scan):
            created_at = datetime.fromisoformat(scan["createdAt"])
            members = {"scan": {name: scan[name] for name in ("id", "status", "projectId", "branch")}}
            yield Fact(
                f"{store.tenant}:scan:{scan['id']}",
                f"{store.tenant}:project:{scan['projectId']}",
                (),
                as_text(members),
                created_at,
                document="scan.json",
            )


def _decisions(store: Store) -> Iterator[Fact]:
    oldest = store.clock() - LOOK_BACK
    for scan in store.scans():
        is_slow = datetime.fromisoformat(scan["createdAt"]) < oldest
        for result in store.results(str(scan["id"])) if has_ended(scan) else ():
            if result["type"] in _WITH_HISTORY:
                project, similarity = str(scan["projectId"]), str(result["similarityId"])
                for decision in store.trail.history(project, similarity):
                    parts = (store.tenant, "triage", result["type"], project, similarity, decision["ID"])
                    yield _decision(":".join(quote(str(part), safe="") for part in parts), decision, is_slow)


def _decision(key: str, decision: Record, is_slow: bool) -> Fact:
    tenant, _, _, project, *_ = key.split(":")
    members = {"decision": {"state": decision["state"], "comment": decision["comment"]}}
    made_at = datetime.fromisoformat(decision["createdAt"])
    return Fact(key, f"{tenant}:project:{project}", (), as_text(members), made_at, is_slow=is_slow)


def _audit(store: Store) -> Iterator[Fact]:
    now = store.clock()
    events = store.trail.events(now - timedelta(days=365), now + timedelta(days=1))
    rows = sorted(events, key=lambda event: str(event["eventDate"]))
    for day, found in groupby(rows, key=lambda event: str(event["eventDate"])[:10]):
        over_at = datetime.fromisoformat(day).replace(tzinfo=UTC) + timedelta(days=1)
        yield Fact(
            f"{store.tenant}:audit:{day}",
            f"folder:audit:{store.tenant}:{day[:4]}",
            (),
            as_text([{"eventDate": event["eventDate"]} for event in found]),
            over_at,
            is_slow=over_at < now - LOOK_BACK,
        )


ORACLE = Oracle(
    listing,
    look_back_s=LOOK_BACK.total_seconds(),
    sweep_s=31 * 86_400,
    tenant=lambda standin: str(standin.store.tenant),  # type: ignore[attr-defined]  # as above
    records=5,
    options={"decided": "10"},
    archivable=True,
    is_followed=lambda key: _PACKAGES not in key,
    deletion_key=lambda key: key if ":scan:" in key else "",  # a decision is only shown by the findings of a scan
)
