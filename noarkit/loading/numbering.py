"""Numbers of posts, of other records and of cases, by the day of each: in its year, and of a post in its case.

    Journalpost         journalsekvensnummer 17, journalpostnummer 3    its registreringsID is 2014/17
    other records       registreringsIdent 2014/231                     behind the posts of the year
    Saksmappe           sakssekvensnummer 8                             its mappeID is 2014/8

An archive numbers records as they come, and those of a migration come folder by folder, under the year of the load. A
plan that fills in dates and knows its archive numbers the units of years that are over. Posts go on behind the highest
number that the archive has of the year, and no number is given that a unit there bears. What has a number keeps it.
Units of this year are left to the archive, as are places in cases that stand there already: others may add to both
before the load.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

import orjson

from noarkit.graph.entity import FieldValue
from noarkit.graph.store import GraphStore, fields_json
from noarkit.loading.lookup import NumberBlock
from noarkit.model.metamodel import metamodel

FreeNumbers = Callable[[Sequence[NumberBlock]], Sequence[int] | None]
"""The first number of each block that is free in an archive; None where it cannot be asked."""
YEAR, NUMBER, NUMBER_IN_CASE = "journalaar", "journalsekvensnummer", "journalpostnummer"
RECORD_NUMBER, CASE_NUMBER = "registreringsIdent", "sakssekvensnummer"
NUMBERS = frozenset({NUMBER, NUMBER_IN_CASE, RECORD_NUMBER, CASE_NUMBER})
_POST, _RECORDS = "Journalpost", "AbstraktRegistrering"
_OTHER_RECORDS = sorted(
    name for name, kind in metamodel().types.items() if kind.family == _RECORDS and name not in (_POST, _RECORDS)
)
_PAGE = 2_000
_POSTS = f"""
    CREATE TEMP TABLE post AS SELECT e.n, e.key, e.parent, a.target != 'find' AS is_case_made,
        json_extract(e.fields, '$.registreringsDato') AS day, json_extract(e.fields, '$.{YEAR}') AS year,
        json_extract(e.fields, '$.{NUMBER}') AS number, json_extract(e.fields, '$.{NUMBER_IN_CASE}') AS number_in_case
    FROM entity e JOIN entity a ON a.n = e.parent WHERE e.type = '{_POST}' AND e.target != 'find'
"""  # noqa: S608  # names of the model
_PLACES = """
    CREATE TEMP TABLE place AS
        SELECT n, year, row_number() OVER (PARTITION BY year ORDER BY day, key) AS in_year, NULL AS in_case
        FROM post WHERE number IS NULL AND year IS NOT NULL
    UNION ALL
        SELECT n, NULL, NULL, row_number() OVER (PARTITION BY parent ORDER BY day, key)
        FROM post WHERE is_case_made AND parent NOT IN (SELECT parent FROM post WHERE number_in_case IS NOT NULL)
"""
_OTHER_PLACES = """
    CREATE TEMP TABLE place AS SELECT n, year, NULL AS in_case,
        row_number() OVER (PARTITION BY year ORDER BY day, key) AS in_year
    FROM ({units}) WHERE number IS NULL AND year IS NOT NULL
"""
_NUMBERED = f"""
    SELECT e.n, e.fields, max(p.year), max(p.in_year), max(p.in_case) FROM place p JOIN entity e ON e.n = p.n
    WHERE p.n > ? GROUP BY e.n ORDER BY e.n LIMIT {_PAGE}
