"""The dates and numbers of a source that loaded objects keep for what hangs on them, put back once all is fetched."""

from __future__ import annotations

from collections.abc import Iterator

import orjson

from noarkit.extraction.store import ExtractStore, Key
from noarkit.forms.noark5.read.carried_values import VALUES, carried_below, with_values

_HOLDERS = ("unit", "document", "part")
_HANGING = ("version", "part")


def restore_below(store: ExtractStore) -> int:
    """Gives versions, remarks, answers and the like the values that what they hang on keeps for them. Returns how many
    objects keep values of their source, for themselves or others. What was put back before is put back again."""
    holders = 0
    store.db.execute("BEGIN")
    for table in _HOLDERS:
        rows = store.db.execute(f"SELECT rowid, instr(data, 'below') FROM {table} WHERE instr(data, ?)", (VALUES,))  # noqa: S608  # our own names
        rowids = rows.fetchall()
        holders += len(rowids)
        for rowid, may_keep_others in rowids:
            if may_keep_others:
                _restore_below(store, table, rowid)
    store.db.execute("COMMIT")
    return holders


def _restore_below(store: ExtractStore, table: str, rowid: int) -> None:
    holder, data = store.db.execute(f"SELECT id, data FROM {table} WHERE rowid = ?", (rowid,)).fetchone()  # noqa: S608  # our own names
    waiting = list(carried_below(orjson.loads(data)["f"]))
    for hanging in _HANGING if waiting else ():
        for child, kind, fields, stored in list(_children(store, hanging, holder)):
            place = next((at for at, entry in enumerate(waiting) if entry.is_of(kind, fields)), None)
            if place is None:
                continue
            restored = {**stored, "f": with_values(kind, fields, waiting.pop(place).values)}
            store.db.execute(f"UPDATE {hanging} SET data = ? WHERE rowid = ?", (orjson.dumps(restored).decode(), child))  # noqa: S608  # our own names


def _children(
    store: ExtractStore, table: str, holder: Key
) -> Iterator[tuple[int, str, dict[str, object], dict[str, object]]]:
    for rowid, data in store.db.execute(f"SELECT rowid, data FROM {table} WHERE parent = ? ORDER BY rowid", (holder,)):  # noqa: S608  # our own names
        stored = orjson.loads(data)
        yield rowid, stored["t"], stored["f"], stored
