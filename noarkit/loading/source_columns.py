"""What a plan makes of the columns of its source: those that look like a number, a date, a direction or screening and
become nothing, and what is lost or made up by that.

    watch = ColumnWatch(recipe)      sees each row as it is read
    watch.unused()                   [UnusedColumn("sak", "saksnr", "number"), …]
    tell_columns(store, watch)       notes them, cases that the source has not closed, posts without a correspondent

Only tables are looked at that a rule makes cases or documents of; screening is looked for in all. A column that is not
what it looks like is named under `[columns]` of the recipe.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import orjson

from noarkit.errors import PlanFault
from noarkit.graph.entity import Note
from noarkit.graph.store import IS_THERE, GraphStore
from noarkit.model import metamodel
from noarkit.model.disclosure import SCREENING
from noarkit.recipes.recipe_model import Recipe, RecipeProblem
from noarkit.records import SourceRecord
from noarkit.sources.column_meanings import Look, cell_of, is_screening, meanings_of_cases, meanings_of_documents
from noarkit.sources.files.case_names import number_in

UNUSED_COLUMN, CLOSED_BY_LOAD, NO_CORRESPONDENT, OTHER_NUMBER = "W261", "W262", "W263", "W264"
FACTS = "source_columns"
"""The fact of a plan that says what its source has and its entities lack, in numbers."""
STRUCTURE = "F226"
_OF_TABLES = frozenset({"database", "siard", "addml"})
_MOST_ROWS = 500
_MOST_WORDS = 500
_NAME = re.compile(r"record\.([^\W\d]\w*)|record\['((?:[^'\\]|\\.)*)'\]")
_TEXTS = frozenset(
    {"tittel", "offentligTittel", "beskrivelse", "tekst", "merknadstekst", "keywords", "notes", "reason"}
)
"""Keys of a recipe whose values are texts, so that what stands there is told and not used."""
_SCREENING_KEYS = SCREENING | {"skjerming", "screening", "tilgangsrestriksjon", "when"}
_CASE = "Saksmappe"
_SENDERS, _RECEIVERS = '["EA"]', '["EM", "EK", "GM", "IM", "IK"]'
"""Who a post that came in is from: a sender inside the house is who an archive is given where nobody is named."""
_OPEN = "json_extract(fields, '$.avsluttetDato') IS NULL"
_NEW = f"(record IS NULL OR record NOT IN (SELECT n FROM record WHERE data = '{IS_THERE}'))"  # noqa: S608  # ours
"""Of entities: that no earlier run loaded them, which told of them, and settled them."""


@dataclass(frozen=True, slots=True)
class UnusedColumn:
    """A column that looks like something, and becomes nothing but text."""

    table: str
    column: str
    look: Look

    @property
    def name(self) -> str:
        """As recipes write it."""
        return f"{self.table}.{self.column}"


@dataclass(slots=True)
class _Table:
    """What is seen of a table: the cells of its first rows, and words of columns that are not used for screening."""

    is_of_cases: bool
    is_of_documents: bool
    used: frozenset[str]
    used_for_screening: frozenset[str]
    lines: tuple[int, ...] = ()
    rows: int = 0
    cells: dict[str, list[str]] = field(default_factory=dict)
    words: dict[str, Counter[str]] = field(default_factory=dict)

    def see(self, fields: Mapping[str, object]) -> None:
        self.rows += 1
        for name, value in fields.items():
            cell = cell_of(value)
            if self.rows <= _MOST_ROWS:
                self.cells.setdefault(name, [""] * (self.rows - 1)).append(cell)
            if cell and name not in self.used_for_screening and isinstance(value, str):
                words = self.words.setdefault(name, Counter())
                if cell in words or len(words) < _MOST_WORDS:
                    words[cell] += 1

    def looks(self) -> dict[str, Look]:
        looks: dict[str, Look] = {}
        rows = min(self.rows, _MOST_ROWS)
        columns = {name: cells for name, cells in self.cells.items() if len(cells) == rows}
        if self.is_of_cases:
            looks |= meanings_of_cases(columns).looks
        elif self.is_of_documents:
            looks |= meanings_of_documents(columns).looks
        elif (meanings := meanings_of_cases(columns)).is_of_cases:
            looks |= meanings.looks
        screening: dict[str, Look] = {
            name: "screening" for name, words in self.words.items() if is_screening(words, name)
        }
        return {**{name: look for name, look in looks.items() if look != "screening"}, **screening}


class ColumnWatch:
    """Sees the rows of the tables that a recipe has rules for."""

    def __init__(self, recipe: Recipe, source_kind: str) -> None:
        self._only_text = recipe.only_text
        rules = _rules_by_kind(recipe) if source_kind in _OF_TABLES else {}
        self._tables = {kind: _table_of(kind, rules[kind], recipe) for kind in rules}
        self.closing_lines = frozenset(
            rule.line for rule in recipe.maps if rule.type == _CASE and "avsluttetDato" in rule.fields
        )

    def see(self, record: SourceRecord) -> None:
        """Looks at one row."""
        table = self._tables.get(record.kind)
        if table is not None:
            table.is_of_documents = table.is_of_documents or bool(record.contents)
            table.see(record.fields)

    def passing(self, records: Iterable[SourceRecord]) -> Iterator[SourceRecord]:
        """The records, each looked at on its way."""
        for record in records:
            self.see(record)
            yield record

    def problems(self) -> Iterator[RecipeProblem]:
        """What a recipe leaves unused, at the first rule for its table; words of screening stop a plan."""
        for column in self.unused():
            key = "screening-unused" if column.look == "screening" else "column-unused"
            line = min(self._tables[column.table].lines)
            data = {"name": column.name, "look": column.look}
            yield RecipeProblem(line, key, data, warning=column.look != "screening")

    def unused(self) -> list[UnusedColumn]:
        """What looks like something and is used for nothing of the kind, by table and column."""
        return [
            column
            for kind, table in self._tables.items()
            for name, look in sorted(table.looks().items())
            if name not in (table.used_for_screening if look == "screening" else table.used)
            and (column := UnusedColumn(kind, name, look)).name not in self._only_text
        ]


def refuse_unused_screening(columns: Collection[UnusedColumn]) -> None:
    """Raises `PlanFault` where words of screening would be text that all can read."""
    screening = [column.name for column in columns if column.look == "screening"]
    if screening:
        names = ", ".join(screening)
        raise PlanFault(where=names, why="screening-unused", name=screening[0], count=len(screening))


def still_open(db: sqlite3.Connection, lines: Collection[int]) -> list[int]:
    """Records that are a case without a closing date of its own, though its rule has one. Called before any date is
    filled in."""
    marks = ", ".join("?" * len(lines))
    query = f"SELECT record FROM entity WHERE type = ? AND line IN ({marks}) AND {_OPEN} AND {_NEW} ORDER BY n"  # noqa: S608  # marks
    return [int(row[0]) for row in db.execute(query, (_CASE, *lines)) if row[0] is not None]


def leave_out_open(store: GraphStore, cases: Collection[int]) -> None:
    """Sets cases that are still open aside, with all that lies in them."""
    db = store.db
    query = (
        "SELECT DISTINCT r.n, e.bundle, e.type, e.line FROM record c JOIN entity u ON u.n = c.root"
        " JOIN entity e ON e.unit = u.unit JOIN record r ON r.root = e.n WHERE c.n = ? ORDER BY e.n DESC"
    )
    db.execute("BEGIN")
    for case in cases:
        for record, bundle, kind, line in db.execute(query, (case,)).fetchall():
            data = orjson.dumps({"why": "still-open", "type": kind, "line": line}).decode()
            store.leave_out(record, bundle, STRUCTURE, data)
    db.execute("COMMIT")


def tell_columns(store: GraphStore, watch: ColumnWatch, open_cases: Collection[int]) -> None:
    """Notes what the source has and the plan lacks, and remembers it in numbers. Called when dates are filled in;
    `open_cases` are the records of those that the load closes."""
    columns = watch.unused()
    db = store.db
    is_lost = {look: any(column.look == look for column in columns) for look in ("number", "date")}
    other_numbers = list(_other_numbers(db))
    no_correspondents = list(_without_correspondent(db))
    facts = {
        "unused": [asdict(column) for column in columns],
        "unnumbered": len(other_numbers) + (_count_cases(db, "sakssekvensnummer") if is_lost["number"] else 0),
        "undated": _count_undated(db) if is_lost["date"] else 0,
        "still_open": len(open_cases),
        "without_correspondent": len(no_correspondents),
    }
    db.execute("BEGIN")
    for column in columns:
        _note(db, None, Note(UNUSED_COLUMN, {"what": column.name, "why": f"looks-{column.look}"}))
    for code, records in (
        (OTHER_NUMBER, other_numbers),
        (NO_CORRESPONDENT, no_correspondents),
        (CLOSED_BY_LOAD, open_cases),
    ):
        for record in records:
            _note(db, record, Note(code, {}))
    store.remember(FACTS, orjson.dumps(facts).decode())
    db.execute("COMMIT")


def column_facts(graph: GraphStore) -> dict[str, Any]:  # Any: numbers, and the list of columns
    """What `tell_columns` remembered; nothing of a plan that has no columns."""
    no_facts = {"unused": [], "unnumbered": 0, "undated": 0, "still_open": 0, "without_correspondent": 0}
    return {**no_facts, **orjson.loads(graph.meta(FACTS) or "{}")}


def _note(db: sqlite3.Connection, record: int | None, note: Note) -> None:
    data = orjson.dumps(dict(note.data)).decode()
    db.execute("INSERT INTO note VALUES (?, NULL, ?, 0, ?)", (record, note.code, data))


def _rules_by_kind(recipe: Recipe) -> dict[str, list[tuple[str, Mapping[str, object]]]]:
    """The rules for each kind of record: what they make, and what is written in them."""
    map_data = recipe.data.get("map")
    tables = map_data if isinstance(map_data, list) else [map_data]
    rules: dict[str, list[tuple[str, Mapping[str, object]]]] = {}
    for rule, data in zip(recipe.maps, tables, strict=False):
        for kind in rule.kinds:
            rules.setdefault(kind, []).append((rule.type or "", data if isinstance(data, Mapping) else {}))
    return rules


def _table_of(kind: str, rules: list[tuple[str, Mapping[str, object]]], recipe: Recipe) -> _Table:
    types = [kind_made for kind_made, _ in rules]
    used = {name for _, data in rules for key, text in _expressions(data) if key not in _TEXTS for name in _names(text)}
    screened = {
        name for _, data in rules for key, text in _expressions(data) if key in _SCREENING_KEYS for name in _names(text)
    }
    lines = tuple(rule.line for rule in recipe.maps if kind in rule.kinds)
    return _Table(_CASE in types, "Journalpost" in types, frozenset(used), frozenset(screened), lines)


def _expressions(data: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Every expression of a rule, with the innermost key that it stands at; texts of parties and notes are told."""
    if isinstance(data, Mapping):
        for name, inner in data.items():
            yield from _expressions(inner, key if key in _TEXTS else str(name))
    elif isinstance(data, list):
        for inner in data:
            yield from _expressions(inner, key)
    elif isinstance(data, str) and data.startswith("= "):
        yield key, data