"""  # noqa: S608  # as above


@dataclass(frozen=True, slots=True)
class _Kind:
    """Units that are numbered alike: as which type an archive is asked, the unit with its day, year and number as SQL,
    the number that one of these has, and the field of a new one."""

    type: str
    units: str
    given: str
    fields: Callable[[int, int], dict[str, FieldValue]]


_OTHERS = _Kind(
    _RECORDS,
    f"""SELECT n, key, json_extract(fields, '$.opprettetDato') AS day,
        json_extract(fields, '$.{RECORD_NUMBER}') AS number, local_year(json_extract(fields, '$.opprettetDato')) AS year
    FROM entity WHERE target != 'find' AND type IN ({", ".join(f"'{name}'" for name in _OTHER_RECORDS)})""",  # noqa: S608  # names of the model
    f"""SELECT CAST(substr(number, 1, 4) AS INTEGER), max(CAST(substr(number, 6) AS INTEGER))
    FROM (SELECT json_extract(fields, '$.{RECORD_NUMBER}') AS number FROM entity WHERE target != 'find')
    WHERE number GLOB '[0-9][0-9][0-9][0-9]/[0-9]*' GROUP BY 1""",  # noqa: S608  # as above
    lambda year, number: {RECORD_NUMBER: f"{year}/{number}"},
)
_CASES = _Kind(
    "AbstraktMappe",
    f"""SELECT n, key, json_extract(fields, '$.saksdato') AS day, json_extract(fields, '$.saksaar') AS year,
        coalesce(json_extract(fields, '$.{CASE_NUMBER}'), json_extract(fields, '$.mappeIdent')) AS number
    FROM entity WHERE target != 'find' AND type = 'Saksmappe'""",  # noqa: S608  # as above
    f"""SELECT json_extract(fields, '$.saksaar'), max(json_extract(fields, '$.{CASE_NUMBER}')) FROM entity
    WHERE target != 'find' AND type = 'Saksmappe' AND json_extract(fields, '$.{CASE_NUMBER}') IS NOT NULL GROUP BY 1""",  # noqa: S608  # as above
    lambda year, number: {CASE_NUMBER: number},
)


def number_units(store: GraphStore, free_numbers: FreeNumbers, now: datetime, zone_name: str) -> None:
    """Numbers the records and cases of a plan that have no number. Called when their days stand, before the plan
    is cut."""
    zone = ZoneInfo(zone_name)

    def local_year(moment: str | None) -> int | None:
        return None if moment is None else datetime.fromisoformat(moment).astimezone(zone).year

    store.db.create_function("local_year", 1, local_year, deterministic=True)
    highest = _number_posts(store.db, free_numbers, now.year)
    if highest is not None:
        _number_others(store.db, free_numbers, _OTHERS, now.year, highest)
    _number_others(store.db, free_numbers, _CASES, now.year, {})
    store.db.create_function("local_year", 1, None)


def _number_posts(db: sqlite3.Connection, free_numbers: FreeNumbers, this_year: int) -> Mapping[int, int] | None:
    """Numbers posts; the highest number of each year in the plan, or None where the archive does not answer."""
    db.execute(_POSTS)
    counts = db.execute("SELECT year, count(*) FROM post WHERE number IS NULL AND year < ? GROUP BY 1", (this_year,))
    counts_by_year = dict(counts.fetchall())
    given_numbers = dict(
        db.execute("SELECT year, max(number) FROM post WHERE number IS NOT NULL GROUP BY year").fetchall()
    )
    firsts = _ask(free_numbers, _POST, counts_by_year, given_numbers)
    if firsts:
        db.execute(_PLACES)
        _fill_in(db, firsts, lambda year, number: {NUMBER: number})
    db.execute("DROP TABLE post")
    return (
        None
        if firsts is None
        else given_numbers | {year: firsts[year] + count - 1 for year, count in counts_by_year.items()}
    )


def _number_others(
    db: sqlite3.Connection, free_numbers: FreeNumbers, kind: _Kind, this_year: int, highest: Mapping[int, int]
) -> None:
    """Numbers the units of a kind behind what is numbered already."""
    db.execute(_OTHER_PLACES.format(units=kind.units))
    counts = dict(db.execute("SELECT year, count(*) FROM place WHERE year < ? GROUP BY 1", (this_year,)).fetchall())
    given_numbers = dict(db.execute(kind.given).fetchall())
    after = {year: max(given_numbers.get(year, 0), highest.get(year, 0)) for year in counts}
    _fill_in(db, _ask(free_numbers, kind.type, counts, after) or {}, kind.fields)


def _ask(
    free_numbers: FreeNumbers, kind: str, counts: Mapping[int, int], after: Mapping[int, int]
) -> Mapping[int, int] | None:
    """The first number of each year; None where the archive does not answer."""
    blocks = [NumberBlock(kind, year, after.get(year, 0), count) for year, count in counts.items()]
    firsts = free_numbers(blocks) if blocks else []
    return None if firsts is None else dict(zip(counts, firsts, strict=True))


def _fill_in(
    db: sqlite3.Connection, firsts: Mapping[int, int], fields_of: Callable[[int, int], dict[str, FieldValue]]
) -> None:
    """Writes the numbers of all that have a place, and takes the places away."""
    after = 0
    db.execute("BEGIN")
    while rows := db.execute(_NUMBERED, (after,)).fetchall():
        updates = []
        for row, text, year, in_year, in_case in rows:
            fields = orjson.loads(text)
            if in_year is not None and year in firsts:
                fields |= fields_of(year, firsts[year] + in_year - 1)
            if in_case is not None:
                fields[NUMBER_IN_CASE] = in_case
            updates.append((fields_json(fields), row))
        db.executemany("UPDATE entity SET fields = ? WHERE n = ?", updates)
        after = rows[-1][0]
    db.execute("COMMIT")
    db.execute("DROP TABLE place")
