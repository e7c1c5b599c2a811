"""The calls that a service publishes, and what each of them must and may bear: a stand-in refuses all others, as the
service does. Who is as lenient as its client hides what the client does wrong.

    Door("POST", "/v1/things:search", query="limit sorting_keys*", body="companyId! name")

`{…}` in a path is one part of it. Names of parameters and members stand apart by spaces; `!` marks those that must be
there, `*` a parameter that may be given more than once. A body of None is none at all; `...` lets any member in, and
`[]` is a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from noarkit.standins.calling import Call, Unreadable

ANYTHING = "..."
A_LIST = "[]"


class Unpublished(Exception):
    """A path that nobody published (404), or a method that it does not have (405)."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


@dataclass(frozen=True, slots=True)
class Names:
    """Which names there may be, and which must be."""

    known: frozenset[str]
    needed: frozenset[str]
    repeated: frozenset[str]
    is_open: bool = False

    def check(self, given: Iterable[str], what: str) -> None:
        """Raises `Unreadable` for a name that is unknown, or one that is not there."""
        found = set(given)
        if lacking := sorted(self.needed - found):
            raise Unreadable(f"{what} {lacking[0]} is required")
        if not self.is_open and (strange := sorted(found - self.known)):
            raise Unreadable(f"{what} {strange[0]} is unknown")


def names(told: str) -> Names:
    """Names as a door tells them."""
    parts = [one for one in told.split() if one != ANYTHING]
    bare = {one: one.rstrip("!*") for one in parts}
    needed = frozenset(name for one, name in bare.items() if "!" in one)
    repeated = frozenset(name for one, name in bare.items() if "*" in one)
    return Names(frozenset(bare.values()), needed, repeated, is_open=ANYTHING in told.split())


@dataclass(frozen=True, slots=True)
class Door:
    """One call that is published."""

    method: str
    path: str
    query: str = ""
    body: str | None = None
    _query: Names = field(init=False, repr=False)
    _body: Names | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_query", names(self.query))
        object.__setattr__(self, "_body", None if self.body is None else names(self.body))

    def check(self, call: Call) -> None:
        """Raises `Unreadable` for parameters or a body that the call does not take."""
        self._query.check(call.queries, "parameter")
        for name, values in call.queries.items():
            if len(values) > 1 and name not in self._query.repeated:
                raise Unreadable(f"parameter {name} is given more than once")
        if self._body is None:
            if call.body:
                raise Unreadable("a body is not taken here")
            return
        if self.body == A_LIST:
            call.rows()
        elif call.body or self._body.needed:
            self._body.check(call.members(), "member")


class Doors:
    """All calls of a service."""

    def __init__(self, doors: Iterable[Door]) -> None:
        self._doors = [(_pattern(door.path), len(re.sub(r"\{\w+\}", "", door.path)), door) for door in doors]

    def check(self, call: Call) -> None:
        """Raises `Unpublished` for a call that there is not, `Unreadable` for one that is not as it must be."""
        fits = [(literal, door) for pattern, literal, door in self._doors if pattern.fullmatch(call.path)]
        if not fits:
            raise Unpublished(404)
        best = max(literal for literal, _ in fits)
        door = next((one for literal, one in fits if literal == best and one.method == call.method), None)
        if door is None:
            raise Unpublished(405)
        door.check(call)


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile("[^/]+".join(map(re.escape, re.split(r"\{\w+\}", path))))
