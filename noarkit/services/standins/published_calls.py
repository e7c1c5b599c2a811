"""The published calls of a service, with their required and allowed parameters and members: a stand-in refuses all
others, as the service does. A lenient stand-in would hide mistakes of its client.

    Door("POST", "/v1/things:search", query="limit sorting_keys*", body="companyId! name")

`{…}` in a path is one segment. Names of parameters and members are separated by spaces; `!` marks required ones, `*` a
parameter that may be repeated. A body of None is none at all; `...` allows any member, and `[]` is a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from noarkit.services.standins.call import Call, UnreadableCall

ANY_MEMBER = "..."
A_LIST = "[]"


class UnpublishedCall(Exception):
    """A call to an unpublished path (404), or with a method the path does not have (405)."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


@dataclass(frozen=True, slots=True)
class NameRules:
    """The allowed, required and repeatable names of parameters or members."""

    allowed_names: frozenset[str]
    required: frozenset[str]
    repeatable: frozenset[str]
    is_open: bool = False

    def check(self, present: Iterable[str], kind: str) -> None:
        """Raises `UnreadableCall` for an unknown name, or a missing required one."""
        name_set = set(present)
        if missing := sorted(self.required - name_set):
            raise UnreadableCall(f"{kind} {missing[0]} is required")
        if not self.is_open and (strange := sorted(name_set - self.allowed_names)):
            raise UnreadableCall(f"{kind} {strange[0]} is unknown")


def parse_names(text: str) -> NameRules:
    """Parses the names of a call specification."""
    parts = [part for part in text.split() if part != ANY_MEMBER]
    bare = {part: part.rstrip("!*") for part in parts}
    required = frozenset(name for part, name in bare.items() if "!" in part)
    repeatable = frozenset(name for part, name in bare.items() if "*" in part)
    return NameRules(frozenset(bare.values()), required, repeatable, is_open=ANY_MEMBER in text.split())


@dataclass(frozen=True, slots=True)
class CallSpec:
    """One published call."""

    method: str
    path: str
    query: str = ""
    body: str | None = None
    _query: NameRules = field(init=False, repr=False)
    _body: NameRules | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_query", parse_names(self.query))
        object.__setattr__(self, "_body", None if self.body is None else parse_names(self.body))

    def check(self, call: Call) -> None:
        """Raises `UnreadableCall` for parameters or a body that the call does not take."""
        self._query.check(call.queries, "parameter")
        for name, values in call.queries.items():
            if len(values) > 1 and name not in self._query.repeatable:
                raise UnreadableCall(f"parameter {name} is given more than once")
        if self._body is None:
            if call.body:
                raise UnreadableCall("a body is not taken here")
            return
        if self.body == A_LIST:
            call.rows()
        elif call.body or self._body.required:
            self._body.check(call.members(), "member")


class CallSpecs:
    """All published calls of a service."""

    def __init__(self, doors: Iterable[CallSpec]) -> None:
        self._specs = [(_pattern(door.path), len(re.sub(r"\{\w+\}", "", door.path)), door) for door in doors]

    def check(self, call: Call) -> None:
        """Raises `UnpublishedCall` for an unknown call, `UnreadableCall` for a malformed one."""
        fits = [(literal, door) for pattern, literal, door in self._specs if pattern.fullmatch(call.path)]
        if not fits:
            raise UnpublishedCall(404)
        best = max(literal for literal, _ in fits)
        door = next(
            (candidate for literal, candidate in fits if literal == best and candidate.method == call.method), None
        )
        if door is None:
            raise UnpublishedCall(405)
        door.check(call)


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile("[^/]+".join(map(re.escape, re.split(r"\{\w+\}", path))))
