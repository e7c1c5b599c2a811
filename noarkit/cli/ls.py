"""`noarkit ls`: what lies directly in an item of a place, or at its top."""

from __future__ import annotations

import click

from noarkit.cli.look_lines import LookLines
from noarkit.cli.options import Session, command, option
from noarkit.cli.running import settings, working


@command("ls", exits=(4, 5, 6, 8, 9, 10, 130, 143))
@click.argument("place", metavar="PLACE")
@click.argument("item", metavar="[ID]", required=False)
@option("--refresh", is_flag=True)
def ls_command(session: Session, place: str, item: str | None, *, refresh: bool) -> None:
    """A line an item, as they come."""
    from noarkit.api.browsing import open_catalogue
    from noarkit.api.looking import ls

    lines, count = LookLines(session.texts, session.config().zone), 0
    caller = settings(session, None)
    with (
        working(session) as work,
        open_catalogue(place, settings=caller, listener=work.emit, refresh=refresh) as catalogue,
    ):
        work.progress.close()
        for listed in ls(catalogue, item):
            session.console.show(listed, lines.entry(listed.entry))
            count += 1
    session.console.count(items=count)
    if not count:
        session.console.notify("looks.nothing")
