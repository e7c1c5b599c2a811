"""`noarkit listen`: receives webhooks of configured connections until a signal ends it."""

from __future__ import annotations

import logging
from pathlib import Path

import click

from noarkit.cli.options import Session, command, option
from noarkit.connectors.inbox.store import inbox_place
from noarkit.connectors.settings import SERVICES, Connection, connection
from noarkit.errors import UsageFault
from noarkit.events import Event

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@command("listen", exits=(2,))
@click.argument("names", metavar="[SERVICE:NAME]...", nargs=-1)
@option("--host", default="127.0.0.1", metavar="ADDRESS")
@option("--port", type=click.IntRange(0, 65535), default=8084, metavar="N")
@option("--tls-cert", type=_FILE, metavar="FILE")
@option("--tls-key", type=_FILE, metavar="FILE")
def listen_command(
    session: Session, *, names: tuple[str, ...], host: str, port: int, tls_cert: Path | None, tls_key: Path | None
) -> None:
    """Keeps what comes in the inbox; plans take hints from there."""
    import uvicorn

    from noarkit.connectors.inbox.doors import doors
    from noarkit.connectors.inbox.receiver import receiver
    from noarkit.connectors.inbox.store import Inbox

    open_doors = doors(_chosen(session, names))
    inbox = Inbox(inbox_place(session.environment))
    face = session.face

    def tell(event: Event, /) -> None:
        key = {"webhook_taken": "listen.taken", "webhook_refused": "listen.refused", "webhook_lost": "listen.lost"}
        face.tell(key[event.name], **{"event": "", "why": "", "ids": 0, **event.data})

    for path, door in sorted(open_doors.items()):
        line = session.texts.say("listen.door", connection=door.connection, path=path)
        face.result("door", line, connection=door.connection, path=path)
    face.tell("listen.begun", host=host, port=port)
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    config = uvicorn.Config(
        receiver(open_doors, inbox, tell),
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        lifespan="off",
        ssl_certfile=str(tls_cert) if tls_cert else None,
        ssl_keyfile=str(tls_key) if tls_key else None,
        limit_concurrency=256,
        timeout_keep_alive=5,
    )
    try:
        uvicorn.Server(config).run()
    finally:
        inbox.close()
    face.tell("listen.ended")


def _chosen(session: Session, names: tuple[str, ...]) -> list[Connection]:
    """The connections that are named; without any, all that have a secret for webhooks."""
    config = session.config()
    if not names:
        names = tuple(
            f"{service}:{name}"
            for service in SERVICES
            for name, table in config.connections.get(service, {}).items()
            if isinstance(table, dict) and "webhook_secret" in table
        )
    if not names:
        raise UsageFault(what="missing-argument", where="noarkit listen", do="noarkit listen spend:main")
    found = []
    for name in names:
        to = connection(name, config, session.environment)
        if to is None:
            raise UsageFault(what="bad-value", where=name, do="noarkit listen spend:main")
        found.append(to)
    return found
