"""Writes the blocks of a chapter as plain text for a terminal: no marks of Markdown, code indented, tables aligned."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from noarkit.manual.markdown import Block, Code, Heading, Inline, Items, Listing, Paragraph, Span, Table, plain_text

WIDTH = 100
_BODY, _CODE, _GAP = "  ", "      ", "  "


def terminal_text(blocks: Iterable[Block]) -> str:
    """The text of a chapter."""
    return "\n\n".join("\n".join(_lines(block)) for block in blocks)


def _lines(block: Block) -> list[str]:
    match block:
        case Heading():
            title = plain_text(block.text)
            return [title.upper()] if block.level == 1 else [title] if block.level == 2 else [_BODY + title + ":"]
        case Paragraph():
            return _wrap(_running_text(block.text), _BODY, _BODY)
        case Code():
            return [(_CODE + line).rstrip() for line in block.lines]
        case Items():
            return [line for number, item in enumerate(block.items, 1) for line in _item(block, number, item)]
        case Table():
            return _table(block)
        case Listing():
            return []


def _item(items: Items, number: int, text: Inline) -> list[str]:
    mark = f"{_BODY}{number}. " if items.numbered else f"{_BODY}- "
    return _wrap(_running_text(text), mark, " " * len(mark))


def _running_text(text: Inline) -> str:
    """Running text: code of several words stands in quotes there, or nobody could see where it ends."""
    return "".join(f"'{span.text}'" if span.kind == "code" and " " in span.text else _span(span) for span in text)


def _inline_text(text: Inline) -> str:
    return "".join(_span(span) for span in text)


def _span(span: Span) -> str:
    if span.kind != "link":
        return span.text
    page = span.target.partition("#")[0]
    if page.endswith(".md"):
        return f"{span.text} (noarkit help {page.removesuffix('.md')})"
    return span.text if span.target.startswith("#") else f"{span.text} ({span.target})"


def _wrap(text: str, first_indent: str, next_indent: str, width: int = WIDTH, *, at_hyphens: bool = False) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=first_indent,
        subsequent_indent=next_indent,
        break_long_words=False,
        break_on_hyphens=at_hyphens,
    ) or [first_indent.rstrip()]


def _cell(text: str, width: int) -> list[str]:
    """The lines of a cell. A word that is too long for its column is broken at a hyphen; an option never is."""
    too_long = any(len(word) > width for word in text.split())
    return _wrap(text, "", "", width, at_hyphens=too_long and "--" not in text)


def _table(table: Table) -> list[str]:
    rows = [[_inline_text(cell) for cell in row] for row in ([table.head] if table.head else []) + list(table.rows)]
    widths = _widths(rows)
    lines = [line for row in rows for line in _row(row, widths)]
    if table.head:
        head = len(_row(rows[0], widths))
        lines.insert(head, (_BODY + _GAP.join("-" * width for width in widths)).rstrip())
    return lines


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """The width of each column: as wide as its text, and the widest narrower until all of them fit; narrower than its
    longest word only where nothing else helps."""
    columns = list(zip(*rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    words = [max((len(word) for cell in column for word in cell.split()), default=0) for column in columns]
    while sum(widths) + len(_GAP) * (len(widths) - 1) + len(_BODY) > WIDTH:
        slack = [width for width, word in zip(widths, words, strict=True) if width > word] or widths
        column = next(
            n for n, width in enumerate(widths) if width == max(slack) and (width > words[n] or slack is widths)
        )
        widths[column] -= 1
    return widths


def _row(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    cell_lines = [_cell(cell, width) for cell, width in zip(cells, widths, strict=True)]
    height = max(map(len, cell_lines))
    lines = []
    for at in range(height):
        parts = [
            (cell[at] if at < len(cell) else "").ljust(width) for cell, width in zip(cell_lines, widths, strict=True)
        ]
        lines.append((_BODY + _GAP.join(parts)).rstrip())
    return lines
