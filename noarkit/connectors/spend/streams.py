"""Entries, jobs and registers as items. Codes stand with their names as they were when the entry was read."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import islice
from urllib.parse import quote

from noarkit.connectors.ahead import IN_FLIGHT, ahead, in_order
from noarkit.connectors.canonical import canonical, without_secrets
from noarkit.connectors.paging import Row, Seen
from noarkit.connectors.port import Deleted, Item, LeftOut, Made, NotFetched, Paper, ServiceItem, Window
from noarkit.connectors.readable import readable_page
from noarkit.connectors.spend.calls import Calls, part
from noarkit.connectors.spend.jobs import ENDED
from noarkit.connectors.spend.money import shown
from noarkit.connectors.spend.settings import RETIRING, SpendSettings
from noarkit.errors import ServiceDenied
from noarkit.events import Event, Listener, nobody
from noarkit.graph.entity import Content

BILLS = frozenset({"BILL_INVOICE", "CREDIT_NOTE"})
INTERNAL = frozenset({"WALLET", "OVERDRAFT", "BALANCE_AMENDMENT", "CASHBACK"})
_OWN_INVOICE = "_INVOICE"  # of the service itself, whatever its name; bills of others are BILL_INVOICE
# Journeys, meals and what was paid back to a person tell of persons; so do guests at a table.
PERSONAL = frozenset({"MILEAGE", "PER_DIEM", "OUT_OF_POCKET", "REIMBURSEMENT"})
FINAL = frozenset({"COMPLETED", "COMPLETED_EXTERNALLY"})
_NEVER_FINAL = frozenset({"CANCELLED", "REJECTED", "ERROR"})
REGISTERS = ("companies", "employees", "vendors", "accounts", "tax-codes", "tag-groups", "tags")
_MINIMAL_EMPLOYEE = ("id", "code", "companyId")
_A_BATCH = 100  # a page of entries; what hangs on it is asked for in one call
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


class Books:
    """Makes items of what a company's books hold."""

    def __init__(self, calls: Calls, settings: SpendSettings, company: str) -> None:
        self._calls = calls
        self._settings = settings
        self._company = company
        self._waiting: set[str] = set()
        self._told: set[str] = set()
        self._codes: dict[str, dict[str, dict[str, object]]] = {}
        self._lock = threading.Lock()
        self._tell: Listener = nobody

    def key(self, *parts: object) -> str:
        """A key of the service's own ids."""
        return ":".join(quote(str(part), safe="") for part in (self._company, *parts))

    def entries(self, window: Window, tell: Listener) -> Iterator[ServiceItem]:
        """Entries that are settled and final, each with its original receipts. Those of before that were not final when
        they were met are looked at again, and so are those that an export took since. What is left out is told."""
        self._tell = tell
        self._waiting.clear()
        with Seen() as seen:
            found = (row for row in self._calls.entries(window.since, window.until) if seen.first(str(row["id"])))
            yield from self._taken(found, window)
            later = (row for row in self._later(window, seen) if seen.first(str(row["id"])))
            yield from self._taken(later, window)

    def not_final(self) -> tuple[str, ...]:
        """The entries that were met and are not final yet."""
        return tuple(sorted(self._waiting))

    def companies(self) -> tuple[str, ...]:
        """The names of the companies whose books are read, as far as we may know them."""
        return tuple(str(row.get("name")) for row in self._register("companies"))

    def _taken(self, found: Iterator[Row], window: Window) -> Iterator[ServiceItem]:
        def asked(batch: list[Row]) -> tuple[list[tuple[Row, str]], dict[str, list[Row]]]:
            judged = [(row, self._why_not(row, window.until)) for row in batch]
            wanted = [str(row["id"]) for row, why in judged if not why and row.get("receiptIds")]
            return judged, self._calls.receipts(wanted)

        with closing(ahead(_batches(found, _A_BATCH))) as batches:
            for judged, receipts in in_order(batches, asked, _BESIDE_LIST):
                for row, why in judged:
                    yield from self._judged(row, why, receipts.get(str(row["id"]), []))

    def _judged(self, row: Row, why: str, receipts: list[Row]) -> Iterator[ServiceItem]:
        key = self.key("entry", row["id"])
        if row.get("deletedAt"):
            if not why:
                yield Deleted("entries", f"{key}:deleted", _moment(row["deletedAt"]))
        elif why:
            if why == NOT_FINAL:
                self._waiting.add(str(row["id"]))
            yield LeftOut("entries", key, why)
        else:
            yield self._entry(row, receipts)

    def _later(self, window: Window, seen: Seen) -> Iterator[Row]:
        """Entries of before that may be final by now: those that were not when they were met, and those that exports
        took since, however long ago they were settled."""
        if window.since is None:
            return
        asked = [one for one in (*window.again, *self._exported(window)) if not seen.has(one)]
        wanted, waiting = set(asked), set[str]()
        if len(asked) > _FEW:
            for row in self._calls.not_exported():
                if str(row["id"]) in wanted:
                    waiting.add(str(row["id"]))
                    yield row
        rest = (one for one in dict.fromkeys(asked) if one not in waiting)
        for row in in_order(rest, lambda one: self._calls.known_entry(part(one)) or {}, IN_FLIGHT - 1):
            if row:
                yield row

    def _exported(self, window: Window) -> Iterator[str]:
        """The entries that export jobs of this window took."""
        try:
            for job in self._calls.jobs(self._settings.export_version):
                made = _moment(job.get("createdAt"))
                if made is None or window.since is None or made < window.since - _EARLIER or made >= window.until:
                    continue
                for item in self._calls.job_items(self._settings.export_version, str(job["id"])):
                    if str(item.get("status")) == "successful":
                        yield str(item.get("accountingEntryId"))
        except ServiceDenied as fault:
            self._leave_out("jobs", fault)

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

    def registers(self, window: Window, tell: Listener) -> Iterator[ServiceItem]:
        """A snapshot of each register for the year: old vouchers cannot be read without. One that we are not let into
        is set aside, and the others are read."""
        self._tell = tell
        year = window.until.year
        for name in REGISTERS:
            key = self.key("codelist", name, year)
            try:
                found = sorted(self._calls.register(name), key=lambda row: str(row.get("id")))
            except ServiceDenied as fault:
                if fault.data.get("status") != _NOT_LET_IN:
                    raise
                yield NotFetched("registers", key, str(fault.data.get("why") or fault.code), {"register": name})
                continue
            if name == "employees":  # who bought is known by a code; the rest is nobody's business
                found = [{one: row.get(one) for one in _MINIMAL_EMPLOYEE} for row in found]
            clean = without_secrets(found)
            title = f"Kodeliste {_REGISTER_TITLES[name]} {year}"
            made = (
                readable_page(f"{name} {year}", f"{title} {self._company_name}".strip(), {"Innhold": clean}),
                Made(f"{name} {year}.json", "application/json", canonical(clean), f"{title}, data"),
            )
            fields = {
                "name": name,
                "title": title,
                "year": year,
                "count": len(found),
                "company_id": self._company,
                "company": self._company_name,
                "read": window.until.isoformat(timespec="seconds"),
            }
            yield Item("registers", key, fields, None, made=made, kind="register")

    def _why_not(self, row: Row, now: datetime) -> str:
        """Why an entry is not archived now, in a word; empty for one that is."""
        family = str(row.get("family"))
        own = family in INTERNAL or (family.endswith(_OWN_INVOICE) and family not in BILLS)
        if own and not self._settings.with_internal:
            return _FAMILY_REASONS.get(family, "internal-family")
        if str(row.get("status")) not in FINAL:
            return "never-final" if str(row.get("status")) in _NEVER_FINAL else NOT_FINAL
        if str(row.get("exportStatus")) == "EXPORTED":
            return ""
        days, settled = self._settings.final_after_days, _moment(row.get("settledAt"))
        waited = bool(days) and settled is not None and now - settled >= timedelta(days=days)
        return "" if waited else NOT_FINAL

    def _entry(self, row: Row, receipts: Iterable[Row]) -> Item:
        clean = self._resolved(row)
        booked = str(row.get("bookkeepingDate") or row.get("settledAt") or row.get("performedAt") or "")
        vendor = clean.get("vendor")
        supplier = self._supplier(row, vendor)
        amount, day = shown(row.get("transactionValue")), str(row.get("performedAt") or "")[:10]
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
            "period": booked[:7],
            "year": booked[:4],
            "company_id": self._company,
            "company": self._company_name,
            "family": str(row.get("family")),
            "supplier": supplier,
            "supplier_number": _number(vendor),
            "amount": amount,
            "title": title,
            "performed": row.get("performedAt"),
            "booked": booked or None,
            "created": row.get("createdAt"),
            "employee": clean.get("employeeCode"),
            "personal": _is_personal(row),
            "account": row.get("accountCode"),
            "invoice": {"invoiceNumber": number} if number else {},
            "data": clean,
        }
        snapshot = Made(f"bilag {row['id']}.json", "application/json", canonical(clean), f"Bilag {title}, data")
        made = (self._page(row, clean, fields), snapshot)
        key = self.key("entry", row["id"])
        kind = "bill" if is_bill else "entry"
        changed = _moment(row.get("updatedAt"))
        return Item("entries", key, fields, changed, made, contents, kind, made_first=False, papers=papers)

    def _page(self, row: Row, clean: Mapping[str, object], fields: Mapping[str, object]) -> Made:
        account, tax = clean.get("account"), clean.get("taxCode")
        page = {
            "Leverandør": fields["supplier"],
            "Organisasjonsnummer": fields["supplier_number"],
            "Fakturanummer": self._number(row),
            "Beløp": fields["amount"],
            "Utført": row.get("performedAt"),
            "Oppgjort": row.get("settledAt"),
            "Bokført": row.get("bookkeepingDate"),
            "Konto": _coded(account) or row.get("accountCode"),
            "Mva-kode": _coded(tax),
            "Merkelapper": [_coded(tag) for tag in _rows(clean.get("tags")) if _coded(tag)],
            "Ansatt": fields["employee"],
            "Notat": row.get("note"),
            "Selskap": self._company_name,
            "Alle opplysninger": clean,
        }
        return readable_page(f"bilag {row['id']}", f"Bilag {fields['title']}", page)

    def _supplier(self, row: Row, vendor: object) -> str:
        """Who was paid: the shop where a card was used, else the vendor whom the entry points at."""
        names = (row.get("merchant"), vendor, row.get("supplier"), row.get("vendor"))
        return next((name for name in map(_name, names) if name), "Ukjent leverandør")

    def _number(self, row: Row) -> str:
        supplier = row.get("supplier")
        return str(supplier.get("documentNumber") or "") if isinstance(supplier, Mapping) else ""

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
        title = f"Eksport til regnskapet {made.date().isoformat()}"
        documents = (
            readable_page(f"eksport {job['id']}", title, {"Jobb": without_secrets(job), "Poster": items}),
            Made(f"eksport {job['id']}.json", "application/json", manifest, f"{title}, data"),
        )
        changed = _moment(job.get("lastUpdatedAt"))
        return Item("jobs", self.key("job", job["id"]), fields, changed, documents, kind="job")

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
            if (named := self._coded("tags").get(str(tag.get("tagId")), {})) is not None
        ]
        found["tags"] = tags
        found["account"] = self._coded("accounts").get(str(row.get("accountId")))
        found["taxCode"] = self._coded("tax-codes").get(str(row.get("taxCodeId")))
        found["employeeCode"] = self._coded("employees").get(str(row.get("employeeId")), {}).get("code")
        vendor = self._vendor(row.get("supplier"))
        if vendor:
            found["vendor"] = vendor
        return found

    def _vendor(self, supplier: object) -> Mapping[str, object]:
        """The vendor that an entry's supplier is known as, by its number in the books or at the tax office."""
        if not isinstance(supplier, Mapping):
            return {}
        wanted = [str(supplier.get(name)) for name in ("externalSupplierId", "cif") if supplier.get(name)]
        return next((self._vendors[one] for one in wanted if one in self._vendors), {})

    @cached_property
    def _vendors(self) -> dict[str, dict[str, object]]:
        names = ("id", "name", "code", "registrationNumber", "country")
        found: dict[str, dict[str, object]] = {}
        for row in self._register("vendors"):
            told = {name: row[name] for name in names if name in row}
            for name in ("externalId", "code", "taxRegistrationNumber", "registrationNumber"):
                if row.get(name):
                    found.setdefault(str(row[name]), told)
        return found

    @cached_property
    def _company_name(self) -> str:
        found = {str(row["id"]): str(row.get("name") or "") for row in self._register("companies")}
        return found.get(self._company) or next(iter(found.values()), "")

    def _coded(self, register: str) -> dict[str, dict[str, object]]:
        """The codes and names of a register by id, as they are now."""
        with self._lock:
            if register not in self._codes:
                names = ("code", "name", "rate", "type")
                found = self._register(register)
                self._codes[register] = {
                    str(row["id"]): {name: row[name] for name in names if name in row} for row in found
                }
            return self._codes[register]

    def _register(self, name: str) -> list[Row]:
        """A register that others are read by; nothing, and it is told, where we are not let into it."""
        try:
            return list(self._calls.register(name))
        except ServiceDenied as fault:
            self._leave_out(name, fault)
            return []

    def _leave_out(self, what: str, fault: ServiceDenied) -> None:
        """Tells once that we are not let into something. Raises the fault where it is not this alone."""
        if fault.data.get("status") != _NOT_LET_IN:
            raise fault
        if what not in self._told:
            self._told.add(what)
            self._tell(Event("remark", {"stream": what, "why": "not-let-in", "key": what}))


