"""`noarkit serve`: runs the embedded archive until a signal ends it."""

from __future__ import annotations

import ipaddress
from pathlib import Path

import click

from noarkit.api.safekeeping import check_archive
from noarkit.cli.archive_room import ArchiveRoom
from noarkit.cli.options import Session, command, option
from noarkit.cli.running import working
from noarkit.errors import UsageFault, VerifyMismatch
from noarkit.events import EventFields
from noarkit.wings import has_wing

DEFAULT_DATA = "noarkit-archive"
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)

EVENTS: EventFields = {
    "serving": {"url": "text", "token_url": "text", "clients": "text"},
    "archive_check": {"where": "text"},
    "flaw": {"kind": "text", "where": "text", "detail": "text"},
}


@command("serve", exits=(4, 7, 9, 10), wing="server")
@option("--data", type=click.Path(file_okay=False, path_type=Path), default=DEFAULT_DATA, metavar="DIR")
@option("--host", default="127.0.0.1", metavar="ADDRESS")
@option("--port", type=click.IntRange(0, 65535), default=8083, metavar="N")
@option("--tls-cert", type=_FILE, metavar="FILE")
@option("--tls-key", type=_FILE, metavar="FILE")
@option("--tls-client-ca", type=_FILE, metavar="FILE")
@option("--room-host", multiple=True, metavar="NAME")
@option("--check", type=click.Path(file_okay=False, path_type=Path), metavar="DIR")
@option("--faults", type=_FILE, metavar="FILE")
@option("--i-am-testing", is_flag=True)
def serve_command(
    session: Session,
    *,
    data: Path,
    host: str,
    port: int,
    tls_cert: Path | None,
    tls_key: Path | None,
    tls_client_ca: Path | None,
    room_host: tuple[str, ...],
    check: Path | None,
    faults: Path | None,
    i_am_testing: bool,
) -> int:
    """Serves the archive of a folder, or checks one and serves nothing."""
    from noarkit.server.run import Address, ServingInfo, serve

    if check is not None:
        return check_folder(session, check)
    if faults is not None and not i_am_testing:
        raise UsageFault(what="not-testing", where="--faults", fix="--i-am-testing")
    console = session.console
    room = None
    if has_wing("reading-room"):
        room = ArchiveRoom(session, data, host=host, names=room_host, tls_cert=tls_cert)

    def announce(ready: ServingInfo) -> None:
        line = session.texts.say("serve.address", url=ready.url)
        console.result("serving", line, url=ready.url, token_url=ready.token_url, clients=str(ready.clients))
        console.notify("serve.token", url=ready.token_url)
        console.notify("serve.clients", path=ready.clients)
        if room is not None:
            room.base_url = ready.url
            console.notify("serve.room", url=ready.url.removesuffix("/rms/api/public") + "/")
        if faults is not None:
            console.notify("serve.faults", path=faults)
        if tls_cert is None and not _is_this_machine(host):
            console.notify("serve.open")
        console.notify("serve.stop")
        if console.operations is not None:
            console.operations.ready()

    def alive() -> None:
        if console.operations is not None:
            console.operations.alive()

    try:
        address = Address(host, port, tls_cert, tls_key, tls_client_ca)
        serve(data, address, faults=faults, front=room, ready=announce, alive=alive)
    finally:
        if room is not None:
            room.close()
    console.notify("serve.stopped")
    return 0


def check_folder(session: Session, folder: Path) -> int:
    """Checks an archive folder, and says what is wrong with it."""
    with working(session) as work:
        result = check_archive(folder, listener=work.emit)
    texts = session.texts
    for kind, where, detail in result.flaws:
        line = texts.say("check.flaw", flaw=texts.reason(kind), where=where, detail=detail or None)
        session.console.result("flaw", line, kind=kind, where=where, detail=detail)
    values = {
        **result.to_dict(),
        "size": texts.size(result.bytes),
        "more": result.flaw_count - len(result.flaws) or None,
    }
    key = "check.sound" if not result.flaw_count else "check.damaged"
    session.console.show(result, texts.say(key, where=folder, **values), where=str(folder))
    return VerifyMismatch.exit_code if result.flaw_count else 0


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
