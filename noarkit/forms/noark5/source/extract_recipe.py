"""What a recipe may say of an extract: where its keys are known by, the zone of its times, whether to close, and
whether business-specific metadata keep what the archive has no field for."""

from __future__ import annotations

from dataclasses import dataclass
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from noarkit.errors import PlanFault
from noarkit.forms.noark5.source.source import DEFAULT_ZONE, EXTERNAL_SYSTEM, KIND
from noarkit.safe.toml import BadToml, load_toml

_ALLOWED_KEYS = {"external_system", "zone", "close", "carry"}


@dataclass(frozen=True, slots=True)
class ExtractRecipe:
    """How an extract is planned."""

    external_system: str = EXTERNAL_SYSTEM
    zone: str = DEFAULT_ZONE
    close: bool = True
    carry: bool = True


def read_extract_recipe(text: str, name: str) -> ExtractRecipe:
    """The terms that a recipe sets. Raises PlanFault for one that says more, or what it must not."""
    try:
        document = load_toml(text)
    except BadToml as error:
        raise PlanFault(where=name, line=error.line, why=error.why, detail=error.detail) from error
    target = document.get("target", {})
    source = document.get("source", {"kind": KIND})
    if set(document) - {"target", "source"} or not isinstance(target, dict) or source != {"kind": KIND}:
        raise PlanFault(where=name, why="recipe-for-other-source")
    recipe = ExtractRecipe(
        target.get("external_system", EXTERNAL_SYSTEM),
        target.get("zone", DEFAULT_ZONE),
        target.get("close", True),
        target.get("carry", True),
    )
    wrong = not isinstance(recipe.external_system, str) or not recipe.external_system
    wrong = wrong or not isinstance(recipe.close, bool) or not isinstance(recipe.carry, bool)
    if set(target) - _ALLOWED_KEYS or wrong:
        raise PlanFault(where=name, why="extract-recipe-says-too-much")
    try:
        ZoneInfo(recipe.zone)
    except (ZoneInfoNotFoundError, ValueError, TypeError) as error:
        raise PlanFault(where=name, why="unknown-zone") from error
    return recipe
