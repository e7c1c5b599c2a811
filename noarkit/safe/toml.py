"""The one door for TOML that people write: read whole, with a size limit, and with the line each key stands on."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from noarkit.errors import ConfigFault

MAX_BYTES = 16 * 1024 * 1024

_HEADER = re.compile(r"\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"\s*((?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*'))*)\s*=")
_PART = re.compile(r"[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*'")
_BAD_LINE = re.compile(r"\(at line (\d+)")


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


def read_toml(path: Path) -> Document:
    """Reads a file; `ConfigFault` with its line where it is no TOML, too large, or cannot be read."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        text = content.decode("utf-8-sig")
    except FileNotFoundError as error:
        raise ConfigFault(where=str(path), why="not-there") from error
    except OSError as error:
        raise ConfigFault(where=str(path), why="unreadable") from error
    except UnicodeDecodeError as error:
        raise ConfigFault(where=str(path), why="not-utf-8") from error
    if len(content) > MAX_BYTES:
        raise ConfigFault(where=str(path), why="too-large")
    return parse_toml(text, path)


def parse_toml(text: str, path: Path) -> Document:
    """Reads text that came from `path`."""
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found = _BAD_LINE.search(str(error))
        where = f"{path}:{found.group(1)}" if found else str(path)
        raise ConfigFault(where=where, why="not-toml") from error
    return Document(path, data, key_lines(text))


def key_lines(text: str) -> dict[str, int]:
    """The first line of each dotted key and table. A line inside a text of several lines may pass for a key of its own,
    which harms nobody: only keys that the document has are ever asked for."""
    lines: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = _dotted(header.group(2))
            lines.setdefault(table, number)
        elif key := _KEY.match(line):
            lines.setdefault(f"{table}.{_dotted(key.group(1))}".lstrip("."), number)
    return lines


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
