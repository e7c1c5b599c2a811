"""Reads tables row by row in constant memory: batches by key, a cursor of the server where there is no key.

A row's columns are read at once; what lies behind its foreign keys (`= record.customer.name`), and the rows elsewhere
that refer to it (`= record.case_party`), are read when an expression asks, for all rows of the batch by one question.
"""

from __future__ import annotations

import pickle  # for a temporary file of our own alone
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from noarkit.recipes.filters import FilterRefused
from noarkit.safe.scratch import scratch
from noarkit.sources.database.address import MYSQL, POSTGRESQL, SQLITE
from noarkit.sources.database.columns import Column
from noarkit.sources.database.schema import Relation, Schema, Table, select_expression, source_of
from noarkit.sources.database.session import Row, Session
from noarkit.sources.database.values import Convert, Kind, plain_converter, plain_types, text_of

BATCH_ROWS = 2_000
_BATCH_BYTES = 8 * 1024 * 1024
_KEYS_A_QUESTION = 500
_KEPT_ROWS = 20_000
_MOST_CHILDREN = 10_000
_LONGEST_TEXT = 1_000_001  # one more than an expression takes, so that a longer one is told and not cut
_LONGEST_BYTES = 500_001
ROW_KEY, ROW_TEXT, ROW_USED = "row_key", "row_text", "row_used"
_PAGEABLE = frozenset(
    {
        *(Kind.INTEGER, Kind.DECIMAL, Kind.TEXT, Kind.BYTES, Kind.UUID, Kind.BOOLEAN),
        *(Kind.DATE, Kind.TIME, Kind.TIMESTAMP, Kind.TIMESTAMP_ZONE),
    }
)
_UNSORTABLE = frozenset({Kind.JSON, Kind.XML, Kind.GEOMETRY, Kind.OTHER, Kind.ARRAY})
_BOUNDED = frozenset({Kind.TEXT, Kind.BYTES, Kind.JSON, Kind.XML, Kind.OTHER, Kind.ARRAY, Kind.GEOMETRY})

Key = tuple[object, ...]


class Fields(dict[str, object]):
    """A row as expressions see it: its columns, and by name what a foreign key leads to.

    It is made as a dict is, and told afterwards which row of its batch it is (`make_batch`): there are millions.
    """

    __slots__ = ("_at", "_batch")
    _at: int
    _batch: Batch

    def __contains__(self, name: object) -> bool:
        return dict.__contains__(self, name) or name in self._batch.reader.lazy

    def __missing__(self, name: str) -> object:
        value = self._batch.resolve(name, self._at)
        self[name] = value
        return value

    def get(self, name: str, default: object = None) -> Any:  # Any: as of every mapping
        """The value of a column or relation; `default` where there is none of this name."""
        try:
            return self[name]
        except KeyError:
            return default


@dataclass(slots=True)
class Batch:
    """Rows that were read together, in the driver's own values."""

    reader: TableReader
    raw: list[Row]
    fields: list[Fields] = field(default_factory=list)
    values_by_name: dict[str, Sequence[object]] = field(default_factory=dict)

    def resolve(self, name: str, at: int) -> object:
        """What `name` is for one row, asked for all of them. Raises `KeyError` for a name that is not there."""
        if name == ROW_TEXT:
            return self.reader.text(self.fields[at])
        if name == ROW_KEY:
            return self.reader.key_of(self.raw[at])
        values = self.values_by_name.get(name)
        if values is None:
            resolver = self.reader.lazy.get(name)
            if resolver is None:
                raise KeyError(name)
            values = self.values_by_name[name] = resolver(self)
        return values[at]


Resolver = Callable[[Batch], Sequence[object]]


