"""What a history may do to the data of the CRM: each change, and how often it is drawn.

`which` names a module or a list and an object of it: `Deals/3`, `Notes/0`, `Attachments/7`, or an id.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from noarkit.services.crm.standin.data import Record, Store, format_time, user
from noarkit.services.standins.fake_data import MATTERS, SeededRandom
from noarkit.services.standins.histories.chance import ChanceChange, Chances
from noarkit.services.standins.histories.player import Apply, pick
from noarkit.services.standins.histories.script import Change

_CASES = ("Deals", "Cases", "Inspections")
_WITH_PAPERS = ("Deals", "Cases")
_RELATED = ("Quotes", "Sales_Orders", "Invoices", "Tasks")
_NOTES, _ATTACHMENTS, _EMAILS = "Notes", "Attachments", "Emails"
_PAPER_IDS = {_NOTES: "id", _ATTACHMENTS: "id", _EMAILS: "message_id"}
_STAGES = ("Proposal", "Negotiation", "Closed Won", "Closed Lost")


def crm_changes(store: Store) -> Mapping[str, Apply]:
    """Returns what each change does to a CRM, by its name."""
    return CrmChanges(store).table()


class CrmChanges:
    """Applies changes to the data of a CRM; each returns the id of the object that it met."""

    def __init__(self, store: Store) -> None:
        self._store = store
        for holdings in store.holdings.values():
            holdings.is_sorted = False

    def table(self) -> Mapping[str, Apply]:
        """Returns each change by its name."""
        return {
            "create": self._create,
            "edit": self._edit,
            "complete": self._edit,
            "rename": self._edit,
            "owner": self._edit,
            "move": self._move,
            "delete": self._delete,
            "restore": self._restore,
            "hide": self._hide,
            "show": self._show,
            "refuse": self._refuse,
            "allow": self._allow,
            "note": self._note,
            "attach": self._attach,
            "mail": self._mail,
            "bulk": self._bulk,
        }

    def _create(self, change: Change) -> str:
        """Makes a record; one that belongs to a deal takes the deal at the place `deal`."""
        name = _list_of(change)
        module = self._store.holdings[name].module
        names = {field for field, _ in module.all_fields}
        record: Record = {module.title: "Ny", **_plain(change.values, names)}
        deal_id = pick(f"Deals/{change.values.get('deal', 0)}", self._store.deals.ordered_ids())
        if look_up := next((field for field in ("Deal_Name", "What_Id") if field in names), ""):
            if not deal_id:
                return ""
            record[look_up] = {"id": deal_id, "name": str((self._store.deals.get(deal_id) or {}).get("Deal_Name"))}
        return str(self._store.save(name, record, user(0))["id"])

    def _edit(self, change: Change) -> str:
        """Changes members of a record or note. `quiet` leaves its time of change, `dated_s` moves it so far back."""
        name = _list_of(change)
        if name == _NOTES:
            return self._edit_note(change)
        holdings = self._store.holdings[name]
        record_id = pick(change.which, holdings.ordered_ids())
        was = holdings.get(record_id)
        if was is None:
            return ""
        values = _plain(change.values, {field for field, _ in holdings.module.all_fields})
        if "title" in change.values:
            values[holdings.module.title] = change.values["title"]
        if "owner" in change.values:
            values["Owner"] = user(int(str(change.values["owner"])))
        saved_record = self._store.save(name, {**values, "id": record_id}, user(0))
        holdings.save(record_id, saved_record | self._old_time(change, was))
        return record_id

    def _edit_note(self, change: Change) -> str:
        notes = self._notes()
        note_id = pick(change.which, list(notes))
        if note_id:
            times = {"Modified_Time": self._store.now()} | self._old_time(change, notes[note_id])
            values = {"Note_Content": str(change.values.get("content", "Endret."))} | times
            self._save_note({**notes[note_id], **values})
        return note_id

    def _old_time(self, change: Change, was: Record) -> Record:
        if change.values.get("quiet"):
            return {"Modified_Time": was["Modified_Time"]}
        if "dated_s" not in change.values:
            return {}
        moment = datetime.fromisoformat(self._store.now()) - timedelta(seconds=float(str(change.values["dated_s"])))
        return {"Modified_Time": format_time(moment, self._store.clock.zone)}

    def _move(self, change: Change) -> str:
        """Moves a note or a related record to the deal at the place `deal`."""
        name = _list_of(change)
        deal_id = pick(f"Deals/{change.values.get('deal', 0)}", self._store.deals.ordered_ids())
        if not deal_id:
            return ""
        if name == _NOTES:
            notes = self._notes()
            note_id = pick(change.which, list(notes))
            if note_id:
                parent = {"Parent_Id": self._store.parent(deal_id), "Modified_Time": self._store.now()}
                self._save_note({**notes[note_id], **parent})
            return note_id
        holdings = self._store.holdings[name]
        record_id = pick(change.which, holdings.ordered_ids())
        look_up = next((field for field, _ in holdings.module.all_fields if field in ("Deal_Name", "What_Id")), "")
        if not record_id or not look_up:
            return ""
        parent_record = {"id": deal_id, "name": str((self._store.deals.get(deal_id) or {}).get("Deal_Name"))}
        return str(self._store.save(name, {"id": record_id, look_up: parent_record}, user(0))["id"])

    def _delete(self, change: Change) -> str:
        name = _list_of(change)
        if name in _PAPER_IDS:
            paper_id = pick(change.which, self._paper_ids(name))
            return self._mark_absent(paper_id, is_absent=True) if paper_id else ""
        record_id = pick(change.which, self._store.holdings[name].ordered_ids())
        return record_id if record_id and self._store.delete(name, record_id, user(0)) else ""

    def _restore(self, change: Change) -> str:
        """Takes something back out of the bin, with the times that it had."""
        name = _list_of(change)
        if name in _PAPER_IDS:
            paper_id = pick(change.which, sorted(self._store.absent_ids))
            return self._mark_absent(paper_id, is_absent=False) if paper_id else ""
        holdings = self._store.holdings[name]
        record_id = pick(change.which, sorted(holdings.deleted_records))
        if record_id:
            holdings.restore(record_id)
        return record_id

    def _hide(self, change: Change) -> str:
        """Takes the right to see a record away."""
        holdings = self._store.holdings[_list_of(change)]
        record_id = pick(change.which, holdings.ordered_ids())
        if record_id:
            holdings.hide(record_id, hides=True)
        return record_id

    def _show(self, change: Change) -> str:
        holdings = self._store.holdings[_list_of(change)]
        record_id = pick(change.which, sorted(holdings.hidden_ids))
        if record_id:
            holdings.hide(record_id, hides=False)
        return record_id

    def _refuse(self, change: Change) -> str:
        """Takes the right to read a module away."""
        self._store.holdings[_list_of(change)].is_refused = True
        return _list_of(change)

    def _allow(self, change: Change) -> str:
        """Gives the right to read back: to this module, or to all."""
        for name, holdings in self._store.holdings.items():
            if _list_of(change) in (name, ""):
                holdings.is_refused = False
        return _list_of(change)

    def _note(self, change: Change) -> str:
        record_id = self._with_papers(change)
        if not record_id:
            return ""
        now, writer = self._store.now(), user(1)
        note: Record = {
            "id": self._store.new_id(),
            "Note_Title": change.values.get("title"),
            "Note_Content": str(change.values.get("content", "Ringte.")),
            "Parent_Id": self._store.parent(record_id),
            "Owner": writer,
            "Created_By": writer,
            "Modified_By": writer,
            "Created_Time": now,
            "Modified_Time": now,
            "$state": "save",
        }
        self._store.change_papers(lambda: self._store.extra_notes.update({str(note["id"]): note}))
        return str(note["id"])

    def _attach(self, change: Change) -> str:
        record_id = self._with_papers(change)
        content = str(change.values.get("content", "kom senere")).encode()
        return self._store.attach(record_id, str(change.values.get("name", "brev.txt")), content) if record_id else ""

    def _mail(self, change: Change) -> str:
        record_id = self._with_papers(change)
        values = change.values
        subject, content = str(values.get("subject", "Svar")), str(values.get("content", "Takk."))
        return self._store.receive(record_id, subject, content) if record_id else ""

    def _bulk(self, change: Change) -> str:
        """Lets bulk reads go wrong from now on: `fate` is `"fails"`, `"never"`, `"two"`, `"climbs"`, or empty for
        well."""
        self._store.bulk_fate = str(change.values.get("fate", ""))
        return "bulk"

    def _with_papers(self, change: Change) -> str:
        return pick(change.which, self._store.holdings[_list_of(change)].ordered_ids())

    def _notes(self) -> dict[str, Record]:
        return {str(note["id"]): note for place in self._store.note_order() if (note := self._store.note_at(place))}

    def _save_note(self, note: Record) -> None:
        self._store.change_papers(lambda: self._store.changed_notes.update({str(note["id"]): note}))

    def _paper_ids(self, name: str) -> list[str]:
        if name == _NOTES:
            return list(self._notes())
        ask: Callable[[str], list[Record]] = self._store.attachments if name == _ATTACHMENTS else self._store.emails
        case_ids = (record_id for module in _WITH_PAPERS for record_id in self._store.holdings[module].ordered_ids())
        return [str(row[_PAPER_IDS[name]]) for record_id in case_ids for row in ask(record_id)]

    def _mark_absent(self, paper_id: str, *, is_absent: bool) -> str:
        absent_ids = self._store.absent_ids
        self._store.change_papers(lambda: (absent_ids.add if is_absent else absent_ids.discard)(paper_id))
        return paper_id


def _list_of(change: Change) -> str:
    return change.which.partition("/")[0]


def _plain(values: Mapping[str, object], names: set[str]) -> Record:
    return {name: value for name, value in values.items() if name in names}


def _text(dice: SeededRandom) -> dict[str, object]:
    return {"Description": f"{dice.text('text', 1)} {dice.number('edit', 10_000)}"}


def _any_time(dice: SeededRandom) -> dict[str, object]:
    return _text(dice) | ({"dated_s": 86_400} if dice.is_hit("old", 50) else {"quiet": True})


def _content(dice: SeededRandom) -> dict[str, object]:
    number = dice.number("edit", 10_000)
    text = f"{dice.text('text', 1)} {number}"
    return {"content": text, "subject": f"{dice.choose('matter', MATTERS)} {number}", "name": f"brev {number}.txt"}


def _deal(dice: SeededRandom) -> dict[str, object]:
    return {"deal": dice.number("deal", 40)}


CHANCES = Chances(
    (
        ChanceChange("create", ("Deals", "Cases"), 2, lambda dice: {"Stage": dice.choose("stage", _STAGES)}),
        ChanceChange("create", _RELATED, 3, lambda dice: _deal(dice) | {"Subject": f"Ny {dice.number('n', 1000)}"}),
        ChanceChange("edit", _CASES, 6, _text),
        ChanceChange("edit", (_NOTES,), 2, _content),
        ChanceChange("edit", ("Deals", "Cases"), 1, _any_time),
        ChanceChange("complete", ("Deals",), 2, lambda dice: {"Stage": "Closed Won"}),
        ChanceChange(
            "rename", _CASES, 2, lambda dice: {"title": f"{dice.choose('m', MATTERS)} {dice.number('n', 99)}"}
        ),
        ChanceChange("owner", _CASES, 1, lambda dice: {"owner": dice.number("owner", 12)}),
        ChanceChange("move", (*_RELATED, _NOTES), 2, _deal),
        ChanceChange("delete", (*_CASES, *_RELATED, _NOTES, _ATTACHMENTS, _EMAILS), 5),
        ChanceChange("restore", (*_CASES, *_RELATED, _NOTES), 4),
        ChanceChange("hide", (*_CASES, *_RELATED), 2),
        ChanceChange("show", (*_CASES, *_RELATED), 4),
        ChanceChange("refuse", (*_CASES, *_RELATED), 1),
        ChanceChange("allow", ("",), 2),
        ChanceChange("note", _WITH_PAPERS, 3, _content),
        ChanceChange("attach", _WITH_PAPERS, 3, _content),
        ChanceChange("mail", _WITH_PAPERS, 2, _content),
    ),
    ("/Deals", "/Cases", "/coql", "/Notes", "/Attachments", "/Emails", "/Quotes", "/Tasks", "/actions/count"),
    {"hide": "show", "delete": "restore"},
)
