"""Records, notes, emails and attachments as items. Whatever belongs to a record holds the record's own facts, so that
it finds its case file in any run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from noarkit.errors import NoarkitError, ServiceBroken, ServiceDenied, ServiceRefused
from noarkit.graph.entity import Content
from noarkit.services.canonical import canonical, without_secrets
from noarkit.services.crm import letters
from noarkit.services.crm.calls import Calls
from noarkit.services.crm.fields import Fields
from noarkit.services.crm.known_items import SNAPSHOT
from noarkit.services.crm.times import parse_time, utc_or_none
from noarkit.services.paging import Page, Row, pages, rows
from noarkit.services.port import FetchFailure, GeneratedDocument, Item, ServiceItem
from noarkit.services.prefetch import in_order
from noarkit.services.readable import readable_page, shorten, title_line

NOTE_FIELDS = (
    "Note_Title", "Note_Content", "Parent_Id", "Owner", "Created_By", "Modified_By", "Created_Time", "Modified_Time",
)  # fmt: skip
ATTACHMENT_FIELDS = (
    "File_Name", "Size", "Created_Time", "Modified_Time", "Owner", "Created_By", "Parent_Id", "$file_id", "$type",
    "$link_url", "$se_module",
)  # fmt: skip
_LONGEST_TITLE = 80
_ITEM_FAULTS = (ServiceRefused, ServiceBroken, ServiceDenied)
_NOT_LET_IN = 401


@dataclass(frozen=True, slots=True)
class RecordOptions:
    """How a tenant's records are read: preferred title fields, final states, and the number of calls at once."""

    tenant: str
    title_fields: tuple[str, ...]
    closed_states: tuple[str, ...]
    parallel: int
    contact_roles: bool = False


_WITH_ROLES, ROLES = "Deals", "Contact_Roles"
_OF_A_ROLE = ("Full_Name", "Contact_Role")


