"""Units out of the store, each with all that stands within it as one text of JSON, put together by SQLite itself."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from noarkit.extraction.store import Key
from noarkit.forms.noark5.read.original import ABOVE, Original
from noarkit.forms.noark5.write.content import CleanupCount, Content, parse
from noarkit.forms.noark5.write.restoring import originals_of

# One text of JSON for a unit: JSON is put together of pieces of JSON, so that nothing is parsed and built again.
_LINKS = """(SELECT group_concat('{"n":"' || k.name || '","u":"' || k.uuid || '","o":'
  || CASE k.data WHEN '' THEN 'null' ELSE k.data END || '}') FROM link k WHERE k.source = OF.id)"""
_PARTS = """(SELECT group_concat(CASE p.type WHEN 'Avskrivning'
  THEN substr(p.data, 1, length(p.data) - 1) || ',"k":[' || coalesce(LINKS, '') || ']}' ELSE p.data END)
  FROM part p WHERE p.parent = OF.id AND p.family = 'FAMILY')"""
_VERSIONS = """(SELECT group_concat('{"o":' || v.data || '}')
  FROM (SELECT * FROM version WHERE parent = d.id AND done < 2 ORDER BY sort, uuid) v)"""
_DOCUMENTS = """(SELECT group_concat('{"o":' || d.data || ',"v":[' || coalesce(VERSIONS, '')
  || '],"p":[' || coalesce(PARTS, '') || ']}')
  FROM (SELECT * FROM document WHERE parent = u.id ORDER BY sort, uuid) d)"""
_UNIT = """SELECT u.id, u.klasse, CAST('{"o":' || u.data || ',"p":[' || coalesce(PARTS, '')
  || '],"k":[' || coalesce(LINKS, '') || ']' DOCUMENTS || '}' AS BLOB) FROM unit u"""


def _select(family: str, *, documents: bool) -> str:
    within = ""
    if documents:
        documents_sql = _DOCUMENTS.replace("VERSIONS", _VERSIONS).replace("PARTS", _parts("d", "D"))
        within = f"""|| ',"d":[' || coalesce({documents_sql}, '') || ']'"""
    links = _LINKS.replace("OF", "u")
    return _UNIT.replace("PARTS", _parts("u", family)).replace("LINKS", links).replace("DOCUMENTS", within)


def _parts(of: str, family: str) -> str:
    links = _LINKS.replace("OF", "p")
    return _PARTS.replace("OF", of).replace("FAMILY", family).replace("LINKS", links)


_BY_PLACE = " WHERE u.parent = ? AND u.kind = ? ORDER BY u.sort, u.uuid"


class Bundles:
    """Reads units of a store by their place. A connection of its own, for whichever thread or process walks."""

    def __init__(self, path: Path) -> None:
        self.db = sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None, cached_statements=512)
        # What is read together lies together: a small cache is as quick as the whole store in memory, and each of
        # several processes has its own.
        self.db.execute("PRAGMA cache_size=-16384")
        self.db.execute("PRAGMA mmap_size=0")
        self.cleaned = CleanupCount()
        self._by_kind = {kind: _select(kind, documents=kind == "R") for kind in "FSCKMR"}
        self._records = self._by_kind["R"] + _BY_PLACE
        self._some_records = (
            f"{self._by_kind['R']} WHERE u.parent = ? AND u.kind = ? AND (u.sort, u.uuid) <= (?, ?)"
            " AND (u.sort, u.uuid) > (?, ?) ORDER BY u.sort, u.uuid"
        )

    def close(self) -> None:
        """Ends it."""
        self.db.close()

    def units(self, parent: Key, kind: str) -> Iterator[tuple[Key, Content]]:
        """The units of a kind with that parent, in their order, each with its id."""
        for unit_id, _, raw in self.db.execute(self._by_kind[kind] + _BY_PLACE, (parent, kind)):
            yield unit_id, parse(raw, self.cleaned)

    def records(self, parent: Key) -> Iterator[bytes]:
        """The records with that parent, in their order, as JSON."""
        for _, _, raw in self.db.execute(self._records, (parent, "R")):
            yield raw

    def some_records(self, parent: Key, after: tuple[str, str] | None, last: tuple[str, str]) -> Iterator[bytes]:
        """The records with that parent after one and up to another, each by its sort and uuid, as JSON."""
        sql = self._some_records if after else self._some_records.replace(" AND (u.sort, u.uuid) > (?, ?)", "")
        for _, _, raw in self.db.execute(sql, (parent, "R", *last, *(after or ()))):
            yield raw

    def unit(self, unit_id: Key, kind: str) -> Content | None:
        """One unit by its id."""
        row = self.db.execute(f"{self._by_kind[kind]} WHERE u.id = ? AND u.kind = ?", (unit_id, kind)).fetchone()
        return None if row is None else parse(row[2], self.cleaned)

    def journal(self) -> Iterator[tuple[Key, Key | None, Content]]:
        """All journal posts by year and number: where each lies, its own class, and itself."""
        sql = _select("R", documents=False).replace("SELECT u.id", "SELECT u.parent", 1)
        for parent, klasse, raw in self.db.execute(f"{sql} WHERE u.type = 'Journalpost' ORDER BY u.sort, u.uuid"):
            yield parent, klasse, parse(raw, self.cleaned)

    def originals_above(self) -> tuple[Original, ...]:
        """What folders and records keep of the fonds, series and classification systems above them; with the ids of
        those that are here under the same ones."""
        known_uuids = {uuid for (uuid,) in self.db.execute("SELECT uuid FROM unit WHERE kind IN ('F', 'S', 'C')")}
        sql = "SELECT CAST(data AS BLOB) FROM unit WHERE kind IN ('M', 'R') AND instr(data, ?) ORDER BY uuid"
        units = (parse(b'{"o":' + raw + b"}", self.cleaned)["o"] for (raw,) in self.db.execute(sql, (f'"{ABOVE}"',)))
        originals = (original for unit in units for original in originals_of(unit["f"], ABOVE))
        return tuple(
            original if original.system_id in known_uuids else replace(original, system_id="") for original in originals
        )

    def exists(self, parent: Key, kind: str) -> bool:
        """True if there is a unit of a kind with that parent."""
        sql = "SELECT 1 FROM unit WHERE parent = ? AND kind = ? LIMIT 1"
        return self.db.execute(sql, (parent, kind)).fetchone() is not None
