"""What a CRM holds at a moment, read from the data of its stand-in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from noarkit.services.crm.standin.data import Record, Store
from tests.services.histories.facts import Fact, Listing, Oracle, as_text, digest

_CASES = ("Deals", "Cases", "Inspections")
_RELATED = ("Quotes", "Sales_Orders", "Purchase_Orders", "Invoices", "Tasks", "Calls")


def listing(standin: Any) -> Listing:  # Any: the stand-in of this service
    """All that is there: each case, and what belongs to a case that is there."""
    store: Store = standin.store
    facts: dict[str, Fact] = {}
    withheld: set[str] = set()
    for fact, is_withheld in _all_facts(store):
        if is_withheld:
            withheld.add(fact.key)
        else:
            facts[fact.key] = fact
    return Listing(facts, frozenset(withheld))


def _all_facts(store: Store) -> Iterator[tuple[Fact, bool]]:
    cases: dict[str, tuple[str, bool, bool]] = {}
    for name in _CASES:
        holdings = store.holdings[name]
        for record_id in holdings.ordered_ids():
            record = holdings.get(record_id) or {}
            case_key = f"{store.org_id}:{name}:{record_id}"
            state = str(record.get("Stage") or record.get("Status") or "").casefold()
            cases[record_id] = case_key, holdings.is_refused, state.startswith("closed")
            yield _record(f"{case_key}:snapshot", case_key, record, store, name), holdings.is_refused
            if holdings.module.has_papers:
                for fact in _papers(store, record_id, case_key, is_closed=state.startswith("closed")):
                    yield fact, holdings.is_refused
    for name in _RELATED:
        holdings = store.holdings[name]
        for record_id in holdings.ordered_ids():
            record = holdings.get(record_id) or {}
            parent = record.get("Deal_Name") or record.get("What_Id")
            case = cases.get(str(parent["id"])) if isinstance(parent, Mapping) else None
            if case is not None:
                key = f"{case[0]}:{name}:{record_id}"
                yield _record(key, case[0], record, store, name), holdings.is_refused or case[1]


def _record(key: str, case_key: str, record: Record, store: Store, module: str) -> Fact:
    names = [name for name, _ in store.holdings[module].module.all_fields]
    members = as_text({name: record.get(name) for name in names})
    return Fact(key, f"folder:{case_key}", (), members, _moment(record["Modified_Time"]))


def _papers(store: Store, record_id: str, case_key: str, *, is_closed: bool) -> Iterator[Fact]:
    folder = f"folder:{case_key}"
    for note in store.notes(record_id):
        text = (str(note["id"]), digest(str(note["Note_Content"]).encode()))
        yield Fact(f"{case_key}:note:{note['id']}", folder, (text,), "", _moment(note["Modified_Time"]))
    for row in store.attachments(record_id):
        data = None if row["$type"] == "Link" else store.attachment(record_id, str(row["id"]))
        files: tuple[tuple[str, str], ...] = () if data is None else ((str(row["id"]), digest(data)),)
        moment = _moment(row["Modified_Time"])
        yield Fact(f"{case_key}:att:{row['id']}", folder, files, "", moment, is_slow=is_closed)
    for place, email in enumerate(store.emails_by_place(record_id)):
        if email["message_id"] not in store.absent_ids:
            enclosures = store.enclosures(record_id, place, email)
            files = tuple((file_id, digest(data)) for file_id, _, data in enclosures)
            key = f"{store.org_id}:email:{email['message_id']}"
            yield Fact(key, folder, files, "", _moment(email["time"]), is_slow=is_closed)


def _moment(value: object) -> datetime:
    return datetime.fromisoformat(str(value))


ORACLE = Oracle(
    listing,
    look_back_s=300,
    sweep_s=31 * 86_400,
    tenant=lambda standin: str(standin.store.org_id),  # type: ignore[attr-defined]  # as above
    is_homeless=lambda key: ":email:" in key,
    is_slow_in_new_folders=False,
)
