"""What a row of each type must hold: values of their kind, no value of another type, what is mandatory."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from functools import cache

import orjson

from noarkit.server.schema import Table, schema
from noarkit.server.transaction.plan import Leniency, TypePlan, plans

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def row_flaws(table: Table, row: Mapping[str, object]) -> Iterator[str]:
    """The names of the columns of a row that are wrong; `type` alone where the type is none of its family."""
    plan = plans(Leniency()).get(str(row["type"]))
    if plan is None or plan.family != table.family:
        yield "type"
        return
    for name, kind, is_own in _columns(table.family, plan.name):
        value = row[name]
        if value is not None and (not is_own or not _KINDS[kind](value)):
            yield name
    if not isinstance(row["uuid"], str) or not _UUID.fullmatch(row["uuid"]):
        yield "uuid"
    for name in _mandatory(plan.name):
        if row[name] in (None, ""):
            yield name
    for names in plan.exactly_one:
        if all(name in row for name in names) and sum(row[name] is not None for name in names) != 1:
            yield names[0]


@cache
def _columns(family: str, type_name: str) -> tuple[tuple[str, str, bool], ...]:
    columns = schema().tables[family].columns.values()
    return tuple((column.name, column.kind, type_name in column.types) for column in columns)


@cache
def _mandatory(type_name: str) -> tuple[str, ...]:
    plan: TypePlan = plans(Leniency())[type_name]
    stored = schema().tables[plan.family].columns
    columns = [plan.fields[name].column for name in plan.must if name in plan.fields]
    return tuple(name for name in dict.fromkeys((*columns, *plan.must_links)) if name in stored and name != "uuid")


def _is_date(value: object) -> bool:
    try:
        return isinstance(value, str) and date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def _is_json(value: object) -> bool:
    try:
        return isinstance(value, str) and isinstance(orjson.loads(value), dict)
    except orjson.JSONDecodeError:
        return False


_KINDS: Mapping[str, Callable[[object], bool]] = {
    "string": lambda value: isinstance(value, str),
    "timestamp": lambda value: type(value) is int,
    "date": _is_date,
    "number": lambda value: isinstance(value, int | float),
    "boolean": lambda value: value in (0, 1),
    "object": _is_json,
    "link": lambda value: type(value) is int,
}
