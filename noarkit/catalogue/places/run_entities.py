"""The entities of a run as items, bundle by bundle in the order of the plan, in constant memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

import orjson

from noarkit.catalogue.custody import FileEvidence, RunCustody, SendingTimes
from noarkit.catalogue.places.noark_objects import (
    SPINE,
    VERSION,
    Part,
    documents_of,
    heading,
    is_item_type,
    nested_fields,
    plain_fields,
    standard_code_names,
    with_names,
)
from noarkit.catalogue.port import Document, Item, Json
from noarkit.catalogue.screening import PlanDisclosures
from noarkit.model.conversions import original_key
from noarkit.model.disclosure import of_fields

_OWN_PREFIXES = ("group:", "record:", "entity:")
_CACHED = 50_000
_CHECKSUM_FAULT = "F314"
_STATES = {"done": "archived"}

# a folder is made by the first record in it, which must not be told of it: it may be screened
_ROWS = """
SELECT e.n, e.key, e.type, CASE WHEN s.root = e.n THEN e.record END, e.parent, e.fields, e.line, e.unit, e.bundle,
  p.key, CASE WHEN s.root = e.n THEN s.key END,
  c.name, c.size, c.sha256, c.media_type, c.puid, r.state, r.id, r.sha256, l.state, l.code, d.theirs
