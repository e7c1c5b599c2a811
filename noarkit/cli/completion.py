"""`noarkit completion`: the script that lets a shell complete our commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from noarkit.cli.main import COMPLETION_VARIABLE, PROGRAM, program
from noarkit.cli.options import Session, command
from noarkit.events import EventFields

EVENTS: EventFields = {"completion": {"shell": "text", "script": "text"}}


@command("completion")
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion_command(session: Session, shell: str) -> None:
    """Prints the script for a shell."""
    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101  # click knows the three shells of the choice
    script = kind(program(), {}, PROGRAM, COMPLETION_VARIABLE).source()
    session.console.result("completion", script, shell=shell, script=script)
