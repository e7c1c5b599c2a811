"""Reads a source as the options of a caller say: a scan, copies and a plan with the same options read the same."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from noarkit.api.origins import source_at
from noarkit.errors import PlanFault, UsageFault
from noarkit.events import Listener
from noarkit.forms.noark5.source import ExtractSource
from noarkit.loading.options import SourceOptions
from noarkit.recipes import Recipe, check, fits, read_recipe
from noarkit.records import Shallow, Source, accept_damage, fitted
from noarkit.safe.toml import read_text
from noarkit.settings import Place, Settings
from noarkit.sources.files.source import FileTree


def find_asked(
    place: Place | Source, options: SourceOptions, settings: Settings | None, archive: str = "", *, emit: Listener
) -> Source:
    """What lies at a place, before any of it is read; `archive` is the one that a connection's marks are for."""
    return source_at(place, settings, archive, options.source_kind, emit, encoding=options.encoding)


def read_as_asked(source: Source, options: SourceOptions) -> Source:
    """The source as `plan` reads it: by a recipe, which is the source's own where none is named.

    Raises `PlanFault` for a recipe that does not fit it, `UsageFault` for options that are for other sources.
    """
    if isinstance(source, ExtractSource):
        extract = ExtractSource(source.place, take_incomplete=options.take_incomplete)
        return with_patterns(accept_damage(extract, despite_damage=options.despite_damage), options)
    place = with_options(source, options)
    return with_patterns(fitted(place, recipe_of(options.recipe, place).source_settings(place.identity.kind)), options)


def with_options(source: Source, options: SourceOptions) -> Source:
    """A source that is no extract, with these options; its recipe has yet to say what of it is read. Raises
    `UsageFault` for options that are for other sources."""
    if options.take_incomplete:
        raise UsageFault(what="only-of-an-extract", where="--take-incomplete")
    place = accept_damage(source, despite_damage=options.despite_damage)
    if options.shallow_root is None:
        return place
    if not isinstance(place, Shallow):
        raise UsageFault(what="only-of-an-eark-package", where="--shallow-root")
    return place.reading_below(Path(options.shallow_root))


def with_patterns(source: Source, options: SourceOptions) -> Source:
    """A source without the files that the options leave out, beside those that its recipe does. Raises `UsageFault` for
    a source that has no files."""
    if not options.include and not options.exclude:
        return source
    for name, patterns in (("--include", options.include), ("--exclude", options.exclude)):
        if patterns and not isinstance(source, FileTree):
            raise UsageFault(what="only-of-files", where=name)
        if not all(pattern.strip("/ ") for pattern in patterns):
            raise UsageFault(what="bad-value", where=name)
    assert isinstance(source, FileTree)  # noqa: S101  # or it was refused
    return source.with_patterns(tuple(options.include), tuple(options.exclude))


def with_register(source: Source, register: str | None) -> Source:
    """A source of files with a register in a database. Raises `UsageFault` for any other source."""
    if not register:
        return source
    if not isinstance(source, FileTree):
        raise UsageFault(what="only-of-files", where="--register")
    return source.with_register(register)


def recipe_text(recipe: Place | Recipe | None, source: Source) -> tuple[str, str]:
    """The text of a recipe, and what it is called."""
    if isinstance(recipe, Recipe):
        return recipe.text, recipe.name
    if recipe is None:
        return source.default_recipe(), "default recipe"
    return recipe_file_text(Path(recipe)), str(recipe)


def recipe_file_text(path: Path) -> str:
    """The text of a recipe's file. `UsageFault` where there is none: a recipe is no setting."""
    if not path.exists():
        raise UsageFault(what="no-recipe-file", where=str(path))
    return read_text(path)


def recipe_of(
    recipe: Place | Recipe | None, source: Source, codes: Mapping[str, frozenset[str]] | None = None
) -> Recipe:
    """The recipe that a source is read by; the first fault that stops it is raised as a `PlanFault`."""
    text, name = recipe_text(recipe, source)
    read = read_recipe(text, name)
    wrong = [problem for problem in check(read, code_lists=codes) if not problem.warning]
    if wrong:
        first = wrong[0]
        details = {key: value for key, value in first.data.items() if key not in ("where", "why", "line", "count")}
        raise PlanFault(where=name, line=first.line, why=first.key, count=len(wrong), **details)
    if not fits(read, source.identity.kind):
        raise PlanFault(where=name, why="recipe-for-other-source")
    return read
