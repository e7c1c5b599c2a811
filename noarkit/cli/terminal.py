"""How lines look where a person reads them: broken between words at the terminal's width, verdicts in quiet colour.

A pipe or a file gets each line whole and plain, so that it can be searched and compared.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping
from typing import Literal, TextIO

Color = Literal["auto", "always", "never"]
Mood = Literal["good", "warn", "bad"]

COLORS: tuple[Color, ...] = ("auto", "always", "never")

_LEAST_WIDTH = 40
_MOST_HANGING = 30
_SIGNS: Mapping[Mood, str] = {"good": "32", "warn": "33", "bad": "31"}
# the words that stand for names in sentences about any run
_NAMES = re.compile(r"\b(?:RUN2|RUN|SOURCE)\b")
_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
# a command must be copied whole, so it stays on a line of its own however long it is
_COMMAND = re.compile(r"(?<![\w/])noarkit [a-z].*?(?=\s{2,}|$)")
_COLUMN = re.compile(r"\s*\S.*?\s{2,}(?=\S)")


def with_real_names(text: str, names: Mapping[str, str]) -> str:
    """A sentence whose commands name the run and source at hand, as far as they are known."""
    return _NAMES.sub(lambda match: shlex.quote(names[match[0]]) if match[0] in names else match[0], text)


def width_of(stream: TextIO) -> int | None:
    """The width of the terminal behind a stream; None where there is none, and nothing is to be broken."""
    try:
        if not stream.isatty():
            return None
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        return None
    return max(columns or shutil.get_terminal_size().columns, _LEAST_WIDTH)


def wants_color(color: Color, stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Whether verdicts are coloured. `auto` colours terminals, unless NO_COLOR is set or the terminal knows none."""
    if color != "auto":
        return color == "always"
    return not environment.get("NO_COLOR") and environment.get("TERM") != "dumb" and stream.isatty()


def paint(text: str, mood: Mood) -> str:
    """Text in the colour of a verdict."""
    return f"\x1b[{_SIGNS[mood]}m{text}\x1b[0m"


def wrap(text: str, width: int) -> str:
    """Text whose lines are broken between words at a width. What follows stands below the text of its own column.

    A word that is longer than a line, and a command, stay whole.

    >>> print(wrap("F310  The archive refused the chunk", 20))
    F310  The archive
          refused the
          chunk
    """
    return "\n".join(_wrap_line(line, width) for line in text.split("\n"))


def _wrap_line(line: str, width: int) -> str:
    if _length(line) <= width:
        return line
    hanging = _hanging(line)
    lines, current = [], ""
    for gap, word in _words(line):
        if current.strip() and _length(current) + len(gap) + _length(word) > width:
            lines.append(current.rstrip())
            current = " " * hanging + word
        else:
            current += gap + word
    return "\n".join([*lines, current])


def _words(line: str) -> list[tuple[str, str]]:
    """The words of a line, each with the space before it; a command is one word."""
    words, place = [], 0
    commands = [match.span() for match in _COMMAND.finditer(line)]
    for match in re.finditer(r"[ \t]*[^ \t]+", line):
        if match.start() < place:
            continue
        gap = len(match[0]) - len(match[0].lstrip(" \t"))
        start, end = match.start() + gap, match.end()
        end = next((stop for begin, stop in commands if begin == start), end)
        words.append((line[match.start() : start], line[start:end]))
        place = end
    return words


def _hanging(line: str) -> int:
    """Where what is broken off goes on: below the text of the last narrow column, else below the first word."""
    match = _COLUMN.match(line)
    if match is not None and _length(match[0]) <= _MOST_HANGING:
        return _length(match[0])
    return len(line) - len(line.lstrip(" "))


def _length(text: str) -> int:
    return len(_ESCAPE.sub("", text))
