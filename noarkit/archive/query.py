"""Queries that cannot be injected: values travel only as parameters, names only where the model knows them.

    found = select("Journalpost", all_of(equals("refMappe.mappeIdent", ident), like("tittel", "Søknad%")), order="id")

Two conditions over the same path are about one linked object; an alias means another one over the same reference:

    select("Saksmappe", all_of(equals("#a.verdi", "vei"), equals("#b.verdi", "vann")),
           joins={"#a": "refNoekkelord", "#b": "refNoekkelord"})
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from noarkit.archive.values import Order, Parameter, Query
from noarkit.errors import UsageFault
from noarkit.model import Metamodel, metamodel

PAGE_SIZE = 500
MAX_CONDITIONS = 1000
OPEN = "*"

_ALIAS = re.compile(r"#[A-Za-z0-9]+\Z")
_RANGED = ("date", "timestamp", "number")
Bound = datetime | date | int | float | str | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """A path compared with one value."""

    path: str
    operator: Literal["=", "!=", "%="]
    value: Parameter


@dataclass(frozen=True, slots=True)
class ValueRange:
    """A path whose value lies between two bounds; None leaves a side open."""

    path: str
    low: Bound
    high: Bound
    low_included: bool
    high_included: bool


@dataclass(frozen=True, slots=True)
class ConditionGroup:
    """Conditions of which all or any hold."""

    operator: Literal["&&", "||"]
    members: tuple[Condition, ...]


Condition = Comparison | ValueRange | ConditionGroup


def equals(path: str, value: Parameter) -> Condition:
    """The value is `value`; None: it is not set."""
    return Comparison(path, "=", value)


def differs(path: str, value: Parameter) -> Condition:
    """The value is set and is not `value`; None: it is set."""
    return Comparison(path, "!=", value)


def like(path: str, pattern: str) -> Condition:
    """The text fits `pattern`, in which % stands for any run of characters; nothing else is special."""
    return Comparison(path, "%=", pattern)


def between(
    path: str, low: Bound = None, high: Bound = None, *, low_included: bool = True, high_included: bool = True
) -> Condition:
    """The date, time or number lies between the bounds, which count unless told otherwise; None leaves a side open."""
    return ValueRange(path, low, high, low_included, high_included)


def one_of(path: str, values: Iterable[Parameter]) -> Condition:
    """The value is one of `values`."""
    return any_of(*(equals(path, value) for value in values))


def all_of(*members: Condition) -> Condition:
    """All of the conditions hold. None given: everything fits, which can only be asked alone."""
    return ConditionGroup("&&", members)


def any_of(*members: Condition) -> Condition:
    """At least one of the conditions holds. None given fits nothing, which cannot be asked: `UsageFault`."""
    if not members:
        raise UsageFault(what="empty-choice")
    return ConditionGroup("||", members)


def select(
    type_name: str,
    condition: Condition | None = None,
    *,
    joins: Mapping[str, str] | None = None,
    order: str | Iterable[tuple[str, Order]] = (),
    limit: int = PAGE_SIZE,
) -> Query:
    """A query for objects of a concrete or abstract type. Raises `UsageFault` for what the model does not know.

    `order` is a field (ascending) or several with their directions; without one the newest objects come first.
    """
    scope = _Scope(metamodel(), type_name, dict(joins or {}))
    parameters: dict[str, Parameter] = {}
    where_text = "" if condition is None else _text(condition, scope, parameters, outermost=True)
    sorting: tuple[tuple[str, Order], ...] = ((order, "asc"),) if isinstance(order, str) else tuple(order)
    for name, _ in sorting:
        scope.check_sortable(name)
    return Query(type_name, where_text, parameters, dict(joins or {}), sorting, limit)


class _Scope:
    """What paths may mean in one query."""

    def __init__(self, model: Metamodel, type_name: str, joins: dict[str, str]) -> None:
        self._model = model
        self._roots = _known_types(model, type_name)
        self._joins = joins
        for alias in joins:
            if not _ALIAS.match(alias):
                raise UsageFault(what="alias", name=alias)
            self._behind(alias, ())

    def check(self, path: str, *, ranged: bool = False, text: bool = False) -> None:
        """Raises `UsageFault` unless the path leads to something that can be asked like this."""
        types, names = self._start(path, ())
        for name in names[:-1]:
            types = self._follow(types, name, path)
        last = names[-1] if names else ""
        if any(last in self._model.types[name].references for name in types) and not (ranged or text):
            return
        fields = [self._model.types[name].fields[last] for name in types if last in self._model.types[name].fields]
        if not any(field.queryable for field in fields):
            raise UsageFault(what="path", path=path)
        if ranged and not any(field.kind in _RANGED or last == "id" for field in fields):
            raise UsageFault(what="range", path=path)
        if text and not any(field.kind in ("string", "number") for field in fields):
            raise UsageFault(what="pattern", path=path)

    def check_sortable(self, name: str) -> None:
        """Raises `UsageFault` unless objects can be sorted by this field."""
        fields = [self._model.types[type_name].fields.get(name) for type_name in self._roots]
        if not any(field is not None and field.sortable for field in fields):
            raise UsageFault(what="order", name=name)

    def _start(self, path: str, seen_aliases: tuple[str, ...]) -> tuple[tuple[str, ...], list[str]]:
        """The types a path starts from, and the names that remain to be followed."""
        first, *remaining = path.split(".")
        return (
            (self._behind(first, seen_aliases), remaining)
            if first.startswith("#")
            else (self._roots, [first, *remaining])
        )

    def _behind(self, alias: str, seen_aliases: tuple[str, ...]) -> tuple[str, ...]:
        """The types an alias stands for; it names one reference, of the type asked for or of another alias."""
        if alias not in self._joins or alias in seen_aliases:
            raise UsageFault(what="alias", name=alias)
        types, names = self._start(self._joins[alias], (*seen_aliases, alias))
        if len(names) != 1:
            raise UsageFault(what="alias", name=alias)
        return self._follow(types, names[0], self._joins[alias])

    def _follow(self, types: tuple[str, ...], name: str, path: str) -> tuple[str, ...]:
        targets: dict[str, None] = {}
        for type_name in types:
            reference = self._model.types[type_name].references.get(name)
            for target in reference.targets if reference else ():
                targets |= dict.fromkeys(self._model.concrete(target))
        if not targets:
            raise UsageFault(what="path", path=path)
        return tuple(targets)


def _known_types(model: Metamodel, name: str) -> tuple[str, ...]:
    types = model.concrete(name)
    if not types:
        raise UsageFault(what="type", name=name)
    return types


def _text(condition: Condition, scope: _Scope, parameters: dict[str, Parameter], *, outermost: bool = False) -> str:
    if len(parameters) > MAX_CONDITIONS:
        raise UsageFault(what="conditions", limit=MAX_CONDITIONS)
    if isinstance(condition, Comparison):
        scope.check(condition.path, text=condition.operator == "%=")
        return f"{condition.path} {condition.operator} {_parameter(condition.value, parameters)}"
    if isinstance(condition, ValueRange):
        return _range(condition, scope, parameters)
    if not condition.members and not outermost:
        raise UsageFault(what="empty-choice")  # left out inside a choice it would mean the opposite
    texts = [_text(member, scope, parameters) for member in condition.members]
    joined_text = f" {condition.operator} ".join(texts)
    return joined_text if outermost or len(texts) < 2 else f"({joined_text})"


def _range(condition: ValueRange, scope: _Scope, parameters: dict[str, Parameter]) -> str:
    scope.check(condition.path, ranged=True)
    if (condition.low is None and condition.high is None) or OPEN in (condition.low, condition.high):
        raise UsageFault(what="range", path=condition.path)
    low = _parameter(OPEN if condition.low is None else condition.low, parameters)
    high = _parameter(OPEN if condition.high is None else condition.high, parameters)
    open_bracket, close_bracket = "[" if condition.low_included else "{", "]" if condition.high_included else "}"
    return f"{condition.path} = {open_bracket}{low}:{high}{close_bracket}"


def _parameter(value: Parameter, parameters: dict[str, Parameter]) -> str:
    name = f"@p{len(parameters) + 1}"
    parameters[name] = value
    return name
