"""Entries, jobs and registers as items. Codes stand with their names as they were when the entry was read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import islice
from urllib.parse import quote

from noarkit.connectors.ahead import IN_FLIGHT, ahead, in_order
from noarkit.connectors.canonical import canonical, without_secrets
from noarkit.connectors.paging import Row
from noarkit.connectors.port import Deleted, Item, Made, ServiceItem, Window
from noarkit.connectors.spend.calls import Calls
from noarkit.connectors.spend.jobs import ENDED
from noarkit.connectors.spend.money import shown
from noarkit.connectors.spend.settings import RETIRING, SpendSettings
from noarkit.events import Event, Listener
from noarkit.graph.entity import Content

BILLS = frozenset({"BILL_INVOICE", "CREDIT_NOTE"})
INTERNAL = frozenset({"WALLET", "OVERDRAFT", "BALANCE_AMENDMENT", "CASHBACK", "PLATFORM_INVOICE"})
# Journeys, meals and what was paid back to a person tell of persons; so do guests at a table.
PERSONAL = frozenset({"MILEAGE", "PER_DIEM", "OUT_OF_POCKET", "REIMBURSEMENT"})
FINAL = frozenset({"COMPLETED", "COMPLETED_EXTERNALLY"})
REGISTERS = (
    ("companies", "/v1/companies", False),
    ("employees", "/v2/employees", False),
    ("vendors", "/v1/vendors:search", True),
    ("accounts", "/v1/chart-of-accounts", False),
    ("tax-codes", "/v0/tax-codes:search", True),
    ("tag-groups", "/v0/tag-groups", False),
    ("tags", "/v0/tags:search", True),
)
_MINIMAL_EMPLOYEE = ("id", "code", "companyId")
_A_BATCH = 100  # a page of entries; what hangs on it is asked for in one call
_BESIDE_LIST = IN_FLIGHT - 2  # one call lists entries, and one may look up what they point at
_TELLS_MORE = 3
_PAPERS = {"application/pdf": "pdf", "image/jpeg": "jpg", "image/png": "png", "application/xml": "xml"}


class Books:
    """Makes items of what a company's books hold."""

    def __init__(self, calls: Calls, settings: SpendSettings, company: str) -> None:
        self._calls = calls
        self._settings = settings
        self._company = company

    def key(self, *parts: object) -> str:
        """A key of the service's own ids."""
        return ":".join(quote(str(part), safe="") for part in (self._company, *parts))

    def entries(self, window: Window) -> Iterator[ServiceItem]:
        """Entries that are settled and final, each with its original receipts."""

        def asked(batch: list[Row]) -> tuple[list[Row], dict[str, list[Row]]]:
            wanted = [row for row in batch if self._is_wanted(row, window.until)]
            return wanted, self._calls.receipts([str(row["id"]) for row in wanted if row.get("receiptIds")])

        batches = ahead(_batches(self._calls.entries(window.since, window.until), _A_BATCH))
        for wanted, receipts in in_order(batches, asked, _BESIDE_LIST):
            for row in wanted:
                if row.get("deletedAt"):
                    yield Deleted("entries", self.key("entry", row["id"], "deleted"), _moment(row["deletedAt"]))
                else:
                    yield self._entry(row, receipts.get(str(row["id"]), []))

    def jobs(self, window: Window, tell: Listener) -> Iterator[ServiceItem]:
        """Export jobs that ended, with a manifest of what became of each item. They are read, never started."""
        version = self._settings.export_version
        if version == RETIRING:
            tell(Event("remark", {"stream": "jobs", "why": "export-version-retires"}))

        def asked(job: Row) -> tuple[Row, list[dict[str, object]]]:
            return job, [_kept_of(item, version) for item in self._calls.job_items(version, str(job["id"]))]

        ended = (job for job in self._calls.jobs(version) if _ended_within(job, window))
        for job, items in in_order(ended, asked, IN_FLIGHT - 1):
            yield self._job(job, items, _moment(job.get("createdAt")) or window.until)

    def registers(self, window: Window) -> Iterator[ServiceItem]:
        """A snapshot of each register for the year: old vouchers cannot be read without."""
        year = window.until.year
        for name, path, search in REGISTERS:
            found = sorted(self._calls.register(path, search=search), key=lambda row: str(row.get("id")))
            if name == "employees":  # who bought is known by a code; the rest is nobody's business
                found = [{one: row.get(one) for one in _MINIMAL_EMPLOYEE} for row in found]
            made = Made(f"{name} {year}.json", "application/json", canonical(without_secrets(found)))
            fields = {
                "name": name,
                "year": year,
                "count": len(found),
                "company_id": self._company,
                "company": self._company_name,
            }
            yield Item("registers", self.key("codelist", name, year), fields, None, made=(made,), kind="register")

    def _is_wanted(self, row: Row, now: datetime) -> bool:
        if str(row.get("family")) in INTERNAL and not self._settings.with_internal:
            return False
        if str(row.get("status")) not in FINAL:
            return False
        if str(row.get("exportStatus")) == "EXPORTED":
            return True
        days, settled = self._settings.final_after_days, _moment(row.get("settledAt"))
        return bool(days) and settled is not None and now - settled >= timedelta(days=days)

    def _entry(self, row: Row, receipts: Iterable[Row]) -> Item:
        clean = self._resolved(row)
        booked = str(row.get("bookkeepingDate") or row.get("settledAt") or row.get("performedAt") or "")
        supplier = _name(row.get("vendor")) or _name(row.get("supplier")) or "Ukjent leverandør"
        amount = shown(row.get("transactionValue"))
        contents = tuple(self._content(row, receipt) for receipt in receipts)
        snapshot = Made(f"bilag {row['id']}.json", "application/json", canonical(clean))
        fields = {
            "period": booked[:7],
            "year": booked[:4],
            "company_id": self._company,
            "company": self._company_name,
            "family": str(row.get("family")),
            "supplier": supplier,
            "supplier_number": _number(row.get("vendor")),
            "amount": amount,
            "title": f"{supplier} {str(row.get('performedAt') or '')[:10]} {amount}",
            "performed": row.get("performedAt"),
            "created": row.get("createdAt"),
            "employee": clean.get("employeeCode"),
            "personal": _is_personal(row),
            "account": row.get("accountCode"),
            "invoice": row.get("invoice") or {},
            "data": clean,
        }
        kind = "bill" if str(row.get("family")) in BILLS else "entry"
        key = self.key("entry", row["id"])
        return Item(
            "entries", key, fields, _moment(row.get("updatedAt")), (snapshot,), contents, kind, made_first=False
        )

    def _job(self, job: Row, items: list[dict[str, object]], made: datetime) -> Item:
        manifest = canonical(without_secrets({"job": dict(job), "items": items}))
        fields = {
            "period": made.strftime("%Y-%m"),
            "year": made.strftime("%Y"),
            "company_id": self._company,
            "company": self._company_name,
            "status": str(job.get("status")),
            "count": len(items),
            "created": job.get("createdAt"),
        }
        document = Made(f"eksport {job['id']}.json", "application/json", manifest)
        return Item(
            "jobs", self.key("job", job["id"]), fields, _moment(job.get("lastUpdatedAt")), (document,), kind="job"
        )

    def _content(self, row: Row, receipt: Row) -> Content:
        kind = str(receipt.get("mimeType") or "")
        size = receipt.get("sizeInBytes")
        locator = f"receipt:{quote(str(row['id']), safe='')}/{quote(str(receipt['id']), safe='')}"
        name = f"kvittering {receipt['id']}.{_PAPERS.get(kind, 'bin')}"
        return Content(locator, name, size if isinstance(size, int) else None, media_type=kind or None)

    def _resolved(self, row: Row) -> dict[str, object]:
        """The entry with the codes and names of what it points at, and without what nobody needs."""
        known = without_secrets(row)
        found: dict[str, object] = dict(known) if isinstance(known, Mapping) else {}
        found.pop("receiptUrls", None)
        tags = [
            {**tag, "code": named.get("code"), "name": named.get("name")}
            for tag in _rows(row.get("tags"))
            if (named := self._tags.get(str(tag.get("tagId")), {})) is not None
        ]
        found["tags"] = tags
        found["account"] = self._accounts.get(str(row.get("accountId")))
        found["taxCode"] = self._tax_codes.get(str(row.get("taxCodeId")))
        found["employeeCode"] = self._employees.get(str(row.get("employeeId")), {}).get("code")
        return found

    @cached_property
    def _company_name(self) -> str:
        found = {str(row["id"]): str(row.get("name") or "") for row in self._calls.register("/v1/companies")}
        return found.get(self._company) or next(iter(found.values()), "")

    @cached_property
    def _tags(self) -> dict[str, dict[str, object]]:
        return self._coded("/v0/tags:search", search=True)

    @cached_property
    def _accounts(self) -> dict[str, dict[str, object]]:
        return self._coded("/v1/chart-of-accounts")

    @cached_property
    def _tax_codes(self) -> dict[str, dict[str, object]]:
        return self._coded("/v0/tax-codes:search", search=True)

    @cached_property
    def _employees(self) -> dict[str, dict[str, object]]:
        return self._coded("/v2/employees")

    def _coded(self, path: str, *, search: bool = False) -> dict[str, dict[str, object]]:
        names = ("code", "name", "rate", "type")
        found = self._calls.register(path, search=search)
        return {str(row["id"]): {name: row[name] for name in names if name in row} for row in found}


