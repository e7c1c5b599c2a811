"""The language of queries: parsed, checked against the published tables, and evaluated."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import NoReturn

from tests.strict_archive.store import Object, Store, as_answer
from tests.strict_archive.tables import Tables
from tests.strict_archive.values import Value, bad, parameter

MAX_LIMIT = 500
_TOKEN = re.compile(r"\s*(&&|\|\||!=|%=|=|[()\[\]{}:.]|[@#][A-Za-z0-9]+|[A-Za-z][A-Za-z0-9]*)")
_MEMBERS = {"type", "limit", "offset", "query", "parameters", "joins", "sortOrder", "publicUse"}

Row = Mapping[tuple[str, ...], Object | None]
Test = Callable[[Row], bool]


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition, and where it can be known beforehand, the ids that may meet it."""

    matches: Test
    candidates: Callable[[], set[int]] | None = None


class Parser:
    """Parses one query for one type."""

    def __init__(self, store: Store, type_name: str, text: str, body: Mapping[str, object]) -> None:
        self._store = store
        self._tables: Tables = store.tables
        self._root = self._tables.concrete(type_name)
        self._parameters = _parameters(body.get("parameters") or {})
        self._tokens = _tokens(text)
        self._position = 0
        self._aliases: dict[str, tuple[str, ...]] = {}
        self.chains: dict[tuple[str, ...], str] = {}  # what each chain is a step of, in the order of their need
        joins = body.get("joins") or {}
        if not isinstance(joins, dict):
            raise bad("The member joins is an object.")
        for alias, path in joins.items():
            self._join(alias, path)

    def parse(self) -> Condition | None:
        """The condition; None where there is none."""
        if not self._tokens:
            return None
        condition = self._or()
        if self._position < len(self._tokens):
            self._fail()
        return condition

    def types_of(self, chain: tuple[str, ...]) -> tuple[str, ...]:
        """The types at the end of a chain."""
        types = self._root
        for position in range(len(chain)):
            name = self.chains[chain[: position + 1]]
            targets = [
                target
                for owner in types
                if name in self._tables.types[owner].references
                for entry in self._tables.types[owner].references[name].targets
                for target in self._tables.concrete(entry)
            ]
            if not targets:
                raise bad(f"A reference with name {name} was not found in {' or '.join(types)} or its hierarchy.")
            types = tuple(dict.fromkeys(targets))
        return types

    def _join(self, alias: object, path: object) -> None:
        if not isinstance(alias, str) or not re.fullmatch(r"#[A-Za-z0-9]+", alias) or not isinstance(path, str):
            raise bad("An alias is # with letters and digits, for the name of a reference.")
        steps = path.split(".")
        chain: tuple[str, ...] = ()
        if steps[0].startswith("#"):
            if steps[0] not in self._aliases:
                raise bad(f"There is no alias {steps[0]}.")
            chain = self._aliases[steps[0]]
            steps = steps[1:]
        for step in steps[:-1]:
            chain = (*chain, step)
            self.chains.setdefault(chain, step)
        chain = (*chain, alias)
        self.chains[chain] = steps[-1]
        self.types_of(chain)
        self._aliases[alias] = chain

    def _or(self) -> Condition:
        parts = [self._and()]
        while self._next_is("||"):
            parts.append(self._and())
        if len(parts) == 1:
            return parts[0]
        known = [part.candidates for part in parts if part.candidates is not None]
        candidates = (lambda: set().union(*(each() for each in known))) if len(known) == len(parts) else None
        return Condition(lambda row: any(part.matches(row) for part in parts), candidates)

    def _and(self) -> Condition:
        parts = [self._unit()]
        while self._next_is("&&"):
            parts.append(self._unit())
        known = next((part.candidates for part in parts if part.candidates is not None), None)
        return parts[0] if len(parts) == 1 else Condition(lambda row: all(part.matches(row) for part in parts), known)

    def _unit(self) -> Condition:
        if self._next_is("("):
            inner = self._or()
            self._expect(")")
            return inner
        return self._comparison()

    def _comparison(self) -> Condition:
        names = [self._take()]
        while self._next_is("."):
            names.append(self._take())
        if names[0].startswith("#"):
            if names[0] not in self._aliases:
                raise bad(f"There is no alias {names[0]}.")
            chain: tuple[str, ...] = self._aliases[names[0]]
            names = names[1:]
        else:
            chain = ()
        for name in names[:-1]:
            chain = (*chain, name)
            self.chains.setdefault(chain, name)
        if not names:
            self._fail()
        return self._compare(chain, names[-1], self.types_of(chain))

    def _compare(self, chain: tuple[str, ...], name: str, types: tuple[str, ...]) -> Condition:
        kind = self._kind(name, types)
        operator = self._take()
        if operator == "=" and self._peek() in ("[", "{"):
            return Condition(_between(chain, name, *self._range(kind)))
        if operator not in ("=", "!=", "%="):
            self._fail()
        value = parameter(self._parameter(), "id" if kind == "ref" else kind)
        if operator == "%=":
            if kind not in ("string", "number") or value is None:
                raise bad(f"The field {name} cannot be compared with %=.")
            pattern = re.compile(".*".join(map(re.escape, str(value).split("%"))), re.DOTALL)
            return Condition(lambda row: _like(row[chain], name, pattern))
        matches = _leads_to(chain, name, value) if kind == "ref" else _equals(chain, name, value)
        if operator == "!=":
            is_set = _is_set(chain, name, kind)
            return Condition(is_set if value is None else lambda row: is_set(row) and not matches(row))
        return Condition(matches, self._candidates(chain, name, kind, value, types))

    def _candidates(
        self, chain: tuple[str, ...], name: str, kind: str, value: Value, types: tuple[str, ...]
    ) -> Callable[[], set[int]] | None:
        if kind == "ref" or value is None or isinstance(value, datetime | bool):
            return None

        def ids() -> set[int]:
            at = {value} if kind == "id" and isinstance(value, int) else set()
            for type_name in types if kind != "id" else ():
                at |= set(self._store.with_value(type_name, name, value))
            for length in range(len(chain), 0, -1):
                at = set(self._backwards(chain[:length], at))
            return at

        return ids

    def _backwards(self, chain: tuple[str, ...], ids: set[int]) -> Iterator[int]:
        reference_name = self.chains[chain]
        for owner_type in self.types_of(chain[:-1]):
            reference = self._tables.types[owner_type].references.get(reference_name)
            for id in ids if reference is not None else ():
                target = self._store.objects.get(id)
                if target is not None and reference is not None:
                    yield from target.links.get(self._tables.inverse(owner_type, reference, target.type), ())

    def _kind(self, name: str, types: tuple[str, ...]) -> str:
        if name == "id":
            return "id"
        for type_name in types:
            described = self._tables.types[type_name]
            if name in described.references:
                return "ref"
            field = described.fields.get(name)
            if field is not None:
                if not field.can_query:
                    raise bad(f"The field {name} cannot be asked for.")
                return "number" if name == "version" else field.kind
        raise bad(f"A field with name {name} was not found in {' or '.join(types)} or its hierarchy.")

    def _range(self, kind: str) -> tuple[Value, Value, bool, bool]:
        if kind not in ("date", "timestamp", "number"):
            raise bad("Only dates and numbers have a range.")
        opening = self._take()
        low = self._bound(kind)
        self._expect(":")
        high = self._bound(kind)
        closing = self._take()
        if closing not in ("]", "}"):
            self._fail()
        return low, high, opening == "[", closing == "]"

    def _bound(self, kind: str) -> Value:
        value = self._parameter()
        return None if value == "*" else parameter(value, kind)

    def _parameter(self) -> object:
        name = self._take()
        if not name.startswith("@"):
            self._fail()
        if name not in self._parameters:
            raise bad(f"The parameter {name} is not given.")
        return self._parameters[name]

    def _peek(self) -> str:
        return self._tokens[self._position] if self._position < len(self._tokens) else ""

    def _take(self) -> str:
        token = self._peek()
        if not token:
            self._fail()
        self._position += 1
        return token

    def _next_is(self, token: str) -> bool:
        if self._peek() != token:
            return False
        self._position += 1
        return True

    def _expect(self, token: str) -> None:
        if self._take() != token:
            self._fail()

    def _fail(self) -> NoReturn:
        raise bad(f"The query cannot be understood near token {self._position}.")


