"""What may be shown of a plan: its entities and its source records, whatever became of them.

A record that the plan has no entity for (already there, set aside, left out by a rule) is as the rule of the recipe
that would have mapped it; where nobody knows which that is, as the strictest of them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping

import orjson

from noarkit.graph.losses import CARRIED
from noarkit.model.disclosure import (
    CARRIED_ABOVE,
    OPEN,
    PARTY_TYPE,
    UNKNOWN,
    Disclosure,
    Json,
    carried_above,
    mask_fault,
    of_fields,
    of_parties,
    of_whole,
    screens,
)
from noarkit.recipes import read_recipe
from noarkit.recipes.screening import LeftOutScreening

_CLASS_LINKS = "('refPrimaerKlasse', 'refForelderKlasse')"
# what an entity lies in: its parents, its class, and what these lie in; `n` is the entity itself
_ABOVE = f"""
WITH RECURSIVE above (n) AS (
  SELECT ?1
  UNION SELECT e.parent FROM above a JOIN entity e ON e.n = a.n WHERE e.parent IS NOT NULL
  UNION SELECT l.other FROM above a JOIN link l ON l.entity = a.n AND l.other IS NOT NULL AND l.name IN {_CLASS_LINKS}
)
"""  # noqa: S608  # our own words
_IS_ABOVE_SCREENED = (
    f"{_ABOVE} SELECT EXISTS (SELECT 1 FROM above a JOIN entity s ON s.n = a.n WHERE a.n != ?1 AND ({screens('s')}"  # noqa: S608  # ours
    " OR s.n IN (SELECT n FROM temp.screened_above)))"
)
_PARTS = "SELECT fields FROM entity WHERE bundle = (SELECT bundle FROM entity WHERE n = ?1) AND bundle != 0"


class PlanDisclosures:
    """Answers for one plan, whose database is open."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._recipe: LeftOutScreening | None = None
        db.execute("CREATE TEMP TABLE IF NOT EXISTS screened_above (n INTEGER PRIMARY KEY)")
        units = sorted({unit for fields in self._carriers() for unit in carried_above(fields)})
        db.execute(
            "INSERT OR IGNORE INTO temp.screened_above SELECT n FROM entity WHERE unit = 0"
            " AND json_extract(fields, '$.uuid') IN (SELECT value FROM json_each(?))",
            (orjson.dumps(units).decode(),),
        )

    def of_unit(self, entity: int) -> Disclosure:
        """An entity by itself and what it lies in; what lies in it is not asked."""
        row = self._db.execute("SELECT fields FROM entity WHERE n = ?", (entity,)).fetchone()
        own = of_fields(orjson.loads(row[0]))
        if own.is_screened:
            return own
        if self.is_screened_above(entity):
            return Disclosure(True, "graded")
        is_above = bool(self._db.execute(_IS_ABOVE_SCREENED, (entity,)).fetchone()[0])
        return Disclosure(True, "above") if is_above else OPEN

    def of_record(self, record: int) -> Disclosure:
        """A source record: the entity that stands for it with its parts and what it lies in, else the rule that would
        have mapped it."""
        root, data = self._db.execute("SELECT root, data FROM record WHERE n = ?", (record,)).fetchone()
        if root is None:
            return self.of_left_out(data)
        return self.of_whole(root)

    def of_bundle(self, entity: int) -> BundleDisclosures:
        """The entities of the bundle that an entity stands in, each by itself."""
        head = self._db.execute("SELECT bundle FROM entity WHERE n = ?", (entity,)).fetchone()[0]
        return BundleDisclosures(head, self.of_unit(head or entity))

    def of_key(self, key: str) -> Disclosure:
        """The source record or entity with this key; of any other, what is so of records that nobody mapped."""
        row = self._db.execute("SELECT n FROM record WHERE key = ?", (key,)).fetchone()
        if row is not None:
            return self.of_record(row[0])
        row = self._db.execute("SELECT n FROM entity WHERE key = ?", (key,)).fetchone()
        return self.of_left_out(None) if row is None else self.of_whole(row[0])

    def of_whole(self, entity: int) -> Disclosure:
        """An entity with its parts and what it lies in."""
        parts = (orjson.loads(fields) for (fields,) in self._db.execute(_PARTS, (entity,)))
        return of_whole(self.of_unit(entity), parts)

    def of_note(self, record: int | None) -> Disclosure:
        """What a note of the plan is about: a record, or what lies over all."""
        return OPEN if record is None else self.of_record(record)

    def of_left_out(self, data: str | None) -> Disclosure:
        """A record that nobody mapped, by the data of its fault."""
        line = orjson.loads(data).get("line") if data else None
        return UNKNOWN if self._left_out().may_screen(line if isinstance(line, int) else 0) else OPEN

    def fault(self, data: Mapping[str, object], disclosure: Disclosure) -> dict[str, Json]:
        """What is told of the fault of a record with this disclosure, or of why it is left out."""
        return mask_fault(data, disclosure, self._left_out().reasons)

    def is_screened_above(self, entity: int) -> bool:
        """True for a fonds, series or system that was screened where it came from, as a unit below it carries."""
        row = self._db.execute("SELECT 1 FROM temp.screened_above WHERE n = ?", (entity,)).fetchone()
        return row is not None

    def _left_out(self) -> LeftOutScreening:
        if self._recipe is None:
            row = self._db.execute("SELECT value FROM meta WHERE name = 'recipe'").fetchone()
            text = str(row[0] or "") if row else ""
            self._recipe = LeftOutScreening(read_recipe(text) if text else None)
        return self._recipe

    def _carriers(self) -> Iterator[dict[str, object]]:
        condition = "EXISTS (SELECT 1 FROM note WHERE code = ?) AND instr(fields, ?) > 0"
        rows = self._db.execute(f"SELECT fields FROM entity WHERE {condition}", (CARRIED, CARRIED_ABOVE))  # noqa: S608  # ours
        return (orjson.loads(fields) for (fields,) in rows)


class BundleDisclosures:
    """What of a bundle is screened, each by itself or by what it lies in; `head` is the entity that all lies in."""

    def __init__(self, head: int, disclosure: Disclosure) -> None:
        self._head = disclosure
        self._known: dict[int, Disclosure] = {head: disclosure}
        self._of_parties: dict[int, Disclosure] = {}

    def of_entity(self, n: int, parent: int | None, kind: str, fields: Mapping[str, object]) -> Disclosure:
        """An entity by itself and what it lies in; parents are asked before their children."""
        above = self._known.get(parent or 0, self._head)
        if kind == PARTY_TYPE:
            above = self._of_parties.get(parent or 0, above)
        own = self._known.setdefault(n, of_fields(fields, above))
        self._of_parties[n] = of_parties(fields, own)
        return own
