"""`noarkit browse`: opens a reading room over a place until a signal ends it, or writes the same pages as files."""

from __future__ import annotations

import tempfile
import threading
import webbrowser
from contextlib import ExitStack
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import click

from noarkit.cli.options import Session, command, option
from noarkit.cli.running import settings, working
from noarkit.errors import UsageFault
from noarkit.events import EventFields
from noarkit.loading.next_step import free_name
from noarkit.safe import atomic

if TYPE_CHECKING:
    from noarkit.catalogue.catalogue import Catalogue
    from noarkit.reading_room.serve import OpenRoom

EVENTS: EventFields = {
    "room": {"place": "text", "url": "text?", "link_file": "text?"},
    "static_copy": {
        **{"place": "text", "path": "text", "files": "count", "bytes": "count"},
        **{"documents": "count", "lost": "count", "differing": "count", "without_text": "count"},
    },
}


@command("browse", exits=(3, 4, 5, 6, 8, 10), wing="reading-room")
@click.argument("place", metavar="PLACE")
@option("--open", "open_", is_flag=True)
@option("--port", type=click.IntRange(0, 65535), default=0, metavar="N")
@option("--link-file", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE")
@option("--static", type=click.Path(path_type=Path), metavar="DIR")
@option("--with-documents", is_flag=True)
@option("--refresh", is_flag=True)
@option("--read-documents/--no-read-documents", default=None)
def browse_command(
    session: Session,
    *,
    place: str,
    open_: bool,
    port: int,
    link_file: Path | None,
    static: Path | None,
    with_documents: bool,
    refresh: bool,
    read_documents: bool | None,
) -> None:
    """Serves, or writes files."""
    from noarkit.api.browsing import open_catalogue
    from noarkit.api.comparing import is_archive
    from noarkit.api.destination import EMBEDDED

    if with_documents and static is None:
        raise UsageFault(what="bad-value", where="--with-documents", fix=f"--static {free_name(Path('reading-copy'))}")
    listener = session.console.on_event
    with ExitStack() as stack:
        with working(session) as work:
            caller = settings(session, None)
            opened = open_catalogue(place, settings=caller, listener=work.emit, refresh=refresh)
        catalogue = stack.enter_context(opened)
        if static is not None:
            _write_copy(session, catalogue, place, static, with_documents=with_documents)
            return
        from noarkit.reading_room.serve import serve_room

        def announce(room: OpenRoom) -> None:
            _announce(session, room, place, link_file)
            if link_file is not None:
                stack.callback(link_file.unlink, missing_ok=True)
            if open_:
                # some browsers keep who starts them waiting, and the room must answer them meanwhile
                threading.Thread(target=_open_browser, args=(session, room.link, stack), daemon=True).start()

        # what is behind an address is fetched to be read only if that is asked for
        reads = not is_archive(place) or place.startswith(EMBEDDED) if read_documents is None else read_documents
        lang = session.texts.lang
        serve_room(catalogue, lang=lang, port=port, ready=announce, emit=listener, reads_documents=reads)
    session.console.notify("browse.closed-now")


def _write_copy(session: Session, catalogue: Catalogue, place: str, target: Path, *, with_documents: bool) -> None:
    from noarkit.reading_room.static.writer import write_static_copy

    console, lang = session.console, session.texts.lang
    copy = write_static_copy(catalogue, target, lang=lang, with_documents=with_documents, emit=console.on_event)
    first = target / "index.html"
    line = session.texts.say("browse.static-written", path=target, count=copy.files, first=first)
    documents = {"documents": copy.documents.copied, "lost": copy.documents.lost, "differing": copy.documents.differing}
    documents["without_text"] = copy.without_text
    console.result(
        "static_copy", line, place=place, path=str(target), files=copy.files, bytes=copy.size_bytes, **documents
    )
    if copy.documents.lost or copy.documents.differing:
        console.notify("browse.static-lost", lost=copy.documents.lost, differing=copy.documents.differing)
    if copy.without_text:
        console.notify("browse.static-without-text", count=copy.without_text)


def _announce(session: Session, room: OpenRoom, place: str, link_file: Path | None) -> None:
    """Says where the room is: on the terminal, or in a file that its owner alone can read."""
    console = session.console
    if link_file is not None:
        atomic.write_text(link_file, room.link + "\n", mode=0o600)
        line = session.texts.say("browse.link-file", path=link_file)
        console.result("room", line, place=place, link_file=str(link_file))
    else:
        console.notify("browse.opened")
        console.result("room", room.link, place=place, url=room.link)
    console.notify("browse.stop")


def _open_browser(session: Session, link: str, stack: ExitStack) -> None:
    """Opens the link by a page in a folder of our own: on a command line others could read it."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="noarkit-")))
    page = folder / "open.html"
    text = f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={escape(link)}">'
    atomic.write_text(page, text + f'<a href="{escape(link)}">noarkit</a>\n', mode=0o600)
    if not webbrowser.open(page.as_uri()):
        session.console.notify("browse.no-browser")
