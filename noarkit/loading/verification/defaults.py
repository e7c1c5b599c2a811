"""Values that the archive gives by itself to a field that nothing was said of: given to some, they are given to all.

Whether an archive does so is seen from its own objects; where it fills none, an empty field says nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from noarkit.model import Field

_MOST_KEPT = 1000


@dataclass(slots=True)
class _FieldValues:
    filled_count: int = 0
    empty: int = 0
    empty_places: list[tuple[int, str]] = field(default_factory=list)


@dataclass(slots=True)
class Defaults:
    """What was seen of each field that has a value of its own in the model."""

    _fields: dict[str, _FieldValues] = field(default_factory=dict)

    def keep_default(self, field: Field, n: int, detail: str, *, is_empty: bool) -> None:
        """One object that the run made, where the plan says nothing of the field."""
        is_code = field.code_list is not None and field.default not in (None, "?")
        if is_code or str(field.default).startswith("<"):
            self.keep(field.name, n, detail, is_empty=is_empty)

    def keep(self, name: str, n: int, detail: str, *, is_empty: bool) -> None:
        """One object, with a field that archives fill in by themselves, or not at all."""
        values = self._fields.setdefault(name, _FieldValues())
        if not is_empty:
            values.filled_count += 1
            return
        values.empty += 1
        if len(values.empty_places) < _MOST_KEPT:
            values.empty_places.append((n, detail))

    def judge(self, differs: Callable[[int, str], None]) -> None:
        """Calls with each that is empty although others are filled: its number in the plan, and which field."""
        for values in self._fields.values():
            if values.filled_count:
                for n, detail in values.empty_places:
                    differs(n, detail)
