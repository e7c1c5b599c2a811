"""What a CRM holds: records that people make, change, hide, delete and restore, and what hangs on them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

OSLO = ZoneInfo("Europe/Oslo")
BEGIN = datetime(2024, 3, 30, 9, 0, tzinfo=UTC)  # the day before the clocks change: offsets of both kinds are told
USER = {"id": "4150000000000001", "name": "Kari Selger", "email": "kari@virksomhet.example"}
EXTRA = tuple(f"Extra_{number}" for number in range(1, 46))
LOOKUPS: Mapping[str, Mapping[str, str]] = {
    "Deals": {"Account_Name": "Accounts", "Contact_Name": "Contacts"},
    "Cases": {"Account_Name": "Accounts", "Related_To": "Contacts", "Deal_Name": "Deals"},
    "Contacts": {"Account_Name": "Accounts"},
    "Quotes": {"Account_Name": "Accounts", "Deal_Name": "Deals"},
    "Tasks": {"What_Id": "Deals", "Who_Id": "Contacts"},
    "Accounts": {},
}
FIELDS: Mapping[str, tuple[str, ...]] = {
    "Deals": (
        "Deal_Name",
        "Stage",
        "Amount",
        "Closing_Date",
        "Description",
        "Last_Activity_Time",
        "Archive_Id",
        *EXTRA,
    ),
    "Cases": ("Subject", "Case_Number", "Status", "Description", "Case_Origin"),
    "Contacts": ("Full_Name", "First_Name", "Last_Name", "Email", "Phone"),
    "Quotes": ("Subject", "Quote_Number", "Quote_Stage", "Grand_Total"),
    "Tasks": ("Subject", "Status", "Due_Date", "Description"),
    "Accounts": ("Account_Name", "Phone", "Website"),
}
SYSTEM = ("id", "Owner", "Created_By", "Modified_By", "Created_Time", "Modified_Time", "Tag")
NAMES = {"Deals": "Deal_Name", "Accounts": "Account_Name", "Contacts": "Full_Name"}
PRIVATE = frozenset({"Email", "Phone"})


@dataclass(slots=True)
class Record:
    """A record of a module; times are moments, lookups are ids and names."""

    id: str
    module: str
    values: dict[str, object]
    created: datetime
    modified: datetime
    is_hidden: bool = False

    @property
    def name(self) -> str:
        """What the record is called."""
        return str(self.values.get(NAMES.get(self.module, "Subject"), ""))

    def shown(self, names: Iterator[str] | list[str] | None = None) -> dict[str, object]:
        """The record as it is told, with these fields alone where they are named."""
        whole: dict[str, object] = {
            **dict.fromkeys((*FIELDS.get(self.module, ()), *LOOKUPS.get(self.module, {}))),
            **self.values,
            "Owner": USER,
            "Created_By": USER,
            "Modified_By": USER,
            "Created_Time": local(self.created),
            "Modified_Time": local(self.modified),
            "Tag": [],
        }
        wanted = whole if names is None else [name for name in names if name in whole]
        return {"id": self.id, **{name: whole[name] for name in wanted}}


@dataclass(slots=True)
class Bin:
    """A record that was deleted, as the list of the deleted tells of it."""

    record: Record
    deleted: datetime
    is_permanent: bool


@dataclass(slots=True)
class Attachment:
    """A file that hangs on a record, or a link to one."""

    id: str
    parent: str
    name: str
    content: bytes
    created: datetime
    modified: datetime
    link: str | None = None


@dataclass(slots=True)
class Note:
    """A note on a record."""

    id: str
    module: str
    parent: str
    title: str | None
    content: str | None
    created: datetime
    modified: datetime


@dataclass(slots=True)
class Email:
    """A mail of a record; its list tells no time of change."""

    id: str
    parent: str
    subject: str
    content: str
    sent_at: datetime
    is_sent: bool
    attachments: dict[str, tuple[str, bytes]] = field(default_factory=dict)


class CrmData:
    """The records of a tenant. What is changed without a time is changed now, in whole seconds."""

    def __init__(self, first_id: int = 7_000_000_000_000_000) -> None:
        self.records: dict[str, dict[str, Record]] = {module: {} for module in FIELDS}
        self.bin: dict[str, dict[str, Bin]] = {module: {} for module in FIELDS}
        self.notes: dict[str, Note] = {}
        self.attachments: dict[str, Attachment] = {}
        self.emails: dict[str, Email] = {}
        self._ids = itertools.count(first_id, 11)
        self._minutes = itertools.count()

    def new_id(self) -> str:
        """An id that nothing has."""
        return str(next(self._ids))

    def _past(self) -> datetime:
        return BEGIN + timedelta(minutes=97 * next(self._minutes))

    def add(self, module: str, *, at: datetime | None = None, **values: object) -> Record:
        """A new record, made in the past unless a time is named."""
        at = at or self._past()
        for name, of_module in LOOKUPS[module].items():
            if isinstance(values.get(name), Record):
                target = values[name]
                assert isinstance(target, Record) and target.module == of_module
                values[name] = {"id": target.id, "name": target.name}
        if module in ("Contacts",) and "Full_Name" not in values:
            values["Full_Name"] = f"{values.get('First_Name', '')} {values.get('Last_Name', '')}".strip()
        if module == "Tasks" and values.get("What_Id"):
            values["$se_module"] = "Deals"
        made = Record(self.new_id(), module, dict(values), at, at)
        self.records[module][made.id] = made
        return made

    def edit(self, record: Record, *, at: datetime | None = None, **values: object) -> None:
        """Somebody changes a record."""
        record.values.update(values)
        record.modified = at or now()

    def delete(self, record: Record, *, is_permanent: bool = False) -> None:
        """Somebody deletes a record; what hangs on it goes with it."""
        del self.records[record.module][record.id]
        self.bin[record.module][record.id] = Bin(record, now(), is_permanent)

    def restore(self, record: Record) -> None:
        """Somebody takes a record out of the bin; its times are what they were."""
        del self.bin[record.module][record.id]
        self.records[record.module][record.id] = record

    def note(self, parent: Record, title: str | None, content: str | None, *, at: datetime | None = None) -> Note:
        """A note on a record, written now unless a time is named."""
        at = at or now()
        made = Note(self.new_id(), parent.module, parent.id, title, content, at, at)
        self.notes[made.id] = made
        return made

    def attach(
        self, parent: Record, name: str, content: bytes, *, at: datetime | None = None, link: str | None = None
    ) -> Attachment:
        """A file on a record; the time of the record itself does not move."""
        at = at or now()
        made = Attachment(self.new_id(), parent.id, name, content, at, at, link)
        self.attachments[made.id] = made
        return made

    def mail(
        self,
        parent: Record,
        subject: str,
        content: str,
        *,
        is_sent: bool = False,
        at: datetime | None = None,
        **files: bytes,
    ) -> Email:
        """A mail of a record."""
        made = Email(f"<{self.new_id()}@post.example>", parent.id, subject, content, at or now(), is_sent)
        for name, each in files.items():
            made.attachments[self.new_id()] = (f"{name}.txt", each)
        self.emails[made.id] = made
        return made

    def live(self, module: str, id: str) -> Record | None:
        """A record that is there and may be seen."""
        found = self.records.get(module, {}).get(id)
        return None if found is None or found.is_hidden else found

    def visible(self, module: str) -> list[Record]:
        """All that may be seen of a module."""
        return [each for each in self.records[module].values() if not each.is_hidden]

    def parent_module(self, id: str) -> str | None:
        """The module of a record that is there and may be seen."""
        return next((module for module in self.records if self.live(module, id)), None)


def now() -> datetime:
    """This moment, in whole seconds as the service tells them."""
    return datetime.now(UTC).replace(microsecond=0)


def local(moment: datetime) -> str:
    """A moment as the service tells it: whole seconds, in the zone of the user."""
    return moment.astimezone(OSLO).isoformat(timespec="seconds")
