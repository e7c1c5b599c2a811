"""Writes a recipe, or any plain TOML data, as text that a person can go on with: comments where they are asked for.

What is written reads back as the same data.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time

from noarkit.recipes.lines import Path
from noarkit.recipes.recipe_model import Recipe

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_WIDE = 100
_LAST_OF_FOUR = 0xFFFF
_INLINE_LISTS = ("classes", "secondary_classes")


def render(recipe: Recipe | Mapping[str, object], comments: Mapping[Path, str] | None = None) -> str:
    """TOML text of `recipe`. `comments` stand above the table or key at their path; `()` is the head of the text."""
    data = recipe.data if isinstance(recipe, Recipe) else recipe
    comments_by_path = comments or {}
    head = [f"{line}\n" for line in _comment(comments_by_path, ())]
    body = "".join(f"{line}\n" for line in _table((), data, comments_by_path))
    return "".join(head) + ("\n" if head and body and not body.startswith("\n") else "") + body


def _table(path: Path, table: Mapping[str, object], comments: Mapping[Path, str]) -> Iterator[str]:
    later = [name for name, value in table.items() if _stands_alone(name, value)]
    for name, value in table.items():
        if name not in later:
            yield from _comment(comments, (*path, name))
            yield from _lines(name, value)
    for name in later:
        yield from _tables((*path, name), table[name], comments)


def _tables(path: Path, value: object, comments: Mapping[Path, str]) -> Iterator[str]:
    header = ".".join(_key(part) for part in path if isinstance(part, str))
    if isinstance(value, Mapping):
        yield ""
        yield from _comment(comments, path)
        yield f"[{header}]"
        yield from _table(path, value, comments)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield ""
            yield from _comment(comments, (*path, index))
            yield f"[[{header}]]"
            yield from _table((*path, index), item, comments)


def _stands_alone(name: str, value: object) -> bool:
    """True for what gets a header of its own: tables, unless they are short and flat, and lists of tables."""
    if isinstance(value, Mapping):
        return name != "fields" or not _is_flat(value) or len(_inline(value)) > _WIDE
    if not isinstance(value, list) or not value or name in _INLINE_LISTS:
        return False
    return all(isinstance(item, Mapping) for item in value)


def _is_flat(table: Mapping[str, object]) -> bool:
    return not any(isinstance(value, Mapping | list) for value in table.values())


def _lines(name: str, value: object) -> Iterator[str]:
    if isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        yield f"{_key(name)} = ["
        for item in value:
            yield f"  {_inline(item)},"
        yield "]"
    else:
        yield f"{_key(name)} = {_inline(value)}"


def _inline(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return basic_string(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(str(name))} = {_inline(part)}" for name, part in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_inline(part) for part in value)}]"
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, int | float):
        return repr(value)
    raise TypeError(type(value).__name__)


def basic_string(text: str) -> str:
    """A basic string of TOML, on one line whatever it holds: JSON's form is one, but for DEL, halves of signs, and
    what some readers take for the end of a line.

    >>> print(basic_string("a\\n\\u2028b"))
    "a\\n\\u2028b"
    """
    clean = text.encode("utf-8", "replace").decode("utf-8")
    quoted = json.dumps(clean, ensure_ascii=False)
    return quoted if quoted.isprintable() else "".join(map(_escaped, quoted))


def _escaped(sign: str) -> str:
    if sign.isprintable():
        return sign
    return f"\\u{ord(sign):04x}" if ord(sign) <= _LAST_OF_FOUR else f"\\U{ord(sign):08x}"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else basic_string(name)


def _comment(comments: Mapping[Path, str], path: Path) -> Iterator[str]:
    for line in comments.get(path, "").splitlines():
        # a comment may hold no control sign but the tab
        clean = "".join(sign if sign == "\t" or sign.isprintable() else "\ufffd" for sign in line)
        yield f"# {clean}".rstrip()
