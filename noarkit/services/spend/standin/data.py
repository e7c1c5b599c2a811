"""The data of the spend service: entries generated from the seed, registers, export jobs, and the changes made
since."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from noarkit.services.standins.fake_data import SeededRandom, mail_of
from noarkit.services.standins.histories.player import HistoryClock
from noarkit.services.standins.papers import PAPERS as ALL_PAPERS

Record = dict[str, Any]
FAMILIES = (
    "CARD_PURCHASE", "CARD_PURCHASE", "CARD_PURCHASE", "OUT_OF_POCKET", "MILEAGE", "PER_DIEM", "BILL_INVOICE",
    "CREDIT_NOTE", "WALLET", "CASHBACK",
)  # fmt: skip
CURRENCIES = ("NOK", "NOK", "NOK", "EUR", "SEK", "JPY", "ISK", "KWD")
EMPLOYEES, VENDORS, ACCOUNTS, TAX_CODES, GROUPS, TAGS = 25, 40, 30, 6, 3, 12
JOB_ENTRIES = 50
PAPERS = tuple(paper for paper in ALL_PAPERS if paper[0] in ("pdf", "png", "xml"))
_BOOKED_FIELDS = {"family": "CARD_PURCHASE", "status": "COMPLETED", "exportStatus": "EXPORTED"}
_NOT_ARCHIVED_FAMILIES = ("WALLET", "CASHBACK")
_FIRST = datetime(2024, 1, 2, 8, 0, tzinfo=UTC)
_SPAN_S = 700 * 86_400
_NO_TAG = "00000000-0000-0000-0000-000000000000"


def format_time(moment: datetime) -> str:
    """Formats a timestamp as the service does."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(slots=True)
class Register:
    """A list of records with ids: generated ones, and those added or changed."""

    seed: int
    name: str
    count: int
    roll: Callable[[SeededRandom, int], Record]
    is_timed: bool = True
    changed_records: dict[str, Record] = field(default_factory=dict)
    deleted_ids: set[str] = field(default_factory=set)
    _cache: dict[int, Record] = field(default_factory=dict)

    def record_id(self, number: int) -> str:
        """Returns the id of a generated record."""
        return str(self.seeded_record(number)["id"])

    def all(self) -> Iterator[Record]:
        """Yields every record, by id."""
        records = {
            self.record_id(number): self.seeded_record(number) for number in range(self.count)
        } | self.changed_records
        for record_id in sorted(records.keys() - self.deleted_ids):
            yield records[record_id]

    def seeded_record(self, number: int) -> Record:
        """Generates a record from the seed. Registers are short, so each is generated once."""
        record = self._cache.get(number)
        if record is None:
            dice = SeededRandom(self.seed, self.name, number)
            timestamp = format_time(_FIRST + timedelta(days=number))
            times = {"createdAt": timestamp, "updatedAt": timestamp} if self.is_timed else {}
            record = {"id": dice.uuid("id"), **times, **self.roll(dice, number)}
            self._cache[number] = record
        return record

    def get(self, record_id: str) -> Record | None:
        """Returns a record by its id."""
        return next((record for record in self.all() if record["id"] == record_id), None)

    def save(self, record: Record) -> Record:
        """Adds or changes a record."""
        now = format_time(datetime.now(UTC))
        current = self.get(str(record.get("id") or "")) or {
            "id": SeededRandom(self.name, now, len(self.changed_records)).uuid("new")
        }
        full_record = {**({"createdAt": now} if self.is_timed else {}), **current, **record, "id": current["id"]}
        if self.is_timed:
            full_record["updatedAt"] = now
        self.changed_records[str(full_record["id"])] = full_record
        return full_record

    def delete(self, record_id: str) -> bool:
        """Deletes a record; False if there was none."""
        exists = self.get(record_id) is not None
        self.deleted_ids.add(record_id)
        return exists


