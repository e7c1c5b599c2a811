"""Makes what is known of a database fit the version it is written in: 2.1 wants lengths, and has no DATALINK."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from noarkit.forms.siard.model import Column, Schema, Table
from noarkit.forms.siard.types import sql_type

_LARGE_TEXT = "CHARACTER LARGE OBJECT"
_LARGE_BYTES = "BINARY LARGE OBJECT"
_VARYING = ("CHARACTER VARYING", "CHAR VARYING", "VARCHAR", "NCHAR VARYING", "NATIONAL CHAR VARYING")

T = TypeVar("T", Schema, Table)


def fit_to_version(item: T, version: str) -> T:
    """A table or schema whose types a version can name."""
    if version != "2.1":
        return item
    if isinstance(item, Table):
        return replace(item, columns=tuple(_column(column) for column in item.columns))
    types = tuple(
        replace(
            kind,
            base=_type(kind.base),
            attributes=tuple(replace(part, type=_type(part.type)) for part in kind.attributes),
        )
        for kind in item.types
    )
    views = tuple(replace(view, columns=tuple(map(_column, view.columns))) for view in item.views)
    routines = tuple(
        replace(
            routine,
            parameters=tuple(replace(parameter, type=_type(parameter.type)) for parameter in routine.parameters),
        )
        for routine in item.routines
    )
    return replace(item, types=types, views=views, routines=routines)


def _column(column: Column) -> Column:
    return replace(column, type=_type(column.type))


def _type(name: str) -> str:
    parsed_type = sql_type(name) if name else None
    if parsed_type is None or parsed_type.figures:
        return name
    upper = " ".join(name.upper().split())
    if upper in (*_VARYING, "NATIONAL CHARACTER VARYING"):
        return _LARGE_TEXT
    if upper in ("VARBINARY", "BINARY VARYING") or parsed_type.kind == "datalink":
        return _LARGE_BYTES
    return name