FROM entity e LEFT JOIN entity p ON p.n = e.parent LEFT JOIN content c ON c.entity = e.n
LEFT JOIN record s ON s.n = e.record LEFT JOIN run.entity r ON r.n = e.n
LEFT JOIN run.left_out l ON l.bundle = e.bundle AND e.bundle != 0 LEFT JOIN damage d ON d.entity = e.n
"""


@dataclass(frozen=True, slots=True)
class _Row:
    """An entity with what plan and journal know of it."""

    n: int
    key: str
    type: str
    record: int | None
    parent: int | None
    fields: str
    line: int
    unit: int
    bundle: int
    parent_key: str | None
    record_key: str | None
    name: str | None
    size_bytes: int | None
    planned_sha256: str | None
    media_type: str | None
    puid: str | None
    state: str | None
    id: str | None
    sent_sha256: str | None
    left_out: str | None
    code: str | None
    archive_sha256: str | None


def reference_of(key: str) -> str:
    """The ref of an entity: its key, unless that looks like a ref of another kind."""
    return f"entity:{key}" if key.startswith(_OWN_PREFIXES) else key


class RunEntities:
    """One reading of the entities of a run. `db` is its plan, with the journal attached as `run`."""

    def __init__(self, db: sqlite3.Connection, custody: RunCustody, disclosures: PlanDisclosures) -> None:
        self._db = db
        self._disclosures = disclosures
        self._custody = custody
        self._codes = standard_code_names()
        self._times = SendingTimes(db)
        self._idents: dict[int, str] = {}
        self._unit = 0
        self._class_of = lru_cache(_CACHED)(self._find_class)
        db.execute("CREATE TEMP TABLE warning AS SELECT record, code FROM note WHERE record IS NOT NULL")
        db.execute("CREATE INDEX temp.warning_record ON warning (record)")
        db.execute("CREATE TEMP TABLE damage (entity INTEGER PRIMARY KEY, theirs TEXT)")
        db.execute(
            "INSERT OR IGNORE INTO damage SELECT entity, json_extract(data, '$.theirs') FROM run.finding"
            " WHERE kind = 'checksum' AND entity IS NOT NULL AND state IN ('open', 'asked')"
        )
        self._has_links = _has_any(db, "link")
        self._has_warnings = _has_any(db, "warning")
        self._is_spine_in_doubt = _has_any(db, "run.chunk WHERE first_unit = 0 AND state = 'in_doubt'")

    def items(self) -> Iterator[Item]:
        """Every item, what lies higher first."""
        yield from self._spine()
        for _, bundle in groupby(self._rows("e.unit > 0"), key=lambda row: (row.unit, row.bundle)):
            yield self._item(list(bundle))

    def _rows(self, condition: str, *values: object) -> Iterator[_Row]:
        rows = self._db.execute(f"{_ROWS} WHERE {condition} ORDER BY e.unit, e.bundle, e.n", values)
        return (_Row(*row) for row in rows)

    def _spine(self) -> Iterator[Item]:
        parts: dict[int, list[_Row]] = {}
        for row in self._rows("e.unit = 0 AND e.type NOT IN (?, ?, ?, ?)", *SPINE):
            parts.setdefault(row.parent or 0, []).append(row)
        for kind in SPINE:
            for row in self._rows("e.unit = 0 AND e.type = ?", kind):
                yield self._item([row, *parts.get(row.n, ())])
        for row in parts.get(0, ()):
            yield self._item([row])

    def _item(self, rows: list[_Row]) -> Item:
        """The item of a bundle: its first row, with all others nested in it."""
        head = rows[0]
        if head.unit != self._unit:
            self._unit, self._idents = head.unit, {}
        parts = {row.n: self._part(row) for row in rows}
        for row in rows[1:]:
            parts.get(row.parent or 0, parts[head.n]).parts.append(parts[row.n])
        files = {parts[row.n].ref: self._file(row) for row in rows if row.type == VERSION}
        part = parts[head.n]
        about = heading(part.fields, self._idents.get(head.parent or 0, ""))
        if is_item_type(head.type):
            self._idents[head.n] = about.ident
        parent, klass, is_class_screened = self._place(head)
        own = of_fields(part.fields)
        damage = next((_CHECKSUM_FAULT for row in rows if row.archive_sha256), "")
        return Item(
            part.ref,
            parent,
            head.type,
            about.title,
            ident=about.ident,
            day=about.day,
            status=about.status,
            klass=klass,
            screened=own.is_screened or is_class_screened or self._disclosures.is_screened_above(head.n),
            fault=head.code or damage,
            state=self._state(head),
            fields=nested_fields(part) | self._facts(head),
            links=self._links(rows) if self._has_links else (),
            documents=documents_of(part, files),
        )

    def _part(self, row: _Row) -> Part:
        return Part(reference_of(row.key), row.type, with_names(row.type, orjson.loads(row.fields), self._codes))

    def _state(self, row: _Row) -> str:
        if row.left_out or row.state:
            return row.left_out or _STATES.get(str(row.state), str(row.state))
        in_doubt = self._times.at(_position(row))[1] == "in_doubt" if row.unit else self._is_spine_in_doubt
        return "in_doubt" if in_doubt else "planned"

    def _facts(self, row: _Row) -> dict[str, Json]:
        """What the run knows of an entity and Noark has no field for."""
        warnings: list[str] = []
        if self._has_warnings and row.record is not None:
            codes = self._db.execute("SELECT code FROM warning WHERE record = ?", (row.record,))
            warnings = sorted({str(code) for (code,) in codes})
        facts = {
            "key": row.key,
            "source_record": row.record_key,
            "archive_id": row.id,
            "recipe_line": row.line or None,
            "warnings": warnings,
        }
        return {"run": plain_fields(facts)}

    def _file(self, row: _Row) -> Document:
        if row.name is None:
            return Document(reference_of(row.key))
        evidence = FileEvidence(
            planned_sha256=row.planned_sha256 or "",
            is_identified=bool(row.media_type or row.puid),
            state=row.state or "",
            sent_sha256=row.sent_sha256 or "",
            archive_sha256=row.archive_sha256 or "",
            sent_at=self._times.at(_position(row))[0],
            details=_details(row),
        )
        return Document(
            reference_of(row.key),
            name=row.name,
            media_type=row.media_type or "",
            puid=row.puid or "",
            size_bytes=row.size_bytes,
            sha256=row.sent_sha256 or row.planned_sha256 or "",
            locator=str(row.n),
            fields=plain_fields({"archive_id": row.id}),
            custody=self._custody.steps(evidence),
        )

    def _links(self, rows: list[_Row]) -> tuple[tuple[str, str], ...]:
        found_links = []
        for row in rows:
            for name, key in self._db.execute("SELECT name, other_key FROM link WHERE entity = ?", (row.n,)):
                found_links.append((str(name), reference_of(str(key))))
        return tuple(found_links)

    def _place(self, row: _Row) -> tuple[str | None, str, bool]:
        """The ref of what an entity lies in, the number of its class, and whether that is screened. A unit of a series
        lies in its class, where that is a class of this series."""
        parent = None if row.parent_key is None else reference_of(row.parent_key)
        if row.type == "Klassifikasjonssystem" and parent is None:
            return self._series_of_system(row.n)[1], "", False
        if row.type == "Klasse":
            return self._linked_reference(row.n, "refForelderKlasse") or parent, "", False
        if not self._has_links or not is_item_type(row.type) or row.type in SPINE:
            return parent, "", False
        link = self._db.execute(
            "SELECT other FROM link WHERE entity = ? AND name = 'refPrimaerKlasse' AND other IS NOT NULL", (row.n,)
        ).fetchone()
        if link is None:
            return parent, "", False
        reference, ident, series, is_screened = self._class_of(int(link[0]))
        return (reference if series and series == row.parent else parent), ident, is_screened

    def _linked_reference(self, n: int, name: str) -> str | None:
        """The ref of what an entity of the plan leads to by a link to one."""
        row = self._db.execute(
            "SELECT e.key FROM link l JOIN entity e ON e.n = l.other WHERE l.entity = ? AND l.name = ?", (n, name)
        ).fetchone()
        return None if row is None else reference_of(row[0])

    def _find_class(self, n: int) -> tuple[str, str, int, bool]:
        """The ref of a class, its number, the series that it is shown under (0: none), and whether it is screened."""
        key, ident, system = self._db.execute(
            "WITH RECURSIVE above (n, parent) AS (SELECT n, parent FROM entity WHERE n = ?"
            " UNION SELECT e.n, e.parent FROM entity e JOIN above a ON e.n = a.parent)"
            " SELECT key, json_extract(fields, '$.klasseIdent'), (SELECT above.n FROM above"
            " JOIN entity s ON s.n = above.n WHERE s.type = 'Klassifikasjonssystem') FROM entity WHERE n = ?",
            (n, n),
        ).fetchone()
        is_screened = self._disclosures.of_unit(n).is_screened
        return reference_of(key), str(ident or ""), self._series_of_system(int(system or 0))[0], is_screened

    def _series_of_system(self, n: int) -> tuple[int, str | None]:
        """The first series that has a classification system as its primary one."""
        row = self._db.execute(
            "SELECT e.n, e.key FROM link l JOIN entity e ON e.n = l.entity"
            " WHERE l.other = ? AND l.name = 'refPrimaerKlassifikasjonssystem' ORDER BY e.n LIMIT 1",
            (n,),
        ).fetchone()
        return (0, None) if row is None else (int(row[0]), reference_of(row[1]))


def _details(row: _Row) -> str:
    """What a version says of its format, where it is the copy of another."""
    return "" if original_key(row.key) is None else str(orjson.loads(row.fields).get("formatDetaljer") or "")


def _has_any(db: sqlite3.Connection, rows: str) -> bool:
    return db.execute(f"SELECT 1 FROM {rows} LIMIT 1").fetchone() is not None  # noqa: S608  # our own words


def _position(row: _Row) -> tuple[int, int, int]:
    return row.unit, row.bundle, row.n
