"""The change log of an extract, by the archive units that it speaks of.

Entries are kept in a table on disk, and each is given out once, with the item that holds its unit; what belongs to no
item is given out at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from pathlib import Path

from noarkit.catalogue.port import Change, Item
from noarkit.forms.noark5.read.changes import read_changes
from noarkit.forms.noark5.read.structure import unit_key
from noarkit.forms.noark5.spec import CHANGE_LOG
from noarkit.safe.scratch import scratch

UNMATCHED_TYPE = "endring"
_BATCH = 5_000
_IN_MEMORY = 200_000
_SHOWN_TOGETHER = 1_000


class ChangeLog:
    """The entries of one endringslogg.xml; empty until one is read."""

    def __init__(self) -> None:
        self._db = scratch()
        self._db.execute("CREATE TABLE entry (unit TEXT, at TEXT, actor TEXT, field TEXT, before TEXT, after TEXT)")
        self._db.execute("CREATE TABLE matched (unit TEXT PRIMARY KEY) WITHOUT ROWID")
        self._units: set[str] | None = set()

    def read(self, path: Path) -> None:
        """Takes all entries of a log. Raises `PackageFault`, `UnsafeXml`; what was read before stays."""
        changes = read_changes(path)
        self._db.execute("BEGIN")
        try:
            rows = (
                (unit_key(entry.unit), entry.at, entry.actor, entry.element, entry.old, entry.new) for entry in changes
            )
            while batch := list(islice(rows, _BATCH)):
                self._db.executemany("INSERT INTO entry VALUES (?,?,?,?,?,?)", batch)
                self._remember(row[0] for row in batch)
        finally:
            self._db.execute("CREATE INDEX entry_unit ON entry (unit)")
            self._db.execute("COMMIT")

    def _remember(self, units: Iterable[str]) -> None:
        if self._units is not None:
            self._units.update(units)
            if len(self._units) > _IN_MEMORY:
                self._units = None  # too many to keep in memory: each is looked up

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to look for."""
        return self._units is not None and not self._units

    def may_speak_of(self, unit: str) -> bool:
        """False if no entry speaks of the unit with this key."""
        return self._units is None or unit in self._units

    def forget_matches(self) -> None:
        """Begins again: no entry has been given out."""
        self._db.execute("DELETE FROM matched")

    def of(self, system_ids: Iterable[str]) -> tuple[Change, ...]:
        """The entries that speak of any of these, in the order of the log."""
        changes: list[Change] = []
        for system_id in system_ids:
            key = unit_key(system_id)
            if not self.may_speak_of(key):
                continue
            rows = self._db.execute(
                "SELECT at, actor, field, before, after FROM entry WHERE unit = ? ORDER BY rowid", (key,)
            ).fetchall()
            if rows:
                self._db.execute("INSERT OR IGNORE INTO matched VALUES (?)", (key,))
                changes.extend(Change(*row) for row in rows)
        return tuple(changes)

    def unmatched(self) -> Iterator[Item]:
        """Entries of units that no item holds, as items of their own below one for the log."""
        rows = self._db.execute(
            "SELECT unit, at, actor, field, before, after FROM entry"
            " WHERE unit NOT IN (SELECT unit FROM matched) ORDER BY unit, rowid"
        )
        log = f"{CHANGE_LOG}.xml"
        is_first = True
        for unit, entries in groupby(rows, lambda row: str(row[0])):
            if is_first:
                yield Item(log, None, CHANGE_LOG, log)
                is_first = False
            part = 0
            while batch := tuple(Change(*row[1:]) for row in islice(entries, _SHOWN_TOGETHER)):
                part += 1
                ref = f"{log}#{unit}" if part == 1 else f"{log}#{unit}#{part}"
                yield Item(ref, log, UNMATCHED_TYPE, unit, day=batch[0].at[:10], history=batch)

    def close(self) -> None:
        """Forgets everything."""
        self._db.close()
