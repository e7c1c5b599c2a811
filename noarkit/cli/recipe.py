"""`noarkit recipe`: proposes a recipe, or tells every fault of one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import click

from noarkit.api import origins
from noarkit.cli.form_choices import SOURCE_KINDS
from noarkit.cli.options import FILE, Session, command, option
from noarkit.cli.running import settings, working
from noarkit.errors import PlanFault, UsageFault
from noarkit.events import EventFields, Listener
from noarkit.recipes import Recipe, RecipeProblem, check, read_recipe
from noarkit.recipes.screening import undecided_kinds
from noarkit.records import Source, SourceRecord, accept_damage, fitted
from noarkit.safe.atomic import write_text
from noarkit.safe.toml import read_text

EVENTS: EventFields = {
    "problem": {
        "file": "text",
        "recipe_line": "count",
        "level": ("error", "warning"),
        "problem": "text",
        "told": "text",
    }
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
def recipe_command(
    session: Session,
    action: str,
    place: str,
    source: str | None,
    *,
    output: Path | None,
    source_kind: str | None,
    despite_damage: bool,
) -> int:
    """Writes a recipe, or checks one."""

    def open_source(where: str, emit: Listener) -> Source:
        candidate = origins.source_at(where, settings(session, None), kind=source_kind, emit=emit)
        return accept_damage(candidate, despite_damage=despite_damage)

    if action == "new":
        return _new(session, place, output, open_source)
    return _check(session, place, source, open_source)


def _new(session: Session, source: str, output: Path | None, open_source: _OpenSource) -> int:
    if output is None:
        raise UsageFault(what="missing-argument", where="noarkit recipe new", do="-o FILE")
    with working(session) as work:
        text = open_source(source, work.emit).proposal(work.emit)
    write_text(output, text, replace=False)
    texts = session.texts
    lines = [texts.say("recipe.written", path=output)]
    open_kinds = undecided_kinds(read_recipe(text, str(output)))
    if open_kinds:
        kinds = ", ".join(texts.say("recipe.kind", kind=kind, line=line) for kind, line in open_kinds)
        lines.append(texts.say("recipe.undecided", kinds=kinds))
    session.console.result("made", "\n".join(lines), path=str(output), undecided=[kind for kind, _ in open_kinds])
    return 0


def _check(session: Session, file: str, source: str | None, open_source: _OpenSource) -> int:
    text = read_text(Path(file))
    with working(session) as work:
        recipe = read_recipe(text, file)
        samples = _samples(open_source, source, recipe, work.emit) if source is not None else iter(())
        problems = check(recipe, samples)
    for problem in problems:
        _print_problem(session, file, problem)
    wrong = sum(not problem.warning for problem in problems)
    if wrong:
        return PlanFault.exit_code
    session.console.notify("recipe.good", path=file)
    return 0


def _samples(open_source: _OpenSource, source: str, recipe: Recipe, emit: Listener) -> Iterator[SourceRecord]:
    place = fitted(open_source(source, emit), recipe.data.get("source"))
    records = (item for item in place.records(emit) if isinstance(item, SourceRecord))
    return islice(records, _SAMPLES)


def _print_problem(session: Session, file: str, problem: RecipeProblem) -> None:
    texts = session.texts
    level = "warning" if problem.warning else "error"
    reason = texts.problem(problem.key, problem.data)
    line = texts.say("recipe.line", where=file, line=problem.line, level=texts.say(f"recipe.{level}"), told=reason)
    fields = {"recipe_line": problem.line, "level": level, "problem": problem.key, "told": reason}
    session.console.result("problem", line, file=file, **fields)
