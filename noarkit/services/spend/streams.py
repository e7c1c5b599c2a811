"""Entries, jobs and registers as items. Codes come with their names as they were when the entry was read."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import islice
from urllib.parse import quote

from noarkit.errors import ServiceDenied
from noarkit.events import Event, Listener, ignore_event
from noarkit.graph.entity import Content
from noarkit.services.canonical import canonical, without_secrets
from noarkit.services.paging import KeySet, Row
from noarkit.services.port import (
    Deletion,
    FetchFailure,
    GeneratedDocument,
    Item,
    Omission,
    Paper,
    ServiceItem,
    Window,
)
from noarkit.services.prefetch import IN_FLIGHT, in_order, prefetch
from noarkit.services.readable import readable_page
from noarkit.services.spend.calls import Calls, path_part
from noarkit.services.spend.jobs import ENDED
from noarkit.services.spend.money import format_amount
from noarkit.services.spend.settings import RETIRING, SpendSettings

BILLS = frozenset({"BILL_INVOICE", "CREDIT_NOTE"})
INTERNAL = frozenset({"WALLET", "OVERDRAFT", "BALANCE_AMENDMENT", "CASHBACK"})
_OWN_INVOICE = "_INVOICE"  # of the service itself, whatever its name; bills of others are BILL_INVOICE
# Journeys, meals and reimbursements are personal data; so are guests at a meal.
PERSONAL = frozenset({"MILEAGE", "PER_DIEM", "OUT_OF_POCKET", "REIMBURSEMENT"})
FINAL = frozenset({"COMPLETED", "COMPLETED_EXTERNALLY"})
_NEVER_FINAL = frozenset({"CANCELLED", "REJECTED", "ERROR"})
REGISTERS = ("companies", "employees", "vendors", "accounts", "tax-codes", "tag-groups", "tags")
_MINIMAL_EMPLOYEE = ("id", "code", "companyId")
_A_BATCH = 100  # a page of entries; their receipts are read in one call
_BESIDE_LIST = IN_FLIGHT - 2  # one call lists entries, and one may look up what they point at
_TELLS_MORE = 2
_PAPERS = {"application/pdf": "pdf", "image/jpeg": "jpg", "image/png": "png", "application/xml": "xml"}
_NOT_LET_IN = 403
_FEW = 100  # so many entries are asked for one by one; of more, those that are not exported yet are listed first
_EARLIER = timedelta(days=1)  # clocks differ


NOT_FINAL = "not-final"
_FAMILY_REASONS = {"WALLET": "wallet", "CASHBACK": "cashback"}
_REGISTER_TITLES = {
    "companies": "selskaper",
    "employees": "ansatte",
    "vendors": "leverandører",
    "accounts": "kontoplan",
    "tax-codes": "mva-koder",
    "tag-groups": "merkelappgrupper",
    "tags": "merkelapper",
}


class CompanyItems:
    """Builds the items of a company's books."""

    def __init__(self, calls: Calls, settings: SpendSettings, company: str) -> None:
        self._calls = calls
        self._settings = settings
        self._company = company
        self._not_final: set[str] = set()
        self._reported: set[str] = set()
        self._codes: dict[str, dict[str, dict[str, object]]] = {}
        self._lock = threading.Lock()
        self._emit: Listener = ignore_event

    def key(self, *parts: object) -> str:
        """Builds a key from the service's own ids."""
        return ":".join(quote(str(part), safe="") for part in (self._company, *parts))

    def entries(self, window: Window, emit: Listener) -> Iterator[ServiceItem]:
        """Yields entries that are settled and final, each with its original receipts. Earlier ones that were not final
        when first seen are read again, and so are those exported since. Skipped ones are reported."""
        self._emit = emit
        self._not_final.clear()
        with KeySet() as seen_ids:
            settled_rows = (
                row for row in self._calls.entries(window.since, window.until) if seen_ids.add(str(row["id"]))
            )
            yield from self._entry_items(settled_rows, window)
            later = (row for row in self._late_entries(window, seen_ids) if seen_ids.add(str(row["id"])))
            yield from self._entry_items(later, window)

    def not_final(self) -> tuple[str, ...]:
        """Returns the entries that were seen and are not final yet."""
        return tuple(sorted(self._not_final))

    def companies(self) -> tuple[str, ...]:
        """Returns the names of the companies that are read, as far as we may read them."""
        return tuple(str(row.get("name")) for row in self._register("companies"))

    def _entry_items(self, entries: Iterator[Row], window: Window) -> Iterator[ServiceItem]:
        def fetch(batch: list[Row]) -> tuple[list[tuple[Row, str]], dict[str, list[Row]]]:
            judged_rows = [(row, self._reason_to_skip(row, window.until)) for row in batch]
            entry_ids = [str(row["id"]) for row, reason in judged_rows if not reason and row.get("receiptIds")]
            return judged_rows, self._calls.receipts(entry_ids)

        with closing(prefetch(_batches(entries, _A_BATCH))) as batches:
            for judged_rows, receipts in in_order(batches, fetch, _BESIDE_LIST):
                for row, reason in judged_rows:
                    yield from self._judge_entry(row, reason, receipts.get(str(row["id"]), []))

    def _judge_entry(self, row: Row, reason: str, receipts: list[Row]) -> Iterator[ServiceItem]:
        key = self.key("entry", row["id"])
        if row.get("deletedAt"):
            if not reason:
                yield Deletion("entries", f"{key}:deleted", _moment(row["deletedAt"]))
        elif reason:
            if reason == NOT_FINAL:
                self._not_final.add(str(row["id"]))
            yield Omission("entries", key, reason)
        else:
            yield self._entry(row, receipts)

    def _late_entries(self, window: Window, seen_ids: KeySet) -> Iterator[Row]:
        """Yields earlier entries that may be final by now: those that were not when first seen, and those exported
        since, however long ago they were settled."""
        if window.since is None:
            return
        candidates = [
            entry_id for entry_id in (*window.again, *self._exported_ids(window)) if not seen_ids.has(entry_id)
        ]
        candidate_ids, listed_ids = set(candidates), set[str]()
        if len(candidates) > _FEW:
            for row in self._calls.unexported_entries():
                if str(row["id"]) in candidate_ids:
                    listed_ids.add(str(row["id"]))
                    yield row
        remaining = (entry_id for entry_id in dict.fromkeys(candidates) if entry_id not in listed_ids)
        for row in in_order(
            remaining, lambda entry_id: self._calls.find_entry(path_part(entry_id)) or {}, IN_FLIGHT - 1
        ):
            if row:
                yield row

    def _exported_ids(self, window: Window) -> Iterator[str]:
        """Yields the ids of entries that export jobs of this window took."""
        try:
            for job in self._calls.jobs(self._settings.export_version):
                created_at = _moment(job.get("createdAt"))
                if (
                    created_at is None
                    or window.since is None
                    or created_at < window.since - _EARLIER
                    or created_at >= window.until
                ):
                    continue
                for item in self._calls.job_items(self._settings.export_version, str(job["id"])):
                    if str(item.get("status")) == "successful":
                        yield str(item.get("accountingEntryId"))
        except ServiceDenied as fault:
            self._report_denied("jobs", fault)

    def jobs(self, window: Window, emit: Listener) -> Iterator[ServiceItem]:
        """Yields ended export jobs, with a manifest of the result of each item. They are read, never started."""
        version = self._settings.export_version
        if version == RETIRING:
            emit(Event("remark", {"stream": "jobs", "why": "export-version-retires"}))

        def fetch(job: Row) -> tuple[Row, list[dict[str, object]]]:
            return job, [_item_summary(item, version) for item in self._calls.job_items(version, str(job["id"]))]

        ended_jobs = (job for job in self._calls.jobs(version) if _ended_within(job, window))
        for job, items in in_order(ended_jobs, fetch, IN_FLIGHT - 1):
            yield self._job(job, items, _moment(job.get("createdAt")) or window.until)

    def registers(self, window: Window, emit: Listener) -> Iterator[ServiceItem]:
        """Yields a snapshot of each register for the year: old vouchers cannot be read without. One that we may not
        read is reported, and the others are read."""
        self._emit = emit
        year = window.until.year
        for name in REGISTERS:
            key = self.key("codelist", name, year)
            try:
                records = sorted(self._calls.register(name), key=lambda row: str(row.get("id")))
            except ServiceDenied as fault:
                if fault.data.get("status") != _NOT_LET_IN:
                    raise
                yield FetchFailure("registers", key, str(fault.data.get("why") or fault.code), {"register": name})
                continue
            if name == "employees":  # the buyer is identified by a code; other personal data is left out
                records = [{member: row.get(member) for member in _MINIMAL_EMPLOYEE} for row in records]
            clean = without_secrets(records)
            title = f"Kodeliste {_REGISTER_TITLES[name]} {year}"
            documents = (
                readable_page(f"{name} {year}", f"{title} {self._company_name}".strip(), {"Innhold": clean}),
                GeneratedDocument(f"{name} {year}.json", "application/json", canonical(clean), f"{title}, data"),
            )
            fields = {
                "name": name,
                "title": title,
                "year": year,
                "count": len(records),
                "company_id": self._company,
                "company": self._company_name,
                "read": window.until.isoformat(timespec="seconds"),
            }
            yield Item("registers", key, fields, None, generated=documents, kind="register")

    def _reason_to_skip(self, row: Row, now: datetime) -> str:
        """Returns why an entry is not archived now, in one word; empty for one that is."""
        family = str(row.get("family"))
        is_internal = family in INTERNAL or (family.endswith(_OWN_INVOICE) and family not in BILLS)
        if is_internal and not self._settings.with_internal:
            return _FAMILY_REASONS.get(family, "internal-family")
        if str(row.get("status")) not in FINAL:
            return "never-final" if str(row.get("status")) in _NEVER_FINAL else NOT_FINAL
        if str(row.get("exportStatus")) == "EXPORTED":
            return ""
        days, settled_at = self._settings.final_after_days, _moment(row.get("settledAt"))
        has_waited = bool(days) and settled_at is not None and now - settled_at >= timedelta(days=days)
        return "" if has_waited else NOT_FINAL

    def _entry(self, row: Row, receipts: Iterable[Row]) -> Item:
        clean = self._resolve_codes(row)
        booked_at = str(row.get("bookkeepingDate") or row.get("settledAt") or row.get("performedAt") or "")
        vendor = clean.get("vendor")
        supplier = self._supplier(row, vendor)
        amount, day = format_amount(row.get("transactionValue")), str(row.get("performedAt") or "")[:10]
        is_bill = str(row.get("family")) in BILLS
        title = " ".join(part for part in (supplier, day, amount) if part)
        contents = tuple(self._content(row, receipt) for receipt in receipts)
        paper = "Faktura" if is_bill else "Kvittering"
        papers = {
            content.locator: Paper(f"{paper} fra {title}", _text(receipt.get("createdAt")))
            for content, receipt in zip(contents, receipts, strict=True)
        }
        number = self._number(row)
        fields = {
            "period": booked_at[:7],
            "year": booked_at[:4],
            "company_id": self._company,
            "company": self._company_name,
            "family": str(row.get("family")),
            "supplier": supplier,
            "supplier_number": _number(vendor),
            "amount": amount,
            "title": title,
            "performed": row.get("performedAt"),
            "booked": booked_at or None,
            "created": row.get("createdAt"),
            "employee": clean.get("employeeCode"),
            "personal": _is_personal(row),
            "account": row.get("accountCode"),
            "invoice": {"invoiceNumber": number} if number else {},
            "data": clean,
        }
        snapshot = GeneratedDocument(
            f"bilag {row['id']}.json", "application/json", canonical(clean), f"Bilag {title}, data"
        )
        generated = (self._page(row, clean, fields), snapshot)
        key = self.key("entry", row["id"])
        kind = "bill" if is_bill else "entry"
        changed_at = _moment(row.get("updatedAt"))
        return Item("entries", key, fields, changed_at, generated, contents, kind, generated_first=False, papers=papers)

    def _page(self, row: Row, clean: Mapping[str, object], fields: Mapping[str, object]) -> GeneratedDocument:
        account, tax = clean.get("account"), clean.get("taxCode")
        page = {
            "Leverandør": fields["supplier"],
            "Organisasjonsnummer": fields["supplier_number"],
            "Fakturanummer": self._number(row),
            "Beløp": fields["amount"],
            "Utført": row.get("performedAt"),
            "Oppgjort": row.get("settledAt"),
            "Bokført": row.get("bookkeepingDate"),
            "Konto": _format_code(account) or row.get("accountCode"),
            "Mva-kode": _format_code(tax),
            "Merkelapper": [_format_code(tag) for tag in _rows(clean.get("tags")) if _format_code(tag)],
            "Ansatt": fields["employee"],
            "Notat": row.get("note"),
            "Selskap": self._company_name,
            "Alle opplysninger": clean,
        }
        return readable_page(f"bilag {row['id']}", f"Bilag {fields['title']}", page)

    def _supplier(self, row: Row, vendor: object) -> str:
        """Returns the name of who was paid: the shop where a card was used, or else the vendor of the entry."""
        names = (row.get("merchant"), vendor, row.get("supplier"), row.get("vendor"))
        return next((name for name in map(_name, names) if name), "Ukjent leverandør")

    def _number(self, row: Row) -> str:
        supplier = row.get("supplier")
        return str(supplier.get("documentNumber") or "") if isinstance(supplier, Mapping) else ""

    def _job(self, job: Row, items: list[dict[str, object]], created_at: datetime) -> Item:
        manifest = canonical(without_secrets({"job": dict(job), "items": items}))
        fields = {
            "period": created_at.strftime("%Y-%m"),
            "year": created_at.strftime("%Y"),
            "company_id": self._company,
            "company": self._company_name,
            "status": str(job.get("status")),
            "count": len(items),
            "created": job.get("createdAt"),
        }
        title = f"Eksport til regnskapet {created_at.date().isoformat()}"
        documents = (
            readable_page(f"eksport {job['id']}", title, {"Jobb": without_secrets(job), "Poster": items}),
            GeneratedDocument(f"eksport {job['id']}.json", "application/json", manifest, f"{title}, data"),
        )
        changed_at = _moment(job.get("lastUpdatedAt"))
        return Item("jobs", self.key("job", job["id"]), fields, changed_at, documents, kind="job")

    def _content(self, row: Row, receipt: Row) -> Content:
        kind = str(receipt.get("mimeType") or "")
        size = receipt.get("sizeInBytes")
        locator = f"receipt:{quote(str(row['id']), safe='')}/{quote(str(receipt['id']), safe='')}"
        name = f"kvittering {receipt['id']}.{_PAPERS.get(kind, 'bin')}"
        return Content(locator, name, size if isinstance(size, int) else None, media_type=kind or None)

    def _resolve_codes(self, row: Row) -> dict[str, object]:
        """Returns the entry with the codes and names of what it refers to, and without what is not needed."""
        clean = without_secrets(row)
        entry: dict[str, object] = dict(clean) if isinstance(clean, Mapping) else {}
        entry.pop("receiptUrls", None)
        tags = [
            {**tag, "code": register_row.get("code"), "name": register_row.get("name")}
            for tag in _rows(row.get("tags"))
            if (register_row := self._codes_by_id("tags").get(str(tag.get("tagId")), {})) is not None
        ]
        entry["tags"] = tags
        entry["account"] = self._codes_by_id("accounts").get(str(row.get("accountId")))
        entry["taxCode"] = self._codes_by_id("tax-codes").get(str(row.get("taxCodeId")))
        entry["employeeCode"] = self._codes_by_id("employees").get(str(row.get("employeeId")), {}).get("code")
        vendor = self._vendor(row.get("supplier"))
        if vendor:
            entry["vendor"] = vendor
        return entry

    def _vendor(self, supplier: object) -> Mapping[str, object]:
        """Finds the vendor of an entry's supplier, by its number in the books or at the tax office."""
        if not isinstance(supplier, Mapping):
            return {}
        numbers = [str(supplier.get(name)) for name in ("externalSupplierId", "cif") if supplier.get(name)]
        return next((self._vendors[number] for number in numbers if number in self._vendors), {})

    @cached_property
    def _vendors(self) -> dict[str, dict[str, object]]:
        names = ("id", "name", "code", "registrationNumber", "country")
        vendors: dict[str, dict[str, object]] = {}
        for row in self._register("vendors"):
            vendor = {name: row[name] for name in names if name in row}
            for name in ("externalId", "code", "taxRegistrationNumber", "registrationNumber"):
                if row.get(name):
                    vendors.setdefault(str(row[name]), vendor)
        return vendors

    @cached_property
    def _company_name(self) -> str:
        names_by_id = {str(row["id"]): str(row.get("name") or "") for row in self._register("companies")}
        return names_by_id.get(self._company) or next(iter(names_by_id.values()), "")

    def _codes_by_id(self, register: str) -> dict[str, dict[str, object]]:
        """Returns the current codes and names of a register by id."""
        with self._lock:
            if register not in self._codes:
                names = ("code", "name", "rate", "type")
                records = self._register(register)
                self._codes[register] = {
                    str(row["id"]): {name: row[name] for name in names if name in row} for row in records
                }
            return self._codes[register]

    def _register(self, name: str) -> list[Row]:
        """Reads a register that entries refer to; empty, and reported, if we may not read it."""
        try:
            return list(self._calls.register(name))
        except ServiceDenied as fault:
            self._report_denied(name, fault)
            return []

    def _report_denied(self, stream: str, fault: ServiceDenied) -> None:
        """Reports once that we may not read something. Raises any other fault."""
        if fault.data.get("status") != _NOT_LET_IN:
            raise fault
        if stream not in self._reported:
            self._reported.add(stream)
            self._emit(Event("remark", {"stream": stream, "why": "not-let-in", "key": stream}))


