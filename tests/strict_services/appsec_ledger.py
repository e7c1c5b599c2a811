"""What an archive must hold of a security service: each scan that ended, each decision, each day of the trail."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.strict_services.appsec import ENDED, SECRET, Appsec, now
from tests.strict_services.content import ArchivedRecord
from tests.strict_services.spend_ledger import holds


@dataclass
class AppsecLedger:
    """What runs could see, kept from run to run. A scan is taken down as it was first seen to have ended."""

    appsec: Appsec
    scans: dict[str, tuple[str, list[dict[str, object]] | None]] = field(default_factory=dict)
    decisions: dict[str, tuple[str, str]] = field(default_factory=dict)
    days: dict[str, list[dict[str, object]]] = field(default_factory=dict)
    tenant: str = "ETATEN"

    @property
    def connection(self) -> str:
        """The connection that is loaded from."""
        return "appsec:strict"

    def observe(self) -> None:
        """Takes down what has ended, what was decided about it, and each day of the trail that is over."""
        data = self.appsec.data
        for scan in data.scans.values():
            if scan.status in ENDED:
                key = f"{self.tenant}:scan:{scan.id}"
                findings = [dict(each.values) for each in scan.findings]
                self.scans.setdefault(key, (scan.project_id, None if scan.status == "Failed" else findings))
        for each in data.decisions:
            key = f"{self.tenant}:triage:sast:{each.project_id}:{each.similarity_id}:{each.id}"
            self.decisions[key] = each.project_id, each.comment
        for event in data.audit:
            day = str(event["eventDate"])[:10]
            rows = self.days.setdefault(f"{self.tenant}:audit:{day}", []) if day < now().date().isoformat() else []
            if event not in rows:
                rows.append(event)

    def differences(self, archive: Mapping[str, Sequence[ArchivedRecord]]) -> list[str]:
        """All that the archive lacks, holds twice, holds in the wrong place, or holds although it never was there."""
        kinds = tuple(f"{self.tenant}:{kind}:" for kind in ("scan", "triage", "audit"))
        held = {key: each for key, each in archive.items() if key.startswith(kinds)}
        expected = self.scans.keys() | self.decisions.keys() | self.days.keys()
        found = [f"missing: {key}" for key in sorted(expected - held.keys())]
        found += [f"never there: {key}" for key in sorted(held.keys() - expected)]
        found += [f"{len(each)} times: {key}" for key, each in held.items() if len(each) != 1]
        for key, (project, findings) in self.scans.items():
            found += self._placed(held.get(key), project, key)
            if key in held and findings is not None and not _has(held[key][0], findings):
                found.append(f"the findings are not there: {key}")
        for key, (project, comment) in self.decisions.items():
            found += self._placed(held.get(key), project, key)
            if key in held and not any(comment.encode() in each for each in held[key][0].contents):
                found.append(f"the comment is not there: {key}")
        for key, events in self.days.items():
            if key in held and not _has(held[key][0], events):
                found.append(f"the events are not there: {key}")
        secrets = [key for key, each in held.items() for content in each[0].contents if SECRET.encode() in content]
        return found + [f"a secret is in the archive: {key}" for key in secrets]

    def _placed(self, records: Sequence[ArchivedRecord] | None, project: str, key: str) -> list[str]:
        place = f"{self.tenant}:project:{project}"
        return [f"not under its project: {key}"] if records and place not in records[0].folder_keys else []


def _has(record: ArchivedRecord, rows: Sequence[Mapping[str, object]]) -> bool:
    """Whether a version of a document of a record is a list of exactly these, in any order."""
    for content in (version for each in record.documents for version in each.versions):
        if not content.startswith(b"["):
            continue
        told = json.loads(content)
        if len(told) == len(rows) and all(sum(holds(each, dict(row)) for each in told) == 1 for row in rows):
            return True
    return False
