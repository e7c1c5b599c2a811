"""Dates that a plan can tell by itself: of a folder by the records below it, of a document by its record.

    record     opprettetDato, avsluttetDato      the day of the record; where it is archived with the load, no closing
    folder     opprettetDato, avsluttetDato,     the first and the last day below it, whatever record named it first
               saksdato, saksaar
    record without a day                         opened and closed with its folder
    document, version   opprettetDato            the day of its record; of an archival copy, when it was made
    fonds, series, class  opprettetDato, avsluttetDato    the period, or the first and the last day of all
    series     arkivperiodeStartDato, …SluttDato          the period, where one is stated

What a folder says of its own beginning and end counts for all above it, so that the period covers cases and records
alike. Only what the recipe left open is filled in; a folder without any day below it has its year, or the days of the
folder above, of the period, or of the whole. What a package says of itself (the folder `description`) is younger than
its records: it bears its own days, and tells nothing of the days of the whole. A day without a time of day stands for
its noon, so that it is the same day in every zone that reads it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from zoneinfo import ZoneInfo

import orjson

from noarkit.graph.entity import FieldValue
from noarkit.graph.store import GraphStore, fields_json
from noarkit.loading.finality import STATUS
from noarkit.loading.numbering import NUMBERS
from noarkit.model.conversions import parse_details
from noarkit.model.headings import CREATED, DAY_FIELDS
from noarkit.model.metamodel import metamodel
from noarkit.recipes.recipe_model import DateRules
from noarkit.recipes.record_keys import folder_key
from noarkit.safe.clocks import utc_text

DERIVED = "derived_dates"
"""The fact of a plan that says that it filled in dates."""
CLOSED, CASE_DAY, CASE_YEAR = "avsluttetDato", "saksdato", "saksaar"
PERIOD_BEGINS, PERIOD_ENDS = "arkivperiodeStartDato", "arkivperiodeSluttDato"
JOURNAL_DAY, JOURNAL_YEAR = "registreringsDato", "journalaar"
_LASTS = (CREATED, CLOSED, CASE_DAY)
"""What says when a unit began and ended."""
DERIVED_FIELDS = frozenset({CREATED, CLOSED, CASE_DAY, CASE_YEAR, JOURNAL_YEAR, *NUMBERS})
_FOLDERS, _RECORDS, _DOCUMENT, _VERSION = "AbstraktMappe", "AbstraktRegistrering", "Dokument", "Dokumentversjon"
_SPINE = ("Arkiv", "Arkivdel", "Klassifikasjonssystem", "Klasse")
DESCRIPTION = folder_key("description")
"""The folder of what a package says of itself."""
_PAGE = 2_000
_DAY = len("2014-03-12")
_MADE = "target != 'find'"
Span = tuple[str, str]
"""The first and the last of some moments, in UTC."""


@dataclass(frozen=True, slots=True)
class _Row:
    """An entity that dates are filled in for."""

    number: int
    type: str
    parent: int | None
    fields: dict[str, FieldValue]
    top: int = 0
    """The topmost folder that it lies in."""

    @property
    def family(self) -> str:
        return metamodel().types[self.type].family

    def own_span(self, zone: ZoneInfo) -> Span | None:
        """The moment of a record, by its own fields, as first and last."""
        for name in (CREATED, *DAY_FIELDS):
            moment = self._moment(name, zone)
            if moment is not None:
                return moment, moment
        return None

    def with_stated_days(self, span: Span, zone: ZoneInfo) -> Span:
        """A span together with the days that the unit itself began and ended, which may lie outside of it: what it
        hangs under lasts as long."""
        stated = [moment for name in _LASTS if (moment := self._moment(name, zone)) is not None]
        return min([span[0], *stated]), max([span[1], *stated])

    def _moment(self, name: str, zone: ZoneInfo) -> str | None:
        value = self.fields.get(name)
        if not isinstance(value, str) or not value:
            return None
        return value if len(value) > _DAY else _noon(value, zone)

    def year_span(self, zone: ZoneInfo) -> Span | None:
        """The year of a case whose number bears one, as first and last day."""
        year = self.fields.get(CASE_YEAR)
        if not isinstance(year, int) or not date.min.year <= year <= date.max.year:
            return None
        return _noon(f"{year:04}-01-01", zone), _noon(f"{year:04}-12-31", zone)

    def fill(self, values: dict[str, FieldValue]) -> bool:
        """Takes the values of fields that its type has and that are open; True if there is any."""
        fields = metamodel().types[self.type].fields
        field_names = {name for name, field in fields.items() if not field.newer or self._is_withheld(name)}
        missing = {
            name: value for name, value in values.items() if name in field_names and self.fields.get(name) is None
        }
        self.fields.update(missing)
        return bool(missing)

    def _is_withheld(self, name: str) -> bool:
        """True for what is sent when all is closed, to an archive that has the field."""
        return name == CLOSED and self.type in STATUS


def fill_dates(store: GraphStore, rules: DateRules, zone_name: str, *, closes: bool) -> None:
    """Fills in the dates of folders, records and documents. Called before a plan is cut into chunks."""
    if not rules.spans:
        return
    zone, db = ZoneInfo(zone_name), store.db
    period = (_noon(rules.period[0], zone), _noon(rules.period[-1], zone)) if rules.period else None
    whole_dates: Span | None = None
    description_row = db.execute("SELECT n FROM entity WHERE key = ?", (DESCRIPTION,)).fetchone() or (0,)
    db.execute("CREATE TEMP TABLE span (n INTEGER PRIMARY KEY, first TEXT NOT NULL, last TEXT NOT NULL)")
    db.execute("BEGIN")
    for page in _pages(db):  # what is below has the higher number, and comes first
        spans = _Spans(db, page)
        changed = []
        for row in page:
            span = (
                row.own_span(zone) if row.family == _RECORDS else spans.of(row.number) or row.year_span(zone) or period
            )
            if span is None:
                continue
            if row.fill(_values(row, span, zone, closes=closes, rules=rules)):
                changed.append((fields_json(row.fields), row.number))
            span = row.with_stated_days(span, zone)
            if row.top != description_row[0]:
                whole_dates = (
                    span if whole_dates is None else (min(whole_dates[0], span[0]), max(whole_dates[1], span[1]))
                )
            if row.parent is not None:
                spans.widen(row.parent, *span)
        spans.keep()
        db.executemany("UPDATE entity SET fields = ? WHERE n = ?", changed)
    _date_spine(db, period or whole_dates, rules.period, closes=closes)
    _date_folders(db, period or whole_dates, zone, closes=closes, rules=rules)
    _date_by_parents(db, closes=closes and rules.archived == "last")
    store.remember(DERIVED, "yes")
    db.execute("DROP TABLE span")
    db.execute("COMMIT")


def has_dates(db: sqlite3.Connection) -> bool:
    """True where folders or records bear a date of their own; those of a load are its own."""
    kinds = [*_types_of(_FOLDERS), *_types_of(_RECORDS)]
    query = f"SELECT 1 FROM entity WHERE type IN ({', '.join('?' * len(kinds))}) AND instr(fields, ?) > 0 LIMIT 1"  # noqa: S608  # marks
    return db.execute(query, (*kinds, f'"{CREATED}":')).fetchone() is not None


def _values(row: _Row, span: Span, zone: ZoneInfo, *, closes: bool, rules: DateRules) -> dict[str, FieldValue]:
    first, last = span
    values: dict[str, FieldValue] = {CREATED: first}
    if closes and (row.family == _FOLDERS or rules.archived == "last"):
        values[CLOSED] = last
    if row.family == _FOLDERS:
        day = str(row.fields.get(CASE_DAY) or _day(first, zone))
        values |= {CASE_DAY: day, CASE_YEAR: int(day[:4])}
    elif journal_day := row.fields.get(JOURNAL_DAY):
        values[JOURNAL_YEAR] = int(str(journal_day)[:4])
    return values


class _Spans:
    """The first and last moment below each entity of a page and above it; what others add to is kept in a table."""

    def __init__(self, db: sqlite3.Connection, page: Iterable[_Row]) -> None:
        self._db = db
        lowest, highest = (pick(row.number for row in page) for pick in (min, max))
        rows = db.execute("SELECT n, first, last FROM span WHERE n BETWEEN ? AND ?", (lowest, highest))
        self._spans: dict[int, Span] = {number: (first, last) for number, first, last in rows}

    def of(self, number: int) -> Span | None:
        """The first and last moment below an entity."""
        return self._spans.get(number)

    def widen(self, number: int, first: str, last: str) -> None:
        """Makes room for some moments more."""
        known_first, known_last = self._spans.get(number, (first, last))
        self._spans[number] = min(known_first, first), max(known_last, last)

    def keep(self) -> None:
        """Writes what this page added, for the pages that follow."""
        self._db.executemany(
            "INSERT INTO span VALUES (?, ?, ?) ON CONFLICT (n) DO UPDATE"
            " SET first = min(first, excluded.first), last = max(last, excluded.last)",
            ((number, *span) for number, span in self._spans.items()),
        )


def _pages(db: sqlite3.Connection) -> Iterator[list[_Row]]:
    """Folders and records, the last first."""
    kinds = [*_types_of(_FOLDERS), *_types_of(_RECORDS)]
    marks = ", ".join("?" * len(kinds))
    query = (
        f"SELECT n, type, parent, fields, unit FROM entity WHERE n < ? AND type IN ({marks}) AND {_MADE}"  # noqa: S608  # marks
        f" ORDER BY n DESC LIMIT {_PAGE}"
    )
    before = 2**62
    while rows := db.execute(query, (before, *kinds)).fetchall():
        yield [_Row(number, kind, parent, orjson.loads(fields), top) for number, kind, parent, fields, top in rows]
        before = rows[-1][0]


def _date_spine(db: sqlite3.Connection, span: Span | None, period: tuple[str, ...], *, closes: bool) -> None:
    """What every record hangs under has the days of the whole; an archive that has it already keeps its own."""
    if span is None:
        return
    values: dict[str, FieldValue] = {CREATED: span[0]}
    if closes:
        values[CLOSED] = span[1]
    if period:
        values |= {PERIOD_BEGINS: period[0], PERIOD_ENDS: period[-1]}
    marks = ", ".join("?" * len(_SPINE))
    rows = db.execute(f"SELECT n, type, fields FROM entity WHERE type IN ({marks}) AND {_MADE}", _SPINE).fetchall()  # noqa: S608  # marks
    for number, kind, text in rows:
        row = _Row(number, kind, None, orjson.loads(text))
        if row.fill(values):
            db.execute("UPDATE entity SET fields = ? WHERE n = ?", (fields_json(row.fields), number))


def _date_folders(
    db: sqlite3.Connection, whole: Span | None, zone: ZoneInfo, *, closes: bool, rules: DateRules
) -> None:
    """Folders that nothing dates have the days of the folder above, or of the whole: those of the load would be
    worse."""
    if whole is None:
        return
    for number, kind, text, _ in _undated(db, _types_of(_FOLDERS)):  # the outer ones come first
        row = _Row(number, kind, None, orjson.loads(text))
        if row.fill(_values(row, _span_above(db, number) or whole, zone, closes=closes, rules=rules)):
            db.execute("UPDATE entity SET fields = ? WHERE n = ?", (fields_json(row.fields), number))


def _span_above(db: sqlite3.Connection, number: int) -> Span | None:
    """The days of the folder that a folder lies in."""
    query = "SELECT a.type, a.fields FROM entity e JOIN entity a ON a.n = e.parent WHERE e.n = ?"
    kind, text = db.execute(query, (number,)).fetchone()
    fields = orjson.loads(text)
    if metamodel().types[kind].family != _FOLDERS or not fields.get(CREATED):
        return None
    return fields[CREATED], fields.get(CLOSED) or fields[CREATED]


def _date_by_parents(db: sqlite3.Connection, *, closes: bool) -> None:
    """Records without a day came to be, and to their end, with their folder; documents and versions with their record,
    if they bear no date of their own. An archival copy came to be when it was made."""
    ends = (CREATED, CLOSED) if closes else (CREATED,)
    for kinds, names in ((_types_of(_RECORDS), ends), ([_DOCUMENT], (CREATED,)), ([_VERSION], (CREATED,))):
        for number, kind, text, parent_text in _undated(db, kinds):
            row, parent_fields = _Row(number, kind, None, orjson.loads(text)), orjson.loads(parent_text)
            conversion = parse_details(str(row.fields.get("formatDetaljer", "")))
            if conversion is not None:
                parent_fields = {CREATED: utc_text(datetime.fromisoformat(conversion.made_at))}
            if row.fill({name: parent_fields[name] for name in names if parent_fields.get(name)}):
                db.execute("UPDATE entity SET fields = ? WHERE n = ?", (fields_json(row.fields), number))


def _undated(db: sqlite3.Connection, kinds: list[str]) -> Iterator[tuple[int, str, str, str]]:
    """The number, type, fields and parent's fields of what has no date of its own, page by page."""
    query = (
        "SELECT e.n, e.type, e.fields, a.fields FROM entity e JOIN entity a ON a.n = e.parent"  # noqa: S608  # names of the model
        f" WHERE e.n > ? AND e.{_MADE} AND e.type IN ({', '.join('?' * len(kinds))})"
        f" AND json_extract(e.fields, '$.{CREATED}') IS NULL ORDER BY e.n LIMIT {_PAGE}"
    )
    after = 0
    while rows := db.execute(query, (after, *kinds)).fetchall():
        yield from rows
        after = rows[-1][0]


def _types_of(family: str) -> list[str]:
    return [name for name, kind in metamodel().types.items() if kind.family == family]


def _noon(day: str, zone: ZoneInfo) -> str:
    return utc_text(datetime.fromisoformat(day).replace(hour=12, tzinfo=zone))


def _day(moment: str, zone: ZoneInfo) -> str:
    return datetime.fromisoformat(moment).astimezone(zone).date().isoformat()
