"""What a package lacks of what a load made in the archive, and what bears the day of that load for a date."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Protocol

from noarkit.extraction.rows import LOADED_TYPES, table_of
from noarkit.extraction.store import ExtractStore, key_of
from noarkit.verdict import Load

_TABLE = "CREATE TEMP TABLE loaded_object (place TEXT NOT NULL, id, oldest TEXT)"
_LOST = (
    "SELECT count(*) FROM loaded_object o"
    " WHERE NOT EXISTS (SELECT 1 FROM unit t WHERE o.place = 'unit' AND t.id = o.id)"
    " AND NOT EXISTS (SELECT 1 FROM document t WHERE o.place = 'document' AND t.id = o.id)"
    " AND NOT EXISTS (SELECT 1 FROM version t WHERE o.place = 'version' AND t.id = o.id)"
)
_REDATED = (
    "SELECT count(*) FROM loaded_object o JOIN unit t ON o.place = 'unit' AND t.id = o.id"
    " WHERE o.oldest < ?1 AND substr(json_extract(t.data, '$.f.opprettetDato'), 1, 10) >= ?1"
)


class LoadBehind(Protocol):
    """A load into the archive that is extracted, as its run tells it."""

    @property
    def load(self) -> Load:
        """What became of its records."""
        ...

    @property
    def began_day(self) -> str:
        """The first day of the load; empty where it is not known."""
        ...

    def objects(self, types: Collection[str]) -> Iterator[tuple[str, str, str | None]]:
        """The type of each object that it made, its id in the archive, and the day of its oldest document."""
        ...


def compare_loads(store: ExtractStore, loads: Iterable[LoadBehind], *, is_whole: bool) -> tuple[Load, ...]:
    """Each load with how many of its objects were made, and are not in the store. What a selection leaves out is not
    lost, so that only the extract of a whole archive tells."""
    return tuple(_compare(store, behind, is_whole=is_whole) for behind in loads)


def _compare(store: ExtractStore, behind: LoadBehind, *, is_whole: bool) -> Load:
    store.db.execute(_TABLE)
    try:
        rows = ((table_of(kind), key_of(id_), day) for kind, id_, day in behind.objects(LOADED_TYPES))
        count = store.db.executemany("INSERT INTO loaded_object VALUES (?, ?, ?)", rows).rowcount
        lost = store.number(_LOST) if is_whole else 0
        day = behind.began_day
        redated = int(store.db.execute(_REDATED, (day,)).fetchone()[0]) if day else 0
    finally:
        store.db.execute("DROP TABLE loaded_object")
    return replace(behind.load, objects=max(count, 0), lost=lost, redated=redated)
