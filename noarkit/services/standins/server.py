"""Serves one stand-in on a loopback port until a signal ends it. Its config file exists before the port opens.

Nothing is printed here; the caller is notified through `ready`.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Protocol

import uvicorn
from starlette.types import ASGIApp

from noarkit.errors import ConfigFault
from noarkit.safe.atomic import write_text
from noarkit.safe.connections import StrictConnection
from noarkit.safe.serving import StoppableServer
from noarkit.safe.signals import stop_signals
from noarkit.safe.sockets import claim_address
from noarkit.services.standins.histories.script import History

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class StandinSpec:
    """The specification of a stand-in. `limits` are the rate windows (calls, seconds) that it enforces; none if the
    tuple is empty.

    With `archivable`, at least `records` archivable records; otherwise so many of its main kind, such as the findings
    of scans. A `history` is played while it is served.
    """

    records: int = 1_000
    seed: int = 1
    lifetime_s: float = 3_600.0
    limits: tuple[tuple[int, float], ...] | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    archivable: bool = False
    history: History | None = None

    def rates(self) -> list[str]:
        """Formats the limits as the `rates` of a connection."""
        return [f"{calls}/{span:g}s" for calls, span in self.limits or ()] or ["1000000/s"]


class Standin(Protocol):
    """One stand-in, built for an address. `settings` are the lines of its connection, `secrets` what they name."""

    @property
    def app(self) -> ASGIApp: ...

    def settings(self) -> Mapping[str, object]:
        """The settings of a connection to it."""
        ...

    def secrets(self) -> Mapping[str, str | tuple[str, ...]]:
        """Secrets of the connection by key; several if the key names a list of them."""
        ...

    def close(self) -> None:
        """Stops what runs beside the app."""
        ...


class StandinBuilder(Protocol):
    """What the kind of a service names as its stand-in."""

    def __call__(self, url: str, spec: StandinSpec) -> Standin:
        """Builds the stand-in for an address."""
        ...


@dataclass(frozen=True, slots=True)
class ReadyStandin:
    """A stand-in that is ready to answer."""

    service: str
    url: str
    config: Path | None


def serve(
    service: str,
    build: StandinBuilder,
    spec: StandinSpec,
    *,
    port: int = 0,
    config_out: Path | None = None,
    ready: Callable[[ReadyStandin], None] = lambda ready: None,
    stop_event: threading.Event | None = None,
    around: Callable[[ASGIApp], ASGIApp] = lambda app: app,
) -> None:
    """Serves until SIGTERM, SIGINT or `stop_event`; `around` may wrap the application to record calls.

    Raises `ConfigFault`.
    """
    with _listen(port) as listener:
        url = f"http://{HOST}:{listener.getsockname()[1]}"
        standin = build(url, spec)
        try:
            if config_out is not None:
                write_config(config_out, service, standin)
            listener.listen(256)
            ready(ReadyStandin(service, url, config_out))
            _run(around(standin.app), listener, stop_event)
        finally:
            standin.close()


def write_config(path: Path, service: str, standin: Standin) -> None:
    """Writes a config with a connection named `standin`; its secrets lie beside it, readable by their owner alone."""
    folder = path.absolute().parent
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"[connections.{service}.standin]"]
    lines += [f"{key} = {_toml(value)}" for key, value in standin.settings().items()]
    for key, secret in standin.secrets().items():
        entries = []
        for number, secret_text in enumerate((secret,) if isinstance(secret, str) else secret):
            place = folder / f"{path.stem}-{service}-{key}{number or ''}.secret"
            write_text(place, secret_text + "\n", mode=0o600)
            entries.append(f"{{ file = {_toml(str(place))} }}")
        lines.append(f"{key} = " + (entries[0] if isinstance(secret, str) else f"[{', '.join(entries)}]"))
    write_text(path, "\n".join(lines) + "\n", mode=0o600)


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'


@contextlib.contextmanager
def _listen(port: int) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        claim_address(listener)
        try:
            listener.bind((HOST, port))
        except OSError as error:
            raise ConfigFault(where=f"{HOST}:{port}", why="port-taken", detail=os.strerror(error.errno or 0)) from error
        yield listener


def _run(app: ASGIApp, listener: socket.socket, stop_event: threading.Event | None) -> None:
    config = uvicorn.Config(
        app, log_config=None, access_log=False, lifespan="auto", timeout_keep_alive=5, http=StrictConnection, ws="none"
    )
    server = StoppableServer(config, stop_event)
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)

    def stop(number: int, frame: FrameType | None) -> None:
        server.begin_shutdown()

    on_main = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, stop) for number in stop_signals()} if on_main else {}
    try:
        with contextlib.ExitStack() as stack:
            server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]  # older ones install their own
            stack.callback(listener.close)
            server.run(sockets=[listener])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
