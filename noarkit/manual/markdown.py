"""Reads the part of Markdown that the manual uses: headings, paragraphs, code blocks, lists, tables, links, emphasis.

`<!-- list: NAME -->` on a line of its own is where a list made from code goes. Anything else is text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

SpanKind = Literal["text", "code", "strong", "link"]

_INLINE = re.compile(
    r"(?P<ticks>`+)(?P<code>.+?)(?P=ticks)|\*\*(?P<strong>.+?)\*\*|\[(?P<link>[^\]]+)\]\((?P<to>[^)]+)\)"
)
_FENCE = re.compile(r"```(\S*)$")
_HEADING = re.compile(r"(#{1,4}) (.+)$")
_ITEM = re.compile(r"(?:- |(\d+)\. )(.*)$")
_LISTING = re.compile(r"<!-- list: ([a-z-]+) -->$")
_CELL_END = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line: plain text, code, strong text, or a link to `target`."""

    kind: SpanKind
    text: str
    target: str = ""


Inline: TypeAlias = tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; the title of a chapter has level 1."""

    level: int
    text: Inline


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Text that may be wrapped anywhere."""

    text: Inline


@dataclass(frozen=True, slots=True)
class Code:
    """Lines that stand exactly as they are; `language` is what the fence says, or empty."""

    language: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Items:
    """A list, numbered or not."""

    numbered: bool
    items: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells below a head; a list made from code has no head."""

    head: tuple[Inline, ...]
    rows: tuple[tuple[Inline, ...], ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """The place of a list that is made from code."""

    name: str


Block: TypeAlias = Heading | Paragraph | Code | Items | Table | Listing


def parse(text: str) -> tuple[Block, ...]:
    """The blocks of a text, in their order."""
    return tuple(_blocks(text.splitlines()))


def parse_inline(text: str) -> Inline:
    """The spans of a line of text."""
    return tuple(_spans(text))


def plain_text(text: Inline) -> str:
    """What is left of a line without its marks."""
    return "".join(span.text for span in text)


def anchor(heading: str) -> str:
    """The name by which a link reaches a heading: as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _spans(text: str) -> Iterator[Span]:
    end = 0
    for match in _INLINE.finditer(text):
        if match.start() > end:
            yield Span("text", text[end : match.start()])
        yield _span(match)
        end = match.end()
    if end < len(text):
        yield Span("text", text[end:])


def _span(match: re.Match[str]) -> Span:
    if match["code"] is not None:
        return Span("code", match["code"].strip() if len(match["ticks"]) > 1 else match["code"])
    if match["strong"] is not None:
        return Span("strong", match["strong"].replace("`", ""))
    return Span("link", match["link"].replace("`", ""), match["to"])


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    at = 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        block, at = _block(lines, at)
        yield block


def _block(lines: Sequence[str], at: int) -> tuple[Block, int]:
    line = lines[at]
    if match := _FENCE.match(line):
        end = next((i for i in range(at + 1, len(lines)) if lines[i] == "```"), len(lines))
        return Code(match[1], tuple(lines[at + 1 : end])), end + 1
    if match := _HEADING.match(line):
        return Heading(len(match[1]), parse_inline(match[2])), at + 1
    if match := _LISTING.match(line):
        return Listing(match[1]), at + 1
    end = next((i for i in range(at, len(lines)) if not lines[i].strip() or _FENCE.match(lines[i])), len(lines))
    part = lines[at:end]
    if line.startswith("|"):
        return _table(part), end
    if _ITEM.match(line):
        return _items(part), end
    return Paragraph(parse_inline(" ".join(part))), end


def _items(lines: Sequence[str]) -> Items:
    texts: list[str] = []
    for line in lines:
        match = _ITEM.match(line)
        if match:
            texts.append(match[2])
        else:
            texts[-1] += " " + line.strip()
    first = _ITEM.match(lines[0])
    return Items(first is not None and first[1] is not None, tuple(parse_inline(text) for text in texts))


def _table(lines: Sequence[str]) -> Table:
    head, _, *rows = [_cells(line) for line in lines]
    return Table(head, tuple(rows))


def _cells(line: str) -> tuple[Inline, ...]:
    cells = _CELL_END.split(line.strip().removeprefix("|").removesuffix("|"))
    return tuple(parse_inline(cell.strip().replace("\\|", "|")) for cell in cells)
