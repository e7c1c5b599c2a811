"""The reading room that `noarkit serve` shows in a browser: made when somebody first asks for a page."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noarkit.cli.options import Session
from noarkit.events import Listener
from noarkit.settings import Settings
from noarkit.wings import require_wing

if TYPE_CHECKING:
    from noarkit.catalogue.catalogue import Catalogue
    from noarkit.reading_room.app import RoomApp
    from noarkit.reading_room.login_lobby import LoginLobby
    from noarkit.server.clients import ClientsFile

_FOLDER = "reading-room"
Message = MutableMapping[str, Any]  # Any: as ASGI has it
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class ArchiveRoom:
    """The ASGI application before an archive of ours that listens at `host`, and answers to `names` as well.

    `base_url` is told when the port is open.
    """

    def __init__(
        self, session: Session, data: Path, *, host: str, names: tuple[str, ...], tls_cert: Path | None
    ) -> None:
        self._session = session
        self._data = data
        self._tls_cert = tls_cert
        self._host = host
        self._names = names
        self._lock = threading.Lock()
        self._app: RoomApp | None = None
        self._lobby: LoginLobby | None = None
        self._clients: ClientsFile | None = None
        self.base_url = ""

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answers a request."""
        await self._opened()(scope, receive, send)

    def close(self) -> None:
        """Ends what was opened."""
        if self._app is not None and self._lobby is not None:
            self._app.close()
            self._lobby.close()

    def _opened(self) -> RoomApp:
        require_wing("reading-room")
        require_wing("server")
        from noarkit.reading_room.app import RoomApp
        from noarkit.reading_room.hosts import RoomHosts
        from noarkit.reading_room.login_lobby import LoginLobby, ServedArchive
        from noarkit.safe.tls import certificate_names
        from noarkit.server.change_export import newest_change
        from noarkit.server.clients import open_clients

        with self._lock:
            if self._app is None:
                clients = self._clients = open_clients(self._data)
                named = certificate_names(self._tls_cert) if self._tls_cert is not None else ()
                self._lobby = LoginLobby(
                    ServedArchive(
                        lambda name, secret: clients.current().is_client(name, secret),
                        lambda name: clients.current().mark_of(name),
                        self._read,
                        lambda: newest_change(self._data),
                    ),
                    hosts=RoomHosts(self._host, (*self._names, *named)),
                    clock=time.monotonic,
                    lang=self._session.texts.lang,
                    is_secure=self._tls_cert is not None,
                    emit=self._session.console.on_event,
                )
                self._app = RoomApp(self._lobby, content_origin="'self'", emit=self._session.console.on_event)
            return self._app

    def _read(self, name: str, listener: Listener) -> Catalogue:
        """The catalogue of the archive as one client may read it, in a folder of the archive that is that client's."""
        from noarkit.api.browsing import open_catalogue

        folder = self._data / _FOLDER / hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        environment = {
            **{key: value for key, value in self._session.environment.items() if not key.startswith("NOARKIT_")},
            "NOARKIT_CLIENT_ID": name,
            "NOARKIT_CLIENT_SECRET": "" if self._clients is None else self._clients.current().secret_of(name),
            "XDG_CACHE_HOME": str(folder),
        }
        if self._tls_cert is not None:
            environment["NOARKIT_ARCHIVE_CA"] = str(self._tls_cert)
        from noarkit.config import Sources, load
        from noarkit.service_names import is_service

        sources = Sources(flags={"archive.url": self.base_url}, environment=environment, is_service=is_service)
        return open_catalogue(self.base_url, settings=Settings(load(sources), environment), listener=listener)
