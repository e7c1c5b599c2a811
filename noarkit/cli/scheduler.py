"""`noarkit scheduler`: where the workers of several machines and the run that they load meet."""

from __future__ import annotations

from pathlib import Path

from noarkit.api.clustering import parse_listen
from noarkit.cli.options import FOLDER, Session, command, option
from noarkit.events import EventFields

EVENTS: EventFields = {"scheduler": {"address": "text"}}
DEFAULT_PORT = 8786


@command("scheduler", exits=(), wing="cluster")
@option("--tls", type=FOLDER, metavar="DIR")
@option("--listen", metavar="HOST:PORT", default=f"127.0.0.1:{DEFAULT_PORT}")
def scheduler_command(session: Session, *, tls: Path | None, listen: str) -> None:
    """Serves until a signal ends it."""
    from noarkit.loading.engines.cluster.scheduler import serve_scheduler

    host, port = parse_listen(listen, DEFAULT_PORT)

    def announce(at_host: str, at_port: int) -> None:
        address = f"dask://{f'[{at_host}]' if ':' in at_host else at_host}:{at_port}"
        session.console.result("scheduler", session.texts.say("cluster.scheduler", address=address), address=address)

    serve_scheduler(tls, host, port, announce)
    session.console.notify("cluster.ended")
