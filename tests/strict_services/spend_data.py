"""What a spend service holds: entries with receipts, registers, export jobs with their items."""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import NAMESPACE_URL, uuid5

FINAL = {"status": "COMPLETED", "exportStatus": "EXPORTED", "reviewStatus": "OK"}
_TIMES = ("performedAt", "settledAt", "bookkeepingDate", "createdAt", "updatedAt", "deletedAt")


@dataclass(slots=True)
class Receipt:
    """A receipt: its bytes lie behind a signed address, on another host."""

    id: str
    entry_id: str
    mime_type: str
    content: bytes
    created: datetime
    is_gone: bool = False


@dataclass(slots=True)
class Entry:
    """An accounting entry."""

    id: str
    values: dict[str, object]
    receipts: dict[str, Receipt] = field(default_factory=dict)
    is_hidden: bool = False

    def time(self, name: str) -> datetime | None:
        """One of its times."""
        found = self.values.get(name)
        assert found is None or isinstance(found, datetime)
        return found

    @property
    def is_final(self) -> bool:
        """Settled and exported, so that nobody changes it any more."""
        return (
            self.values["status"] in ("COMPLETED", "COMPLETED_EXTERNALLY") and self.values["exportStatus"] == "EXPORTED"
        )

    def shown(self) -> dict[str, object]:
        """The entry as it is told: what is optional and not there is left out."""
        told = {name: stamp(value) if isinstance(value, datetime) else value for name, value in self.values.items()}
        there = {name: value for name, value in told.items() if value is not None}
        return {"id": self.id, **there, "receiptIds": list(self.receipts)}


@dataclass(slots=True)
class Job:
    """An export job and the state of each of its items."""

    id: str
    created: datetime
    status: str
    items: dict[str, str]
    completed: datetime | None = None


class SpendData:
    """A company. What is changed without a time is changed now."""

    def __init__(self, company: str = "company-1") -> None:
        self._numbers = itertools.count()
        self._seed = company
        self.company_id = self.new_id()
        self.organization_id = self.new_id()
        self.entries: dict[str, Entry] = {}
        self.jobs: dict[str, Job] = {}
        self.employee_id = self.new_id()
        self.account_id = self.new_id()
        self.tax_code_id = self.new_id()
        self.tag_group_id = self.new_id()
        self.tag_id = self.new_id()
        self.vendor_id = self.new_id()

    def new_id(self) -> str:
        """An id that nothing has."""
        return str(uuid5(NAMESPACE_URL, f"{self._seed}/{next(self._numbers)}"))

    def entry(self, settled_days_ago: float = 10, **values: object) -> Entry:
        """An entry, settled so long ago; exported unless it says otherwise."""
        settled = now() - timedelta(days=settled_days_ago)
        whole: dict[str, object] = {
            "companyId": self.company_id,
            "employeeId": self.employee_id,
            "family": "CARD_PURCHASE",
            "subFamily": "IN_STORE",
            "transactionValue": {"currency": "NOK", "minors": -12345 - len(self.entries)},
            "performedAt": settled - timedelta(days=2),
            "settledAt": settled,
            "bookkeepingDate": settled,
            "createdAt": settled - timedelta(days=2),
            "updatedAt": settled,
            "accountId": self.account_id,
            "taxCodeId": self.tax_code_id,
            "tags": [{"tagGroupId": self.tag_group_id, "tagId": self.tag_id}],
            "attendees": [],
            "splitItems": [],
            **FINAL,
            **values,
        }
        made = Entry(self.new_id(), whole)
        self.entries[made.id] = made
        return made

    def edit(self, entry: Entry, **values: object) -> None:
        """Somebody changes an entry."""
        entry.values.update(values)
        entry.values["updatedAt"] = now()

    def delete(self, entry: Entry) -> None:
        """Somebody deletes an entry."""
        self.edit(entry, deletedAt=now())

    def receipt(
        self, entry: Entry, content: bytes, mime_type: str = "application/pdf", *, at: datetime | None = None
    ) -> Receipt:
        """A receipt, added now unless a time is named."""
        made = Receipt(self.new_id(), entry.id, mime_type, content, at or now())
        entry.receipts[made.id] = made
        return made

    def job(self, entries: list[Entry], status: str = "completed", *, days_ago: float = 5) -> Job:
        """An export job of entries."""
        created = now() - timedelta(days=days_ago)
        made = Job(self.new_id(), created, status, {each.id: "pending" for each in entries})
        self.jobs[made.id] = made
        if status == "completed":
            self.complete(made, at=created + timedelta(minutes=5))
        return made

    def complete(self, job: Job, *, at: datetime | None = None) -> None:
        """A job ends well."""
        job.status = "completed"
        job.completed = at or now()
        job.items = dict.fromkeys(job.items, "successful")

    def live(self, id: str, *, with_deleted: bool = False) -> Entry | None:
        """An entry that is there and may be seen."""
        found = self.entries.get(id)
        if found is None or found.is_hidden or (found.time("deletedAt") and not with_deleted):
            return None
        return found

    def find_receipt(self, id: str) -> Receipt | None:
        """A receipt of any entry."""
        return next((each.receipts[id] for each in self.entries.values() if id in each.receipts), None)


def pdf(text: str) -> bytes:
    """A small document of the type, with a text of its own."""
    return (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\n%"
        + hashlib.sha256(text.encode()).hexdigest().encode()
        + b"\n%%EOF\n"
    )


def now() -> datetime:
    """This moment, in whole seconds."""
    return datetime.now(UTC).replace(microsecond=0)


def stamp(moment: datetime) -> str:
    """A moment as the service tells it."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
