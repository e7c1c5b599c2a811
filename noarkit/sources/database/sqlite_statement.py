"""Reads what only SQLite's own `CREATE TABLE` statement says: names of keys, conditions, and how values are generated.

Nothing in a statement is run. What cannot be read leaves its part empty; the columns and keys themselves are asked of
SQLite.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"""--[^\n]*|/\*.*?(?:\*/|\Z)|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|'(?:[^']|'')*'|[\w$]+|\s+|.""", re.DOTALL
)
_OF_THE_TABLE = ("CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN")


@dataclass(slots=True)
class Statement:
    """What a statement says. `unique` and `checks` stand in its order; a name is empty if none is given."""

    primary: str = ""
    unique: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    checks: list[tuple[str, str]] = field(default_factory=list)
    generation: dict[str, str] = field(default_factory=dict)


def read_statement(sql: str) -> Statement:
    """What is said between the brackets of a `CREATE TABLE`."""
    statement = Statement()
    tokens = [token for token in _TOKEN.findall(sql) if not token.startswith(("--", "/*"))]
    if "(" not in tokens:
        return statement
    for part in _parts(_group(tokens, tokens.index("("))):
        words = [token for token in part if not token.isspace()]
        if words:
            _read_part(part, words, statement)
    return statement


def _read_part(part: Sequence[str], words: Sequence[str], statement: Statement) -> None:
    """One column with its own conditions, or a condition of the table."""
    column = "" if words[0].upper() in _OF_THE_TABLE else _name(words[0])
    constraint_name, at = "", part.index(words[0]) + (1 if column else 0)
    while at < len(part):
        word = part[at].upper()
        if word == "CONSTRAINT":
            constraint_name, at = _next_name(part, at)
            continue
        if word == "(":
            at += len(_group(part, at)) + 2
            continue
        if word in ("PRIMARY", "UNIQUE", "CHECK", "AS", "AUTOINCREMENT"):
            _read_constraint(word, (column, constraint_name), part, at, statement)
            constraint_name = ""
        at += 1


def _read_constraint(word: str, names: tuple[str, str], tokens: Sequence[str], at: int, statement: Statement) -> None:
    column, constraint_name = names
    if word == "AUTOINCREMENT":
        statement.generation[column.lower()] = word
        return
    if word == "PRIMARY":
        statement.primary = constraint_name
        return
    group = "" if word == "UNIQUE" and column else _next_group(tokens, at)
    if word == "CHECK":
        statement.checks.append((constraint_name, group.strip()))
    elif word == "AS":
        is_stored = "STORED" in (token.upper() for token in tokens[at:])
        statement.generation[column.lower()] = (
            f"GENERATED ALWAYS AS ({group.strip()}) {'STORED' if is_stored else 'VIRTUAL'}"
        )
    else:
        statement.unique.append((constraint_name, (column,) if column else tuple(_columns(group))))


def _columns(group: str) -> Iterator[str]:
    """The columns of a key; what stands behind each (its order, its collation) is left."""
    for part in _parts(_TOKEN.findall(group)):
        words = [token for token in part if not token.isspace()]
        if words:
            yield _name(words[0])


def _next_group(tokens: Sequence[str], at: int) -> str:
    """What the next brackets hold."""
    begin = next((number for number in range(at, len(tokens)) if tokens[number] == "("), None)
    return "" if begin is None else "".join(_group(tokens, begin))


def _next_name(tokens: Sequence[str], at: int) -> tuple[str, int]:
    """The name behind CONSTRAINT, and where what it names begins."""
    for number in range(at + 1, len(tokens)):
        if not tokens[number].isspace():
            return _name(tokens[number]), number + 1
    return "", len(tokens)


def _group(tokens: Sequence[str], begin: int) -> Sequence[str]:
    """What stands between a bracket and the one that closes it."""
    depth = 0
    for number in range(begin, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[number], 0)
        if depth == 0:
            return tokens[begin + 1 : number]
    return tokens[begin + 1 :]


def _parts(tokens: Sequence[str]) -> Iterator[list[str]]:
    """What stands between commas that no brackets hold."""
    part: list[str] = []
    depth = 0
    for piece in tokens:
        depth += {"(": 1, ")": -1}.get(piece, 0)
        if piece == "," and depth == 0:
            yield part
            part = []
        else:
            part.append(piece)
    yield part


def _name(token: str) -> str:
    """A name without its quotes."""
    end = {"[": "]"}.get(token[:1], token[:1])
    if token[:1] in ('"', "`", "[", "'") and token[-1:] == end and len(token) > 1:
        return token[1:-1].replace(end * 2, end) if end != "]" else token[1:-1]
    return token
