"""What RUN and SOURCE are on the command line at hand, and names for runs that are yet to be made."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
from click.core import ParameterSource

from noarkit.loading.folder import RunFolder
from noarkit.loading.next_step import NEEDS_PLAN, free_name, planned_source, with_real_commands
from noarkit.loading.request import GLOBALS, RunRequest, run_request
from noarkit.places import is_run

EMBEDDED = "embedded:"
_COMMAND = re.compile(
    r"\bnoarkit (?!retry RUN|plan SOURCE -o RUN2)(?=(?:plan|ingest|verify|connect|doctor|config|derive|recipe) [\w.])"
)


def names_at_hand() -> dict[str, str]:
    """What RUN, RUN2 and SOURCE are on this command line, as far as it names them or a run knows its source."""
    words = {name: value_on_line(name) for name in ("run", "place", "source", "output")}
    run = words["run"] or next(
        (value for value in (words["place"], words["output"]) if value and is_run(Path(value))), None
    )
    source = words["source"] or (words["place"] if words["place"] != run else None)
    if run is not None and source is None:
        source = planned_source(RunFolder(Path(run)))
    names = {"RUN": run, "SOURCE": source}
    if run is not None:
        names["RUN2"] = free_name(Path(run))
    return {name: value for name, value in names.items() if value}


def value_on_line(name: str) -> str | None:
    """The value of an argument or option of the command that runs now, where it was written on the line."""
    context = click.get_current_context(silent=True)
    if context is None or context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
        return None
    value = context.params.get(name)
    return None if value is None else str(value)


def line_request() -> RunRequest:
    """What the command that runs now was given on its line, and the config, profile and language that it reads."""
    context = click.get_current_context(silent=True)
    if context is None:
        return RunRequest("")
    options = {
        max(parameter.opts, key=len).lstrip("-"): context.params.get(parameter.name or "")
        for parameter in context.command.params
        if isinstance(parameter, click.Option)
        and parameter.name in context.params
        and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
    }
    archive = str(options.get("archive") or "")
    if archive.startswith(EMBEDDED):
        options["archive"] = EMBEDDED + str(Path(archive.removeprefix(EMBEDDED)).expanduser().absolute())
    values = getattr(context.obj, "values", {})
    return run_request(context.command.name or "", **{**options, **{name: values.get(name) for name in GLOBALS}})


def complete_remedy(remedy: str, code: str, forgotten: str) -> str:
    """A remedy with the commands of the run at hand; all others get the config, profile and language of this one.
    `forgotten` is said of a new plan whose options the run does not remember."""
    line, run = line_request(), names_at_hand().get("RUN")
    if options := shlex.join(line.words(*GLOBALS)):
        remedy = _COMMAND.sub(lambda match: f"{match[0]}{options} ", remedy)
    if run is not None and RunFolder(Path(run)).is_planned:
        remedy = with_real_commands(
            remedy, RunFolder(Path(run)), line, forgotten=forgotten, only_plan=code in NEEDS_PLAN
        )
    return remedy
