"""Values that the archive gives by itself to a field that nothing was said of: given to some, they are given to all.

Whether an archive does so is seen from its own objects; where it fills none, an empty field says nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from noarkit.model import Field

_MOST_KEPT = 1000


@dataclass(slots=True)
class _Seen:
    filled: int = 0
    empty: int = 0
    kept: list[tuple[int, str]] = field(default_factory=list)


@dataclass(slots=True)
class Defaults:
    """What was seen of each field that has a value of its own in the model."""

    _fields: dict[str, _Seen] = field(default_factory=dict)

    def keep_default(self, one: Field, n: int, detail: str, *, is_empty: bool) -> None:
        """One object that the run made, where the plan says nothing of the field."""
        is_code = one.code_list is not None and one.default not in (None, "?")
        if is_code or str(one.default).startswith("<"):
            self.keep(one.name, n, detail, is_empty=is_empty)

    def keep(self, name: str, n: int, detail: str, *, is_empty: bool) -> None:
        """One object, with a field that archives fill in by themselves, or not at all."""
        seen = self._fields.setdefault(name, _Seen())
        if not is_empty:
            seen.filled += 1
            return
        seen.empty += 1
        if len(seen.kept) < _MOST_KEPT:
            seen.kept.append((n, detail))

    def judge(self, differs: Callable[[int, str], None]) -> None:
        """Calls with each that is empty although others are filled: its number in the plan, and which field."""
        for seen in self._fields.values():
            if seen.filled:
                for n, detail in seen.kept:
                    differs(n, detail)
