"""What each table is to the others: who bears documents, what they belong to, what only tells more of that."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from noarkit.errors import SourceFault
from noarkit.sources.column_meanings import meanings_of_cases
from noarkit.sources.database.case_fields import columns_of
from noarkit.sources.database.contents import open_document_file
from noarkit.sources.database.documents import SMALL_BYTES, DocumentColumn, usual_documents
from noarkit.sources.database.profile import ColumnStats, TableStats
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


def roles_of(schema: Schema, stats: Mapping[str, TableStats], places: Sequence[Path]) -> Roles:
    """The roles of all tables; `places` are folders where files that columns name may lie."""
    roles = Roles()
    tables = {label: table for label, table in schema.tables.items() if not table.is_view and stats[label].readable}
    for label, table in tables.items():
        documents = tuple(_documents(table, stats[label]))
        paths = tuple(_paths(table, stats[label], documents))
        base = _base_folder(paths, stats[label], places, roles.base)
        roles.base = roles.base or base
        if base:
            documents = (*documents, *paths)
        elif paths:
            roles.guessed[label] = paths
        if documents:
            roles.documents[label] = documents
    for label, table in tables.items():
        if label not in roles.documents:
            _classify(roles, table, stats[label])
    for label in roles.documents:
        route = _route_to_case(schema, roles, label)
        if route:
            roles.parents[label] = route[0]
            if route[1] not in roles.cases:
                roles.cases.append(route[1])
    for kind in (roles.codes, roles.persons, roles.links):
        kind.difference_update(roles.cases)
    return roles


def display_column(table: Table) -> str | None:
    """The column that says what a row is called."""
    return _first_column(table, _DISPLAYS) or next((c.name for c in table.columns if c.kind is Kind.TEXT), None)


def title_column(table: Table) -> str | None:
    """The column that a record is called by."""
    return _first_column(table, _TITLES)


def find_column(table: Table, pattern: str, *kinds: Kind) -> str | None:
    """The first column whose name has the pattern in it, of one of some kinds."""
    for column in table.columns:
        if re.search(pattern, column.name, re.IGNORECASE) and (not kinds or column.kind in kinds):
            return column.name
    return None


def _first_column(table: Table, names: Sequence[str]) -> str | None:
    columns_by_name = {
        column.name.lower(): column.name for column in table.columns if column.kind in (Kind.TEXT, Kind.CHOICE)
    }
    for name in names:
        if name in columns_by_name:
            return columns_by_name[name]
    for name in names:
        for lower, column in columns_by_name.items():
            if lower.endswith(f"_{name}") or lower.endswith(name):
                return column
    return None


def _documents(table: Table, stats: TableStats) -> Iterator[DocumentColumn]:
    usual = {document.column: document for document in usual_documents(table)}
    name = _file_name(table, stats)
    media_type = next((c.name for c in table.columns if _MEDIA_TYPES.search(c.name)), "")
    for column in table.columns:
        column_stats = stats.columns.get(column.name) or ColumnStats()
        if column.name in usual:
            is_mark = 0 < column_stats.longest <= SMALL_BYTES // 4 and column_stats.longest == column_stats.usual_length
            if column.kind is Kind.LARGE_OBJECT or not is_mark:  # hashes and ids are short, and all of one length
                yield DocumentColumn(column.name, usual[column.name].form, name, media_type)
                name = media_type = ""  # what tells of one document tells of no other
        elif column.kind in (Kind.TEXT, Kind.XML) and _is_long(column.name, column_stats):
            yield DocumentColumn(column.name, "text", extension="xml" if column.kind is Kind.XML else "")


def _is_long(name: str, stats: ColumnStats) -> bool:
    if not stats.filled_count:
        return False
    if _DOCUMENT_TEXTS.search(name) and stats.longest > _LONG_IF_NAMED:
        return True
    return stats.usual_length > _LONG_TEXT or stats.longest > _LONG_AT_MOST


def _file_name(table: Table, stats: TableStats) -> str:
    for column in table.columns:
        column_stats = stats.columns.get(column.name)
        if (
            _FILE_NAMES.search(column.name)
            and column_stats
            and column_stats.filled_count
            and column_stats.paths * 2 > column_stats.filled_count
        ):
            return column.name
    return ""


def _paths(table: Table, stats: TableStats, documents: Sequence[DocumentColumn]) -> Iterator[DocumentColumn]:
    used_columns = {document.name for document in documents} | {document.column for document in documents}
    for column in table.columns:
        column_stats = stats.columns.get(column.name)
        if (
            column.kind is not Kind.TEXT
            or column_stats is None
            or not column_stats.filled_count
            or column.name in used_columns
        ):
            continue
        if column_stats.paths >= 0.8 * column_stats.filled_count and (
            column_stats.slashes * 2 > column_stats.filled_count or _FILE_PATHS.search(column.name)
        ):
            yield DocumentColumn(column.name, "file")


def _base_folder(paths: Sequence[DocumentColumn], stats: TableStats, places: Sequence[Path], known_base: str) -> str:
    """The folder below which the files that some columns name are found; empty if there is none."""
    examples = [value for column in paths for value in stats.columns[column.column].examples]
    for place in [Path(known_base)] if known_base else places:
        for value in examples:
            try:
                open_document_file(place, value, "").close()
            except SourceFault:
                continue
            return str(place)
    return ""


def _classify(roles: Roles, table: Table, stats: TableStats) -> None:
    """A table without documents: does it only tell more of others?"""
    of_relations = {name for relation in table.relations for name in relation.columns}
    own_columns = [
        column for column in table.columns if column.name not in of_relations and column.name not in table.key
    ]
    if len(table.relations) >= 2 and not own_columns:
        roles.links.add(table.label)
    elif display_column(table) is None:
        return
    elif any(_PERSONAL.search(column.name) for column in table.columns):
        roles.persons.add(table.label)
    elif (
        not table.relations
        and len(table.columns) <= _MOST_CODE_COLUMNS
        and stats.rows <= _MOST_CODE_ROWS
        and not meanings_of_cases(columns_of(stats)).may_be_of_cases
    ):
        roles.codes.add(table.label)


def _route_to_case(schema: Schema, roles: Roles, label: str) -> tuple[tuple[str, ...], str] | None:
    """The relations from a document-bearing table to its case file, and the table of that."""
    route: tuple[str, ...] = ()
    current, passed = label, {label}
    while True:
        table = schema.tables[current]
        relations = [
            relation
            for relation in table.relations
            if relation.table.label in schema.tables and relation.table.label not in passed
        ]
        plain = [relation for relation in relations if relation.table.label not in roles.documents]
        best = _best_relation(plain, roles)
        if best is not None:
            return (*route, best.name), best.table.label
        above = next((relation for relation in relations if relation.table.label in roles.documents), None)
        if above is None:
            return None
        route, current = (*route, above.name), above.table.label
        passed.add(current)


def _best_relation(relations: Sequence[Relation], roles: Roles) -> Relation | None:
    """The relation that leads to what the documents belong to: a case by its name, else the first that is no code."""
    fitting = [relation for relation in relations if relation.table.label not in roles.codes | roles.links]
    for relation in fitting:
        if _CASES.search(relation.table.name) and relation.table.label not in roles.persons:
            return relation
    return next((relation for relation in fitting if relation.table.label not in roles.persons), None) or next(
        iter(fitting), None
    )
