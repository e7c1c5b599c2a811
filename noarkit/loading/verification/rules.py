"""Tells which records of a source the rules of a plan's recipe leave out: no plan takes these."""

from __future__ import annotations

from collections.abc import Callable

from noarkit.errors import PlanFault
from noarkit.loading.verification.ledger import Ledger
from noarkit.recipes import compile_recipe, read_recipe
from noarkit.records import SourceRecord

_RULE = "skip"


def recipe_rules(ledger: Ledger) -> Callable[[SourceRecord], bool] | None:
    """What says of a record whether a rule leaves it out; None where the recipe has no such rules."""
    if _RULE not in ledger.recipe:
        return None
    try:
        recipe = read_recipe(ledger.recipe)
    except PlanFault:  # a caller's own mapper names its rules as it likes
        return None
    return compile_recipe(recipe).leaves_out if recipe.skips else None
