"""Patterns of names, as people write them, that say which files of a tree are taken.

    *.tmp            every file, and everything in a folder, of such a name, at any depth
    Arkiv/20*/Notat  from the top: `*` and `?` stay within one name, `**` stands for any folders between
    Kladd/           a folder of that name, with all below it

Capital letters do not matter, as they do not on the shares that such trees come from. Names are compared as people see
them: composed, with bytes that are no text as U+FFFD.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from fnmatch import translate
from functools import lru_cache

_ANY = "**"
_MOST_FOLDERS = 1_024

Matches = Callable[[str, str], bool]
"""True for a file, by its folder (empty or ending in `/`) and its name."""


def compile_patterns(patterns: Iterable[str]) -> Matches:
    """What tells whether one of these patterns takes in a file.

    >>> covers = compile_patterns(["*.tmp", "Kladd/", "Arkiv/**/utkast*"])
    >>> [covers(*where) for where in (("a/", "B.TMP"), ("x/kladd/y/", "c"), ("", "kladd"), ("arkiv/1/2/", "Utkast 3"))]
    [True, True, False, True]
    """
    loose, rooted = _Names(), list[tuple[list[str], bool]]()
    for pattern in patterns:
        text = _comparable(pattern)
        is_folder, bare = text.endswith("/"), text.strip("/")
        if "/" in bare:
            rooted.append((bare.split("/"), is_folder))
        else:
            (loose.folders if is_folder else loose.names).append(bare)
    is_loose_name, is_loose_folder = _any_of(loose.names), _any_of([*loose.names, *loose.folders])

    @lru_cache(_MOST_FOLDERS)
    def covers_folder(folder: str) -> bool:
        steps = folder.rstrip("/").split("/") if folder else []
        if any(is_loose_folder(step) for step in steps):
            return True
        return any(_leads(parts, steps[:end]) for parts, _ in rooted for end in range(1, len(steps) + 1))

    def is_covered(folder: str, name: str) -> bool:
        where, own_name = _comparable(folder), _comparable(name)
        if covers_folder(where) or is_loose_name(own_name):
            return True
        steps = [*where.split("/")[:-1], own_name]
        return any(not is_folder and _leads(parts, steps) for parts, is_folder in rooted)

    return is_covered


class _Names:
    """Patterns of one name, and those of folders alone."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.folders: list[str] = []


def _comparable(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def _any_of(patterns: list[str]) -> Callable[[str], bool]:
    if not patterns:
        return lambda name: False
    expression = re.compile("|".join(translate(pattern) for pattern in patterns))
    return lambda name: expression.match(name) is not None


def _leads(parts: list[str], steps: list[str]) -> bool:
    """True if the steps of a path are those of a pattern, one by one."""
    if not parts:
        return not steps
    if parts[0] == _ANY:
        return any(_leads(parts[1:], steps[start:]) for start in range(len(steps) + 1))
    return bool(steps) and _any_of(parts[:1])(steps[0]) and _leads(parts[1:], steps[1:])