def _names(expression: str) -> Iterator[str]:
    for match in _NAME.finditer(expression):
        yield match[1] or re.sub(r"\\(.)", r"\1", match[2])


def _count_cases(db: sqlite3.Connection, missing: str) -> int:
    query = f"SELECT count(*) FROM entity WHERE type = ? AND json_extract(fields, '$.{missing}') IS NULL AND {_NEW}"  # noqa: S608  # ours
    return int(db.execute(query, (_CASE,)).fetchone()[0])


def _count_undated(db: sqlite3.Connection) -> int:
    """Folders and records that will have the day of the load."""
    kinds = [
        name for name, kind in metamodel().types.items() if kind.family in ("AbstraktMappe", "AbstraktRegistrering")
    ]
    marks = ", ".join("?" * len(kinds))
    undated = "json_extract(fields, '$.opprettetDato') IS NULL"
    query = f"SELECT count(*) FROM entity WHERE type IN ({marks}) AND {undated} AND {_NEW}"  # noqa: S608  # marks
    return int(db.execute(query, kinds).fetchone()[0])


def _without_correspondent(db: sqlite3.Connection) -> Iterator[int]:
    """Posts that came in from nobody, or went out to nobody."""
    query = (
        f"SELECT p.record FROM entity p WHERE p.type = 'Journalpost' AND p.record IS NOT NULL AND {_NEW}"  # noqa: S608  # ours
        " AND json_extract(p.fields, '$.journalposttype') IN ('I', 'U') AND NOT EXISTS (SELECT 1 FROM entity k"
        " WHERE k.parent = p.n AND k.type = 'Korrespondansepart' AND json_extract(k.fields, '$.korrespondanseparttype')"
        " IN (SELECT value FROM json_each(iif(json_extract(p.fields, '$.journalposttype') = 'I', ?, ?)))) ORDER BY p.n"
    )
    yield from (int(row[0]) for row in db.execute(query, (_SENDERS, _RECEIVERS)))


def _other_numbers(db: sqlite3.Connection) -> Iterator[int]:
    """Records that are a case whose mappeID says another number than its year and sequence, or stands without them."""
    query = (
        "SELECT record, json_extract(fields, '$.mappeIdent'), json_extract(fields, '$.saksaar'),"  # noqa: S608  # ours
        " json_extract(fields, '$.sakssekvensnummer') FROM entity WHERE type = ? AND record IS NOT NULL"
        f" AND json_extract(fields, '$.mappeIdent') IS NOT NULL AND {_NEW} ORDER BY n"
    )
    for record, ident, year, sequence in db.execute(query, (_CASE,)):
        case = number_in(str(ident))
        if case is not None and (case.year, case.number) != (year, sequence):
            yield int(record)
