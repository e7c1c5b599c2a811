"""What a history may do to the data of the spend service: each change, and how often it is drawn.

`which` names a list and an object of it: `entries/3`, `receipts/0`, `jobs/1`, or an id.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from noarkit.services.spend.standin.data import Record, Store, format_time
from noarkit.services.standins.fake_data import SeededRandom
from noarkit.services.standins.histories.chance import ChanceChange, Chances
from noarkit.services.standins.histories.player import Apply, pick
from noarkit.services.standins.histories.script import Change

_FAMILIES = ("CARD_PURCHASE", "OUT_OF_POCKET", "BILL_INVOICE", "CREDIT_NOTE")
_FINAL = {"status": "COMPLETED", "exportStatus": "EXPORTED", "reviewStatus": "OK"}
_OPEN = {"status": "PENDING", "exportStatus": "NOT_EXPORTED", "reviewStatus": "NOT_SET"}
_ENTRIES, _RECEIPTS, _JOBS = ("entries",), ("receipts",), ("jobs",)


def spend_changes(store: Store) -> Mapping[str, Apply]:
    """Returns what each change does to a spend service, by its name."""
    changes = SpendChanges(store)
    return {
        "create": changes.create,
        "edit": changes.edit,
        "complete": changes.complete,
        "export": changes.export,
        "receipt": changes.add_receipt,
        "delete": changes.delete,
        "restore": changes.restore,
        "hide": changes.hide,
        "show": changes.show,
        "job": changes.set_job_state,
    }


class SpendChanges:
    """Applies changes to the data of a spend service; each returns the id of the object that it met."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._created_count = 0

    def create(self, change: Change) -> str:
        """Makes an entry of a family, settled so many `days` ago; with `open` it is not final yet."""
        self._created_count += 1
        entry_id = SeededRandom(self._store.seed, "created", self._created_count).uuid("id")
        is_open = bool(change.values.get("open"))
        times: Record = {"settledAt": None, "bookkeepingDate": None} if is_open else self._settled(change)
        family = str(change.values.get("family", _FAMILIES[0]))
        performed_at = format_time(self._store.clock.now() - timedelta(days=_days(change) + 2))
        self._store.change(
            entry_id,
            {"family": family, "performedAt": performed_at, "createdAt": performed_at, **times}
            | (_OPEN if is_open else _FINAL),
        )
        return entry_id

    def edit(self, change: Change) -> str:
        """Changes members of an entry."""
        entry_id = self._pick(change, self._entry_ids())
        if entry_id:
            self._store.change(entry_id, dict(change.values))
        return entry_id

    def complete(self, change: Change) -> str:
        """Settles an entry that was not final yet, so many `days` ago."""
        open_ids = [entry_id for entry_id in self._entry_ids() if self._member(entry_id, "status") == "PENDING"]
        entry_id = self._pick(change, open_ids)
        if entry_id:
            self._store.change(entry_id, {**_FINAL, **self._settled(change)})
        return entry_id

    def export(self, change: Change) -> str:
        """Exports an entry that was settled, in a job of its own."""
        settled_ids = [entry_id for entry_id in self._entry_ids() if self._member(entry_id, "settledAt")]
        entry_id = self._pick(change, settled_ids)
        if entry_id:
            self._store.export([entry_id])
        return entry_id

    def add_receipt(self, change: Change) -> str:
        """Adds a receipt, however long ago the entry was settled."""
        entry_id = self._pick(change, self._entry_ids())
        return self._store.add_receipt(entry_id) if entry_id else ""

    def delete(self, change: Change) -> str:
        """Deletes an entry, which is listed as deleted, or a receipt, which is gone."""
        if change.which.startswith(_RECEIPTS[0]):
            receipts = {
                str(receipt["id"]): entry_id
                for entry_id in self._entry_ids()
                for receipt in self._store.receipts(entry_id)
            }
            receipt_id = self._pick(change, list(receipts))
            if receipt_id:
                self._store.absent_receipts.add(receipt_id)
                remaining_ids = [receipt["id"] for receipt in self._store.receipts(receipts[receipt_id])]
                self._store.change(receipts[receipt_id], {"receiptIds": remaining_ids})
            return receipt_id
        entry_id = self._pick(change, self._entry_ids())
        if entry_id:
            self._store.change(entry_id, {"deletedAt": self._store.now()})
        return entry_id

    def restore(self, change: Change) -> str:
        """Takes a deletion back."""
        deleted_ids = [entry_id for entry_id in self._store.entry_ids() if self._member(entry_id, "deletedAt")]
        entry_id = self._pick(change, deleted_ids)
        if entry_id:
            self._store.change(entry_id, {"deletedAt": None})
        return entry_id

    def hide(self, change: Change) -> str:
        """Takes an entry out of every list, as one that appears late is."""
        entry_id = self._pick(change, self._entry_ids())
        if entry_id:
            self._store.hide(entry_id, hides=True)
        return entry_id

    def show(self, change: Change) -> str:
        """Shows a hidden entry."""
        entry_id = self._pick(change, sorted(self._store.hidden_ids))
        if entry_id:
            self._store.hide(entry_id, hides=False)
        return entry_id

    def set_job_state(self, change: Change) -> str:
        """Sets the state of an export job: `status`."""
        numbers = {str(job["id"]): int(job["number"]) for job in self._store.jobs()}
        job_id = self._pick(change, list(numbers))
        if job_id:
            self._store.job_states[numbers[job_id]] = str(change.values.get("status", "completed"))
        return job_id

    def _settled(self, change: Change) -> Record:
        settled_at = self._store.clock.now() - timedelta(days=_days(change))
        day = settled_at.replace(hour=0, minute=0, second=0, microsecond=0)
        return {"settledAt": format_time(settled_at), "bookkeepingDate": format_time(day)}

    def _pick(self, change: Change, ids: list[str]) -> str:
        return pick(change.which, ids)

    def _entry_ids(self) -> list[str]:
        """The ids of the entries that are there."""
        return [
            entry_id
            for entry_id in self._store.entry_ids()
            if (entry := self._store.entry(entry_id)) is not None and not entry.get("deletedAt")
        ]

    def _member(self, entry_id: str, name: str) -> object:
        return (self._store.entry(entry_id) or {}).get(name)


