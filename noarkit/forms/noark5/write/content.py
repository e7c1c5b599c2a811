"""What the writer is given: one unit of the archive with all that stands inside it, as JSON of the archive's own names.

`parse` takes such JSON and gives it with every text ready for XML: signs of markup escaped, signs that XML forbids
replaced by U+FFFD and counted, line ends kept; an empty text is no text. Texts are escaped once for the whole unit,
before it is taken apart, which is what makes writing quick: JSON has no use for `&`, `<` and `>` outside its texts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NotRequired, Required, TypedDict
from xml.sax.saxutils import escape

import orjson

REPLACEMENT = "\ufffd"

_ESCAPES = re.compile(rb"\\[ubfr]|\xef\xbf|:\"\"")
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


class Link(TypedDict):
    """A link from one thing to another: its name, the uuid it leads to, and that thing where it is written inside."""

    n: str
    u: str
    o: EntityData | None


class EntityData(TypedDict):
    """An object: its type and fields, its links to one where units are found by them, and what it is linked to."""

    t: str
    f: dict[str, object]
    l: NotRequired[dict[str, str]]  # noqa: E741  # the key of the JSON
    k: NotRequired[list[Link]]


class Content(TypedDict, total=False):
    """A thing (`o`) with its parts (`p`), links (`k`), documents (`d`) or versions (`v`).

    The fields of a version tell of its file as it lies in the package: path, checksum, algorithm and size.
    """

    o: Required[EntityData]
    p: list[EntityData]
    k: list[Link]
    d: list[Content]
    v: list[Content]


@dataclass(slots=True)
class CleanupCount:
    """How many signs were replaced because XML cannot hold them."""

    signs: int = 0


@dataclass(frozen=True, slots=True)
class Codes:
    """Names of codes by field and code, and the legal authority of screening codes; keys and values ready for XML."""

    names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    authorities: Mapping[str, str] = field(default_factory=dict)

    def names_of(self, field_name: str) -> Mapping[str, str]:
        """The names of the codes of a field."""
        return self.names.get(field_name, {})


def parse(raw: bytes, cleaned: CleanupCount) -> Content:
    """The unit that this JSON is, its texts ready for XML."""
    if (b"\\" in raw or b"\xef\xbf" in raw or b'""' in raw) and _ESCAPES.search(raw):
        content: Content = _clean(orjson.loads(raw), cleaned)  # type: ignore[assignment]  # the same shape as it came
        return content
    if b"&" in raw:
        raw = raw.replace(b"&", b"&amp;")
    if b"<" in raw:
        raw = raw.replace(b"<", b"&lt;")
    if b">" in raw:
        raw = raw.replace(b">", b"&gt;")
    ready: Content = orjson.loads(raw)
    return ready


def xml_text(text: str, cleaned: CleanupCount | None = None) -> str:
    """Any text, ready to stand in an element."""
    if _FORBIDDEN.search(text):
        text, count = _FORBIDDEN.subn(REPLACEMENT, text)
        if cleaned is not None:
            cleaned.signs += count
    return escape(text, {"\r": "&#13;"})


def _clean(value: object, cleaned: CleanupCount) -> object:
    if isinstance(value, str):
        return xml_text(value, cleaned)
    if isinstance(value, dict):
        return {xml_text(name): _clean(item, cleaned) for name, item in value.items() if item != ""}
    if isinstance(value, list):
        return [_clean(item, cleaned) for item in value]
    return value
