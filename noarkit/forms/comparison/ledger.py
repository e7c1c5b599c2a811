"""Stores the rows of two sides in a temporary database and finds their differences, as streams in constant memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import orjson

from noarkit.forms.comparison.rules import By
from noarkit.model.conversions import converted_sums
from noarkit.model.disclosure import OPEN, PARTY_TYPE, Disclosure, Reason
from noarkit.safe.scratch import scratch

Side = Literal["left", "right"]
Kind = Literal["only-left", "only-right", "differs"]
_BATCH = 2000
_SIDES: tuple[Side, Side] = ("left", "right")
_VERSIONS = frozenset({"Dokumentversjon", "dokumentobjekt"})
_SHA256 = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_SCREENED: frozenset[str] = frozenset(get_args(Reason)) - {"part", ""}
# why something of a unit, or of what it stands in, is screened
_ABOVE = """
WITH RECURSIVE above (id) AS (
  SELECT ?1
  UNION SELECT s.parent FROM above a JOIN {side}_side s ON s.id = a.id
  UNION SELECT s.klass FROM above a JOIN {side}_side s ON s.id = a.id)
SELECT s.id = ?1, s.because FROM above a JOIN {side}_side s ON s.id = a.id WHERE s.because != ''
"""


class Row(NamedTuple):
    """One unit, document, version or part of a side.

    `id` is its key on its side and `parent` that of its parent; `uuid` is its systemID, or empty; `ident` its name
    among its siblings. A row with neither is distinguished from its siblings by its fields.
    `klass` is the key of its class, where that is not what it stands in, and `disclosure` what may be shown of it by
    itself.
    """

    id: str
    type: str
    parent: str
    uuid: str
    ident: str
    fields: Mapping[str, object]
    klass: str = ""
    disclosure: Disclosure = OPEN


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference; `left` and `right` are the values of a field that differs. `disclosure` is what may be shown
    of the unit on both sides."""

    kind: Kind
    type: str
    key: str
    field: str = ""
    left: object = None
    right: object = None
    disclosure: Disclosure = OPEN
    is_original: bool = False
    """True for a version that the other side replaces by an archival copy made of it."""


