"""`noarkit recipe`: proposes a recipe, or tells every fault of one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import click

from noarkit import origins
from noarkit.cli.options import Session, command, option
from noarkit.cli.plan import FILE
from noarkit.cli.running import settings, working
from noarkit.errors import PlanFault, UsageFault
from noarkit.events import Listener
from noarkit.safe.atomic import write_text
from noarkit.safe.toml import read_text
from noarkit.sources.opening import PLACES
from noarkit.sources.port import OpenSource, Source, SourceRecord, fitted, taken
from noarkit.sources.recipe import Recipe, RecipeProblem, check, read_recipe
from noarkit.sources.recipe.screening import undecided

_SAMPLES = 2000


@command("recipe", exits=(4, 5, 6, 8))
@click.argument("action", type=click.Choice(("new", "check")))
@click.argument("place", metavar="SOURCE|FILE")
@click.argument("source", metavar="[SOURCE]", required=False)
@option("-o", "--output", type=FILE, metavar="FILE")
@option("--source-kind", type=click.Choice(tuple(PLACES)))
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

    def opened(where: str) -> Source:
        found = origins.source_at(where, settings(session, None), kind=source_kind)
        return taken(found, despite_damage=despite_damage)

    if action == "new":
        return _new(session, place, output, opened)
    return _check(session, place, source, opened)


def _new(session: Session, source: str, output: Path | None, opened: OpenSource) -> int:
    if output is None:
        raise UsageFault(what="missing-argument", where="noarkit recipe new", do="-o FILE")
    with working(session) as work:
        text = opened(source).proposal(work.tell)
    write_text(output, text, replace=False)
    told = session.texts
    lines = [told.say("recipe.written", path=output)]
    open_kinds = undecided(read_recipe(text, str(output)))
    if open_kinds:
        kinds = ", ".join(told.say("recipe.kind", kind=kind, line=line) for kind, line in open_kinds)
        lines.append(told.say("recipe.undecided", kinds=kinds))
    session.face.result("made", "\n".join(lines), path=str(output), undecided=[kind for kind, _ in open_kinds])
    return 0


def _check(session: Session, file: str, source: str | None, opened: OpenSource) -> int:
    text = read_text(Path(file))
    with working(session) as work:
        recipe = read_recipe(text, file)
        samples = _samples(opened, source, recipe, work.tell) if source is not None else iter(())
        problems = check(recipe, samples)
    for problem in problems:
        _tell(session, file, problem)
    wrong = sum(not problem.warning for problem in problems)
    if wrong:
        return PlanFault.exit_code
    session.face.tell("recipe.good", path=file)
    return 0


def _samples(opened: OpenSource, source: str, recipe: Recipe, tell: Listener) -> Iterator[SourceRecord]:
    place = fitted(opened(source), recipe.data.get("source"))
    records = (item for item in place.records(tell) if isinstance(item, SourceRecord))
    return islice(records, _SAMPLES)


def _tell(session: Session, file: str, problem: RecipeProblem) -> None:
    told = session.texts
    level = "warning" if problem.warning else "error"
    data = {name: value for name, value in problem.data.items() if value not in ("", None)}
    more = ", ".join(f"{name} {value}" for name, value in data.items())
    reason = told.reason(problem.key) + (f" ({more})" if more else "")
    line = told.say("recipe.line", where=file, line=problem.line, level=told.say(f"recipe.{level}"), told=reason)
    found = {"recipe_line": problem.line, "level": level, "problem": problem.key, "told": reason}
    session.face.result("problem", line, file=file, **found)
