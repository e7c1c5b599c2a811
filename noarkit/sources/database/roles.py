"""What each table is to the others: who bears documents, what they belong to, what only tells more of that."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from noarkit.errors import SourceFault
from noarkit.sources.database.contents import opened_file
from noarkit.sources.database.documents import SMALL_BYTES, DocumentColumn, usual_documents
from noarkit.sources.database.profile import ColumnSeen, TableSeen
from noarkit.sources.database.schema import Relation, Schema, Table
from noarkit.sources.database.values import Kind

_TITLES = ("tittel", "title", "emne", "subject", "overskrift", "heading", "navn", "name", "betegnelse", "beskrivelse")
_DISPLAYS = ("navn", "name", "tittel", "title", "betegnelse", "label", "verdi", "value", "tekst", "text", "beskrivelse")
_PERSONAL = re.compile(
    r"(?i)(f[oø]dselsnummer|fnr|personn|org_?n|organisasjonsn|e_?post|e_?mail|telefon|phone|adresse)"
)
_CASES = re.compile(r"(?i)(sak|case|mappe|folder|prosjekt|project|avtale|contract|s[oø]knad|application)")
_FILE_NAMES = re.compile(r"(?i)(fil_?navn|file_?name|dokumentnavn|originalnavn|^navn$|^name$)")
_MEDIA_TYPES = re.compile(r"(?i)(mime|media_?type|content_?type|innholdstype)")
_FILE_PATHS = re.compile(r"(?i)(sti|path|fil|file|plassering|location|uri)")
_DOCUMENT_TEXTS = re.compile(r"(?i)(innhold|body|html|dokument|brevtekst|content|brødtekst|fulltekst)")
_LONG_TEXT, _LONG_AT_MOST, _LONG_IF_NAMED = 2_000, 8_000, 300
_MOST_CODE_ROWS = 500
_MOST_CODE_COLUMNS = 5


@dataclass(slots=True)
class Roles:
    """`parents`: to which case file a document-bearing table belongs, by the names of the relations on the way."""

    documents: dict[str, tuple[DocumentColumn, ...]] = field(default_factory=dict)
    guessed: dict[str, tuple[DocumentColumn, ...]] = field(default_factory=dict)
    base: str = ""
    cases: list[str] = field(default_factory=list)
    parents: dict[str, tuple[str, ...]] = field(default_factory=dict)
    codes: set[str] = field(default_factory=set)
    persons: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)


def roles_of(schema: Schema, seen: Mapping[str, TableSeen], places: Sequence[Path]) -> Roles:
    """The roles of all tables; `places` are folders where files that columns name may lie."""
    roles = Roles()
    tables = {label: table for label, table in schema.tables.items() if not table.is_view and seen[label].readable}
    for label, table in tables.items():
        found = tuple(_documents(table, seen[label]))
        paths = tuple(_paths(table, seen[label], found))
        base = _base(paths, seen[label], places, roles.base)
        roles.base = roles.base or base
        if base:
            found = (*found, *paths)
        elif paths:
            roles.guessed[label] = paths
        if found:
            roles.documents[label] = found
    for label, table in tables.items():
        if label not in roles.documents:
            _judge(roles, table, seen[label])
    for label in roles.documents:
        way = _way_up(schema, roles, label)
        if way:
            roles.parents[label] = way[0]
            if way[1] not in roles.cases:
                roles.cases.append(way[1])
    for kind in (roles.codes, roles.persons, roles.links):
        kind.difference_update(roles.cases)
    return roles


def display(table: Table) -> str | None:
    """The column that says what a row is called."""
    return _first(table, _DISPLAYS) or next((c.name for c in table.columns if c.kind is Kind.TEXT), None)


def title(table: Table) -> str | None:
    """The column that a record is called by."""
    return _first(table, _TITLES)


def named(table: Table, pattern: str, *kinds: Kind) -> str | None:
    """The first column whose name has the pattern in it, of one of some kinds."""
    for column in table.columns:
        if re.search(pattern, column.name, re.IGNORECASE) and (not kinds or column.kind in kinds):
            return column.name
    return None


def _first(table: Table, names: Sequence[str]) -> str | None:
    known = {column.name.lower(): column.name for column in table.columns if column.kind in (Kind.TEXT, Kind.CHOICE)}
    for name in names:
        if name in known:
            return known[name]
    for name in names:
        for lower, column in known.items():
            if lower.endswith(f"_{name}") or lower.endswith(name):
                return column
    return None


def _documents(table: Table, seen: TableSeen) -> Iterator[DocumentColumn]:
    usual = {one.column: one for one in usual_documents(table)}
    name = _file_name(table, seen)
    media_type = next((c.name for c in table.columns if _MEDIA_TYPES.search(c.name)), "")
    for column in table.columns:
        looked = seen.columns.get(column.name) or ColumnSeen()
        if column.name in usual:
            is_mark = 0 < looked.longest <= SMALL_BYTES // 4 and looked.longest == looked.usual_length
            if column.kind is Kind.LARGE_OBJECT or not is_mark:  # hashes and ids are short, and all of one length
                yield DocumentColumn(column.name, usual[column.name].form, name, media_type)
                name = media_type = ""  # what tells of one document tells of no other
        elif column.kind in (Kind.TEXT, Kind.XML) and _is_long(column.name, looked):
            yield DocumentColumn(column.name, "text", extension="xml" if column.kind is Kind.XML else "")


def _is_long(name: str, seen: ColumnSeen) -> bool:
    if not seen.filled:
        return False
    if _DOCUMENT_TEXTS.search(name) and seen.longest > _LONG_IF_NAMED:
        return True
    return seen.usual_length > _LONG_TEXT or seen.longest > _LONG_AT_MOST


def _file_name(table: Table, seen: TableSeen) -> str:
    for column in table.columns:
        looked = seen.columns.get(column.name)
        if _FILE_NAMES.search(column.name) and looked and looked.filled and looked.paths * 2 > looked.filled:
            return column.name
    return ""


def _paths(table: Table, seen: TableSeen, documents: Sequence[DocumentColumn]) -> Iterator[DocumentColumn]:
    taken = {one.name for one in documents} | {one.column for one in documents}
    for column in table.columns:
        looked = seen.columns.get(column.name)
        if column.kind is not Kind.TEXT or looked is None or not looked.filled or column.name in taken:
            continue
        if looked.paths >= 0.8 * looked.filled and (
            looked.slashes * 2 > looked.filled or _FILE_PATHS.search(column.name)
        ):
            yield DocumentColumn(column.name, "file")


def _base(paths: Sequence[DocumentColumn], seen: TableSeen, places: Sequence[Path], known: str) -> str:
    """The folder below which the files that some columns name are found; empty where there is none."""
    examples = [value for one in paths for value in seen.columns[one.column].examples]
    for place in [Path(known)] if known else places:
        for value in examples:
            try:
                opened_file(place, value, "").close()
            except SourceFault:
                continue
            return str(place)
    return ""


def _judge(roles: Roles, table: Table, seen: TableSeen) -> None:
    """A table without documents: does it only tell more of others?"""
    of_relations = {name for relation in table.relations for name in relation.columns}
    rest = [column for column in table.columns if column.name not in of_relations and column.name not in table.key]
    if len(table.relations) >= 2 and not rest:
        roles.links.add(table.label)
    elif display(table) is None:
        return
    elif any(_PERSONAL.search(column.name) for column in table.columns):
        roles.persons.add(table.label)
    elif not table.relations and len(table.columns) <= _MOST_CODE_COLUMNS and seen.rows <= _MOST_CODE_ROWS:
        roles.codes.add(table.label)


def _way_up(schema: Schema, roles: Roles, label: str) -> tuple[tuple[str, ...], str] | None:
    """The relations from a document-bearing table to its case file, and the table of that."""
    way: tuple[str, ...] = ()
    current, passed = label, {label}
    while True:
        table = schema.tables[current]
        found = [one for one in table.relations if one.table.label in schema.tables and one.table.label not in passed]
        plain = [one for one in found if one.table.label not in roles.documents]
        best = _best(plain, roles)
        if best is not None:
            return (*way, best.name), best.table.label
        above = next((one for one in found if one.table.label in roles.documents), None)
        if above is None:
            return None
        way, current = (*way, above.name), above.table.label
        passed.add(current)


def _best(relations: Sequence[Relation], roles: Roles) -> Relation | None:
    """The relation that leads to what the documents belong to: a case by its name, else the first that is no code."""
    fitting = [one for one in relations if one.table.label not in roles.codes | roles.links]
    for one in fitting:
        if _CASES.search(one.table.name) and one.table.label not in roles.persons:
            return one
    return next((one for one in fitting if one.table.label not in roles.persons), None) or next(iter(fitting), None)