class Ledger:
    """Both sides. Used with `with`; what it wrote goes with it."""

    def __init__(self) -> None:
        self._db = scratch()  # private, and forgotten with us however we end

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def fill(self, side: Side, rows: Iterable[Row], by: By) -> dict[str, int]:
        """Takes a side in, gives each row the key it is compared by, and counts its types."""
        db, table = self._db, f"{side}_side"
        db.execute(
            f"CREATE TABLE {table} (id TEXT, type TEXT, parent TEXT, uuid TEXT, ident TEXT, fields TEXT, key TEXT,"
            " klass TEXT, because TEXT)"
        )
        db.execute(f"CREATE TABLE {side}_original (sha256 TEXT, document TEXT)")
        originals = f"INSERT INTO {side}_original VALUES (?, ?)"  # noqa: S608  # our own words
        insert = f"INSERT INTO {table} VALUES (?,?,?,?,?,?,NULL,?,?)"  # noqa: S608  # our own words
        batch: list[tuple[str, ...]] = []
        db.execute("BEGIN")
        for row in rows:
            fields_json = orjson.dumps(row.fields, option=orjson.OPT_SORT_KEYS).decode()
            if row.type in _VERSIONS:
                db.executemany(originals, ((sha256, row.parent) for sha256 in converted_sums(fields_json)))
            batch.append((*row[:5], fields_json, row.klass, row.disclosure.because))
            if len(batch) >= _BATCH:
                db.executemany(insert, batch)
                batch.clear()
        db.executemany(insert, batch)
        db.execute("COMMIT")
        db.execute(f"CREATE INDEX {side}_original_sum ON {side}_original (sha256)")
        db.execute(f"CREATE INDEX {table}_id ON {table} (id)")
        self._set_keys(table, by)
        db.execute(f"CREATE INDEX {table}_key ON {table} (key)")
        return dict(db.execute(f"SELECT type, count(*) FROM {table} GROUP BY type ORDER BY type"))  # noqa: S608  # our own words

    def differences(self) -> Iterator[Difference]:
        """All of them: what stands on one side only, then each field that differs, in the order of keys."""
        sides: tuple[tuple[Kind, Side, Side], ...] = (("only-left", "left", "right"), ("only-right", "right", "left"))
        for kind, side, other_side in sides:
            statement = (
                f"SELECT h.type, h.key, h.id, h.fields, h.parent FROM {side}_side h LEFT JOIN {other_side}_side t"  # noqa: S608  # our own words
                " ON t.key = h.key AND t.type = h.type WHERE t.key IS NULL ORDER BY h.key"
            )
            for type_name, key, id_, fields, document in self._db.execute(statement):
                is_original = type_name in _VERSIONS and self._has_copy(fields, (side, document), other_side)
                disclosure = self._disclosure(type_name, {side: id_})
                yield Difference(kind, type_name, key, disclosure=disclosure, is_original=is_original)
        differing_sql = (
            "SELECT l.type, l.key, l.fields, r.fields, l.id, r.id FROM left_side l JOIN right_side r"
            " ON r.key = l.key AND r.type = l.type WHERE l.fields != r.fields ORDER BY l.key"
        )
        for type_name, key, left, right, *ids in self._db.execute(differing_sql):
            disclosure = self._disclosure(type_name, dict(zip(_SIDES, ids, strict=True)))
            yield from _field_differences((type_name, key), orjson.loads(left), orjson.loads(right), disclosure)

    def _has_copy(self, fields: str, place: tuple[Side, str], other_side: Side) -> bool:
        """True if the same document of the other side has an archival copy of the version that has these fields."""
        side, document = place
        statement = (
            f"SELECT 1 FROM {other_side}_original o JOIN {other_side}_side t ON t.id = o.document"  # noqa: S608  # our own words
            f" JOIN {side}_side h ON h.key = t.key AND h.type = t.type WHERE o.sha256 = ? AND h.id = ?"
        )
        return any(
            self._db.execute(statement, (sha256, document)).fetchone() for sha256 in _SHA256.findall(fields.lower())
        )

    def _disclosure(self, type_name: str, ids: Mapping[Side, str]) -> Disclosure:
        """What may be shown of a unit that has these ids: what neither side screens."""
        reasons: dict[bool, set[str]] = {True: set(), False: set()}
        for side, id_ in ids.items():
            for is_own, because in self._db.execute(_ABOVE.format(side=side), (id_,)):
                reasons[bool(is_own)].add(because)
        if reasons[True] & _SCREENED or reasons[False] & _SCREENED:
            return Disclosure(True, "above")
        if type_name == PARTY_TYPE and reasons[False]:
            return Disclosure(True, "above")
        return Disclosure(False, "part") if reasons[True] else OPEN

    def _set_keys(self, table: str, by: By) -> None:
        """By id: the systemID. By key, and for what has no systemID: its name below the key of what it stands in."""
        db = self._db
        if by == "id":
            # a classification system may stand in several series under one id
            numbered_sql = f"row_number() OVER (PARTITION BY type, uuid ORDER BY fields, id) AS place FROM {table}"
            db.execute(
                f"UPDATE {table} SET key = uuid || CASE o.place WHEN 1 THEN '' ELSE '#' || o.place END"  # noqa: S608  # our own words
                f" FROM (SELECT rowid AS row, {numbered_sql} WHERE uuid != '') o WHERE o.row = {table}.rowid"
            )
        db.execute(
            f"CREATE TEMP TABLE {table}_places AS SELECT rowid AS row, row_number() OVER"  # noqa: S608  # our own words
            f" (PARTITION BY parent, type, ident ORDER BY fields, id) AS place FROM {table} WHERE key IS NULL"
        )
        db.execute(f"CREATE INDEX temp.{table}_place ON {table}_places (row)")
        place = f"(SELECT place FROM {table}_places p WHERE p.row = {table}.rowid)"  # noqa: S608  # our own words
        name = f"{table}.type || ':' || ident || CASE {place} WHEN 1 THEN '' ELSE '#' || {place} END"
        db.execute(f"UPDATE {table} SET key = {name} WHERE key IS NULL AND parent = ''")  # noqa: S608  # our own words
        above = f"(SELECT a.key FROM {table} a WHERE a.id = {table}.parent AND a.key IS NOT NULL LIMIT 1)"  # noqa: S608  # our own words
        changed = 1
        while changed > 0:
            changed = db.execute(
                f"UPDATE {table} SET key = {above} || '/' || {name} WHERE key IS NULL AND {above} IS NOT NULL"  # noqa: S608  # our own words
            ).rowcount
        db.execute(f"UPDATE {table} SET key = parent || '/' || {name} WHERE key IS NULL")  # noqa: S608  # our own words


def _field_differences(
    unit: tuple[str, str], left: Mapping[str, object], right: Mapping[str, object], disclosure: Disclosure
) -> Iterator[Difference]:
    for name in sorted({*left, *right}):
        if left.get(name) != right.get(name):
            yield Difference("differs", *unit, name, left.get(name), right.get(name), disclosure)
