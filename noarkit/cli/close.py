"""`noarkit close`: finalises what a run made."""

from __future__ import annotations

from pathlib import Path

import click

from noarkit.api.closing import close
from noarkit.cli.options import FOLDER, Session, command, option
from noarkit.cli.running import require_run, settings, working
from noarkit.errors import Paused
from noarkit.events import EventFields
from noarkit.loading.folder import RunFolder

EVENTS: EventFields = {"closed_run": {"run": "text"}}


@command("close", exits=(3, 4, 5, 6, 9, 130, 143))
@click.argument("run", metavar="RUN", type=FOLDER)
@option("--archive", metavar="URL", variable=None)
def close_command(session: Session, run: Path, *, archive: str | None) -> int:
    """Closes, and says how much."""
    require_run(run)
    with working(session, drains=True) as work:
        closed = close(run, settings=settings(session, archive), stop_request=work.stopping, listener=work.emit)
    count = sum(closed.closed.values()) - closed.refused_count
    line = session.texts.say(
        "close.again" if closed.was_closed else "close.done",
        count=count,
        archive=RunFolder(run).archive_name(),
        refused=closed.refused_count or None,
    )
    session.console.show(closed, line, run=run.name)
    if not closed.is_complete:
        raise Paused(signal=work.stopping.reason)
    return 3 if closed.refused_count else 0
