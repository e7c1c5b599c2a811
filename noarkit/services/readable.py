"""Renders a record as a text page for people, so that a case file is understood without the service it came from.

    readable_page("Bilag 12", "Bilag: Fjord AS, 2026-01-05", {"supplier": {"name": "Fjord AS"}, "splitItems": []})

Each member is a line, nested ones are indented, and empty ones are left out. Names replace ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from noarkit.services.port import GeneratedDocument

PLAIN = "text/plain"
_INDENT = "    "
_DEEPEST = 20
_EMPTY_VALUES: tuple[object, ...] = (None, "", [], {}, ())
_LOOKUP = frozenset({"id", "name", "email"})


def shorten(text: str, most: int) -> str:
    """Shortens a text to a title on one line: cut between two words, with an ellipsis."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    head = line[:most]
    words = head.rpartition(" ")[0] or head[:-1]
    return words.rstrip(" ,;:-–") + "…"


def readable_page(
    name: str, title: str, record: Mapping[str, object], labels: Mapping[str, str] | None = None
) -> GeneratedDocument:
    """Renders the page of a record: its title, then each member by its label. The same record gives the same bytes."""
    lines = [title, "=" * len(title), "", *_lines(record, labels or {}, 0)]
    data = "\n".join(line.rstrip() for line in lines) + "\n"
    return GeneratedDocument(f"{name}.txt", PLAIN, data.encode("utf-8", "backslashreplace"), title=title)


def _lines(record: Mapping[str, object], labels: Mapping[str, str], depth: int) -> Iterator[str]:
    for name, value in record.items():
        if value not in _EMPTY_VALUES:
            yield from _member(labels.get(name, str(name)), value, labels, depth)


def _member(label: str, value: object, labels: Mapping[str, str], depth: int) -> Iterator[str]:
    indent = _INDENT * depth
    plain = _plain(value)
    if plain is not None:
        first, *other_lines = plain.splitlines() or [""]
        yield f"{indent}{label}: {first}"
        yield from (f"{indent}{_INDENT}{line}" for line in other_lines)
    elif depth >= _DEEPEST:
        yield f"{indent}{label}: …"
    elif isinstance(value, Mapping):
        yield f"{indent}{label}:"
        yield from _lines(value, labels, depth + 1)
    elif isinstance(value, Sequence):
        yield f"{indent}{label}:"
        for number, item in enumerate(value, start=1):
            yield from _member(str(number), item, labels, depth + 1)


def _plain(value: object) -> str | None:
    """Formats a value that fits on one line, or is a text; None for one with parts."""
    if isinstance(value, bool):
        return "ja" if value else "nei"
    if isinstance(value, str | int | float | Decimal):
        return str(value)
    if isinstance(value, Mapping):
        is_lookup = bool(value.get("name")) and set(value) <= _LOOKUP
        return str(value["name"]) if is_lookup else None
    if isinstance(value, Sequence):
        parts = [_plain(item) for item in value]
        short = all(part is not None and "\n" not in part for part in parts)
        text = ", ".join(str(part) for part in parts)
        return text if short and len(text) <= 100 else None
    return "" if value is None else str(value)
