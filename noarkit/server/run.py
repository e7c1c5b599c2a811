"""Runs the HTTP server of an archive folder: one process per folder, with an orderly start and stop.

Nothing is printed here; the caller learns the address through `ready`.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import uvicorn

from noarkit.errors import ConfigFault
from noarkit.safe import atomic, tls
from noarkit.safe.connections import LOOP, BoundedConnection
from noarkit.safe.locks import claimed
from noarkit.safe.memory import rare_collections
from noarkit.safe.peers import PEER, peer_uid
from noarkit.safe.secret_files import CLIENTS_FILE
from noarkit.safe.serving import StoppableServer
from noarkit.safe.signals import set_alarm, stop_signals
from noarkit.safe.sockets import claim_address
from noarkit.server import DATABASE_FILE, SERVING_FILE
from noarkit.server.areas import all_routes, open_service
from noarkit.server.asgi import ArchiveApp, Streaming
from noarkit.server.downloads import DownloadCall
from noarkit.server.exchange import TRANSPORT, Receive, Scope, Send
from noarkit.server.fair_queues import FairThreadPool
from noarkit.server.fault_script import FAULT_LOG, App, FaultInjector, read_script
from noarkit.server.safekeeping.manifest import begin_service
from noarkit.server.service import Service
from noarkit.server.uploads import UploadCall

LOGGER = logging.getLogger("noarkit.server")
LOG_FILE = "server.log"

_LOCK_FILE = "serving.lock"
_UPLOAD_THREADS, _UPLOAD_THREADS_EACH = 12, 8
_DOWNLOAD_THREADS, _DOWNLOAD_THREADS_EACH = 8, 6
# How long ending may take once the calls at work were given up.
_LAST_S = 2
_BACKLOG = 512
_ASK_PEER = "noarkit.ask-peer"
_FIRST_STEPS = frozenset({b"rms", b"noark5", b"idp", b"oauth2"})
"""How the addresses of the archive begin."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen; port 0 takes a free one. With a certificate and its key the archive speaks TLS, and with
    `tls_client_ca` it speaks to nobody who shows no certificate that this authority has signed."""

    host: str = "127.0.0.1"
    port: int = 8083
    tls_cert: Path | None = None
    tls_key: Path | None = None
    tls_client_ca: Path | None = None


@dataclass(frozen=True, slots=True)
class ServingInfo:
    """The address of a server whose port is open: base URL, token URL, and the file of client credentials."""

    url: str
    token_url: str
    clients: Path


def serve(
    data_dir: Path,
    address: Address | None = None,
    *,
    faults: Path | None = None,
    front: App | None = None,
    ready: Callable[[ServingInfo], None] = lambda ready: None,
    alive: Callable[[], None] = lambda: None,
    stop_event: threading.Event | None = None,
    starter_pid: int | None = None,
) -> None:
    """Serves the archive in `data_dir` until SIGTERM, SIGINT or `stop_event`; `front` answers every address that is
    not one of the archive's. `alive` is called while the loop turns. `starter_pid` is the process with which this one
    ends.

    Calls at work have `settings.shutdown_timeout_s` to finish and are then undone; two seconds later the process is
    gone, whatever holds it up. A second signal ends it at once. Raises RunLocked where another process serves the
    folder, ConfigFault where the address, certificate, settings or fault script cannot be used, UsageFault where the
    folder is a backup that is not finished.
    """
    address = address or Address()
    data_dir.mkdir(parents=True, exist_ok=True)
    with claimed(data_dir / _LOCK_FILE, str(data_dir)), _listen(address) as listener, _log_to(data_dir / LOG_FILE):
        with contextlib.suppress(PermissionError):  # a folder of another owner is for that owner to close
            data_dir.chmod(0o700)
        begin_service(data_dir)
        with atomic.no_room(data_dir / DATABASE_FILE):
            service = open_service(data_dir)
        try:
            with rare_collections():
                _run(
                    service,
                    address,
                    listener,
                    faults=faults,
                    front=front,
                    calls=(ready, alive),
                    stop_event=stop_event,
                    starter_pid=starter_pid,
                )
        finally:
            service.close()
            _cancel_alarm()


def _run(
    service: Service,
    address: Address,
    listener: socket.socket,
    *,
    faults: Path | None,
    front: App | None,
    calls: tuple[Callable[[ServingInfo], None], Callable[[], None]],
    stop_event: threading.Event | None,
    starter_pid: int | None,
) -> None:
    ready, alive = calls
    uploading = FairThreadPool("archive-upload", _UPLOAD_THREADS, _UPLOAD_THREADS_EACH)
    downloading = FairThreadPool("archive-download", _DOWNLOAD_THREADS, _DOWNLOAD_THREADS_EACH)
    streams: dict[tuple[str, str], Streaming] = {
        ("POST", "upload"): UploadCall(service, uploading),
        ("GET", "download"): DownloadCall(service, downloading),
    }
    app = ArchiveApp(service, service.identity, all_routes(), streams)
    info = _serving_info(service.data_dir, address, listener)
    serving_file = service.data_dir / SERVING_FILE
    served_app: App = app if faults is None else _wrap_faults(app, faults, service)
    if front is not None:
        served_app = FrontedApp(served_app, front)
    config = _config(served_app, address, service)
    server = _Server(
        config, stop_event, on_open=lambda: _announce(serving_file, info, starter_pid, ready), on_turn=alive
    )
    try:
        service.start(after_crash=serving_file.exists())
        server.run(sockets=[listener])
    finally:
        serving_file.unlink(missing_ok=True)
        service.stop()
        for threads in (app, uploading, downloading):
            threads.close()


def _cancel_alarm() -> None:
    if threading.current_thread() is threading.main_thread():
        set_alarm(0)


class _Server(StoppableServer):
    """A server with signal handling of our own."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """The first signal drains, the second ends."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {signal_number: signal.signal(signal_number, self.handle_exit) for signal_number in stop_signals()}
        try:
            yield
        finally:
            for signal_number, handler in before.items():
                signal.signal(signal_number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begins the shutdown; an alarm of the system ends the process if the shutdown hangs."""
        self.force_exit = self.should_exit
        self.begin_shutdown()

    def begin_shutdown(self) -> None:
        """Lets the service end with the next tick, and the process at the latest soon after the patience is over."""
        is_main = threading.current_thread() is threading.main_thread()
        if not self.should_exit and is_main:
            set_alarm(int(self.config.timeout_graceful_shutdown or 0) + _LAST_S)
        super().begin_shutdown()


def _wrap_faults(app: App, script: Path, service: Service) -> App:
    def find_stored_path(file_id: int) -> Path:
        facts = service.files.find_upload(file_id)
        return service.files.store.path(facts.sha256 if facts is not None else "")

    return FaultInjector(app, read_script(script), service.data_dir / FAULT_LOG, find_stored_path)


def _config(app: App, address: Address, service: Service) -> uvicorn.Config:
    settings = service.settings
    idle = max(1, int(settings.connection_idle_timeout_s))
    connection = type("Connection", (ArchiveConnection,), {"idle_s": settings.connection_idle_timeout_s})
    config = uvicorn.Config(
        app,
        http=connection,
        loop=LOOP,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=_BACKLOG,
        timeout_keep_alive=idle,
        timeout_graceful_shutdown=settings.shutdown_timeout_s,
    )
    config.load()
    if address.tls_cert is not None and address.tls_key is not None:
        config.ssl = tls.server_context(address.tls_cert, address.tls_key, address.tls_client_ca)
    return config


def _serving_info(data_dir: Path, address: Address, listener: socket.socket) -> ServingInfo:
    scheme = "https" if address.tls_cert else "http"
    host = f"[{address.host}]" if ":" in address.host else address.host
    root = f"{scheme}://{host}:{listener.getsockname()[1]}"
    return ServingInfo(f"{root}/rms/api/public", f"{root}/idp/oauth2/token", data_dir / CLIENTS_FILE)


def _announce(
    serving_file: Path, info: ServingInfo, starter_pid: int | None, ready: Callable[[ServingInfo], None]
) -> None:
    # whoever joins may stand in another folder than this process was started in
    clients = str(info.clients.absolute())
    payload = {"url": info.url, "token_url": info.token_url, "clients": clients, "pid": os.getpid()}
    if starter_pid is not None:
        payload["starter"] = starter_pid
    atomic.write_text(serving_file, json.dumps(payload) + "\n", mode=0o600)
    ready(info)


@contextlib.contextmanager
def _listen(address: Address) -> Iterator[socket.socket]:
    if (address.tls_cert is None) != (address.tls_key is None):
        raise ConfigFault(where="--tls-cert --tls-key", why="tls-half")
    if address.tls_client_ca is not None and address.tls_cert is None:
        raise ConfigFault(where="--tls-client-ca", why="tls-client-ca-alone")
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        claim_address(listener)
        try:
            listener.bind((address.host, address.port))
        except OSError as fault:
            raise ConfigFault(where=f"{address.host}:{address.port}", why=fault.strerror or str(fault)) from fault
        yield listener
    finally:
        listener.close()


@contextlib.contextmanager
def _log_to(path: Path) -> Iterator[None]:
    """Sends the service's log to a file of the archive folder: times, ids and places, never what a call held."""
    handler = logging.FileHandler(path, encoding="utf-8", delay=True)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    loggers = [LOGGER, logging.getLogger("uvicorn.error")]
    before = [(logger, logger.propagate, logger.level) for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.propagate = False
    LOGGER.setLevel(logging.INFO)
    loggers[1].setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, propagate, level in before:
            logger.removeHandler(handler)
            logger.propagate = propagate
            logger.setLevel(level)
        handler.close()


class FrontedApp:
    """An archive with another application before it, which answers what is no address of the archive."""

    def __init__(self, archive: App, front: App) -> None:
        self._archive = archive
        self._front = front

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hands the request to one of the two, by the first step of its address."""
        raw_path: bytes = scope.get("raw_path") or b"/"
        first = raw_path.lstrip(b"/").partition(b"/")[0]
        if scope["type"] != "http" or first in _FIRST_STEPS:
            await self._archive(scope, receive, send)
            return
        extensions: dict[str, object] = scope["extensions"]
        ask_peer = extensions.get(_ASK_PEER)
        await self._front({**scope, "extensions": {PEER: ask_peer() if callable(ask_peer) else None}}, receive, send)


class ArchiveConnection(BoundedConnection):
    """One connection of the archive, which calls may take over. Who is at its other end is asked only for the front."""

    _is_peer_known = False
    _uid: int | None = None

    def ask_peer(self) -> int | None:
        """The user of this machine at the other end; None for another machine, or where the system does not say."""
        if not self._is_peer_known:
            client, server = (self.transport.get_extra_info(name) for name in ("peername", "sockname"))
            self._uid = peer_uid(client[:2], server[:2]) if client and server else None
            self._is_peer_known = True
        return self._uid

    def on_message_begin(self) -> None:
        """A head begins."""
        super().on_message_begin()
        extensions = {TRANSPORT: self.transport, _ASK_PEER: self.ask_peer}
        self.scope["extensions"] = extensions  # type: ignore[typeddict-item]  # extensions of our own
