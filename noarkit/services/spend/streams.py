"""Entries, jobs and registers as items. Codes come with their names as they were when the entry was read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from urllib.parse import quote, unquote

from noarkit.errors import ServiceDenied
from noarkit.events import Event, Listener, ignore_event
from noarkit.safe.spill import KeySet
from noarkit.services.canonical import canonical, without_secrets
from noarkit.services.known_keys import KnownKeys
from noarkit.services.paging import Row
from noarkit.services.port import (
    DELETION_KEY_END,
    Deletion,
    FetchFailure,
    GeneratedDocument,
    Item,
    Omission,
    ServiceItem,
    Window,
)
from noarkit.services.prefetch import IN_FLIGHT, in_order, prefetch
from noarkit.services.readable import readable_page
from noarkit.services.spend.calls import Calls, path_part
from noarkit.services.spend.jobs import ENDED
from noarkit.services.spend.labels import JOB_ITEM_LABELS, JOB_LABELS, REGISTER_LABELS, STATES, describe
from noarkit.services.spend.receipts import DATA, PAGE, EntryReceipts, read_receipts
from noarkit.services.spend.registers import NOT_LET_IN, CompanyRegisters
from noarkit.services.spend.settings import RETIRING, SpendSettings
from noarkit.services.spend.vouchers import BILLS, Vouchers, parse_moment

INTERNAL = frozenset({"WALLET", "OVERDRAFT", "BALANCE_AMENDMENT", "CASHBACK"})
_OWN_INVOICE = "_INVOICE"  # of the service itself, whatever its name; bills of others are BILL_INVOICE
FINAL = frozenset({"COMPLETED", "COMPLETED_EXTERNALLY"})
_NEVER_FINAL = frozenset({"CANCELLED", "REJECTED", "ERROR"})
REGISTERS = ("companies", "employees", "vendors", "accounts", "tax-codes", "tag-groups", "tags")
_MINIMAL_EMPLOYEE = ("id", "code", "companyId")
_A_BATCH = 100  # a page of entries; their receipts are read in one call
_BESIDE_LIST = IN_FLIGHT - 2  # one call lists entries, and one may look up what they point at
_TELLS_MORE = 2
_FEW = 100  # so many entries are asked for one by one; of more, those that are not exported yet are listed first
_EARLIER = timedelta(days=1)  # clocks differ
_JOB_TIMES = ("createdAt", "startedAt", "completedAt", "lastUpdatedAt")


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
        self._emit: Listener = ignore_event
        self._registers = CompanyRegisters(calls, company, self._report_denied)
        self._vouchers = Vouchers(self._registers, company)

    def key(self, *parts: object) -> str:
        """Builds a key from the service's own ids."""
        return ":".join(quote(str(part), safe="") for part in (self._company, *parts))

    def entries(self, window: Window, emit: Listener) -> Iterator[ServiceItem]:
        """Yields entries that are settled and final, each with its original receipts. Earlier ones that were not final
        when first seen are read again, and so are those exported since; a sweep reads all of them, and tells what the
        archive has and the service no longer lists. Skipped ones are reported."""
        self._emit = emit
        self._not_final.clear()
        since = None if window.sweep else window.since
        with KeySet() as seen_ids:
            settled_rows = (row for row in self._calls.entries(since, window.until) if seen_ids.add(str(row["id"])))
            yield from self._entry_items(settled_rows, window)
            absent_ids: list[str] = []
            late_rows = self._late_entries(window, seen_ids, absent_ids)
            yield from self._entry_items((row for row in late_rows if seen_ids.add(str(row["id"]))), window)
            if since is None:
                missing_rows = self._missing_entries(window, seen_ids, absent_ids)
                yield from self._entry_items(missing_rows, window)
        for key in dict.fromkeys(self.key("entry", entry_id) for entry_id in absent_ids):
            if window.known_keys.has(key):
                yield _deletion("entries", key, None)

    def not_final(self) -> tuple[str, ...]:
        """Returns the entries that were seen and are not final yet."""
        return tuple(sorted(self._not_final))

    def companies(self) -> tuple[str, ...]:
        """Returns the names of the companies that are read, as far as we may read them."""
        return self._registers.companies()

    def _entry_items(self, entries: Iterator[Row], window: Window) -> Iterator[ServiceItem]:
        again_ids = frozenset(window.again)

        def fetch(batch: list[Row]) -> list[tuple[Row, str, EntryReceipts]]:
            judged_rows = [(row, self._reason_to_skip(row, window.until)) for row in batch]
            entry_ids = [str(row["id"]) for row, reason in judged_rows if not reason and not row.get("deletedAt")]
            receipts_by_entry = {} if window.keys_only else self._calls.receipts(entry_ids)
            return [
                (row, reason, self._receipts(row, receipts_by_entry.get(str(row["id"])), window, again_ids))
                for row, reason in judged_rows
            ]

        with closing(prefetch(_batches(entries, _A_BATCH))) as batches:
            for judged_rows in in_order(batches, fetch, _BESIDE_LIST):
                for row, reason, receipts in judged_rows:
                    yield from self._judge_entry(row, reason, receipts, window.known_keys)

    def _receipts(
        self, row: Row, listed_receipts: list[Row] | None, window: Window, again_ids: frozenset[str]
    ) -> EntryReceipts:
        """Decides on the receipts of an entry; none of one that is not archived."""
        if listed_receipts is None:
            return EntryReceipts([])
        entry_id = str(row["id"])
        key, was_left_out = self.key("entry", entry_id), entry_id in again_ids
        return read_receipts(self._calls, key, row, listed_receipts, window.known_keys, was_left_out=was_left_out)

    def _judge_entry(
        self, row: Row, reason: str, receipts: EntryReceipts, known_keys: KnownKeys
    ) -> Iterator[ServiceItem]:
        key = self.key("entry", row["id"])
        if row.get("deletedAt"):
            if not known_keys.is_gone(key) and (not reason or known_keys.has(key)):
                yield _deletion("entries", key, parse_moment(row["deletedAt"]))
        elif reason:
            if reason == NOT_FINAL:
                self._not_final.add(str(row["id"]))
            yield Omission("entries", key, reason)
        else:
            yield from receipts.remarks
            yield self._vouchers.item(key, row, receipts)

    def _missing_entries(self, window: Window, seen_ids: KeySet, absent_ids: list[str]) -> Iterator[Row]:
        """Yields the entries that the archive has, and that no list of settled ones shows any more."""
        prefix = self.key("entry", "")
        entry_ids = (unquote(key.removeprefix(prefix)) for key in window.known_keys.under(prefix))
        return self._find_entries((entry_id for entry_id in entry_ids if not seen_ids.has(entry_id)), absent_ids)

    def _late_entries(self, window: Window, seen_ids: KeySet, absent_ids: list[str]) -> Iterator[Row]:
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
        yield from self._find_entries(remaining, absent_ids)

    def _find_entries(self, entry_ids: Iterator[str], absent_ids: list[str]) -> Iterator[Row]:
        """Yields entries by their ids; those that are not there are added to `absent_ids`."""
        for entry_id, row in in_order(
            entry_ids, lambda one: (one, self._calls.find_entry(path_part(one))), IN_FLIGHT - 1
        ):
            if row is None:
                absent_ids.append(entry_id)
            else:
                yield row

    def _exported_ids(self, window: Window) -> Iterator[str]:
        """Yields the ids of entries that export jobs took: those of this window, and those that had not ended, or were
        not there, when the archive last heard of jobs."""
        knows_jobs = window.known_keys.has_any(self.key("job", ""))
        try:
            for job in self._calls.jobs(self._settings.export_version):
                is_recent = _is_recent(job, window)
                if not is_recent and (not knows_jobs or window.known_keys.has(self.key("job", job["id"]))):
                    continue
                for item in self._calls.job_items(self._settings.export_version, str(job["id"])):
                    if str(item.get("status")) == "successful":
                        yield str(item.get("accountingEntryId"))
        except ServiceDenied as fault:
            self._report_denied("jobs", fault)

    def jobs(self, window: Window, emit: Listener) -> Iterator[ServiceItem]:
        """Yields ended export jobs, with a manifest of the result of each item: those of the window, and those that the
        archive does not have, however long ago they began. What it has and the service no longer lists is reported.
        They are read, never started."""
        version = self._settings.export_version
        if version == RETIRING:
            emit(Event("remark", {"stream": "jobs", "why": "export-version-retires"}))

        def fetch(job: Row) -> tuple[Row, list[dict[str, object]]]:
            return job, [_item_summary(item, version) for item in self._calls.job_items(version, str(job["id"]))]

        with KeySet() as seen_keys:
            due_jobs = (job for job in self._listed_jobs(version, seen_keys) if self._is_due(job, window))
            for job, items in in_order(due_jobs, fetch, IN_FLIGHT - 1):
                yield self._job(job, items)
            for key in window.known_keys.under(self.key("job", "")):
                if not seen_keys.has(key):
                    yield _deletion("jobs", key, None)

    def _listed_jobs(self, version: int, seen_keys: KeySet) -> Iterator[Row]:
        """Yields every job, and remembers its key."""
        for job in self._calls.jobs(version):
            seen_keys.add(self.key("job", job["id"]))
            yield job

    def _is_due(self, job: Row, window: Window) -> bool:
        """True for a job that has ended and is new to the archive, or was created in the window."""
        created_at = parse_moment(job.get("createdAt"))
        if str(job.get("status")) not in ENDED or (created_at is not None and created_at >= window.until):
            return False
        if window.since is None or window.sweep or not window.known_keys.has(self.key("job", job["id"])):
            return True
        return created_at is not None and created_at >= window.since

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
                if fault.data.get("status") != NOT_LET_IN:
                    raise
                yield FetchFailure("registers", key, str(fault.data.get("why") or fault.code), {"register": name})
                continue
            if name == "employees":  # the buyer is identified by a code; other personal data is left out
                records = [{member: row.get(member) for member in _MINIMAL_EMPLOYEE} for row in records]
            clean = without_secrets(records)
            title = f"Kodeliste {_REGISTER_TITLES[name]} {year}"
            rows = [describe(row, REGISTER_LABELS[name]) for row in records]
            heading = f"{title} {self._registers.company_name}".strip()
            documents = (
                replace(readable_page(f"{name} {year}", heading, {"Innhold": rows}), identity=PAGE),
                GeneratedDocument(
                    f"{name} {year}.json", "application/json", canonical(clean), f"{title}, data", identity=DATA
                ),
            )
            fields = {
                "name": name,
                "title": title,
                "year": year,
                "count": len(records),
                "company_id": self._company,
                "company": self._registers.company_name,
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
        days, settled_at = self._settings.final_after_days, parse_moment(row.get("settledAt"))
        has_waited = bool(days) and settled_at is not None and now - settled_at >= timedelta(days=days)
        return "" if has_waited else NOT_FINAL

    def _job(self, job: Row, items: list[dict[str, object]]) -> ServiceItem:
        key = self.key("job", job["id"])
        created_at = next((moment for name in _JOB_TIMES if (moment := parse_moment(job.get(name))) is not None), None)
        if created_at is None:
            return FetchFailure("jobs", key, "no-date")
        fields = {
            "period": created_at.strftime("%Y-%m"),
            "year": created_at.strftime("%Y"),
            "company_id": self._company,
            "company": self._registers.company_name,
            "title": _job_title(job, created_at),
            "status": str(job.get("status")),
            "count": len(items),
            "created": created_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }
        documents = _job_documents(job, items, str(fields["title"]))
        return Item("jobs", key, fields, parse_moment(job.get("lastUpdatedAt")), documents, kind="job")

    def _report_denied(self, stream: str, fault: ServiceDenied) -> None:
        """Reports once that we may not read something. Raises any other fault."""
        if fault.data.get("status") != NOT_LET_IN:
            raise fault
        if stream not in self._reported:
            self._reported.add(stream)
            self._emit(Event("remark", {"stream": stream, "why": "not-let-in", "key": stream}))


def _is_recent(job: Row, window: Window) -> bool:
    """True for a job that was created in the window, or shortly before."""
    created_at = parse_moment(job.get("createdAt"))
    if created_at is None or window.since is None:
        return False
    return window.since - _EARLIER <= created_at < window.until


def _deletion(stream: str, key: str, deleted_at: datetime | None) -> Deletion:
    return Deletion(stream, f"{key}{DELETION_KEY_END}", deleted_at)


def _job_title(job: Row, created_at: datetime) -> str:
    status = str(job.get("status"))
    return f"Eksport til regnskapet {created_at.date().isoformat()}: {STATES.get(status.upper(), status)}"


def _job_documents(job: Row, items: list[dict[str, object]], title: str) -> tuple[GeneratedDocument, ...]:
    """Builds the page of a job, and its manifest: the job, and the result of each of its items."""
    manifest = canonical(without_secrets({"job": dict(job), "items": items}))
    page = {**describe(job, JOB_LABELS), "Poster": [describe(item, JOB_ITEM_LABELS) for item in items]}
    return (
        replace(readable_page(f"eksport {job['id']}", title, page), identity=PAGE),
        GeneratedDocument(f"eksport {job['id']}.json", "application/json", manifest, f"{title}, data", identity=DATA),
    )


def _item_summary(item: Row, version: int) -> dict[str, object]:
    """Summarises the result of an item; from version 2 on with all its members."""
    if version < _TELLS_MORE:
        return {name: item.get(name) for name in ("accountingEntryId", "status", "failureReason")}
    return dict(item)


def _batches(source: Iterator[Row], size: int) -> Iterator[list[Row]]:
    while batch := list(islice(source, size)):
        yield batch
