"""python -m scripts.benchmarks.late_standin SERVICE RECORDS SECONDS CONFIG: a stand-in without limits whose every
answer comes late by so many seconds, as those of a service far away do. Prints its address."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from noarkit.cli.standin import find_standin
from noarkit.services.standins.server import ReadyStandin, StandinSpec, serve


def late(app: ASGIApp, late_s: float) -> ASGIApp:
    """The application, which thinks before each answer."""

    async def waiting(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await asyncio.sleep(late_s)
        await app(scope, receive, send)

    return waiting


def _main(service: str, records: str, late_s: str, config: str) -> None:
    def announce(ready: ReadyStandin) -> None:
        print(json.dumps({"url": ready.url}), flush=True)

    spec = StandinSpec(int(records), limits=(), archivable=True)
    serve(
        service,
        find_standin(service),
        spec,
        config_out=Path(config),
        ready=announce,
        around=lambda app: late(app, float(late_s)),
    )


if __name__ == "__main__":
    _main(*sys.argv[1:])