class Tables:
    """All tables that are read in one session, and the rows that many others refer to."""

    def __init__(
        self,
        session: Session,
        schema: Schema,
        hidden: Mapping[str, frozenset[str]] | None = None,
        text_without: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.session = session
        self.schema = schema
        self._hidden = hidden or {}
        self._text_without = text_without or {}
        self._readers: dict[str, TableReader] = {}

    def reader(self, label: str) -> TableReader:
        """What reads a table; the columns that are documents are not read with the row."""
        reader = self._readers.get(label)
        if reader is None:
            table = self.schema.tables[label]
            reader = TableReader(self, table, self._hidden.get(label, frozenset()), self._text_without.get(label, ()))
            self._readers[label] = reader
        return reader


class TableReader:
    """Reads one table. `lazy` are the names that are found when they are asked for."""

    def __init__(self, tables: Tables, table: Table, hidden: frozenset[str], text_without: Sequence[str] = ()) -> None:
        self.table = table
        self._tables = tables
        self._session = tables.session
        self.columns = tuple(column for column in table.columns if column.name not in hidden)
        self._place = {column.name: place for place, column in enumerate(self.columns)}
        self._converts = [(column.name, _plain_of(self._session.family, column)) for column in self.columns]
        self._names = [column.name for column in self.columns]
        self._names_in_text = [name for name in self._names if name not in text_without]
        family = self._session.family
        self._plain = [plain_types(family, column.kind, bits=column.size or 0) for column in self.columns]
        self._to_convert = [
            (place, convert, plain)
            for place, ((_, convert), plain) in enumerate(zip(self._converts, self._plain, strict=True))
            if convert is not None
        ]
        self._label = label_text(table.label)
        self._bulky = [place for place, column in enumerate(self.columns) if column.kind in _BOUNDED]
        self._key_places = [self._place[name] for name in table.key if name in self._place]
        self._kept: dict[tuple[str, ...], dict[Key, Fields | None]] = {}
        self.lazy: dict[str, Resolver] = {}
        self._name_relations()

    @property
    def from_clause(self) -> str:
        """The table, quoted."""
        return source_of(self._session, self.table)

    def batches(self, extra: Sequence[str] = ()) -> Iterator[Batch]:
        """Every row once, in an order that stays; `extra` expressions stand after the columns of each raw row."""
        for rows in self._raw_batches(extra):
            yield self.make_batch(rows)

    def make_batch(self, rows: list[Row]) -> Batch:
        """Raw rows as a batch."""
        batch = Batch(self, rows)
        names, values = self._names, rows
        if self._to_convert and rows:
            columns: list[Row] = list(zip(*rows, strict=True))
            for place, convert, plain in self._to_convert:
                columns[place] = [
                    value if value is None or value.__class__ in plain else convert(value) for value in columns[place]
                ]
            values = list(zip(*columns, strict=True))
        add = batch.fields.append
        for at, row in enumerate(values):
            fields = Fields(zip(names, row, strict=False))
            fields._batch, fields._at = batch, at
            add(fields)
        return batch

    def rows_by_keys(
        self, columns: Sequence[str], keys: Sequence[tuple[object, ...]], extra: Sequence[str] = ()
    ) -> list[Row]:
        """The raw rows whose `columns` hold one of `keys`, in the order of their own keys."""
        rows: list[Row] = []
        for start in range(0, len(keys), _KEYS_A_QUESTION):
            chunk = keys[start : start + _KEYS_A_QUESTION]
            where = self._in_condition(columns, len(chunk))
            order = f" ORDER BY {self._order(self.table.key)}" if self.table.key else ""
            statement = f"{self._select(extra)} WHERE {where}{order}"
            rows.extend(self._session.rows(statement, [value for key in chunk for value in key]))
        return rows

    def select_row(self, clause: str, values: Sequence[object], extra: Sequence[str] = ()) -> Row | None:
        """The raw row that a condition finds."""
        return self._session.first_row(f"{self._select(extra)} WHERE {clause}", values)

    def key_of(self, row: Row) -> str:
        """The key of a row, as `record.key` has it; empty if the table has none."""
        if not self._key_places:
            return ""
        return f"{self._label}:{','.join([self._key_text(row, place) for place in self._key_places])}"

    def keys_of(self, rows: Sequence[Row]) -> list[str]:
        """The keys of some rows."""
        if len(self._key_places) == 1:
            (place,) = self._key_places
            is_as_it_is = self._converts[place][1] is None or int in self._plain[place]
            if is_as_it_is and {row[place].__class__ for row in rows} == {int}:
                return [f"{self._label}:{row[place]}" for row in rows]
        return list(map(self.key_of, rows))

    def key_values(self, row: Row) -> tuple[object, ...]:
        """The key as the driver gave it."""
        return tuple(row[place] for place in self._key_places)

    def text(self, fields: Fields) -> str:
        """All that a row holds but what a recipe keeps out of texts, a column a line; columns without a value are left
        out."""
        lines = ((name, dict.get(fields, name)) for name in self._names_in_text)
        return "\n".join(f"{name}: {text_of(value)}" for name, value in lines if value is not None)

    # statements

    def _select(self, extra: Sequence[str]) -> str:
        family, quote = self._session.family, self._session.quote
        expressions = [
            _bounded_expression(family, column, select_expression(family, column, quote(column.name)))
            for column in self.columns
        ]
        return f"SELECT {', '.join([*expressions, *extra]) or '1'} FROM {self.from_clause}"  # noqa: S608  # quoted by the dialect

    def _order(self, names: Sequence[str]) -> str:
        return ", ".join(self._session.quote(name) for name in names)

    def _in_condition(self, columns: Sequence[str], count: int) -> str:
        mark = placeholder(self._session)
        if len(columns) == 1:
            return f"{self._session.quote(columns[0])} IN ({', '.join([mark] * count)})"
        group = f"({', '.join([mark] * len(columns))})"
        names = ", ".join(self._session.quote(name) for name in columns)
        groups = ", ".join([group] * count)
        return f"({names}) IN ({'VALUES ' if self._session.family == SQLITE else ''}{groups})"

    def _raw_batches(self, extra: Sequence[str]) -> Iterator[list[Row]]:
        table = self.table
        kinds = {table.column(name).kind for name in table.key}
        paged = self._session.family in (POSTGRESQL, MYSQL) and len(self._key_places) == len(table.key)
        if table.key and kinds <= _PAGEABLE and paged:
            yield from self._pages(extra)
            return
        names = table.key or [c.name for c in self.columns if c.kind not in _UNSORTABLE]
        order = f" ORDER BY {self._order(names)}" if names else ""
        rows = self._session.stream(f"{self._select(extra)}{order}", BATCH_ROWS)
        yield from rows if self._session.can_interleave else _spool_batches(rows)

    def _pages(self, extra: Sequence[str]) -> Iterator[list[Row]]:
        """Batch after batch from where the last one ended, as large as its rows allow."""
        key = self.table.key
        order = self._order(key)
        after = self._after_condition(key)
        size, last = 200, None
        while True:
            where = f" WHERE {after}" if last is not None else ""
            statement = f"{self._select(extra)}{where} ORDER BY {order} LIMIT {size}"
            rows = self._session.rows(statement, self._after_values(last) if last is not None else ())
            if rows:
                yield rows
            if len(rows) < size:
                return
            last = self.key_values(rows[-1])
            size = self._next_size(rows)

    def _after_condition(self, key: Sequence[str]) -> str:
        mark, quote = placeholder(self._session), self._session.quote
        if self._session.family == POSTGRESQL or len(key) == 1:
            names = ", ".join(quote(name) for name in key)
            return f"({names}) > ({', '.join([mark] * len(key))})"
        # what a server makes of row comparisons varies: this way it takes the index everywhere
        steps = []
        for depth in range(len(key)):
            equal = [f"{quote(name)} = {mark}" for name in key[:depth]]
            steps.append("(" + " AND ".join([*equal, f"{quote(key[depth])} > {mark}"]) + ")")
        return f"{quote(key[0])} >= {mark} AND ({' OR '.join(steps)})"

    def _after_values(self, last: tuple[object, ...]) -> list[object]:
        if self._session.family == POSTGRESQL or len(last) == 1:
            return list(last)
        return [last[0], *(value for depth in range(len(last)) for value in last[: depth + 1])]

    def _next_size(self, rows: list[Row]) -> int:
        bulk_size = 0
        for place in self._bulky:
            values = [row[place] for row in rows]
            try:
                bulk_size += sum(map(len, filter(None, values)))  # type: ignore[arg-type]  # what has no length is told
            except TypeError:
                bulk_size += sum(len(value) for value in values if isinstance(value, str | bytes))
        return max(1, min(BATCH_ROWS, int(_BATCH_BYTES / max(bulk_size / len(rows), 1.0))))

    # relations

    def _name_relations(self) -> None:
        table = self.table
        self.lazy[ROW_TEXT] = self.lazy[ROW_KEY] = lambda batch: ()
        for relation in table.relations:
            if all(name in self._place for name in relation.columns):
                self.lazy[relation.name] = lambda batch, relation=relation: self._referred_rows(batch, relation)  # type: ignore[misc]  # bound at once
        referring = [
            (child, relation)
            for child, relation in self._tables.schema.referring(table.name)
            if all(name in self._place for name in relation.referred)
        ]
        for child, relation in referring:
            name = child_name(table, child, relation, [candidate for candidate, _ in referring])
            if name not in self.lazy and not table.has(name):
                self.lazy[name] = lambda batch, other=child, relation=relation: self._child_rows(batch, other, relation)  # type: ignore[misc]  # bound at once
        if referring:
            self.lazy[ROW_USED] = lambda batch: self._row_usage(batch, referring)
        for name in [name for name in self.lazy if table.has(name)]:
            del self.lazy[name]

    def _values(self, batch: Batch, columns: Sequence[str]) -> list[Key | None]:
        """The values of some columns of every row; None if one is NULL."""
        places = [self._place[name] for name in columns]
        keys = [tuple(row[place] for place in places) for row in batch.raw]
        return [None if any(value is None for value in key) else key for key in keys]

    def _referred_rows(self, batch: Batch, relation: Relation) -> Sequence[object]:
        """The row that a foreign key leads to, for every row of the batch."""
        target = self._tables.reader(relation.table.label)
        row_keys = self._values(batch, relation.columns)
        cache = target._kept.setdefault(relation.referred, {})
        missing = list({key: None for key in row_keys if key is not None and key not in cache})
        if missing:
            if len(cache) + len(missing) > _KEPT_ROWS:
                cache.clear()
                missing = list({key: None for key in row_keys if key is not None})
            fetched = target.make_batch(target.rows_by_keys(relation.referred, missing))
            keys = target._values(fetched, relation.referred)
            exact = {key: fields for key, fields in zip(keys, fetched.fields, strict=True) if key is not None}
            same = self._key_matcher(exact)
            cache.update({key: None if (there := same(key)) is None else exact[there] for key in missing})
        return [None if key is None else cache.get(key) for key in row_keys]

    def _child_rows(self, batch: Batch, child: Table, relation: Relation) -> Sequence[object]:
        """The rows of another table that refer to each row."""
        reader = self._tables.reader(child.label)
        row_keys = self._values(batch, relation.referred)
        keys = list({key: None for key in row_keys if key is not None})
        lists: dict[Key, list[Fields]] = {key: [] for key in keys}
        same = self._key_matcher(lists)
        if all(name in reader._place for name in relation.columns):
            fetched = reader.make_batch(reader.rows_by_keys(relation.columns, keys))
            for key, fields in zip(reader._values(fetched, relation.columns), fetched.fields, strict=True):
                there = None if key is None else same(key)
                if there is not None:
                    lists[there].append(fields)
                    if len(lists[there]) > _MOST_CHILDREN:
                        raise FilterRefused("too-many-rows", child.label)
        return [[] if key is None else lists[key] for key in row_keys]

    def _row_usage(self, batch: Batch, referring: Sequence[tuple[Table, Relation]]) -> Sequence[object]:
        """Whether any row of any table refers to each row."""
        flags: list[object] = [False] * len(batch.raw)
        for child, relation in referring:
            row_keys = self._values(batch, relation.referred)
            keys = list({key: None for key in row_keys if key is not None})
            there: set[Key] = set()
            same = self._key_matcher(dict.fromkeys(keys))
            quoted = ", ".join(self._session.quote(name) for name in relation.columns)
            source = source_of(self._session, child)
            for start in range(0, len(keys), _KEYS_A_QUESTION):
                chunk = keys[start : start + _KEYS_A_QUESTION]
                statement = (
                    f"SELECT DISTINCT {quoted} FROM {source} WHERE {self._in_condition(relation.columns, len(chunk))}"  # noqa: S608  # quoted by the dialect
                )
                rows = self._session.rows(statement, [value for key in chunk for value in key])
                there.update(key for row in rows if (key := same(tuple(row))) is not None)
            for at, key in enumerate(row_keys):
                flags[at] = flags[at] or key in there
        return flags

    def _key_matcher(self, keys: Collection[Key]) -> Callable[[Key], Key | None]:
        """Finds the key among `keys` that the server takes for the same: MySQL's texts may differ in case."""
        if self._session.family != MYSQL:
            return lambda key: key if key in keys else None
        alike = {_fold_key(key): key for key in keys}
        return lambda key: key if key in keys else alike.get(_fold_key(key))

    def _key_text(self, row: Row, place: int) -> str:
        convert = self._converts[place][1]
        value = row[place]
        if value.__class__ is int and int in self._plain[place]:
            return str(value)
        text = text_of(value if convert is None else convert(value))
        return text.replace("%", "%25").replace(",", "%2C") if "," in text or "%" in text else text


def label_text(label: str) -> str:
    """A table's label as it stands in keys."""
    return label.replace("%", "%25").replace(":", "%3A")


def child_name(table: Table, child: Table, relation: Relation, all_referring: Sequence[Table]) -> str:
    """What a row calls the rows of another table that refer to it: that table's name, or how they refer as well."""
    base = child.label.replace(".", "_")
    twice = sum(item.name == child.name for item in all_referring) > 1
    name = f"{base}_by_{relation.name}" if twice else base
    used_names = {item.name for item in table.relations} | {column.name for column in table.columns}
    return f"{name}_rows" if name in used_names else name


def placeholder(session: Session) -> str:
    """How a value's place is written in a statement."""
    return "?" if session.dialect.paramstyle == "qmark" else "%s"


def _plain_of(family: str, column: Column) -> Convert | None:
    return plain_converter(family, column.kind, bits=column.size or 0)


def _bounded_expression(family: str, column: Column, expression: str) -> str:
    """The expression, cut where a column may hold more than anybody can want in one value."""
    if column.kind not in _BOUNDED or (column.size and column.size <= 100_000) or column.kind is Kind.ARRAY:
        return expression
    if column.kind is Kind.BYTES:
        return (
            f"SUBSTR({expression}, 1, {_LONGEST_BYTES})"
            if family != POSTGRESQL
            else (f"SUBSTRING({expression} FROM 1 FOR {_LONGEST_BYTES})")
        )
    if family == POSTGRESQL:
        text = f"CAST({expression} AS text)" if column.kind in (Kind.JSON, Kind.XML) else expression
        return f"LEFT({text}, {_LONGEST_TEXT})"
    if family == MYSQL:
        return f"LEFT({expression}, {_LONGEST_TEXT})"
    if family == SQLITE:
        short = f"SUBSTR({expression}, 1, {_LONGEST_TEXT})"
        return f"CASE WHEN length({expression}) > {_LONGEST_TEXT} THEN {short} ELSE {expression} END"
    return expression


def _fold_key(key: tuple[object, ...]) -> tuple[object, ...]:
    """A key as a server may compare it: without regard to case and to blanks at its end."""
    return tuple(value.rstrip().casefold() if isinstance(value, str) else value for value in key)


def _spool_batches(batches: Iterator[list[Row]]) -> Iterator[list[Row]]:
    """The same batches by way of a temporary file, so that the session is free for other questions meanwhile."""
    with closing(scratch()) as db:
        db.execute("CREATE TABLE spool (n INTEGER PRIMARY KEY, rows BLOB)")
        for batch in batches:
            db.execute("INSERT INTO spool (rows) VALUES (?)", (pickle.dumps(batch, pickle.HIGHEST_PROTOCOL),))
        for (rows,) in db.execute("SELECT rows FROM spool ORDER BY n"):
            yield pickle.loads(rows)  # noqa: S301  # written by the lines above, to a file nobody else can open
