"""The items that an archive holds of this CRM, by stream and by the service's own id, so that a complete listing tells
which of them are no longer there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote, unquote

from noarkit.safe.scratch import scratch
from noarkit.safe.spill import KeySet
from noarkit.services.known_keys import NOTHING_KNOWN, KnownKeys, place_key

SNAPSHOT = "snapshot"
_STREAMS = {"note": "Notes", "att": "Attachments"}
_TABLE = "CREATE TABLE known_item (key TEXT PRIMARY KEY, stream TEXT, id TEXT, is_listed INTEGER) WITHOUT ROWID"


@dataclass(frozen=True, slots=True)
class KnownItem:
    """An item that the archive holds, and the keys of the cases that it belongs to; none if nobody knows them."""

    key: str
    id: str
    case_keys: tuple[str, ...]


class KnownItems:
    """The known items of one tenant. Reads all of their keys when it is made."""

    def __init__(self, known_keys: KnownKeys = NOTHING_KNOWN, tenant: str = "") -> None:
        self.keys = known_keys
        self._db = scratch()
        self._db.execute(_TABLE)
        self._db.execute("CREATE INDEX by_id ON known_item (stream, id)")
        prefix = f"{quote(tenant, safe='')}:"
        rows = ((key, *place, 0) for key in known_keys.under(prefix) if (place := _place_of(key)) is not None)
        self._db.execute("BEGIN")
        self._db.executemany("INSERT INTO known_item VALUES (?, ?, ?, ?)", rows)
        self._db.execute("COMMIT")
        self._gone_keys = KeySet()
        self.is_empty = not self._count("SELECT count(*) FROM known_item")

    def has(self, key: str) -> bool:
        """True if the archive holds the item, and its deletion was not reported."""
        return self.keys.has(key)

    def is_gone(self, case_key: str) -> bool:
        """True if the deletion of a case was reported, now or before."""
        key = f"{case_key}:{SNAPSHOT}"
        return self._gone_keys.has(key) or self.keys.is_gone(key)

    def mark_gone(self, key: str) -> None:
        """Notes that the deletion of an item is reported."""
        self._gone_keys.add(key)

    def begin_listing(self, stream: str) -> None:
        """Begins a listing of a stream: nothing of it is listed yet."""
        self._db.execute("UPDATE known_item SET is_listed = 0 WHERE stream = ?", (stream,))

    def mark_listed(self, stream: str, item_id: object) -> None:
        """Notes that the service lists this id, wherever it belongs now."""
        update = "UPDATE known_item SET is_listed = 1 WHERE stream = ? AND id = ?"
        self._db.execute(update, (stream, str(item_id)))

    def mark_item(self, key: str) -> None:
        """Notes that the service lists the item of this key."""
        place = _place_of(key)
        if place is not None:
            self.mark_listed(*place)

    def has_unlisted(self, stream: str) -> bool:
        """True if something known was not listed."""
        query = "SELECT count(*) FROM known_item WHERE stream = ? AND NOT is_listed"
        return bool(self._count(query, stream))

    def unlisted(self, stream: str) -> Iterator[KnownItem]:
        """Yields what is known and was not listed. Items may be marked as listed meanwhile."""
        after = ("", "")
        query = (  # in the order of the index, or each page would read and sort the whole stream again
            "SELECT id, key FROM known_item WHERE stream = ? AND NOT is_listed AND (id, key) > (?, ?)"
            " ORDER BY id, key LIMIT 1000"
        )
        while rows := self._db.execute(query, (stream, *after)).fetchall():
            yield from (KnownItem(key, item_id, self._cases_of(key)) for item_id, key in rows)
            after = rows[-1]

    def unlisted_keys(self, stream: str, item_id: object) -> list[str]:
        """Returns the keys of what is known by this id and was not listed: one for each case that it belonged to."""
        query = "SELECT key FROM known_item WHERE stream = ? AND id = ? AND NOT is_listed ORDER BY key"
        return [key for (key,) in self._db.execute(query, (stream, str(item_id)))]

    def _cases_of(self, key: str) -> tuple[str, ...]:
        """Returns the keys of the cases of an item: by its own key, or by the folders that it was archived in."""
        if names_no_case(key):
            beginning = place_key(key, "")
            return tuple(place.removeprefix(beginning) for place in self.keys.under(beginning))
        return (":".join(key.split(":")[:3]),)

    def close(self) -> None:
        """Closes the temporary files."""
        self._gone_keys.close()
        self._db.close()

    def _count(self, query: str, *values: str) -> int:
        row: tuple[int] = self._db.execute(query, values).fetchone()
        return row[0]


def _place_of(key: str) -> tuple[str, str] | None:
    """Returns the stream of an item and its id there; None for a key that is none of these.

    >>> _place_of("7:Deals:41:snapshot"), _place_of("7:Deals:41:Quotes:9"), _place_of("7:email:a%3Ab")
    (('Deals', '41'), ('Quotes', '9'), ('Emails', 'a:b'))
    """
    match [unquote(part) for part in key.split(":")]:
        case [_, "email", message_id]:
            return "Emails", message_id
        case [_, module, record_id, last] if last == SNAPSHOT:
            return module, record_id
        case [_, _, _, name, item_id]:
            return _STREAMS.get(name, name), item_id
    return None


def again_id(key: str) -> tuple[str, str] | None:
    """Returns the stream of an item, and the id by which `Window.again` names it: that of its case, where it is an
    attachment, or all attachments or emails of a case. An email does not tell its case: its stream is read whole.

    >>> again_id("7:Deals:41:snapshot"), again_id("7:Deals:41:att:9"), again_id("7:email:a"), again_id("7:Deals")
    (('Deals', '41'), ('Attachments', '41'), ('Emails', ''), None)
    """
    match [unquote(part) for part in key.split(":")]:
        case [_, _, record_id, "attachments"] | [_, _, record_id, "att", _]:
            return "Attachments", record_id
        case [_, _, record_id, "emails"]:
            return "Emails", record_id
        case [_, "email", _]:
            return "Emails", ""
    return _place_of(key)


def names_no_case(key: str) -> bool:
    """True for the key of an email, which is archived once though it may belong to several cases.

    >>> names_no_case("7:email:a"), names_no_case("7:Deals:41:snapshot")
    (True, False)
    """
    return key.split(":")[1:2] == ["email"]
