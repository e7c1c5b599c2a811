"""Records, notes, emails and attachments as items. What hangs on a record bears the record's own facts, so that it
finds its case file, whichever run reads it."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from urllib.parse import quote

from noarkit.connectors.ahead import in_order
from noarkit.connectors.canonical import canonical, without_secrets
from noarkit.connectors.crm import letters
from noarkit.connectors.crm.calls import Calls
from noarkit.connectors.crm.fields import Fields
from noarkit.connectors.paging import Row, pages, rows
from noarkit.connectors.port import Item, Made, NotFetched, ServiceItem
from noarkit.errors import NoarkitError, ServiceBroken, ServiceRefused
from noarkit.graph.entity import Content
from noarkit.safe.scratch import scratch

NOTE_FIELDS = (
    "Note_Title", "Note_Content", "Parent_Id", "Owner", "Created_By", "Modified_By", "Created_Time", "Modified_Time",
)  # fmt: skip
ATTACHMENT_FIELDS = (
    "File_Name", "Size", "Created_Time", "Modified_Time", "Owner", "Created_By", "Parent_Id", "$file_id", "$type",
    "$link_url", "$se_module",
)  # fmt: skip
_KEPT_FOR_ITEMS = (ServiceRefused, ServiceBroken)


class Cases:
    """The records that things hang on: what a note or letter needs to know of its case."""

    def __init__(self) -> None:
        self._db = scratch()
        self._db.execute(
            "CREATE TABLE held (id TEXT PRIMARY KEY, module TEXT, facts TEXT, open INTEGER, fresh INTEGER)"
            " WITHOUT ROWID"
        )

    def add(self, module: str, facts: Mapping[str, object], *, fresh: bool) -> None:
        """A case; `fresh` where it changed within the window."""
        row = (facts["id"], module, json.dumps(facts), not facts["closed"], fresh)
        self._db.execute("INSERT OR REPLACE INTO held VALUES (?, ?, ?, ?, ?)", row)

    def facts(self, record_id: str) -> dict[str, object] | None:
        """What is known of a case."""
        row = self._db.execute("SELECT facts FROM held WHERE id = ?", (record_id,)).fetchone()
        return json.loads(row[0]) if row else None

    def to_visit(self) -> Iterator[dict[str, object]]:
        """Cases whose papers may have changed: those that are open, and those that changed themselves."""
        query = "SELECT facts FROM held WHERE open OR fresh ORDER BY module, id"
        for (facts,) in self._db.execute(query):
            yield json.loads(facts)

    def close(self) -> None:
        """Lets the file go."""
        self._db.close()


class Papers:
    """Makes items of what a tenant's records and papers are."""

    def __init__(self, calls: Calls, tenant: str, titles: Sequence[str], parallel: int) -> None:
        self._calls = calls
        self._tenant = tenant
        self._titles = titles
        self._parallel = parallel

    def key(self, *parts: object) -> str:
        """A key of the service's own ids."""
        return ":".join(quote(str(part), safe="") for part in (self._tenant, *parts))

    def facts(self, module: str, record: Row) -> dict[str, object]:
        """What things that hang on a record need to know of it."""
        title = next((str(record[name]) for name in self._titles if record.get(name)), f"{module} {record['id']}")
        state = str(record.get("Stage") or record.get("Status") or "")
        return {
            "id": str(record["id"]),
            "key": self.key(module, record["id"]),
            "module": module,
            "title": title,
            "created": _utc(record.get("Created_Time")),
            "owner": name_of(record.get("Owner")),
            "party": name_of(record.get("Account_Name")),
            "state": state,
            "closed": state.casefold().startswith(("closed", "lukket", "avsluttet")),
            "number": str(record.get("Contract_Number") or record.get("Case_Number") or ""),
            "tags": [name_of(tag) for tag in _list(record.get("Tag"))],
        }

    def record(self, stream: str, module: str, record: Row, fields: Fields) -> Item:
        """A record: its canonical snapshot, and the case it is."""
        facts = self.facts(module, record)
        clean = without_secrets({name: value for name, value in record.items()})
        snapshot = Made(f"{module} {record['id']}.json", "application/json", canonical(clean))
        return Item(
            stream,
            f"{facts['key']}:snapshot",
            {"case": facts, "data": clean, "private": _held(record, fields.private), "title": facts["title"]},
            _moment(record.get("Modified_Time")),
            made=(snapshot,),
            kind="record",
        )

    def note(self, note: Row, case: Mapping[str, object]) -> Item:
        """A note as a text."""
        content = str(note.get("Note_Content") or "")
        title = str(note.get("Note_Title") or "") or " ".join(content.split())[:80] or "Notat"
        fields = {
            "case": dict(case),
            "title": title,
            "author": name_of(note.get("Created_By")),
            "created": _utc(note.get("Created_Time")),
            "data": without_secrets(note),
        }
        made = Made(f"notat {note['id']}.txt", "text/plain", content.encode("utf-8", "backslashreplace"))
        key = f"{case['key']}:note:{quote(str(note['id']), safe='')}"
        return Item("Notes", key, fields, _moment(note.get("Modified_Time")), made=(made,), kind="note")

    def attachments(self, case: Mapping[str, object]) -> Sequence[ServiceItem]:
        """The attachments of a case. One that is a link elsewhere has no bytes: what is known of it is taken."""
        path = f"/{case['module']}/{case['id']}/Attachments"
        try:
            listed = pages(lambda cursor: self._calls.page(path, ATTACHMENT_FIELDS, cursor, order=False), path)
            return [self._attachment(row, case) for row in rows(listed, _id, path)]
        except _KEPT_FOR_ITEMS as fault:
            return [_not_fetched("Attachments", f"{case['key']}:attachments", fault)]

    def emails(self, case: Mapping[str, object]) -> Sequence[ServiceItem]:
        """The emails of a case that were sent or came; drafts and what is to be sent later are not archived."""
        path = f"/{case['module']}/{case['id']}/Emails"
        try:
            listed = pages(lambda cursor: self._calls.emails(str(case["module"]), str(case["id"]), cursor), path)
            found = rows(listed, lambda row: str(row.get("message_id")), path)
            return [self._email(row, case) for row in found if not _is_unsent(row)]
        except _KEPT_FOR_ITEMS as fault:
            return [_not_fetched("Emails", f"{case['key']}:emails", fault)]

    def each(
        self, cases: Iterator[dict[str, object]], ask: Callable[[Mapping[str, object]], Sequence[ServiceItem]]
    ) -> Iterator[ServiceItem]:
        """The papers of many cases, several asked for at once, in the order of the cases."""
        for found in in_order(cases, ask, self._parallel):
            yield from found

    def _attachment(self, row: Row, case: Mapping[str, object]) -> ServiceItem:
        key = f"{case['key']}:att:{quote(str(row['id']), safe='')}"
        locator = f"attachment:{case['module']}/{case['id']}/{row['id']}"
        content = Content(locator, letters.plain(row.get("File_Name")) or f"{row['id']}", _size(row.get("Size")))
        fields: dict[str, object] = {
            "case": dict(case),
            "title": content.name,
            "author": name_of(row.get("Created_By")),
            "created": _utc(row.get("Created_Time")),
            "data": without_secrets(row),
            "held": True,
        }
        moment = _moment(row.get("Modified_Time"))
        if row.get("$link_url") or str(row.get("$type") or "").casefold() == "link":
            # its bytes lie with somebody else: what is known of it is archived, and says so
            known = Made(f"{content.name}.json", "application/json", canonical(without_secrets(row)))
            return Item("Attachments", key, fields | {"held": False}, moment, made=(known,), kind="attachment")
        return Item("Attachments", key, fields, moment, contents=(content,), kind="attachment")

    def _email(self, row: Row, case: Mapping[str, object]) -> ServiceItem:
        message_id = str(row.get("message_id") or "")
        key = self.key("email", message_id)
        try:
            whole = self._calls.email(str(case["module"]), str(case["id"]), message_id)
        except _KEPT_FOR_ITEMS as fault:
            return _not_fetched("Emails", key, fault)
        if whole is None:
            return NotFetched("Emails", key, "not-visible", {})
        email = {**row, **whole}
        contents = tuple(self._enclosure(email, one, case) for one in letters.enclosures(email))
        fields = {
            "case": dict(case),
            "title": letters.plain(email.get("subject")) or "(uten emne)",
            "sent": bool(email.get("sent")),
            "created": _utc(email.get("sent_time") or email.get("time")),
            "sender": _person(letters.people(email.get("from"))),
            "to": [_named(one) for one in letters.people(email.get("to"))],
            "cc": [_named(one) for one in letters.people(email.get("cc"))],
            "data": without_secrets({name: value for name, value in email.items() if name != "content"}),
        }
        made = Made(f"{message_id}.eml", "message/rfc822", letters.letter(email))
        return Item("Emails", key, fields, letters.moment(email), made=(made,), contents=contents, kind="email")

    def _enclosure(self, email: Mapping[str, object], one: Mapping[str, object], case: Mapping[str, object]) -> Content:
        parts = [case["module"], case["id"], email.get("message_id"), one.get("id"), _owner(email)]
        locator = "enclosure:" + "/".join(quote(str(part), safe="") for part in parts)
        return Content(locator, letters.plain(one.get("name")) or str(one.get("id")), _size(one.get("size")))


