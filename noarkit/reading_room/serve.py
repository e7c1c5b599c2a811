"""Serves a room on 127.0.0.1 until a signal or an event ends it: pages at one port, contents at another."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType

import uvicorn

from noarkit.catalogue.catalogue import Catalogue
from noarkit.errors import ConfigFault
from noarkit.events import Listener, ignore_event
from noarkit.reading_room.app import RoomApp
from noarkit.reading_room.content import Contents
from noarkit.reading_room.gate import Gate
from noarkit.reading_room.link_lobby import Doors, LinkLobby
from noarkit.reading_room.looks import Looks
from noarkit.reading_room.place_sections import open_sections
from noarkit.reading_room.room import Room
from noarkit.reading_room.session import Doorkeeper
from noarkit.reading_room.text_reading import reading_texts
from noarkit.reading_room.viewers.content import Tickets
from noarkit.reading_room.viewers.viewer import Viewer
from noarkit.safe.connections import LOOP, BoundedConnection, RefusedHead
from noarkit.safe.peers import PEER, peer_uid
from noarkit.safe.serving import StoppableServer
from noarkit.safe.sockets import claim_address

HOST = "127.0.0.1"
_LAST_S = 2
_MOST_CONNECTIONS = 128


@dataclass(frozen=True, slots=True)
class OpenRoom:
    """A room whose ports are open: the link that opens it once, and the addresses of both origins."""

    link: str
    url: str
    content_url: str


def serve_room(
    catalogue: Catalogue,
    *,
    lang: str,
    port: int = 0,
    ready: Callable[[OpenRoom], None],
    emit: Listener = ignore_event,
    stop_event: threading.Event | None = None,
    reads_documents: bool = False,
) -> None:
    """Serves the room over a catalogue until SIGINT, SIGTERM or `stop_event`; `ready` hears when it is open.

    With port 0 the system gives one; the second is always the system's. With `reads_documents` the texts of documents
    are read meanwhile. Raises `ConfigFault` for a port that is taken.
    """
    with (
        _listen(port) as pages,
        _listen(0) as contents_socket,
        open_sections(catalogue.place.identity, lang, catalogue.zone) as sections,
        Viewer(Tickets()) as viewer,
        reading_texts(catalogue, emit) if reads_documents else contextlib.nullcontext(),
    ):
        ports = [listener.getsockname()[1] for listener in (pages, contents_socket)]
        url, content_url = (f"http://{HOST}:{port_number}" for port_number in ports)
        doorkeeper = Doorkeeper(time.monotonic)
        contents = Contents(catalogue, viewer, content_url, url)
        doors = Doors(Gate(f"{HOST}:{ports[0]}"), Gate(f"{HOST}:{ports[1]}", from_siblings=True), ports[1])
        room = Room(Looks(catalogue), contents, lang=lang, sections=sections)
        app = RoomApp(LinkLobby(room, contents, doorkeeper, doors, lang=lang), content_origin=content_url, emit=emit)

        def announce() -> None:
            ready(OpenRoom(f"{url}/open/{doorkeeper.new_link()}", url, content_url))

        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        try:
            _Server(_config(app), stop_event, on_open=announce).run(sockets=[pages, contents_socket])
        finally:
            app.close()


class RoomConnection(BoundedConnection):
    """One connection to the room; it knows which user of this machine is at its other end."""

    idle_s = 30.0
    max_head_bytes = 32 * 1024

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn narrows it
        """Asks the system who has connected."""
        client, server = transport.get_extra_info("peername"), transport.get_extra_info("sockname")
        self._uid = peer_uid(client[:2], server[:2]) if client and server else None
        super().connection_made(transport)

    def on_message_begin(self) -> None:
        """A head begins."""
        super().on_message_begin()
        self.scope["extensions"] = {PEER: self._uid}  # type: ignore[dict-item]  # an extension of our own

    def on_url(self, url: bytes) -> None:
        """Refuses a target that names another host, as one for a proxy does."""
        if not url.startswith(b"/"):
            raise RefusedHead
        super().on_url(url)


class _Server(StoppableServer):
    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The first signal ends the room in order, the second at once; whoever started us goes on."""
        self.force_exit = self.should_exit
        self.begin_shutdown()


def _config(app: RoomApp) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=RoomConnection,
        loop=LOOP,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_keep_alive=int(RoomConnection.idle_s),
        timeout_graceful_shutdown=_LAST_S,
    )


@contextlib.contextmanager
def _listen(port: int) -> Iterator[socket.socket]:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        claim_address(listener)
        try:
            listener.bind((HOST, port))
        except OSError as fault:
            raise ConfigFault(where=f"{HOST}:{port}", why="port-taken") from fault
        yield listener
    finally:
        listener.close()
