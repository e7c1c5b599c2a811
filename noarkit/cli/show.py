"""`noarkit show`: all that is known of one item: fields, documents with their custody chains, links, history."""

from __future__ import annotations

import click

from noarkit.cli.look_lines import LookLines
from noarkit.cli.options import Session, command, option
from noarkit.cli.running import settings, working
from noarkit.errors import UsageFault


@command("show", exits=(4, 5, 6, 8, 9, 10, 130, 143))
@click.argument("place", metavar="PLACE")
@click.argument("item", metavar="ID")
@option("--reveal", is_flag=True)
@option("--because", metavar="TEXT")
@option("--refresh", is_flag=True)
def show_command(session: Session, place: str, item: str, *, reveal: bool, because: str | None, refresh: bool) -> None:
    """The card of an item, masked unless a reason is given."""
    from noarkit.api.browsing import open_catalogue
    from noarkit.api.looking import show

    reason = reason_for(reveal, because, item)
    caller = settings(session, None)
    with (
        working(session) as work,
        open_catalogue(place, settings=caller, listener=work.emit, refresh=refresh) as catalogue,
    ):
        work.progress.close()
        shown = show(catalogue, item, because=reason)
    text = "\n".join(
        LookLines(session.texts, catalogue.zone, shown.is_revealed).card(shown.card, is_masked=shown.is_masked)
    )
    session.console.show(shown, text)


def reason_for(reveal: bool, because: str | None, item: str) -> str | None:  # as the options come
    """The reason to show what is screened; None where that is not asked for. Raises `UsageFault` for one option without
    the other."""
    if reveal and not (because or "").strip():
        raise UsageFault(what="reveal-unreasoned", where=item, fix="--because", own="reason")
    if because is not None and not reveal:
        raise UsageFault(what="bad-value", where="--because", fix="--reveal")
    return because if reveal else None
