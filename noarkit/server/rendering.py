"""Stored objects as clients see them: `{"type", "id", "version", "fields", "links"}`.

`columns` and `render` belong together: a row holds the columns of its family in schema order; `render_values` takes
values by column, as a transaction has them. What is unset is left out. What is screened is found by `screened` and
withheld by `render(..., masked=True)`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from operator import itemgetter

import orjson

from noarkit.model import Field, ObjectType
from noarkit.server.schema import schema, table_name
from noarkit.server.values import TELLERS, Stored
from noarkit.server.wire import Refusal

# How much text one answer holds at the most: what is fetched, told and sent is in memory several times over.
_MOST_CHARACTERS = 64 * 1024 * 1024

Row = Sequence[Stored]
Object = dict[str, object]

# Texts that stay readable on a screened object: identifiers and technical facts, which name nobody.
OPEN_TEXTS = frozenset(
    {
        "uuid",
        "mappeIdent",
        "registreringsIdent",
        "klasseIdent",
        "arkivskaperIdent",
        "prefiks",
        "moetenummer",
        "saksnummer",
        "eksterntSystem",
        "eksternID",
        "planident",
        "klassifikasjonstype",
        "offentligTittel",
        "publiseringsstatus",
        "eInnsynStatus",
        "referanseDokumentfil",
        "format",
        "innholdstype",
        "sjekksum",
        "sjekksumAlgoritme",
    }
)

# Links that lead sideways, or to what cannot be screened; every other stored link leads from a child to its parent.
_NOT_UPWARDS = frozenset(
    {"refArkiv", "refArkivdelForloeper", "refPrimaerKlassifikasjonssystem", "refKlassifikasjonssystem"}
)


Tell = Callable[[Stored], object]


@dataclass(frozen=True, slots=True)
class _Plan:
    """How objects of one concrete type are told: which values, by place or column, and what makes each a wire value."""

    by_place: tuple[tuple[str, int, Tell | None], ...]
    by_column: tuple[tuple[str, str, Tell | None], ...]
    links: tuple[tuple[str, int], ...]


@cache
def columns(family: str, alias: str = "") -> str:
    """The SELECT list of a family, in schema order; `alias` names the table where a query has several."""
    prefix = f"{alias}." if alias else ""
    return ", ".join(f'{prefix}"{name}"' for name in schema().tables[family].columns)


def render(row: Row, *, masked: bool = False, newer: bool = True) -> Object:
    """The object of one row of the `columns` of its family.

    `masked` withholds free text and what tells of persons; without `newer`, fields and links that only newer clients
    know are left out.
    """
    plan = _plan(row[1], masked, newer)
    fields: Object = {}
    for name, place, tell in plan.by_place:
        value = row[place]
        if value is not None:
            fields[name] = value if tell is None else tell(value)
    links = {name: row[place] for name, place in plan.links if row[place] is not None}
    return {"type": row[1], "id": str(row[0]), "version": str(row[2]), "fields": fields, "links": links}


def render_values(type_name: str, values: Mapping[str, Stored], *, newer: bool = True) -> Object:
    """The same object from its values by column, `id` and `version` among them; other columns may be missing."""
    plan = _plan(type_name, False, newer)
    fields: Object = {}
    for name, column, tell in plan.by_column:
        value = values.get(column)
        if value is not None:
            fields[name] = value if tell is None else tell(value)
    links = {name: values[name] for name, _ in plan.links if values.get(name) is not None}
    return {
        "type": type_name,
        "id": str(values["id"]),
        "version": str(values["version"]),
        "fields": fields,
        "links": links,
    }


def render_all(
    db: sqlite3.Connection, family: str, rows: Iterable[Row], *, public_use: bool = False, newer: bool = True
) -> list[Object]:
    """The objects of several rows; with `public_use`, what is screened is withheld."""
    listed = list(rows)
    hidden = screened(db, family, [_number(row[0]) for row in listed]) if public_use else frozenset()
    return [render(row, masked=row[0] in hidden, newer=newer) for row in listed]


def fetch(db: sqlite3.Connection, family: str, ids: Sequence[int]) -> list[Row]:
    """The rows of the given ids that exist, in their order. Refuses with 400 more text than one answer holds."""
    found: dict[int, Row] = {}
    texts, left = _texts(family), _MOST_CHARACTERS
    sql = f"SELECT {columns(family)} FROM {table_name(family)} WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608  # names of the metamodel
    for row in db.execute(sql, (orjson.dumps(list(ids)).decode(),)):
        found[row[0]] = row
        left -= sum(map(len, filter(None, texts(row))))
        if left < 0:
            raise Refusal(400, "The objects hold too much text for one answer; ask for fewer at once.")
    return [found[object_id] for object_id in ids if object_id in found]


@cache
def _texts(family: str) -> Callable[[Row], Iterable[str | None]]:
    """What takes the texts of free length out of a row of `columns`."""
    listed = enumerate(schema().tables[family].columns.values())
    places = [place for place, column in listed if column.kind in ("string", "object")]
    return itemgetter(*places, places[0])  # one more than there are, so that it is always several


def screened(db: sqlite3.Connection, family: str, ids: Iterable[int]) -> frozenset[int]:
    """Those of `ids` that are screened, or have an ancestor that is.

    An ancestor is what a parent link or the primary class leads to, all the way up.
    """
    start = [(family, object_id) for object_id in ids]
    parents: dict[tuple[str, int], list[tuple[str, int]]] = {}
    closed: set[tuple[str, int]] = set()
    frontier = list(start)
    while frontier:
        by_family: dict[str, list[int]] = {}
        for key in frontier:
            if key not in parents:
                parents[key] = []
                by_family.setdefault(key[0], []).append(key[1])
        frontier = []
        for at, members in by_family.items():
            for key, is_screened, above in _look_up(db, at, members):
                parents[key] = above
                if is_screened:
                    closed.add(key)
                else:
                    frontier.extend(above)
    return frozenset(key[1] for key in start if _reaches(key, closed, parents))


def is_open(field: Field) -> bool:
    """True where the field stays readable on a screened object: identifiers, codes, dates, numbers."""
    return field.kind not in ("string", "object") or field.code_list is not None or field.name in OPEN_TEXTS


@cache
def _plan(type_name: Stored, masked: bool, newer: bool) -> _Plan:
    whole = schema()
    object_type = whole.model.types[str(type_name)]
    places = {name: place for place, name in enumerate(whole.tables[object_type.family].columns)}
    told = tuple(_told_fields(object_type, masked, newer))
    return _Plan(
        by_place=tuple((name, places[column], tell) for name, column, tell in told),
        by_column=told,
        links=tuple(_told_links(object_type, places, newer)),
    )


def _told_fields(object_type: ObjectType, masked: bool, newer: bool) -> Iterable[tuple[str, str, Tell | None]]:
    for field in object_type.fields.values():
        shown = field.viewed and field.name not in ("id", "version") and (newer or not field.newer)
        if shown and (not masked or is_open(field)):
            yield field.name, field.name, TELLERS.get(field.kind)
            if field.also:
                yield field.also, field.name, TELLERS.get(field.kind)


def _told_links(object_type: ObjectType, places: Mapping[str, int], newer: bool) -> Iterable[tuple[str, int]]:
    for reference in object_type.references.values():
        if reference.viewed and reference.name in places and (newer or not reference.newer):
            yield reference.name, places[reference.name]


@cache
def _upward(family: str) -> tuple[tuple[str, str], ...]:
    """The parent columns of a family, each with the family it leads to."""
    whole = schema()
    found: dict[str, str] = {}
    for type_name in whole.model.concrete(family):
        for name in whole.model.types[type_name].references:
            link = whole.links[type_name, name]
            if link.kind == "column" and name not in _NOT_UPWARDS:
                found[name] = link.other_family
    return tuple(found.items())


def _look_up(
    db: sqlite3.Connection, family: str, ids: Sequence[int]
) -> Iterable[tuple[tuple[str, int], bool, list[tuple[str, int]]]]:
    upward = _upward(family)
    mark = "skjerming" if "skjerming" in schema().tables[family].columns else "NULL"
    listed = ", ".join(["id", mark, *(f'"{name}"' for name, _ in upward)])
    sql = f"SELECT {listed} FROM {table_name(family)} WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608  # names of the metamodel
    for object_id, code, *targets in db.execute(sql, (orjson.dumps(list(ids)).decode(),)):
        above = [(other, target) for (_, other), target in zip(upward, targets, strict=True) if target is not None]
        yield (family, object_id), code is not None, above


def _reaches(
    start: tuple[str, int], closed: set[tuple[str, int]], parents: Mapping[tuple[str, int], list[tuple[str, int]]]
) -> bool:
    seen = {start}
    waiting = [start]
    while waiting:
        key = waiting.pop()
        if key in closed:
            return True
        fresh = [above for above in parents.get(key, ()) if above not in seen]
        seen.update(fresh)
        waiting.extend(fresh)
    return False


def _number(stored: Stored) -> int:
    return stored if isinstance(stored, int) else int(str(stored))
