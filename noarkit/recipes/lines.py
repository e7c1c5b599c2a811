"""Tells where in a TOML text every key and array item stands, which the standard reader does not; and renames keys.

The text must already have been read by `load_toml`: this only walks it, and judges nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from noarkit.safe.toml import load_toml

Path = tuple[str | int, ...]
_BLANK = " \t"
_SPACE = " \t\r\n"
_END_OF_BARE = "=.]# \t\r\n"
_END_OF_SCALAR = ",]}#\r\n"


def lines_of(text: str) -> Mapping[Path, int]:
    """The line (from 1) of every table, key and item of `text`, by path; items of arrays are numbered in it."""
    walk = _LineScanner(text)
    walk.document()
    return walk.lines


def with_names(text: str, renames: Mapping[Path, str]) -> str:
    """The same text with other names for some keys, by their paths; every line stays where it is."""
    if not renames:
        return text
    walk = _LineScanner(text)
    walk.document()
    for path, (start, end) in sorted(walk.spans.items(), key=lambda item: item[1], reverse=True):
        if path in renames:
            text = text[:start] + renames[path] + text[end:]
    return text


def nearest_line(lines: Mapping[Path, int], path: Path) -> int:
    """The line of `path`, or of the nearest thing around it that is written; 1 where nothing is."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)


@dataclass(slots=True)
class _LineScanner:
    text: str
    at: int = 0
    line: int = 1
    lines: dict[Path, int] = field(default_factory=dict)
    counts: dict[Path, int] = field(default_factory=dict)
    spans: dict[Path, tuple[int, int]] = field(default_factory=dict)  # of the last name of each key
    span: tuple[int, int] = (0, 0)

    def document(self) -> None:
        table: Path = ()
        while self._blank_lines():
            line = self.line
            if self._sign() == "[":
                table = self._header()
            else:
                path = self._key_path(table)
                self._skip("=")
                self._value(path)
                self.lines.setdefault(path, line)
                continue
            self.lines[table] = line

    def _header(self) -> Path:
        repeated = self.text.startswith("[[", self.at)
        self.at += 2 if repeated else 1
        names = self._dotted()
        self.at += 2 if repeated else 1
        path = self._inside((), names[:-1])
        path = (*path, names[-1])
        if not repeated:
            return self._last(path)
        self.lines.setdefault(path, self.line)
        self.counts[path] = self.counts.get(path, -1) + 1
        return (*path, self.counts[path])

    def _key_path(self, table: Path) -> Path:
        names = self._dotted()
        path = (*self._inside(table, names[:-1]), names[-1])
        for depth in range(len(table) + 1, len(path)):
            self.lines.setdefault(path[:depth], self.line)
        self.spans[path] = self.span
        return path

    def _inside(self, path: Path, names: list[str]) -> Path:
        for name in names:
            path = self._last((*path, name))
        return path

    def _last(self, path: Path) -> Path:
        return (*path, self.counts[path]) if path in self.counts else path

    def _dotted(self) -> list[str]:
        names = []
        while True:
            self._skip(_BLANK)
            start = self.at
            names.append(self._name())
            self.span = (start, self.at)
            self._skip(_BLANK)
            if self._sign() != ".":
                return names
            self.at += 1

    def _name(self) -> str:
        start = self.at
        if self._sign() in ('"', "'"):
            self._string()
            key = next(iter(load_toml(self.text[start : self.at] + " = 0")))
            return key
        while self.at < len(self.text) and self.text[self.at] not in _END_OF_BARE:
            self.at += 1
        return self.text[start : self.at]

    def _value(self, path: Path) -> None:
        self._skip(_BLANK)
        self.lines.setdefault(path, self.line)
        sign = self._sign()
        if sign in ('"', "'"):
            self._string()
        elif sign == "[":
            self._array(path)
        elif sign == "{":
            self._inline_table(path)
        else:
            while self.at < len(self.text) and self.text[self.at] not in _END_OF_SCALAR:
                self.at += 1

    def _array(self, path: Path) -> None:
        self.at += 1
        index = 0
        while self._blank_lines() and self._sign() != "]":
            if self._sign() == ",":
                self.at += 1
                continue
            self._value((*path, index))
            index += 1
        self.at += 1

    def _inline_table(self, path: Path) -> None:
        self.at += 1
        while self._blank_lines() and self._sign() != "}":
            if self._sign() == ",":
                self.at += 1
                continue
            inner = self._key_path(path)
            self._skip("=")
            self._value(inner)
        self.at += 1

    def _string(self) -> None:
        quote = self._sign()
        mark = quote * 3 if self.text.startswith(quote * 3, self.at) else quote
        start = self.at
        self.at += len(mark)
        while self.at < len(self.text) and not self.text.startswith(mark, self.at):
            self.at += 2 if quote == '"' and self._sign() == "\\" else 1
        self.at += len(mark)
        while len(mark) == 3 and self._sign() == quote:  # up to two quotes may stand before the closing three
            self.at += 1
        self.line += self.text.count("\n", start, self.at)

    def _blank_lines(self) -> bool:
        """Passes white space and comments; False at the end of the text."""
        while self.at < len(self.text):
            if self.text[self.at] == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif self.text[self.at] in _SPACE:
                self._skip(_SPACE)
            else:
                return True
        return False

    def _skip(self, signs: str) -> None:
        while self.at < len(self.text) and self.text[self.at] in signs:
            self.line += self.text[self.at] == "\n"
            self.at += 1

    def _sign(self) -> str:
        return self.text[self.at] if self.at < len(self.text) else ""