def answer_query(store: Store, body: object, hidden: Callable[[Object], frozenset[str]]) -> dict[str, object]:
    """Answers a query. `hidden` says which fields of an object are withheld from the public."""
    if not isinstance(body, dict) or set(body) - _MEMBERS:
        raise bad("The query is no object, or has an unknown member.")
    type_name = body.get("type")
    if not isinstance(type_name, str) or not store.tables.concrete(type_name):
        raise bad(f"There is no type {type_name}.")
    limit, offset = _whole(body, "limit", None), _whole(body, "offset", 0)
    if not 0 < limit <= MAX_LIMIT or offset < 0:
        raise bad(f"The limit is between 1 and {MAX_LIMIT}, and the offset is not negative.")
    text = body.get("query") or ""
    if not isinstance(text, str):
        raise bad("The member query is a text.")
    parser = Parser(store, type_name, text, body)
    matches = _matches(store, type_name, parser, parser.parse())
    _sort(store, type_name, matches, body.get("sortOrder") or [])
    page = matches[offset : offset + limit]
    is_public = str(body.get("publicUse", True)).lower() != "false"
    results = [as_answer(store.tables, seen, hidden(seen) if is_public else frozenset()) for seen in page]
    return {"hasMore": len(matches) > offset + limit, "results": results}


