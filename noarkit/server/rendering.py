"""Renders stored objects as the JSON objects of answers: `{"type", "id", "version", "fields", "links"}`.

`columns` and `render` belong together: a row holds the columns of its family in schema order; `render_values` takes
values by column, as a transaction has them. Unset fields are left out. `find_screened` finds the screened objects, and
`render(..., masked=True)` withholds their closed fields.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from operator import itemgetter

import orjson

from noarkit.model import Field, ObjectType
from noarkit.server.schema import schema, table_name
from noarkit.server.values import RENDERERS, Stored
from noarkit.server.wire import Refusal

# The most text of one answer: the fetched, rendered and sent forms are in memory at the same time.
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


ValueRenderer = Callable[[Stored], object]


@dataclass(frozen=True, slots=True)
class _RenderPlan:
    """How to render objects of one concrete type: which values, by place or column, and the converter of each."""

    by_place: tuple[tuple[str, int, ValueRenderer | None], ...]
    by_column: tuple[tuple[str, str, ValueRenderer | None], ...]
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
    for name, place, render_value in plan.by_place:
        value = row[place]
        if value is not None:
            fields[name] = value if render_value is None else render_value(value)
    links = {name: row[place] for name, place in plan.links if row[place] is not None}
    return {"type": row[1], "id": str(row[0]), "version": str(row[2]), "fields": fields, "links": links}


def render_values(type_name: str, values: Mapping[str, Stored], *, newer: bool = True) -> Object:
    """The same object from its values by column, `id` and `version` among them; other columns may be missing."""
    rendered_fields, link_names = _plan_of_shape(type_name, newer, tuple(values))
    fields: Object = {}
    for name, column, render_value in rendered_fields:
        value = values[column]
        if value is not None:
            fields[name] = value if render_value is None else render_value(value)
    links = {name: values[name] for name in link_names if values[name] is not None}
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
    row_list = list(rows)
    screened_ids = find_screened(db, family, [_number(row[0]) for row in row_list]) if public_use else frozenset()
    return [render(row, masked=row[0] in screened_ids, newer=newer) for row in row_list]


def fetch(db: sqlite3.Connection, family: str, ids: Sequence[int]) -> list[Row]:
    """The rows of the given ids that exist, in their order. Refuses with 400 more text than one answer holds."""
    rows_by_id: dict[int, Row] = {}
    texts, remaining_characters = _texts(family), _MOST_CHARACTERS
    sql = f"SELECT {columns(family)} FROM {table_name(family)} WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608  # names of the metamodel
    for row in db.execute(sql, (orjson.dumps(list(ids)).decode(),)):
        rows_by_id[row[0]] = row
        remaining_characters -= sum(map(len, filter(None, texts(row))))
        if remaining_characters < 0:
            raise Refusal(400, "The objects hold too much text for one answer; ask for fewer at once.")
    return [rows_by_id[object_id] for object_id in ids if object_id in rows_by_id]


@cache
def _texts(family: str) -> Callable[[Row], Iterable[str | None]]:
    """A function that picks the texts of unlimited length out of a row of `columns`."""
    numbered_columns = enumerate(schema().tables[family].columns.values())
    places = [place for place, column in numbered_columns if column.kind in ("string", "object")]
    return itemgetter(*places, places[0])  # one more than there are, so that it is always several


def find_screened(db: sqlite3.Connection, family: str, ids: Iterable[int]) -> frozenset[int]:
    """The ids of objects that are screened or have a screened ancestor.

    Ancestors are followed by parent links and by the primary class, all the way up, one batch per level and family.
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
        for family_name, members in by_family.items():
            for key, is_screened, above in _look_up(db, family_name, members):
                parents[key] = above
                if is_screened:
                    closed.add(key)
                else:
                    frontier.extend(above)
    return frozenset(key[1] for key in start if _reaches(key, closed, parents))


