"""`noarkit backup`: copies an embedded archive while it serves, and checks the copy."""

from __future__ import annotations

from pathlib import Path

import click

from noarkit.api.safekeeping import backup
from noarkit.cli.next_command import next_command
from noarkit.cli.options import FOLDER, Session, command, option
from noarkit.cli.running import working
from noarkit.events import EventFields

EVENTS: EventFields = {"backup": {"source": "text"}}


@command("backup", exits=(5, 7, 9, 10, 130, 143))
@click.argument("folder", metavar="DIR", type=FOLDER)
@option("-o", "--output", "target", type=FOLDER, metavar="TARGET", required=True, variable=None)
@option("--previous", type=FOLDER, metavar="BACKUP")
def backup_command(session: Session, folder: Path, *, target: Path, previous: Path | None) -> None:
    """Backs up, and says how much and what serves it."""
    with working(session) as work:
        result = backup(folder, target, previous=previous, listener=work.emit)
    texts = session.texts
    line = texts.say(
        "backup.made",
        where=target,
        rows=result.rows,
        files=result.files,
        size=texts.size(result.bytes),
        linked=result.linked or None,
    )
    session.console.show(result, line, source=str(folder))
    session.console.notify("backup.next", command=next_command("serve", "--data", target))