def _ended_within(job: Row, window: Window) -> bool:
    made = _moment(job.get("createdAt"))
    if str(job.get("status")) not in ENDED or made is None or made >= window.until:
        return False
    return window.since is None or made >= window.since


def _kept_of(item: Row, version: int) -> dict[str, object]:
    """What became of an item; from version 2 on with all that it tells."""
    if version < _TELLS_MORE:
        return {name: item.get(name) for name in ("accountingEntryId", "status", "failureReason")}
    return dict(item)


def _batches(found: Iterator[Row], size: int) -> Iterator[list[Row]]:
    while batch := list(islice(found, size)):
        yield batch


def _is_personal(row: Row) -> bool:
    """Whether an entry tells of persons: by its family, or its guests."""
    return bool(str(row.get("family")) in PERSONAL or row.get("attendees"))


def _rows(value: object) -> list[Mapping[str, object]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _name(value: object) -> str:
    return str(value.get("name") or "") if isinstance(value, Mapping) else ""


def _number(value: object) -> str:
    return str(value.get("registrationNumber") or "") if isinstance(value, Mapping) else ""


def _coded(value: object) -> str:
    """A code with its name: `4000 Konto 4000`."""
    parts = (value.get("code"), value.get("name")) if isinstance(value, Mapping) else ()
    return " ".join(str(part) for part in parts if part)


def _text(value: object) -> str | None:
    return str(value) if value else None


def _moment(value: object) -> datetime | None:
    try:
        return datetime.fromisoformat(str(value).replace("Z", "+00:00")).astimezone(UTC)
    except ValueError:
        return None
