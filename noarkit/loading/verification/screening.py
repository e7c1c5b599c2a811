"""Finds the screening that an object without a planned one may have inherited when it was made.

The archive copies, at creation, the first of: the parent's screening, the primary class's, that of the only screened
secondary class, its own default. What was found and not made counts with what the archive says of it now.
"""

from __future__ import annotations

from functools import lru_cache

from noarkit.archive.port import Archive
from noarkit.loading.lookup import objects_of_ids
from noarkit.loading.spine import NATURAL_KEYS
from noarkit.loading.verification.expectation import SCREENING
from noarkit.loading.verification.ledger import Ledger
from noarkit.model import metamodel

_KEPT = 10_000
_INHERITS = frozenset({"AbstraktMappe", "AbstraktRegistrering", "Dokument"})


class Screening:
    """Answers by the plan's numbers; remembers what it worked out for folders and series."""

    def __init__(self, ledger: Ledger, archive: Archive, default: str | None, codes: dict[str, str]) -> None:
        self._ledger = ledger
        self._archive = archive
        self._default = default
        self._codes = codes
        self._of = lru_cache(maxsize=_KEPT)(self._find_allowed)

    def allowed_values(self, n: int) -> frozenset[object]:
        """What the entity of this number may be screened with; None among them: not at all."""
        return self._of(n)

    def _find_allowed(self, n: int) -> frozenset[object]:
        entity = self._ledger.entity(n)
        if SCREENING not in metamodel().types[entity.type].fields:
            return self._above(entity.parent)
        place = self._ledger.archived_entity(n)
        if place is not None and place.state == "already_there" and entity.type in NATURAL_KEYS:
            actual = next(iter(objects_of_ids(self._archive, entity.type, [place.id])), None)
            return frozenset({actual.fields.get(SCREENING) if actual else None})
        if SCREENING in entity.fields:
            code = entity.fields[SCREENING]
            return frozenset({self._codes.get(code, code) if isinstance(code, str) else None})
        if metamodel().types[entity.type].family not in _INHERITS:
            return frozenset({None})
        inherited = self._above(entity.parent)
        if inherited - {None}:
            return inherited
        links = self._ledger.links(n)
        for name in ("refPrimaerKlasse", "refSekundaerKlasse"):
            codes = [code for link, target in links if link == name for code in self._of(target) - {None}]
            if len(codes) == 1:
                return frozenset(codes)
        return frozenset({self._default})

    def _above(self, parent: int | None) -> frozenset[object]:
        return self._of(parent) if parent is not None else frozenset({None})
