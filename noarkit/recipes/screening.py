"""What a recipe leaves open about who may see its records: `screening = "= none"` is a question, not an answer.

A code answers it; so does taking the line out, for what is open to all.
"""

from __future__ import annotations

from noarkit.recipes.recipe_model import Recipe

_OPEN = "= none"


def undecided_kinds(recipe: Recipe) -> list[tuple[str, int]]:
    """The kinds of records whose screening nobody decided, each with the line that says so."""
    return [
        (kind, value.line)
        for rule in recipe.maps
        if (value := rule.fields.get("skjerming")) is not None and value.raw == _OPEN
        for kind in rule.kinds
    ]
