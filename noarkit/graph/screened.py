"""How many folders, records and documents of a plan are screened: by themselves, or by what is above them.

An archive gives what is made the screening of its parent or of its class, and a package counts it all; so does this.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from noarkit.model import metamodel
from noarkit.model.disclosure import screens

UNITS = {"AbstraktMappe": "folders", "AbstraktRegistrering": "records", "Dokument": "documents"}
"""What is screened, by the family of its type, and how it is called where it is counted."""
_HIDDEN = f"""WITH RECURSIVE hidden (n) AS (
    SELECT n FROM entity WHERE {screens("entity")}
    UNION SELECT link.entity FROM link JOIN entity class ON class.n = link.other
        WHERE link.name = 'refPrimaerKlasse' AND {screens("class")}
    UNION SELECT below.n FROM hidden JOIN entity below ON below.parent = hidden.n)
SELECT type, count(*), count(hidden.n) FROM entity LEFT JOIN hidden ON hidden.n = entity.n
WHERE unit > 0 GROUP BY type ORDER BY type"""  # noqa: S608  # our own words


@dataclass(frozen=True, slots=True)
class ScreenedType:
    """A type, how many a plan has of it, and how many of these are screened."""

    type: str
    unit: str
    count: int
    screened: int


def screened_types(db: sqlite3.Connection) -> tuple[ScreenedType, ...]:
    """The types of a plan that can be screened, in order."""
    units = {kind: UNITS.get(metamodel().family(kind)) for kind in metamodel().types}
    return tuple(
        ScreenedType(kind, unit, count, screened)
        for kind, count, screened in db.execute(_HIDDEN)
        if (unit := units[kind]) is not None
    )


def screened_units(types: tuple[ScreenedType, ...]) -> dict[str, int]:
    """How many folders, records and documents are screened."""
    return {unit: sum(entry.screened for entry in types if entry.unit == unit) for unit in UNITS.values()}
