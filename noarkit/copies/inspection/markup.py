"""Web pages and drawings in SVG: what they would fetch when they are shown; and the words of a page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from noarkit.copies.port import Finding
from noarkit.copies.tokens import tokens
from noarkit.documents.encodings import decode_text
from noarkit.documents.markup import PageText, text_of_markup
from noarkit.documents.refusal import DocumentRefused, Refusal

_MOST_BYTES = 64 * 1024 * 1024
# every count of blanks and letters is bounded, so that the search stays linear
_VALUE = r"""\s{0,20}=\s{0,20}["']?\s{0,20}(?!data:|\#|["'>\s])"""
_FETCHED = re.compile(
    rf"""[\s"'](?:src|srcset|data|background|poster|xlink:href){_VALUE}"""
    r"""|url\(\s{0,20}["']?\s{0,20}(?!data:|\#)\S|@import\b"""
    r"""|<link\b[^<>]{0,2000}?\srel\s{0,20}=\s{0,20}["']?stylesheet"""
    rf"""|<(?:\w{{1,20}}:)?(?:image|use|feimage|script)\b[^<>]{{0,2000}}?\shref{_VALUE}""",
    re.IGNORECASE,
)
_ENTITY = re.compile(r"<!ENTITY\b")


def find_in_markup(path: Path) -> Iterator[Finding]:
    """What a person should know of a page or drawing. Raises `DocumentRefused`."""
    text = read_markup(path)
    if count := sum(1 for _ in _FETCHED.finditer(text)):
        yield Finding("external-content", {"count": count})
    if scripts := len(re.findall(r"<script\b", text, re.IGNORECASE)):
        yield Finding("scripts", {"count": scripts})


def page_words(path: Path) -> Counter[str]:
    """The words of a web page that a reader sees. Raises `DocumentRefused`."""
    return Counter(tokens(text_of_markup(read_markup(path))))


def drawing_words(path: Path) -> Counter[str]:
    """The words that are drawn in an SVG: nothing of its title or description. Raises `DocumentRefused`."""
    return Counter(tokens(_DrawnText().text_of(read_markup(path))))


def read_markup(path: Path) -> str:
    """The text of a page, in its encoding. Raises `DocumentRefused`."""
    if path.stat().st_size > _MOST_BYTES:
        raise DocumentRefused(Refusal.TOO_LARGE, bytes=path.stat().st_size)
    text = decode_text(path.read_bytes(), is_markup=True)
    if _ENTITY.search(text):  # what it stands for may grow without end
        raise DocumentRefused(Refusal.BOMB, what="doctype")
    return text


_TEXTS = frozenset({"text", "foreignobject"})


class _DrawnText(PageText):
    """Collects the text that a drawing draws: it stands in elements of text, and in pages within that browsers draw."""

    def __init__(self) -> None:
        super().__init__()
        self._depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _TEXTS:
            self._depth += 1
            self.parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in _TEXTS:
            self._depth = max(0, self._depth - 1)

    def handle_data(self, data: str) -> None:
        if self._depth:
            self.parts.append(data)
