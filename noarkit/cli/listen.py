"""`noarkit listen`: receives webhooks of configured connections until a signal ends it."""

from __future__ import annotations

import logging
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from noarkit.cli.options import Session, command, option
from noarkit.errors import ConfigFault, NoarkitError, UsageFault
from noarkit.events import Event, EventFields
from noarkit.safe.tls import server_context
from noarkit.service_names import service_names

if TYPE_CHECKING:
    from noarkit.services.inbox.receiver import InboxEndpoint
    from noarkit.services.settings import Connection

EVENTS: EventFields = {"door": {"connection": "text", "path": "text"}}
_RENEWED_EACH_S = 3_600.0
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@command("listen", exits=(2,), wing="services")
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

    from noarkit.safe.connections import LOOP, StrictConnection
    from noarkit.safe.serving import StoppableServer
    from noarkit.services.inbox.endpoints import inbox_endpoints
    from noarkit.services.inbox.receiver import receiver
    from noarkit.services.inbox.store import Inbox, inbox_place

    connections = _select_connections(session, names)
    secured = server_context(tls_cert, tls_key or tls_cert) if tls_cert else None
    open_doors = inbox_endpoints(connections)
    inbox = Inbox(inbox_place(session.environment))
    console = session.console

    def on_event(event: Event, /) -> None:
        key = {"webhook_taken": "listen.taken", "webhook_refused": "listen.refused", "webhook_lost": "listen.lost"}
        console.notify(key[event.name], **{"event": "", "why": "", "ids": 0, **event.data})

    for path, door in sorted(open_doors.items()):
        line = session.texts.say("listen.door", connection=door.connection, path=path)
        console.result("door", line, connection=door.connection, path=path)
    console.notify("listen.begun", host=host, port=port)
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    config = uvicorn.Config(
        receiver(open_doors, inbox, on_event),
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        lifespan="off",
        limit_concurrency=256,
        timeout_keep_alive=5,
        http=StrictConnection,
        ws="none",
        loop=LOOP,
    )
    config.load()
    config.ssl = secured
    ended = threading.Event()
    alive = threading.Thread(target=_renew_webhooks, args=(connections, open_doors, ended, session), daemon=True)
    alive.start()
    try:
        operations = console.operations
        server = StoppableServer(config)
        if operations is not None:
            server = StoppableServer(config, on_open=operations.ready, on_turn=operations.alive)
        server.run()
    except SystemExit as end:  # how it says that it cannot bind
        raise ConfigFault(where=f"{host}:{port}", why="port-taken") from end
    finally:
        ended.set()
        inbox.close()
    console.notify("listen.ended")


def _renew_webhooks(
    connections: list[Connection], open_doors: dict[str, InboxEndpoint], ended: threading.Event, session: Session
) -> None:
    """Renews webhooks that would end, now and every hour; what fails is told and tried again. Messages under way bear
    the secret before, which stays good."""
    from noarkit.services.connections import renew_webhooks
    from noarkit.services.inbox.endpoints import inbox_endpoints

    while True:
        for connection in connections:
            try:
                if count := renew_webhooks(connection, datetime.now(UTC)):
                    session.console.notify("listen.renewed", connection=connection.full_name, count=count)
                    open_doors.update(inbox_endpoints([connection]))
            except NoarkitError as fault:
                session.console.notify("listen.not-renewed", connection=connection.full_name, code=fault.code)
        if ended.wait(_RENEWED_EACH_S):
            return


def _select_connections(session: Session, names: tuple[str, ...]) -> list[Connection]:
    """The connections that are named; without any, all whose messages can be proven."""
    from noarkit.services.connections import read_connection
    from noarkit.services.inbox.endpoints import has_endpoints

    config = session.config()
    if not names:
        configured = [
            f"{service}:{name}" for service in service_names() for name in config.connections.get(service, {})
        ]
        candidates = [read_connection(name, config, session.environment) for name in configured]
        names = tuple(
            connection.full_name for connection in candidates if connection is not None and has_endpoints(connection)
        )
    if not names:
        raise UsageFault(what="missing-argument", where="noarkit listen", fix="", own="connection")
    connections = []
    for name in names:
        connection = read_connection(name, config, session.environment)
        if connection is None:
            raise UsageFault(what="bad-value", where=name, gone=name, fix="", own="connection")
        connections.append(connection)
    return connections
