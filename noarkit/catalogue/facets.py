"""How items are spread over the values of every filter, and which of them filters let pass."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from noarkit.catalogue.entries import SCREENED
from noarkit.catalogue.query import FilterName, Query, Term
from noarkit.model.disclosure import mask_text, shown_class

FACETS: tuple[FilterName, ...] = ("type", "year", "class", "status", "format", "screened", "fault", "state")
MOST_VALUES = 25
"""Of a facet, the commonest values are given."""
_ANSWERS = ("no", "yes")
_COLUMNS = "type, year, class, status, formats, screened, fault, state"
_CLASS_AT, _SCREENED_AT = 3, 6


@dataclass(frozen=True, slots=True)
class FacetValue:
    """A value of a filter, and how many of the hits have it; `is_chosen` where the search asks for it."""

    value: str
    count: int
    is_chosen: bool = False


@dataclass(frozen=True, slots=True)
class Facet:
    """How the hits are spread over the values of a filter, the commonest first (years in their order).

    `is_exact` is false where not all hits were counted; `is_whole` where less common values are left out.
    """

    name: FilterName
    values: tuple[FacetValue, ...]
    is_exact: bool = True
    is_whole: bool = True


def count_facets(db: sqlite3.Connection, numbers: Sequence[int], query: Query, *, is_exact: bool) -> Iterator[Facet]:
    """The facets of the items with these numbers; those that say nothing are left out."""
    rows = [row[1:] for row in _rows(db, numbers)]
    for name, column in zip(FACETS, zip(*rows, strict=True), strict=False):
        counts: Counter[str] = Counter()
        for value, count in Counter(column).items():
            for text in _values(name, value):
                counts[mask_text(text)] += count
        if counts and not (name == "screened" and "yes" not in counts):
            yield _facet(name, counts, query, is_exact=is_exact)


def pass_filters(db: sqlite3.Connection, numbers: Sequence[int], query: Query) -> list[int]:
    """Those of the items that the filters of a query let pass, as far as they are not mixed with words."""
    groups = [group for group in query.groups if all(term.is_filter for term in group)]
    if not groups:
        return list(numbers)
    return [
        n for n, *values in _rows(db, numbers) if all(any(_matches(term, values) for term in group) for group in groups)
    ]


def may_have_year(query: Query, year: str) -> bool:
    """False where the filters of a query let nothing of a year pass."""
    groups = [group for group in query.groups if all(term.name == "year" for term in group)]
    return all(any(_has_value(term, (year,)) != term.is_excluded for term in group) for group in groups)


def _rows(db: sqlite3.Connection, numbers: Sequence[int]) -> list[tuple[Any, ...]]:  # Any: values of a row
    sql = f"SELECT n, {_COLUMNS} FROM item WHERE n IN (SELECT value FROM json_each(?))"  # noqa: S608  # ours
    rows = db.execute(sql, (orjson.dumps(numbers).decode(),)).fetchall()
    return [row if row[_SCREENED_AT] != SCREENED else _without_class(row) for row in rows]


def _without_class(row: tuple[Any, ...]) -> tuple[Any, ...]:  # Any: the same
    """The row of a screened item, whose class is not told where it is more than a number."""
    klass = shown_class(str(row[_CLASS_AT]), screened=True)
    return (*row[:_CLASS_AT], klass, *row[_CLASS_AT + 1 :])


def _facet(name: FilterName, counts: Mapping[str, int], query: Query, *, is_exact: bool) -> Facet:
    values = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_VALUES]
    if name == "year":
        values.sort()
    facet_values = tuple(FacetValue(value, count, _is_chosen(query, name, value)) for value, count in values)
    return Facet(name, facet_values, is_exact, len(counts) <= MOST_VALUES)


def _is_chosen(query: Query, name: FilterName, value: str) -> bool:
    return any(term.name == name and not term.is_excluded and _has_value(term, (value,)) for term in query.all_terms())


def _matches(term: Term, values: Sequence[object]) -> bool:
    at = next(at for at, name in enumerate(FACETS) if name == term.name)
    return _has_value(term, _values(FACETS[at], values[at])) != term.is_excluded


def _has_value(term: Term, values: Sequence[str]) -> bool:
    if term.name == "year":
        first, last = term.text.split("..")
        return any(first <= value.zfill(4) <= last for value in values)
    wording = term.text.lower()
    return any(
        value.lower() == wording or (not term.is_exact and value.lower().startswith(wording)) for value in values
    )


def _values(name: FilterName, stored: object) -> Sequence[str]:
    """The values that an item has of a filter."""
    if name == "screened":
        return (_ANSWERS[stored == SCREENED],)
    if stored is None or stored == "":
        return ()
    return str(stored).split(" ") if name == "format" else (str(stored),)