class CrmItems:
    """Builds the items of a tenant's records, notes, emails and attachments."""

    def __init__(self, calls: Calls, options: RecordOptions, *, keys_only: bool = False) -> None:
        self._calls = calls
        self._options = options
        self._keys_only = keys_only

    @property
    def title_fields(self) -> tuple[str, ...]:
        """The fields that are preferred as titles."""
        return self._options.title_fields

    def key(self, *parts: object) -> str:
        """Builds a key from the service's own ids."""
        return ":".join(quote(str(part), safe="") for part in (self._options.tenant, *parts))

    def facts(self, module: str, record: Row, fields: Fields, *, asks: bool = False) -> dict[str, object]:
        """Returns the facts of a record that its notes, emails and attachments need. With `asks` also its contact
        roles, if configured: the service tells those one record at a time."""
        state = name_of(record.get("Stage") or record.get("Status"))
        return {
            "id": str(record["id"]),
            "key": self.key(module, record["id"]),
            "module": module,
            "title": title_line(self._title(module, record, fields)),
            "created": utc_or_none(record.get("Created_Time")) or utc_or_none(record.get("Modified_Time")),
            "owner": name_of(record.get("Owner")),
            "owner_id": _id_of(record.get("Owner")) or _id_of(record.get("Created_By")),
            "party": name_of(record.get("Account_Name")),
            "contacts": self._contacts(module, record, asks=asks and self._options.contact_roles),
            "state": state,
            "closed": state.casefold().startswith(self._options.closed_states),
            "number": str(record.get("Contract_Number") or record.get("Case_Number") or ""),
            "tags": [name for tag in _tags(record.get("Tag")) if (name := name_of(tag))],
        }

    def record(self, stream: str, record: Row, fields: Fields, facts: Mapping[str, object]) -> Item:
        """Builds the item of a record: a readable page and its canonical snapshot, and the case it is."""
        return self._snapshot(stream, f"{facts['key']}:{SNAPSHOT}", record, fields, facts)

    def _contacts(self, module: str, record: Row, *, asks: bool) -> list[str]:
        """Returns the persons of a record: its contact, and those with a role in it."""
        names = [name_of(record.get("Contact_Name"))]
        if asks and module == _WITH_ROLES:
            path = f"/{module}/{record['id']}/{ROLES}"
            listing = pages(lambda cursor: self._calls.page(path, _OF_A_ROLE, cursor, None), path)
            names += [name_of(row.get("Full_Name")) for row in rows(listing, _id, path)]
        return [name for name in dict.fromkeys(names) if name]

    def related_key(self, stream: str, record: Row, case: Mapping[str, object]) -> str:
        """Returns the key of a record that belongs to a case."""
        return f"{case['key']}:{quote(stream, safe='')}:{quote(str(record['id']), safe='')}"

    def related_record(self, stream: str, record: Row, fields: Fields, case: Mapping[str, object]) -> Item:
        """Builds the item of a record that belongs to a case: a quote, an invoice, a task."""
        return self._snapshot(stream, self.related_key(stream, record, case), record, fields, case)

    def _snapshot(self, stream: str, key: str, record: Row, fields: Fields, case: Mapping[str, object]) -> Item:
        title = self._title(stream, record, fields)
        clean = without_secrets(dict(record))
        members = clean if isinstance(clean, Mapping) else {}
        visible = {field_name: members.get(field_name) for field_name in fields.names}
        name = f"{stream} {record['id']}"
        generated = (
            readable_page(name, title, visible, fields.labels),
            GeneratedDocument(f"{name}.json", "application/json", canonical(clean)),
        )
        item_fields: dict[str, object] = {
            "case": dict(case),
            "module": stream,
            "data": clean,
            "private": _filled_fields(record, fields.private),
            "title": title_line(title),
            "created": utc_or_none(record.get("Created_Time")),
            "author": name_of(record.get("Owner")),
        }
        kind = "record" if key.endswith(f":{SNAPSHOT}") else "related"
        return Item(stream, key, item_fields, parse_time(record.get("Modified_Time")), generated=generated, kind=kind)

    def _title(self, module: str, record: Row, fields: Fields) -> str:
        """Returns the title of a record: from the configured fields, or else the module's own title field."""
        configured_titles = (name_of(record.get(name)) for name in (*self._options.title_fields, fields.title) if name)
        plain = (str(value) for name in fields.titles() if isinstance(value := record.get(name), str))
        return next(
            (" ".join(text.split()) for text in (*configured_titles, *plain) if text.strip()),
            f"{module} {record['id']}",
        )

    def note_key(self, note: Row, case: Mapping[str, object]) -> str:
        """Returns the key of a note."""
        return f"{case['key']}:note:{quote(str(note['id']), safe='')}"

    def note(self, note: Row, case: Mapping[str, object]) -> Item:
        """Builds the item of a note, as a text."""
        content = str(note.get("Note_Content") or "")
        own_title = title_line(note.get("Note_Title"))
        title = own_title or title_line(shorten(content, _LONGEST_TITLE)) or _untitled_note(note, case)
        fields = {
            "case": dict(case),
            "title": title,
            "author": name_of(note.get("Created_By")),
            "created": utc_or_none(note.get("Created_Time")),
            "data": without_secrets(note),
        }
        document = GeneratedDocument(
            f"notat {note['id']}.txt", "text/plain", content.encode("utf-8", "backslashreplace")
        )
        moment = parse_time(note.get("Modified_Time"))
        return Item("Notes", self.note_key(note, case), fields, moment, generated=(document,), kind="note")

    def attachments(self, case: Mapping[str, object]) -> Sequence[ServiceItem]:
        """Lists the attachments of a case. One that is a link elsewhere has no bytes: its metadata is taken."""
        path = f"/{case['module']}/{case['id']}/Attachments"
        try:
            listed_rows = _list_twice(lambda cursor: self._calls.page(path, ATTACHMENT_FIELDS, cursor, None), _id, path)
            return [self._attachment(row, case) for row in listed_rows]
        except _ITEM_FAULTS as fault:
            return [_fetch_failure("Attachments", f"{case['key']}:attachments", fault)]

    def emails(self, case: Mapping[str, object]) -> Sequence[ServiceItem]:
        """Lists the sent and received emails of a case; drafts and scheduled ones are not archived."""
        module, record, owner = str(case["module"]), str(case["id"]), str(case["owner_id"])
        path = f"/{module}/{record}/Emails"
        try:
            email_rows = _list_twice(
                lambda cursor: self._calls.emails(module, record, owner, cursor), _message_id, path
            )
            return [self._email(row, case) for row in email_rows if not _is_unsent(row)]
        except _ITEM_FAULTS as fault:
            return [_fetch_failure("Emails", f"{case['key']}:emails", fault)]

    def for_each_case(
        self, cases: Iterator[dict[str, object]], ask: Callable[[Mapping[str, object]], Sequence[ServiceItem]]
    ) -> Iterator[tuple[str, Sequence[ServiceItem]]]:
        """Lists the documents of many cases, several at once, in the order of the cases; each with its case's key."""
        yield from in_order(cases, lambda case: (str(case["key"]), ask(case)), self._options.parallel)

    def _attachment(self, row: Row, case: Mapping[str, object]) -> ServiceItem:
        key = f"{case['key']}:att:{quote(str(row['id']), safe='')}"
        locator = f"attachment:{case['module']}/{case['id']}/{row['id']}"
        name, identity = letters.plain(row.get("File_Name")) or f"{row['id']}", f"attachment:{row['id']}"
        content = Content(locator, name, _size(row.get("Size")), identity=identity)
        fields: dict[str, object] = {
            "case": dict(case),
            "title": title_line(row.get("File_Name")) or content.name,
            "author": name_of(row.get("Created_By")),
            "created": utc_or_none(row.get("Created_Time")),
            "data": without_secrets(row),
            "held": True,
        }
        moment = parse_time(row.get("Modified_Time"))
        if row.get("$link_url") or str(row.get("$type") or "").casefold() == "link":
            # its bytes are stored elsewhere: its metadata is archived, and says so
            data = canonical(without_secrets(row))
            document = GeneratedDocument(f"{content.name}.json", "application/json", data, identity=content.identity)
            return Item("Attachments", key, fields | {"held": False}, moment, generated=(document,), kind="attachment")
        return Item("Attachments", key, fields, moment, contents=(content,), kind="attachment")

    def _email(self, row: Row, case: Mapping[str, object]) -> ServiceItem:
        message_id = str(row.get("message_id") or "")
        key = self.key("email", message_id)
        if self._keys_only:
            return Item("Emails", key, {}, letters.moment(row), kind="email")
        try:
            full_email = self._calls.email(str(case["module"]), str(case["id"]), str(case["owner_id"]), message_id)
        except _ITEM_FAULTS as fault:
            return _fetch_failure("Emails", key, fault)
        if full_email is None:
            return FetchFailure("Emails", key, "not-visible", {})
        email = {**row, **full_email}
        contents = tuple(self._enclosure(email, enclosure, case) for enclosure in letters.enclosures(email))
        fields = {
            "case": dict(case),
            "title": title_line(email.get("subject")) or "(uten emne)",
            "sent": bool(email.get("sent")),
            "created": utc_or_none(email.get("sent_time") or email.get("time")),
            "sender": _person(letters.people(email.get("from"))),
            "to": [_person_fields(enclosure) for enclosure in letters.people(email.get("to"))],
            "cc": [_person_fields(enclosure) for enclosure in letters.people(email.get("cc"))],
            "data": without_secrets({name: value for name, value in email.items() if name != "content"}),
        }
        document = GeneratedDocument(f"{message_id}.eml", "message/rfc822", letters.build_letter(email))
        return Item(
            "Emails", key, fields, letters.moment(email), generated=(document,), contents=contents, kind="email"
        )

    def _enclosure(
        self, email: Mapping[str, object], enclosure: Mapping[str, object], case: Mapping[str, object]
    ) -> Content:
        user = _id_of(email.get("owner")) or case["owner_id"]
        # the name exactly as the service gave it, for it is part of the request
        parts = [
            case["module"],
            case["id"],
            email.get("message_id"),
            enclosure.get("id"),
            user,
            enclosure.get("name") or "",
        ]
        locator = "enclosure:" + "/".join(quote(str(part), safe="") for part in parts)
        name = letters.plain(enclosure.get("name")) or str(enclosure.get("id"))
        return Content(locator, name, _size(enclosure.get("size")), identity=f"enclosure:{enclosure.get('id')}")


