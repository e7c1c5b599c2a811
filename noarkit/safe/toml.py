"""The one door for TOML that others write: bounded in size and depth before it is parsed, with the line of each key.

The parser of the standard library takes minutes over a key of a hundred thousand dots, and gigabytes over quoted ones;
so `load_toml` first walks over the text once and counts how deep it goes.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noarkit.errors import ConfigFault

MAX_BYTES = 2_000_000
MAX_DEPTH = 50

_HEADER = re.compile(r"\s*\[\[?([^\]]+)\]")
_KEY = re.compile(r"\s*((?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*'))*)\s*=")
_PART = re.compile(r"[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*'")
_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
# texts and comments first, so that nothing within them counts
_TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+"{0,5}|\'\'\'(?:[^\']|\'(?!\'\'))*+\'{0,5}'
    r'|"(?:[^"\\\n]|\\.)*+"?|\'[^\'\n]*+\'?|\#[^\n]*+|[\[\]{}.=,\n]',
    re.DOTALL,
)


class BadToml(ValueError):
    """A text that cannot be used as TOML. `why` is "not-toml", "too-large" or "depth"; `detail` may quote the text."""

    def __init__(self, why: str, line: int | None = None, column: int = 1, detail: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.line = line
        self.column = column
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Document:
    """A TOML file: what it says, and where."""

    path: Path
    data: Mapping[str, object]
    lines: Mapping[str, int]

    def where(self, key: str) -> str:
        """`file:line` of a dotted key, or of the nearest table above it."""
        while key and key not in self.lines:
            key = key.rpartition(".")[0]
        return f"{self.path}:{self.lines[key]}" if key else str(self.path)

    def dotted_keys(self) -> Iterator[str]:
        """Every dotted key, tables before what they hold; the tables of a list share one key."""
        yield from _keys(self.data, "")


def load_toml(text: str) -> dict[str, Any]:  # Any: the values of TOML are of many types, as tomllib has them
    """Parses TOML. Raises `BadToml` if it is invalid, too large or nested too deep."""
    if len(text) > MAX_BYTES:
        raise BadToml("too-large")
    _refuse_depth(text)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = _PLACE.search(str(error))
        line, column = (int(match[1]), int(match[2])) if match and match[1] else (None, 1)
        raise BadToml("not-toml", line, column, _PLACE.sub("", str(error))) from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits is refused by Python itself
        raise BadToml("not-toml", detail=type(error).__name__) from error


def read_text(path: Path) -> str:
    """The text of a file of TOML. Raises `ConfigFault` where it is too large, no UTF-8, or cannot be read."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        text = content.decode("utf-8-sig")
    except FileNotFoundError as error:
        raise ConfigFault(where=str(path), why="not-there") from error
    except OSError as error:
        raise ConfigFault(where=str(path), why="unreadable") from error
    except UnicodeDecodeError as error:
        raise ConfigFault(where=str(path), why="too-large" if len(content) > MAX_BYTES else "not-utf-8") from error
    if len(content) > MAX_BYTES:
        raise ConfigFault(where=str(path), why="too-large")
    return text


def read_toml(path: Path) -> Document:
    """Reads a file; `ConfigFault` with its line where it is no TOML, too large, too deep, or cannot be read."""
    return parse_toml(read_text(path), path)


def parse_toml(text: str, path: Path) -> Document:
    """Reads text that came from `path`."""
    try:
        data = load_toml(text)
    except BadToml as error:
        where = f"{path}:{error.line}" if error.line else str(path)
        raise ConfigFault(where=where, why=error.why) from error
    return Document(path, data, key_lines(text))


def key_lines(text: str) -> dict[str, int]:
    """The first line of each dotted key and table. A line inside a text of several lines may pass for a key of its own,
    which harms nobody: only keys that the document has are ever asked for."""
    lines: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = _dotted(header.group(1))
            lines.setdefault(table, number)
        elif key := _KEY.match(line):
            lines.setdefault(f"{table}.{_dotted(key.group(1))}".lstrip("."), number)
    return lines


def _refuse_depth(text: str) -> None:
    """Raises `BadToml` where a key has too many parts, or brackets stand in brackets too deep."""
    line, brackets, dots = 1, 0, 0
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if sign == ".":
            dots += 1
        elif sign in ("[", "{"):
            brackets, dots = brackets + 1, 0
        elif sign in ("]", "}"):
            brackets, dots = max(0, brackets - 1), 0
        elif sign in ("=", ",", "\n"):
            dots = 0
        if brackets + dots >= MAX_DEPTH:
            raise BadToml("depth", line)
        line += sign.count("\n")


def _dotted(name: str) -> str:
    return ".".join(part.strip("\"'") for part in _PART.findall(name))


def _keys(table: Mapping[str, object], above: str) -> Iterator[str]:
    for name, value in table.items():
        key = f"{above}.{name}".lstrip(".")
        yield key
        if isinstance(value, Mapping):
            yield from _keys(value, key)
        elif isinstance(value, list):
            for entry in value:
                if isinstance(entry, Mapping):
                    yield from _keys(entry, key)
