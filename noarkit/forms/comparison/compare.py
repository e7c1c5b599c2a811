"""Compares two sides of rows and collects their differences."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar
from zoneinfo import ZoneInfo

from noarkit.archive.port import Archive
from noarkit.errors import PackageFault
from noarkit.forms.comparison.editions import Names, version_at
from noarkit.forms.comparison.elements import element_rows
from noarkit.forms.comparison.entities import archive_rows, extract_rows
from noarkit.forms.comparison.ledger import Difference, Kind, Ledger, Row
from noarkit.forms.comparison.rules import By, declared_rule
from noarkit.forms.finders import find_package
from noarkit.forms.noark5.source import ExtractSource, find_extract
from noarkit.graph.entity import Entity
from noarkit.records import Groundwork
from noarkit.results import HIDDEN, Result, json_field, json_value
from noarkit.safe.paths import require_existing

MOST_KEPT = 1000
"""The number of differences that are kept for each kind; all are counted."""


@dataclass(slots=True)
class CompareResult(Result):
    """The result of a comparison: sizes of both sides, counts of differences, and the first ones of each kind.

    `counts` are by kind, `types` by kind and type, `fields` by type and field; `declared` counts expected differences
    by rule, which do not make the sides unequal.
    """

    EVENT: ClassVar = "comparison"

    by: By = field(metadata=HIDDEN)
    left: Mapping[str, int]
    right: Mapping[str, int]
    counts: Counter[str] = field(default_factory=Counter, metadata=json_field("differences"))
    declared: Counter[str] = field(default_factory=Counter)
    types: Counter[tuple[Kind, str]] = field(default_factory=Counter, metadata=HIDDEN)
    fields: Counter[tuple[str, str]] = field(default_factory=Counter, metadata=HIDDEN)
    differences: list[Difference] = field(default_factory=list, metadata=HIDDEN)

    def add(self, difference: Difference) -> None:
        """One difference more."""
        self.counts[difference.kind] += 1
        self.types[difference.kind, difference.type] += 1
        if difference.field:
            self.fields[difference.type, difference.field] += 1
        if self.counts[difference.kind] <= MOST_KEPT:
            self.differences.append(difference)

    @property
    @json_value()
    def equal(self) -> bool:
        """True if nothing differs but by rule."""
        return not self.counts


def compare_extracts(left: Path, right: Path, by: By = "id") -> CompareResult:
    """Compares two extracts element by element, also of different versions. Raises PackageFault, UnsafeXml."""
    sides = _extract(left), _extract(right)  # held until all was read: what is packed has its XML in folders of theirs
    names = Names((version_at(sides[0].root), version_at(sides[1].root)))
    comparison = _compare(element_rows(sides[0], names), element_rows(sides[1], names), by)
    if names.renamed_count:
        comparison.declared["edition"] = names.renamed_count
    return comparison


def compare_with_archive(package: Path, archive: Archive, by: By = "id", zone: str = "Europe/Oslo") -> CompareResult:
    """Compares an extract with its fonds in an archive, by the fields that both have. Raises PackageFault and archive
    faults."""
    source, timezone = _extract(package), ZoneInfo(zone)
    return _compare(extract_rows(source, timezone), archive_rows(archive, _fonds(package), timezone), by)


def _compare(left: Iterable[Row], right: Iterable[Row], by: By) -> CompareResult:
    with Ledger() as ledger:
        comparison = CompareResult(by, ledger.fill("left", left, by), ledger.fill("right", right, by))
        for difference in ledger.differences():
            rule = declared_rule(difference.field, by) if difference.kind == "differs" else None
            if difference.field == "in" and by == "key":
                rule = "new-id"
            if difference.is_original:
                rule = "original"  # a delivery has the copy, and leaves out what it was made of
            if rule is not None:
                comparison.declared[rule] += 1
                continue
            comparison.add(difference)
        return comparison


def _extract(place: Path) -> ExtractSource:
    """Opens the extract at a path, also inside a package of another form. Raises PackageFault where there is none."""
    require_existing(str(place))
    source = find_package(str(place))
    if not isinstance(source, ExtractSource):
        source = find_extract(str(place)) or source
    if isinstance(source, ExtractSource):
        return source
    if place.is_dir() and not os.access(place, os.R_OK | os.X_OK):
        raise PackageFault(where=str(place), why="unreadable")
    if source is not None:
        raise PackageFault(where=str(place), why="no-extract-inside")
    raise PackageFault(where=str(place), why="no-package", folder=str(place))


def _fonds(package: Path) -> str:
    from noarkit.events import ignore_event

    for item in _extract(package).records(ignore_event):
        first: Entity | None = item.entities[0] if isinstance(item, Groundwork) else None
        if first is not None and first.type == "Arkiv":
            return str(first.fields.get("uuid") or "")
        break
    raise PackageFault(where=str(package), why="no-fonds")
