"""The tree beside a page: the way down to an item, and around each step of it as many siblings as can be taken in.

However many siblings there are, a page holds a bounded number; links lead to those before and behind.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from noarkit.catalogue.catalogue import Entry
from noarkit.reading_room.links import Span
from noarkit.reading_room.looks import Looks, Siblings

_AROUND = 6
"""How many siblings stand before and behind a step on the way."""
_LEVEL = 40
"""How many stand on a level of which none is on the way."""


@dataclass(frozen=True, slots=True)
class Branch:
    """An item in the tree; `level` is what lies in it, where that is shown."""

    entry: Entry
    is_current: bool = False
    level: Level | None = None


@dataclass(frozen=True, slots=True)
class Level:
    """A span of siblings in the tree."""

    parent: Entry | None
    branches: tuple[Branch, ...]
    earlier: Span | None
    later: Span | None


def tree_to(looks: Looks, entry: Entry | None, ancestors: tuple[Entry, ...] = ()) -> Level:
    """The tree from the top down to an item, which is open; without one, the top."""
    if entry is None:
        return level_of(looks, None, Span())
    way = (*ancestors, entry)
    level = level_of(looks, entry, Span()) if entry.children else None
    for depth in range(len(way) - 1, -1, -1):
        parent = way[depth - 1] if depth else None
        level = _around(looks, parent, Branch(way[depth], depth == len(way) - 1, level))
    return level if level is not None else level_of(looks, None, Span())


def level_of(looks: Looks, parent: Entry | None, span: Span) -> Level:
    """A span of what lies in an item, none of it open."""
    siblings = looks.siblings(parent, span, _LEVEL)
    return Level(parent, tuple(Branch(entry) for entry in siblings.entries), siblings.earlier, siblings.later)


def further_level(looks: Looks, parent: Entry | None, span: Span) -> Level:
    """The same, to be put beside a span that is shown already: nothing leads back to that."""
    level = level_of(looks, parent, span)
    return replace(level, earlier=None if span.after else level.earlier, later=None if span.before else level.later)


def _around(looks: Looks, parent: Entry | None, branch: Branch) -> Level:
    at = branch.entry.n
    before: Siblings = looks.siblings(parent, Span(before=at), _AROUND)
    behind = looks.siblings(parent, Span(after=at), 2 * _AROUND - len(before.entries))
    branches = (*map(Branch, before.entries), branch, *map(Branch, behind.entries))
    return Level(parent, branches, before.earlier, behind.later)
