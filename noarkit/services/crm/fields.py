"""The fields of a module that are read, their labels, and which of them is a record's title."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from noarkit.services.paging import Row

A_CALL = 50
A_CALL_SIGNS = 1_000  # of names or ids in one parameter, commas counted
_LOOK_UP = re.compile("(?!owner|user).*lookup")
_ALWAYS = ("id", "Modified_Time", "Created_Time")
_TITLES = ("Deal_Name", "Subject", "Full_Name", "Vendor_Name", "Product_Name", "Name", "Last_Name", "Account_Name")


@dataclass(frozen=True, slots=True)
class Fields:
    """The readable fields of a module: their names, which are private, the type of each, the title field, and the
    labels that people see."""

    names: tuple[str, ...]
    private: frozenset[str]
    shape: Mapping[str, str]
    title: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)

    def batches(self) -> list[tuple[str, ...]]:
        """Splits the field names for calls that take at most fifty of them, and no longer ones; each batch has the id
        and the time of change."""
        always = self._always()
        remaining = (name for name in self.names if name not in always)
        room, signs = A_CALL - len(always), A_CALL_SIGNS - len(",".join(always))
        batches = [(*always, *batch) for batch in split_batches(remaining, room, signs)]
        return batches or [always]

    def titles(self) -> tuple[str, ...]:
        """Returns the fields that may hold a record's title, the module's own first."""
        return (*((self.title,) if self.title else ()), *(name for name in _TITLES if name in self.names))

    def look_ups(self) -> tuple[str, ...]:
        """Returns the fields that refer to other records."""
        return tuple(name for name in self.names if _LOOK_UP.fullmatch(self.shape.get(name, "")))

    def only(self, field_names: Sequence[str]) -> Fields:
        """Keeps only the chosen fields, and a record's id and times."""
        names = tuple(name for name in self.names if name in field_names and name not in _ALWAYS)
        return Fields((*self._always(), *names), self.private, self.shape, self.title, self.labels)

    def _always(self) -> tuple[str, ...]:
        """Returns the id, and those times that this user may read: a service may refuse what it did not tell of."""
        return tuple(name for name in _ALWAYS if name == _ALWAYS[0] or name in self.names)


def split_batches(
    words: Iterator[str], most: int = A_CALL_SIGNS, signs: int = A_CALL_SIGNS
) -> Iterator[tuple[str, ...]]:
    """Splits words into batches: by number, and by their length joined with commas.

    >>> list(split_batches(iter(["a", "bb", "ccc", "d"]), signs=5))
    [('a', 'bb'), ('ccc', 'd')]
    """
    lot: list[str] = []
    length = 0
    for word in words:
        if lot and (len(lot) == most or length + len(word) > signs):
            yield tuple(lot)
            lot, length = [], 0
        lot.append(word)
        length += len(word) + 1
    if lot:
        yield tuple(lot)


def readable_fields(rows: Sequence[Row]) -> Fields:
    """Selects the fields that this user may read and that hold values of their own."""
    readable_rows = [row for row in rows if _is_readable(row)]
    names = tuple(str(row["api_name"]) for row in readable_rows)
    private = frozenset(str(row["api_name"]) for row in readable_rows if _is_private(row))
    shape = {str(row["api_name"]): str(row.get("data_type", "")) for row in readable_rows}
    title = next((str(row["api_name"]) for row in readable_rows if row.get("display_field") is True), "")
    labels = {str(row["api_name"]): _label(row) for row in readable_rows}
    return Fields(names, private, shape, title, labels)


def _label(row: Row) -> str:
    return str(row.get("display_label") or row.get("field_label") or row["api_name"])


def _is_readable(row: Row) -> bool:
    view = row.get("view_type")
    is_visible = view.get("view", True) if isinstance(view, Mapping) else True
    return bool(row.get("api_name") and row.get("visible", True) and is_visible and not row.get("virtual_field"))


def _is_private(row: Row) -> bool:
    health = row.get("hipaa_compliance")
    restricted = health.get("restricted_in_export") if isinstance(health, Mapping) else health
    return bool(row.get("private") or row.get("crypt") or restricted)
