"""Characters that would not be seen, or that change how others are read, made visible; long lines cut, and told.

Controls stand as their pictures (␛), those that turn the direction of writing or show nothing as their code ‹U+202E›.
Marks above and below letters are kept, but no more of them on one letter than any writing has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from noarkit.reading_room.viewers.port import Line, Piece

LONGEST_LINE = 2_000
_MOST_MARKS = 8
# controls but the tab; soft hyphens and what shows nothing; bidi; tags; lone surrogates; specials; private use
_HIDDEN = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0e\ufeff\uffa0\ufff9-\ufffc\ufffe\uffff\ue000-\uf8ff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e01ef"
    "\U000f0000-\U0010ffff]+"
)
_HIDDEN_BUT_BREAKS = re.compile(_HIDDEN.pattern.replace("\x0a-", "\x0b-", 1))
_MARKS = re.compile(
    "([\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u064b-\u065f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f])"
    f"{{{_MOST_MARKS + 1},}}"
)


def line_of(text: str, longest: int = LONGEST_LINE, *, breaks: bool = False) -> Line:
    """A text as pieces on one line, cut visibly where it is longer than `longest`; `breaks` keeps ends of lines in it,
    as a cell of a table may have."""
    cut = len(text) - longest
    pieces = list(_pieces(text[:longest] if cut > 0 else text, _HIDDEN_BUT_BREAKS if breaks else _HIDDEN))
    if cut > 0:
        pieces.append(Piece(str(cut), "cut"))
    return tuple(pieces)


def lines_of(text: str, longest: int = LONGEST_LINE) -> tuple[Line, ...]:
    """A text of many lines."""
    return tuple(line_of(line, longest) for line in split_lines(text))


def split_lines(text: str) -> list[str]:
    """The lines of a text: what else Unicode takes for the end of one is a sign within it."""
    lines = re.split("\r\n|\n|\r", text)
    return lines[:-1] if lines and not lines[-1] else lines


def text_of(line: Iterable[Piece]) -> str:
    """A line as plain text."""
    return "".join(piece.text for piece in line if piece.role != "cut")


def _pieces(text: str, hidden: re.Pattern[str]) -> Iterator[Piece]:
    if text.isascii() and text.isprintable():
        if text:
            yield Piece(text)
        return
    text = _MARKS.sub(lambda match: match[0][:_MOST_MARKS] + "\ufffd", text)
    end = 0
    for match in hidden.finditer(text):
        if match.start() > end:
            yield Piece(text[end : match.start()])
        yield Piece("".join(map(sign_of, match[0])), "sign")
        end = match.end()
    if end < len(text):
        yield Piece(text[end:])


def sign_of(character: str) -> str:
    """How a character that is not shown as it is stands on a page."""
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return f"‹U+{code:04X}›"