def _days(change: Change) -> float:
    return float(str(change.values.get("days", 0)))


def _settled_ago(dice: SeededRandom) -> dict[str, object]:
    return {"days": dice.choose("days", (0, 1, 20, 59, 61, 200))}


CHANCES = Chances(
    (
        ChanceChange(
            "create",
            _ENTRIES,
            5,
            lambda dice: {
                **_settled_ago(dice),
                "family": dice.choose("family", _FAMILIES),
                **({"open": True} if dice.is_hit("open", 40) else {}),
            },
        ),
        ChanceChange("edit", _ENTRIES, 4, lambda dice: {"note": f"{dice.text('note', 1)} {dice.number('n', 1_000)}"}),
        ChanceChange("complete", _ENTRIES, 5, _settled_ago),
        ChanceChange("export", _ENTRIES, 2),
        ChanceChange("receipt", _ENTRIES, 5),
        ChanceChange("delete", _ENTRIES, 3),
        ChanceChange("delete", _RECEIPTS, 2),
        ChanceChange("restore", _ENTRIES, 2),
        ChanceChange("hide", _ENTRIES, 3),
        ChanceChange("show", _ENTRIES, 4),
        ChanceChange("job", _JOBS, 2, lambda dice: {"status": dice.choose("state", ("pending", "in_progress"))}),
        ChanceChange("job", _JOBS, 3, lambda dice: {"status": "completed"}),
    ),
    ("entries:search", "receipts:search", "/export-jobs", "/items", "/files/", "/vendors"),
    {"hide": "show", "delete": "restore"},
)