def name_of(value: object) -> str:
    """Returns the name of a look-up, a user or a tag."""
    if isinstance(value, Mapping):
        return str(value.get("name") or value.get("email") or "").strip()
    return value.strip() if isinstance(value, str) else ""


def _filled_fields(record: Row, names: Collection[str]) -> list[str]:
    """Returns those of some fields that have a value."""
    return sorted(name for name in names if record.get(name) not in (None, "", []))


def _fetch_failure(stream: str, key: str, fault: NoarkitError) -> FetchFailure:
    """Returns what could not be fetched. Raises a refusal that is not of this item alone."""
    if isinstance(fault, ServiceDenied) and fault.data.get("status") == _NOT_LET_IN:
        raise fault
    return FetchFailure(stream, key, str(fault.data.get("why") or fault.code), {"status": fault.data.get("status")})


def _untitled_note(note: Row, case: Mapping[str, object]) -> str:
    """Returns the title of a note that says nothing: its date, and the case that it was made in."""
    created = utc_or_none(note.get("Created_Time"))
    return " ".join(["Notat", *([created[:10]] if created else []), f"i {case['title']}"])


def _list_twice(ask: Callable[[str | None], Page], key: Callable[[Row], str], path: str) -> list[Row]:
    """Lists what belongs to one case. What takes several pages is listed twice, for rows that others moved past a page
    while it was read."""
    page_count = 0

    def count_pages(cursor: str | None) -> Page:
        nonlocal page_count
        page_count += 1
        return ask(cursor)

    listed_rows = {key(row): row for row in rows(pages(count_pages, path), key, path)}
    if page_count > 1:
        listed_rows |= {key(row): row for row in rows(pages(ask, path), key, path)}
    return list(listed_rows.values())


def _is_unsent(row: Row) -> bool:
    return any(str(state.get("type", "")).casefold() in ("draft", "scheduled") for state in _list(row.get("status")))


def _id(row: Row) -> str:
    return str(row.get("id"))


def _message_id(row: Row) -> str:
    return str(row.get("message_id"))


def _id_of(value: object) -> str:
    return str(value.get("id") or "") if isinstance(value, Mapping) else ""


def _tags(value: object) -> Sequence[object]:
    """Returns tags as a list; they are objects with a name, or plain words."""
    return value if isinstance(value, list) else [tag for tag in str(value or "").split(";") if tag.strip()]


def _person(people: Sequence[Mapping[str, object]]) -> dict[str, str]:
    return _person_fields(people[0]) if people else {"name": "", "email": ""}


def _person_fields(person: Mapping[str, object]) -> dict[str, str]:
    at = letters.plain(person.get("email"))
    return {"name": letters.plain(person.get("user_name")) or at, "email": at}


def _list(value: object) -> Sequence[Mapping[str, object]]:
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []


def _size(value: object) -> int | None:
    text = str(value) if value is not None else ""
    return int(text) if text.isdigit() else None
