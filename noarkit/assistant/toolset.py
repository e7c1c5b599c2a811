"""What each tool does. Every path must lead below one of the roots, links followed; counts, codes and ids are told,
never what stands in a record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from noarkit.api.comparing import compare
from noarkit.api.destination import destination, open_target
from noarkit.api.planning import plan
from noarkit.api.scanning import scan
from noarkit.assistant import search as searching
from noarkit.errors import UsageFault
from noarkit.events import Listener, ignore_event
from noarkit.forms.comparison import By
from noarkit.forms.validation import validate
from noarkit.loading.engines.worker_factory import connect_archive
from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import fault_counts
from noarkit.loading.state import read_state
from noarkit.settings import Settings
from noarkit.words.texts import texts

ToolAnswer = dict[str, object]
ARCHIVE = "archive"
_MOST = 100
_LONGEST_PATH = 4096
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools of one server. `roots` are whole paths."""

    roots: Sequence[Path]
    settings: Settings

    def scan(self, source: str, listener: Listener = ignore_event) -> ToolAnswer:
        """Counts what a source holds."""
        return scan(self._place(source), settings=self.settings, listener=listener).to_dict()

    def plan(self, source: str, run: str, recipe: str = "", listener: Listener = ignore_event) -> ToolAnswer:
        """Plans a load in a new run folder."""
        place = self._place(run)
        if RunFolder(place).is_planned:
            raise UsageFault(what="plan-exists", where=str(place))
        recipe_path = self._place(recipe) if recipe else None
        source_place = self._place(source)
        plan_result = plan(source_place, place, recipe=recipe_path, settings=self.settings, listener=listener)
        return {**plan_result.to_dict(), "run": str(place)}

    def status(self, run: str) -> ToolAnswer:
        """The numbers of a run as they are now."""
        folder = RunFolder(self._place(run))
        if not folder.is_planned:
            raise UsageFault(what="not-a-run", where=str(folder.path))
        state = read_state(folder)
        return {
            "run": folder.name,
            "state": "running" if folder.owner() else state.word,
            "numbers": state.numbers.as_data(),
            "faults": fault_counts(folder),
            "found_wrong": len(state.findings),
        }

    def validate(self, package: str, listener: Listener = ignore_event) -> ToolAnswer:
        """Which rules a package does not keep, and how often."""
        place = self._place(package)
        report, texts_ = validate(place, listener=listener), texts(self.settings.config.lang)
        rules = [
            {
                "code": outcome.rule.code,
                "level": outcome.rule.level,
                "count": outcome.count,
                "title": texts_.text("rules", outcome.rule.code, "title"),
            }
            for outcome in report.outcomes
        ]
        return {
            "package": str(place),
            "form": report.form,
            "valid": report.valid,
            "errors": report.number("error"),
            "warnings": report.number("warning"),
            "rules": rules,
        }

    def compare(self, left: str, right: str, by: str = "id", listener: Listener = ignore_event) -> ToolAnswer:
        """What differs between two extracts, or an extract and the configured archive: kinds, types and fields."""
        criterion = next((difference for difference in get_args(By) if difference == by), None)
        if criterion is None:
            raise UsageFault(what="bad-value", where=by)
        sides = [self._archive() if side == ARCHIVE else str(self._place(side)) for side in (left, right)]
        comparison = compare(sides[0], sides[1], by=criterion, settings=self.settings, listener=listener)
        differences: list[Mapping[str, object]] = [
            {
                "kind": difference.kind,
                "type": difference.type,
                "field": difference.field,
                **({"id": difference.key} if criterion == "id" else {}),
            }
            for difference in comparison.differences[:_MOST]
        ]
        return {
            "equal": comparison.equal,
            "left": dict(comparison.left),
            "right": dict(comparison.right),
            "counts": dict(comparison.counts),
            "differences": differences,
        }

    def search(self, request: searching.SearchRequest) -> ToolAnswer:
        """Objects of the configured archive."""
        self._archive()
        archive_place = destination(self.settings.config, self.settings.environment)
        with open_target(archive_place) as target, closing(connect_archive(target.settings)) as archive:
            return searching.search(archive, request)

    def _archive(self) -> str:
        """The configured archive by name; an embedded one must be there already, for nothing is made here."""
        if self.settings.config.archive.url is None:
            raise UsageFault(what="no-archive", where=ARCHIVE)
        archive_place = destination(self.settings.config, self.settings.environment)
        if archive_place.embedded is not None and not archive_place.embedded.is_dir():
            raise UsageFault(what="no-archive", where=archive_place.name)
        return archive_place.name

    def _place(self, path_text: str) -> Path:
        """Resolves a path below a root. Raises `UsageFault` for any other, and for text that is no path."""
        if not path_text or len(path_text) > _LONGEST_PATH or "\0" in path_text or ":/" in path_text:
            raise UsageFault(what="outside-roots", where=path_text[:_SHOWN].replace("\0", " "))
        path = Path(path_text)
        choices = [path] if path.is_absolute() else [root / path for root in self.roots]
        inside = [
            place for choice in choices if any((place := choice.resolve()).is_relative_to(root) for root in self.roots)
        ]
        if not inside or ":/" in str(inside[0]):
            raise UsageFault(what="outside-roots", where=path_text)
        return next((place for place in inside if place.exists()), inside[0])
