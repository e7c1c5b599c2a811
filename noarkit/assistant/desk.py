"""What each tool does. Every path must lead below one of the roots, links followed; counts, codes and ids are told,
never what stands in a record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from noarkit import deliveries, journeys
from noarkit.assistant import search as searching
from noarkit.destination import destination, reached
from noarkit.engine.workshop import connect_archive
from noarkit.errors import UsageFault
from noarkit.journeys import Site
from noarkit.load.folder import RunFolder
from noarkit.load.numbers import fault_counts, numbers
from noarkit.validate import validate
from noarkit.validate.compare import By
from noarkit.words.texts import texts

Told = dict[str, object]
ARCHIVE = "archive"
_MOST = 100
_LONGEST_PATH = 4096
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Desk:
    """The tools of one server. `roots` are whole paths."""

    roots: Sequence[Path]
    site: Site

    def scan(self, source: str) -> Told:
        """Counts what a source holds."""
        return dict(journeys.scan(self._place(source), settings=self.site).as_json())

    def plan(self, source: str, run: str, recipe: str = "") -> Told:
        """Plans a load in a new run folder."""
        place = self._place(run)
        if (place / "plan.json").exists():
            raise UsageFault(what="plan-exists", where=str(place))
        chosen = self._place(recipe) if recipe else None
        planned = journeys.plan(self._place(source), place, recipe=chosen, settings=self.site)
        return {
            "run": str(place),
            "sha256": planned.sha256,
            "records": dict(planned.records),
            "entities": dict(planned.entities),
            "bytes": planned.bytes,
            "chunks": planned.chunks,
            "shards": planned.shards,
        }

    def status(self, run: str) -> Told:
        """The numbers of a run as they are now."""
        folder = RunFolder(self._place(run))
        if not (folder.path / "plan.json").is_file():
            raise UsageFault(what="not-a-run", where=str(folder.path))
        counted, owner = numbers(folder), folder.owner()
        state = "running" if owner else "open" if counted.open or counted.in_doubt else "done"
        if not owner and not folder.journal.exists():
            state = "planned"
        return {"run": folder.name, "state": state, "numbers": counted.as_data(), "faults": fault_counts(folder)}

    def validate(self, package: str) -> Told:
        """Which rules a package does not keep, and how often."""
        place = self._place(package)
        found, told = validate(place), texts(self.site.config.lang)
        rules = [
            {
                "code": outcome.rule.code,
                "level": outcome.rule.level,
                "count": outcome.count,
                "title": told.text("rules", outcome.rule.code, "title"),
            }
            for outcome in found.outcomes
        ]
        return {
            "package": str(place),
            "form": found.form,
            "valid": found.valid,
            "errors": found.number("error"),
            "warnings": found.number("warning"),
            "rules": rules,
        }

    def compare(self, left: str, right: str, by: str = "id") -> Told:
        """What differs between two extracts, or an extract and the configured archive: kinds, types and fields."""
        chosen = next((one for one in get_args(By) if one == by), None)
        if chosen is None:
            raise UsageFault(what="bad-value", where=by)
        sides = [self._archive() if side == ARCHIVE else str(self._place(side)) for side in (left, right)]
        found = deliveries.compare(sides[0], sides[1], by=chosen, settings=self.site)
        differences: list[Mapping[str, object]] = [
            {"kind": one.kind, "type": one.type, "field": one.field, **({"id": one.key} if chosen == "id" else {})}
            for one in found.differences[:_MOST]
        ]
        return {
            "equal": found.equal,
            "left": dict(found.left),
            "right": dict(found.right),
            "counts": dict(found.counts),
            "differences": differences,
        }

    def search(self, asked: searching.Asked) -> Told:
        """Objects of the configured archive."""
        self._archive()
        where = destination(self.site.config, self.site.environment)
        with reached(where) as way, closing(connect_archive(way.settings)) as archive:
            return searching.search(archive, asked)

    def _archive(self) -> str:
        """The configured archive by name; an embedded one must be there already, for nothing is made here."""
        if self.site.config.archive.url is None:
            raise UsageFault(what="no-archive", where=ARCHIVE)
        where = destination(self.site.config, self.site.environment)
        if where.embedded is not None and not where.embedded.is_dir():
            raise UsageFault(what="no-archive", where=where.name)
        return where.name

    def _place(self, told: str) -> Path:
        """A path below a root. Raises `UsageFault` for any other, and for what is no path at all."""
        if not told or len(told) > _LONGEST_PATH or "\0" in told or ":/" in told:
            raise UsageFault(what="outside-roots", where=told[:_SHOWN].replace("\0", " "))
        path = Path(told)
        choices = [path] if path.is_absolute() else [root / path for root in self.roots]
        inside = [
            place for choice in choices if any((place := choice.resolve()).is_relative_to(root) for root in self.roots)
        ]
        if not inside or ":/" in str(inside[0]):
            raise UsageFault(what="outside-roots", where=told)
        return next((place for place in inside if place.exists()), inside[0])
