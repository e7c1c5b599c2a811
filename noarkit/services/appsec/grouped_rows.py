"""Collects rows in a temporary SQLite file, for lists that must be complete before the first row is used."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import Self

from noarkit.safe.scratch import scratch
from noarkit.services.canonical import canonical, parse
from noarkit.services.paging import Row

_FETCHED = 200


class GroupedRows:
    """Rows by group and key. The last row of a key counts; within a group they are ordered by place, then by key."""

    def __init__(self) -> None:
        self._db = scratch(8 * 1_024)
        self._db.execute("CREATE TABLE row (grp TEXT, key TEXT, place TEXT, told BLOB, PRIMARY KEY (grp, key))")
        self._db.execute("CREATE INDEX ordered ON row (grp, place, key)")
        self._db.execute("BEGIN")

    def add(self, group: str, key: str, place: str, row: Row) -> None:
        """Adds a row; `place` is what its group is ordered by."""
        self._db.execute("INSERT OR REPLACE INTO row VALUES (?, ?, ?, ?)", (group, key, place, canonical(row)))

    def has(self, group: str, key: str) -> bool:
        """True if a row with that key was added."""
        return self._db.execute("SELECT 1 FROM row WHERE grp = ? AND key = ?", (group, key)).fetchone() is not None

    def groups(self) -> Iterator[str]:
        """Yields the groups in their order."""
        yield from [str(group) for (group,) in self._db.execute("SELECT DISTINCT grp FROM row ORDER BY grp")]

    def rows(self, group: str = "") -> Iterator[Row]:
        """Yields the rows of a group in their order."""
        cursor = self._db.execute("SELECT told FROM row WHERE grp = ? ORDER BY place, key", (group,))
        while batch := cursor.fetchmany(_FETCHED):
            for (text,) in batch:
                row = parse(text, "gathered")
                assert isinstance(row, dict)  # noqa: S101  # it was one when it was put
                yield row

    def clear(self) -> None:
        """Deletes all rows."""
        self._db.execute("DELETE FROM row")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: object, trace: TracebackType | None) -> None:
        self._db.close()