def name_of(value: object) -> str:
    """What a look-up or a user is called."""
    if isinstance(value, Mapping):
        return str(value.get("name") or value.get("email") or "")
    return "" if value is None else str(value)


def _held(record: Row, names: Collection[str]) -> list[str]:
    """Those of some fields that hold something."""
    return sorted(name for name in names if record.get(name) not in (None, "", []))


def _not_fetched(stream: str, key: str, fault: NoarkitError) -> NotFetched:
    return NotFetched(stream, key, str(fault.data.get("why") or fault.code), {"status": fault.data.get("status")})


def _is_unsent(row: Row) -> bool:
    return any(str(state.get("type", "")).casefold() in ("draft", "scheduled") for state in _list(row.get("status")))


def _id(row: Row) -> str:
    return str(row.get("id"))


def _owner(email: Mapping[str, object]) -> str:
    owner = email.get("owner")
    return str(owner.get("id") or "") if isinstance(owner, Mapping) else ""


def _person(people: Sequence[Mapping[str, object]]) -> dict[str, str]:
    return _named(people[0]) if people else {"name": "", "email": ""}


def _named(person: Mapping[str, object]) -> dict[str, str]:
    at = letters.plain(person.get("email"))
    return {"name": letters.plain(person.get("user_name")) or at, "email": at}


def _list(value: object) -> Sequence[Mapping[str, object]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _size(value: object) -> int | None:
    text = str(value) if value is not None else ""
    return int(text) if text.isdigit() else None


def _moment(value: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(str(value).replace("Z", "+00:00"))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _utc(value: object) -> str | None:
    found = _moment(value)
    return None if found is None else found.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
