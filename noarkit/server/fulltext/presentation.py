"""Renders the finds of a search: ids of linked objects, highlights, expanded objects, and facets over all finds."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import orjson

from noarkit.model import metamodel
from noarkit.server.fulltext.doctypes import ChainQuery, Doctype, chain_query
from noarkit.server.fulltext.index import COLUMNS, OPEN, TEXT, places
from noarkit.server.rendering import Object, fetch, find_screened, is_open, render_all
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
class SearchContext:
    """The context of one running search: its snapshot of the archive and the options of its answer."""

    db: sqlite3.Connection
    settings: Settings
    doctype: Doctype
    checks_rights: bool
    public_use: bool
    words: tuple[str, ...] = ()
    expand: tuple[str, ...] = ()

    def chain_query(self, chain: str, fields: tuple[str, ...] = ()) -> ChainQuery:
        """SQL that follows a chain of references, limited to what this caller may read."""
        return chain_query(self.doctype, chain, self.settings, checks_rights=self.checks_rights, fields=fields)


@dataclass(frozen=True, slots=True)
class Value:
    """The value that a filter compares and a facet counts: one field of a linked object, or two joined by `_`."""

    family: str
    fields: tuple[str, ...]
    kind: str
    is_open: bool

    def sql(self, query: ChainQuery) -> str:
        """The value as text."""
        if self.kind == "boolean":
            return f"CASE {query.columns[0]} WHEN 1 THEN 'true' WHEN 0 THEN 'false' END"
        return " || '_' || ".join(f"CAST({column} AS TEXT)" for column in query.columns)


def find_value(doctype: Doctype, name: str) -> Value:
    """What `"Type.field"` or `"Type.field_field"` means; a Refusal where the doctype has no such field."""
    family, _, field_part = name.partition(".")
    names = tuple(field_part.split("_"))
    fields_by_name = {
        field.name: field
        for type_name in (metamodel().concrete(family) if family in doctype.chains else ())
        for field in metamodel().types[type_name].fields.values()
        if field.queryable and field.kind != "timestamp"
    }
    if not all(field_name in fields_by_name for field_name in names) or len(set(names)) != len(names):
        raise Refusal(400, f"A field with name {name} was not found among what this doctype can be filtered by.")
    fields = [fields_by_name[field_name] for field_name in names]
    return Value(family, names, fields[0].kind if len(fields) == 1 else "string", all(map(is_open, fields)))


def render_results(context: SearchContext, ids: Sequence[int]) -> list[Object]:
    """The finds of one page, in the order of their ids."""
    belonging = {family: _belonging(context, family, ids) for family in context.doctype.chains}
    objects = {family: _objects(context, family, belonging.get(family, {}).values()) for family in context.expand}
    highlights = {
        family: _highlights(context, family, belonging[family].values()) for family in context.doctype.searched
    }
    results: list[Object] = []
    for find_id in ids:
        linked_ids = {
            family: ids_by_find[find_id] for family, ids_by_find in belonging.items() if find_id in ids_by_find
        }
        results.append(
            {
                "ids": {
                    f"{name}.id": [str(linked_id) for linked_id in linked_ids[name]]
                    for name in EXPANDABLE
                    if name in linked_ids
                },
                "highlights": _merge(
                    highlights[name][linked_id]
                    for name in linked_ids
                    if name in highlights
                    for linked_id in linked_ids[name]
                ),
                "expand": {
                    name: [objects[name][linked_id] for linked_id in linked_ids.get(name, ())]
                    for name in context.expand
                },
            }
        )
    return results


def render_facets(context: SearchContext, total: int) -> list[Object]:
    """Counts the values of each facet over all finds, the most frequent ones first."""
    if total > _FACETS_UP_TO:
        return []
    facets: list[Object] = []
    for name in _FACETS:
        if name.partition(".")[0] in context.doctype.chains:
            values = _facet(context, find_value(context.doctype, name))
            facets.append({"field": name, "values": values})
    return facets


def _facet(context: SearchContext, value: Value) -> dict[str, int]:
    selects: list[str] = []
    for chain in context.doctype.chains[value.family]:
        query = context.chain_query(chain, value.fields)
        condition = f"{query.condition} AND o.id IN (SELECT id FROM temp.found)"  # noqa: S608  # names of the metamodel
        if context.public_use and not value.is_open:
            note_closed(context, value.family, f"SELECT DISTINCT {query.id} FROM {query.tables} WHERE {condition}", ())  # noqa: S608  # names of the metamodel
            condition += f" AND {not_closed_sql(value.family, query)}"
        selects.append(f"SELECT o.id AS find, {value.sql(query)} AS value FROM {query.tables} WHERE {condition}")  # noqa: S608  # names of the metamodel
    count_sql = (
        f"SELECT value, COUNT(DISTINCT find) FROM ({' UNION '.join(selects)}) WHERE value IS NOT NULL"  # noqa: S608  # names of the metamodel
        f" GROUP BY value ORDER BY 2 DESC, 1 LIMIT {_FACET_VALUES}"
    )
    return {str(row[0]): int(row[1]) for row in context.db.execute(count_sql).fetchall()}


def note_closed(context: SearchContext, family: str, sql: str, operands: Sequence[object]) -> None:
    """Fills temp.closed with the selected objects that are screened, for `not_closed_sql` to leave out."""
    ids = [int(row[0]) for row in context.db.execute(sql, operands).fetchall()]
    screened_ids = find_screened(context.db, family, ids)
    context.db.executemany(
        "INSERT OR IGNORE INTO temp.closed VALUES (?, ?)", ((family, object_id) for object_id in screened_ids)
    )


def not_closed_sql(family: str, query: ChainQuery) -> str:
    """The condition that what a way leads to is not among the screened."""
    return f"{query.id} NOT IN (SELECT id FROM temp.closed WHERE family = '{family}')"  # noqa: S608  # names of the metamodel


def _belonging(context: SearchContext, family: str, ids: Sequence[int]) -> dict[int, list[int]]:
    """For each find, the ids of the objects of a family that belong to it."""
    linked_by_find: dict[int, dict[int, None]] = {}
    for chain in context.doctype.chains[family]:
        query = context.chain_query(chain)
        sql = (
            f"SELECT o.id, {query.id} FROM {query.tables} WHERE {query.condition}"  # noqa: S608  # names of the metamodel
            " AND o.id IN (SELECT value FROM json_each(?)) ORDER BY 1, 2"
        )
        for find, related in context.db.execute(sql, (orjson.dumps(list(ids)).decode(),)).fetchall():
            linked_by_find.setdefault(find, {})[related] = None
    return {find: list(related) for find, related in linked_by_find.items()}


def _objects(context: SearchContext, family: str, groups: Iterable[Sequence[int]]) -> dict[int, Object]:
    ids = list(dict.fromkeys(item for group in groups for item in group))
    rows = fetch(context.db, family, ids)
    items = render_all(context.db, family, rows, public_use=context.public_use, newer=context.settings.show_newer)
    return {int(str(item["id"])): item for item in items}


def _highlights(
    context: SearchContext, family: str, groups: Iterable[Sequence[int]]
) -> dict[int, dict[str, list[str]]]:
    """For each object, its fields that hold a word, with the words marked."""
    ids = list(dict.fromkeys(object_id for group in groups for object_id in group))
    screened_ids = find_screened(context.db, family, ids) if context.public_use else frozenset()
    return {object_id: _highlight(context, family, object_id, object_id in screened_ids) for object_id in ids}


def _highlight(context: SearchContext, family: str, object_id: int, is_hidden: bool) -> dict[str, list[str]]:
    if not context.words:
        return {}
    sql = f"SELECT {_MARKED} FROM fulltext_entry WHERE fulltext_entry MATCH ? AND rowid = ?"  # noqa: S608  # our own names
    row = context.db.execute(sql, (" OR ".join(context.words), object_id)).fetchone()
    highlights: dict[str, list[str]] = {}
    for name, column in places(family).items() if row else ():
        snippet = row[len(COLUMNS)] if name == TEXT else row[COLUMNS.index(column)]
        if snippet and _START in snippet and not (is_hidden and column not in OPEN):
            highlights[f"{family}.{name}"] = [snippet]
    return highlights


def _merge(parts: Iterable[dict[str, list[str]]]) -> dict[str, list[str]]:
    highlights: dict[str, list[str]] = {}
    for part in parts:
        for name, snippets in part.items():
            highlights.setdefault(name, []).extend(snippets)
    return highlights