def is_open(field: Field) -> bool:
    """True if the field stays readable on a screened object: identifiers, codes, dates, numbers."""
    return field.kind not in ("string", "object") or field.code_list is not None or field.name in OPEN_TEXTS


@cache
def _plan(type_name: Stored, masked: bool, newer: bool) -> _RenderPlan:
    archive_schema = schema()
    object_type = archive_schema.model.types[str(type_name)]
    places = {name: place for place, name in enumerate(archive_schema.tables[object_type.family].columns)}
    fields = tuple(_rendered_fields(object_type, masked, newer))
    return _RenderPlan(
        by_place=tuple((name, places[column], render_value) for name, column, render_value in fields),
        by_column=fields,
        links=tuple(_rendered_links(object_type, places, newer)),
    )


@lru_cache(maxsize=4096)
def _plan_of_shape(
    type_name: str, newer: bool, present: tuple[str, ...]
) -> tuple[tuple[tuple[str, str, ValueRenderer | None], ...], tuple[str, ...]]:
    """The fields and links to render of an object that has these columns, in the order of its type.

    The objects of a load come in few shapes, each with a third of the columns of its type; asking each object for every
    column took longer than writing its JSON.
    """
    plan, columns_present = _plan(type_name, False, newer), frozenset(present)
    fields = tuple(field for field in plan.by_column if field[1] in columns_present)
    return fields, tuple(name for name, _ in plan.links if name in columns_present)


def _rendered_fields(
    object_type: ObjectType, masked: bool, newer: bool
) -> Iterable[tuple[str, str, ValueRenderer | None]]:
    for field in object_type.fields.values():
        is_shown = field.viewed and field.name not in ("id", "version") and (newer or not field.newer)
        if is_shown and (not masked or is_open(field)):
            yield field.name, field.name, RENDERERS.get(field.kind)
            if field.also:
                yield field.also, field.name, RENDERERS.get(field.kind)


def _rendered_links(object_type: ObjectType, places: Mapping[str, int], newer: bool) -> Iterable[tuple[str, int]]:
    for reference in object_type.references.values():
        if reference.viewed and reference.name in places and (newer or not reference.newer):
            yield reference.name, places[reference.name]


@cache
def _parent_columns(family: str) -> tuple[tuple[str, str], ...]:
    """The parent columns of a family, each with the family it leads to."""
    archive_schema = schema()
    family_by_column: dict[str, str] = {}
    for type_name in archive_schema.model.concrete(family):
        for name in archive_schema.model.types[type_name].references:
            link = archive_schema.links[type_name, name]
            if link.kind == "column" and name not in _NOT_UPWARDS:
                family_by_column[name] = link.other_family
    return tuple(family_by_column.items())


def _look_up(
    db: sqlite3.Connection, family: str, ids: Sequence[int]
) -> Iterable[tuple[tuple[str, int], bool, list[tuple[str, int]]]]:
    upward = _parent_columns(family)
    screening_sql = "skjerming" if "skjerming" in schema().tables[family].columns else "NULL"
    columns_sql = ", ".join(["id", screening_sql, *(f'"{name}"' for name, _ in upward)])
    sql = f"SELECT {columns_sql} FROM {table_name(family)} WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608  # names of the metamodel
    for object_id, code, *targets in db.execute(sql, (orjson.dumps(list(ids)).decode(),)):
        above = [
            (parent_family, target)
            for (_, parent_family), target in zip(upward, targets, strict=True)
            if target is not None
        ]
        yield (family, object_id), code is not None, above


def _reaches(
    start: tuple[str, int], closed: set[tuple[str, int]], parents: Mapping[tuple[str, int], list[tuple[str, int]]]
) -> bool:
    visited = {start}
    waiting = [start]
    while waiting:
        key = waiting.pop()
        if key in closed:
            return True
        fresh = [above for above in parents.get(key, ()) if above not in visited]
        visited.update(fresh)
        waiting.extend(fresh)
    return False


def _number(value: Stored) -> int:
    return value if isinstance(value, int) else int(str(value))
