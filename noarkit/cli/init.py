"""`noarkit init`: writes a commented `noarkit.toml` and `package.toml`, and never over what is there."""

from __future__ import annotations

from pathlib import Path

import click

from noarkit.cli.options import Session, command
from noarkit.errors import ConfigFault, UsageFault
from noarkit.events import EventFields
from noarkit.safe.atomic import write_text
from noarkit.words.texts import template

EVENTS: EventFields = {"made": {"path": "text", "undecided": "list?"}, "kept": {"path": "text"}}
_FILES = ("noarkit.toml", "package.toml")


@command("init", exits=(10,))
@click.argument("directory", metavar="[DIR]", type=click.Path(file_okay=False, path_type=Path), default=".")
def init_command(session: Session, directory: Path) -> None:
    """Makes the two files in a folder."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name in _FILES:
            path = directory / name
            created = _make(path, template(name, session.texts.lang))
            line = session.texts.say("init.made" if created else "init.kept", path=path)
            session.console.result("made" if created else "kept", line, path=str(path))
    except OSError as error:
        raise ConfigFault(where=str(directory), why=error.strerror or "unreadable") from error
    session.console.notify("init.next")


def _make(path: Path, text: str) -> bool:
    try:
        write_text(path, text, replace=False)
    except UsageFault:
        return False
    return True
