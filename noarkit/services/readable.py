"""Renders a record as a text page for people, so that a case file is understood without the service it came from.

    readable_page("Bilag 12", "Bilag: Fjord AS, 2026-01-05", {"supplier": {"name": "Fjord AS"}, "splitItems": []})

Each member is a line, nested ones are indented, and empty ones are left out. Names replace ids.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal

from noarkit.services.port import GeneratedDocument

PLAIN = "text/plain"
_INDENT = "    "
_DEEPEST = 20
_LONGEST_LIST = 100
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_EMPTY_VALUES: tuple[object, ...] = (None, "", [], {}, ())
_LOOKUP = frozenset({"id", "name", "email"})


def title_line(value: object) -> str:
    """Formats a title on one line. A character that controls something, or turns the direction of reading, becomes one
    that no archive can hold, so that the recipe replaces it and says so.

    >>> title_line("Vedlegg\u202e  gnp.exe") == "Vedlegg\ufffe gnp.exe"
    True
    """
    text = " ".join(value.split()) if isinstance(value, str) else ""
    return text if text.isprintable() else _UNSEEN.sub("\ufffe", text)


def shorten(text: str, most: int) -> str:
    """Shortens a text to a title on one line: cut between two words, with an ellipsis."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    head = line[:most]
    words = head.rpartition(" ")[0] or head[:-1]
    return words.rstrip(" ,;:-–") + "…"


def format_time(text: str) -> str:
    """Formats a timestamp as a day, with the time of day where it has one; any other text as it is.

    >>> format_time("2026-01-05T00:00:00.000Z"), format_time("2026-01-05T11:30:00+01:00"), format_time("F12")
    ('2026-01-05', '2026-01-05 kl. 10.30 UTC', 'F12')
    """
    if len(text) < len("2026-01-05T10:00") or text[10:11] != "T":
        return text
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(UTC)
    except ValueError:
        return text
    return moment.strftime("%Y-%m-%d" if (moment.hour, moment.minute) == (0, 0) else "%Y-%m-%d kl. %H.%M UTC")


def readable_page(
    name: str, title: str, record: Mapping[str, object], labels: Mapping[str, str] | None = None
) -> GeneratedDocument:
    """Renders the page of a record: its title, then each member by its label. The same record gives the same bytes."""
    lines = [title, "=" * len(title), ""]
    _add_members(lines, record, labels or {}, 0)
    data = "\n".join([line.rstrip() for line in lines]) + "\n"
    return GeneratedDocument(f"{name}.txt", PLAIN, data.encode("utf-8", "backslashreplace"), title=title)


def _add_members(lines: list[str], record: Mapping[str, object], labels: Mapping[str, str], depth: int) -> None:
    """Adds the members of a record. Pages are made for every record there is, so its common values are told by their
    own types, before any that are like them."""
    indent = _INDENT * depth
    for name, value in record.items():
        if value or value not in _EMPTY_VALUES:
            label = labels.get(name, str(name)) if labels else str(name)
            if type(value) is str and value.isprintable():  # then there is no end of a line in it
                lines.append(f"{indent}{label}: {value}")
            else:
                _add(lines, label, value, labels, depth)


def _add(lines: list[str], label: str, value: object, labels: Mapping[str, str], depth: int) -> None:
    indent = _INDENT * depth
    plain = _plain(value)
    if plain is not None:
        first, *other_lines = plain.splitlines() or [""]
        lines.append(f"{indent}{label}: {first}")
        if other_lines:
            lines += [f"{indent}{_INDENT}{line}" for line in other_lines]
    elif depth >= _DEEPEST:
        lines.append(f"{indent}{label}: …")
    elif type(value) is dict or isinstance(value, Mapping):
        lines.append(f"{indent}{label}:")
        _add_members(lines, value, labels, depth + 1)
    elif isinstance(value, Sequence):
        lines.append(f"{indent}{label}:")
        for number, item in enumerate(value, start=1):
            _add(lines, str(number), item, labels, depth + 1)


def _plain(value: object) -> str | None:
    """Formats a value that fits on one line, or is a text; None for one with parts."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool):
        return "ja" if value else "nei"
    if isinstance(value, int | float | Decimal):
        return str(value)
    if type(value) is dict or isinstance(value, Mapping):
        is_lookup = bool(value.get("name")) and value.keys() <= _LOOKUP
        return str(value["name"]) if is_lookup else None
    if isinstance(value, Sequence):
        return _short_list(value)
    return "" if value is None else str(value)


def _short_list(values: Sequence[object]) -> str | None:
    """Formats a list that fits on a line of a hundred characters; None for another."""
    parts: list[str] = []
    size = -2
    for value in values:
        part = _plain(value)
        if part is None or "\n" in part:
            return None
        size += len(part) + 2
        if size > _LONGEST_LIST:
            return None
        parts.append(part)
    return ", ".join(parts)
