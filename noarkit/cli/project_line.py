"""`--project PROJECT`: an ordinary command is given what a project says of it, and what stands on the line goes first.

noarkit verify --project saetre   ->   noarkit verify saetre/run --archive embedded:saetre/archive --depth bytes
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

NAME = "project"
COMMANDS = frozenset(
    {
        *("recipe", "scan", "derive", "plan", "estimate", "approve", "ingest", "status", "retry", "close", "retract"),
        *("verify", "report", "extract", "validate", "doctor"),
        *("browse", "search", "find-person", "ls", "show", "get", "codes", "groups"),
    }
)
"""The commands that a project says something of."""


def with_project(command: click.Command, ctx: click.Context, words: Sequence[str]) -> list[str]:
    """The words of a line with those of the project that it names before them, as far as they do not stand on it."""
    values, _, _ = command.make_parser(ctx).parse_args(list(words))
    option = next(parameter for parameter in command.params if parameter.name == NAME)
    folder = values.get(NAME) or option.resolve_envvar_value(ctx)
    if not isinstance(folder, str):
        return list(words)
    from noarkit.projects.lines import line_of  # only where it is asked for: most lines are of no project
    from noarkit.projects.project import read_project

    places = [parameter for parameter in command.params if isinstance(parameter, click.Argument)]
    typed = [value for place in places if isinstance(value := values.get(place.name or ""), str | tuple)]
    action = typed[:1] if command.name == "recipe" else []
    own = list(words)
    for word in action:
        own.remove(str(word))
    arguments, options = _parted(line_of(" ".join([command.name or "", *map(str, action)]), read_project(Path(folder))))
    is_endless = any(place.nargs < 0 for place in places)
    if not is_endless and len(typed) + len(arguments) > len(places):
        arguments = []
    return [*map(str, action), *options, *arguments, *own]


def _parted(line: Sequence[str]) -> tuple[list[str], list[str]]:
    """The arguments, which stand first, and the options behind them."""
    first_option = next((place for place, word in enumerate(line) if word.startswith("-")), len(line))
    return list(line[:first_option]), list(line[first_option:])