def _matches(store: Store, type_name: str, parser: Parser, condition: Condition | None) -> list[Object]:
    ids = {id for name in store.tables.concrete(type_name) for id in store.ids_of[name]}
    if condition is not None and condition.candidates is not None:
        ids &= condition.candidates()
    everything = [store.objects[id] for id in ids]
    if condition is None:
        return everything
    chains = sorted(parser.chains, key=len)
    return [seen for seen in everything if any(map(condition.matches, _rows(store, seen, chains, parser.chains)))]


def _rows(
    store: Store, seen: Object, chains: list[tuple[str, ...]], names: Mapping[tuple[str, ...], str]
) -> Iterator[Row]:
    """Every way of choosing one object for each chain; nothing where a chain leads nowhere."""
    row: dict[tuple[str, ...], Object | None] = {(): seen}

    def choose(position: int) -> Iterator[Row]:
        if position == len(chains):
            yield row
            return
        chain = chains[position]
        owner = row[chain[:-1]]
        ids = owner.links.get(names[chain], []) if owner is not None else []
        for id in (*ids,) or (None,):
            row[chain] = None if id is None else store.objects[id]
            yield from choose(position + 1)

    return choose(0)


def _value(seen: Object | None, name: str) -> Value:
    if seen is None:
        return None
    return {"id": seen.id, "version": seen.version}.get(name, seen.fields.get(name))


def _equals(chain: tuple[str, ...], name: str, value: Value) -> Test:
    return lambda row: _value(row[chain], name) == value


def _leads_to(chain: tuple[str, ...], name: str, value: Value) -> Test:
    def matches(row: Row) -> bool:
        seen = row[chain]
        ids = seen.links.get(name, []) if seen is not None else []
        return not ids if value is None else value in ids

    return matches


def _is_set(chain: tuple[str, ...], name: str, kind: str) -> Test:
    def matches(row: Row) -> bool:
        seen = row[chain]
        if kind == "ref":
            return seen is not None and bool(seen.links.get(name))
        return _value(seen, name) is not None

    return matches


def _like(seen: Object | None, name: str, pattern: re.Pattern[str]) -> bool:
    value = _value(seen, name)
    return value is not None and pattern.fullmatch(str(value)) is not None


def _between(
    chain: tuple[str, ...], name: str, low: Value, high: Value, with_low: bool = True, with_high: bool = True
) -> Test:
    def matches(row: Row) -> bool:
        value = _value(row[chain], name)
        if not isinstance(value, int | date):
            return False
        above = low is None or low < value or (with_low and low == value)  # type: ignore[operator]  # of one kind
        below = high is None or value < high or (with_high and high == value)  # type: ignore[operator]  # of one kind
        return bool(above and below)

    return matches


def _sort(store: Store, type_name: str, matches: list[Object], order: object) -> None:
    matches.sort(key=lambda seen: -seen.id)
    if not isinstance(order, list):
        raise bad("The member sortOrder is a list.")
    for entry in reversed(order):
        if not isinstance(entry, dict) or set(entry) != {"field", "order"} or entry["order"] not in ("asc", "desc"):
            raise bad("An entry of sortOrder has field and order, which is asc or desc.")
        name = str(entry["field"])
        fields = [store.tables.types[each].fields.get(name) for each in store.tables.concrete(type_name)]
        if not any(field is not None and field.can_sort for field in fields):
            raise bad(f"A field with name {name} cannot be sorted on in {type_name}.")
        _sort_by(matches, name, is_descending=entry["order"] == "desc")


def _sort_by(matches: list[Object], name: str, *, is_descending: bool) -> None:
    unset = [seen for seen in matches if _value(seen, name) is None]
    matches[:] = [seen for seen in matches if _value(seen, name) is not None]
    matches.sort(key=lambda seen: _value(seen, name), reverse=is_descending)  # type: ignore[arg-type,return-value]  # one kind
    matches += unset


def _tokens(text: str) -> list[str]:
    tokens, position = [], 0
    text = text.strip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise bad(f"The query cannot be understood at character {position}.")
        tokens.append(match[1])
        position = match.end()
    return tokens


def _parameters(given: object) -> Mapping[str, object]:
    if not isinstance(given, dict) or not all(re.fullmatch(r"@[A-Za-z0-9]+", str(name)) for name in given):
        raise bad("The name of a parameter is @ with letters and digits.")
    return given


def _whole(body: Mapping[str, object], name: str, default: int | None) -> int:
    value = body.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | str) or not str(value).lstrip("-").isdigit():
        raise bad(f"The member {name} is a whole number.")
    return int(value)