class Store:
    """The whole service. Safe for threads."""

    def __init__(self, entries: int, seed: int) -> None:
        """Builds a store in which at least so many entries are settled, exported, and of archived families."""
        self.seed = seed
        self.count = self._entries_needed(entries)
        self.lock = threading.RLock()
        self.version = 0
        self._job_numbers: dict[str, int] = {}
        dice = SeededRandom(seed, "organisation")
        self.organization_id = dice.uuid("organisation")
        self.company_id = dice.uuid("company")
        self.changed: dict[str, Record] = {}
        self.added: list[str] = []
        self.extra_receipts: dict[str, list[str]] = {}
        self.job_states: dict[int, str] = {}
        self.late_jobs: list[tuple[str, list[str]]] = []
        self.hidden_ids: set[str] = set()  # entries that are not shown, or not yet
        self.absent_receipts: set[str] = set()
        self.clock = HistoryClock()
        self._places: dict[str, int] = {}
        self.registers = {
            "companies": Register(seed, "companies", 0, lambda dice, number: {}, is_timed=False),
            "employees": Register(seed, "employees", EMPLOYEES, self._employee, is_timed=False),
            "vendors": Register(seed, "vendors", VENDORS, self._vendor),
            "accounts": Register(seed, "accounts", ACCOUNTS, self._account, is_timed=False),
            "tax-codes": Register(seed, "tax-codes", TAX_CODES, self._tax_code),
            "tag-groups": Register(seed, "tag-groups", GROUPS, self._group),
            "tags": Register(seed, "tags", GROUPS * TAGS, self._tag),
            "subscriptions": Register(seed, "subscriptions", 0, lambda dice, number: {}),
        }
        self.registers["companies"].changed_records[self.company_id] = {
            "id": self.company_id,
            "name": dice.company("name"),
            "organizationId": self.organization_id,
            "registrationNumber": dice.organisation_number("org"),
            "address": {"addressLine1": "Torget 1", "postalCode": "5014", "locality": "Bergen", "country": "NO"},
        }

    def _entries_needed(self, needed_count: int) -> int:
        """Counts the entries needed so that enough of them can be archived."""
        count = archivable = 0
        while archivable < needed_count:
            dice = SeededRandom(self.seed, "entry", count)
            archivable += dice.is_hit("final", 92) and dice.choose("family", FAMILIES) not in _NOT_ARCHIVED_FAMILIES
            count += 1
        return count

    def entry_id(self, number: int) -> str:
        """Returns the id of a generated entry. It holds its number, so that no table of ids is needed."""
        return f"{number:08x}-0000-4000-8000-{self.seed:012x}"

    def entry(self, entry_id: str) -> Record | None:
        """Returns an entry by its id."""
        if entry_id in self.hidden_ids:
            return None
        with self.lock:
            if entry_id in self.changed:
                return self.changed[entry_id]
        try:
            number = int(entry_id[:8], 16)
        except ValueError:
            return None
        return self.seeded_entry(number) if 0 <= number < self.count and entry_id == self.entry_id(number) else None

    def entry_ids(self) -> list[str]:
        """Returns every entry's id, oldest first."""
        return [*(self.entry_id(number) for number in range(self.count)), *self.added]

    def briefs(self) -> Iterator[Record]:
        """Yields the members that entries are filtered and sorted by, oldest first; deleted ones too."""
        with self.lock:
            changed = dict(self.changed)
            added_ids = list(self.added)
        for number in range(self.count):
            record = changed.get(self.entry_id(number))
            if self.entry_id(number) not in self.hidden_ids:
                yield self._brief(number) if record is None else record
        for entry_id in added_ids:
            if entry_id not in self.hidden_ids:
                yield changed[entry_id]

    def _brief(self, number: int) -> Record:
        dice = SeededRandom(self.seed, "entry", number)
        performed_at = _FIRST + timedelta(seconds=int(_SPAN_S * number / max(self.count, 1)))
        settled_at = performed_at + timedelta(days=1 + dice.number("settled", 20))
        final = dice.is_hit("final", 92)
        booked_at = settled_at.replace(hour=0, minute=0, second=0, microsecond=0)
        return {
            "id": self.entry_id(number),
            "family": dice.choose("family", FAMILIES),
            "status": "COMPLETED" if final else "PENDING",
            "exportStatus": "EXPORTED" if final else "NOT_EXPORTED",
            "performedAt": format_time(performed_at),
            "updatedAt": format_time(settled_at),
            **({"settledAt": format_time(settled_at), "bookkeepingDate": format_time(booked_at)} if final else {}),
        }

    def seeded_entry(self, number: int) -> Record:
        """Generates an entry from the seed."""
        brief = self._brief(number)
        dice = SeededRandom(self.seed, "entry", number)
        family = brief["family"]
        currency = dice.choose("currency", CURRENCIES)
        minors = dice.number("amount", 900_000) * (-1 if family == "CREDIT_NOTE" else 1)
        is_bill = family in ("BILL_INVOICE", "CREDIT_NOTE")
        vendor = self.registers["vendors"].seeded_record(dice.number("vendor", VENDORS))
        account = self.registers["accounts"].seeded_record(dice.number("account", ACCOUNTS))
        entry: Record = {
            **brief,
            "companyId": self.company_id,
            "reviewStatus": "OK" if "settledAt" in brief else "NOT_SET",
            "createdAt": brief["performedAt"],
            "transactionValue": {"currency": currency, "minors": minors},
            "totalBillValue": {"currency": "NOK", "minors": minors},
            "accountId": account["id"],
            "accountCode": account["code"],
            "taxCodeId": self.registers["tax-codes"].record_id(dice.number("tax", TAX_CODES)),
            "tags": self._tags(dice),
            "splitItems": [],
            "attendees": [self._guest(dice)] if dice.is_hit("guests", 5) else [],
            "receiptIds": [
                self._receipt_dice(self.entry_id(number), place).uuid("id") for place in self._receipt_places(number)
            ],
        }
        if dice.is_hit("noted", 50):
            entry["note"] = dice.text("note", 1)
        if is_bill:
            supplier = {"externalSupplierId": vendor["externalId"], "cif": vendor["taxRegistrationNumber"]}
            entry["supplier"] = {**supplier, "documentNumber": f"F{number:06}", "documentType": "INVOICE"}
        else:
            entry["employeeId"] = self.registers["employees"].record_id(dice.number("who", EMPLOYEES))
            entry["merchant"] = {"name": vendor["name"]}
        return entry

    def _guest(self, dice: SeededRandom) -> Record:
        return {"id": dice.uuid("guest"), "attendableId": dice.uuid("guest-who"), "attendableType": "EMPLOYEE"}

    def receipts(self, entry_id: str) -> list[Record]:
        """Returns the receipts of an entry: each an original, with a picture made of it."""
        try:
            number = int(entry_id[:8], 16)
        except ValueError:
            return []
        receipts = self._receipts(number) if entry_id == self.entry_id(number) and number < self.count else []
        for place, created_at in enumerate(self.extra_receipts.get(entry_id, ())):
            receipts.append({**self._receipt(entry_id, 90 + place), "createdAt": created_at})
        return [receipt for receipt in receipts if receipt["id"] not in self.absent_receipts]

    def receipt_bytes(self, entry_id: str, receipt_id: str) -> bytes | None:
        """Returns the original file of a receipt."""
        for receipt in self.receipts(entry_id):
            if receipt["id"] == receipt_id:
                dice = self._receipt_dice(entry_id, receipt["place"])
                _, _, make = dice.choose("paper", PAPERS[:2] if receipt["place"] % 7 else PAPERS)
                return make(f"{entry_id} {dice.text('line', 2)}")
        return None

    def now(self) -> str:
        """Returns the time of a change."""
        return format_time(self.clock.now())

    def hide(self, entry_id: str, *, hides: bool) -> None:
        """Hides an entry, or shows it again; no time tells of it."""
        with self.lock:
            (self.hidden_ids.add if hides else self.hidden_ids.discard)(entry_id)
            self.version += 1

    def change(self, entry_id: str, changes: Record) -> Record:
        """Changes an entry, or adds one."""
        with self.lock:
            current = self.entry(entry_id) or {
                **self.seeded_entry(0),
                **_BOOKED_FIELDS,
                "id": entry_id,
                "receiptIds": [],
            }
            if self.entry(entry_id) is None:
                self.added.append(entry_id)
            members = {**current, **changes, "updatedAt": self.now()}
            full_record = {name: value for name, value in members.items() if value is not None}
            self.changed[entry_id] = full_record
            self.version += 1
            return full_record

    def add_receipt(self, entry_id: str) -> str:
        """Adds a receipt to an entry, however old it is."""
        with self.lock:
            self.extra_receipts.setdefault(entry_id, []).append(self.now())
            ids = [receipt["id"] for receipt in self.receipts(entry_id)]
            self.change(entry_id, {"receiptIds": ids})
            return str(ids[-1])

    def export(self, ids: Sequence[str]) -> None:
        """Exports entries now, as a new job."""
        with self.lock:
            for entry_id in ids:
                self.change(entry_id, {"exportStatus": "EXPORTED"})
            self.late_jobs.append((self.now(), list(ids)))
            self._job_numbers = {}

    def jobs(self) -> Iterator[Record]:
        """Yields the export jobs: one for every so many entries, and the requested ones."""
        for number in range(self._seeded_job_count() + len(self.late_jobs)):
            yield self.job(number)

    def _seeded_job_count(self) -> int:
        return -(-self.count // JOB_ENTRIES)

    def job_of(self, entry_id: str) -> Record | None:
        """Returns an export job by its id."""
        with self.lock:
            if not self._job_numbers:
                self._job_numbers = {str(job["id"]): int(job["number"]) for job in self.jobs()}
        number = self._job_numbers.get(entry_id)
        return None if number is None else self.job(number)

    def job(self, number: int) -> Record:
        """Returns one export job."""
        if number >= self._seeded_job_count():
            return self._late_job(number)
        dice = SeededRandom(self.seed, "job", number)
        created_at = _FIRST + timedelta(seconds=int(_SPAN_S * (number + 1) * JOB_ENTRIES / max(self.count, 1)))
        last = number == self.count // JOB_ENTRIES - 1
        status = self.job_states.get(number) or (
            "pending"
            if last and self.count > JOB_ENTRIES
            else dice.choose("status", ("completed",) * 8 + ("failed", "completed_with_errors"))
        )
        ended_at = None if status in ("pending", "in_progress") else format_time(created_at + timedelta(minutes=3))
        reason = ("no account", "missing_configuration") if status == "failed" else (None, None)
        return self._describe_job(number, dice.uuid("id"), format_time(created_at), ended_at, status) | {
            "lastUpdatedAt": format_time(created_at + timedelta(minutes=3)),
            "numberOfItems": len(self.job_entries(number)),
            "failureReason": reason[0],
            "failureReasonType": reason[1],
        }

    def job_items(self, job: Record) -> list[Record]:
        """Returns the result of each entry of a job."""
        number = int(job["number"])
        late = number - self._seeded_job_count()
        ids = (
            self.late_jobs[late][1] if late >= 0 else [self.entry_id(entry_id) for entry_id in self.job_entries(number)]
        )
        return [self._job_item(entry_id, job) for entry_id in ids]

    def _job_item(self, entry_id: str, job: Record) -> Record:
        is_exported = (self.entry(entry_id) or {}).get("exportStatus") == "EXPORTED"
        open_ones = {"pending": "pending", "in_progress": "in_progress", "failed": "failed"}
        status = open_ones.get(str(job["status"]), "successful" if is_exported else "abandoned")
        exported_at = {"exportedAt": job["completedAt"]} if status == "successful" else {}
        return {
            "accountingEntryId": entry_id,
            "exportJobId": job["id"],
            "status": status,
            "failureReason": None,
            **exported_at,
        }

    def _late_job(self, number: int) -> Record:
        created, ids = self.late_jobs[number - self._seeded_job_count()]
        job_id = SeededRandom(self.seed, "late-job", number).uuid("id")
        return self._describe_job(number, job_id, created, created, "completed") | {
            "lastUpdatedAt": created,
            "numberOfItems": len(ids),
        }

    def _describe_job(self, number: int, job_id: str, created: str, ended_at: str | None, status: str) -> Record:
        return {
            "id": job_id,
            "companyId": self.company_id,
            "createdAt": created,
            "createdBy": self.registers["employees"].record_id(0),
            "startedAt": created,
            "completedAt": ended_at,
            "expiredAt": None,
            "expiresIn": 3_600,
            "isInteractive": False,
            "status": status,
            "failureReason": None,
            "failureReasonType": None,
            "vendorBasedBookkeeping": False,
            "number": number,
        }

    def job_entries(self, number: int) -> Sequence[int]:
        """Returns the entries of a job, by number."""
        return range(number * JOB_ENTRIES, min(self.count, (number + 1) * JOB_ENTRIES))

    def _receipts(self, number: int) -> list[Record]:
        return [self._receipt(self.entry_id(number), place) for place in self._receipt_places(number)]

    def _receipt_places(self, number: int) -> range:
        dice = SeededRandom(self.seed, "entry", number)
        if dice.choose("family", FAMILIES) in ("WALLET", "CASHBACK", "MILEAGE"):
            return range(0)
        return range(1 + dice.number("receipts", 2) if dice.is_hit("receipted", 90) else 0)

    def _receipt_dice(self, entry_id: str, place: int) -> SeededRandom:
        return SeededRandom(self.seed, "receipt", entry_id, place)

    def _receipt(self, entry_id: str, place: int) -> Record:
        dice = self._receipt_dice(entry_id, place)
        _, mime, make = dice.choose("paper", PAPERS[:2] if place % 7 else PAPERS)
        data = make(f"{entry_id} {dice.text('line', 2)}")
        return {
            "id": dice.uuid("id"),
            "accountingEntryId": entry_id,
            "createdAt": format_time(_FIRST),
            "fileType": "ORIGINAL",
            "mimeType": mime,
            "sizeInBytes": len(data),
            "source": dice.choose("source", ("CAMERA", "EMAIL_FETCHING", "USER")),
            "place": place,
        }

    def _tags(self, dice: SeededRandom) -> list[Record]:
        tags = []
        for group in range(GROUPS):
            group_id = self.registers["tag-groups"].record_id(group)
            if dice.is_hit(f"tagged{group}", 10):
                tags.append({"tagGroupId": group_id, "tagId": _NO_TAG})
            else:
                place = group * TAGS + dice.number(f"tag{group}", TAGS)
                tags.append({"tagGroupId": group_id, "tagId": self.registers["tags"].record_id(place)})
        return tags

    def _employee(self, dice: SeededRandom, number: int) -> Record:
        given_name, family_name = dice.person("name")
        return {
            "companyId": self.company_id,
            "email": mail_of(given_name, family_name, "fjord as"),
            "firstName": given_name,
            "lastName": family_name,
            "code": f"E{number:03}",
            "jobTitle": "Rådgiver",
            "phone": f"+47{dice.number('phone', 90_000_000) + 10_000_000}",
        }

    def _vendor(self, dice: SeededRandom, number: int) -> Record:
        return {
            "companyId": self.company_id,
            "name": dice.company("name"),
            "code": f"L{number:04}",
            "registrationNumber": dice.organisation_number("org"),
            "taxRegistrationNumber": dice.organisation_number("org") + "MVA",
            "externalId": f"{50_000 + number}",
            "country": "NO",
            "defaultCurrency": "NOK",
            "state": "ARCHIVED" if number % 10 == 9 else "ACTIVE",
        }

    def _account(self, dice: SeededRandom, number: int) -> Record:
        return {
            "companyId": self.company_id,
            "code": str(4_000 + number * 100),
            "name": f"Konto {4_000 + number * 100}",
            "externalId": str(4_000 + number * 100),
            "archived": False,
        }

    def _tax_code(self, dice: SeededRandom, number: int) -> Record:
        rate = (0, 12, 15, 25, 25, 25)[number % 6]
        kind = ("inclusive", "exclusive", "reverse")[number % 3]
        return {
            "companyId": self.company_id,
            "code": str(number),
            "name": f"Mva {rate}",
            "rate": rate / 100,
            "type": kind,
            "archived": False,
        }

    def _group(self, dice: SeededRandom, number: int) -> Record:
        name = ("Avdeling", "Prosjekt", "Formål")[number % 3]
        return {"companyId": self.company_id, "code": name[:3].upper(), "name": name, "archived": False, "metadata": {}}

    def _tag(self, dice: SeededRandom, number: int) -> Record:
        group, place = divmod(number, TAGS)
        return {
            "groupId": self.registers["tag-groups"].record_id(group),
            "code": f"T{place:02}",
            "name": f"Valg {place + 1}",
            "archived": place == TAGS - 1,
        }