def _ended_within(job: Row, window: Window) -> bool:
    created_at = _moment(job.get("createdAt"))
    if str(job.get("status")) not in ENDED or created_at is None or created_at >= window.until:
        return False
    return window.since is None or created_at >= window.since


def _item_summary(item: Row, version: int) -> dict[str, object]:
    """Summarises the result of an item; from version 2 on with all its members."""
    if version < _TELLS_MORE:
        return {name: item.get(name) for name in ("accountingEntryId", "status", "failureReason")}
    return dict(item)


def _batches(source: Iterator[Row], size: int) -> Iterator[list[Row]]:
    while batch := list(islice(source, size)):
        yield batch


def _is_personal(row: Row) -> bool:
    """True if an entry tells of persons: by its family, or its guests."""
    return bool(str(row.get("family")) in PERSONAL or row.get("attendees"))


def _rows(value: object) -> list[Mapping[str, object]]:
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []


def _name(value: object) -> str:
    return str(value.get("name") or "") if isinstance(value, Mapping) else ""


def _number(value: object) -> str:
    return str(value.get("registrationNumber") or "") if isinstance(value, Mapping) else ""


def _format_code(value: object) -> str:
    """Formats a code with its name: `4000 Konto 4000`."""
    parts = (value.get("code"), value.get("name")) if isinstance(value, Mapping) else ()
    return " ".join(str(part) for part in parts if part)


def _text(value: object) -> str | None:
    return str(value) if value else None


def _moment(value: object) -> datetime | None:
    try:
        return datetime.fromisoformat(str(value).replace("Z", "+00:00")).astimezone(UTC)
    except ValueError:
        return None
