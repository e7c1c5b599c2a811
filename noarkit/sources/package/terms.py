"""What a recipe may say of an extract: where its keys are known by, the zone of its times, and whether to close."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from noarkit.errors import PlanFault
from noarkit.sources.package.source import DEFAULT_ZONE, EXTERNAL_SYSTEM, KIND

_MAY_SAY = {"external_system", "zone", "close"}


@dataclass(frozen=True, slots=True)
class Terms:
    """How an extract is planned."""

    external_system: str = EXTERNAL_SYSTEM
    zone: str = DEFAULT_ZONE
    close: bool = True


def read_terms(text: str, name: str) -> Terms:
    """The terms that a recipe sets. Raises PlanFault for one that says more, or what it must not."""
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PlanFault(where=name, why="not-toml", detail=str(error)) from error
    target = found.get("target", {})
    source = found.get("source", {"kind": KIND})
    if set(found) - {"target", "source"} or not isinstance(target, dict) or source != {"kind": KIND}:
        raise PlanFault(where=name, why="recipe-for-other-source")
    terms = Terms(
        target.get("external_system", EXTERNAL_SYSTEM), target.get("zone", DEFAULT_ZONE), target.get("close", True)
    )
    wrong = not isinstance(terms.external_system, str) or not terms.external_system or not isinstance(terms.close, bool)
    if set(target) - _MAY_SAY or wrong:
        raise PlanFault(where=name, why="extract-recipe-says-too-much")
    try:
        ZoneInfo(terms.zone)
    except (ZoneInfoNotFoundError, ValueError, TypeError) as error:
        raise PlanFault(where=name, why="unknown-zone") from error
    return terms