def _ended_within(job: Row, window: Window) -> bool:
    made = _moment(job.get("createdAt"))
    if str(job.get("status")) not in ENDED or made is None or made >= window.until:
        return False
    return window.since is None or made >= window.since


def _kept_of(item: Row, version: int) -> dict[str, object]:
    """What became of an item; from version 3 on with all that it tells, but the signed addresses of its files."""
    if version < _TELLS_MORE:
        return {name: item.get(name) for name in ("accountingEntryId", "status", "failureReason")}
    files = [{name: value for name, value in one.items() if name != "url"} for one in _rows(item.get("files"))]
    return {**item, "files": files}


def _batches(found: Iterator[Row], size: int) -> Iterator[list[Row]]:
    while batch := list(islice(found, size)):
        yield batch


def _is_personal(row: Row) -> bool:
    """Whether an entry tells of persons: by its family, its guests, or as money spent on oneself."""
    kinds = {str(row.get("family")), str(row.get("subFamily"))}
    return bool(kinds & {*PERSONAL, "PERSONAL_SPEND"} or row.get("attendees"))


def _rows(value: object) -> list[Mapping[str, object]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _name(value: object) -> str:
    return str(value.get("name") or "") if isinstance(value, Mapping) else ""


def _number(value: object) -> str:
    return str(value.get("registrationNumber") or "") if isinstance(value, Mapping) else ""


def _moment(value: object) -> datetime | None:
    try:
        return datetime.fromisoformat(str(value).replace("Z", "+00:00")).astimezone(UTC)
    except ValueError:
        return None
