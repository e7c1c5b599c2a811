"""Parses the query language: text to tokens to a tree of conditions.

    query = and {"||" and}      and = unit {"&&" unit}      unit = "(" query ")" | comparison
    comparison = path ("=" | "!=" | "%=") param | path "=" ("[" | "{") param ":" param ("]" | "}")
    path = [#alias "."] name {"." name}

The parser does not recurse, so that deeply nested parentheses cannot exhaust the stack; after needless parentheses are
dropped, a query may be nested `MAX_NESTING` deep. Any faulty text raises a Refusal that names the position.

    a = @x && (b.c != @y || d = [@lo:@hi])
    ->  Group("&&", (Compare(a, "=", @x), Group("||", (Compare(b.c, "!=", @y), Between(d, @lo, @hi, True, True)))))
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from noarkit.server.wire import Refusal

MAX_NESTING = 12
MAX_COMPARISONS = 5_000
MAX_LENGTH = 500_000
_MAX_OPEN = 1_000

Operator = Literal["=", "!=", "%="]

_TOKEN = re.compile(
    r"(?P<space>[ \t\r\n]+)|(?P<param>@[^\W_]+)|(?P<alias>#[^\W_]+)|(?P<name>[A-Za-z][A-Za-z0-9]*)"
    r"|(?P<sign>\|\||&&|!=|%=|[=().:{}\[\]])"
)


@dataclass(frozen=True, slots=True)
class Path:
    """A chain of names, begun at an alias or at the object asked for."""

    names: tuple[str, ...]
    alias: str = ""

    def __str__(self) -> str:
        return ".".join((self.alias, *self.names) if self.alias else self.names)


@dataclass(frozen=True, slots=True)
class Compare:
    """`path operator param`."""

    path: Path
    operator: Operator
    param: str


@dataclass(frozen=True, slots=True)
class Between:
    """`path = [low:high]`; an end is inside where its bracket is square."""

    path: Path
    low: str
    high: str
    low_inside: bool
    high_inside: bool


@dataclass(frozen=True, slots=True)
class Group:
    """Several conditions of which all ("&&") or any ("||") must hold; never a group of the same kind inside."""

    kind: Literal["&&", "||"]
    parts: tuple[Node, ...]


Node = Compare | Between | Group


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    place: int


def parse(text: str) -> Node | None:
    """The tree of a query; None if the text is blank, which asks for everything."""
    if len(text) > MAX_LENGTH:
        raise Refusal(400, f"The query is longer than {MAX_LENGTH} characters.")
    tokens = list(_tokens(text))
    if len(tokens) == 1:
        return None
    return _Reader(tokens).read()


def parse_path(text: str) -> Path:
    """A path standing alone, as the value of a join is."""
    reader = _Reader(list(_tokens(text)))
    path = reader.path()
    reader.expect("end", "", "the end")
    return path


def _tokens(text: str) -> Iterator[_Token]:
    place = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise Refusal(400, f"The query cannot be read at position {place + 1}: {text[place]!r} is no part of it.")
        kind = str(match.lastgroup)
        if kind != "space":
            yield _Token(match.group() if kind == "sign" else kind, match.group(), place)
        place = match.end()
    yield _Token("end", "", place)


@dataclass(slots=True)
class _Level:
    """One open pair of parentheses: the alternatives of `||` so far, each a list of conditions joined by `&&`."""

    alternatives: list[list[Node]]

    def close(self) -> Node:
        return _group("||", [_group("&&", parts) for parts in self.alternatives])


class _Reader:
    """Parses the tokens in one pass, with an explicit stack of open parentheses."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._next = 0
        self._comparisons = 0

    def read(self) -> Node:
        levels = [_Level([[]])]
        while True:
            while self._accept("("):
                levels.append(_Level([[]]))
                if len(levels) > _MAX_OPEN:
                    raise Refusal(400, f"The query opens more than {_MAX_OPEN} parentheses at once.")
            levels[-1].alternatives[-1].append(self._comparison())
            while self._accept(")"):
                if len(levels) == 1:
                    raise self._unexpected("an opening parenthesis before it", self._tokens[self._next - 1])
                inner = levels.pop().close()
                levels[-1].alternatives[-1].append(inner)
            if self._accept("||"):
                levels[-1].alternatives.append([])
            elif not self._accept("&&"):
                break
        if len(levels) > 1:
            raise self._unexpected('")"', self._tokens[self._next])
        self.expect("end", "", '"&&", "||" or the end')
        return _check_nesting(levels[0].close())

    def path(self) -> Path:
        alias = ""
        if self._tokens[self._next].kind == "alias":
            alias = self.expect("alias", "", "an alias")
            self.expect(".", ".", '"." after the alias')
        names = [self.expect("name", "", "a field name")]
        while self._accept("."):
            names.append(self.expect("name", "", "a field name"))
        return Path(tuple(names), alias)

    def expect(self, kind: str, text: str, expected: str) -> str:
        token = self._tokens[self._next]
        if token.kind != kind:
            raise self._unexpected(expected or text, token)
        self._next += 1
        return token.text

    def _comparison(self) -> Compare | Between:
        self._comparisons += 1
        if self._comparisons > MAX_COMPARISONS:
            raise Refusal(400, f"The query has more than {MAX_COMPARISONS} comparisons.")
        path = self.path()
        token = self._tokens[self._next]
        if token.kind not in ("=", "!=", "%="):
            raise self._unexpected('"=", "!=" or "%="', token)
        self._next += 1
        if token.kind == "=" and self._tokens[self._next].kind in ("[", "{"):
            return self._range(path)
        operator: Operator = "=" if token.kind == "=" else "!=" if token.kind == "!=" else "%="
        return Compare(path, operator, self.expect("param", "", "a parameter"))

    def _range(self, path: Path) -> Between:
        low_inside = self._tokens[self._next].kind == "["
        self._next += 1
        low = self.expect("param", "", "a parameter")
        self.expect(":", ":", '":"')
        high = self.expect("param", "", "a parameter")
        bracket = self._tokens[self._next]
        if bracket.kind not in ("]", "}"):
            raise self._unexpected('"]" or "}"', bracket)
        self._next += 1
        return Between(path, low, high, low_inside, bracket.kind == "]")

    def _accept(self, kind: str) -> bool:
        if self._tokens[self._next].kind != kind:
            return False
        self._next += 1
        return True

    @staticmethod
    def _unexpected(expected: str, token: _Token) -> Refusal:
        actual = repr(token.text) if token.text else "the end"
        return Refusal(
            400, f"The query cannot be read at position {token.place + 1}: {expected} expected, not {actual}."
        )


def _group(kind: Literal["&&", "||"], parts: list[Node]) -> Node:
    """One node of several, without a group of the same kind directly inside."""
    flat: list[Node] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, Group) and part.kind == kind else (part,))
    return flat[0] if len(flat) == 1 else Group(kind, tuple(flat))


def _check_nesting(node: Node) -> Node:
    """The node, where it is not nested deeper than allowed."""
    layer: list[Node] = [node]
    for _ in range(MAX_NESTING + 1):
        layer = [part for group in layer if isinstance(group, Group) for part in group.parts]
        if not layer:
            return node
    raise Refusal(400, f"The query is nested more than {MAX_NESTING} levels deep.")
