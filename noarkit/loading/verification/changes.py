"""Looks up differences in the archive's change log: whether another user made them, who and when.

What the account that made an object does to it is no excuse: only noarkit should use that account. Where the log may
not be read, or the archive has none, every difference stays a difference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from noarkit.archive.administration import Administration
from noarkit.archive.port import Archive
from noarkit.archive.registers import ChangesOf
from noarkit.archive.values import Json
from noarkit.errors import ArchiveMediaType, ArchiveNotFound, ArchiveRefused, ArchiveStrange, NotAllowed

Entry = Mapping[str, Json]
ANY = object()
_MOST_ENTRIES = 2000
_IMPORTED = "imported: "
_KEPT_LOGS = 500
_NO_SUCH_ADDRESS = (404, 405)


@dataclass(frozen=True, slots=True)
class Change:
    """Who changed something, and when."""

    user: str
    at: str

    def __str__(self) -> str:
        return f"{self.user}, {self.at}"


@dataclass(slots=True)
class ChangeLog:
    """The change log of one archive, read one object at a time; `readable` is False once the archive refused it."""

    archive: Archive
    readable: bool = True
    _logs: dict[str, list[Entry]] = field(default_factory=dict)

    def find_field_change(self, object_id: str, name: str, value: object = ANY) -> Change | None:
        """Finds who gave a field its present value (or any value)."""

        def fits(entry: Entry) -> bool:
            new = entry.get("newValue")
            value_now = new.get(name) if isinstance(new, dict) else None
            return (
                entry.get("revisionType") == "UPDATE"
                and entry.get("modifiedField") == name
                and (value is ANY or value_now == value)
            )

        return self._last_change(object_id, fits)

    def find_link_change(self, object_id: str, name: str) -> Change | None:
        """Finds who moved a link of an object."""
        kinds = ("LINK", "UNLINK", "MOVE")
        return self._last_change(
            object_id,
            lambda entry: entry.get("revisionType") in kinds and entry.get("modifiedField") in (name, None),
        )

    def find_removal(self, object_id: str) -> Change | None:
        """Finds who deleted an object."""
        return self._last_change(object_id, lambda entry: entry.get("revisionType") == "DELETE")

    def is_as_made(self, object_id: str, name: str, value: object) -> bool:
        """True if the log says that an object was made with this value of a field, and of no change of it since. A log
        that does not tell what an object was made with proves nothing."""
        entries = self._entries(object_id)
        creation = next((entry for entry in entries if entry.get("revisionType") == "CREATE"), {})
        made = creation.get("newValue")
        made_fields = made.get("fields") if isinstance(made, dict) else None
        if not isinstance(made_fields, dict) or any(
            entry.get("revisionType") == "UPDATE" and entry.get("modifiedField") in (name, None) for entry in entries
        ):
            return False
        return made_fields.get(name) == value

    def made_by_same(self, object_id: str, parent_id: str) -> bool | None:
        """Whether one account made both an object and the one above it; None where the log does not say."""
        makers = (self._maker(object_id), self._maker(parent_id))
        return None if None in makers else makers[0] == makers[1]

    def find_addition(self, object_id: str, parent_id: str) -> Change | None:
        """Finds who put an object below another one; None if it was the account that made the parent."""
        parent_maker = self._maker(parent_id)
        creation = next((entry for entry in self._entries(object_id) if entry.get("revisionType") == "CREATE"), None)
        if creation is None or parent_maker is None or creation.get("modifiedByUserId") == parent_maker:
            return None
        return _change(creation)

    def _last_change(self, object_id: str, fits: Callable[[Entry], bool]) -> Change | None:
        maker = self._maker(object_id)
        if maker is None:
            return None
        since = [
            entry
            for entry in self._entries(object_id)
            if fits(entry) and not str(entry.get("modifiedByUserId")).startswith(_IMPORTED)
        ]
        if not since or since[-1].get("modifiedByUserId") == maker:
            return None
        return _change(since[-1])

    def _maker(self, object_id: str) -> str | None:
        creations = (entry for entry in self._entries(object_id) if entry.get("revisionType") == "CREATE")
        first = next(creations, None)
        return None if first is None else str(first.get("modifiedByUserId"))

    def _entries(self, object_id: str) -> list[Entry]:
        """The entries of one object, oldest first; none where the log cannot be read."""
        if not self.readable:
            return []
        if object_id not in self._logs:
            if len(self._logs) >= _KEPT_LOGS:
                self._logs.clear()
            self._logs[object_id] = self._read_entries(object_id)
        return self._logs[object_id]

    def _read_entries(self, object_id: str) -> list[Entry]:
        entries: list[Entry] = []
        while len(entries) < _MOST_ENTRIES:
            request = ChangesOf(object_id, include_children=False, nest_children=False, offset=len(entries))
            try:
                page = Administration(self.archive).changes(request)
            except ArchiveNotFound:
                return []
            except (ArchiveRefused, NotAllowed, ArchiveMediaType):
                self.readable = False
                return []
            except ArchiveStrange as fault:
                # older archives have no such log, and only their server's page at its address
                if fault.data.get("status") not in _NO_SUCH_ADDRESS:
                    raise
                self.readable = False
                return []
            entries.extend(page.entries)
            if not page.has_more or not page.entries:
                break
        return entries


def _change(entry: Entry) -> Change:
    return Change(str(entry.get("modifiedByUserId")), str(entry.get("modifiedDate")))
