"""Web pages and drawings in SVG: what they would fetch when they are shown; and the words of a page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from noarkit.copies.port import Finding
from noarkit.copies.tokens import tokens
from noarkit.documents.refusal import DocumentRefused, Refusal
from noarkit.safe.html import HtmlReader

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
_CHARSET = re.compile(rb"""charset\s*=\s*["']?\s*([\w-]{2,20})""", re.IGNORECASE)
_UNSEEN = frozenset({"script", "style", "title", "template", "noscript", "head"})
_VOID = frozenset({"meta", "link", "base", "br", "img", "input", "hr"})


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
    return Counter(tokens(_read_text(_DrawnText(), read_markup(path))))


def text_of_markup(markup: str) -> str:
    """The text of HTML that is shown."""
    return _read_text(_PageText(), markup)


def _read_text(reader: _PageText, markup: str) -> str:
    reader.feed(markup)
    reader.close()
    return "".join(reader.parts)


def read_markup(path: Path) -> str:
    """The text of a page, by the encoding that it states, else UTF-8, else Windows. Raises `DocumentRefused`."""
    if path.stat().st_size > _MOST_BYTES:
        raise DocumentRefused(Refusal.TOO_LARGE, bytes=path.stat().st_size)
    text = _decode(path.read_bytes())
    if _ENTITY.search(text):  # what it stands for may grow without end
        raise DocumentRefused(Refusal.BOMB, what="doctype")
    return text


def _decode(content: bytes) -> str:
    for mark, codec in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if content.startswith(mark):
            return content.decode(codec, "replace")
    stated = _CHARSET.search(content[:4096])
    for codec in (stated[1].decode() if stated else "utf-8", "utf-8"):
        try:
            return content.decode(codec)
        except (UnicodeDecodeError, LookupError):
            continue
    return content.decode("cp1252", "replace")


class _PageText(HtmlReader):
    """Collects the text that is shown."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _UNSEEN:
            self._unseen += 1
        elif tag == "body":
            self._unseen = 0
        if tag not in ("b", "i", "em", "strong", "span", "a", "u", "sub", "sup", "font"):
            self.parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNSEEN:
            self._unseen = max(0, self._unseen - 1)
        if tag not in _VOID and tag not in ("b", "i", "em", "strong", "span", "a", "u", "sub", "sup", "font"):
            self.parts.append(" ")

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.parts.append(data)


class _DrawnText(_PageText):
    """Collects the text that a drawing draws: it stands in elements of text, and nowhere else."""

    def __init__(self) -> None:
        super().__init__()
        self._depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "text":
            self._depth += 1
            self.parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag == "text":
            self._depth = max(0, self._depth - 1)

    def handle_data(self, data: str) -> None:
        if self._depth:
            self.parts.append(data)
