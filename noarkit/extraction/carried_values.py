"""The dates and numbers of a source that loaded objects keep for what hangs on them, put back once all is fetched."""

from __future__ import annotations

from collections.abc import Iterator

import orjson

from noarkit.extraction.store import ExtractStore, Key
from noarkit.forms.noark5.read.carried_values import VALUES, carried_below, with_values

_SPAN = (
    "SELECT min(json_extract(data, '$.f.opprettetDato')), json_extract(data, '$.f.opprettetAv'),"
    " (SELECT max(coalesce(json_extract(data, '$.f.avsluttetDato'), json_extract(data, '$.f.opprettetDato')))"
    " FROM unit WHERE kind IN ('M', 'R')) FROM unit WHERE kind IN ('M', 'R')"
)
"""The first day of folders and records, who made that one, and their last day."""
_YOUNGER = (
    "SELECT rowid, data, json_extract(data, '$.f.avsluttetDato') IS NOT NULL OR (kind = 'C' AND NOT EXISTS"
    " (SELECT 1 FROM unit k WHERE k.kind = 'K' AND k.klasse = u.id"
    " AND json_extract(k.data, '$.f.avsluttetDato') IS NULL))"
    " FROM unit u WHERE kind IN ('F', 'S', 'C') AND json_extract(data, '$.f.opprettetDato') > ?"
)
"""What was made after a day, and whether it is closed: a system is where all its classes are."""
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


def restore_above(store: ExtractStore) -> None:
    """Gives fonds, series and systems the first and last day of what lies in them, where they are younger than all of
    that was when it was closed: an account that could not set their days made them, and they keep no values."""
    first, maker, last = store.db.execute(_SPAN).fetchone()
    store.db.execute("BEGIN")
    for rowid, data, is_closed in store.db.execute(_YOUNGER, (last,)).fetchall():
        stored = orjson.loads(data)
        stored["f"] |= {"opprettetDato": first, "opprettetAv": maker}
        stored["f"] |= {"avsluttetDato": last, "avsluttetAv": maker} if is_closed else {}
        store.db.execute("UPDATE unit SET data = ? WHERE rowid = ?", (orjson.dumps(stored).decode(), rowid))
    store.db.execute("COMMIT")


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
