"""The data of the CRM: records generated from the seed, and the changes made since.

Generated records are never stored; changes, new records and deletions are. A module is ordered by time of change.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, timezone
from typing import cast

from noarkit.services.crm.standin.shapes import MODULES, USERS, Module
from noarkit.services.standins.fake_data import MATTERS, SeededRandom, mail_of
from noarkit.services.standins.histories.player import OSLO, HistoryClock, make_clock
from noarkit.services.standins.histories.script import History
from noarkit.services.standins.papers import PAPERS

Record = dict[str, object]
NotePlace = tuple[str, str, str, int | None]  # time of change, id, record, and number if generated
STAGES = ("Qualification", "Proposal", "Negotiation", "Closed Won", "Closed Lost")
_WITH_NOTES = ("Deals", "Cases")
_ID_BASE = 4_150_868_000_000_000_000
_MAX_CACHED = 50_000
_SPAN_S = 900 * 86_400
_FIRST = datetime(2023, 1, 2, 7, 0, tzinfo=UTC)


def format_time(moment: datetime, offset: timedelta = OSLO) -> str:
    """Formats a timestamp as the service does: in whole seconds, with an offset."""
    return moment.astimezone(timezone(offset)).isoformat(timespec="seconds")


def user(number: int) -> Record:
    """Returns a user as records name one."""
    given_name, family_name = SeededRandom("user", number).person("name")
    return {
        "id": str(_ID_BASE + 900_000_000 + number),
        "name": f"{given_name} {family_name}",
        "email": f"u{number}@crm.example",
    }


def by_name(value: object) -> object:
    """Reduces a user to id and name; anything else is unchanged."""
    if isinstance(value, Mapping) and "email" in value:
        return {"id": value["id"], "name": value["name"]}
    return value


@dataclass(slots=True)
class ModuleRecords:
    """The records of one module."""

    module: Module
    seed: int
    count: int
    changed_records: dict[str, Record] = field(default_factory=dict)
    deleted_records: dict[str, Record] = field(default_factory=dict)
    _cache: dict[int, Record] = field(default_factory=dict)
    hidden_ids: set[str] = field(default_factory=set)
    is_refused: bool = False
    is_sorted: bool = True
    _order: list[str] | None = None
    _lock: threading.RLock = field(default_factory=threading.RLock)
    version: int = 0

    @property
    def _base(self) -> int:
        return _ID_BASE + self.module.place * 10_000_000_000

    def record_id(self, number: int) -> str:
        """Returns the id of a generated record."""
        return str(self._base + number)

    def number(self, record_id: str) -> int | None:
        """Returns the number of a generated record; None for any other id."""
        place = int(record_id) - self._base if record_id.isdigit() else -1
        return place if 0 <= place < self.count else None

    def get(self, record_id: str) -> Record | None:
        """Returns a record; None if there is none."""
        if record_id in self.deleted_records or record_id in self.hidden_ids:
            return None
        if record_id in self.changed_records:
            return self.changed_records[record_id]
        number = self.number(record_id)
        if number is None:
            return None
        record = self._cache.get(number)
        if record is None:
            record = self.seeded_record(number)
            if len(self._cache) < _MAX_CACHED:
                self._cache[number] = record
        return record

    def seeded_record(self, number: int) -> Record:
        """Generates a record from the seed."""
        dice = SeededRandom(self.seed, self.module.name, number)
        created_at = _FIRST + timedelta(seconds=int(_SPAN_S * (number / max(self.count, 1))))
        owner = user(dice.number("owner", USERS))
        record: Record = {
            "id": self.record_id(number),
            "Owner": owner,
            "Created_By": owner,
            "Modified_By": user(dice.number("editor", USERS)),
            "Created_Time": format_time(created_at),
            "Modified_Time": format_time(created_at + timedelta(seconds=dice.number("edited", 600))),
            "Tag": [],
            "$approved": True,
        }
        return record | self.module.roll(dice, number, self)

    def ordered_ids(self) -> list[str]:
        """Returns every record id, oldest change first."""
        with self._lock:
            if self._order is None:
                seeded = (self.record_id(number) for number in range(self.count))
                absent_ids = self.deleted_records.keys() | self.hidden_ids
                unchanged = [
                    record_id
                    for record_id in seeded
                    if record_id not in self.changed_records and record_id not in absent_ids
                ]
                later = [record_id for record_id in self.changed_records if record_id not in absent_ids]
                if not self.is_sorted:  # changes may bear old times
                    unchanged, later = [], unchanged + later
                self._order = unchanged + sorted(later, key=self._changed_at)
            return self._order

    def _changed_at(self, record_id: str) -> tuple[datetime, str]:
        record = self.get(record_id) or {}
        return datetime.fromisoformat(str(record["Modified_Time"])), record_id

    def save(self, record_id: str, record: Record) -> None:
        """Stores a record."""
        with self._lock:
            self.changed_records[record_id] = record
            self._invalidate()

    def delete(self, record_id: str, tombstone: Record) -> None:
        """Deletes a record and keeps its tombstone for the bin."""
        with self._lock:
            self.deleted_records[record_id] = tombstone
            self._invalidate()

    def restore(self, record_id: str) -> None:
        """Takes a record back out of the bin, with the times that it had."""
        with self._lock:
            self.deleted_records.pop(record_id, None)
            self._invalidate()

    def hide(self, record_id: str, *, hides: bool) -> None:
        """Hides a record from this user, or shows it again; no time tells of it."""
        with self._lock:
            (self.hidden_ids.add if hides else self.hidden_ids.discard)(record_id)
            self._invalidate()

    def _invalidate(self) -> None:
        self._order = None
        self.version += 1


class Store:
    """The whole CRM. Safe for threads."""

    def __init__(self, records: int, seed: int) -> None:
        self.seed = seed
        self.lock = threading.RLock()
        self.org_id = str(20_000_000_000 + seed)
        self.holdings = {
            module.name: ModuleRecords(module, seed, max(1, int(records * module.share)) if module.share else 0)
            for module in MODULES
        }
        self.deals = self.holdings["Deals"]
        self._next = 0
        self.extra_notes: dict[str, Record] = {}
        self._notes: tuple[tuple[int, ...], list[NotePlace]] | None = None
        self.extra_files: dict[str, bytes] = {}
        self.extra_papers: dict[str, list[tuple[Record, bytes]]] = {}
        self.extra_letters: dict[str, list[Record]] = {}
        self.changed_notes: dict[str, Record] = {}
        self.absent_ids: set[str] = set()  # notes, attachments and emails that are deleted, or hidden from this user
        self.paper_version = 0
        self.clock = HistoryClock()
        self.page_rows = 200
        self.bulk_fate = ""  # how bulk reads go wrong

    def use_history(self, history: History | None) -> None:
        """Takes the clock and the pages of a history."""
        self.clock = make_clock(history)
        self.page_rows = (history.page_rows if history else None) or self.page_rows

    def new_id(self) -> str:
        """Returns an unused id."""
        with self.lock:
            self._next += 1
            return str(_ID_BASE + 9_000_000_000_000 + self._next)

    def now(self) -> str:
        """Returns the time of a change."""
        return format_time(self.clock.now(), self.clock.zone)

    def save(self, module: str, record: Record, by: Record) -> Record:
        """Adds or changes a record; missing members stay as they are."""
        with self.lock:
            holdings = self.holdings[module]
            record_id = str(record.get("id") or self.new_id())
            was = holdings.get(record_id) or {"Created_Time": self.now(), "Created_By": by, "Owner": by}
            full_record = {**was, **record, "id": record_id, "Modified_Time": self.now(), "Modified_By": by}
            holdings.save(record_id, full_record)
            return full_record

    def set_last_activity(self, module: str, record_id: str) -> None:
        """Moves a record's time of last activity, but not its time of change."""
        with self.lock:
            holdings = self.holdings[module]
            record = holdings.get(record_id) or {}
            holdings.save(record_id, {**record, "Last_Activity_Time": self.now()})

    def reshape(self, module: str, fields: Mapping[str, str | None]) -> None:
        """Changes the fields of a module: adds one, changes its type, or removes it (None)."""
        with self.lock:
            holdings = self.holdings[module]
            all_fields = {**dict(holdings.module.fields), **fields}
            remaining = tuple((name, kind) for name, kind in all_fields.items() if kind is not None)
            holdings.module = replace(holdings.module, fields=remaining)

    def delete(self, module: str, record_id: str, by: Record) -> bool:
        """Moves a record to the bin."""
        with self.lock:
            holdings = self.holdings[module]
            was = holdings.get(record_id)
            if was is None:
                return False
            tombstone = {
                "id": record_id,
                "display_name": str(was.get(holdings.module.title, "")),
                "type": "recycle",
                "deleted_time": self.now(),
                "deleted_by": by_name(by),
                "created_by": by_name(was.get("Created_By")),
            }
            holdings.delete(record_id, tombstone)
            return True

    def notes(self, deal_id: str) -> list[Record]:
        """Returns the notes of a deal or case."""
        return [note for position in self.note_order() if _parent(note := self.note_at(position)) == deal_id]

    def note(self, deal_id: str, place: int) -> Record:
        """Generates one note."""
        dice = SeededRandom(self.seed, "note", deal_id, place)
        created_at = self._noted_at(deal_id, place)
        writer = user(dice.number("writer", USERS))
        return {
            "id": self._note_id(deal_id, place),
            "Note_Title": dice.choose("title", MATTERS) if dice.is_hit("titled", 70) else None,
            "Note_Content": dice.text("content", 1 + dice.number("length", 4)),
            "Parent_Id": self.parent(deal_id),
            "Owner": writer,
            "Created_By": writer,
            "Modified_By": writer,
            "Created_Time": format_time(created_at),
            "Modified_Time": format_time(created_at),
            "$attachments": None,
            "$state": "save",
        }

    def parent(self, record_id: str) -> Record:
        """Returns a record as its notes name it."""
        name = self.module_of(record_id)
        module = self.holdings[name].module
        record = self.holdings[name].get(record_id) or {}
        api = {"api_name": name, "id": str(_ID_BASE + module.place)}
        return {"module": api, "id": record_id, "name": str(record.get(module.title) or "…")}

    def note_order(self) -> list[NotePlace]:
        """Returns the places of all notes, oldest change first."""
        with self.lock:
            versions = (self.holdings[name].version for name in _WITH_NOTES)
            version = (len(self.extra_notes), self.paper_version, *versions)
            if self._notes is None or self._notes[0] != version:
                order: list[NotePlace] = [
                    (format_time(self._noted_at(record_id, place)), self._note_id(record_id, place), record_id, place)
                    for name in _WITH_NOTES
                    for record_id in self.holdings[name].ordered_ids()
                    for place in range(self._amount(record_id, "notes", 3))
                    if self._note_id(record_id, place) not in self.changed_notes
                ]
                order += [
                    (str(note["Modified_Time"]), record_id, record_id, None)
                    for record_id, note in (self.extra_notes | self.changed_notes).items()
                    if self.record_of(_parent(note)) is not None
                ]
                present = [position for position in order if position[1] not in self.absent_ids]
                self._notes = (version, sorted(present, key=lambda position: (_instant(position[0]), position[1])))
            return self._notes[1]

    def record_of(self, record_id: str) -> Record | None:
        """Returns a deal, case or other record by its id alone; None if there is none, or this user may not see it."""
        return self.holdings[self.module_of(record_id)].get(record_id)

    def change_papers(self, change: Callable[[], object]) -> None:
        """Changes notes, attachments or emails."""
        with self.lock:
            change()
            self.paper_version += 1

    def note_at(self, position: NotePlace) -> Record:
        """Returns the note at a place of the order."""
        _, _, deal_id, place = position
        if place is None:
            return self.changed_notes.get(deal_id) or self.extra_notes[deal_id]
        return self.note(deal_id, place)

    def _noted_at(self, deal_id: str, place: int) -> datetime:
        return _FIRST + timedelta(seconds=self._age_s(deal_id) + place * 3_600)

    def _note_id(self, deal_id: str, place: int) -> str:
        return str(int(deal_id) * 10 + place + 1)

    def attachments(self, record_id: str) -> list[Record]:
        """Returns the attachments of a deal or case."""
        attachments: list[Record] = []
        for place in range(self._amount(record_id, "attachments", 2)):
            dice = SeededRandom(self.seed, "attachment", record_id, place)
            suffix, _, _ = dice.choose("paper", PAPERS)
            is_link = dice.is_hit("linked", 2)
            attachment_id = str(int(record_id) * 10 + place + 6)
            created = format_time(_FIRST + timedelta(seconds=self._age_s(record_id) + place * 60))
            writer = user(dice.number("writer", USERS))
            attachments.append(
                {
                    "id": attachment_id,
                    "File_Name": f"{dice.choose('matter', MATTERS)} {place + 1}.{suffix}",
                    **({} if is_link else {"Size": str(len(self.attachment(record_id, attachment_id) or b""))}),
                    "Created_Time": created,
                    "Modified_Time": created,
                    "Owner": writer,
                    "Created_By": writer,
                    "Modified_By": writer,
                    "Parent_Id": {"id": record_id, "name": self.parent(record_id)["name"]},
                    "$file_id": attachment_id,
                    "$type": "Link" if is_link else "Attachment",
                    "$link_url": "https://files.example.org/shared/1" if is_link else None,
                    "$attachment_type": 1,
                    "$se_module": self.module_of(record_id),
                }
            )
        attachments += [row for row, _ in self.extra_papers.get(record_id, ())]
        return [row for row in attachments if row["id"] not in self.absent_ids]

    def attach(self, record_id: str, name: str, data: bytes) -> str:
        """Adds an attachment. The record itself, and its time of change, do not change."""
        created, writer, attachment_id = self.now(), user(1), self.new_id()
        row: Record = {
            "id": attachment_id,
            "File_Name": name,
            "Size": str(len(data)),
            "Created_Time": created,
            "Modified_Time": created,
            "Owner": writer,
            "Created_By": writer,
            "Modified_By": writer,
            "Parent_Id": {"id": record_id, "name": self.parent(record_id)["name"]},
            "$file_id": attachment_id,
            "$type": "Attachment",
            "$link_url": None,
            "$attachment_type": 1,
            "$se_module": self.module_of(record_id),
        }
        with self.lock:
            self.extra_papers.setdefault(record_id, []).append((row, data))
        return attachment_id

    def receive(self, record_id: str, subject: str, content: str) -> str:
        """Adds a received email. The record itself does not change."""
        email = {**self.email(record_id, 0), "message_id": f"extra{self.new_id()}", "subject": subject, "sent": False}
        now = self.now()
        with self.lock:
            more = {"time": now, "sent_time": now, "has_attachment": False, "content": content}
            self.extra_letters.setdefault(record_id, []).append({**email, **more})
        return str(email["message_id"])

    def attachment(self, record_id: str, attachment_id: str) -> bytes | None:
        """Returns the bytes of an attachment; None if there is none."""
        if attachment_id in self.absent_ids:
            return None
        for row, data in self.extra_papers.get(record_id, ()):
            if row["id"] == attachment_id:
                return data
        place = int(attachment_id) - int(record_id) * 10 - 6 if attachment_id.isdigit() else -1
        if not 0 <= place < self._amount(record_id, "attachments", 2):
            return None
        dice = SeededRandom(self.seed, "attachment", record_id, place)
        _, _, make = dice.choose("paper", PAPERS)
        return make(f"{record_id} {attachment_id} {dice.text('content', 2)}")

    def emails(self, record_id: str) -> list[Record]:
        """Returns the emails of a deal or case, without their bodies."""
        return [email for email in self.emails_by_place(record_id) if email["message_id"] not in self.absent_ids]

    def emails_by_place(self, record_id: str) -> list[Record]:
        """Returns the emails of a record with the absent ones, so that each stands at its own place."""
        extra = self.extra_letters.get(record_id, ())
        plain = [{name: value for name, value in email.items() if name != "content"} for email in extra]
        return [self.email(record_id, place) for place in range(self._amount(record_id, "emails", 4))] + plain

    def email(self, record_id: str, place: int) -> Record:
        """Returns one email, without its body."""
        dice = SeededRandom(self.seed, "email", record_id, place)
        given_name, family_name = dice.person("other")
        company = dice.company("company")
        correspondent = {"user_name": f"{given_name} {family_name}", "email": mail_of(given_name, family_name, company)}
        employee = user(dice.number("ours", USERS))
        us = {"user_name": employee["name"], "email": employee["email"]}
        is_sent = dice.is_hit("sent", 50)
        sent_at = format_time(_FIRST + timedelta(seconds=self._age_s(record_id) + place * 7_200))
        return {
            "message_id": dice.uuid("message").replace("-", "") + f"{place:02}",
            "subject": ("SV: " if place else "") + dice.choose("subject", MATTERS),
            "from": us if is_sent else correspondent,
            "to": [correspondent if is_sent else us],
            "cc": [{"user_name": None, "email": "arkiv@crm.example"}] if dice.is_hit("cc", 20) else [],
            "time": sent_at,
            "sent_time": sent_at,
            "sent": is_sent,
            "read": True,
            "status": [{"type": "sent", "bounced_time": None, "bounced_reason": None}],
            "source": "crm",
            "owner": {"id": employee["id"], "name": employee["name"]},
            "has_attachment": dice.is_hit("attached", 30),
            "has_thread_attachment": False,
            "thread_id": dice.uuid("thread"),
            **dict.fromkeys(("summary", "activity_info", "intent", "sentiment_info", "emotion")),
            "linked_record": self.parent(record_id),
        }

    def letter(self, record_id: str, message_id: str) -> Record | None:
        """Returns an email with its body and attachments."""
        if message_id in self.absent_ids:
            return None
        for letter in self.extra_letters.get(record_id, ()):
            if letter["message_id"] == message_id:
                return {**letter, "mail_format": "text", "attachments": []}
        for place, email in enumerate(self.emails_by_place(record_id)):
            if email["message_id"] == message_id:
                dice = SeededRandom(self.seed, "email", record_id, place)
                text = dice.text("body", 3)
                html = dice.is_hit("html", 60)
                files = self.enclosures(record_id, place, email)
                return {
                    **email,
                    "content": f"<html><body><p>{text}</p></body></html>" if html else text,
                    "mail_format": "html" if html else "text",
                    "attachments": [
                        {"id": letter[0], "name": letter[1], "size": str(len(letter[2]))} for letter in files
                    ],
                }
        return None

    def enclosures(self, record_id: str, place: int, email: Mapping[str, object]) -> list[tuple[str, str, bytes]]:
        """Returns the attachments of an email: id, name and bytes."""
        if not email["has_attachment"]:
            return []
        dice = SeededRandom(self.seed, "enclosure", record_id, place)
        suffix, _, make = dice.choose("paper", PAPERS)
        return [(dice.uuid("file"), f"vedlegg.{suffix}", make(dice.text("text", 2)))]

    def module_of(self, record_id: str) -> str:
        """Returns the module that an id belongs to."""
        for name, holdings in self.holdings.items():
            if holdings.number(record_id) is not None or record_id in holdings.changed_records:
                return name
        return "Deals"

    def _amount(self, record_id: str, name: str, most: int) -> int:
        holdings = self.holdings[self.module_of(record_id)]
        if not holdings.module.has_papers or holdings.number(record_id) is None:
            return 0
        return SeededRandom(self.seed, name, record_id).number("amount", most + 1)

    def _age_s(self, record_id: str) -> int:
        holdings = self.holdings[self.module_of(record_id)]
        number = holdings.number(record_id) or 0
        return int(_SPAN_S * (number / max(holdings.count, 1))) + 900


def _parent(note: Record) -> str:
    return str(cast(Mapping[str, object], note["Parent_Id"])["id"])


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)
