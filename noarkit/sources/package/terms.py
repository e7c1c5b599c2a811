"""What a recipe may say of an extract: where its keys are known by, the zone of its times, whether to close, and
whether business-specific metadata keep what the archive has no field for."""

from __future__ import annotations

from dataclasses import dataclass
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from noarkit.errors import PlanFault
from noarkit.safe.toml import BadToml, load_toml
from noarkit.sources.package.source import DEFAULT_ZONE, EXTERNAL_SYSTEM, KIND

_MAY_SAY = {"external_system", "zone", "close", "carry"}


@dataclass(frozen=True, slots=True)
class Terms:
    """How an extract is planned."""

    external_system: str = EXTERNAL_SYSTEM
    zone: str = DEFAULT_ZONE
    close: bool = True
    carry: bool = True


def read_terms(text: str, name: str) -> Terms:
    """The terms that a recipe sets. Raises PlanFault for one that says more, or what it must not."""
    try:
        found = load_toml(text)
    except BadToml as error:
        raise PlanFault(where=name, line=error.line, why=error.why, detail=error.detail) from error
    target = found.get("target", {})
    source = found.get("source", {"kind": KIND})
    if set(found) - {"target", "source"} or not isinstance(target, dict) or source != {"kind": KIND}:
        raise PlanFault(where=name, why="recipe-for-other-source")
    terms = Terms(
        target.get("external_system", EXTERNAL_SYSTEM),
        target.get("zone", DEFAULT_ZONE),
        target.get("close", True),
        target.get("carry", True),
    )
    wrong = not isinstance(terms.external_system, str) or not terms.external_system
    wrong = wrong or not isinstance(terms.close, bool) or not isinstance(terms.carry, bool)
    if set(target) - _MAY_SAY or wrong:
        raise PlanFault(where=name, why="extract-recipe-says-too-much")
    try:
        ZoneInfo(terms.zone)
    except (ZoneInfoNotFoundError, ValueError, TypeError) as error:
        raise PlanFault(where=name, why="unknown-zone") from error
    return terms
