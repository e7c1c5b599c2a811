"""How finds are told: the ids of what belongs to them, highlights, whole objects, and facets over all finds."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import orjson

from noarkit.model import metamodel
from noarkit.server.fulltext.doctypes import Doctype, Leg, leg
from noarkit.server.fulltext.index import COLUMNS, OPEN, TEXT, places
from noarkit.server.rendering import Object, fetch, is_open, render_all, screened
from noarkit.server.settings import Settings
from noarkit.server.wire import Refusal

EXPANDABLE = (
    "Klasse",
    "AbstraktMappe",
    "AbstraktRegistrering",
    "Dokument",
    "Dokumentversjon",
    "Arkivdel",
    "Korrespondansepart",
)
_FACETS = (
    "Arkivdel.tittel",
    "Klasse.klasseIdent_tittel",
    "Korrespondansepart.epostadresse",
    "Korrespondansepart.foedselsnummer",
    "AbstraktMappe.mappeIdent_tittel",
    "AbstraktMappe.saksaar",
    "AbstraktMappe.saksansvarlig",
    "AbstraktRegistrering.journalansvarlig",
    "Noekkelord.verdi",
)
# Beyond this many finds facets would take longer than the search; they are then left out.
_FACETS_UP_TO = 50_000
_FACET_VALUES = 100
_START, _STOP = "|=hlstart=|", "|=hlstop=|"
_MARKED = ", ".join(
    [f"highlight(fulltext_entry, {place}, '{_START}', '{_STOP}')" for place in range(1, len(COLUMNS) + 1)]
    + [f"snippet(fulltext_entry, {COLUMNS.index('closed1') + 1}, '{_START}', '{_STOP}', '…', 40)"]
)


@dataclass(frozen=True, slots=True)
class Telling:
    """One search at work: its snapshot of the archive, and what decides how its finds are told."""

    db: sqlite3.Connection
    settings: Settings
    doctype: Doctype
    guarded: bool
    public_use: bool
    words: tuple[str, ...] = ()
    expand: tuple[str, ...] = ()

    def way(self, chain: str, fields: tuple[str, ...] = ()) -> Leg:
        """The way along a chain, for this caller."""
        return leg(self.doctype, chain, self.settings, guarded=self.guarded, fields=fields)


@dataclass(frozen=True, slots=True)
class Value:
    """What a filter compares and a facet counts: one field, or two joined by `_`, of what belongs to a find."""

    family: str
    fields: tuple[str, ...]
    kind: str
    is_open: bool

    def sql(self, way: Leg) -> str:
        """The value as text."""
        if self.kind == "boolean":
            return f"CASE {way.columns[0]} WHEN 1 THEN 'true' WHEN 0 THEN 'false' END"
        return " || '_' || ".join(f"CAST({column} AS TEXT)" for column in way.columns)


def value_of(doctype: Doctype, name: str) -> Value:
    """What `Type.field` or `Type.field_field` means; a Refusal where the doctype has no such field."""
    family, _, joined = name.partition(".")
    names = tuple(joined.split("_"))
    known = {
        field.name: field
        for type_name in (metamodel().concrete(family) if family in doctype.chains else ())
        for field in metamodel().types[type_name].fields.values()
        if field.queryable and field.kind != "timestamp"
    }
    if not all(each in known for each in names) or len(set(names)) != len(names):
        raise Refusal(400, f"A field with name {name} was not found among what this doctype can be filtered by.")
    fields = [known[each] for each in names]
    return Value(family, names, fields[0].kind if len(fields) == 1 else "string", all(map(is_open, fields)))


def results(telling: Telling, ids: Sequence[int]) -> list[Object]:
    """The finds of one page, in the order of their ids."""
    belonging = {family: _belonging(telling, family, ids) for family in telling.doctype.chains}
    objects = {family: _objects(telling, family, belonging.get(family, {}).values()) for family in telling.expand}
    highlights = {
        family: _highlights(telling, family, belonging[family].values()) for family in telling.doctype.searched
    }
    told: list[Object] = []
    for each in ids:
        mine = {family: linked[each] for family, linked in belonging.items() if each in linked}
        told.append(
            {
                "ids": {f"{name}.id": [str(one) for one in mine[name]] for name in EXPANDABLE if name in mine},
                "highlights": _merged(
                    highlights[name][one] for name in mine if name in highlights for one in mine[name]
                ),
                "expand": {name: [objects[name][one] for one in mine.get(name, ())] for name in telling.expand},
            }
        )
    return told


def facets(telling: Telling, total: int) -> list[Object]:
    """How often each value stands among all finds; the most frequent ones first."""
    if total > _FACETS_UP_TO:
        return []
    told: list[Object] = []
    for name in _FACETS:
        if name.partition(".")[0] in telling.doctype.chains:
            values = _facet(telling, value_of(telling.doctype, name))
            told.append({"field": name, "values": values})
    return told


def _facet(telling: Telling, value: Value) -> dict[str, int]:
    selects: list[str] = []
    for chain in telling.doctype.chains[value.family]:
        way = telling.way(chain, value.fields)
        where = f"{way.where} AND o.id IN (SELECT id FROM temp.found)"  # noqa: S608  # names of the metamodel
        if telling.public_use and not value.is_open:
            note_closed(telling, value.family, f"SELECT DISTINCT {way.id} FROM {way.tables} WHERE {where}", ())  # noqa: S608  # names of the metamodel
            where += f" AND {not_closed(value.family, way)}"
        selects.append(f"SELECT o.id AS find, {value.sql(way)} AS value FROM {way.tables} WHERE {where}")  # noqa: S608  # names of the metamodel
    counted = (
        f"SELECT value, COUNT(DISTINCT find) FROM ({' UNION '.join(selects)}) WHERE value IS NOT NULL"  # noqa: S608  # names of the metamodel
        f" GROUP BY value ORDER BY 2 DESC, 1 LIMIT {_FACET_VALUES}"
    )
    return {str(row[0]): int(row[1]) for row in telling.db.execute(counted).fetchall()}


def note_closed(telling: Telling, family: str, sql: str, operands: Sequence[object]) -> None:
    """Writes down which of the selected objects are screened, for `not_closed` to leave out."""
    ids = [int(row[0]) for row in telling.db.execute(sql, operands).fetchall()]
    hidden = screened(telling.db, family, ids)
    telling.db.executemany("INSERT OR IGNORE INTO temp.closed VALUES (?, ?)", ((family, each) for each in hidden))


def not_closed(family: str, way: Leg) -> str:
    """The condition that what a way leads to is not among the screened."""
    return f"{way.id} NOT IN (SELECT id FROM temp.closed WHERE family = '{family}')"  # noqa: S608  # names of the metamodel


def _belonging(telling: Telling, family: str, ids: Sequence[int]) -> dict[int, list[int]]:
    """For each find, the ids of the objects of a family that belong to it."""
    found: dict[int, dict[int, None]] = {}
    for chain in telling.doctype.chains[family]:
        way = telling.way(chain)
        sql = (
            f"SELECT o.id, {way.id} FROM {way.tables} WHERE {way.where}"  # noqa: S608  # names of the metamodel
            " AND o.id IN (SELECT value FROM json_each(?)) ORDER BY 1, 2"
        )
        for find, linked in telling.db.execute(sql, (orjson.dumps(list(ids)).decode(),)).fetchall():
            found.setdefault(find, {})[linked] = None
    return {find: list(linked) for find, linked in found.items()}


def _objects(telling: Telling, family: str, groups: Iterable[Sequence[int]]) -> dict[int, Object]:
    ids = list(dict.fromkeys(each for group in groups for each in group))
    rows = fetch(telling.db, family, ids)
    told = render_all(telling.db, family, rows, public_use=telling.public_use, newer=telling.settings.show_newer)
    return {int(str(each["id"])): each for each in told}


def _highlights(telling: Telling, family: str, groups: Iterable[Sequence[int]]) -> dict[int, dict[str, list[str]]]:
    """For each object, its fields that hold a word, with the words marked."""
    ids = list(dict.fromkeys(each for group in groups for each in group))
    hidden = screened(telling.db, family, ids) if telling.public_use else frozenset()
    return {each: _highlight(telling, family, each, each in hidden) for each in ids}


def _highlight(telling: Telling, family: str, object_id: int, is_hidden: bool) -> dict[str, list[str]]:
    if not telling.words:
        return {}
    sql = f"SELECT {_MARKED} FROM fulltext_entry WHERE fulltext_entry MATCH ? AND rowid = ?"  # noqa: S608  # our own names
    row = telling.db.execute(sql, (" OR ".join(telling.words), object_id)).fetchone()
    told: dict[str, list[str]] = {}
    for name, column in places(family).items() if row else ():
        marked = row[len(COLUMNS)] if name == TEXT else row[COLUMNS.index(column)]
        if marked and _START in marked and not (is_hidden and column not in OPEN):
            told[f"{family}.{name}"] = [marked]
    return told


def _merged(parts: Iterable[dict[str, list[str]]]) -> dict[str, list[str]]:
    merged: dict[str, list[str]] = {}
    for part in parts:
        for name, marked in part.items():
            merged.setdefault(name, []).extend(marked)
    return merged
