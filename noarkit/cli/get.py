"""`noarkit get`: the bytes of one document, checked, whole or not at all."""

from __future__ import annotations

from pathlib import Path

import click

from noarkit.cli.options import Session, command, option
from noarkit.cli.running import settings, working
from noarkit.cli.show import reason_for


@command("get", exits=(3, 4, 5, 6, 7, 8, 9, 10, 130, 143))
@click.argument("place", metavar="PLACE")
@click.argument("item", metavar="ID")
@option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", required=True)
@option("--reveal", is_flag=True)
@option("--because", metavar="TEXT")
@option("--refresh", is_flag=True)
def get_command(
    session: Session, *, place: str, item: str, output: Path, reveal: bool, because: str | None, refresh: bool
) -> None:
    """Writes the document, and says whether its checksum could be compared."""
    from noarkit.api.browsing import open_catalogue
    from noarkit.api.looking import get

    reason = reason_for(reveal, because, item)
    caller = settings(session, None)
    with (
        working(session) as work,
        open_catalogue(place, settings=caller, listener=work.emit, refresh=refresh) as catalogue,
    ):
        work.progress.close()
        fetched = get(catalogue, item, output, because=reason, settings=caller)
    how = "looks.checked" if fetched.is_checked else "looks.unchecked"
    line = session.texts.say(how, path=fetched.path, size=session.texts.size(fetched.size_bytes), sha256=fetched.sha256)
    session.console.show(fetched, line)
    session.console.count(bytes=fetched.size_bytes)
