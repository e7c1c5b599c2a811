"""A parser of the CRM's query language: select, where (criteria joined pairwise in brackets), order, limit.

select id, Deal_Name from Deals where (Modified_Time >= '…' and id > 1) order by Modified_Time asc, id asc limit 200
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

Test = Callable[[Mapping[str, object]], bool]
Comparable = tuple[int, Any]  # of one kind where the first number is the same
_WORD = re.compile(
    r"\s*(?:('(?:[^']|'')*')|(-?\d+(?:\.\d+)?)(?![\w-])|([A-Za-z_][\w.$]*)|(>=|<=|!=|=|<|>|\(|\)|,))", re.ASCII
)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$")
_MOST_CRITERIA = 25
_MOST_ROWS = 2_000
_DEEPEST = 100_000


class InvalidQuery(Exception):
    """An invalid query, with its error code."""


@dataclass(frozen=True, slots=True)
class Select:
    """A parsed query."""

    fields: tuple[str, ...]
    module: str
    test: Test
    order: tuple[tuple[str, bool], ...]
    offset: int
    limit: int


class _TokenReader:
    def __init__(self, text: str) -> None:
        self.words: list[str] = []
        place = 0
        text = text.strip()
        while place < len(text):
            match = _WORD.match(text, place)
            if match is None:
                raise InvalidQuery("SYNTAX_ERROR")
            self.words.append(next(group for group in match.groups() if group is not None))
            place = match.end()
        self.place = 0
        self.criteria = 0

    def peek(self) -> str:
        return self.words[self.place].casefold() if self.place < len(self.words) else ""

    def take(self, *expected: str) -> str:
        if self.place >= len(self.words) or (expected and self.peek() not in expected):
            raise InvalidQuery("SYNTAX_ERROR")
        self.place += 1
        return self.words[self.place - 1]

    def accept(self, word: str) -> bool:
        if self.peek() != word:
            return False
        self.place += 1
        return True


def read(text: str) -> Select:
    """Parses a query. Raises `InvalidQuery`."""
    words = _TokenReader(text)
    words.take("select")
    fields = [words.take()]
    while words.accept(","):
        fields.append(words.take())
    words.take("from")
    module = words.take()
    test: Test = _criterion(words) if words.accept("where") else (lambda record: True)
    if words.peek() in ("and", "or"):
        raise InvalidQuery("SYNTAX_ERROR")  # more than one criterion needs brackets
    if words.criteria > _MOST_CRITERIA:
        raise InvalidQuery("LIMIT_EXCEEDED")
    order = _order(words)
    limit, offset = 200, 0
    if words.accept("limit"):
        limit = int(words.take())
        if words.accept(","):
            offset, limit = limit, int(words.take())
    if words.accept("offset"):
        offset = int(words.take())
    if words.place != len(words.words):
        raise InvalidQuery("SYNTAX_ERROR")
    if limit > _MOST_ROWS or limit < 1 or offset > _DEEPEST:
        raise InvalidQuery("LIMIT_EXCEEDED")
    return Select(tuple(fields), module, test, order, offset, limit)


def sort_key(order: tuple[tuple[str, bool], ...]) -> list[tuple[Callable[[Mapping[str, object]], Comparable], bool]]:
    """Builds sort keys, last first, each with its direction."""
    return [(_compare_by(name), down) for name, down in reversed(order)]


def _compare_by(name: str) -> Callable[[Mapping[str, object]], Comparable]:
    return lambda record: comparable(record.get(name))


def comparable(value: object) -> Comparable:
    """Converts a value so that it can be compared with any other."""
    if isinstance(value, Mapping):
        value = value.get("id")
    if value is None:
        return 0, ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return 1, value
    text = str(value)
    if text.isdigit():
        return 1, int(text)
    return (3, datetime.fromisoformat(text).timestamp()) if _TIME.match(text) else (2, text)


def _order(words: _TokenReader) -> tuple[tuple[str, bool], ...]:
    order: list[tuple[str, bool]] = []
    if words.accept("order"):
        words.take("by")
        while True:
            name = words.take()
            order.append((name, words.accept("desc")))
            words.accept("asc")
            if not words.accept(","):
                break
    return tuple(order)


def _criterion(words: _TokenReader) -> Test:
    """Parses one criterion, or two of them joined in brackets."""
    if not words.accept("("):
        return _comparison(words)
    first = _criterion(words)
    if words.accept(")"):
        return first
    joint = words.take("and", "or").casefold()
    right = _criterion(words)
    words.take(")")
    if joint == "and":
        return lambda record: first(record) and right(record)
    return lambda record: first(record) or right(record)


def _comparison(words: _TokenReader) -> Test:
    words.criteria += 1
    name = words.take()
    sign = words.take("=", "!=", "<", "<=", ">", ">=", "in", "is", "like").casefold()
    if sign == "is":
        is_negated = words.accept("not")
        words.take("null")
        return lambda record: (record.get(name) is None) != is_negated
    if sign == "in":
        words.take("(")
        values = [_value(words.take())]
        while words.accept(","):
            values.append(_value(words.take()))
        words.take(")")
        if len(values) > 100:
            raise InvalidQuery("LIMIT_EXCEEDED")
        return lambda record: any(comparable(record.get(name)) == comparable(value) for value in values)
    value = _value(words.take())
    if sign == "like":
        pattern = re.compile(re.escape(str(value)).replace("%", ".*"), re.IGNORECASE | re.DOTALL)
        return lambda record: pattern.fullmatch(str(record.get(name) or "")) is not None
    return lambda record: _compare(comparable(record.get(name)), sign, comparable(value))


def _compare(actual: Comparable, sign: str, right: Comparable) -> bool:
    if sign in ("=", "!="):
        return (actual == right) == (sign == "=")
    if actual[0] != right[0] or actual[0] == 0:
        return False
    return {
        "<": actual < right,
        "<=": actual <= right,
        ">": actual > right,
        ">=": actual >= right,
    }[sign]


def _value(word: str) -> object:
    if word.startswith("'"):
        return word[1:-1].replace("''", "'")
    return float(word) if "." in word else int(word) if word.lstrip("-").isdigit() else word
