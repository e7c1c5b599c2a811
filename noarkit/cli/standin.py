"""`noarkit standin`: runs a stand-in of a service, for rehearsals and tests, until a signal ends it."""

from __future__ import annotations

import re
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from noarkit.cli.next_command import next_command
from noarkit.cli.options import Session, command, option
from noarkit.errors import UsageFault
from noarkit.events import EventFields
from noarkit.loading.next_step import propose_run
from noarkit.service_names import GROUP, service_names

if TYPE_CHECKING:
    from noarkit.services.standins.histories.script import History
    from noarkit.services.standins.server import StandinBuilder

EVENTS: EventFields = {"standin": {"service": "text", "url": "text", "config": "text"}}
_LIMIT = re.compile(r"(\d+)/(\d+(?:\.\d+)?)")


@command("standin", exits=(2,), wing="standins")
@click.argument("service", metavar="SERVICE", type=click.Choice(service_names()))
@option("--port", type=click.IntRange(0, 65535), default=0, metavar="N")
@option("--records", type=click.IntRange(1, 100_000_000), default=1_000, metavar="N")
@option("--seed", type=int, default=1, metavar="S")
@option("--config-out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE")
@option("--token-life", type=click.FloatRange(1, 86_400), default=3_600, metavar="SECONDS")
@option("--limit", "limits", multiple=True, metavar="N/SECONDS")
@option("--set", "options", multiple=True, metavar="NAME=VALUE")
@option("--history", metavar="FILE|SEED")
@option("--history-out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE")
def standin_command(
    session: Session,
    *,
    service: str,
    port: int,
    records: int,
    seed: int,
    config_out: Path | None,
    token_life: float,
    limits: tuple[str, ...],
    options: tuple[str, ...],
    history: str | None,
    history_out: Path | None,
) -> None:
    """Serves a stand-in; its config stands before the port opens."""
    from noarkit.services.standins.histories.script import write_history
    from noarkit.services.standins.server import ReadyStandin, StandinSpec, serve

    console = session.console

    def announce(ready: ReadyStandin) -> None:
        line = session.texts.say("standin.address", service=service, url=ready.url)
        console.result("standin", line, service=service, url=ready.url, config=str(ready.config or ""))
        if ready.config is not None:
            name = f"{service}:standin"
            command = next_command("plan", name, "-o", propose_run(name), "--config", ready.config)
            console.notify("standin.config", path=ready.config, command=command)
        console.notify("serve.stop")

    windows = tuple(_limit(text) for text in limits) if limits else None
    script = _history(service, history) if history else None
    if history_out is not None and script is not None:
        write_history(history_out, script)
    spec = StandinSpec(
        records, seed, token_life, windows, dict(_option(text) for text in options), archivable=True, history=script
    )
    serve(service, find_standin(service), spec, port=port, config_out=config_out, ready=announce)
    console.notify("standin.stopped")


def find_standin(service: str) -> StandinBuilder:
    """The function that builds the stand-in of a service. Raises `UsageFault` for a service that has none."""
    from noarkit.services.registry import find_kind

    reference = find_kind(service).standin
    if not reference:
        raise UsageFault(what="no-standin", where=service)
    return cast("StandinBuilder", EntryPoint(service, reference, GROUP).load())  # a reference is known by its text


def _history(service: str, text: str) -> History:
    """The history in a file, or the one of a seed. Raises `ConfigFault`, `UsageFault` for a service that plays none."""
    from noarkit.services.registry import find_kind
    from noarkit.services.standins.histories.chance import Chances, draw_history
    from noarkit.services.standins.histories.script import read_history

    reference = find_kind(service).chances
    if not reference:
        raise UsageFault(what="no-history", where=service)
    if not text.isdecimal():
        return read_history(Path(text))
    chances = cast("Chances", EntryPoint(service, reference, GROUP).load())  # a reference is known by its text
    return draw_history(chances, int(text))


def _limit(text: str) -> tuple[int, float]:
    match = _LIMIT.fullmatch(text)
    if match is None:
        raise UsageFault(what="bad-value", where="--limit", fix="--limit 600/60")
    return int(match[1]), float(match[2])


def _option(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name, value or "yes"
