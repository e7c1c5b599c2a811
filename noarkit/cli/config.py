"""`noarkit config show|check`: shows every setting and where it comes from, or checks the configuration."""

from __future__ import annotations

import click

from noarkit.cli.options import Session, command, option
from noarkit.config import Origin, flatten
from noarkit.events import EventFields
from noarkit.words.texts import Texts, plain

EVENTS: EventFields = {
    "setting": {
        "key": "text",
        "value": "text?",
        "origin": ("flag", "environment", "profile", "file", "default"),
        "where": "text?",
        "connection": "text?",
    },
    "config": {"path": "text"},
}


@command("config")
@click.argument("action", type=click.Choice(("show", "check")))
@option("--origin", is_flag=True)
def config_command(session: Session, action: str, origin: bool) -> None:
    """Shows or checks the settings. Of a secret only its place is shown (a file, a variable), never its value."""
    config = session.config()
    if action == "show":
        rows = list(flatten(config))
        width = max(len(key) for key, _, _ in rows)
        for key, value, source in rows:
            display = value or session.texts.say("config.unset")
            line = f"{key:<{width}}  {display}" + (f"  [{_origin(session.texts, source)}]" if origin else "")
            session.console.result(
                "setting", line, key=key, value=value or None, origin=source.kind, where=source.where
            )
        return
    for path in config.files:
        session.console.result("config", session.texts.say("config.file", path=path), path=str(path))
    if config.files:
        session.console.notify("config.good", count=len(config.files))
    else:
        session.console.notify("config.none")


def _origin(texts: Texts, origin: Origin) -> str:
    return f"{texts.say(f'config.origin.{origin.kind}')} {plain(origin.where)}".rstrip()
