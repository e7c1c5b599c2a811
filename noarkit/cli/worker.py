"""`noarkit worker`: lends this machine to runs that are loaded by several machines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from noarkit.api.clustering import WorkerOptions, parse_listen, parse_source_map, serve_workers
from noarkit.cli.options import FOLDER, Session, command, option
from noarkit.cli.running import draining, settings
from noarkit.events import EventFields
from noarkit.loading.stopping import StopRequest

EVENTS: EventFields = {"worker": {"scheduler": "text", "slots": "count", "addresses": "list"}}
_MOST_SLOTS = 64
_BEAT = "NOARKIT_WORKER_BEAT_S"  # for tests, which cannot wait


@command("worker", exits=(6,), wing="cluster")
@click.argument("scheduler", metavar="dask://HOST:PORT")
@option("--tls", type=FOLDER, metavar="DIR")
@option("--slots", type=click.IntRange(1, _MOST_SLOTS), default=1, metavar="N")
@option("--listen", metavar="HOST:PORT")
@option("--source-map", metavar="OLD=NEW", multiple=True)
@option("--archive", metavar="URL", variable=None)
def worker_command(
    session: Session,
    scheduler: str,
    *,
    tls: Path | None,
    slots: int,
    listen: str | None,
    source_map: tuple[str, ...],
    archive: str | None,
) -> None:
    """Works for runs until a signal ends it, after the chunk that it is working on."""
    options = WorkerOptions(
        scheduler=scheduler,
        tls=tls,
        slots=slots,
        listen=parse_listen(listen, 0) if listen else None,
        source_map=parse_source_map(source_map),
        beat_s=float(session.environment.get(_BEAT, "2")),
    )
    stopping = StopRequest()
    console = session.console

    def announce(addresses: Sequence[str]) -> None:
        line = session.texts.say("cluster.worker", scheduler=scheduler, slots=slots)
        console.result("worker", line, scheduler=scheduler, slots=slots, addresses=list(addresses))

    def begin() -> None:
        console.notify("cluster.looking", scheduler=scheduler)

    with draining(stopping, lambda: None, lambda: None):
        own = settings(session, archive)
        serve_workers(options, own, should_stop=lambda: bool(stopping), on_begin=begin, on_ready=announce)
    console.notify("cluster.ended")
