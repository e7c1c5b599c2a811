"""The query language of the CRM: one select, criteria joined in pairs, an order, a limit."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

_TOKEN = re.compile(r"\s*(?:('(?:[^']|'')*')|(<=|>=|!=|[(),=<>])|([A-Za-z_$][\w.$]*)|(-?\d[\w:.+-]*))")
_COMPARE: Mapping[str, Callable[[object, object], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": lambda a, b: a is not None and a < b,  # type: ignore[operator]  # both are moments, numbers or texts
    "<=": lambda a, b: a is not None and a <= b,  # type: ignore[operator]  # as above
    ">": lambda a, b: a is not None and a > b,  # type: ignore[operator]  # as above
    ">=": lambda a, b: a is not None and a >= b,  # type: ignore[operator]  # as above
}
_MOST_CRITERIA, _MOST_IN, _MOST_FIELDS, _MOST_ROWS, _DEEPEST = 25, 100, 500, 2000, 100_000

Test = Callable[[Mapping[str, object]], bool]


class BadQuery(Exception):
    """The query is not of the language: the code and what is wrong."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class Query:
    """A query that was read."""

    fields: tuple[str, ...]
    module: str
    test: Test
    order: tuple[tuple[str, bool], ...]
    limit: int
    offset: int


def read_query(text: str) -> Query:
    """Reads a query. Raises `BadQuery`."""
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self._tokens = list(_split(text))
        self._at = 0
        self._criteria = 0
        self._names: set[str] = set()

    def read(self) -> Query:
        self._expect("select")
        fields = [self._name()]
        while self._take(","):
            fields.append(self._name())
        self._expect("from")
        module = self._name()
        if not self._take("where"):
            raise BadQuery("SYNTAX_ERROR", "where is required")
        test = self._pair()
        order = self._order() if self._take("order") else ()
        offset, limit = 0, 200
        if self._take("limit"):
            limit = self._number()
            if self._take(","):
                offset, limit = limit, self._number()
            elif self._take("offset"):
                offset = self._number()
        if self._at != len(self._tokens):
            raise BadQuery("SYNTAX_ERROR", f"near {self._tokens[self._at]}")
        self._check(fields, limit, offset)
        return Query(tuple(fields), module, test, order, limit, offset)

    def _check(self, fields: list[str], limit: int, offset: int) -> None:
        if limit > _MOST_ROWS or limit < 1 or offset > _DEEPEST:
            raise BadQuery("LIMIT_EXCEEDED", "limit")
        if len(fields) > _MOST_FIELDS or self._criteria > _MOST_CRITERIA:
            raise BadQuery("LIMIT_EXCEEDED", "fields or criteria")

    def _order(self) -> tuple[tuple[str, bool], ...]:
        self._expect("by")
        keys = [self._order_key()]
        while self._take(","):
            keys.append(self._order_key())
        return tuple(keys)

    def _order_key(self) -> tuple[str, bool]:
        name = self._name()
        if self._take("desc"):
            return name, True
        self._take("asc")
        return name, False

    def _pair(self) -> Test:
        """One criterion, or two that are joined: more than two need brackets."""
        left = self._criterion()
        for word, both in (("and", True), ("or", False)):
            if self._take(word):
                right = self._criterion()
                if self._peek() in ("and", "or"):
                    raise BadQuery("SYNTAX_ERROR", "criteria are joined in pairs, with brackets")
                return lambda row: (left(row) and right(row)) if both else (left(row) or right(row))
        return left

    def _criterion(self) -> Test:
        if self._take("("):
            test = self._pair()
            self._expect(")")
            return test
        self._criteria += 1
        name = self._name()
        self._names.add(name)
        word = self._next().lower()
        if word == "is":
            wants_null = not self._take("not")
            self._expect("null")
            return lambda row: (row.get(name) in (None, "")) == wants_null
        if word == "in" or (word == "not" and self._take("in")):
            values, wants = self._values(), word == "in"
            return lambda row: (row.get(name) in values) == wants
        if word == "between":
            low = self._value()
            self._expect("and")
            high = self._value()
            return lambda row: _COMPARE[">="](row.get(name), low) and _COMPARE["<="](row.get(name), high)
        if word not in _COMPARE:
            raise BadQuery("SYNTAX_ERROR", f"near {word}")
        value = self._value()
        return lambda row: _COMPARE[word](row.get(name), value)

    def _values(self) -> list[object]:
        self._expect("(")
        values = [self._value()]
        while self._take(","):
            values.append(self._value())
        self._expect(")")
        if len(values) > _MOST_IN:
            raise BadQuery("LIMIT_EXCEEDED", "values of in")
        return values

    def _value(self) -> object:
        token = self._next()
        if token.startswith("'"):
            return _moment(token[1:-1].replace("''", "'"))
        if token in ("true", "false"):
            return token == "true"
        if re.fullmatch(r"-?\d+(\.\d+)?", token):
            return token  # ids are texts here
        return _moment(token)

    def _peek(self) -> str:
        return self._tokens[self._at].lower() if self._at < len(self._tokens) else ""

    def _next(self) -> str:
        if self._at >= len(self._tokens):
            raise BadQuery("SYNTAX_ERROR", "the query ends early")
        self._at += 1
        return self._tokens[self._at - 1]

    def _take(self, word: str) -> bool:
        if self._peek() != word:
            return False
        self._at += 1
        return True

    def _expect(self, word: str) -> None:
        if not self._take(word):
            raise BadQuery("SYNTAX_ERROR", f"{word} is missing near {self._peek()}")

    def _name(self) -> str:
        token = self._next()
        if not re.fullmatch(r"[A-Za-z$_][\w.$]*", token):
            raise BadQuery("SYNTAX_ERROR", f"near {token}")
        return token

    def _number(self) -> int:
        token = self._next()
        if not token.isdigit():
            raise BadQuery("SYNTAX_ERROR", f"near {token}")
        return int(token)


def _split(text: str) -> Iterator[str]:
    at = 0
    text = text.strip()
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise BadQuery("SYNTAX_ERROR", f"near {text[at : at + 20]}")
        at = found.end()
        yield next(each for each in found.groups() if each is not None)


def _moment(text: str) -> object:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    if moment.tzinfo is None and "T" in text:
        raise BadQuery("INVALID_QUERY", f"a time has an offset: {text}")
    return moment if "T" in text else text
