"""`noarkit recipe`: proposes a recipe, or tells every fault of one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import click

from noarkit.api import origins
from noarkit.api.source_reading import recipe_file_text, with_register
from noarkit.cli.form_choices import SOURCE_KINDS
from noarkit.cli.next_command import next_command
from noarkit.cli.options import FILE, Session, command, option
from noarkit.cli.register_lines import JOINED, ODDITIES, oddity_lines, register_lines
from noarkit.cli.running import settings, working
from noarkit.errors import PlanFault, UsageFault
from noarkit.events import EventFields, Listener
from noarkit.forms.noark5.source.extract_recipe import read_extract_recipe
from noarkit.forms.noark5.source.source import ExtractSource
from noarkit.loading.source_columns import ColumnWatch
from noarkit.recipes import RecipeProblem, check, read_recipe
from noarkit.recipes.checking import kinds_of_rules
from noarkit.recipes.screening import undecided_kinds
from noarkit.recipes.toml_table import UNANSWERED
from noarkit.records import Joining, RegisterAccount, Source, SourceRecord, accept_damage, fitted
from noarkit.safe.atomic import write_text

EVENTS: EventFields = {
    "problem": {
        "file": "text",
        "recipe_line": "count",
        "level": ("error", "warning"),
        "problem": "text",
        "told": "text",
    },
    "register": {
        "is_of": ("case", "document"),
        **dict.fromkeys(("rows", *JOINED, *ODDITIES), "count"),
        "oddities": "list",
    },
}

_SAMPLES = 2000
_OpenSource = Callable[[str, Listener], Source]


@command("recipe", exits=(4, 5, 6, 8))
@click.argument("action", type=click.Choice(("new", "check")))
@click.argument("place", metavar="SOURCE|FILE")
@click.argument("source", metavar="[SOURCE]", required=False)
@option("-o", "--output", type=FILE, metavar="FILE")
@option("--source-kind", type=SOURCE_KINDS)
@option("--despite-damage", is_flag=True)
@option("--register", metavar="DATABASE#TABLE")
def recipe_command(
    session: Session,
    action: str,
    place: str,
    source: str | None,
    *,
    output: Path | None,
    source_kind: str | None,
    despite_damage: bool,
    register: str | None,
) -> int:
    """Writes a recipe, or checks one."""

    def open_source(where: str, emit: Listener) -> Source:
        candidate = origins.source_at(where, settings(session, None), kind=source_kind, emit=emit)
        return with_register(accept_damage(candidate, despite_damage=despite_damage), register)

    if action == "new":
        return _new(session, place, output, open_source)
    return _check(session, place, source, open_source)


def _new(session: Session, source: str, output: Path | None, open_source: _OpenSource) -> int:
    if output is None:
        raise UsageFault(what="missing-argument", where="noarkit recipe new -o", do=_with_output(source))
    with working(session) as work:
        text = open_source(source, work.emit).proposal(work.emit, lang=session.texts.lang)
    write_text(output, text, replace=False)
    texts = session.texts
    lines = [texts.say("recipe.written", path=output)]
    open_kinds = undecided_kinds(read_recipe(text, str(output)))
    if open_kinds:
        kinds = ", ".join(texts.say("recipe.kind", kind=kind, line=line) for kind, line in open_kinds)
        lines.append(texts.say("recipe.undecided", kinds=kinds))
    session.console.result("made", "\n".join(lines), path=str(output), undecided=[kind for kind, _ in open_kinds])
    return 0


def _with_output(source: str) -> str:
    """The command with the file that it lacks, named after the source."""
    return next_command("recipe", "new", source, "-o", f"{Path(source).name or 'recipe'}.toml")


def _check(session: Session, file: str, source: str | None, open_source: _OpenSource) -> int:
    text = recipe_file_text(Path(file))
    account = None
    with working(session) as work:
        place = None if source is None else open_source(source, work.emit)
        problems = _problems(text, file, place, work.emit)
        if place is not None and all(problem.warning or problem.key == UNANSWERED for problem in problems):
            account = _register_account(place, text, file, work.emit)
    for problem in problems:
        _print_problem(session, file, problem)
    if account is not None:
        lines = [*register_lines(session.texts, account.counts()), *oddity_lines(session.texts, account.oddities)]
        oddities = [oddity._asdict() for oddity in account.oddities]
        session.console.result("register", "\n".join(lines), **account.counts(), oddities=oddities)
    if any(not problem.warning for problem in problems):
        return PlanFault.exit_code
    session.console.notify("recipe.good", path=file)
    return 0


def _problems(text: str, file: str, place: Source | None, emit: Listener) -> list[RecipeProblem]:
    if isinstance(place, ExtractSource):  # what it holds is fixed: its recipe sets terms, and maps nothing
        read_extract_recipe(text, file)
        return []
    recipe = read_recipe(text, file)
    if place is None:
        return check(recipe)
    fitted_place = fitted(place, recipe.source_settings(place.identity.kind))
    watch = ColumnWatch(recipe, place.identity.kind)
    samples = watch.passing(_samples(fitted_place, emit))
    problems = check(recipe, samples, usual_kinds=lambda: _usual_kinds(fitted_place))
    return [*problems, *watch.problems()]


def _register_account(place: Source, text: str, file: str, emit: Listener) -> RegisterAccount | None:
    """How the register that a recipe names joins with what is there."""
    if isinstance(place, ExtractSource):
        return None
    fitted_place = fitted(place, read_recipe(text, file).source_settings(place.identity.kind))
    return fitted_place.survey_register(emit) if isinstance(fitted_place, Joining) else None


def _samples(place: Source, emit: Listener) -> Iterator[SourceRecord]:
    return islice((item for item in place.records(emit) if isinstance(item, SourceRecord)), _SAMPLES)


def _usual_kinds(place: Source) -> set[str]:
    """The kinds of records that the recipe of the source itself has rules for."""
    return set(kinds_of_rules(read_recipe(place.default_recipe())))


def _print_problem(session: Session, file: str, problem: RecipeProblem) -> None:
    texts = session.texts
    level = "warning" if problem.warning else "error"
    reason = texts.problem(problem.key, problem.data)
    line = texts.say("recipe.line", where=file, line=problem.line, level=texts.say(f"recipe.{level}"), told=reason)
    fields = {"recipe_line": problem.line, "level": level, "problem": problem.key, "told": reason}
    session.console.result("problem", line, file=file, **fields)
