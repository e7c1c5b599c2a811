"""Numbers of journal posts by the day that each was registered: in its year, and in its case.

An archive numbers posts as they come, and those of a migration come folder by folder. A plan that fills in dates and
knows its archive numbers the posts of years that are over, behind the highest number that the archive has of the year.
What has a number keeps it. Posts of this year are left to the archive, as are those of cases that stand there already:
others may add to both before the load.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Mapping

import orjson

from noarkit.graph.store import GraphStore, fields_json

HighestNumbers = Callable[[Collection[int]], Mapping[int, int] | None]
"""The highest number of a post that an archive has of each of some years; None where it cannot be asked."""
YEAR, NUMBER, NUMBER_IN_CASE = "journalaar", "journalsekvensnummer", "journalpostnummer"
NUMBERS = frozenset({NUMBER, NUMBER_IN_CASE})
_PAGE = 2_000
_POSTS = f"""
    CREATE TEMP TABLE post AS SELECT e.n, e.key, e.parent, a.target != 'find' AS is_case_made,
        json_extract(e.fields, '$.registreringsDato') AS day, json_extract(e.fields, '$.{YEAR}') AS year,
        json_extract(e.fields, '$.{NUMBER}') AS number, json_extract(e.fields, '$.{NUMBER_IN_CASE}') AS number_in_case
    FROM entity e JOIN entity a ON a.n = e.parent WHERE e.type = 'Journalpost' AND e.target != 'find'
"""  # noqa: S608  # names of the model
_PLACES = """
    CREATE TEMP TABLE place AS
        SELECT n, year, row_number() OVER (PARTITION BY year ORDER BY day, key) AS in_year, NULL AS in_case
        FROM post WHERE number IS NULL AND year IS NOT NULL
    UNION ALL
        SELECT n, NULL, NULL, row_number() OVER (PARTITION BY parent ORDER BY day, key)
        FROM post WHERE is_case_made AND parent NOT IN (SELECT parent FROM post WHERE number_in_case IS NOT NULL)
"""


_NUMBERED = f"""
    SELECT e.n, e.fields, max(p.year), max(p.in_year), max(p.in_case) FROM place p JOIN entity e ON e.n = p.n
    WHERE p.n > ? GROUP BY e.n ORDER BY e.n LIMIT {_PAGE}
"""  # noqa: S608  # as above


def number_posts(store: GraphStore, highest_numbers: HighestNumbers, this_year: int) -> None:
    """Numbers the posts of a plan that have no number. Called when their days stand, before the plan is cut."""
    db = store.db
    db.execute(_POSTS)
    years = db.execute("SELECT DISTINCT year FROM post WHERE number IS NULL AND year < ?", (this_year,)).fetchall()
    highest = highest_numbers([year for (year,) in years]) if years else None
    if highest is not None:
        own = dict(db.execute("SELECT year, max(number) FROM post WHERE number IS NOT NULL GROUP BY year").fetchall())
        db.execute(_PLACES)
        db.execute("BEGIN")
        _fill_in(db, {year: max(number, own.get(year, 0)) for year, number in highest.items()})
        db.execute("COMMIT")
        db.execute("DROP TABLE place")
    db.execute("DROP TABLE post")


def _fill_in(db: sqlite3.Connection, highest: Mapping[int, int]) -> None:
    after = 0
    while rows := db.execute(_NUMBERED, (after,)).fetchall():
        changed = []
        for number, text, year, in_year, in_case in rows:
            fields = orjson.loads(text)
            if in_year is not None and year in highest:
                fields[NUMBER] = highest[year] + in_year
            if in_case is not None:
                fields[NUMBER_IN_CASE] = in_case
            changed.append((fields_json(fields), number))
        db.executemany("UPDATE entity SET fields = ? WHERE n = ?", changed)
        after = rows[-1][0]
