"""What a spend service holds at a moment, read from the data of its stand-in: vouchers that are settled and final,
export jobs that have ended, registers of the year."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from noarkit.services.spend.standin.data import Record, Store
from tests.services.histories.facts import Fact, Listing, Oracle, as_text, digest

LOOK_BACK = timedelta(days=60)
_BILLS = ("BILL_INVOICE", "CREDIT_NOTE")
_INTERNAL = ("WALLET", "CASHBACK")
_ENDED = ("completed", "completed_with_errors", "failed")
_REGISTERS = ("companies", "employees", "vendors", "accounts", "tax-codes", "tag-groups", "tags")
_MEMBERS = ("id", "note", "accountCode", "transactionValue", "status", "exportStatus", "family", "receiptIds")


def listing(standin: Any) -> Listing:  # Any: the stand-in of this service
    """All that is to be archived."""
    store: Store = standin.store
    facts = [*_entries(store), *_jobs(store), *_registers(store)]
    return Listing({fact.key: fact for fact in facts})


def _entries(store: Store) -> Iterator[Fact]:
    exported_ids = {entry_id for _, entry_ids in store.late_jobs for entry_id in entry_ids}
    for entry_id in store.entry_ids():
        entry = store.entry(entry_id)
        if entry is None or entry.get("deletedAt") or entry["family"] in _INTERNAL:
            continue
        if entry["status"] == "COMPLETED" and entry["exportStatus"] == "EXPORTED":
            yield _entry(store, entry_id, entry, is_in_a_new_job=entry_id in exported_ids)


def _entry(store: Store, entry_id: str, entry: Record, *, is_in_a_new_job: bool) -> Fact:
    settled_at = _moment(str(entry["settledAt"]))
    kind = "bills" if entry["family"] in _BILLS else "period"
    files = tuple(
        (str(receipt["id"]), digest(store.receipt_bytes(entry_id, receipt["id"]) or b""))
        for receipt in store.receipts(entry_id)
    )
    return Fact(
        f"{store.company_id}:entry:{entry_id}",
        f"folder:{store.company_id}:{kind}:{str(entry['bookkeepingDate'])[:7]}",
        files,
        as_text({name: entry.get(name) for name in _MEMBERS}),
        settled_at,
        is_slow=settled_at < store.clock.now() - LOOK_BACK and not is_in_a_new_job,
    )


def _jobs(store: Store) -> Iterator[Fact]:
    for job in store.jobs():
        if job["status"] in _ENDED:
            created_at = _moment(str(job["createdAt"]))
            yield Fact(
                f"{store.company_id}:job:{job['id']}",
                f"folder:{store.company_id}:period:{str(job['createdAt'])[:7]}",
                (),
                as_text({"job": {"id": job["id"], "status": job["status"]}}),
                created_at,
            )


def _registers(store: Store) -> Iterator[Fact]:
    year = store.clock.now().year
    for name in _REGISTERS:
        yield Fact(f"{store.company_id}:codelist:{name}:{year}", f"folder:{store.company_id}:codelists:{year}")


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


ORACLE = Oracle(
    listing,
    look_back_s=LOOK_BACK.total_seconds(),
    sweep_s=100 * 86_400,
    tenant=lambda standin: str(standin.store.company_id),  # type: ignore[attr-defined]  # as above
    records=12,
    is_whole=lambda key: ":entry:" in key,
)
