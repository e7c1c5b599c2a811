"""What a recipe says of who may see its records, and what it leaves open.

`screening = "= none"` is a question, not an answer. A code answers it; so does taking the line out, for what is open to
all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

from noarkit.model.disclosure import HIDES_PARTIES, SCREENING
from noarkit.recipes.recipe_model import Recipe, Value

_OPEN = "= none"
_SCREENING = SCREENING | {HIDES_PARTIES}


def undecided_kinds(recipe: Recipe) -> list[tuple[str, int]]:
    """The kinds of records whose screening nobody decided, each with the line that says so."""
    return [
        (kind, value.line)
        for rule in recipe.maps
        if (value := rule.fields.get("skjerming")) is not None and value.raw == _OPEN
        for kind in rule.kinds
    ]


class LeftOutScreening:
    """Whether a record that nobody mapped may be screened, by the rule that would have mapped it. Without a `recipe`,
    nobody knows."""

    def __init__(self, recipe: Recipe | None) -> None:
        self._recipe = recipe
        self._rules: list[tuple[int, bool]] = []
        self._always = recipe is None
        if recipe is not None:
            self._rules = sorted((rule.line, _may_screen(rule)) for rule in recipe.maps)
            of_all = (recipe.target, *recipe.defaults.items())
            self._always = recipe.personal_data.identity_numbers == "screen" or any(map(_may_screen, of_all))

    @property
    def reasons(self) -> frozenset[str]:
        """The reasons for leaving records out that the recipe spells, and makes of no record."""
        skips = () if self._recipe is None else self._recipe.skips
        return frozenset(str(rule.reason.raw) for rule in skips if rule.reason.expression is None)

    def may_screen(self, line: int = 0) -> bool:
        """True unless the record is certainly open. `line` of the recipe is where its mapping failed; 0 if unknown."""
        if self._recipe is not None and self._recipe.personal_data.left_out == "show":
            return False
        if self._always:
            return True
        before = [screens for start, screens in self._rules if start <= line]
        return before[-1] if before else any(screens for _, screens in self._rules)


def _may_screen(part: object) -> bool:
    return any(_is_set(value) for value in _screening_values(part))


def _screening_values(part: object) -> Iterator[Value]:
    """Every value of a part of a recipe, however deep, that may screen what it is for."""
    if isinstance(part, Mapping):
        for name, inner in part.items():
            if name in _SCREENING and isinstance(inner, Value):
                yield inner
            else:
                yield from _screening_values(inner)
    elif isinstance(part, tuple):
        for inner in part:
            yield from _screening_values(inner)
    elif is_dataclass(part) and not isinstance(part, Value):
        for field in fields(part):
            yield from _screening_values(getattr(part, field.name))


def _is_set(value: Value) -> bool:
    return value.raw not in (None, "", False, _OPEN)
