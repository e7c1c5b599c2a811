"""What an archive must hold of a spend service: all that was ever final when a run read it, once, in its month."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.strict_services.content import ArchivedRecord, Document
from tests.strict_services.spend import Spend
from tests.strict_services.spend_data import Job

_ENDED = ("completed", "completed_with_errors", "failed")
_INTERNAL = ("CASHBACK", "STRICT_INVOICE", "WALLET", "OVERDRAFT", "BALANCE_AMENDMENT", "REIMBURSEMENT")


@dataclass(frozen=True, slots=True)
class ObservedEntry:
    """An entry as a run could see it: what was told of it, and each of its receipts."""

    told: Mapping[str, object]
    receipts: tuple[bytes, ...]


@dataclass
class SpendLedger:
    """What runs could see, kept from run to run."""

    spend: Spend
    entries: dict[str, ObservedEntry] = field(default_factory=dict)
    jobs: dict[str, Job] = field(default_factory=dict)

    @property
    def connection(self) -> str:
        """The connection that is loaded from."""
        return "spend:strict"

    def observe(self) -> None:
        """Takes down all that is final now, as a run that reads now must archive it."""
        data = self.spend.data
        for id in data.entries:
            entry = data.live(id)
            if entry is not None and entry.is_final and entry.values["family"] not in _INTERNAL:
                receipts = tuple(each.content for each in entry.receipts.values() if not each.is_gone)
                self.entries[f"{data.company_id}:entry:{id}"] = ObservedEntry(entry.shown(), receipts)
        for job in data.jobs.values():
            if job.status in _ENDED:
                self.jobs[f"{data.company_id}:job:{job.id}"] = job

    def differences(self, archive: Mapping[str, Sequence[ArchivedRecord]]) -> list[str]:
        """All that the archive lacks, holds twice, holds in the wrong place, or holds although it never was there."""
        company = self.spend.data.company_id
        held = {key: each for key, each in archive.items() if key.startswith((f"{company}:entry:", f"{company}:job:"))}
        expected = self.entries.keys() | self.jobs.keys()
        found = [f"missing: {key}" for key in sorted(expected - held.keys())]
        found += [f"never there: {key}" for key in sorted(held.keys() - expected)]
        found += [f"{len(each)} times: {key}" for key, each in held.items() if len(each) != 1]
        for key in sorted(self.entries.keys() & held.keys()):
            found += _entry_differences(key, self.entries[key], held[key][0])
        for key in sorted(self.jobs.keys() & held.keys()):
            found += _job_differences(key, self.jobs[key], held[key][0])
        return found


def _entry_differences(key: str, entry: ObservedEntry, record: ArchivedRecord) -> list[str]:
    found = []
    month = str(entry.told["bookkeepingDate"])[:7]
    if not any(each.endswith(f":period:{month}") for each in record.folder_keys):
        found.append(f"under {record.folder_keys}: {key}")
    documents = list(record.documents)
    for receipt in entry.receipts:
        holding = [each for each in documents if receipt in each.versions]
        if len(holding) != 1 or set(holding[0].versions) != {receipt}:
            found.append(f"a receipt is in {[(each.title, len(each.versions)) for each in holding]}: {key}")
        documents = [each for each in documents if each not in holding]
    if len(documents) != 2:
        found.append(f"besides receipts there are {[each.title for each in documents]}: {key}")
    if not any(holds(_entry_told_by(each), dict(entry.told)) for each in documents):
        found.append(f"the newest state is not there: {key}")
    return found


def holds(value: object, wanted: object) -> bool:
    """Whether a value has all that is wanted; noarkit adds what codes mean."""
    if isinstance(wanted, dict):
        return isinstance(value, dict) and all(
            name in value and holds(value[name], each) for name, each in wanted.items()
        )
    if isinstance(wanted, list):
        return isinstance(value, list) and len(value) == len(wanted) and all(map(holds, value, wanted))
    return value == wanted


def _entry_told_by(document: Document) -> dict[str, object] | None:
    """What the service told of an entry, out of the document of its data."""
    try:
        values = json.loads(document.versions[-1])
    except ValueError:
        return None
    return values if isinstance(values, dict) else None


def _job_differences(key: str, job: Job, record: ArchivedRecord) -> list[str]:
    data = [each for each in record.documents if each.versions[-1].startswith(b"{")]
    if len(data) != 1:
        return [f"the data of a job is in {len(data)} documents: {key}"]
    items = {each["accountingEntryId"]: each["status"] for each in json.loads(data[0].versions[-1])["items"]}
    return [] if items == job.items else [f"the items of the job are {items}: {key}"]
